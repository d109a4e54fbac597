-- Entries → validated rows of Wireshark's esp_sa and ikev1_decryption_table. Pure. A bad row must never reach
-- Wireshark: a short row or bad hex drops every later row, a wrong key length is a dissector bug on every
-- packet.

local table_format = require("rekeyscope_keylog_table")
local transforms = require("rekeyscope_transforms")

local rows = {}

-- Wireshark looks an SA up by walking all rows for every packet (1.2 µs each): above this many it is felt.
rows.MANY = 100

-- A row is { ip, src, dst, spi, keys }: the last is its four columns of transforms and keys, by Wireshark's names.

local UNCHECKED = "ANY %d bit authentication [no checking]"

-- The transforms of an entry by Wireshark's names and its authentication key; nil and a reason when it has
-- none, or when the log leaves them open and the key lengths do not decide.
local function names_of(entry)
  local enc, auth = entry.enc, entry.auth
  if not enc then
    -- The reader has left out keys that no transform takes.
    local possible = transforms.plausible(entry.enc_key, entry.auth_key)
    if #possible > 1 and possible[2][1] ~= possible[1][1] then
      return nil, "the log does not say whether its key is for " .. possible[1][1] .. " or " .. possible[2][1]
    end
    enc, auth = possible[1][1], possible[1][2]
  end
  local enc_name = transforms.wireshark_encryption(enc)
  if not enc_name then
    return nil, "Wireshark does not decrypt " .. enc
  elseif entry.unchecked then
    return enc_name, entry.unchecked, ""
  end
  local auth_name, bits = transforms.wireshark_integrity(auth)
  if not auth_name then
    -- Wireshark cannot check it, but it can skip it.
    return enc_name, string.format(UNCHECKED, bits), ""
  end
  return enc_name, auth_name, entry.auth_key
end

-- Returns nil when the entry may go to Wireshark, else why not.
local function defect(entry, ip, accepts_chacha)
  if entry.enc == "ChaCha20-Poly1305" and not accepts_chacha then
    return "ChaCha20-Poly1305 needs Wireshark 4.6"
  elseif entry.enc and not transforms.fits_encryption(entry.enc, entry.enc_key) then
    return "the encryption key's length does not fit " .. entry.enc
  elseif entry.auth and not transforms.fits_integrity(entry.auth, entry.auth_key) then
    return "the authentication key's length does not fit " .. entry.auth
  elseif not string.find(entry.enc_key .. entry.auth_key, "^%x*$") then
    return "a key is not hexadecimal"
  elseif entry.spi ~= "*" and not string.find(entry.spi, "^%x%x%x%x%x%x%x%x$") then
    return "the SPI is not 8 hexadecimal digits"
  end
  for _, address in pairs({ entry.src, entry.dst }) do
    if table_format.address(address, ip) ~= address then
      return "an address is not one that Wireshark's table accepts"
    end
  end
  return nil
end

local function prefixed(digits)
  return digits == "" and "" or "0x" .. digits
end

local function quoted(ip, src, dst, row)
  return '"' .. table.concat({ ip, src, dst, row.spi == "*" and "*" or "0x" .. row.spi, row.keys }, '","') .. '"'
end

-- An entry as a row, or nil and a reason. `accepts_chacha` is true from Wireshark 4.6 on.
function rows.from(entry, accepts_chacha)
  local address = entry.dst or entry.src
  local ip = entry.ip or address and (string.find(address, ":", 1, true) and "IPv6" or "IPv4")
  local reason = defect(entry, ip, accepts_chacha)
  if reason then
    return nil, reason
  end
  local enc, auth, auth_key = names_of(entry)
  if not enc then
    return nil, auth
  end
  local keys = table.concat({ enc, prefixed(entry.enc_key), auth, prefixed(auth_key) }, '","')
  return { ip = ip, src = entry.src, dst = entry.dst, spi = entry.spi, keys = keys }
end

-- Rows by SPI in the order they came; the reasons of entries that give none go to `rejected`.
local function grouped(entries, accepts_chacha, rejected)
  local order, groups = {}, {}
  for _, entry in ipairs(entries) do
    if entry.kind == "esp" and not entry.status then
      local row, reason = rows.from(entry, accepts_chacha)
      if not row then
        rejected[#rejected + 1] = { line = entry.line, reason = "SPI " .. tostring(entry.spi) .. ": " .. reason }
      else
        local group = groups[entry.spi]
        if not group then
          order[#order + 1] = entry.spi
          group = { place = #order }
          groups[entry.spi] = group
        end
        group[#group + 1] = row
      end
    end
  end
  return order, groups
end

-- The lines of the user's own table, which are not repeated.
local function lines_of(text)
  local known = {}
  for line in string.gmatch(text or "", "[^\r\n]+") do
    known[line] = true
  end
  return known
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
  local first, one_key, ip = group[1], true, where and where.ip
  for _, row in ipairs(group) do
    one_key = one_key and row.keys == first.keys
  end
  if first.spi == "*" or not one_key then
    for _, row in ipairs(group) do
      add(list, known, quoted(row.ip or ip or "IPv4", row.src or "*", row.dst or "*", row))
    end
    return
  end
  ip = ip or first.ip
  -- Both where neither the log nor a capture says which IP it is.
  for _, one in ipairs(ip and { ip } or { "IPv4", "IPv6" }) do
    add(list, known, quoted(one, "*", "*", first))
  end
end

-- esp_sa rows for `entries`. options.seen: what a capture is known to hold, SPI → { ip, packets }; only those
-- SPIs are written then, busiest first. options.user: text of the user's own table, whose rows are not
-- repeated. options.accepts_chacha. Returns { rows, rejected, unseen } (unseen: SPIs of the log that the
-- capture does not hold).
function rows.esp(entries, options)
  local rejected, list, known, unseen = {}, {}, lines_of(options.user), 0
  local order, groups = grouped(entries, options.accepts_chacha, rejected)
  local seen = options.seen
  if seen then
    table.sort(order, function(a, b)
      local in_a, in_b = seen[a] and seen[a].packets or 0, seen[b] and seen[b].packets or 0
      return in_a > in_b or in_a == in_b and groups[a].place < groups[b].place
    end)
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

-- Hex digits of AES keys; those of the other ciphers do not tell AES-192 from 3DES.
local AES_128, AES_256 = 32, 64

-- Returns the length of the key of phase 1's cipher, as far as the log tells: as long as the keys of its ESP SAs.
local function cipher_digits(entries)
  for _, entry in ipairs(entries) do
    if entry.kind == "esp" and not entry.status and #entry.enc_key >= AES_256 then
      return AES_256
    end
  end
  return AES_128
end

-- ikev1_decryption_table rows: unquoted, no 0x. The key must be one of the ciphers' lengths. Returns { rows, rejected,
-- opened } (opened: rows whose key is the beginning of SKEYID_e).
function rows.ike1(entries, options)
  local list, known, rejected, printed, opened = {}, lines_of(options.user), {}, {}, 0
  for _, entry in ipairs(entries) do
    if entry.kind == "ike1" then
      local fits = #entry.key == 16 or #entry.key == 32 or #entry.key == 48 or #entry.key == 64
      if fits and string.find(entry.key, "^%x+$") and string.find(entry.cookie, "^%x+$") and #entry.cookie == 16 then
        printed[entry.cookie] = true
        add(list, known, entry.cookie .. "," .. entry.key)
      else
        rejected[#rejected + 1] = { line = entry.line, reason = "cookie " .. tostring(entry.cookie) .. ": key length" }
      end
    end
  end
  local digits = cipher_digits(entries)
  for _, entry in ipairs(entries) do
    if entry.name == "skeyid_e" and entry.cookie and #entry.key >= digits and not printed[entry.cookie] then
      printed[entry.cookie] = true
      opened = opened + 1
      -- Ka, where SKEYID_e is at least as long, is its beginning (RFC 2409 appendix B); a longer one has to be derived.
      add(list, known, entry.cookie .. "," .. string.sub(entry.key, 1, digits))
    end
  end
  return { rows = list, rejected = rejected, opened = opened }
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
