-- Unwraps a key log before any reader sees it: quotation marks of mail, what grep, a journal, a pager or a terminal
-- adds, characters of word processors and web pages. Pure.

local outer = {}

-- The first lines tell what a text is wrapped in; this share of them has to agree.
local SAMPLE, SHARE = 400, 3 / 4
-- Wrappings may stand inside each other: a mail quotes what grep found.
local MOST_LAYERS = 4

local ENTITIES = {
  lt = "<", gt = ">", amp = "&", quot = '"', apos = "'", nbsp = " ", ["#160"] = " ", ["#39"] = "'",
  ["#34"] = '"',
}

-- Full-width letters, digits and signs have the order of ASCII's.
local function narrow(lead, trail)
  return string.char(string.byte(trail) - (lead == "\188" and 96 or 32))
end

-- Each row has a literal that shows the need for it, a pattern and its replacement. A line end inside a line becomes a
-- CR, so that the lines of the file keep their numbers.
local CHARACTERS = {
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
  { "<br", "<br%s*/?>", "\r" },
  { "</", "</?%a%w*>", "" },
  { '="', "<%a%w* [^<>\r\n]-=[^<>\r\n]*>", "" },
  { "&", "&(#?%w+);", ENTITIES },
}

-- Makes `ip xfrm state add src A dst B proto esp … enc '…' 0x…` the block that `ip xfrm state` prints.
local function block_of(command)
  command = string.gsub(string.gsub(command, "^.-%f[%a]src ", "src "), "[\"']", "")
  for _, word in ipairs({ "proto", "auth", "auth%-trunc", "enc", "aead" }) do
    command = string.gsub(command, " (" .. word .. ") ", "\r\t%1 ")
  end
  return command .. "\r"
end

-- Returns the text with plain characters.
function outer.characters(text)
  if string.find(text, "ip xfrm state ", 1, true) then
    text = string.gsub(text, "[^\r\n]*ip xfrm state %a+ src [^\r\n]*", block_of)
  end
  for _, known in ipairs(CHARACTERS) do
    if string.find(text, known[1], 1, true) then
      text = string.gsub(text, known[2], known[3])
    end
  end
  return text
end

-- Tells whether most of the first lines that hold anything match.
local function is_usual(lines, pattern)
  local matching, seen = 0, 0
  for _, line in ipairs(lines) do
    if string.find(line, "%S") then
      seen = seen + 1
      matching = matching + (string.find(line, pattern) and 1 or 0)
      if seen >= SAMPLE then
        break
      end
    end
  end
  return matching > 0 and matching >= SHARE * seen
end

local function strip(lines, pattern)
  for index, line in ipairs(lines) do
    local after = string.match(line, pattern)
    if after then
      lines[index] = string.sub(line, after)
    end
  end
end

-- Each pattern takes off what stands before every line. A word before a colon is a file's name where it has a dot or a
-- slash; \126 is the sign for home.
local PREFIXES = {
  "^| ?()", "^[%a/%.\126][^%s:\"]*:%d+:()", "^[%a/%.\126][^%s:\"]*[%./][^%s:\"]*:()", "^%d+[:%-]()[^%d]",
  "^%d+:()%d%d%d%d[/%-]", "^ *%d+\t()",
}

local function strip_prefixes(lines)
  for _ = 1, MOST_LAYERS do
    local found = false
    for _, pattern in ipairs(PREFIXES) do
      if is_usual(lines, pattern) then
        strip(lines, pattern)
        found = true
      end
    end
    if not found then
      return
    end
  end
end

-- A mail quotes with "> ". A prompt looks alike, and no key follows a prompt.
local function strip_quotes(lines)
  for index, line in ipairs(lines) do
    if string.byte(line) == 62 then
      repeat
        line = string.gsub(line, "^>+ ?", "")
      until string.byte(line) ~= 62
      lines[index] = line
    end
  end
end

-- Takes off the blanks that every line begins with.
local function strip_indentation(lines)
  local common
  for _, line in ipairs(lines) do
    local blanks = string.match(line, "^[ \t]*()%S")
    if blanks and (not common or blanks < common) then
      common = blanks
      if common == 1 then
        return
      end
    end
  end
  for index, line in ipairs(lines) do
    lines[index] = string.sub(line, common or 1)
  end
end

-- Keeps of each record of `journalctl -o export` the message.
local function journal(lines, numbers)
  local is_export = false
  for index = 1, (#lines < SAMPLE and #lines or SAMPLE) do
    is_export = is_export or string.find(lines[index], "^MESSAGE=") ~= nil
  end
  if not is_export then
    return lines, numbers
  end
  local kept, kept_numbers = {}, {}
  for index, line in ipairs(lines) do
    local message = string.match(line, "^MESSAGE=(.*)$")
    if message or not string.find(line, "^_*%u[%u%d_]*=") and string.find(line, "%S") then
      kept[#kept + 1], kept_numbers[#kept_numbers + 1] = message or line, numbers[index]
    end
  end
  return kept, kept_numbers
end

local MESSAGE_FIELDS = { _raw = true, MESSAGE = true, message = true, msg = true, log = true }
local OF_JSON = { n = "", r = "", t = "\t" }
-- Escaped quotation marks and backslashes, while quotation marks are looked for.
local ESCAPED, PLAIN = { ['"'] = "\1", ["\\"] = "\2" }, { ["\1"] = '"', ["\2"] = "\\" }

local function of_code(digits)
  return string.char(tonumber(digits, 16))
end

-- Returns the message of an object of JSON Lines, or nil.
local function message_of(line)
  if not string.find(line, "^%s*{.*}%s*,?%s*$") then
    return nil
  end
  line = string.gsub(line, '\\(["\\])', ESCAPED)
  for name, value in string.gmatch(line, '"([%a_]+)"%s*:%s*"([^"]*)"') do
    if MESSAGE_FIELDS[name] then
      value = string.gsub(string.gsub(value, "\\u00(%x%x)", of_code), "\\(%a)", OF_JSON)
      return (string.gsub(value, "[\1\2]", PLAIN))
    end
  end
  return nil
end

-- Tells whether a text is JSON Lines with messages.
function outer.has_messages(text)
  return message_of(string.match(text, "^%s*([^\r\n]*)")) ~= nil
end

local function strip_json(lines)
  for index, line in ipairs(lines) do
    lines[index] = message_of(line) or line
  end
end

-- Log viewers export rows of a table: "TIME","HOST","MESSAGE".
local function strip_table(lines)
  for index, line in ipairs(lines) do
    if string.find(line, '^"%d%d%d%d%-%d%d%-%d%d[T ]') then
      line = string.gsub(string.gsub(line, '^"', ""), '"%s*$', "")
      lines[index] = string.gsub(string.gsub(line, '"[,;]"', " "), '""', '"') .. ""
    end
  end
end

local AFTER_TIME = "^<?%d*>?%d%d%d%d%-%d%d%-%d%d[T ]%d%d:%d%d:%d%d%S* ()([%w%.%-_]+:?) ()"

-- Takes off a word that stands behind the time of nearly every line (a host, a collector's facility). Returns whether
-- there was one.
local function strip_word(lines)
  local counts, seen = {}, 0
  for index = 1, (#lines < SAMPLE and #lines or SAMPLE) do
    local _, word = string.match(lines[index], AFTER_TIME)
    seen = seen + (string.find(lines[index], "%S") and 1 or 0)
    counts[word or ""] = (counts[word or ""] or 0) + 1
  end
  for usual, count in pairs(counts) do
    if usual ~= "" and count > 1 and count >= SHARE * seen then
      for index, line in ipairs(lines) do
        local at, word, after = string.match(line, AFTER_TIME)
        if word == usual then
          lines[index] = string.sub(line, 1, at - 1) .. string.sub(line, after)
        end
      end
      return true
    end
  end
  return false
end

-- Returns the lines without what is around them, and their numbers.
function outer.lines(lines, numbers)
  lines, numbers = journal(lines, numbers)
  if message_of(lines[1] or "") then
    strip_json(lines)
  end
  strip_quotes(lines)
  strip_prefixes(lines)
  strip_quotes(lines)
  strip_indentation(lines)
  strip_table(lines)
  for _ = 1, MOST_LAYERS do
    if not strip_word(lines) then
      break
    end
  end
  return lines, numbers
end

-- Times sort as words: the router's, ISO 8601 with its fraction, and RFC 3164 within one day.
local function time_of(line)
  local time = string.match(line, "%d%d%d%d[/%-]%d%d[/%-]%d%d[T ]%d%d:%d%d:%d%d[%.%d]*")
  return time or string.match(line, "%u%l%l [ %d]%d %d%d:%d%d:%d%d")
end

-- Tells whether the newest line comes first (`show log reverse`, log viewers): times fall instead of rise.
function outer.is_reversed(lines)
  local falls, rises, last = 0, 0, nil
  for _, line in ipairs(lines) do
    local time = time_of(line)
    if time and last and time ~= last and #time == #last then
      if time < last then
        falls = falls + 1
      else
        rises = rises + 1
      end
    end
    last = time or last
  end
  return falls > rises
end

return outer
