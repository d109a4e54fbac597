-- The program `rekeyscope`, where it is installed: it reads every format, and with the capture it proves and derives
-- keys. Keys come through a pipe; a command line, which other users see, holds names of files alone. Pure but for
-- `run`, which takes a command and returns what it printed, or nil.

local program = {}

-- Programs that the desktop starts do not know the folders that a shell adds.
local PATH = 'PATH="$PATH:$HOME/.cargo/bin:/usr/local/bin:/opt/homebrew/bin" '

-- Quotes a word for the shell; nil where the shell can take no such word. cmd.exe puts a variable's value in between
-- quotation marks, too.
function program.quoted(word, windows)
  if string.find(word, "%z") or windows and string.find(word, '["%%\r\n]') then
    return nil
  elseif windows then
    return '"' .. string.gsub(word, "\\+$", "") .. '"'
  end
  return "'" .. string.gsub(word, "'", "'\\''") .. "'"
end

-- Makes a command of these words, or returns nil and the word that cannot be quoted.
function program.command(words, windows)
  local quoted = {}
  for index, word in ipairs(words) do
    quoted[index] = program.quoted(word, windows)
    if not quoted[index] then
      return nil, word
    end
  end
  local command = table.concat(quoted, " ") .. " 2>&1"
  -- cmd.exe takes the first and the last quotation mark off.
  return windows and '"' .. command .. '"' or PATH .. command
end

local function words_of(name, files, capture)
  local words = { name, "keys", "--export", "wireshark", "-" }
  if not capture then
    words[#words + 1] = "--claims"
  end
  for _, file in ipairs(capture and files or {}) do
    words[#words + 1] = "--keys=" .. file
  end
  words[#words + 1] = "--"
  for _, file in ipairs(capture and { capture } or files) do
    words[#words + 1] = file
  end
  return words
end

-- Parts the rows of tables from the sentences that the program says.
local function read(output)
  local rows, sentences = {}, {}
  for line in string.gmatch(output, "[^\r\n]+") do
    local sentence = string.match(line, "^rekeyscope: (.*)$")
    if sentence then
      sentences[#sentences + 1] = sentence
    elseif string.find(line, "^[\"%x]") then
      rows[#rows + 1] = line
    end
  end
  return table.concat(rows, "\n"), sentences
end

local OLD = "the rekeyscope that is installed does not know `keys --claims`: install the one that this plugin came with"
local NOT_NAMED = "the name of %s holds a sign that the system's command line cannot take: rename it"

-- Returns rows of Wireshark's tables for key files, and sentences; with the capture keys are derived and proved.
-- Returns nil and a sentence when that did not work; nil alone when the program is not installed.
function program.tables(run, options)
  local name = options.program or "rekeyscope"
  local command, unnamed = program.command(words_of(name, options.files, options.capture), options.windows)
  if not command then
    return nil, string.format(NOT_NAMED, unnamed)
  end
  local output = run(command) or ""
  local rows, sentences = read(output)
  if rows ~= "" and not string.find(output, "^error") or #sentences > 0 then
    return rows, sentences
  end
  local version = program.command({ name, "--version" }, options.windows)
  if string.find(run(version) or "", "^rekeyscope %d") then
    -- The program has nothing to say of an empty file.
    return output == "" and "" or nil, output == "" and {} or OLD
  end
  return nil
end

return program
