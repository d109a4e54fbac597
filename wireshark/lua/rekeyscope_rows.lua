-- Entries → validated rows of Wireshark's esp_sa and ikev1_decryption_table. Pure. A bad row must never reach
-- Wireshark: a short row or bad hex drops every later row, a wrong key length is a dissector bug on every
-- packet.

local table_format = require("rekeyscope_keylog_table")

local rows = {}

-- Wireshark looks an SA up by walking all rows for every packet (1.2 µs each): above this many it is felt.
rows.MANY = 100

-- Key lengths in bytes, the salt of CTR and AEAD included.
local AES, AES_SALT = { 16, 24, 32 }, { 20, 28, 36 }
local ENCRYPTION = {
  ["NULL"] = { 0 }, ["AES-CBC [RFC3602]"] = AES, ["AES-CTR [RFC3686]"] = AES_SALT,
  ["TripleDES-CBC [RFC2451]"] = { 24 }, ["DES-CBC [RFC2405]"] = { 8 }, ["CAST5-CBC [RFC2144]"] = { 16 },
  ["BLOWFISH-CBC [RFC2451]"] = { 16 }, ["TWOFISH-CBC"] = { 16, 32 },
  ["AES-GCM [RFC4106]"] = AES_SALT, ["AES-GCM with 8 octet ICV [RFC4106]"] = AES_SALT,
  ["AES-GCM with 12 octet ICV [RFC4106]"] = AES_SALT, ["AES-GCM with 16 octet ICV [RFC4106]"] = AES_SALT,
  ["ChaCha20 with Poly1305 [RFC7634]"] = { 36 },
}
local INTEGRITY = {
  ["NULL"] = { 0 }, ["HMAC-SHA-1-96 [RFC2404]"] = { 20 }, ["HMAC-MD5-96 [RFC2403]"] = { 16 },
  ["HMAC-SHA-256-96 [draft-ietf-ipsec-ciph-sha-256-00]"] = { 32 }, ["HMAC-SHA-256-128 [RFC4868]"] = { 32 },
  ["HMAC-SHA-384-192 [RFC4868]"] = { 48 }, ["HMAC-SHA-512-256 [RFC4868]"] = { 64 },
  ["MAC-RIPEMD-160-96 [RFC2857]"] = { 20 },
  ["ANY 64 bit authentication [no checking]"] = { 0 }, ["ANY 96 bit authentication [no checking]"] = { 0 },
  ["ANY 128 bit authentication [no checking]"] = { 0 }, ["ANY 192 bit authentication [no checking]"] = { 0 },
  ["ANY 256 bit authentication [no checking]"] = { 0 },
}

local function length_fits(lengths, digits)
  for _, length in ipairs(lengths) do
    if #digits == 2 * length then
      return true
    end
  end
  return false
end

local function address_fits(address, ip)
  if address == "*" then
    return true
  elseif ip == "IPv6" then
    return string.find(address, "^[%x:%.%*]+$") ~= nil and string.find(address, ":", 1, true) ~= nil
  end
  return string.find(address, "^[%d%*]+%.[%d%*]+%.[%d%*]+%.[%d%*]+$") ~= nil
end

-- nil when the row may go to Wireshark, else why not. `accepts_chacha` is true from Wireshark 4.6 on.
function rows.defect(entry, accepts_chacha)
  local lengths = ENCRYPTION[entry.enc]
  if not lengths then
    return "encryption " .. tostring(entry.enc) .. " is not one that Wireshark knows"
  elseif string.find(entry.enc, "^ChaCha20") and not accepts_chacha then
    return "ChaCha20-Poly1305 needs Wireshark 4.6"
  elseif not length_fits(lengths, entry.enc_key) then
    return "the encryption key's length does not fit " .. entry.enc
  elseif not INTEGRITY[entry.auth] then
    return "authentication " .. tostring(entry.auth) .. " is not one that Wireshark knows"
  elseif not length_fits(INTEGRITY[entry.auth], entry.auth_key) then
    return "the authentication key's length does not fit " .. entry.auth
  elseif not string.find(entry.enc_key .. entry.auth_key, "^%x*$") then
    return "a key is not hexadecimal"
  elseif entry.spi ~= "*" and not string.find(entry.spi, "^%x%x%x%x%x%x%x%x$") then
    return "the SPI is not 8 hexadecimal digits"
  elseif not address_fits(entry.src or "*", entry.ip) or not address_fits(entry.dst or "*", entry.ip) then
    return "an address is not one that Wireshark's table accepts"
  end
  return nil
end

local function prefixed(digits)
  return digits == "" and "" or "0x" .. digits
end

local function quoted_row(ip, src, dst, entry)
  return '"' .. table.concat({
    ip, src, dst, entry.spi == "*" and "*" or "0x" .. entry.spi, entry.enc, prefixed(entry.enc_key), entry.auth,
    prefixed(entry.auth_key),
  }, '","') .. '"'
end

local function family(entry)
  if entry.ip == "IPv4" or entry.ip == "IPv6" then
    return entry.ip
  end
  local address = entry.dst or entry.src
  if not address or address == "*" then
    return nil
  end
  return string.find(address, ":", 1, true) and "IPv6" or "IPv4"
end

local function key_of(entry)
  return entry.enc .. "\0" .. entry.enc_key .. "\0" .. entry.auth .. "\0" .. entry.auth_key
end

-- Entries by SPI in the order they came, only those that may be written; the others' reasons go to `rejected`.
local function grouped(entries, accepts_chacha, rejected)
  local order, groups = {}, {}
  for _, entry in ipairs(entries) do
    if entry.kind == "esp" and entry.status ~= "masked" then
      local ip = family(entry)
      local candidate = {
        ip = ip, src = entry.src, dst = entry.dst, spi = entry.spi, enc = entry.enc, enc_key = entry.enc_key,
        auth = entry.auth, auth_key = entry.auth_key,
      }
      local reason = rows.defect(candidate, accepts_chacha)
      if reason then
        rejected[#rejected + 1] = { line = entry.line, reason = "SPI " .. tostring(entry.spi) .. ": " .. reason }
      else
        local group = groups[entry.spi]
        if not group then
          group = {}
          groups[entry.spi] = group
          order[#order + 1] = entry.spi
        end
        group[#group + 1] = candidate
      end
    end
  end
  return order, groups
end

local function add(list, known, row)
  if not known[row] then
    known[row] = true
    list[#list + 1] = row
  end
end

-- The rows of one SPI. The log's addresses may not be the capture's (NAT), so they are written only where the
-- SPI alone does not say which key is meant.
local function rows_of_spi(list, known, group, where)
  local first, one_key = group[1], true
  for _, entry in ipairs(group) do
    one_key = one_key and key_of(entry) == key_of(first)
  end
  if first.spi == "*" or not one_key then
    for _, entry in ipairs(group) do
      local ip = entry.ip or (where and where.ip) or "IPv4"
      add(list, known, quoted_row(ip, entry.src or "*", entry.dst or "*", entry))
    end
    return
  end
  local ip = where and where.ip or first.ip
  add(list, known, quoted_row(ip or "IPv4", "*", "*", first))
  if not ip then
    -- Neither the log nor a capture says which IP it is.
    add(list, known, quoted_row("IPv6", "*", "*", first))
  end
end

-- esp_sa rows for `entries`. options.seen: what a capture is known to hold, SPI → { ip, packets }; only those
-- SPIs are written then, busiest first. options.user: text of the user's own table, whose rows are not
-- repeated. options.accepts_chacha. Returns { rows, rejected, unseen } (unseen: SPIs of the log that the
-- capture does not hold).
function rows.esp(entries, options)
  local rejected, list, known, unseen = {}, {}, {}, 0
  local order, groups = grouped(entries, options.accepts_chacha, rejected)
  local seen = options.seen
  if seen then
    local rank = {}
    for index, spi in ipairs(order) do
      rank[spi] = index
    end
    table.sort(order, function(a, b)
      local in_a, in_b = seen[a] and seen[a].packets or 0, seen[b] and seen[b].packets or 0
      if in_a ~= in_b then
        return in_a > in_b
      end
      return rank[a] < rank[b]
    end)
  end
  for line in string.gmatch(options.user or "", "[^\r\n]+") do
    known[line] = true
  end
  for _, spi in ipairs(order) do
    if seen and spi ~= "*" and not seen[spi] then
      unseen = unseen + 1
    else
      rows_of_spi(list, known, groups[spi], seen and seen[spi])
    end
  end
  return { rows = list, rejected = rejected, unseen = unseen }
end

-- ikev1_decryption_table rows: unquoted, no 0x. The key must be one of the ciphers' lengths.
function rows.ike1(entries, options)
  local list, known, rejected = {}, {}, {}
  for line in string.gmatch(options.user or "", "[^\r\n]+") do
    known[line] = true
  end
  for _, entry in ipairs(entries) do
    if entry.kind == "ike1" then
      if length_fits({ 8, 16, 24, 32 }, entry.key) and string.find(entry.cookie, "^%x+$") and #entry.cookie == 16 then
        add(list, known, entry.cookie .. "," .. entry.key)
      else
        rejected[#rejected + 1] = { line = entry.line, reason = "cookie " .. tostring(entry.cookie) .. ": key length" }
      end
    end
  end
  return { rows = list, rejected = rejected }
end

-- The SPIs that a table's text names, for a capture's SPIs to be compared with.
function rows.spis(text)
  local spis = {}
  for line in string.gmatch(text, "[^\r\n]+") do
    local entry = table_format.recognise(line) == "esp_sa" and table_format.esp_row(line)
    if entry then
      spis[entry.spi] = true
    end
  end
  return spis
end

return rows
