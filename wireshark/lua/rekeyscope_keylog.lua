-- Key logs → entries. Recognises the format by content, line by line, so mixed files work; decides nothing
-- about which key is right. Pure: no files, no clock, no Wireshark. Lua 5.1–5.4 and LuaJIT.
--
--   keylog.parse(text)      → { entries, problems, formats, unsupported, derived }
--   keylog.parse_line(line) → entry | nil, reason
--
-- An entry is { kind = "esp", format, src, dst, spi, enc, enc_key, auth, auth_key, line } with Wireshark's
-- algorithm names, keys as lower-case hex and the SPI as 8 hex digits or "*"; or the same with status =
-- "masked" and no keys; or { kind = "ike1", cookie, key }. src and dst are nil where the log does not know
-- them. status = "conflict" marks SAs that a log gives two keys for.

local table_format = require("rekeyscope_keylog_table")
local xfrm = require("rekeyscope_keylog_xfrm")
local charon = require("rekeyscope_keylog_charon")
local nvr = require("rekeyscope_keylog_nvr")

local keylog = {}

-- Bounds for hostile files. Past them entries and problems are only counted.
keylog.MAX_ENTRIES = 20000
keylog.MAX_PROBLEMS = 1000
keylog.MAX_LINE = 16384

-- Formats that hold keys in shapes this parser does not read: { name, Lua pattern on the whole line }.
local UNSUPPORTED = {
  { "racoon", "DEBUG: final encryption key" }, { "racoon", "DEBUG: KEYMAT" },
  { "pluto", "^| .*key" }, { "pluto", "^| I?R?COOKIE:" }, { "libreswan", "ESP %a+ key:" },
  { "setkey", "^%s+[EA]: %S+%s+%x%x%x%x%x%x%x%x " }, { "setkey", "esp mode=%a+ spi=%d+%(0x%x+%)" },
  { "tcpdump -E", "^%s*0x%x+@%S+ %S+:0x%x+" },
  { "FortiOS", "spi=%x+ esp=%w+ key=%d+ %x" }, { "FortiOS", "ah=%w+ key=%d+ %x" },
  { "MikroTik", "enc%-key=" }, { "MikroTik", "auth%-key=" },
}

local function new_result()
  return { entries = {}, problems = {}, formats = {}, unsupported = {}, derived = false, left_out = 0 }
end

local function note(list, name)
  for _, known in ipairs(list) do
    if known == name then
      return
    end
  end
  list[#list + 1] = name
end

local function same_keys(a, b)
  return a.enc == b.enc and a.enc_key == b.enc_key and a.auth == b.auth and a.auth_key == b.auth_key
    and (a.status == "masked") == (b.status == "masked")
end

local function place(entry)
  return (entry.src or "*") .. ">" .. (entry.dst or "*")
end

-- Adds an entry unless the file has said the same before. A second key for one SA is kept beside the first: the
-- capture decides.
local function add_esp(result, entry)
  local known = result.by_spi[entry.spi]
  if not known then
    known = {}
    result.by_spi[entry.spi] = known
  end
  for _, other in ipairs(known) do
    if place(other) == place(entry) then
      if same_keys(other, entry) or entry.status == "masked" then
        return
      end
      if other.status ~= "masked" then
        other.status, entry.status = "conflict", "conflict"
      end
    end
  end
  known[#known + 1] = entry
  result.entries[#result.entries + 1] = entry
end

local function add(result, entry)
  note(result.formats, entry.format)
  if #result.entries >= keylog.MAX_ENTRIES then
    result.left_out = result.left_out + 1
  elseif entry.kind == "esp" then
    add_esp(result, entry)
  else
    local id = entry.cookie .. "," .. entry.key
    if not result.by_cookie[id] then
      result.by_cookie[id] = true
      result.entries[#result.entries + 1] = entry
    end
  end
end

local function emitter(result, format)
  return function(entry, reason, line_number)
    if entry then
      add(result, entry)
      return
    end
    note(result.formats, format)
    if #result.problems < keylog.MAX_PROBLEMS then
      result.problems[#result.problems + 1] = { line = line_number, reason = reason }
    else
      result.left_out = result.left_out + 1
    end
  end
end

local function new_parser()
  local result = new_result()
  result.by_spi, result.by_cookie = {}, {}
  return {
    result = result,
    table_emit = emitter(result, "table"),
    xfrm_emit = emitter(result, "xfrm"),
    charon = charon.new(emitter(result, "charon")),
    nvr = nvr.new(emitter(result, "nvr")),
  }
end

local function end_xfrm(parser)
  local block = parser.block
  parser.block = nil
  if block then
    local entry, reason = xfrm.entry(block)
    if entry then
      entry.line = block.line
      parser.xfrm_emit(entry)
    elseif reason then
      parser.xfrm_emit(nil, reason, block.line)
    end
  end
end

local function table_line(parser, line, line_number)
  local which = table_format.recognise(line)
  if not which then
    return false
  end
  local entry, reason
  if which == "esp_sa" then
    entry, reason = table_format.esp_row(line)
  elseif which == "ikev1_decryption_table" then
    entry, reason = table_format.ikev1_row(line)
  else
    note(parser.result.unsupported, which)
    return true
  end
  if entry then
    entry.line = line_number
    parser.table_emit(entry)
  else
    parser.table_emit(nil, reason, line_number)
  end
  return true
end

local function xfrm_line(parser, line, line_number)
  local src, dst = xfrm.header(line)
  if src then
    end_xfrm(parser)
    parser.block = { src = src, dst = dst, line = line_number }
    return true
  end
  if parser.block then
    if string.find(line, "^%s+%S") then
      xfrm.detail(parser.block, line)
      return true
    end
    end_xfrm(parser)
  end
  return false
end

local function unsupported_line(parser, line)
  for _, known in ipairs(UNSUPPORTED) do
    if string.find(line, known[2]) then
      note(parser.result.unsupported, known[1])
      return true
    end
  end
  return false
end

local function feed(parser, line, line_number)
  if line == "" or string.find(line, "^%s*#") then
    return
  end
  local _ = table_line(parser, line, line_number) or xfrm_line(parser, line, line_number)
    or charon.line(parser.charon, line, line_number) or unsupported_line(parser, line)
    or nvr.line(parser.nvr, line, line_number)
end

local function finish(parser)
  end_xfrm(parser)
  charon.finish(parser.charon)
  nvr.finish(parser.nvr)
  local result = parser.result
  result.derived = parser.nvr.derived == true
  result.by_spi, result.by_cookie = nil, nil
  return result
end

local function lines_of(text)
  local lines, at = {}, 1
  while at <= #text do
    local stop = string.find(text, "\n", at, true) or (#text + 1)
    local line = string.sub(text, at, stop - 1)
    line = string.sub(string.gsub(line, "\r$", "") .. "", 1, keylog.MAX_LINE)
    lines[#lines + 1] = line
    at = stop + 1
  end
  return lines
end

-- `show log reverse` prints the newest line first: the router's times fall instead of rise.
local function is_reversed(lines)
  local falls, rises, last = 0, 0, nil
  for _, line in ipairs(lines) do
    local time = string.match(line, "%d%d%d%d/%d%d/%d%d %d%d:%d%d:%d%d")
    if time and last and time ~= last then
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

-- The most copies that "same message repeated N times" stands for here; more cannot be part of a key.
local MAX_REPEATS = 64

-- Reads a whole file. Never raises an error, whatever the bytes are.
function keylog.parse(text)
  local parser, lines = new_parser(), lines_of(text)
  local first, last, step = 1, #lines, 1
  if is_reversed(lines) then
    first, last, step = #lines, 1, -1
  end
  local previous
  for number = first, last, step do
    local line = lines[number]
    local repeats = string.match(line, "same message repeated (%d%d?%d?) times")
    if repeats and previous then
      for _ = 1, (tonumber(repeats) < MAX_REPEATS) and tonumber(repeats) or MAX_REPEATS do
        feed(parser, previous, number)
      end
    else
      feed(parser, line, number)
      previous = line
    end
  end
  return finish(parser)
end

-- Reads one line by itself: an entry when the line alone gives a key, else nil and why not.
function keylog.parse_line(line)
  local result = keylog.parse(line)
  local entry = result.entries[1]
  if entry then
    return entry
  end
  if result.problems[1] then
    return nil, result.problems[1].reason
  elseif result.unsupported[1] then
    return nil, "unsupported: " .. result.unsupported[1]
  elseif result.derived then
    return nil, "unsupported: derived keys"
  end
  return nil, "no key on this line alone"
end

return keylog
