-- Hex as people print it: "0x…", solid, "xx xx", 4-byte groups, "xx:xx", either case. Pure; Lua 5.1–5.4 and the
-- router's subset (no decimal literals, no math, no goto), see keylog formats in README.md.

local hex = {}

-- Longest blob worth keeping, in digits: KEYMAT of the largest transforms is under 256 bytes; a DH secret is 1,024.
hex.MAX_DIGITS = 4096

-- 8-digit lower-case SPI from "0x…", bare hex digits or groups; nil when it is not 1 to 4 bytes.
function hex.spi(text)
  local digits = string.lower(string.gsub(string.gsub(text, "^0[xX]", ""), "[%s:]", "") .. "")
  if not string.find(digits, "^%x+$") then
    return nil
  end
  digits = string.gsub(digits, "^0+", "")
  if #digits > 8 then
    return nil
  end
  return string.rep("0", 8 - #digits) .. digits
end

-- Digits of a value that must be hex as a whole; nil for anything else, an odd number of digits included.
function hex.whole(text)
  local digits = string.gsub(text, "^0[xX]", "")
  if #digits % 2 ~= 0 or #digits > hex.MAX_DIGITS or not string.find(digits, "^%x*$") then
    return nil
  end
  return string.lower(digits)
end

-- One run of hex that starts at `from`: groups of one width (the last may be shorter), joined by ":" or blanks.
-- Returns the digits and the position after the run, or nil when there is none. A token with an odd number of
-- digits ends the run: half a byte is not a key.
function hex.run(text, from)
  local at = from
  local prefixed = string.match(text, "^0[xX]()", at)
  if prefixed then
    at = prefixed
  end
  local parts, width, total = {}, nil, 0
  while true do
    local token, after = string.match(text, "^(%x+)()", at)
    if not token or string.find(text, "^[%w_]", after) or #token % 2 ~= 0 then
      break
    end
    if width and #token > width then
      break
    end
    total = total + #token
    if total > hex.MAX_DIGITS then
      break
    end
    parts[#parts + 1] = token
    local shorter = width and #token < width
    width = width or #token
    at = after
    local joined = string.match(text, "^:()%x", after) or string.match(text, "^[ \t]+()%x", after)
    if shorter or not joined then
      break
    end
    at = joined
  end
  if #parts == 0 then
    return nil
  end
  return string.lower(table.concat(parts)), at
end

return hex
