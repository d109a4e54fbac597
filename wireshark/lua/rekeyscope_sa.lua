-- Security associations as the capture shows them: generations per tunnel direction, counters, rekeys. Pure:
-- packets come in through packet() and exchange(), in capture order; nothing is looked up later, so a frame's
-- values never change.
--
--   tunnel      two peers (with their UDP ports behind NAT)
--   direction   one way through a tunnel; its lineages are the CHILD_SAs that live side by side
--   SA          one SPI towards one destination; generation 0 is the first of its lineage
--   rekey       an exchange (IKEv1 Quick Mode, IKEv2 CREATE_CHILD_SA) and the new SPIs that follow it, if any do
--               (rekeyscope_attempt says what became of it); SPIs alone when the capture holds no IKE
--
-- The silence of a rekey is how long a direction of its tunnel was without an ESP packet while it was under way: from
-- its request until its SAs are in use in all directions, or until the next request.
--
-- Times are integers in microseconds since the first packet; sizes are ESP bytes, header and ICV included.

local attempt = require("rekeyscope_attempt")

local sa = {}

-- A hostile capture may hold any number of SPIs; beyond this many SAs a packet is not accounted for.
sa.MAX_SAS = 100000
-- Nor for any number of exchanges, rekeys or not; beyond this many a message is left out.
sa.MAX_REKEYS = 100000
-- A new SPI belongs to one of the last rekeys of its tunnel, never to one this far back.
local LOOK_BACK = 64
-- A packet looks back at this many rekeys that may be under way at once: two overlap, a storm overlaps more.
local MOST_UNDER_WAY = 16
-- An exchange takes seconds; messages of one message ID further apart are another exchange (a counter that
-- wrapped).
local EXCHANGE_US = 60 * 1000000
-- Exchanges this soon after the first, before any data, make further CHILD_SAs; they renew nothing.
local INITIAL_US = 5 * 1000000
-- An old SPI that still carries data this long after its successor began was not replaced: the two live side by
-- side.
local SIDE_BY_SIDE_US = 2 * 1000000
-- Windows' default lifetime, assumed where no Quick Mode can be read.
sa.DEFAULT_LIMIT_KB = 250000
-- A soft limit below this share of the hard one is not recognised as such (seen: 0.75 to 0.95, and 0.33 in an
-- odd configuration).
local SOFT_SHARE = 3 / 10

function sa.new()
  return { tunnels = {}, list = {}, by_id = {}, sas = {}, rekeys = {}, exchanges = 0, left_out = 0, ends_us = 0 }
end

local function tunnel_key(src, dst, ports)
  return ((src < dst) and (src .. dst) or (dst .. src)) .. ports
end

local function tunnel_of(state, src, dst, ports)
  local key = tunnel_key(src, dst, ports)
  local tunnel = state.tunnels[key]
  if not tunnel then
    tunnel = { directions = {}, by_message = {}, newest = {}, rekeys = {}, spis = {},
      speaks = {}, initial = 0 }
    state.tunnels[key] = tunnel
    state.list[#state.list + 1] = tunnel
  end
  return tunnel
end

local function direction_of(tunnel, src, dst)
  local key = src .. dst
  local direction = tunnel.directions[key]
  if not direction then
    direction = { key = key, src = src, dst = dst, lineages = {}, bytes = 0, packets = 0, tunnel = tunnel }
    tunnel.directions[key] = direction
    tunnel.speaks[src] = true
  end
  return direction
end

-- The newest SA of the lineage that a new SPI continues: the one in use longest where several live side by side.
local function predecessor(direction)
  local oldest
  for _, lineage in ipairs(direction.lineages) do
    if not oldest or lineage.current.first_us < oldest.current.first_us then
      oldest = lineage
    end
  end
  return oldest
end

-- The lifetime that governs an SA: of the exchange that made it, else of another exchange of the tunnel.
local function limits(...)
  for index = 1, select("#", ...) do
    local exchange = select(index, ...)
    if exchange and (exchange.limit_kb or exchange.limit_s) then
      return exchange.limit_kb, exchange.limit_s, true
    end
  end
  return sa.DEFAULT_LIMIT_KB, nil, false
end

-- Returns what the SAs in use had carried when a rekey began, and the limit that this points to. One rekey alone cannot
-- prove its cause: where neither limit is near, or none is known, the answer is "unknown".
local function trigger_at(tunnel, us, current)
  local trigger = { bytes = 0 }
  local exchange
  for _, direction in pairs(tunnel.directions) do
    local lineage = predecessor(direction)
    local old = lineage and lineage.current
    if old then
      -- Most peers count the decrypted payload; without the key ESP bytes have to do.
      local bytes = old.opened == old.packets and old.payload_bytes or old.bytes
      if bytes > trigger.bytes then
        trigger.bytes = bytes
      end
      if not trigger.age_us or us - old.first_us > trigger.age_us then
        trigger.age_us = us - old.first_us
      end
      exchange = exchange or (old.rekey and old.rekey.exchange)
    end
  end
  local kilobytes, seconds, negotiated = limits(exchange, tunnel.first_exchange, current)
  trigger.limit_kb, trigger.limit_s, trigger.negotiated = kilobytes, seconds, negotiated
  trigger.fraction = kilobytes and kilobytes > 0 and trigger.bytes / (kilobytes * 1000) or nil
  trigger.age_fraction = seconds and seconds > 0 and trigger.age_us and trigger.age_us / (seconds * 1000000) or nil
  local by_volume, by_time = trigger.fraction or 0, trigger.age_fraction or 0
  trigger.kind = "unknown"
  if negotiated and by_volume >= SOFT_SHARE and by_volume > 2 * by_time then
    trigger.kind = "volume"
  elseif negotiated and by_time >= SOFT_SHARE and by_time > 2 * by_volume then
    trigger.kind = "time"
  end
  return trigger
end

local function new_rekey(state, tunnel, frame, us, exchange)
  local rekey = {
    number = #state.rekeys + 1, tunnel = tunnel, place = #tunnel.rekeys + 1, frame = frame, us = us,
    exchange = exchange, new = {}, silence_us = {}, trigger = trigger_at(tunnel, us, exchange),
  }
  state.rekeys[rekey.number] = rekey
  tunnel.rekeys[rekey.place] = rekey
  if exchange then
    exchange.rekey = rekey
  end
  return rekey
end

-- Both sides have spoken, and agree: from then on the new SA may carry data.
local function may_carry(rekey)
  local exchange = rekey.exchange
  return not exchange or (exchange.answered_us and not exchange.refused)
end

-- The rekey that a new SPI belongs to: the one whose exchange names it, else the last whose exchange was
-- answered, else an earlier one that overlaps it (two rekeys at once).
local function rekey_for(tunnel, direction, spi)
  local named = tunnel.spis[spi]
  if named then
    return named.rekey, true
  end
  local earliest
  local oldest = #tunnel.rekeys - LOOK_BACK
  for index = #tunnel.rekeys, oldest > 1 and oldest or 1, -1 do
    local rekey = tunnel.rekeys[index]
    if may_carry(rekey) then
      if not rekey.new[direction.key] then
        return rekey, true
      end
      earliest = earliest and (rekey.us < earliest and rekey.us or earliest) or rekey.us
      local before = tunnel.rekeys[index - 1]
      local ended = before and before.exchange and before.exchange.last_us or before and before.us
      if not ended or ended < earliest then
        return nil
      end
    end
  end
  return nil
end

local function start_lineage(direction, one)
  one.lineage = { current = one }
  direction.lineages[#direction.lineages + 1] = one.lineage
end

local function succeed(state, new, lineage, frame, us)
  local direction, old = new.direction, lineage.current
  local tunnel = direction.tunnel
  local rekey, known = rekey_for(tunnel, direction, new.spi)
  local initial = not rekey and #tunnel.rekeys == 0 and #direction.lineages < tunnel.initial
  if initial or (known and not rekey) then
    -- An exchange that came before any data made it: a CHILD_SA beside the first, not a rekey of it.
    start_lineage(direction, new)
    return
  end
  rekey = rekey or new_rekey(state, tunnel, frame, us, nil)
  new.lineage, new.generation, new.previous, new.rekey = lineage, old.generation + 1, old, rekey
  new.gap_us = us - old.last_us
  lineage.current, old.next = new, new
  rekey.new[direction.key] = new
  local is_in_use = true
  for key in pairs(tunnel.directions) do
    is_in_use = is_in_use and rekey.new[key] ~= nil
  end
  rekey.in_use_us = is_in_use and us or nil
end

local function new_sa(state, tunnel, src, dst, spi, frame, us)
  local direction = direction_of(tunnel, src, dst)
  local new = {
    number = #state.sas + 1, spi = spi, src = src, dst = dst, direction = direction, first_us = us,
    generation = 0, packets = 0, bytes = 0, payload_bytes = 0, opened = 0, status = {},
  }
  state.sas[new.number] = new
  state.by_id[spi .. dst] = new
  tunnel.spis_seen = true
  local lineage = predecessor(direction)
  if lineage then
    succeed(state, new, lineage, frame, us)
  else
    start_lineage(direction, new)
  end
  return new
end

-- A superseded SPI still in use long after: undo the succession for what follows. The frames already passed
-- keep their values.
local function split(old)
  local new = old.next
  old.next = nil
  local direction = old.direction
  if new.lineage.current == old then
    return
  end
  start_lineage(direction, old)
  if new.rekey then
    new.rekey.beside = true
  end
end

-- Counts the decrypted payload of a packet just taken; nil for one that was not decrypted.
function sa.payload(one, bytes)
  if bytes and bytes >= 0 then
    one.payload_bytes, one.opened = one.payload_bytes + bytes, one.opened + 1
  end
end

-- Tells whether a rekey was still under way at a time.
local function is_under_way(rekey, us)
  local follower = rekey.tunnel.rekeys[rekey.place + 1]
  local ends_us = rekey.in_use_us or follower and follower.us
  return ends_us == nil or us <= ends_us
end

-- Tells the rekeys that the time since the packet before touches how long it was.
local function note_silence(direction, us)
  local last_us, rekeys, key = direction.last_us, direction.tunnel.rekeys, direction.key
  direction.last_us = us
  if not last_us then
    return
  end
  local index = #rekeys
  while index > 0 and index > #rekeys - MOST_UNDER_WAY and is_under_way(rekeys[index], last_us) do
    local longest = rekeys[index].silence_us
    if us - last_us > (longest[key] or 0) then
      longest[key] = us - last_us
    end
    index = index - 1
  end
end

-- The longest silence of a direction during a rekey, also up to the capture's end; nil where there is none.
function sa.silence(rekey, direction, ends_us)
  local longest, last_us = rekey.silence_us[direction.key], direction.last_us
  if is_under_way(rekey, last_us) and ends_us - last_us > (longest or 0) then
    return ends_us - last_us
  end
  return longest
end

-- One ESP packet. `src` and `dst` are opaque strings of equal meaning throughout; `ports` is "" or names the
-- UDP ports of both peers in an order that does not depend on direction. Returns the SA (nil past the bound)
-- and whether the packet is its first.
function sa.packet(state, frame, us, src, dst, ports, spi, bytes)
  local one, first = state.by_id[spi .. dst], false
  if not one then
    if #state.sas >= sa.MAX_SAS then
      state.left_out = state.left_out + 1
      return nil, false
    end
    one, first = new_sa(state, tunnel_of(state, src, dst, ports), src, dst, spi, frame, us), true
  end
  if one.ports ~= ports then
    -- First sight, or a NAT has moved the peer to another port: the tunnel stays the same.
    one.ports = ports
    state.tunnels[tunnel_key(src, dst, ports)] = one.direction.tunnel
  end
  local direction = one.direction
  note_silence(direction, us)
  direction.packets, direction.bytes = direction.packets + 1, direction.bytes + bytes
  one.packets = one.packets + 1
  one.bytes = one.bytes + bytes
  one.last_us = us
  local successor = one.next
  if successor and us - successor.first_us > SIDE_BY_SIDE_US and successor.packets > 1 then
    split(one)
  end
  return one, first
end

local function exchange_of(state, tunnel, message)
  local exchange = tunnel.by_message[message.id]
  if exchange and message.us - exchange.last_us <= EXCHANGE_US then
    return exchange
  end
  exchange = {
    id = message.id, version = message.version, frame = message.frame, us = message.us,
    last_us = message.us, initiator = message.initiator or message.src, spis = {},
    limit_kb = message.kilobytes, limit_s = message.seconds, cookie = message.cookie, requests = 0,
    request_us = message.us,
  }
  tunnel.client = tunnel.client or exchange.initiator
  state.exchanges = state.exchanges + 1
  tunnel.by_message[message.id] = exchange
  local before = tunnel.newest[exchange.initiator]
  if before then
    before.followed = true
  end
  tunnel.newest[exchange.initiator] = exchange
  local first = tunnel.first_exchange
  if tunnel.spis_seen or (first and message.us - first.us > INITIAL_US) then
    new_rekey(state, tunnel, message.frame, message.us, exchange)
  else
    tunnel.first_exchange = first or exchange
    tunnel.initial = tunnel.initial + 1
  end
  return exchange
end

-- Notes who has begun the IKE SA of two peers, from a message that shows it.
function sa.client(state, src, dst, ports, client)
  if #state.list < sa.MAX_SAS then
    local tunnel = tunnel_of(state, src, dst, ports)
    tunnel.client = tunnel.client or client
  end
end

-- A message of an exchange that makes CHILD_SAs: { frame, us, src, dst, ports, id, version, initiator,
-- cookie, length, fragment, spis, kilobytes, seconds, error }. `id` tells exchanges apart (cookies, message ID, who
-- asks), `cookie` names the IKE SA; `spis`, `kilobytes`, `seconds` and `error` are what the
-- message offers or reports when it could be decrypted. Returns the rekey it belongs to (nil for a first exchange),
-- and a mark where the message stands out (rekeyscope_attempt).
function sa.exchange(state, message)
  if state.exchanges >= sa.MAX_REKEYS then
    state.left_out = state.left_out + 1
    return nil, nil
  end
  local tunnel = tunnel_of(state, message.src, message.dst, message.ports)
  local exchange = exchange_of(state, tunnel, message)
  exchange.last_us = message.us
  tunnel.speaks[message.src] = true
  -- The responder speaks last: what it returns is what holds.
  exchange.limit_kb = message.kilobytes or exchange.limit_kb
  exchange.limit_s = message.seconds or exchange.limit_s
  for _, spi in ipairs(message.spis or {}) do
    tunnel.spis[spi] = exchange
    exchange.spis[#exchange.spis + 1] = spi
  end
  return exchange.rekey, attempt.message(exchange, message)
end

-- An IKEv1 Informational message, which may refuse a Quick Mode: { us, src, dst, ports, cookie, refers, error,
-- readable }; `refers` is the `id` of the exchange that it names. Returns the rekey that it refuses and a mark, or nil.
function sa.informational(state, message)
  local tunnel = state.tunnels[tunnel_key(message.src, message.dst, message.ports)]
  if not tunnel then
    return nil, nil
  end
  local named = message.refers and tunnel.by_message[message.refers]
  local exchange = named or tunnel.newest[message.dst]
  if not exchange or exchange.version ~= 1 or exchange.cookie ~= message.cookie then
    return nil, nil
  end
  local mark = attempt.informational(exchange, message, named)
  return mark and exchange.rekey, mark
end

-- Returns the outcome of a rekey, and the reason of a refusal (rekeyscope_attempt).
function sa.outcome(state, rekey)
  return attempt.outcome(rekey, state.ends_us)
end

-- Rekeys that the whole capture confirms, in order: not those that were two CHILD_SAs side by side, and not an
-- IKEv2 exchange that went well and made no SPI, which may have renewed the IKE SA instead.
function sa.confirmed(state)
  local list = {}
  for _, rekey in ipairs(state.rekeys) do
    local child = not rekey.exchange or rekey.exchange.version ~= 2 or #rekey.exchange.spis > 0
    if not child then
      local outcome = sa.outcome(state, rekey)
      child = outcome ~= nil and outcome ~= "completed-unused"
    end
    if child and not rekey.beside then
      list[#list + 1] = rekey
    end
  end
  return list
end

return sa
