-- Labelled hex on a line: `LABEL[:= (]…hex`. Which labels a Yamaha router prints before its keys is not
-- documented, so a label is known by its words, not by its form, and hex is read in every grouping. Pure.

local labels = {}

-- Fewer digits than an SPI has mean nothing without a label.
local FEWEST_DIGITS = 8
-- A label stands this near to its value.
local LABEL_REACH = 96
labels.MAX_DIGITS = 8192

local SEPARATORS = "%s:=%(%),%[%]{}<>\"';|%-"

-- The next token: where it begins and ends, its digits when it is hex, whether "0x" stands before them.
local function next_token(text, from)
  local start, token, after = string.match(text, "^[" .. SEPARATORS .. "]*()([^" .. SEPARATORS .. "]+)()", from)
  if not start then
    return nil
  end
  local digits = string.match(token, "^0[xX](%x+)$")
  return {
    start = start, after = after, digits = digits or string.match(token, "^%x+$"), prefixed = digits ~= nil,
  }
end

-- Groups of one width that follow `first`; a shorter one may end the run.
local function read_run(text, first, width)
  local parts, after, total = { first.digits }, first.after, #first.digits
  while total < labels.MAX_DIGITS do
    local token = next_token(text, after)
    -- Bytes may each have their "0x"; of longer groups each is a value of its own.
    if not token or not token.digits or (token.prefixed and not (width == 2 and first.prefixed)) then
      break
    end
    local gap = string.sub(text, after, token.start - 1)
    if not (string.find(gap, "^%s+$") or (width == 2 and (gap == ":" or gap == "-"))) then
      break
    end
    if #token.digits ~= width then
      local next_one = next_token(text, token.after)
      if #token.digits > width or (next_one and next_one.digits) then
        break
      end
    end
    parts[#parts + 1] = token.digits
    total = total + #token.digits
    after = token.after
  end
  return string.lower(table.concat(parts)), after
end

local KEYS = { enc = true, auth = true, key = true, keymat = true, spi = true, ka = true }

-- The first run of hex at or after `from`: { label, kind, digits, width, prefixed, after }.
function labels.next_run(text, from, carried)
  local at = from
  while true do
    local token = next_token(text, at)
    if not token then
      return nil
    end
    at = token.after
    if token.digits then
      local digits, after = read_run(text, token, #token.digits)
      local label = (carried or "") .. string.sub(text, from, token.start - 1)
      local kind = labels.kind(label)
      -- A labelled value at the end of a line may go on on the next one.
      local may_go_on = KEYS[kind] and not string.find(text, "%S", after) and not string.find(label, "%[$")
      if #digits >= FEWEST_DIGITS or token.prefixed or may_go_on then
        return {
          label = label, kind = kind, digits = digits, width = #token.digits, prefixed = token.prefixed, after = after,
        }
      end
    end
  end
end

-- Hex at the beginning of a line that goes on with a value: `width` digits in its groups (nil: not begun), `total`
-- digits so far, "0x" before its rows when `prefixed`.
function labels.continuation(text, width, total, prefixed)
  local token = next_token(text, 1)
  if not token or not token.digits or (token.prefixed and width and not prefixed)
    or string.find(text, "^%s*[^%s%x]") then
    return nil
  end
  local odd, first_width = total % 2 ~= 0, #token.digits
  if not odd and first_width % 2 ~= 0 then
    return nil
  end
  local group = width or first_width
  -- Of a first group that was cut the length is known by the next one.
  local next_one = next_token(text, token.after)
  if width and total == width and next_one and next_one.digits and #next_one.digits == width + first_width then
    group = width + first_width
  end
  local digits, after = read_run(text, token, group)
  local rest = string.sub(text, after)
  local whole_line = not string.find(rest, "%S")
  local labelled = whole_line or labels.kind(rest) ~= nil
  local over = total % group
  local fits = first_width == group or first_width >= FEWEST_DIGITS or odd or whole_line
    or (over > 0 and first_width == group - over) or (group > FEWEST_DIGITS and labelled)
  if fits and (string.find(digits, "%d") or #digits >= FEWEST_DIGITS or labelled) then
    return { digits = digits, width = group, prefixed = token.prefixed, after = after }
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

-- What the words before a value say it is: enc, auth, key, keymat, spi, icookie, rcookie, message, ka, skeyid…,
-- sk_…, "none" (certainly no key), or nil.
function labels.kind(label)
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

function labels.is_masked(text)
  return string.find(text, "** **", 1, true) ~= nil or string.find(text, "(confidential)", 1, true) ~= nil
end

return labels
