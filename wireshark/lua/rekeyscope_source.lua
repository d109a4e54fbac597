-- Where the key log comes from and what it gives: arguments, environment, the dialog's state file; then
-- entries, rows, and the sentences that say what happened. Pure but for `fs` (see rekeyscope_store.lua).

local keylog = require("rekeyscope_keylog")
local rows = require("rekeyscope_rows")

local source = {}

-- Sentences about single lines that are worth printing; the rest is counted.
local MAX_SENTENCES = 5

-- "key=value" arguments of -X lua_script1:… as a table; anything else is ignored.
function source.arguments(...)
  local options = {}
  for index = 1, select("#", ...) do
    local argument = select(index, ...)
    local name, value = string.match(type(argument) == "string" and argument or "", "^(%l+)=(.*)$")
    if name then
      options[name] = value
    end
  end
  return options
end

-- The state file: "name=value" lines, written by the dialog.
function source.read_state(fs, path)
  local state = {}
  for line in string.gmatch(fs.read(path) or "", "[^\r\n]+") do
    local name, value = string.match(line, "^(%l+)=(.*)$")
    if name then
      state[name] = value
    end
  end
  return state
end

function source.write_state(fs, path, state)
  local lines = {}
  for _, name in ipairs({ "keylog", "profile", "mode", "seen" }) do
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

-- What to load: the first source that names a log decides; profile and mode come from the same order of sources.
function source.choose(arguments, environment, state)
  local choice = {
    profile = arguments.profile or environment.profile or state.profile,
    mode = arguments.mode or environment.mode or state.mode or "ephemeral",
  }
  if arguments.keylog and arguments.keylog ~= "" then
    choice.keylog, choice.from = arguments.keylog, "-X lua_script1:keylog="
  elseif environment.keylog and environment.keylog ~= "" then
    choice.keylog, choice.from = environment.keylog, "REKEYSCOPE_KEYLOG"
  elseif state.keylog and state.keylog ~= "" then
    choice.keylog, choice.from, choice.seen = state.keylog, "the dialog", state.seen
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
  local stems, found = {}, {}
  local stem, ending = string.match(name, "^(.+)%.([^.]*)$")
  stems[1] = stem or name
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

-- A file, or a folder that `rekeyscope keys --export wireshark` wrote.
local function read_one(fs, path)
  local text = fs.read(path)
  if text then
    return text
  end
  local parts = {}
  for _, name in ipairs({ "esp_sa", "ikev1_decryption_table" }) do
    parts[#parts + 1] = fs.read(path .. "/" .. name)
  end
  return #parts > 0 and table.concat(parts, "\n") or nil
end

-- The text of a log, or of several; nil when one of them cannot be read.
local function read_log(fs, path)
  local text, parts = read_one(fs, path), {}
  if text or not string.find(path, BETWEEN_LOGS, 1, true) then
    return text
  end
  for one in string.gmatch(path, "[^" .. BETWEEN_LOGS .. "]+") do
    text = read_one(fs, (string.gsub(string.gsub(one, "^%s+", ""), "%s+$", "")))
    if not text then
      return nil
    end
    parts[#parts + 1] = text
  end
  return table.concat(parts, "\n")
end

local function count(entries)
  local n = { esp = 0, ike1 = 0, secret = 0, defective = 0, contradicting = 0 }
  for _, entry in ipairs(entries) do
    local what = entry.status and "defective" or entry.kind
    n[what] = n[what] + 1
    n.contradicting = n.contradicting + (entry.contradicts and 1 or 0)
  end
  return n
end

local ADVICE_MASKED = "%d SAs whose keys are masked or cut short: read the log on the serial console or with"
  .. " `ipsec ike log 1 key-info`"
local ADVICE_EXPORT = "%s: run `rekeyscope keys CAPTURE --keys LOG --export wireshark DIR`, then load DIR"
local ADVICE_COMPRESSED = "%s is compressed: unpack it with `%s`, then load what comes out"
local UNPACK = { gzip = "gunzip", zstd = "unzstd" }
local ADVICE_UNREADABLE = "cannot read the key log %s (named by %s): check that it exists, that you may read it, and"
  .. " that its path is complete (~ is not expanded); of a folder, esp_sa and ikev1_decryption_table are read"
local ADVICE_MANY = "%d rows: Wireshark walks them all for every packet; expect it to be slow above about %d"

local function sentences(log, parsed, esp, ike)
  local n, list = count(parsed.entries), {}
  local formats = #parsed.formats > 0 and " (" .. table.concat(parsed.formats, ", ") .. ")" or ""
  list[1] = string.format("%d ESP and %d IKE keys in %s%s", n.esp, n.ike1 + ike.opened, log, formats)
  if n.defective > 0 then
    list[#list + 1] = string.format(ADVICE_MASKED, n.defective)
  end
  if n.contradicting > 0 then
    list[#list + 1] = n.contradicting .. " keys contradict another key of the same SA: the first in the log is used"
  end
  local advice
  for _, name in ipairs(parsed.unsupported) do
    local sentence = "unsupported: " .. string.format(ADVICE_EXPORT, name)
    -- Such logs hold what keys derive from beside the keys themselves, which mostly are all that is needed.
    if name == "derivation" and n.esp > 0 then
      advice = sentence
    elseif UNPACK[name] then
      list[#list + 1] = string.format(ADVICE_COMPRESSED, log, UNPACK[name])
    else
      list[#list + 1] = sentence
    end
  end
  if #esp.rows > rows.MANY then
    list[#list + 1] = string.format(ADVICE_MANY, #esp.rows, rows.MANY)
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
    list[#list + 1] = string.format("%s:%s: %s", log, tostring(bad[index].line or "?"), bad[index].reason)
  end
  if #bad > MAX_SENTENCES then
    list[#list + 1] = (#bad - MAX_SENTENCES) .. " more lines like these"
  end
  return list, advice
end

-- Reads the chosen log. options: { accepts_chacha, user_esp, user_ike }. Returns { esp, ike1, sentences, advice, known,
-- masked } or nil and a sentence. `known` and `masked` are sets of SPIs; `advice` is a sentence for when an SA of the
-- capture turns out to have no key, or nil.
function source.load(fs, choice, options)
  local text = read_log(fs, choice.keylog)
  if not text then
    return nil, string.format(ADVICE_UNREADABLE, choice.keylog, choice.from)
  end
  local parsed = keylog.parse(text)
  local seen = source.seen_table(choice.seen)
  local esp = rows.esp(parsed.entries, {
    accepts_chacha = options.accepts_chacha, user = options.user_esp, seen = seen,
  })
  local ike = rows.ike1(parsed.entries, { user = options.user_ike })
  local result = { esp = esp.rows, ike1 = ike.rows, known = {}, masked = {} }
  result.loaded = rows.spis(table.concat(esp.rows, "\n") .. "\n" .. (options.user_esp or ""))
  for _, entry in ipairs(parsed.entries) do
    if entry.kind == "esp" then
      result[entry.status and "masked" or "known"][entry.spi] = true
    end
  end
  result.sentences, result.advice = sentences(choice.keylog, parsed, esp, ike)
  return result
end

return source
