-- A key file's bytes → places of lines: UTF-16 with or without a mark narrowed to bytes, NUL bytes as blanks, LF, CRLF
-- and CR alone as ends of lines. Pure.

local text = {}

-- Bytes at the start that tell how a file writes its characters.
local SAMPLE = 4096

-- Tells whether more than half of the units that hold anything have a NUL byte beside a byte at `low`, as Latin letters
-- in UTF-16 have. The bytes of a mark at the start of noise are no mark.
local function holds_latin(bytes, low)
  local balance = 0
  for at = 1, (#bytes < SAMPLE and #bytes or SAMPLE) - 1, 2 do
    local letter, other = string.byte(bytes, at + low - 1), string.byte(bytes, at + 2 - low)
    if letter + other > 0 then
      balance = balance + (letter > 0 and other == 0 and 1 or -1)
    end
  end
  return balance > 0
end

-- Every other character than a Latin one becomes a question mark; byte order marks go.
local function narrowed(bytes, low)
  local known = setmetatable({}, {
    __index = function(cache, unit)
      local letter, other = string.byte(unit, low), string.byte(unit, 3 - low)
      cache[unit] = other == 0 and string.char(letter) or letter == 255 and other == 254 and "" or "?"
      return cache[unit]
    end,
  })
  return (string.gsub(string.sub(bytes, 1, #bytes - #bytes % 2), "..", known))
end

-- Returns the characters of a file as single bytes.
function text.decoded(bytes)
  for low = 1, 2 do
    if holds_latin(bytes, low) then
      bytes = narrowed(bytes, low)
      break
    end
  end
  for from, plain in pairs({ ["\0"] = " ", ["\239\187\191"] = "" }) do
    if string.find(bytes, from, 1, true) then
      bytes = string.gsub(bytes, from == "\0" and "%z" or from, plain)
    end
  end
  return bytes
end

-- Returns where the lines begin and end, at most `longest` bytes of each, and their numbers: in a text with LF a CR
-- alone does not count. Places, not strings: Lua 5.1 looks through all strings alike that it holds for each new one.
function text.places(bytes, longest)
  local starts, stops, numbers, at, number, has_lf = {}, {}, {}, 1, 1, false
  local has_cr = string.find(bytes, "\r", 1, true) ~= nil
  while at <= #bytes do
    local stop
    if has_cr then
      stop = string.find(bytes, "[\r\n]", at)
    else
      stop = string.find(bytes, "\n", at, true)
    end
    stop = stop or #bytes + 1
    local count = #starts + 1
    starts[count], numbers[count] = at, number
    stops[count] = stop - at <= longest and stop - 1 or at + longest - 1
    local ending = string.byte(bytes, stop)
    if ending == 13 and string.byte(bytes, stop + 1) == 10 then
      stop, ending = stop + 1, 10
    end
    has_lf = has_lf or ending == 10
    if ending == 10 or not has_lf then
      number = number + 1
    end
    at = stop + 1
  end
  return starts, stops, numbers
end

return text
