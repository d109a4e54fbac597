-- Sources of key logs, and what they give: arguments, environment, the dialog's state file; then
-- entries, rows, and the sentences that say what happened. Pure but for `fs` (see rekeyscope_store.lua).

local foreign = require("rekeyscope_keylog_foreign")
local keylog = require("rekeyscope_keylog")
local program = require("rekeyscope_program")
local rows = require("rekeyscope_rows")

local source = {}

-- Wireshark's tables of keys.
source.TABLES = { "esp_sa", "ikev1_decryption_table" }

-- Sentences about single lines that are worth printing; the rest is counted.
local MAX_SENTENCES = 5

-- "key=value" arguments of -X lua_script1:… as a table; anything else is ignored.
function source.arguments(...)
  local options = {}
  for _, argument in ipairs({ ... }) do
    local name, value = string.match(argument, "^(%l+)=(.*)$")
    if name then
      options[name] = value
    end
  end
  return options
end

-- The state file: "name=value" lines, written by the dialog.
function source.read_state(fs, path)
  local state = {}
  for name, value in string.gmatch("\n" .. (fs.read(path) or ""), "[\r\n](%l+)=([^\r\n]*)") do
    state[name] = value
  end
  return state
end

function source.write_state(fs, path, state)
  local lines = {}
  for _, name in ipairs({ "keylog", "profile", "mode", "seen", "capture", "beside" }) do
    if state[name] and state[name] ~= "" and not string.find(state[name], "[\r\n]") then
      lines[#lines + 1] = name .. "=" .. state[name]
    end
  end
  if #lines == 0 then
    fs.remove(path)
    return true
  end
  return fs.write(path, table.concat(lines, "\n") .. "\n")
end

-- Named in a log's place, it switches off that the log beside the capture is loaded.
source.NONE = "none"
source.BESIDE = "it lies beside the capture"

-- Chooses what to load: the first source that names a log decides; profile and mode come from the same order of
-- sources. Where none names one, `beside` does: { capture, files }, what the command line reads and the key files
-- beside it.
function source.choose(arguments, environment, state, beside)
  local choice = {
    profile = arguments.profile or environment.profile or state.profile,
    mode = arguments.mode or environment.mode or state.mode or "ephemeral",
    program = arguments.program or environment.program,
    -- A log from which keys are derived needs the capture, whoever names the log.
    capture = beside and beside.capture,
  }
  if arguments.keylog and arguments.keylog ~= "" then
    choice.keylog, choice.from = arguments.keylog, "-X lua_script1:keylog="
  elseif environment.keylog and environment.keylog ~= "" then
    choice.keylog, choice.from = environment.keylog, "REKEYSCOPE_KEYLOG"
  elseif state.keylog and state.keylog ~= "" then
    choice.keylog, choice.from, choice.seen = state.keylog, state.beside and source.BESIDE or "the dialog", state.seen
    choice.capture = state.capture or choice.capture
  elseif beside and #beside.files > 0 then
    choice.keylog, choice.from = source.joined(beside.files), source.BESIDE
  end
  if choice.keylog == source.NONE then
    choice.keylog, choice.is_none = nil, true
  end
  return choice
end

-- "spi:packets:ip spi:packets:ip …": what the open capture holds, handed over a reload.
function source.seen_text(seen)
  local parts = {}
  for spi, what in pairs(seen) do
    parts[#parts + 1] = string.format("%s:%d:%s", spi, what.packets, what.ip)
  end
  table.sort(parts)
  return table.concat(parts, " ")
end

function source.seen_table(text)
  local seen
  for spi, packets, ip in string.gmatch(text or "", "(%x%x%x%x%x%x%x%x):(%d+):(IPv[46])") do
    seen = seen or {}
    seen[spi] = { packets = tonumber(packets), ip = ip }
  end
  return seen
end

-- Endings that go with a capture's name, then names that serve every capture of a folder: those that the program knows
-- and Wireshark has a use for.
local STEM_ENDINGS = { "keylog", "keys", "esp_sa" }
local COMMON_NAMES = { "keys.esp_sa", "keys.ikev1", "esp_sa", "ikev1_decryption_table" }
local COMPRESSIONS = { gz = true, zst = true, lz4 = true }

-- The key files that lie beside a capture. `exists` tells whether a path is a file that holds something.
function source.beside(capture, exists)
  local folder, name = string.match(capture, "^(.*[/\\])([^/\\]*)$")
  folder, name = folder or "", name or capture
  local stem, ending = string.match(name, "^(.+)%.([^.]*)$")
  local stems, found = { stem or name }, {}
  if ending and COMPRESSIONS[string.lower(ending)] then
    stems[2] = string.match(stem, "^(.+)%.[^.]*$")
  end
  local function look(path)
    if path ~= capture and exists(path) then
      found[#found + 1] = path
    end
  end
  for _, one in ipairs(STEM_ENDINGS) do
    for _, before in ipairs(stems) do
      look(folder .. before .. "." .. one)
    end
  end
  for _, one in ipairs(COMMON_NAMES) do
    look(folder .. one)
  end
  return found
end

-- Several logs as one, as the dialog and keylog= take them.
local BETWEEN_LOGS = ";"

function source.joined(paths)
  return table.concat(paths, BETWEEN_LOGS)
end

-- Adds a file, or a folder that `rekeyscope keys --export wireshark` wrote. Returns whether it can be read.
local function add_file(fs, input, path)
  local texts = { fs.read(path) }
  for _, name in ipairs(#texts == 0 and source.TABLES or {}) do
    texts[#texts + 1] = fs.read(path .. "/" .. name)
  end
  if #texts == 0 and not fs.is_folder(path) then
    return false
  end
  input.files[#input.files + 1] = path
  for _, text in ipairs(texts) do
    input.texts[#input.texts + 1] = text
  end
  input.has_folder = input.has_folder or #texts == 0
  return true
end

-- Returns what a choice names: { files, texts, capture, has_folder }; nil when one of its files cannot be read. The
-- capture may stand among the logs, or alone, for the key files beside it.
local function input_of(fs, choice)
  local input = { files = {}, texts = {}, capture = choice.capture }
  if fs.is_capture(choice.keylog) then
    input.capture = choice.keylog
  elseif add_file(fs, input, choice.keylog) then
    return input
  else
    for one in string.gmatch(choice.keylog, "[^" .. BETWEEN_LOGS .. "]+") do
      one = string.match(one, "^%s*(.-)%s*$")
      if fs.is_capture(one) then
        input.capture = one
      elseif not add_file(fs, input, one) then
        return nil
      end
    end
  end
  for _, one in ipairs(#input.files == 0 and source.beside(input.capture, fs.holds_something) or {}) do
    add_file(fs, input, one)
  end
  return #input.files > 0 and input or nil
end

local function count(entries)
  local n = { esp = 0, ike1 = 0, secret = 0, masked = 0, contradicting = 0 }
  for _, entry in ipairs(entries) do
    local what = entry.status or entry.kind
    n[what] = n[what] + 1
    n.contradicting = n.contradicting + (entry.contradicts and 1 or 0)
  end
  return n
end

local MASKED = "%d SAs have masked keys"
local INSTALL = "install it (`cargo install --path crates/analyzer` in its source), or run"
  .. " `rekeyscope keys CAPTURE --keys LOG --export wireshark DIR` where it is, then load DIR"
local NOT_INSTALLED = "%s: %s. The plugin does not read it by itself; the program rekeyscope does, and is not"
  .. " installed here: " .. INSTALL
local NOTHING_READ = "%s holds no key in a format that the plugin reads by itself (a router's log, esp_sa,"
  .. " `ip xfrm state`). The program rekeyscope, which reads more, is not installed here: " .. INSTALL
local PACKED = "%s: %s. Unpack it with `%s` and load what comes out"
local UNPACK = { gzip = "gunzip", zstd = "unzstd", zip = "unzip", xz = "unxz", bzip2 = "bunzip2" }
local KEYLESS = "%s: %s, which holds no keys. %s"
local WITH_CAPTURE = "%s %s: with rekeyscope installed, load it together with the capture (`CAPTURE;LOG`)"
local NONE_PROVED = "the log gives no key for %s: `rekeyscope keys` says of each SA what is missing"
local TOGETHER = "%s: load it together with the capture (`CAPTURE;LOG`)"
local UNREADABLE = "cannot read the key log %s (named by %s): check that it exists, that you may read it, and"
  .. " that its path is complete (~ is not expanded); of a folder, esp_sa and ikev1_decryption_table are read"
local NONE_BESIDE = "%s is a capture, and no key file lies beside it: name the log, too (`CAPTURE;LOG`)"
local MANY = "%d rows: Wireshark walks them all for every packet; expect it to be slow above about %d"

-- Formats that need the capture beside the log.
local NEEDS_CAPTURE = { derivation = true, ikev2 = true }

local function wants_program(parsed, capture)
  for _, name in ipairs(parsed.unsupported) do
    if capture or not NEEDS_CAPTURE[name] then
      return true
    end
  end
  local n = count(parsed.entries)
  return n.masked == 0 and (#parsed.problems > 0 or n.esp + n.ike1 == 0 and #parsed.unsupported == 0)
end

-- The program's tables go before what was read here; of SAs without a key it says nothing.
local function replaced(parsed, by_program, has_capture)
  local spis = {}
  for _, entry in ipairs(by_program.entries) do
    spis[entry.spi or ""] = true
    if not has_capture and not entry.src and not entry.dst then
      -- A claim without addresses is of either family.
      entry.ip = nil
    end
  end
  for _, entry in ipairs(parsed.entries) do
    if entry.status and not spis[entry.spi] then
      by_program.entries[#by_program.entries + 1] = entry
    end
  end
  by_program.problems, by_program.unsupported = {}, {}
  by_program.formats = { "rekeyscope keys" }
  return by_program
end

-- Returns sentences about what no reader of ours and no program has read.
local function unread(log, parsed, n)
  local list, advice = {}, nil
  for _, name in ipairs(parsed.unsupported) do
    if NEEDS_CAPTURE[name] then
      local sentence = string.format(WITH_CAPTURE, log, foreign.CALLED[name])
      -- Such logs hold what keys derive from beside the keys themselves, which mostly are all that is needed.
      if n.esp > 0 then
        advice = sentence
      else
        list[#list + 1] = sentence
      end
    elseif foreign.KEYLESS[name] then
      list[#list + 1] = string.format(KEYLESS, log, name, foreign.KEYLESS[name])
    elseif UNPACK[name] then
      list[#list + 1] = string.format(PACKED, log, foreign.CALLED[name], UNPACK[name])
    else
      list[#list + 1] = string.format(NOT_INSTALLED, log, foreign.CALLED[name])
    end
  end
  if #parsed.formats == 0 and #list == 0 and n.secret == 0 then
    list[1], parsed.problems = string.format(NOTHING_READ, log), {}
  end
  return list, advice
end

-- Reads with the program what was not read here. Returns what is known then, and the sentences about it.
local function with_program(fs, choice, input, parsed, seconds)
  if not wants_program(parsed, input.capture) then
    return parsed, nil
  end
  local found, said = program.tables(fs.run, {
    program = choice.program, windows = fs.is_windows, files = input.files, capture = input.capture, seconds = seconds,
  })
  if not found then
    return parsed, said and { said }
  end
  local by_program = keylog.parse(found)
  if #by_program.entries == 0 then
    if count(parsed.entries).esp > 0 then
      return parsed, said
    elseif input.capture then
      said[#said + 1] = string.format(NONE_PROVED, input.capture)
    elseif string.find(table.concat(said), "with the capture", 1, true) then
      said[#said + 1] = string.format(TOGETHER, choice.keylog)
    end
  end
  return replaced(parsed, by_program, input.capture), said
end

-- The key files of a choice.
function source.files(fs, choice)
  local input = choice.keylog and input_of(fs, choice)
  return input and input.files or {}
end

local function sentences(log, parsed, esp, ike, said)
  local n, list = count(parsed.entries), {}
  local formats = #parsed.formats > 0 and " (" .. table.concat(parsed.formats, ", ") .. ")" or ""
  list[1] = string.format("%d ESP and %d IKE keys in %s%s", n.esp, n.ike1 + ike.opened, log, formats)
  if n.masked > 0 then
    list[#list + 1] = string.format(MASKED, n.masked)
  end
  if n.contradicting > 0 then
    list[#list + 1] = n.contradicting .. " keys contradict another key of the same SA: the first in the log is used"
  end
  local more, advice
  if not said then
    more, advice = unread(log, parsed, n)
  end
  for _, sentence in ipairs(said or more) do
    list[#list + 1] = sentence
  end
  if #esp.rows > rows.MANY then
    list[#list + 1] = string.format(MANY, #esp.rows, rows.MANY)
  end
  if esp.unseen > 0 then
    list[#list + 1] = esp.unseen .. " SPIs of the log do not occur in the capture and are not loaded"
  end
  local bad = {}
  for _, part in ipairs({ parsed.problems, esp.rejected, ike.rejected }) do
    for _, problem in ipairs(part) do
      bad[#bad + 1] = problem
    end
  end
  for index = 1, #bad <= MAX_SENTENCES and #bad or MAX_SENTENCES do
    -- Line 0 is the whole file.
    local place = bad[index].line == 0 and log or log .. ":" .. tostring(bad[index].line or "?")
    list[#list + 1] = place .. ": " .. bad[index].reason
  end
  if #bad > MAX_SENTENCES then
    list[#list + 1] = (#bad - MAX_SENTENCES) .. " more lines like these"
  end
  return list, advice
end

-- Reads the chosen log. options: { accepts_chacha, user_esp, user_ike, seconds }; the program may take that many
-- seconds, or as long as it likes. Returns { esp, ike1, sentences, advice, known, masked } or nil and a sentence.
-- `known` and `masked` are sets of SPIs; `advice` is a sentence for when an SA of the capture turns out to have no key,
-- or nil.
function source.load(fs, choice, options)
  local input = input_of(fs, choice)
  if not input then
    local sentence = fs.is_capture(choice.keylog) and NONE_BESIDE or UNREADABLE
    return nil, string.format(sentence, choice.keylog, choice.from)
  end
  local read_here = keylog.parse(input.texts)
  if input.has_folder then
    read_here.unsupported[#read_here.unsupported + 1] = "folder"
  end
  local parsed, said = with_program(fs, choice, input, read_here, options.seconds)
  local esp = rows.esp(parsed.entries, {
    accepts_chacha = options.accepts_chacha, user = options.user_esp, seen = source.seen_table(choice.seen),
  })
  local ike = rows.ike1(parsed.entries, { user = options.user_ike })
  local result = { esp = esp.rows, ike1 = ike.rows, known = {}, masked = {} }
  result.loaded = rows.spis(table.concat(esp.rows, "\n") .. "\n" .. (options.user_esp or ""))
  for _, entry in ipairs(parsed.entries) do
    if entry.kind == "esp" then
      result[entry.status or "known"][entry.spi] = true
    end
  end
  result.sentences, result.advice = sentences(choice.keylog, parsed, esp, ike, said)
  return result
end

return source
