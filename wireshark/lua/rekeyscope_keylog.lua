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
local transforms = require("rekeyscope_transforms")

local keylog = {}

-- Bounds for hostile files. Past them entries and problems are only counted.
keylog.MAX_ENTRIES = 20000
keylog.MAX_PROBLEMS = 1000
keylog.MAX_LINE = 16384

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

-- Adds an entry unless the file has said the same before. A second key for one SA, which its destination and SPI name,
-- is kept beside the first.
local function add_esp(parser, entry)
  local known = parser.by_spi[entry.spi] or {}
  parser.by_spi[entry.spi] = known
  for _, other in ipairs(known) do
    if other.dst == entry.dst then
      if same_keys(other, entry) then
        return
      elseif not other.status and not entry.status then
        other.contradicts, entry.contradicts = true, true
      end
    end
  end
  known[#known + 1] = entry
  parser.entries[#parser.entries + 1] = entry
end

local function add(parser, entry)
  note(parser.formats, entry.format)
  if #parser.entries >= keylog.MAX_ENTRIES then
    parser.left_out = parser.left_out + 1
  elseif entry.kind == "esp" then
    add_esp(parser, entry)
  else
    local id = (entry.cookie or "-") .. "," .. (entry.name or "ka") .. "," .. entry.key
    if not parser.by_cookie[id] then
      parser.by_cookie[id] = true
      parser.entries[#parser.entries + 1] = entry
    end
  end
end

local function add_problem(parser, line_number, reason)
  if #parser.problems < keylog.MAX_PROBLEMS then
    parser.problems[#parser.problems + 1] = { line = line_number, reason = reason }
  else
    parser.left_out = parser.left_out + 1
  end
end

local MISFIT = "SPI 0x%s: the %s key's length does not fit %s, or that algorithm is not supported"
local UNUSUAL = "SPI 0x%s: the authentication key's length is unusual; it is used as it is"

-- Takes what a line of a format gives: an entry, or nil and the reason.
local function emit(parser, format, line_number, entry, reason)
  local enc, auth = entry and entry.enc, entry and entry.auth
  if enc and not transforms.fits_encryption(enc, entry.enc_key) then
    entry, reason = nil, string.format(MISFIT, entry.spi, "encryption", enc)
  elseif auth and transforms.is_unusual(auth, entry.auth_key) then
    add_problem(parser, line_number, string.format(UNUSUAL, entry.spi))
  elseif auth and not transforms.fits_integrity(auth, entry.auth_key) then
    entry, reason = nil, string.format(MISFIT, entry.spi, "authentication", auth)
  end
  if entry then
    entry.line = line_number
    add(parser, entry)
  else
    note(parser.formats, format)
    add_problem(parser, line_number, reason)
  end
end

local function new_parser()
  local parser = {
    entries = {}, problems = {}, formats = {}, unsupported = {}, left_out = 0, by_spi = {}, by_cookie = {},
  }
  parser.nvr = nvr.new(function(...)
    emit(parser, "nvr", ...)
  end)
  return parser
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
  if entry and entry.status and not parser.told_hidden then
    parser.told_hidden = true
    emit(parser, "xfrm", line, nil, HIDDEN)
  end
  if entry or reason then
    emit(parser, "xfrm", line, entry, reason)
  end
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
    emit(parser, "table", row.line, table_format.esp_row(row.text))
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
    note(parser.unsupported, "ikev2")
  elseif which == "ikev1_decryption_table" then
    emit(parser, "table", line_number, table_format.ikev1_row(line))
  elseif is_whole(line) then
    emit(parser, "table", line_number, table_format.esp_row(line))
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

local MASKED = "the router masks keys on this connection: run the command on the serial console, or log the keys with"
  .. " `ipsec ike log 1 key-info` and `syslog debug on`"

-- `show ipsec sa gateway N detail`: the SAs whose keys it masks. Others are read as a log is.
local function masked_keys(parser, text)
  local format, found = "show ipsec sa", false
  for spi in string.gmatch(text, "SPI: (%x%x %x%x %x%x %x%x) *[\r\n]+ *Key: %*%* %*%*") do
    spi = string.lower(string.gsub(spi, " ", "") .. "")
    emit(parser, format, nil, { kind = "esp", format = format, spi = spi, status = "masked" })
    found = true
  end
  if found then
    local before = string.sub(text, 1, (string.find(text, "Key: ** **", 1, true)))
    emit(parser, format, 1 + select(2, string.gsub(before, "\n", "")), nil, MASKED)
  end
end

-- The most copies that "same message repeated N times" stands for here; more cannot be part of a key.
local MAX_REPEATS = 64

local function read_text(parser, bytes)
  local container = foreign.container(bytes)
  if container then
    note(parser.unsupported, container)
    return
  end
  local text = outer.characters(bytes)
  parser.keyless = parser.keyless or foreign.keyless(text)
  local names = foreign.formats(text)
  parser.is_mixed = #names > 0
  parser.no_router = parser.is_mixed and not is_of_router(text)
  masked_keys(parser, text)
  for _, name in ipairs(names) do
    note(parser.unsupported, name)
  end
  text = outer.unwrapped(text)
  local starts, stops, numbers = outer.places(text, keylog.MAX_LINE)
  local first, last, step = 1, #starts, 1
  if outer.is_reversed(text) then
    first, last, step = #starts, 1, -1
  end
  local has_repeats, previous = string.find(text, "same message repeated", 1, true), nil
  for index = first, last, step do
    local repeats = has_repeats and string.match(text, "^[^\r\n]-same message repeated (%d%d?%d?) times", starts[index])
    local at, times = index, 1
    if repeats and previous then
      at, times = previous, tonumber(repeats)
    end
    for _ = 1, times < MAX_REPEATS and times or MAX_REPEATS do
      take(parser, text, starts[at], stops[at], numbers[index])
    end
    previous = at
  end
  end_wrapped(parser)
  end_xfrm(parser)
  nvr.finish(parser.nvr)
end

-- Reads the text of a file, or of several. Never raises an error, whatever the bytes are.
function keylog.parse(texts)
  local parser = new_parser()
  for _, text in ipairs(type(texts) == "table" and texts or { texts }) do
    read_text(parser, text)
  end
  local unsupported = parser.unsupported
  if parser.nvr.derived then
    note(unsupported, "derivation")
  end
  if #parser.entries == 0 and #unsupported == 0 and parser.keyless then
    note(unsupported, parser.keyless)
  elseif #parser.formats == 0 and #unsupported == 0 and not parser.nvr.seen then
    add_problem(parser, 0, "the file holds no key in any format known here")
  end
  return {
    entries = parser.entries, problems = parser.problems, formats = parser.formats, unsupported = unsupported,
    left_out = parser.left_out,
  }
end

return keylog
