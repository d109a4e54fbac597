-- `ip xfrm state` and `ip -t xfrm monitor`: blocks that begin with "src A dst B" and go on with indented lines.
-- Pure.

local hex = require("rekeyscope_hex")

local xfrm = {}

-- Linux kernel names → Wireshark's. The number is the truncation in bits that the line itself states.
local ENCRYPTION = {
  ["cbc(aes)"] = "AES-CBC [RFC3602]",
  ["rfc3686(ctr(aes))"] = "AES-CTR [RFC3686]",
  ["cbc(des3_ede)"] = "TripleDES-CBC [RFC2451]",
  ["cbc(des)"] = "DES-CBC [RFC2405]",
  ["cbc(cast5)"] = "CAST5-CBC [RFC2144]",
  ["cbc(blowfish)"] = "BLOWFISH-CBC [RFC2451]",
  ["cbc(twofish)"] = "TWOFISH-CBC",
  ["ecb(cipher_null)"] = "NULL",
  ["cipher_null"] = "NULL",
}
local AEAD = {
  ["rfc4106(gcm(aes)) 128"] = "AES-GCM with 16 octet ICV [RFC4106]",
  ["rfc4106(gcm(aes)) 96"] = "AES-GCM with 12 octet ICV [RFC4106]",
  ["rfc4106(gcm(aes)) 64"] = "AES-GCM with 8 octet ICV [RFC4106]",
  ["rfc7539esp(chacha20,poly1305) 128"] = "ChaCha20 with Poly1305 [RFC7634]",
}
local INTEGRITY = {
  ["hmac(sha1) 96"] = "HMAC-SHA-1-96 [RFC2404]",
  ["hmac(md5) 96"] = "HMAC-MD5-96 [RFC2403]",
  ["hmac(sha256) 96"] = "HMAC-SHA-256-96 [draft-ietf-ipsec-ciph-sha-256-00]",
  ["hmac(sha256) 128"] = "HMAC-SHA-256-128 [RFC4868]",
  ["hmac(sha384) 192"] = "HMAC-SHA-384-192 [RFC4868]",
  ["hmac(sha512) 256"] = "HMAC-SHA-512-256 [RFC4868]",
  ["hmac(rmd160) 96"] = "MAC-RIPEMD-160-96 [RFC2857]",
}
-- "auth" without "-trunc" names no length: the kernel's default for the algorithm.
local DEFAULT_BITS = {
  ["hmac(sha1)"] = "96", ["hmac(md5)"] = "96", ["hmac(sha256)"] = "96", ["hmac(sha384)"] = "192",
  ["hmac(sha512)"] = "256", ["hmac(rmd160)"] = "96", ["digest_null"] = "0",
}

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
  if not text or not string.find(text, "^0[xX]%x") then
    return nil
  end
  return hex.whole(text)
end

local READ = {}

READ["proto"] = function(block, rest)
  local proto, spi = string.match(rest, "^(%S+)%s+spi%s+(%S+)")
  block.proto = proto
  block.spi = spi and hex.spi(string.match(spi, "^[^%(]+"))
end

READ["enc"] = function(block, rest)
  local name, key = string.match(rest, "^(%S+)%s*(%S*)")
  block.enc = ENCRYPTION[name] or ("unknown: " .. tostring(name))
  block.enc_key = block.enc == "NULL" and "" or value_of_key(key)
  block.hidden = block.hidden or string.find(rest, "hidden", 1, true) ~= nil
end

READ["aead"] = function(block, rest)
  local name, key, bits = string.match(rest, "^(%S+)%s+(%S+)%s+(%d+)")
  block.enc = AEAD[tostring(name) .. " " .. tostring(bits)] or ("unknown: " .. tostring(name))
  block.enc_key = value_of_key(key)
  block.auth, block.auth_key = "NULL", ""
  block.hidden = block.hidden or string.find(rest, "hidden", 1, true) ~= nil
end

READ["auth-trunc"] = function(block, rest)
  local name, key, bits = string.match(rest, "^(%S+)%s+(%S+)%s+(%d+)")
  block.auth = INTEGRITY[tostring(name) .. " " .. tostring(bits)] or ("unknown: " .. tostring(name))
  block.auth_key = value_of_key(key)
  block.hidden = block.hidden or string.find(rest, "hidden", 1, true) ~= nil
end

READ["auth"] = function(block, rest)
  local name, key = string.match(rest, "^(%S+)%s*(%S*)")
  if name == "digest_null" then
    block.auth, block.auth_key = "NULL", ""
    return
  end
  block.auth = INTEGRITY[tostring(name) .. " " .. tostring(DEFAULT_BITS[name])] or ("unknown: " .. tostring(name))
  block.auth_key = value_of_key(key)
end

-- One indented line of a block. Lines that say nothing about the SA's keys are skipped.
function xfrm.detail(block, line)
  local word, rest = string.match(line, "^%s+(%S+)%s*(.*)$")
  local read = word and READ[word]
  if read then
    read(block, rest)
  end
end

-- A finished block as an entry. nil without a reason when it holds no ESP key by nature (an event without keys,
-- AH, a larval SA); nil and a reason when it should.
function xfrm.entry(block)
  if block.proto ~= "esp" or not block.spi or block.spi == "00000000" then
    return nil
  end
  if block.hidden then
    return { kind = "esp", format = "xfrm", src = block.src, dst = block.dst, spi = block.spi, status = "masked" }
  end
  if not block.enc and not block.auth then
    return nil
  end
  if not block.enc or not block.enc_key then
    return nil, "the block of SPI 0x" .. block.spi .. " has no readable encryption key"
  end
  if string.find(block.enc, "^unknown") then
    return nil, "encryption algorithm " .. block.enc
  end
  local auth, auth_key = block.auth or "NULL", block.auth_key
  if string.find(auth, "^unknown") then
    return nil, "authentication algorithm " .. auth
  end
  if block.auth and not auth_key then
    return nil, "the block of SPI 0x" .. block.spi .. " has no readable authentication key"
  end
  return {
    kind = "esp", format = "xfrm", src = block.src, dst = block.dst, spi = block.spi,
    enc = block.enc, enc_key = block.enc_key, auth = auth, auth_key = auth_key or "",
  }
end

return xfrm
