-- Yamaha's `show ipsec sa gateway N detail`. Keys are shown on the serial console only; elsewhere they are
-- masked, and of some the console shows eight bytes. Pure.

local labels = require("rekeyscope_keylog_labels")
local transforms = require("rekeyscope_transforms")

local show_sa = {}

local MASKED = "the router masks keys on this connection: run the command on the serial console, or log the keys with"
  .. " `ipsec ike log 1 key-info` and `syslog debug on`"

function show_sa.new(emit)
  return { emit = emit, block = nil, told = false }
end

-- The encryption key's digits, the rest, and what is wrong with them.
local function keys_of(block)
  local enc, auth, whole = block.enc_key, block.auth_key, block.whole
  if enc == "" and auth ~= "" then
    enc, whole = whole, ""
  end
  if enc ~= "" then
    return enc, auth, nil
  end
  local split = transforms.keymat_split(whole, block.enc, block.auth)
  if split then
    return string.sub(whole, 1, split), string.sub(whole, split + 1), nil
  end
  return nil, nil, #whole == 0 and "masked" or #whole == 16 and "prefix8" or "truncated"
end

local function end_esp(parser, block)
  if #block.spi ~= 8 then
    return
  end
  local enc, auth, defect = keys_of(block)
  local src, dst
  if block.direction then
    local outward = block.direction == "send"
    src = outward and parser.locally or parser.remotely
    dst = outward and parser.remotely or parser.locally
  end
  parser.emit({
    kind = "esp", format = "show ipsec sa", src = src, dst = dst, spi = block.spi,
    enc = not defect and block.enc or nil, enc_key = enc, auth = not defect and block.auth or nil, auth_key = auth,
    status = defect, line = block.line,
  })
end

-- SPI: the initiator's cookie, then the responder's.
local function end_ike(parser, block)
  local key = block.whole ~= "" and block.whole or block.enc_key
  local cookie = #block.spi == 32 and string.sub(block.spi, 1, 16) or nil
  for name, digits in pairs(block.secrets) do
    parser.derived = true
    parser.emit({
      kind = "secret", format = "show ipsec sa", cookie = cookie, name = name, key = digits, line = block.line,
    })
  end
  if key == "" or not cookie then
    return
  end
  if #key <= 16 then
    parser.emit({
      kind = "secret", format = "show ipsec sa", cookie = cookie, name = "ka_prefix", key = key, line = block.line,
    })
  else
    parser.emit({ kind = "ike1", format = "show ipsec sa", cookie = cookie, key = key, line = block.line })
  end
end

function show_sa.finish(parser)
  local block = parser.block
  parser.block = nil
  if not block then
    return
  end
  if block.masked and not parser.told then
    parser.told = true
    parser.emit(nil, MASKED, block.line)
  end
  if block.esp then
    end_esp(parser, block)
  else
    end_ike(parser, block)
  end
end

local SLOTS = { key = "whole", keymat = "whole", enc = "enc_key", ka = "enc_key", auth = "auth_key" }

local SECRETS = {
  skeyid = true, skeyid_d = true, skeyid_a = true, skeyid_e = true, ka = true, skeyseed = true, sk_d = true,
  sk_ei = true, sk_er = true, sk_ai = true, sk_ar = true,
}

local function digits_of(value)
  local run = labels.next_run(value, 1, "SPI:")
  return run and run.digits or "", run
end

local function named_value(text)
  return string.match(text, "^%s*([^:]*):%s*(.-)%s*$")
end

local READ = {}

function READ.Protocol(block, value)
  block.esp = string.find(value, "^ESP") ~= nil
end

function READ.Direction(block, value)
  block.direction = string.find(value, "^send") and "send" or "receive"
end

-- "AES-CBC (for Auth.: HMAC-SHA)"
function READ.Algorithm(block, value)
  block.enc = transforms.encryption(string.match(value, "^[^%(]*"))
  local auth = string.match(value, "%([^%)]-[aA]uth[^:%)]*:%s*([^%)]*)")
  block.auth = auth and transforms.integrity(auth)
end

function READ.SPI(block, value)
  block.spi = digits_of(value)
end

local function field(parser, block, name, value, line_number)
  block.open = nil
  if READ[name] then
    READ[name](block, value)
    return
  elseif name == "Local ID" or name == "Remote ID" then
    local address = string.match(value, "^[%x:%.]+$")
    if name == "Local ID" then
      parser.locally = address
    else
      parser.remotely = address
    end
    return
  end
  local kind = labels.kind(name) or ""
  local slot = SLOTS[kind]
  local holder = slot and block or SECRETS[kind] and block.secrets
  if holder then
    local digits, run = digits_of(value)
    holder[slot or kind] = digits
    block.masked = block.masked or labels.is_masked(value)
    block.open, block.line = { holder = holder, slot = slot or kind, prefixed = run and run.prefixed }, line_number
    return run and string.sub(value, run.after) or nil
  end
end

-- One field, and `(for Auth.: c4 6a …)` behind the encryption key.
local function fields(parser, block, name, value, line_number)
  local rest = field(parser, block, name, value, line_number)
  local behind, auth = named_value(rest or "")
  if behind and labels.kind(behind) == "auth" then
    field(parser, block, behind, auth, line_number)
  end
end

-- Hex that goes on with the last key.
local function goes_on(parser, block, text, line_number)
  local open = block.open
  local more = open and labels.continuation(text, 2, 0, open.prefixed)
  local rest = more and string.sub(text, more.after)
  if not more or not string.find(rest, "^%s*[%(%)]") and string.find(rest, "%S") then
    return false
  end
  open.holder[open.slot] = string.sub(open.holder[open.slot] .. more.digits, 1, labels.MAX_DIGITS)
  local name, value = named_value(rest)
  if name and labels.kind(name) == "auth" then
    field(parser, block, name, value, line_number)
  end
  return true
end

-- One line, framing taken off; true when it belongs to a block.
function show_sa.line(parser, outer, line_number)
  local text = outer.text
  if string.find(text, "^SA%[%d+%] ") and string.find(text, "Duration:", 1, true) then
    show_sa.finish(parser)
    parser.block = { line = line_number, spi = "", whole = "", enc_key = "", auth_key = "", secrets = {} }
    return true
  end
  local block = parser.block
  if not block then
    return false
  end
  local of_table = not outer.time and not outer.tag
  if of_table and goes_on(parser, block, text, line_number) then
    return true
  end
  local name, value = named_value(text)
  if not name or not of_table or (block.esp and SECRETS[labels.kind(name) or ""]) then
    show_sa.finish(parser)
    return false
  end
  fields(parser, block, name, value, line_number)
  return true
end

return show_sa
