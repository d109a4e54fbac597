-- Wireshark's own tables: esp_sa and ikev1_decryption_table rows. Pure.

local transforms = require("rekeyscope_transforms")

local table_format = {}

-- Values of one row: quoted or bare, separated by commas, by a spreadsheet's semicolons. nil and a reason when a quote
-- is not closed.
function table_format.columns(line)
  local values, at = {}, 1
  while true do
    local quoted, after = string.match(line, '^%s*"([^"]*)"%s*()', at)
    if not quoted then
      if string.find(line, '^%s*"', at) then
        return nil, "a quote is not closed"
      end
      local bare
      bare, after = string.match(line, '^([^,;"]*)()', at)
      quoted = string.match(bare, "^%s*(.-)%s*$")
    end
    values[#values + 1] = quoted
    if after > #line then
      return values
    end
    if not string.find(line, "^[,;]", after) then
      return nil, "no comma between two values"
    end
    at = after + 1
  end
end

-- Digits of a value that is hex as a whole; nil for anything else, an odd number of digits included.
local function hex_whole(text)
  local digits = string.gsub(text, "^0[xX]", "")
  if #digits % 2 ~= 0 or not string.find(digits, "^%x*$") then
    return nil
  end
  return string.lower(digits)
end

-- SPI column: "*", hexadecimal with 0x, or decimal, as Wireshark reads it.
local function spi_of(text)
  if text == "*" then
    return "*"
  end
  local digits = string.match(text, "^0[xX]0*(%x+)$")
  if digits then
    return #digits <= 8 and string.rep("0", 8 - #digits) .. string.lower(digits) or nil
  end
  local number = #text <= 10 and string.find(text, "^%d+$") and tonumber(text)
  return number and number <= 4294967295 and string.format("%08x", number) or nil
end

-- A key column: "0x…" or, as Wireshark also allows, plain text whose bytes are the key.
local function key_of(text)
  if text == "" then
    return ""
  end
  if string.find(text, "^0[xX]") then
    return hex_whole(text)
  end
  return (string.gsub(text, ".", function(byte)
    return string.format("%02x", string.byte(byte))
  end))
end

-- nil for "any", in whole or per octet; false when it is no address of that family.
function table_format.address(text, family)
  if text == "*" then
    return nil
  elseif family == "IPv6" then
    return string.find(text, "^[%x:%.]+$") and string.find(text, ":", 1, true) and text or false
  elseif not string.find(text, "^[%d%*]+%.[%d%*]+%.[%d%*]+%.[%d%*]+$") then
    return false
  end
  return not string.find(text, "*", 1, true) and text or nil
end

local UNCHECKED = "^ANY (%d+) bit authentication %[[nN]o [cC]hecking%]$"

-- The columns before the keys, or nil and what is wrong.
local function sa_of(values)
  if values[1] ~= "IPv4" and values[1] ~= "IPv6" then
    return nil, "malformed esp_sa row: the protocol is neither IPv4 nor IPv6"
  end
  local src, dst = table_format.address(values[2], values[1]), table_format.address(values[3], values[1])
  local spi, enc = spi_of(values[4]), transforms.encryption(values[5])
  if src == false or dst == false then
    return nil, "malformed esp_sa row: an address is not one of its family"
  elseif not spi then
    return nil, "malformed esp_sa row: the SPI is neither hexadecimal, decimal nor *"
  elseif not enc then
    return nil, "esp_sa row: the encryption algorithm is not supported"
  end
  return { kind = "esp", format = "esp_sa", ip = values[1], src = src, dst = dst, spi = spi, enc = enc }
end

-- An esp_sa row (8 columns; newer versions write 10) as an entry, or nil and a reason.
function table_format.esp_row(line)
  local values, reason = table_format.columns(line)
  if not values then
    return nil, "malformed esp_sa row: " .. reason
  elseif #values < 8 then
    return nil, "malformed esp_sa row: " .. #values .. " columns, 8 are needed"
  end
  local entry
  entry, reason = sa_of(values)
  if not entry then
    return nil, reason
  end
  local enc, auth = entry.enc, transforms.integrity(values[7])
  local enc_key, auth_key = key_of(values[6]), key_of(values[8])
  local bits = string.match(values[7], UNCHECKED)
  if bits and transforms.is_aead(enc) then
    -- Versions before 3.6 name a combined mode's ICV so.
    enc, auth, bits = transforms.with_icv_bits(enc, bits), "none", nil
    entry.enc = enc
  end
  entry.unchecked = bits and "ANY " .. bits .. " bit authentication [no checking]" or nil
  if not auth and not entry.unchecked then
    return nil, "esp_sa row: the authentication algorithm is not supported"
  elseif not enc_key or not auth_key then
    return nil, "malformed esp_sa row: a key is not hexadecimal"
  end
  entry.enc_key, entry.auth, entry.auth_key = enc_key, auth, auth_key
  return entry
end

-- "<16 hex initiator cookie>,<hex key>" as an entry.
function table_format.ikev1_row(line)
  local values = table_format.columns(line)
  local cookie, key = values and values[1] or "", values and values[2] or ""
  cookie, key = string.gsub(cookie, "^0[xX]", ""), hex_whole(key)
  if not string.find(cookie, "^%x+$") or #cookie ~= 16 then
    return nil, "malformed ikev1_decryption_table row: the cookie is not 16 hexadecimal digits"
  elseif not key then
    return nil, "malformed ikev1_decryption_table row: the key is not hexadecimal"
  elseif not (#key == 16 or #key == 32 or #key == 48 or #key == 64) then
    return nil, "ikev1_decryption_table row: the key has the length of no cipher"
  end
  return { kind = "ike1", format = "ikev1_decryption_table", cookie = string.lower(cookie), key = key }
end

-- Returns the table that a line belongs to, or nil.
function table_format.recognise(line)
  if not string.find(line, ",", 1, true) and not string.find(line, ";", 1, true) then
    return nil
  elseif string.find(line, '^%s*"?IP[%w%*]*"?%s*[,;]%s*["%x%*]') then
    return "esp_sa"
  elseif string.find(line, '^%s*"?%x+"?%s*,%s*"?%x+"?%s*,%s*"?%x*"?%s*,') then
    return "ikev2_decryption_table"
  elseif string.find(line, '^%s*"?0?[xX]?%x+"?%s*,%s*"?0?[xX]?%x+"?%s*$') and #string.match(line, "%x+") >= 8 then
    return "ikev1_decryption_table"
  end
  return nil
end

return table_format
