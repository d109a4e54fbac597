-- Unwraps a key log before any reader sees it: UTF-16, quotation marks of mail, what grep, a pager or a terminal adds,
-- characters of word processors; then finds its lines. The program reads what is in JSON, in a journal's export or in a
-- page. Pure.

local outer = {}

-- The first lines tell what a text is wrapped in; this share of them has to agree.
local SAMPLE, SHARE = 400, 3 / 4
-- Wrappings may stand inside each other: a mail quotes what grep found.
local MOST_LAYERS = 4

-- Bytes at the start that tell how a file writes its characters.
local UNITS = 4096

-- Tells whether more than half of the units that hold anything have a NUL byte beside a byte at `low`, as Latin letters
-- in UTF-16 have. The bytes of a mark at the start of noise are no mark.
local function holds_latin(bytes, low)
  local balance = 0
  for at = 1, (#bytes < UNITS and #bytes or UNITS) - 1, 2 do
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

-- Full-width letters, digits and signs have the order of ASCII's.
local function narrow(lead, trail)
  return string.char(string.byte(trail) - (lead == "\188" and 96 or 32))
end

-- Each row has a literal that shows the need for it, a pattern and its replacement. A line end inside a line becomes a
-- CR, so that the lines of the file keep their numbers.
local CHARACTERS = {
  { "\0", "%z", " " },
  { "\239\187\191", "\239\187\191", "" },
  { "\194\160", "\194\160", " " },
  { "\227\128\128", "\227\128\128", " " },
  { "\226\128", "\226\128[\128-\138\175]", " " },
  { "\226\128", "\226\128[\139-\143]", "" },
  { "\226\128", "\226\128[\144-\149]", "-" },
  { "\226\128", "\226\128[\156-\159]", '"' },
  { "\226\128", "\226\128[\152-\155]", "'" },
  { "\239\188", "\239([\188\189])([\128-\190])", narrow },
  { "\27[", "\27%[[%d;?]*%a", "" },
  { "\8", "%-%-+ ?[Mm]ore ?%-%-+[ \8]*", "" },
  { "\8", "\8", "" },
  { "#012", "#012", "\r" },
  { "#011", "#011", "\t" },
  -- `ip -o` ends lines so.
  { "\\\tproto ", "\\\t", "\r\t" },
}

-- Makes `ip xfrm state add src A dst B proto esp … enc '…' 0x…` the block that `ip xfrm state` prints.
local function block_of(command)
  command = string.gsub(string.gsub(command, "^.-%f[%a]src ", "src "), "[\"']", "")
  for _, word in ipairs({ "proto", "auth", "auth%-trunc", "enc", "aead" }) do
    command = string.gsub(command, " (" .. word .. ") ", "\r\t%1 ")
  end
  return command .. "\r"
end

-- Returns the text of a file with plain characters, each a byte.
function outer.characters(text)
  for low = 1, 2 do
    if holds_latin(text, low) then
      text = narrowed(text, low)
      break
    end
  end
  for _, known in ipairs(CHARACTERS) do
    if string.find(text, known[1], 1, true) then
      text = string.gsub(text, known[2], known[3])
    end
  end
  if string.find(text, "ip xfrm state ", 1, true) then
    text = string.gsub(text, "[^\r\n]*ip xfrm state %a+ src [^\r\n]*", block_of)
  end
  return text
end

-- The first lines that hold anything.
local function sample(text)
  local lines = {}
  for line in string.gmatch(text, "[^\r\n]*%S[^\r\n]*") do
    lines[#lines + 1] = line
    if #lines >= SAMPLE then
      break
    end
  end
  return lines
end

-- Tells whether most of the first lines begin with a pattern.
local function is_usual(text, pattern)
  local lines, matching = sample(text), 0
  for _, line in ipairs(lines) do
    matching = matching + (string.find(line, "^" .. pattern) and 1 or 0)
  end
  return matching > 0 and matching >= SHARE * #lines
end

local ENDS = "([\r\n])"

-- Each row has a pattern that stands before every line, and one of what follows it. A word before a colon is a file's
-- name where it has a dot or a slash; \126 is the sign for home.
local PREFIXES = {
  { "| ?", "" }, { "[%a/%.\126][^%s:\"]*:%d+:", "" }, { "[%a/%.\126][^%s:\"]*[%./][^%s:\"]*:", "" },
  { "%d+[:%-]", "[^%d]" }, { "%d+:", "%d%d%d%d[/%-]" }, { " *%d+\t", "" },
}

local function without_prefixes(text)
  for _ = 1, MOST_LAYERS do
    local found = false
    for _, known in ipairs(PREFIXES) do
      if is_usual(text, known[1] .. known[2]) then
        text = string.gsub(text, ENDS .. known[1] .. "(" .. known[2] .. "[^\r\n]?)", "%1%2")
        found = true
      end
    end
    if not found then
      break
    end
  end
  return text
end

-- A mail quotes with "> ". A prompt looks alike, and no key follows a prompt.
local function without_quotes(text)
  while string.find(text, "\n>", 1, true) or string.find(text, "\r>", 1, true) do
    text = string.gsub(text, ENDS .. ">+ ?", "%1")
  end
  return text
end

-- Takes off the blanks that every line begins with.
local function without_indentation(text)
  local common
  for blanks in string.gmatch(text, "[\r\n]([ \t]*)[^%s]") do
    common = (not common or #blanks < common) and #blanks or common
    if common == 0 then
      return text
    end
  end
  return (string.gsub(text, ENDS .. string.rep("[ \t]", common or 0), "%1"))
end

local TIME = "<?%d*>?%d%d%d%d%-%d%d%-%d%d[T ]%d%d:%d%d:%d%d%S* "

-- Takes off a word that stands behind the time of nearly every line (a host, a collector's facility).
local function without_word(text)
  local counts, lines = {}, sample(text)
  for _, line in ipairs(lines) do
    local word = string.match(line, "^" .. TIME .. "([%w%.%-_]+:?) ") or ""
    counts[word] = (counts[word] or 0) + 1
  end
  for word, count in pairs(counts) do
    if word ~= "" and count > 1 and count >= SHARE * #lines then
      local literal = string.gsub(word, "%p", "%%%0")
      return without_word((string.gsub(text, "([\r\n]" .. TIME .. ")" .. literal .. " ", "%1")))
    end
  end
  return text
end

-- Returns the text without what is around its lines, whose numbers stay.
function outer.unwrapped(text)
  text = without_quotes(without_prefixes(without_quotes("\n" .. text)))
  return string.sub(without_word(without_indentation(text)), 2)
end

-- Times sort as words: the router's, ISO 8601 with its fraction, and RFC 3164 within one day.
local TIMES = {
  "[\r\n][^\r\n]-(%d%d%d%d[/%-]%d%d[/%-]%d%d[T ]%d%d:%d%d:%d%d[%.%d]*)",
  "[\r\n][^\r\n]-(%u%l%l [ %d]%d %d%d:%d%d:%d%d)",
}

-- Tells whether the newest line comes first (`show log reverse`, log viewers): times fall instead of rise.
function outer.is_reversed(text)
  for _, pattern in ipairs(TIMES) do
    local falls, rises, last = 0, 0, nil
    for time in string.gmatch("\n" .. text, pattern) do
      if last and #time == #last then
        falls, rises = falls + (time < last and 1 or 0), rises + (time > last and 1 or 0)
      end
      last = time
    end
    if last then
      return falls > rises
    end
  end
  return false
end

-- Returns where the lines begin and end, at most `longest` bytes of each, and their numbers: in a text with LF a CR
-- alone does not count. Places, not strings: Lua 5.1 looks through all strings alike that it holds for each new one.
function outer.places(bytes, longest)
  local starts, stops, numbers, at, number, has_lf = {}, {}, {}, 1, 1, false
  local has_cr = string.find(bytes, "\r", 1, true) ~= nil
  while at <= #bytes do
    local stop = string.find(bytes, has_cr and "[\r\n]" or "\n", at, not has_cr) or #bytes + 1
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

return outer
