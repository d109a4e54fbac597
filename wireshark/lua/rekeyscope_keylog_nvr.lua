-- Yamaha NVR/RTX: what `ipsec ike log 1 key-info` logs. An SPI and the keys that follow it are a claim;
-- anything else is left alone, never guessed. Lines of several SAs and routers may be mixed: each has its own
-- context. Pure.

local labels = require("rekeyscope_keylog_labels")
local transforms = require("rekeyscope_transforms")

local nvr = {}

-- Most contexts kept apart; at the bound all are closed.
local MAX_CONTEXTS = 4096
-- An odd number of digits is a cut key from here on; fewer are some number after a word like "key".
local FEWEST_KEY_DIGITS = 24
-- The eight bytes that a console shows are the least of a key; fewer digits after such a label are no key.
local FEWEST_SHOWN = 16

local ODD = "the value has an odd number of hex digits: the line was cut; save the log without line length limit"
local LENGTHS = "the keys after this SPI have lengths that no transform takes: the line was cut or its label means"
  .. " something else"

function nvr.new(emit)
  return { emit = emit, contexts = {}, count = 0, last = {}, interrupts = 0, derived = false, seen = false }
end

local SECRETS = { "skeyid", "skeyid_d", "skeyid_a", "skeyid_e", "ka" }

local function end_ike(parser, context)
  local ike = context.ike
  context.ike = {}
  -- A key that no SPI of ESP stands before is Ka where phase 1 has more to say.
  if not ike.ka and ike.unnamed and (ike.line or ike.icookie) then
    ike.ka, ike.line = ike.unnamed, ike.line or ike.unnamed_line
  end
  for _, name in ipairs(SECRETS) do
    if ike[name] then
      if name == "ka" and ike.icookie then
        parser.emit(ike.line, { kind = "ike1", format = "nvr", cookie = ike.icookie, key = ike.ka })
      else
        parser.derived = true
        parser.emit(ike.line, { kind = "secret", format = "nvr", cookie = ike.icookie, name = name, key = ike[name] })
      end
    end
  end
end

-- Claims what is complete: both keys, or the one of a combined mode.
local function end_esp(parser, context)
  local esp = context.esp
  context.esp = {}
  if not esp.spi or not esp.enc or esp.cut then
    return
  end
  local auth = esp.auth or ""
  if auth == "" and not transforms.fits_encryption("AES-GCM-16", esp.enc) then
    return
  end
  if #transforms.plausible(esp.enc, auth) == 0 then
    parser.emit(esp.line, nil, LENGTHS)
    return
  end
  parser.emit(esp.line, { kind = "esp", format = "nvr", spi = esp.spi, enc_key = esp.enc, auth_key = auth })
end

local function esp_key(parser, context, slot, digits, line_number)
  local esp = context.esp
  if not esp.spi or #digits < FEWEST_SHOWN then
    return
  end
  if esp[slot] then
    end_esp(parser, context)
    context.esp.spi = esp.spi
    esp = context.esp
  end
  esp[slot] = digits
  if slot == "enc" then
    esp.line = line_number
  end
end

-- Notes a value of phase 1; another one of its name belongs to the next phase 1.
local function ike_value(parser, context, name, digits)
  if context.ike[name] and context.ike[name] ~= digits then
    end_ike(parser, context)
  end
  context.ike[name] = digits
  return context.ike
end

local function cookies(parser, context, open)
  local digits = open.digits
  local pair = #digits == 32 and (open.kind ~= "message" or open.width == 16)
  if pair or #digits == 16 and open.kind ~= "message" then
    ike_value(parser, context, "icookie", string.sub(digits, 1, 16))
  end
end

local TAKE = {}

function TAKE.enc(parser, context, open)
  esp_key(parser, context, open.kind, open.digits, open.line)
end

TAKE.auth = TAKE.enc

function TAKE.keymat(parser, context, open)
  local split = transforms.keymat_split(open.digits)
  if split then
    esp_key(parser, context, "enc", string.sub(open.digits, 1, split), open.line)
    esp_key(parser, context, "auth", string.sub(open.digits, split + 1), open.line)
  elseif open.kind == "key" and not context.esp.spi and #open.digits > FEWEST_SHOWN then
    ike_value(parser, context, "unnamed", open.digits).unnamed_line = open.line
  elseif open.kind == "key" and transforms.fits_encryption("AES-CBC", open.digits) then
    -- The authentication key may follow by itself.
    esp_key(parser, context, "enc", open.digits, open.line)
  end
end

TAKE.key = TAKE.keymat

function TAKE.shared(parser)
  parser.derived = true
end

TAKE.message = cookies
TAKE.icookie = cookies

function TAKE.spi(parser, context, open)
  if #open.digits > 8 then
    cookies(parser, context, open)
    return
  end
  local spi = string.rep("0", 8 - #open.digits) .. open.digits
  if context.esp.spi ~= spi then
    end_esp(parser, context)
    context.esp.spi = spi
  end
end

local function take_secret(parser, context, open)
  local ike = ike_value(parser, context, open.kind, open.digits)
  ike.line = ike.line or open.line
end

for _, name in ipairs(SECRETS) do
  TAKE[name] = take_secret
end

local HOLDS_KEY = { enc = true, auth = true, key = true, keymat = true }

-- The open value is complete.
local function close(parser, context)
  local open = context.open
  context.open = nil
  if not open or open.digits == "" then
    return
  end
  local take = TAKE[open.kind or ""]
  if not take then
    parser.derived = parser.derived or (open.kind ~= nil and string.find(open.kind, "^sk") ~= nil)
    return
  end
  parser.seen = true
  if #open.digits % 2 ~= 0 and open.kind ~= "spi" and open.kind ~= "message" then
    if #open.digits >= FEWEST_KEY_DIGITS then
      parser.emit(open.line, nil, ODD)
      if context.esp.spi and HOLDS_KEY[open.kind] then
        context.esp.cut = true
      end
      return
    end
    open.digits = string.sub(open.digits, 1, -2)
  end
  take(parser, context, open)
end

-- The rows of one value are framed alike: the same time (to the second, which is what routers print) or none. The
-- router's decides: a collector's clock may have gone on between two lines of one message.
local function has_time_of(framing, read)
  if read.time then
    return framing.time == read.time
  end
  return not read.collected or framing.collected == read.collected
end

local function may_lack_its_tag(framing, read)
  return has_time_of(framing, read) and not read.tag
end

local function is_of(framing, read)
  return has_time_of(framing, read) and framing.tag == read.tag
end

local DIGEST = { [16] = true, [20] = true, [32] = true, [48] = true, [64] = true }
local CIPHER = { [8] = true, [16] = true, [20] = true, [24] = true, [28] = true, [32] = true, [36] = true }
local NOT_WHOLE = { shared = true, none = true, message = true }

-- Tells whether that many digits can be all of such a value.
local function is_whole(kind, digits)
  if not kind or NOT_WHOLE[kind] then
    return false
  elseif kind == "enc" or kind == "ka" or kind == "sk_ei" or kind == "sk_er" then
    return CIPHER[digits / 2] == true
  elseif kind == "spi" then
    return digits == 8 or digits == 16 or digits == 32
  elseif kind == "key" or kind == "keymat" then
    return transforms.keymat_split(string.rep("0", digits)) ~= nil
  end
  return DIGEST[digits / 2] == true
end

-- Returns the hex with which a line goes on, where it is framed as the open value is: the same time and tag, or none at
-- all. A row with the time but no tag may be of another subsystem: it has to be the missing rest.
local function more_of(open, read, foreign, interrupts)
  local odd = #open.digits % 2 ~= 0
  local more = labels.continuation(read.text, open.digits ~= "" and open.width or nil, #open.digits, open.prefixed)
  if not more or #open.digits + #more.digits > labels.MAX_DIGITS or open.interrupts ~= interrupts then
    return nil
  elseif is_whole(open.kind, #open.digits) and not is_whole(open.kind, #open.digits + #more.digits) then
    -- Hex behind a complete value is none of it.
    return nil
  elseif is_of(open.framing, read) then
    return more
  elseif foreign or not may_lack_its_tag(open.framing, read) then
    return nil
  end
  local rest = #more.digits < open.first_row and is_whole(open.kind, #open.digits + #more.digits)
  local bare = not read.time and not read.collected
  return (bare or odd or rest or not is_whole(open.kind, #open.digits)) and more or nil
end

-- The first run of hex of a line, looked for once.
local function first_run(read)
  if read.run == nil then
    read.run = labels.next_run(read.text, 1) or false
  end
  return read.run
end

local function is_bare(read)
  return read.framed_at == 1 and not read.time and not read.collected and not read.tag
end

local function context_line(parser, context, read, line_number)
  local text, tagged, at = read.text, read.tag ~= nil, 1
  local tail = context.tail
  local open = context.open
  if open then
    local more = more_of(open, read, parser.foreign, parser.interrupts)
    if more then
      if open.digits == "" then
        open.prefixed, open.first_row = more.prefixed, #more.digits
      end
      open.width = more.width
      open.digits = open.digits .. more.digits
      at = more.after
      if not string.find(text, "%S", at) then
        return
      end
    elseif open.framing.tag and not tagged and (parser.foreign or not first_run(read)) then
      -- Lines of another subsystem may stand between the lines of a tagged value.
      return
    end
    close(parser, context)
  end
  local carried
  if tail and (is_of(tail.framing, read) or may_lack_its_tag(tail.framing, read)) then
    carried = tail.text
  elseif is_bare(read) and context.last and not is_bare(context.last) and first_run(read)
    and not first_run(read).kind then
    -- A terminal has broken the line within its label.
    carried = context.last.text
  end
  context.tail, context.last = nil, read
  while true do
    local run
    if at == 1 and not carried then
      run = first_run(read)
    else
      run = labels.next_run(text, at, carried)
    end
    carried = nil
    if not run then
      break
    end
    at = run.after
    run.line, run.framing, run.interrupts = line_number, read, parser.interrupts
    context.open = run
    if string.find(text, "%S", at) then
      close(parser, context)
    end
  end
  -- The rest may be a label whose value, or whose rest, stands on the next line.
  tail = string.sub(text, at)
  if string.find(text, "[:=]", #text) and labels.kind(tail) then
    context.open = {
      kind = labels.kind(tail), digits = "", width = 2, first_row = 0, line = line_number, framing = read,
      interrupts = parser.interrupts,
    }
  elseif at > 1 and string.find(tail, "%a") then
    context.tail = { text = tail, framing = read }
  end
end

-- One line, framing taken off.
function nvr.line(parser, outer, line_number)
  if outer.tag == "other" then
    parser.seen = true
    return
  end
  if not outer.tag and outer.framed_at == 1 then
    -- A bare row is of the sender of the line before.
    outer.sender = parser.sender or outer.sender
  end
  parser.sender = outer.sender
  -- Hex without a tag is of another subsystem that has just spoken.
  parser.foreign = not outer.tag
    and (parser.foreign or not (outer.context or first_run(outer) or string.find(outer.text, "^[%x ]+$")))
  parser.seen = parser.seen or outer.tag ~= nil or outer.time ~= nil
  local number = outer.context or parser.last[outer.sender] or "0"
  if outer.context then
    parser.last[outer.sender] = number
  end
  local name = outer.sender .. "\n" .. number
  local context = parser.contexts[name]
  if not context then
    if parser.count >= MAX_CONTEXTS then
      nvr.finish(parser)
    end
    context = { esp = {}, ike = {}, order = parser.count }
    parser.contexts[name] = context
    parser.count = parser.count + 1
  end
  context_line(parser, context, outer, line_number)
end

-- A line of another format stands between: no value goes on behind it.
function nvr.interrupt(parser)
  parser.interrupts = parser.interrupts + 1
end

function nvr.finish(parser)
  local order = {}
  for _, context in pairs(parser.contexts) do
    order[context.order + 1] = context
  end
  for _, context in ipairs(order) do
    close(parser, context)
    end_esp(parser, context)
    end_ike(parser, context)
  end
  parser.contexts, parser.count, parser.last = {}, 0, {}
end

return nvr
