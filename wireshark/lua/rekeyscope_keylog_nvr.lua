-- Yamaha NVR/RTX: key-info lines of `ipsec ike log`, and `show ipsec sa gateway N detail`. Tolerant about what
-- surrounds a key, strict about the key: a blob without an SPI, or one that must be derived, is counted, never
-- guessed. Pure.

local hex = require("rekeyscope_hex")

local nvr = {}

-- Algorithm words of the router → Wireshark's names; the ICV length of the integrity algorithm comes along.
local function encryption_of(text)
  local word = string.upper(text)
  if string.find(word, "3DES") then
    return "TripleDES-CBC [RFC2451]"
  elseif string.find(word, "AES") then
    return string.find(word, "GCM") and "AES-GCM with 16 octet ICV [RFC4106]" or "AES-CBC [RFC3602]"
  elseif string.find(word, "DES") then
    return "DES-CBC [RFC2405]"
  elseif string.find(word, "NULL") then
    return "NULL"
  end
  return nil
end

local function integrity_of(text)
  local word = string.upper(text)
  if string.find(word, "SHA%-?2?%-?512") then
    return "HMAC-SHA-512-256 [RFC4868]"
  elseif string.find(word, "SHA%-?2?%-?384") then
    return "HMAC-SHA-384-192 [RFC4868]"
  elseif string.find(word, "SHA%-?2?%-?256") then
    return "HMAC-SHA-256-128 [RFC4868]"
  elseif string.find(word, "SHA") then
    return "HMAC-SHA-1-96 [RFC2404]"
  elseif string.find(word, "MD5") then
    return "HMAC-MD5-96 [RFC2403]"
  end
  return nil
end

-- Without an algorithm line the length decides, where only one algorithm of the router's has it. 24 bytes are
-- AES-192 or 3DES.
local ENCRYPTION_BY_DIGITS = { [16] = "DES-CBC [RFC2405]", [32] = "AES-CBC [RFC3602]", [64] = "AES-CBC [RFC3602]" }
local INTEGRITY_BY_DIGITS = {
  [32] = "HMAC-MD5-96 [RFC2403]", [40] = "HMAC-SHA-1-96 [RFC2404]", [64] = "HMAC-SHA-256-128 [RFC4868]",
  [96] = "HMAC-SHA-384-192 [RFC4868]", [128] = "HMAC-SHA-512-256 [RFC4868]",
}
local INTEGRITY_DIGITS = {
  ["HMAC-MD5-96 [RFC2403]"] = 32, ["HMAC-SHA-1-96 [RFC2404]"] = 40, ["HMAC-SHA-256-128 [RFC4868]"] = 64,
  ["HMAC-SHA-384-192 [RFC4868]"] = 96, ["HMAC-SHA-512-256 [RFC4868]"] = 128,
}
-- A missing authentication key does not stop decryption: Wireshark only has to know how long the ICV is.
local UNCHECKED = {
  [32] = "ANY 96 bit authentication [no checking]", [40] = "ANY 96 bit authentication [no checking]",
  [64] = "ANY 128 bit authentication [no checking]", [96] = "ANY 192 bit authentication [no checking]",
  [128] = "ANY 256 bit authentication [no checking]",
}

-- Takes the framing off a line: PRI, RFC 5424 or 3164 header, a collector's prefix, the router's time, tag and
-- context. Returns the text, the time as the router wrote it, the tag, and the SA number of the context.
function nvr.strip(line)
  local text = string.gsub(line, "[%z\r]+$", "")
  text = string.gsub(text, "^<%d%d?%d?>%s?", "")
  text = string.gsub(text, "^1 %S+ %S+ %- %- %- %- ?", "")
  text = string.gsub(text, "^%a%a%a [ %d]%d %d%d:%d%d:%d%d %S+ ", "")
  local time, after = string.match(text, "(%d%d%d%d/%d%d/%d%d %d%d:%d%d:%d%d): ?()")
  if time and after <= 120 then
    text = string.sub(text, after)
  else
    time = nil
  end
  local tag, rest = string.match(text, "^%[(%u+[12]?)%]%s*(.*)$")
  if tag == "IKE" or tag == "IKE1" or tag == "IKE2" or tag == "IPSEC" or tag == "L2TP" then
    text = rest
  else
    tag = nil
  end
  local sa, body = string.match(text, "^%s*GW:[%*%d]+/SA:(%d+)/%w+ ?(.*)$")
  if not sa then
    sa, body = string.match(text, "^%s*SA:(%d+)/%w+ ?(.*)$")
  end
  return body or text, time, tag, sa
end

-- Prompts, echoed commands and pager lines hold nothing and must not end a blob.
function nvr.is_noise(text)
  return string.find(text, "^%-%-%-.*%-%-%-%s*$") ~= nil or string.find(text, "^[%w%-_%.%[%]]*[#>]%s*show ") ~= nil
    or string.find(text, "^[%w%-_%.%[%]]*[#>]%s*$") ~= nil
end

-- Labels, most specific first. `what` is the slot of the record that the blob fills.
local LABELS = {
  { "skeyid_[dae]", "derive" }, { "skeyid", "derive" }, { "keymat", "keymat" },
  { "enc%a*[ _%-]key", "enc" }, { "auth%a*[ _%-]key", "auth" }, { "integ%a*[ _%-]key", "auth" },
  { "[ir]_?cookie", "other" }, { "iv", "other" }, { "spi", "spi" }, { "key", "key" },
}

-- The first label at or after `from`: what it is, and where its value begins.
local function next_label(lower, from)
  local best, best_at, best_after
  for _, label in ipairs(LABELS) do
    local at = from
    repeat
      local first, last = string.find(lower, label[1], at)
      if not first then
        break
      end
      local before = first > 1 and string.sub(lower, first - 1, first - 1) or " "
      local after = string.match(lower, "^%s*%(?[^%)%w]*%)?%s*[:=%(]%s*()", last + 1)
        or string.match(lower, "^%s+()0x%x", last + 1)
      if after and not string.find(before, "[%w_]") then
        if not best_at or first < best_at then
          best, best_at, best_after = label[2], first, after
        end
        break
      end
      at = last + 1
    until false
  end
  return best, best_after
end

function nvr.new(emit)
  return { emit = emit, cur = nil, blob = nil, seen = false }
end

local function record(parser, line_number)
  if not parser.cur then
    parser.cur = { line = line_number, src = parser.send_src, dst = parser.send_dst }
  end
  return parser.cur
end

local function finished_key(cur)
  local enc_key, auth_key, enc, auth = cur.enc_key, cur.auth_key, cur.enc, cur.auth
  local whole = cur.key or cur.keymat
  if whole and not enc_key then
    local auth_digits = auth and INTEGRITY_DIGITS[auth] or 0
    local split = #whole - auth_digits
    if auth and enc and (split == 32 or split == 48 or split == 64 or split == 16) then
      enc_key, auth_key = string.sub(whole, 1, split), string.sub(whole, split + 1)
    elseif ENCRYPTION_BY_DIGITS[#whole] or #whole == 48 then
      enc_key = whole
    elseif #whole == 72 then
      enc_key, auth_key = string.sub(whole, 1, 32), string.sub(whole, 33)
    else
      return nil, "the key of SPI 0x" .. cur.spi .. " is one blob and no line says how to divide it"
    end
  end
  if not enc_key then
    return nil, "SPI 0x" .. cur.spi .. " has no encryption key"
  end
  enc = enc or ENCRYPTION_BY_DIGITS[#enc_key]
  if not enc then
    return nil, "the encryption algorithm of SPI 0x" .. cur.spi .. " is not stated and its key length does not tell"
  end
  if auth_key then
    auth = auth or INTEGRITY_BY_DIGITS[#auth_key]
  else
    auth_key = ""
    auth = UNCHECKED[INTEGRITY_DIGITS[auth] or 40]
  end
  if not auth then
    return nil, "the authentication algorithm of SPI 0x" .. cur.spi .. " is not stated and its key length does not tell"
  end
  return { enc = enc, enc_key = enc_key, auth = auth, auth_key = auth_key }
end

-- Ends the record of one SA and emits what it holds.
local function flush(parser)
  local cur = parser.cur
  parser.cur, parser.blob = nil, nil
  if not cur or not cur.spi or cur.proto == "IKE" then
    if cur and (cur.derive or cur.proto == "IKE") then
      parser.derived = true
    end
    return
  end
  if cur.masked then
    parser.emit({
      kind = "esp", format = "nvr", src = cur.src, dst = cur.dst, spi = cur.spi, status = "masked", line = cur.line,
    })
    return
  end
  if not (cur.key or cur.keymat or cur.enc_key or cur.auth_key) then
    return
  end
  local key, reason = finished_key(cur)
  if not key then
    parser.emit(nil, reason, cur.line)
    return
  end
  parser.emit({
    kind = "esp", format = "nvr", src = cur.src, dst = cur.dst, spi = cur.spi, enc = key.enc, enc_key = key.enc_key,
    auth = key.auth, auth_key = key.auth_key, line = cur.line,
  })
end

local function begin_spi(parser, digits, line_number)
  local cur = parser.cur
  if #digits == 32 then
    record(parser, line_number).proto = "IKE"
    return
  end
  if #digits ~= 8 then
    parser.emit(nil, "an SPI of " .. #digits .. " digits, 8 are needed", line_number)
    return
  end
  if cur and cur.spi and cur.spi ~= digits then
    flush(parser)
  end
  record(parser, line_number).spi = digits
end

local function put(parser, what, digits, line_number)
  if what == "spi" then
    begin_spi(parser, digits, line_number)
  elseif what == "derive" then
    parser.derived = true
  elseif what ~= "other" then
    local slot = (what == "enc" or what == "auth") and what .. "_key" or what
    local cur = record(parser, line_number)
    if cur.spi and cur[slot] and cur[slot] ~= digits then
      parser.emit(nil, "a second key for SPI 0x" .. cur.spi .. " without a new SPI line", line_number)
      return
    end
    cur[slot] = digits
  end
end

-- The blob stays open until something that is not hex: a syslog datagram ends wherever 231 characters end.
local function close_blob(parser)
  local blob = parser.blob
  parser.blob = nil
  if blob then
    put(parser, blob.what, blob.digits, blob.line)
  end
end

local function scan(parser, text, from, line_number)
  local lower, at = string.lower(text), from
  while true do
    local what, value = next_label(lower, at)
    if not what then
      return
    end
    close_blob(parser)
    local digits, after = hex.run(text, value)
    if digits then
      parser.blob = { what = what, digits = digits, line = line_number }
      parser.seen = true
      at = after
      if string.find(text, "%S", after) then
        close_blob(parser)
      end
    elseif string.find(text, "^%*%*", value) or string.find(text, "^[^%w]*confidential", value) then
      if what ~= "other" then
        record(parser, line_number).masked = true
        parser.seen = true
      end
      at = value
    else
      at = value
    end
  end
end

local function detail_line(parser, text, line_number)
  local number = string.match(text, "^%s*SA%[(%d+)%]")
  if number then
    close_blob(parser)
    flush(parser)
    record(parser, line_number).listing = true
    parser.seen = true
    return true
  end
  local word, value = string.match(text, "^%s*(%a[%a ]-):%s*(.-)%s*$")
  if not word then
    return false
  end
  word = string.lower(word)
  if word == "local id" or word == "remote id" then
    if string.find(value, "^[%x%.:]+$") and string.find(value, "[%.:]") then
      parser[word] = value
    end
    return true
  end
  local cur = parser.cur
  if word == "direction" and cur then
    local outward = value == "send"
    cur.src = parser[outward and "local id" or "remote id"]
    cur.dst = parser[outward and "remote id" or "local id"]
    return true
  elseif word == "protocol" and cur then
    cur.proto = string.match(value, "^%w+")
    return true
  elseif word == "algorithm" and (cur or string.find(value, "%a")) then
    cur = record(parser, line_number)
    cur.enc, cur.auth = encryption_of(value), integrity_of(value)
    return true
  end
  return false
end

-- One line; true when something of the router's was in it.
function nvr.line(parser, line, line_number)
  local text, _, tag = nvr.strip(line)
  if nvr.is_noise(text) then
    return true
  end
  parser.seen = parser.seen or (tag ~= nil)
  local from = 1
  if parser.blob then
    local start = string.match(text, "^%s*()%x%x")
    local digits, after
    if start then
      digits, after = hex.run(text, start)
    end
    if digits then
      parser.blob.digits = string.sub(parser.blob.digits .. digits, 1, hex.MAX_DIGITS)
      from = after
      if not string.find(text, "%S", after) then
        return true
      end
    end
    close_blob(parser)
  end
  if not detail_line(parser, text, line_number) then
    scan(parser, text, from, line_number)
  end
  return parser.seen
end

function nvr.finish(parser)
  close_blob(parser)
  flush(parser)
end

return nvr
