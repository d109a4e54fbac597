-- strongSwan charon logs, level 4 (`ike 4, chd 4`): hex dumps under "… => N bytes @ 0x…". Child keys carry no
-- SPI; it comes from the seed (IKEv1: protocol | SPI | Ni | Nr) or from the "adding inbound ESP SA" that the
-- same thread prints next. Pure.

local transforms = require("rekeyscope_transforms")

local charon = {}

-- More threads than charon has by far; a log that names more is hostile, and the oldest state is dropped.
local MAX_THREADS = 256

-- Thread number, subsystem and text of a line of charon's, whatever a collector put before it.
function charon.split(line)
  local thread, group, text = string.match(line, "^(%d%d?%d?)%[(%u%u%u)%] ?(.*)$")
  if not thread then
    thread, group, text = string.match(line, "[%s:](%d%d?%d?)%[(%u%u%u)%] ?(.*)$")
  end
  if thread then
    return thread, group, text
  end
  return nil
end

function charon.new(emit)
  return { emit = emit, threads = {}, order = {} }
end

local function thread_state(parser, thread)
  local state = parser.threads[thread]
  if not state then
    if #parser.order >= MAX_THREADS then
      parser.threads[table.remove(parser.order, 1)] = nil
    end
    state = { keys = {}, done = {} }
    parser.threads[thread] = state
    parser.order[#parser.order + 1] = thread
  end
  return state
end

-- A dump line ("  16: A5 7D …  ASCII"): its offset and up to `left` bytes; never the ASCII column, which may
-- look like hex.
local function dump_bytes(text, left)
  local offset, at = string.match(text, "^%s*(%d+): ()%x%x")
  if not at or #offset > 5 then
    return nil
  end
  local parts = {}
  while #parts < 16 and #parts < left do
    local byte, after = string.match(text, "^(%x%x) ?()", at)
    if not byte then
      break
    end
    parts[#parts + 1] = string.lower(byte)
    at = after
  end
  return tonumber(offset), table.concat(parts), #parts
end

local BLOBS = {
  ["encryption initiator key"] = "enc_i", ["encryption responder key"] = "enc_r",
  ["integrity initiator key"] = "auth_i", ["integrity responder key"] = "auth_r",
  ["initiator SA seed"] = "seed_i", ["responder SA seed"] = "seed_r",
  ["encryption key Ka"] = "ka",
}

-- Dumps that child keys can be derived from.
local DERIVES = {
  ["initiator SA seed"] = true, ["responder SA seed"] = true, ["seed"] = true, ["SKEYID_d"] = true,
  ["Sk_d secret"] = true,
}

local function blob_done(parser, state, blob, line_number)
  if blob.name == "ka" then
    if state.cookie then
      parser.emit({
        kind = "ike1", format = "charon", cookie = state.cookie, key = blob.digits, line = line_number,
      })
    else
      parser.emit(nil, "an IKE key stands before any line that names its cookie", line_number)
    end
    return
  end
  -- The order of one exchange is: seeds (IKEv1), encryption keys, integrity keys; each initiator's first.
  if blob.name == "seed_i" or (blob.name == "enc_i" and state.keys.enc_i) then
    state.keys, state.done = {}, {}
  end
  state.keys[blob.name] = blob.digits
end

-- A dump that lacks rows: of a key there is what says that it was there.
local function blob_cut(parser, state, blob)
  local half = string.match(blob.name, "^enc_([ir])$") or string.match(blob.name, "^auth_([ir])$")
  if half then
    if blob.name == "enc_i" and state.keys.enc_i then
      state.keys, state.done = {}, {}
    end
    state.keys[blob.name] = blob.digits
    state.keys["cut_" .. half] = state.keys["cut_" .. half] or blob.line
  elseif not string.find(blob.name, "^seed") then
    parser.emit(nil, "a dump of \"" .. blob.label .. "\" is cut short", blob.line)
  end
end

-- The SPI that an IKEv1 seed holds: [g(qm)^xy |] 03 | SPI | Ni_b | Nr_b. Without PFS it stands at the
-- beginning; with PFS the SPI is looked for as bytes, which is decisive because both SAs' SPIs are known by
-- then.
local function seed_names(seed, spi)
  return seed ~= nil and string.find(seed, "03" .. spi, 1, true) ~= nil
end

-- Which half of the keys belongs to the SA with this SPI: "i" (sent by the exchange's initiator) or "r".
local function half_for(state, sa)
  local in_i, in_r = seed_names(state.keys.seed_i, sa.spi), seed_names(state.keys.seed_r, sa.spi)
  if in_i ~= in_r then
    return in_i and "i" or "r"
  end
  if state.role then
    return ((state.role == "initiator") == (sa.direction == "outbound")) and "i" or "r"
  end
  return nil
end

local function sa_done(parser, state)
  local sa = state.sa
  state.sa = nil
  if not sa or not sa.spi then
    return
  end
  local half = half_for(state, sa)
  local enc_key = half and state.keys["enc_" .. half]
  local auth_key = half and state.keys["auth_" .. half] or ""
  local enc, auth = sa.enc or state.enc, sa.auth or state.auth or (auth_key == "" and "none") or nil
  local cut = half and state.keys["cut_" .. half]
  if cut then
    state.done[sa.spi] = true
    parser.emit(nil, "a dump of the keys of SPI 0x" .. sa.spi .. " lacks rows: lines of the log are missing here", cut)
    parser.emit({
      kind = "esp", format = "charon", src = sa.src, dst = sa.dst, spi = sa.spi, status = "truncated", line = cut,
    })
  elseif not enc_key and enc ~= "NULL" then
    if state.keys.enc_i or state.keys.enc_r then
      parser.emit(nil, "no key can be tied to SPI 0x" .. sa.spi .. ": the exchange's lines are missing", sa.line)
    end
  elseif not enc or not auth then
    parser.emit(nil, "the algorithms of SPI 0x" .. sa.spi .. " are not stated", sa.line)
  else
    state.done[sa.spi] = true
    parser.emit({
      kind = "esp", format = "charon", src = sa.src, dst = sa.dst, spi = sa.spi, enc = enc, enc_key = enc_key or "",
      auth = auth, auth_key = auth_key, line = sa.line,
    })
  end
end

-- "… established with SPIs …_i …_o": the only place of the SPIs where the log's level for CHD is low. _i is
-- the inbound one of the host that logs.
local function established(parser, state, text, line_number)
  local inbound, outbound = string.match(text, "established with SPIs (%x+)_i (%x+)_o")
  if not inbound or #inbound ~= 8 or #outbound ~= 8 then
    return
  end
  for direction, spi in pairs({ inbound = string.lower(inbound), outbound = string.lower(outbound) }) do
    if not state.done[spi] then
      state.sa = { direction = direction, spi = spi, line = line_number }
      sa_done(parser, state)
    end
  end
end

-- Lines that install an SA: where its SPI, its addresses and its algorithms are named.
local function installing(parser, state, text, line_number)
  local direction = string.match(text, "^adding (%a+) ESP SA")
  if direction then
    sa_done(parser, state)
    state.sa = { direction = direction, line = line_number }
    return
  end
  local sa = state.sa
  if not sa then
    return
  end
  local spi, src, dst = string.match(text, "^%s*SPI 0x(%x+), src ([%x%.:]+) dst ([%x%.:]+)")
  if spi and #spi <= 8 then
    sa.spi, sa.src, sa.dst = string.rep("0", 8 - #spi) .. string.lower(spi), src, dst
    return
  end
  local algorithm = string.match(text, "using encryption algorithm (%S+) with key size")
  if algorithm then
    sa.enc = transforms.encryption(algorithm) or algorithm
    return
  end
  algorithm = string.match(text, "using integrity algorithm (%S+) with key size")
  if algorithm then
    sa.auth = transforms.integrity(algorithm) or algorithm
    return
  end
  if string.find(text, "using replay window", 1, true) then
    sa_done(parser, state)
  end
end

-- One line; true when it is charon's.
function charon.line(parser, line, line_number)
  local thread, _, text = charon.split(line)
  if not thread then
    return false
  end
  local state = thread_state(parser, thread)
  local blob = state.blob
  if blob then
    local offset, bytes, count = dump_bytes(text, blob.left)
    if not offset and blob.digits == "" and text == blob.text then
      -- The same line again, from a second log in the same file.
      return true
    end
    if offset and offset * 2 < #blob.digits then
      return true
    elseif offset and offset * 2 == #blob.digits then
      blob.digits = blob.digits .. bytes
      blob.left = blob.left - count
      if blob.left > 0 and count > 0 then
        return true
      end
    end
    state.blob = nil
    if blob.left == 0 then
      blob_done(parser, state, blob, blob.line)
    else
      blob_cut(parser, state, blob)
    end
    if offset then
      return true
    end
  end
  local label, size = string.match(text, "^(.-) => (%d+) bytes @")
  local name = label and BLOBS[label]
  parser.derived = parser.derived or (label ~= nil and DERIVES[label] == true)
  if name and #size <= 4 then
    state.blob = { name = name, label = label, left = tonumber(size), digits = "", line = line_number, text = text }
    return true
  end
  local cookie = string.match(text, "with SPIs (%x+)_i %x+_r")
  if cookie and #cookie == 16 then
    state.cookie = string.lower(cookie)
  end
  local message = string.match(text, "^parsed %u[%u_]+ (%a+) ")
  if message then
    state.role = message == "response" and "initiator" or message == "request" and "responder" or state.role
  end
  local algorithm = string.match(text, "^%s*using (%S+) for encryption")
  if algorithm then
    state.enc, state.auth = transforms.encryption(algorithm), nil
  end
  algorithm = string.match(text, "^%s*using (%S+) for integrity")
  state.auth = algorithm and transforms.integrity(algorithm) or state.auth
  if string.find(text, "established with SPIs", 1, true) then
    sa_done(parser, state)
    established(parser, state, text, line_number)
  else
    installing(parser, state, text, line_number)
  end
  return true
end

function charon.finish(parser)
  for _, thread in ipairs(parser.order) do
    local state = parser.threads[thread]
    if state.blob then
      blob_cut(parser, state, state.blob)
    end
    sa_done(parser, state)
  end
end

return charon
