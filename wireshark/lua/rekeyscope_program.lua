-- The program `rekeyscope`, where it is installed: it reads every format, with the capture it proves and derives keys,
-- and it says what rekeys cost and why. Keys come through a pipe; a command line, which other users see, holds names of
-- files alone. Pure but for `run` and `start`, which take a command: `run` returns what it printed, `start` a function
-- that waits for that and one that tells whether the command still runs, or nil.

local program = {}

-- Wireshark's text windows begin that wide.
program.WIDTH = 78

-- Desktops call a program dead that does not draw for 5 s (mutter's check-alive-timeout), and offer to end it.
program.PATIENCE_S = 2

-- Programs that the desktop starts do not know the folders that a shell adds.
local BEFORE = "COLUMNS=" .. program.WIDTH .. ' PATH="$PATH:$HOME/.cargo/bin:/usr/local/bin:/opt/homebrew/bin" '
local BEFORE_ON_WINDOWS = "set COLUMNS=" .. program.WIDTH .. "&& "

local OLD = "the rekeyscope that is installed does not know `keys --claims`: install the one that this plugin came with"
local NOT_NAMED = "the name of %s holds a sign that the system's command line cannot take: rename it"
local HOW = "Install rekeyscope for cost and cause: `cargo install --path crates/analyzer`."
local NAP, NAPS_PER_SECOND = "sleep 0.1", 10
-- A function of the shell that ends a command after so many naps. The shell counts them, because what waits for a
-- reader of more than a pipe holds would never end while Lua only looks on.
local ENDS = "ends() { \"$@\" 2>&1 & left=%d; while kill -0 $! 2>/dev/null; do if [ $left = 0 ]; then kill -9 $!;"
  .. " echo '%s'; return 1; fi; left=$((left - 1)); " .. NAP .. "; done; wait $!; }; "
local ENDED = "rekeyscope: ended by the plugin"
local HUNG = "rekeyscope did not end within %d s, so what it alone reads was not loaded: see in a terminal whether"
  .. " `rekeyscope keys CAPTURE --keys LOG --export wireshark DIR` ends, and load DIR then"
local NOTHING_SAID = "rekeyscope: it ended without an answer"

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

-- Makes a command of the program, which first names itself: an output that begins otherwise is the shell's. Returns nil
-- and a sentence where a word cannot be quoted. options: { program, windows, seconds }: a shell ends the program after
-- the seconds, where any are given; cmd.exe cannot.
function program.command(words, options)
  local parts = { program.quoted(options.program or "rekeyscope", options.windows) or "" }
  for index, word in ipairs(words) do
    parts[index + 1] = program.quoted(word, options.windows)
    if not parts[index + 1] then
      return nil, string.format(NOT_NAMED, word)
    end
  end
  if options.seconds and not options.windows then
    return BEFORE .. "; export COLUMNS PATH; " .. string.format(ENDS, options.seconds * NAPS_PER_SECOND, ENDED)
      .. "ends " .. parts[1] .. " -V && ends " .. table.concat(parts, " ")
  end
  local name, command = parts[1] .. " -V 2>&1 && ", table.concat(parts, " ") .. " 2>&1"
  -- cmd.exe takes the first and the last quotation mark off.
  return options.windows and '"' .. BEFORE_ON_WINDOWS .. name .. command .. '"'
    or BEFORE .. name .. BEFORE .. "exec " .. command
end

-- The output of the program behind its name; nil where it is not installed.
local function behind_name(output)
  return string.match(output or "", "^rekeyscope %d[^\n]*\n(.*)$")
end

local function append(words, before, files)
  for _, file in ipairs(files) do
    words[#words + 1] = before .. file
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

-- Returns rows of Wireshark's tables for key files, and sentences; with the capture keys are derived and proved.
-- Returns nil and a sentence when that did not work; nil alone when the program is not installed. options: { program,
-- windows, files, capture, seconds }.
function program.tables(run, options)
  local words = { "keys", "--export", "wireshark", "-" }
  if options.capture then
    append(words, "--keys=", options.files)
    append(words, "", { "--", options.capture })
  else
    append(append(words, "", { "--claims", "--" }), "", options.files)
  end
  local command, reason = program.command(words, options)
  local printed = command and run(command) or ""
  local output = behind_name(printed)
  if string.find(printed, ENDED, 1, true) then
    return nil, string.format(HUNG, options.seconds)
  elseif not output then
    return nil, reason
  end
  local rows, sentences = read(output)
  -- The program has nothing to say of an empty file.
  if string.find(output, "^error") or output ~= "" and rows == "" and #sentences == 0 then
    return nil, OLD
  end
  return rows, sentences
end

-- The lines up to the first blank one, without notes. Data that went in clear is said before them, with an indented
-- filter.
local function first_lines(output)
  local lines, is_filter = {}, false
  for line in string.gmatch(output, "([^\r\n]*)\r?\n") do
    if line == "" and not is_filter then
      return table.concat(lines, "\n")
    end
    if not string.find(line, "^rekeyscope: ") then
      lines[#lines + 1], is_filter = line, string.find(line, "^ ") ~= nil
    end
  end
  return ""
end

-- Asks the program what rekeys cost and why. Returns a function that waits for the answer, no longer than the seconds
-- it is given: the lines that the program begins with, or a line that says why there are none; nil while it still runs.
-- options: { program, windows, files, capture, no_keys }.
function program.answer(start, options)
  local words = append({ "-q", options.no_keys and "--no-keys" or nil }, "--keys=", options.files)
  local command, reason = program.command(append(words, "", { "--", options.capture }), options)
  local wait, is_running, said = nil, nil, nil
  if command then
    wait, is_running = start(command)
  end
  return function(seconds)
    local naps = seconds and seconds * NAPS_PER_SECOND
    while naps and not said and is_running and is_running() do
      if naps == 0 then
        return nil
      end
      naps = naps - 1
      start(NAP)()
    end
    local output = behind_name(wait and not said and wait())
    if output then
      said = first_lines(output)
      if said == "" or string.find(said, "^error") then
        said = string.match(output, "[^\r\n]+") or NOTHING_SAID
      end
    end
    said = said or reason or HOW
    return said
  end
end

return program
