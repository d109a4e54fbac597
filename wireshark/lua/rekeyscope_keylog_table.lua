-- Wireshark's own tables: esp_sa and ikev1_decryption_table rows. Pure.

local hex = require("rekeyscope_hex")

local table_format = {}

-- Values of one row: quoted or bare, separated by commas. nil and a reason when a quote is not closed.
function table_format.columns(line)
  local values, at = {}, 1
  while true do
    local quoted, after = string.match(line, '^%s*"([^"]*)"%s*()', at)
    if not quoted then
      if string.find(line, '^%s*"', at) then
        return nil, "a quote is not closed"
      end
      local bare
      bare, after = string.match(line, '^([^,"]*)()', at)
      quoted = string.match(bare, "^%s*(.-)%s*$")
    end
    values[#values + 1] = quoted
    if after > #line then
      return values
    end
    if string.sub(line, after, after) ~= "," then
      return nil, "no comma between two values"
    end
    at = after + 1
  end
end

-- SPI column: "*", hexadecimal with 0x, or decimal, as Wireshark reads it.
local function spi_of(text)
  if text == "*" then
    return "*"
  end
  if string.find(text, "^0[xX]%x+$") then
    return hex.spi(text)
  end
  if string.find(text, "^%d+$") and #text <= 10 then
    local number = tonumber(text)
    if number <= tonumber("4294967295") then
      return string.format("%08x", number)
    end
  end
  return nil
end

-- A key column: "0x…" or, as Wireshark also allows, plain text whose bytes are the key.
local function key_of(text)
  if text == "" then
    return ""
  end
  if string.find(text, "^0[xX]") then
    return hex.whole(text)
  end
  return (string.gsub(text, ".", function(byte)
    return string.format("%02x", string.byte(byte))
  end))
end

-- An esp_sa row (8 columns; newer versions write 10) as an entry; nil and a reason when it is malformed.
function table_format.esp_row(line)
  local values, reason = table_format.columns(line)
  if not values then
    return nil, "malformed esp_sa row: " .. reason
  end
  if #values < 8 then
    return nil, "malformed esp_sa row: " .. #values .. " columns, 8 are needed"
  end
  local spi, enc_key, auth_key = spi_of(values[4]), key_of(values[6]), key_of(values[8])
  if not spi then
    return nil, "malformed esp_sa row: the SPI is neither hexadecimal, decimal nor *"
  end
  if not enc_key or not auth_key then
    return nil, "malformed esp_sa row: a key is not hexadecimal"
  end
  return {
    kind = "esp", format = "esp_sa", ip = values[1], src = values[2], dst = values[3], spi = spi,
    enc = values[5], enc_key = enc_key, auth = values[7], auth_key = auth_key,
  }
end

-- "<16 hex initiator cookie>,<hex key>" as an entry.
function table_format.ikev1_row(line)
  local cookie, key = string.match(line, "^%s*(%x+)%s*,%s*(%x+)%s*$")
  if not cookie or #cookie ~= 16 then
    return nil, "malformed ikev1_decryption_table row: the cookie is not 16 hexadecimal digits"
  end
  key = hex.whole(key)
  if not key then
    return nil, "malformed ikev1_decryption_table row: the key is not hexadecimal"
  end
  return { kind = "ike1", format = "ikev1_decryption_table", cookie = string.lower(cookie), key = key }
end

-- Which table a line belongs to, or nil.
function table_format.recognise(line)
  if string.find(line, '^%s*"?IPv[46]"?%s*,') then
    return "esp_sa"
  end
  if string.find(line, "^%s*%x+%s*,%s*%x+%s*$") and #string.match(line, "^%s*(%x+)") == 16 then
    return "ikev1_decryption_table"
  end
  if string.find(line, "^%s*%x+%s*,%s*%x+%s*,%s*%x*%s*,") then
    return "ikev2_decryption_table"
  end
  return nil
end

return table_format
