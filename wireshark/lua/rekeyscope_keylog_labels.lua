-- Labelled hex on a line: `LABEL[:= (]…hex`. Which labels a Yamaha router prints before its keys is not
-- documented, so a label is known by its words, not by its form, and hex is read in every grouping. Pure.

local labels = {}

-- Fewer digits than an SPI has mean nothing without a label.
local FEWEST_DIGITS = 8
-- A label stands this near to its value.
local LABEL_REACH = 96
labels.MAX_DIGITS = 8192

local SEPARATORS = "%s:=%(%),%[%]{}<>\"';|%-"

-- Captures of a word of hex where it begins, "0x" or nothing, its digits and where it ends. The word is a token where
-- separators stand around it.
local HEX = "%f[%w]()(0?[xX]?)(%x+)()%f[%W]"
local IS_SEPARATOR = {}
for code = 0, 255 do
  IS_SEPARATOR[code] = string.find(string.char(code), "[" .. SEPARATORS .. "]") ~= nil
end

local function stands_alone(text, start, after)
  local before, behind = string.byte(text, start - 1), string.byte(text, after)
  return (start == 1 or IS_SEPARATOR[before]) and (not behind or IS_SEPARATOR[behind])
end

-- The same of a token at a place, with what stands before it: of the first of a text, and of one behind another.
local FIRST = "^([" .. SEPARATORS .. "]*)(0?[xX]?)(%x+)()%f[" .. SEPARATORS .. "%z]"
local NEXT = "^([" .. SEPARATORS .. "]+)(0?[xX]?)(%x+)()%f[" .. SEPARATORS .. "%z]"

local function digits_of(prefix, digits)
  -- The zero of "0" and digits without x is a digit.
  return prefix == "0" and prefix .. digits or digits
end

-- Returns the digits of a token where it is hex, its end, whether "0x" stands before them, and the gap before it.
local function token_at(text, from, pattern)
  local gap, prefix, digits, after = string.match(text, pattern, from)
  if not gap or string.find(prefix, "^[xX]") then
    return nil
  end
  return digits_of(prefix, digits), after, #prefix == 2, gap
end

-- Reads bytes apart by blanks alone, as routers print them, in one go. Returns their digits and where they end; nil
-- when some are no bytes.
local function read_bytes(text, after)
  local bytes = string.match(text, "^ [%x ]*%x%f[^%x]", after)
  if not bytes or not IS_SEPARATOR[string.byte(text, after + #bytes) or 32] then
    return nil
  end
  local digits, count = string.gsub(bytes, " +(%x%x)", "%1")
  if #digits ~= 2 * count then
    return nil
  end
  return digits, after + #bytes
end

-- Reads groups of one width that follow the first.
local function read_run(text, first, after, width, prefixed)
  local bytes, behind_bytes
  if width == 2 and not prefixed then
    bytes, behind_bytes = read_bytes(text, after)
  end
  if bytes and #bytes < labels.MAX_DIGITS then
    first, after = first .. bytes, behind_bytes
  end
  if not token_at(text, after, NEXT) then
    return string.lower(first), after
  end
  local parts, total = { first }, #first
  while total < labels.MAX_DIGITS do
    local digits, behind, has_prefix, gap = token_at(text, after, NEXT)
    -- Bytes may each have their "0x"; of longer groups each is a value of its own.
    if not digits or (has_prefix and not (width == 2 and prefixed)) then
      break
    elseif string.find(gap, "%S") and not (width == 2 and (gap == ":" or gap == "-")) then
      break
    elseif #digits ~= width and (#digits > width or token_at(text, behind, NEXT)) then
      break
    end
    parts[#parts + 1] = digits
    total = total + #digits
    after = behind
  end
  return string.lower(table.concat(parts)), after
end

local KEYS = { enc = true, auth = true, key = true, keymat = true, spi = true, ka = true }

-- The first run of hex at or after `from`: { kind, digits, width, prefixed, after, first_row (its number of digits) },
-- with room for what a reader notes of an open value.
function labels.next_run(text, from, carried)
  local at = from
  while true do
    local start, prefix, first, token_end = string.match(text, HEX, at)
    if not start then
      return nil
    end
    at = token_end
    if stands_alone(text, start, token_end) and not string.find(prefix, "^[xX]") then
      first = digits_of(prefix, first)
      local prefixed = #prefix == 2
      local digits, after = read_run(text, first, token_end, #first, prefixed)
      local is_long = #digits >= FEWEST_DIGITS or prefixed
      -- A labelled value at the end of a line may go on on the next one.
      if is_long or not string.find(text, "%S", after) then
        local label = (carried or "") .. string.sub(text, from, start - 1)
        local kind = labels.kind(label)
        if is_long or KEYS[kind] and not string.find(label, "%[$") then
          return {
            kind = kind, digits = digits, width = #first, prefixed = prefixed, after = after, first_row = #digits,
            line = false, framing = false, interrupts = 0,
          }
        end
      end
    end
  end
end

-- Hex at the beginning of a line that goes on with a value: `width` digits in its groups (nil: not begun), `total`
-- digits so far, "0x" before its rows when `prefixed`.
function labels.continuation(text, width, total, prefixed)
  local first, first_end, has_prefix = token_at(text, 1, FIRST)
  if not first or (has_prefix and width and not prefixed) or string.find(text, "^%s*[^%s%x]") then
    return nil
  end
  local odd, first_width = total % 2 ~= 0, #first
  if not odd and first_width % 2 ~= 0 then
    return nil
  end
  local group = width or first_width
  -- The next group tells the length of a first one that was cut.
  local next_one = token_at(text, first_end, NEXT)
  if width and total == width and next_one and #next_one == width + first_width then
    group = width + first_width
  end
  local digits, after = read_run(text, first, first_end, group, has_prefix)
  local rest = string.sub(text, after)
  local whole_line = not string.find(rest, "%S")
  local labelled = whole_line or labels.kind(rest) ~= nil
  local over = total % group
  local fits = first_width == group or first_width >= FEWEST_DIGITS or odd or whole_line
    or (over > 0 and first_width == group - over) or (group > FEWEST_DIGITS and labelled)
  if fits and (string.find(digits, "%d") or #digits >= FEWEST_DIGITS or labelled) then
    return { digits = digits, width = group, prefixed = has_prefix, after = after }
  end
  return nil
end

local WORDS = {
  skeyid = "skeyid", skeyid_d = "skeyid_d", skeyidd = "skeyid_d", skeyid_a = "skeyid_a", skeyida = "skeyid_a",
  skeyid_e = "skeyid_e", skeyide = "skeyid_e", ka = "ka", skeyseed = "skeyseed", sk_d = "sk_d", sk_ei = "sk_ei",
  sk_er = "sk_er", sk_ai = "sk_ai", sk_ar = "sk_ar", keymat = "keymat", iv = "none", nonce = "none", ni = "none",
  nr = "none", hash = "none", spi = "spi", icookie = "icookie", i_cookie = "icookie", rcookie = "rcookie",
  r_cookie = "rcookie",
  message = "message", xy = "shared", gxy = "shared", g_xy = "shared",
}

local function key_kind(seen)
  if seen.diffie_hellman then
    return "shared"
  end
  return seen.encryption and (seen.of_ike and "ka" or "enc") or seen.integrity and "auth" or "key"
end

local function describe(seen, word)
  if string.find(word, "^enc") or string.find(word, "^cipher") then
    seen.encryption, seen.integrity = true, false
  elseif string.find(word, "^auth") or string.find(word, "^integ") or string.find(word, "^hmac") then
    seen.encryption, seen.integrity = false, true
    seen.for_integrity = seen.after_for
  else
    seen.initiator = word == "initiator" or (seen.initiator and word ~= "responder")
    seen.responder = word == "responder" or (seen.responder and word ~= "initiator")
    seen.of_ike = seen.of_ike or word == "ike" or word == "isakmp" or word == "phase1"
    seen.diffie_hellman = seen.diffie_hellman or word == "dh" or word == "diffie"
    seen.shared = seen.shared or (word == "shared" and not seen.pre)
    seen.pre, seen.after_for = word == "pre", word == "for"
    return
  end
  if string.find(word, "key$") then
    seen.kind = key_kind(seen)
  end
end

-- A router repeats a few labels: their kinds are remembered, at most this many.
local MAX_KNOWN = 1000
local kinds, known_kinds = {}, 0

local function kind_of(label)
  local seen = {}
  for word in string.gmatch(string.lower(string.sub(label, -LABEL_REACH)), "[%w_]+") do
    local known = #word <= 24 and WORDS[word]
    if seen.kind == "skeyid" and (word == "d" or word == "a" or word == "e") then
      seen.kind = "skeyid_" .. word
    elseif word == "cookie" and (seen.responder or seen.initiator) then
      seen.kind = seen.responder and "rcookie" or "icookie"
    elseif word == "key" or word == "keys" then
      seen.kind = key_kind(seen)
    elseif word == "secret" and (seen.diffie_hellman or seen.shared) then
      seen.kind = "shared"
    elseif known then
      seen.kind = known
    else
      describe(seen, word)
    end
  end
  if seen.kind == "enc" and seen.of_ike then
    return "ka"
  end
  return seen.kind or (seen.for_integrity and "auth") or nil
end

-- Returns the meaning of the words before a value: enc, auth, key, keymat, spi, icookie, rcookie, message, ka, skeyid…,
-- sk_…, "none" (certainly no key), or nil.
function labels.kind(label)
  local kind = kinds[label]
  if kind == nil then
    if known_kinds >= MAX_KNOWN then
      kinds, known_kinds = {}, 0
    end
    kind = kind_of(label) or false
    kinds[label], known_kinds = kind, known_kinds + 1
  end
  return kind or nil
end

return labels
