-- A key file's bytes → lines: UTF-16 and UTF-32 with or without a mark narrowed to bytes, NUL bytes as blanks, LF, CRLF
-- and CR alone as ends of lines. Pure.

local text = {}

-- Bytes at the start that tell how a file writes its characters.
local SAMPLE = 4096

local MARKS = {
  { "^\255\254%z%z", 4, 1 }, { "^%z%z\254\255", 4, 4 }, { "^\255\254", 2, 1 }, { "^\254\255", 2, 2 },
}
-- Without a mark: bytes of a unit, and which of them holds a Latin letter.
local WIDE = { { 4, 1 }, { 4, 4 }, { 2, 1 }, { 2, 2 } }

-- Where more than half of the units that hold anything have NUL bytes exactly where Latin letters have them.
local function holds_latin(bytes, length, low)
  local balance, sample = 0, #bytes < SAMPLE and #bytes or SAMPLE
  for at = 1, sample - length + 1, length do
    local fits, empty = true, true
    for k = 1, length do
      local nul = string.byte(bytes, at + k - 1) == 0
      empty = empty and nul
      fits = fits and nul == (k ~= low)
    end
    if not empty then
      balance = balance + (fits and 1 or -1)
    end
  end
  return balance > 0
end

-- Bytes of a unit and the place of the lowest eight bits; nil for bytes. The bytes of a mark at the start of noise are
-- no mark.
local function encoding_of(bytes)
  for _, mark in ipairs(MARKS) do
    if string.find(bytes, mark[1]) and holds_latin(string.sub(bytes, mark[2] + 1), mark[2], mark[3]) then
      return mark[2], mark[3]
    end
  end
  if not string.find(string.sub(bytes, 1, SAMPLE), "%z") then
    return nil
  end
  for _, wide in ipairs(WIDE) do
    if holds_latin(bytes, wide[1], wide[2]) then
      return wide[1], wide[2]
    end
  end
  return nil
end

-- Every other character than a Latin one becomes a question mark; byte order marks go.
local function narrowed(bytes, length, low)
  local mark = low == 1 and "\255\254" .. string.rep("\0", length - 2) or string.rep("\0", length - 2) .. "\254\255"
  local known = setmetatable({ [mark] = "" }, {
    __index = function(cache, unit)
      local narrow = string.sub(unit, low, low)
      for k = 1, length do
        if k ~= low and string.byte(unit, k) ~= 0 then
          narrow = "?"
        end
      end
      cache[unit] = narrow
      return narrow
    end,
  })
  bytes = string.sub(bytes, 1, #bytes - #bytes % length)
  return (string.gsub(bytes, string.rep(".", length), known))
end

-- The characters of a file as single bytes.
function text.decoded(bytes)
  local length, low = encoding_of(bytes)
  if length then
    bytes = narrowed(bytes, length, low)
  end
  return string.find(bytes, "\0", 1, true) and string.gsub(bytes, "%z", " ") .. "" or bytes
end

-- The lines, at most `longest` bytes of each, and the number of each: in a text with LF a CR alone does not count.
function text.lines(bytes, longest)
  local lines, numbers, at, number, has_lf = {}, {}, 1, 1, false
  local has_cr, has_mark = string.find(bytes, "\r", 1, true) ~= nil, string.find(bytes, "\239\187\191", 1, true) ~= nil
  while at <= #bytes do
    local stop
    if has_cr then
      stop = string.find(bytes, "[\r\n]", at)
    else
      stop = string.find(bytes, "\n", at, true)
    end
    stop = stop or #bytes + 1
    local ending = string.byte(bytes, stop)
    local line = string.sub(bytes, at, stop - at <= longest and stop - 1 or at + longest - 1)
    lines[#lines + 1] = has_mark and string.gsub(line, "^\239\187\191", "") or line
    numbers[#numbers + 1] = number
    if ending == 13 and string.byte(bytes, stop + 1) == 10 then
      stop, ending = stop + 1, 10
    end
    has_lf = has_lf or ending == 10
    if ending == 10 or not has_lf then
      number = number + 1
    end
    at = stop + 1
  end
  return lines, numbers
end

return text
