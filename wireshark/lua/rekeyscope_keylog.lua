-- Key logs → entries. Recognises the format by content, line by line, so mixed files work; decides nothing
-- about which key is right. Pure: no files, no clock, no Wireshark. Lua 5.1–5.4 and LuaJIT.
--
--   keylog.parse(text)      → { entries, problems, formats, unsupported }, also of a list of texts
--
-- An entry is one of
--   { kind = "esp", format, src, dst, spi, enc, enc_key, auth, auth_key, line }
--   { kind = "esp", …, status = "masked" }   the file says that there is a key, and hides it
--   { kind = "ike1", cookie, key }   IKEv1's Ka
--   { kind = "secret", cookie, name, key }   what keys can be derived from
-- with transforms named as in rekeyscope_transforms, keys as lower-case hex and the SPI as 8 hex digits or "*";
-- src, dst, enc and auth are nil where the log does not say. contradicts = true marks SAs that a log gives two
-- keys for: the capture decides.

local table_format = require("rekeyscope_keylog_table")
local xfrm = require("rekeyscope_keylog_xfrm")
local foreign = require("rekeyscope_keylog_foreign")
local framing = require("rekeyscope_keylog_framing")
local nvr = require("rekeyscope_keylog_nvr")
local outer = require("rekeyscope_keylog_outer")
local text_of = require("rekeyscope_keylog_text")
local transforms = require("rekeyscope_transforms")

local keylog = {}

-- Bounds for hostile files. Past them entries and problems are only counted.
keylog.MAX_ENTRIES = 20000
keylog.MAX_PROBLEMS = 1000
keylog.MAX_LINE = 16384

local function new_result()
  return { entries = {}, problems = {}, formats = {}, unsupported = {}, left_out = 0 }
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
    and a.status == b.status
end

-- An SA is known by its destination, protocol and SPI.
local function place(entry)
  return entry.dst or "*"
end

-- Adds an entry unless the file has said the same before. A second key for one SA is kept beside the first.
local function add_esp(result, entry)
  local known = result.by_spi[entry.spi]
  if not known then
    known = {}
    result.by_spi[entry.spi] = known
  end
  for _, other in ipairs(known) do
    if place(other) == place(entry) then
      if same_keys(other, entry) then
        return
      elseif not other.status and not entry.status then
        other.contradicts, entry.contradicts = true, true
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
    local id = (entry.cookie or "-") .. "," .. (entry.name or "ka") .. "," .. entry.key
    if not result.by_cookie[id] then
      result.by_cookie[id] = true
      result.entries[#result.entries + 1] = entry
    end
  end
end

-- Why an explicit entry is not usable, or nil.
local function misfit(entry)
  if entry.kind ~= "esp" or entry.status or not entry.enc then
    return nil
  elseif not transforms.fits_encryption(entry.enc, entry.enc_key) then
    return "the encryption key's length does not fit " .. entry.enc .. ", or that algorithm is not supported"
  elseif entry.auth and not transforms.fits_integrity(entry.auth, entry.auth_key)
    and not transforms.is_unusual(entry.auth, entry.auth_key) then
    return "the authentication key's length does not fit " .. entry.auth .. ", or that algorithm is not supported"
  end
  return nil
end

local function add_problem(result, line_number, reason)
  if #result.problems < keylog.MAX_PROBLEMS then
    result.problems[#result.problems + 1] = { line = line_number, reason = reason }
  else
    result.left_out = result.left_out + 1
  end
end

local UNUSUAL = "SPI 0x%s: the authentication key's length is unusual; it is used as it is"

local function emitter(result, format)
  return function(entry, reason, line_number)
    local why = entry and misfit(entry)
    if why then
      entry, reason, line_number = nil, "SPI 0x" .. entry.spi .. ": " .. why, entry.line
    end
    if entry then
      local keyed = entry.kind == "esp" and entry.auth and not entry.status
      if keyed and transforms.is_unusual(entry.auth, entry.auth_key) then
        add_problem(result, entry.line, string.format(UNUSUAL, entry.spi))
      end
      add(result, entry)
      return
    end
    note(result.formats, format)
    add_problem(result, line_number, reason)
  end
end

local function new_parser()
  local result = new_result()
  result.by_spi, result.by_cookie = {}, {}
  return {
    result = result,
    table_emit = emitter(result, "table"),
    xfrm_emit = emitter(result, "xfrm"),
    nvr = nvr.new(emitter(result, "nvr")),
  }
end

local HIDDEN = "the keys are hidden: run `ip xfrm` as root, without `nokeys`"

local function end_xfrm(parser)
  local block = parser.block
  parser.block = nil
  if not block then
    return
  end
  local entry, reason = xfrm.entry(block)
  local line = block.key_line or block.line
  if entry then
    entry.line = line
    if entry.status and not parser.told_hidden then
      parser.told_hidden = true
      parser.xfrm_emit(nil, HIDDEN, line)
    end
    parser.xfrm_emit(entry)
  elseif reason then
    parser.xfrm_emit(nil, reason, line)
  end
end

local function emit_row(parser, line_number, entry, reason)
  if entry then
    entry.line = line_number
  end
  parser.table_emit(entry, reason, line_number)
end

-- A row that a terminal has wrapped: a quotation mark is open, or columns lack and the next line begins with one.
local MAX_WRAPPED = 2000

local function is_open(text)
  return select(2, string.gsub(text, '"', "")) % 2 == 1
end

local function is_whole(text)
  local values = table_format.columns(text)
  return values ~= nil and #values >= 8 and not string.find(text, "[,;]%s*$")
end

local function end_wrapped(parser)
  local row = parser.wrapped
  parser.wrapped = nil
  if row then
    emit_row(parser, row.line, table_format.esp_row(row.text))
  end
end

local function wrapped_line(parser, line)
  local row = parser.wrapped
  if not row then
    return false
  end
  if table_format.recognise(line) == "esp_sa" or not is_open(row.text) and not string.find(line, '^%s*[",;]') then
    end_wrapped(parser)
    return false
  end
  row.text = row.text .. line
  if is_whole(row.text) or #row.text > MAX_WRAPPED then
    end_wrapped(parser)
  end
  return true
end

local function table_line(parser, line, line_number)
  local which = table_format.recognise(line)
  if not which then
    return false
  end
  if which == "ikev2_decryption_table" then
    note(parser.result.unsupported, "ikev2")
  elseif which == "ikev1_decryption_table" then
    emit_row(parser, line_number, table_format.ikev1_row(line))
  elseif is_whole(line) then
    emit_row(parser, line_number, table_format.esp_row(line))
  else
    parser.wrapped = { text = line, line = line_number }
  end
  return true
end

local function xfrm_line(parser, line, line_number)
  local src, dst = xfrm.header(line)
  if src then
    end_xfrm(parser)
    parser.block = xfrm.block(src, dst, line_number)
    return true
  elseif not parser.block then
    return false
  elseif xfrm.detail(parser.block, line, line_number) then
    return true
  elseif parser.block.over then
    end_xfrm(parser)
  end
  return false
end

-- Signs of a router's lines beside those of another format.
local ROUTER = { "[^%d]%[IKE%d?%]", "[^%d]%[IPSEC%]", "/SA:%d" }

local function is_of_router(text)
  for _, pattern in ipairs(ROUTER) do
    if string.find("\n" .. text, pattern) then
      return true
    end
  end
  return false
end

-- A line of a format that is not read here: nothing is guessed from it. Beside another format a router's lines have its
-- time or its tag.
local function is_foreign(parser, line)
  local is_routers = not parser.is_mixed or is_of_router(line) or string.find(line, "%d/%d%d/%d%d ")
  if is_routers and not parser.no_router then
    return false
  end
  nvr.interrupt(parser.nvr)
  return true
end

local function feed(parser, line, line_number)
  -- This first: "<<Keys hidden>>" looks like a prompt.
  if (parser.block or string.find(line, "src ", 1, true)) and xfrm_line(parser, line, line_number) then
    return
  end
  if framing.is_noise(line) or wrapped_line(parser, line) or table_line(parser, line, line_number)
    or is_foreign(parser, line) then
    return
  end
  nvr.line(parser.nvr, framing.read(line), line_number)
end

-- A line as a router prints it is of no other format: most lines of most logs.
local function take(parser, text, start, stop, line_number)
  local read = not (parser.block or parser.wrapped or parser.no_router) and framing.printed(text, start)
  if read then
    nvr.line(parser.nvr, read, line_number)
  else
    feed(parser, string.sub(text, start, stop), line_number)
  end
end

local function end_text(parser)
  end_wrapped(parser)
  end_xfrm(parser)
  nvr.finish(parser.nvr)
end

local MASKED = "the router masks keys on this connection: run the command on the serial console, or log the keys with"
  .. " `ipsec ike log 1 key-info` and `syslog debug on`"

-- `show ipsec sa gateway N detail`: the SAs whose keys it masks. Others are read as a log is.
local function masked_keys(parser, text)
  local emit, found = emitter(parser.result, "show ipsec sa"), false
  for spi in string.gmatch(text, "SPI: (%x%x %x%x %x%x %x%x) *[\r\n]+ *Key: %*%* %*%*") do
    spi = string.gsub(spi, " ", "")
    emit({ kind = "esp", format = "show ipsec sa", spi = string.lower(spi), status = "masked" })
    found = true
  end
  if found then
    local before = string.sub(text, 1, (string.find(text, "Key: ** **", 1, true)))
    emit(nil, MASKED, 1 + select(2, string.gsub(before, "\n", "")))
  end
end

-- The most copies that "same message repeated N times" stands for here; more cannot be part of a key.
local MAX_REPEATS = 64

local function read_text(parser, bytes)
  local container = foreign.container(bytes)
  if container then
    note(parser.result.unsupported, container)
    return
  end
  local decoded = text_of.decoded(bytes)
  parser.keyless = parser.keyless or foreign.keyless(decoded)
  local text = outer.characters(decoded)
  local names = foreign.formats(text)
  parser.is_mixed = #names > 0
  parser.no_router = parser.is_mixed and not is_of_router(text)
  masked_keys(parser, text)
  for _, name in ipairs(names) do
    note(parser.result.unsupported, name)
  end
  text = outer.unwrapped(text)
  local starts, stops, numbers = text_of.places(text, keylog.MAX_LINE)
  local first, last, step = 1, #starts, 1
  if outer.is_reversed(text) then
    first, last, step = #starts, 1, -1
  end
  local has_repeats, previous = string.find(text, "same message repeated", 1, true), nil
  for index = first, last, step do
    local repeats = has_repeats and string.match(text, "^[^\r\n]-same message repeated (%d%d?%d?) times", starts[index])
    if repeats and previous then
      for _ = 1, (tonumber(repeats) < MAX_REPEATS) and tonumber(repeats) or MAX_REPEATS do
        take(parser, text, starts[previous], stops[previous], numbers[index])
      end
    else
      take(parser, text, starts[index], stops[index], numbers[index])
      previous = index
    end
  end
  end_text(parser)
end

-- Reads the text of a file, or of several. Never raises an error, whatever the bytes are.
function keylog.parse(texts)
  local parser = new_parser()
  for _, text in ipairs(type(texts) == "table" and texts or { texts }) do
    read_text(parser, text)
  end
  local result = parser.result
  if parser.nvr.derived then
    note(result.unsupported, "derivation")
  end
  if #result.entries == 0 and #result.unsupported == 0 and parser.keyless then
    note(result.unsupported, parser.keyless)
  elseif #result.formats == 0 and #result.unsupported == 0 and not parser.nvr.seen then
    result.problems[1] = { line = 0, reason = "the file holds no key in any format known here" }
  end
  result.by_spi, result.by_cookie = nil, nil
  return result
end

return keylog
