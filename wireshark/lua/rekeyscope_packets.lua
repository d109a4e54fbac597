-- From a dissected packet to rekeyscope_sa: reads Wireshark's fields, accounts for each frame once, and keeps
-- per frame what its tree shows, so that a second pass and a redissection show the same. Needs Wireshark's
-- Field; nothing happens before packets.new().

local sa = require("rekeyscope_sa")

local packets = {}

local UDP, ESP = 17, 50
local IKE_PORTS = { [500] = true, [4500] = true }
-- Statuses of packets that Wireshark decrypted, which the capture therefore holds whole.
local DECRYPTED = { verified = true, mismatch = true, unverified = true }
local INFORMATIONAL_1, QUICK_MODE, CREATE_CHILD_SA = 5, 32, 36
local TELLING = { [INFORMATIONAL_1] = true, [QUICK_MODE] = true, [CREATE_CHILD_SA] = true }
-- Notifications below it are errors (RFC 2408 §3.14.1, RFC 7296 §3.10.1).
local FIRST_STATUS = 16384

local FIELDS = {
  time = "frame.time_epoch", captured = "frame.cap_len", length = "frame.len",
  ip_src = "ip.src", ip_dst = "ip.dst", ip_next = "ip.proto", ip_length = "ip.len", ip_header = "ip.hdr_len",
  ip6_src = "ipv6.src", ip6_dst = "ipv6.dst", ip6_next = "ipv6.nxt",
  ip6_length = "ipv6.plen",
  udp_src = "udp.srcport", udp_dst = "udp.dstport", udp_length = "udp.length",
  esp = "esp", spi = "esp.spi", next_header = "esp.protocol", icv_good = "esp.icv_good", icv_bad = "esp.icv_bad",
  iv = "esp.iv", icv = "esp.icv", pad = "esp.pad_len",
  exchange = "isakmp.exchangetype", message_id = "isakmp.messageid", ispi = "isakmp.ispi", response = "isakmp.flag_r",
  rspi = "isakmp.rspi", by_initiator = "isakmp.flag_i",
  ike_spi = "isakmp.spi", life_type = "isakmp.ipsec.attr.life_type", life = "isakmp.ipsec.attr.life_duration",
  ike_length = "isakmp.length", notify = "isakmp.notify.msgtype", notify_data = "isakmp.notify.data",
  deletes = "isakmp.delete.spi", frag_seq = "isakmp.frag.seq", frag_number = "isakmp.frag.number",
}

-- Not every Wireshark has them.
local OPTIONAL_FIELDS = { decrypted = "esp.decrypted_data", malformed = "_ws.malformed" }

local function nothing()
  return nil
end

-- `keys`: { known, masked, loaded } sets of SPIs, or nil when no log was loaded.
function packets.new(new_field, keys)
  local self = { get = {}, keys = keys }
  for name, field in pairs(FIELDS) do
    self.get[name] = new_field(field)
  end
  for name, field in pairs(OPTIONAL_FIELDS) do
    local there, get = pcall(new_field, field)
    self.get[name] = there and get or nothing
  end
  packets.reset(self)
  return self
end

-- Before a capture is read, again or anew. The per-frame tables hold ESP frames, six numbers each, and messages of
-- exchanges that make SAs.
function packets.reset(self)
  self.state, self.base, self.accounted = sa.new(), nil, 0
  self.frame_sa, self.frame_status, self.frame_rekey, self.frame_mark = {}, {}, {}, {}
  self.frame_bytes, self.frame_packets, self.frame_us = {}, {}, {}
  self.last_by_spi, self.lacks_keys, self.left_out, self.answer = {}, false, false, nil
end

-- Since the capture's first packet; a whole number, because doubles of seconds since 1970 lose nanoseconds.
local function microseconds(self)
  local time = self.get.time().value
  local base, nanoseconds = self.base, time.nsecs
  if not base then
    self.base = { secs = time.secs, nsecs = nanoseconds }
    return 0
  end
  nanoseconds = nanoseconds - base.nsecs
  return (time.secs - base.secs) * 1000000 + (nanoseconds - nanoseconds % 1000) / 1000
end

-- The value of a field's first occurrence, or nil.
local function value(field)
  local info = field()
  return info and info.value
end

-- Returns which IP the outer header is: "ip" or "ip6". Both have values where one tunnels the other; then the first one
-- in the tree is it.
local function outer_family(get)
  if not get.ip6_src() then
    return "ip"
  elseif not get.ip_src() then
    return "ip6"
  end
  for _, info in ipairs({ all_field_infos() }) do
    if info.name == "ip.src" or info.name == "ipv6.src" then
      return info.name == "ip.src" and "ip" or "ip6"
    end
  end
  return "ip"
end

-- Outer addresses as text, the outer header's payload protocol, and which IP it is: the first values, because after
-- decryption pinfo holds the inner ones.
local function peers(get)
  local family = outer_family(get)
  local src, dst = value(get[family .. "_src"]), value(get[family .. "_dst"])
  if not (src and dst) then
    return "?", "?", 0, family
  end
  return tostring(src), tostring(dst), value(get[family .. "_next"]) or 0, family
end

-- The UDP ports of both peers, which tell hosts behind one NAT apart. The well-known ports tell nothing: IKE moves
-- between them, and ESP need not follow.
local function ports_of(get, src, dst, next_header)
  local from, to = value(get.udp_src), value(get.udp_dst)
  if next_header ~= UDP or not (from and to) or IKE_PORTS[from] and IKE_PORTS[to] then
    return ""
  end
  return src < dst and (from .. "-" .. to) or (to .. "-" .. from)
end

-- ESP bytes of the packet, header and ICV included. Where the snap length cut it, what the headers say.
local function esp_bytes(get, status, path)
  local esp = get.esp()
  local captured, stated = esp and esp.len or 0, nil
  if DECRYPTED[status] then
    return captured
  elseif path.next_header == UDP then
    stated = (value(get.udp_length) or 8) - 8
  elseif path.family == "ip" then
    stated = (value(get.ip_length) or 0) - (value(get.ip_header) or 0)
  elseif path.next_header == ESP then
    stated = value(get.ip6_length)
  end
  return stated and stated > captured and stated or captured
end

-- Decrypted payload of the packet without padding and trailer, which is what most peers count against a lifetime; nil
-- where it was not decrypted. The fixed part (header, IV, ICV, trailer) is measured on the SA's first decrypted packet.
local function payload_bytes(get, one, size)
  local pad = value(get.pad)
  if not pad then
    return nil
  end
  if not one.overhead then
    local iv, icv = get.iv(), get.icv()
    one.overhead = 8 + (iv and iv.len or 0) + (icv and icv.len or 0) + 2
  end
  return size - one.overhead - pad
end

-- Returns what became of the key:
--   verified    decrypted, ICV right          unverified  decrypted, ICV not checked
--   mismatch    decrypted with a wrong key    cut         not decrypted: the snap length cut the packet
--   masked      the log shows asterisks       not loaded  the log has it, but it was left out for this capture
--   unused      the log has it and it was loaded, yet Wireshark did not decrypt    missing  no key in the log
local function key_status(self, spi)
  local get, keys = self.get, self.keys
  if value(get.icv_good) then
    return "verified"
  elseif value(get.icv_bad) then
    return "mismatch"
  elseif get.next_header() or get.decrypted() or (get.iv() and get.malformed()) then
    -- From 4.4 on a dissector that fails inside leaves the last two, and neither the ICV nor the next header.
    return "unverified"
  elseif value(get.captured) < value(get.length) then
    return "cut"
  elseif not keys or not (keys.known[spi] or keys.masked[spi]) then
    return "missing"
  elseif not keys.known[spi] then
    return "masked"
  end
  return keys.loaded[spi] and "unused" or "not loaded"
end

-- The way of the last packet with this SPI number, when this one goes to the same address. Addresses as text are the
-- dearest part of a packet; most packets continue a known SA.
local function known_path(self, spi_number)
  local get, path = self.get, self.last_by_spi[spi_number]
  local dst = path and value(get[path.family .. "_dst"])
  if not dst or dst ~= path.dst_address then
    return nil
  elseif path.next_header == UDP and (value(get.udp_src) ~= path.from or value(get.udp_dst) ~= path.to) then
    return nil
  end
  return path
end

local function path_of(get, spi_number)
  local src, dst, next_header, family = peers(get)
  return {
    src = src, dst = dst, next_header = next_header, family = family, spi = string.format("%08x", spi_number),
    ports = ports_of(get, src, dst, next_header), dst_address = value(get[family .. "_dst"]),
    from = value(get.udp_src), to = value(get.udp_dst),
  }
end

local function account_esp(self, number, us, spi_number)
  local get = self.get
  local path = known_path(self, spi_number) or path_of(get, spi_number)
  local status = key_status(self, path.spi)
  local size = esp_bytes(get, status, path)
  local one, first = sa.packet(self.state, number, us, path.src, path.dst, path.ports, path.spi, size)
  if not one then
    return
  end
  sa.payload(one, payload_bytes(get, one, size))
  self.last_by_spi[spi_number] = path
  self.lacks_keys = self.lacks_keys or status == "missing" or status == "masked"
  self.left_out = self.left_out or status == "not loaded"
  one.status[status] = (one.status[status] or 0) + 1
  self.frame_sa[number], self.frame_status[number] = one, status
  self.frame_bytes[number], self.frame_packets[number] = one.bytes, one.packets
  self.frame_us[number] = us - one.first_us
  if first then
    self.frame_rekey[number] = one.rekey
  end
end

-- The first lifetime in seconds and the first in kilobytes that a message offers.
local function lifetimes(get)
  local types, values = { get.life_type() }, { get.life() }
  local seconds, kilobytes
  for index, life_type in ipairs(types) do
    local life = values[index] and values[index].value
    if life_type.value == 1 then
      seconds = seconds or life
    elseif life_type.value == 2 then
      kilobytes = kilobytes or life
    end
  end
  return seconds, kilobytes
end

local function named_spis(get)
  local spis = {}
  for _, info in ipairs({ get.ike_spi() }) do
    local digits = string.lower(tostring(info.value))
    if #digits == 8 then
      spis[#spis + 1] = digits
    end
  end
  return spis
end

-- The name of the first error notification.
local function error_in(get)
  for _, info in ipairs({ get.notify() }) do
    if info.value < FIRST_STATUS then
      return (string.gsub(info.display, " %(%d+%)$", ""))
    end
  end
  return nil
end

-- An IKEv1 Informational message. The data of a notification may be the message ID that it is about.
local function account_informational(self, number, message)
  local get = self.get
  local digits = string.lower(tostring(value(get.notify_data) or ""))
  message.refers = #digits == 8 and message.cookie .. digits or nil
  message.readable = get.notify() or get.deletes()
  self.frame_rekey[number], self.frame_mark[number] = sa.informational(self.state, message)
end

-- Notes who began the IKE SA: who has no SPI of the other side yet, in IKEv2 who sets the flag.
local function note_client(self, src, dst, ports)
  local rspi, by_initiator = value(self.get.rspi), value(self.get.by_initiator)
  if rspi and not string.find(tostring(rspi), "[^0]") then
    sa.client(self.state, src, dst, ports, src)
  elseif by_initiator ~= nil then
    sa.client(self.state, src, dst, ports, by_initiator and src or dst)
  end
end

local function account_ike(self, number, us, exchange_type)
  local get = self.get
  local src, dst, next_header = peers(get)
  local message_id, ispi = value(get.message_id), value(get.ispi)
  local ports = ports_of(get, src, dst, next_header)
  note_client(self, src, dst, ports)
  if not message_id or not ispi or not TELLING[exchange_type] then
    return
  end
  local message = {
    frame = number, us = us, src = src, dst = dst, ports = ports, cookie = tostring(ispi), error = error_in(get),
    version = 1,
  }
  if exchange_type == INFORMATIONAL_1 then
    account_informational(self, number, message)
    return
  end
  if exchange_type == CREATE_CHILD_SA then
    -- Message IDs count per side (RFC 7296 §2.2): who asks is part of an exchange's name.
    message.version, message.initiator = 2, value(get.response) and dst or src
  end
  message.id = message.cookie .. string.format("%08x", message_id) .. (message.initiator or "")
  message.length, message.fragment = value(get.ike_length) or 0, value(get.frag_seq) or value(get.frag_number)
  message.seconds, message.kilobytes = lifetimes(get)
  message.spis = named_spis(get)
  self.frame_rekey[number], self.frame_mark[number] = sa.exchange(self.state, message)
end

-- A frame, the first time it is dissected with its fields: `tshark -2` builds no tree in its first pass unless
-- something else needs one, so "visited" does not tell.
function packets.account(self, number)
  if number <= self.accounted then
    return
  end
  local get = self.get
  local spi = value(get.spi)
  if not spi and not get.length() then
    return
  end
  self.accounted = number
  local us = microseconds(self)
  self.state.ends_us = us
  if spi then
    account_esp(self, number, us, spi)
    return
  end
  local exchange = value(get.exchange)
  if exchange then
    account_ike(self, number, us, exchange)
  end
end

-- Returns what the open capture holds: SPI → { packets, ip }. Only keys that it needs are loaded.
function packets.seen(self)
  local seen = {}
  for _, one in ipairs(self.state.sas) do
    local entry = seen[one.spi] or { packets = 0, ip = string.find(one.dst, ":", 1, true) and "IPv6" or "IPv4" }
    entry.packets = entry.packets + one.packets
    seen[one.spi] = entry
  end
  return seen
end

return packets
