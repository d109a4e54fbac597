-- `ip xfrm state` and `ip -t xfrm monitor`: blocks that begin with "src A dst B" and go on with indented lines.
-- Pure.

local transforms = require("rekeyscope_transforms")

local xfrm = {}

-- "auth" without "-trunc" names no length: the kernel's default for the algorithm.
local DEFAULT_BITS = { ["hmac(sha256)"] = "96" }

-- An integrity algorithm by the kernel's name and the truncation that the line states.
local function integrity(name, bits)
  local found = transforms.integrity(name .. (bits and "-" .. bits or ""))
  return found or transforms.integrity(name) or "unknown: " .. name
end

-- The addresses of a block's first line, or nil. "Deleted" and "Expired" events have the same shape.
function xfrm.header(line)
  local rest = string.gsub(line, "^%[[%dT:%-%.+ ]+%]%s*", "")
  rest = string.gsub(rest, "^Timestamp: [^\n]*$", "")
  local event = string.match(rest, "^(%a+)%s+src ")
  if event and event ~= "Updated" and event ~= "Deleted" and event ~= "Expired" and event ~= "Async" then
    return nil
  end
  return string.match(rest, "^%a*%s*src%s+([%x:%.]+)%s+dst%s+([%x:%.]+)")
end

local function value_of_key(text)
  local digits = string.match(text, "^0[xX](%x+)$")
  return digits and #digits % 2 == 0 and string.lower(digits) or nil
end

-- Reads a line by its first word; the next three are the arguments.
local READ = {}

function READ.proto(block, proto, word, spi)
  if word ~= "spi" or spi == "" then
    return -- of a policy that was pasted below
  end
  local digits = string.match(spi, "^0[xX](%x+)") or ""
  block.proto, block.spi = proto, #digits <= 8 and string.rep("0", 8 - #digits) .. string.lower(digits) or nil
end

function READ.enc(block, name, key)
  block.enc = transforms.encryption(name) or "unknown: " .. name
  block.enc_key = block.enc == "NULL" and "" or value_of_key(key)
end

function READ.aead(block, name, key, bits)
  block.enc = transforms.with_icv_bits(transforms.encryption(name), bits) or "unknown: " .. name
  block.enc_key, block.auth, block.auth_key = value_of_key(key), "none", ""
end

function READ.auth(block, name, key, bits)
  block.auth = integrity(name, bits ~= "" and bits or DEFAULT_BITS[name])
  block.auth_key = block.auth == "none" and "" or value_of_key(key)
end

READ["auth-trunc"] = READ.auth

-- Begins a block.
function xfrm.block(src, dst, line_number)
  return { src = src, dst = dst, line = line_number, details = {}, strays = 0 }
end

local function read_detail(block, detail)
  local word, rest = string.match(detail.text, "^%s*(%S+)%s*(.*)$")
  local read = READ[word]
  if read then
    if word ~= "proto" then
      block.key_line = (word == "enc" or word == "aead") and detail.line or block.key_line or detail.line
    end
    block.hidden = block.hidden or string.find(rest, "hidden", 1, true) ~= nil
    -- `ip -s` says how many bits a key has.
    rest = string.gsub(rest, "%s*%(%d+ ?bits%)", "")
    read(block, string.match(rest, "^(%S*)%s*(%S*)%s*(%w*)"))
  end
end

-- Tells whether a line is the rest of the one before, which a terminal has broken: digits, or words where no key stands
-- yet.
local function goes_on(line, before)
  if string.find(line, "^%s*[%d%(][%d%s%(%)bits]*$") or string.find(line, "^%x+%f[%s%z]") then
    return true
  elseif string.find(line, "^%s") then
    return false
  end
  local word, rest = string.match(before, "^%s*(%S+)(.*)$")
  if READ[word] then
    return string.find(rest, "0[xX]%x") == nil
  end
  for name in pairs(READ) do
    if rest == "" and string.sub(name, 1, #word) == word then
      return true
    end
  end
  return false
end

-- Between the lines of a block may stand rests of others that a terminal has broken; after more of them it has ended.
local MOST_STRAYS = 2

-- Takes one line after a block's first; false when it is none of the block's. Then block.over tells whether the block
-- has ended.
function xfrm.detail(block, line, line_number)
  local details = block.details
  local last = details[#details]
  if last and goes_on(line, last.text) then
    last.text = last.text .. line
  elseif string.find(line, "^%s+%S") or READ[string.match(line, "^%S+")] then
    details[#details + 1] = { text = line, line = line_number }
  else
    block.strays = block.strays + 1
    block.over = block.strays > MOST_STRAYS or string.find(line, "%d/%d%d/%d%d ") ~= nil
    return false
  end
  block.strays = 0
  return true
end

-- A finished block as an entry. nil without a reason when it holds no ESP key by nature (an event without keys,
-- AH, a larval SA); nil and a reason when it should.
function xfrm.entry(block)
  for _, detail in ipairs(block.details) do
    read_detail(block, detail)
  end
  if block.proto ~= "esp" or not block.spi or block.spi == "00000000" then
    return nil
  end
  if block.hidden then
    return { kind = "esp", format = "xfrm", src = block.src, dst = block.dst, spi = block.spi, status = "masked" }
  end
  if not block.enc and not block.auth then
    return nil
  end
  local auth = block.auth or "none"
  if not block.enc_key then
    return nil, "the block of SPI 0x" .. block.spi .. " has no readable encryption key"
  elseif string.find(block.enc, "^unknown") then
    return nil, "encryption algorithm " .. block.enc
  elseif string.find(auth, "^unknown") then
    return nil, "authentication algorithm " .. auth
  elseif block.auth and not block.auth_key then
    return nil, "the block of SPI 0x" .. block.spi .. " has no readable authentication key"
  end
  return {
    kind = "esp", format = "xfrm", src = block.src, dst = block.dst, spi = block.spi,
    enc = block.enc, enc_key = block.enc_key, auth = auth, auth_key = block.auth_key or "",
  }
end

return xfrm
