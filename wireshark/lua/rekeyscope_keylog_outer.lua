-- Unwraps a key log before any reader sees it: quotation marks of mail, what grep, a pager or a terminal adds,
-- characters of word processors. The program reads what is in JSON, in a journal's export or in a page. Pure.

local outer = {}

-- The first lines tell what a text is wrapped in; this share of them has to agree.
local SAMPLE, SHARE = 400, 3 / 4
-- Wrappings may stand inside each other: a mail quotes what grep found.
local MOST_LAYERS = 4

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

-- Tells whether most of the first lines that hold anything begin with a pattern.
local function is_usual(text, pattern)
  local matching, seen = 0, 0
  for line in string.gmatch(text, "[^\r\n]*%S[^\r\n]*") do
    seen = seen + 1
    matching = matching + (string.find(line, "^" .. pattern) and 1 or 0)
    if seen >= SAMPLE then
      break
    end
  end
  return matching > 0 and matching >= SHARE * seen
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
  local counts, seen = {}, 0
  for line in string.gmatch(text, "[^\r\n]*%S[^\r\n]*") do
    local word = string.match(line, "^" .. TIME .. "([%w%.%-_]+:?) ")
    seen = seen + 1
    counts[word or ""] = (counts[word or ""] or 0) + 1
    if seen >= SAMPLE then
      break
    end
  end
  for word, count in pairs(counts) do
    if word ~= "" and count > 1 and count >= SHARE * seen then
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

return outer
