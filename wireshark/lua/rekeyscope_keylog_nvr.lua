-- Yamaha NVR/RTX: what `ipsec ike log N key-info` logs. An SPI and the keys that follow it are a claim;
-- anything else is left alone, never guessed. Lines of several SAs and routers may be mixed: each has its own
-- context. Pure.

local labels = require("rekeyscope_keylog_labels")
local transforms = require("rekeyscope_transforms")

local nvr = {}

-- Most contexts kept apart; at the bound all are closed.
local MAX_CONTEXTS = 4096

local ODD = "the value has an odd number of hex digits: the line was cut; save the log without line length limit"

function nvr.new(emit)
  return { emit = emit, contexts = {}, count = 0, last = {}, derived = false, seen = false }
end

local SECRETS = { "skeyid", "skeyid_d", "skeyid_a", "skeyid_e", "ka" }

local function end_ike(parser, context)
  local ike = context.ike
  context.ike = {}
  for _, name in ipairs(SECRETS) do
    if ike[name] then
      if name == "ka" and ike.icookie then
        parser.emit({ kind = "ike1", format = "nvr", cookie = ike.icookie, key = ike.ka, line = ike.line })
      else
        parser.derived = true
        parser.emit({
          kind = "secret", format = "nvr", cookie = ike.icookie, name = name, key = ike[name], line = ike.line,
        })
      end
    end
  end
end

-- Claims what is complete: both keys, or the one of a combined mode.
local function end_esp(parser, context)
  local esp = context.esp
  context.esp = {}
  if not esp.spi or not esp.enc then
    return
  end
  local auth = esp.auth or ""
  if auth == "" and not transforms.fits_encryption("AES-GCM-16", esp.enc) then
    return
  end
  if #transforms.plausible(nil, esp.enc, nil, auth) == 0 then
    parser.emit(nil, "the keys after this SPI have lengths that no transform takes: the line was cut or its label means"
      .. " something else", esp.line)
    return
  end
  parser.emit({ kind = "esp", format = "nvr", spi = esp.spi, enc_key = esp.enc, auth_key = auth, line = esp.line })
end

local function esp_key(parser, context, slot, digits, line_number)
  local esp = context.esp
  if not esp.spi then
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

local function cookies(parser, context, open)
  local digits = open.digits
  if open.kind == "message" and (open.width ~= 16 or #digits ~= 32) then
    return
  end
  if #digits == 32 or #digits == 16 then
    local initiator = string.sub(digits, 1, 16)
    if context.ike.icookie and context.ike.icookie ~= initiator then
      end_ike(parser, context)
    end
    context.ike.icookie = initiator
  end
end

local TAKE = {}

function TAKE.enc(parser, context, open)
  esp_key(parser, context, "enc", open.digits, open.line)
end

function TAKE.auth(parser, context, open)
  esp_key(parser, context, "auth", open.digits, open.line)
end

function TAKE.keymat(parser, context, open)
  local split = transforms.keymat_split(open.digits)
  if split then
    esp_key(parser, context, "enc", string.sub(open.digits, 1, split), open.line)
    esp_key(parser, context, "auth", string.sub(open.digits, split + 1), open.line)
  end
end

TAKE.key = TAKE.keymat
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
  local ike = context.ike
  if ike[open.kind] and ike[open.kind] ~= open.digits then
    end_ike(parser, context)
    ike = context.ike
  end
  ike.line = ike.line or open.line
  ike[open.kind] = open.digits
end

for _, name in ipairs(SECRETS) do
  TAKE[name] = take_secret
end

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
    parser.emit(nil, ODD, open.line)
    return
  end
  take(parser, context, open)
end

local function context_line(parser, context, outer, line_number)
  local text, tagged, at = outer.text, outer.tag ~= nil, 1
  local carried = not tagged and context.tail or nil
  context.tail = nil
  local open = context.open
  if open then
    local more = labels.continuation(text, open.digits ~= "" and open.width or nil, #open.digits % 2 ~= 0)
    if more and #open.digits + #more.digits <= labels.MAX_DIGITS then
      if open.digits == "" then
        open.width = more.width
      end
      open.digits = open.digits .. more.digits
      at = more.after
      if not string.find(text, "%S", at) then
        return
      end
    elseif open.tagged and not tagged and not labels.next_run(text, 1) then
      -- A line of another subsystem may stand between the lines of a tagged value.
      return
    end
    close(parser, context)
  end
  while true do
    local run = labels.next_run(text, at, carried)
    carried = nil
    if not run then
      break
    end
    at = run.after
    context.open = { kind = run.kind, digits = run.digits, width = run.width, line = line_number, tagged = tagged }
    if string.find(text, "%S", at) then
      close(parser, context)
    end
  end
  -- What is left may be a label whose value, or whose rest, stands on the next line.
  local tail = string.sub(text, at)
  if string.find(tail, "[:=]%s*$") and labels.kind(tail) then
    context.open = { kind = labels.kind(tail), digits = "", width = 2, line = line_number, tagged = tagged }
  elseif at > 1 and string.find(tail, "%a") then
    context.tail = tail
  end
end

-- One line, framing taken off.
function nvr.line(parser, outer, line_number)
  if outer.tag == "other" then
    parser.seen = true
    return
  end
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
