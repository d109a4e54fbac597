-- ESP transforms: one name for each, whatever the source calls it; key lengths; Wireshark's name. Pure.

local transforms = {}

local AES, WITH_SALT, WITH_CCM_SALT = { 16, 24, 32 }, { 20, 28, 36 }, { 19, 27, 35 }

-- name → { what sources call it (letters and digits, in lower case and without an "[RFC…]"), key lengths in bytes with
-- the salt, Wireshark's name (nil where it has none) }
local ENCRYPTION = {
  ["NULL"] = { "null ciphernull ecbciphernull", { 0 }, "NULL" },
  ["AES-CBC"] = { "aes aescbc cbcaes aes128 aes192 aes256 aes128cbc aes192cbc aes256cbc rijndael rijndaelcbc", AES,
    "AES-CBC [RFC3602]" },
  ["AES-CTR"] = { "aesctr rfc3686ctraes", WITH_SALT, "AES-CTR [RFC3686]" },
  ["AES-GCM-8"] = { "aesgcm8 aesgcmwith8octeticv", WITH_SALT, "AES-GCM with 8 octet ICV [RFC4106]" },
  ["AES-GCM-12"] = { "aesgcm12 aesgcmwith12octeticv", WITH_SALT, "AES-GCM with 12 octet ICV [RFC4106]" },
  -- Plain "AES-GCM [RFC4106]" takes the ICV for data when authentication is NULL (seen on 4.0).
  ["AES-GCM-16"] = { "aesgcm aesgcm16 aesgcmwith16octeticv rfc4106gcmaes", WITH_SALT,
    "AES-GCM with 16 octet ICV [RFC4106]" },
  ["AES-CCM-8"] = { "aesccm8", WITH_CCM_SALT },
  ["AES-CCM-12"] = { "aesccm12", WITH_CCM_SALT },
  ["AES-CCM-16"] = { "aesccm16 rfc4309ccmaes", WITH_CCM_SALT },
  ["AES-GMAC"] = { "aesgmac nullaesgmac rfc4543gcmaes", WITH_SALT },
  ["ChaCha20-Poly1305"] = { "chacha20poly1305 chacha20withpoly1305 rfc7539espchacha20poly1305", { 36 },
    "ChaCha20 with Poly1305 [RFC7634]" },
  ["3DES-CBC"] = { "tripledescbc 3des 3descbc des3 cbcdes3ede", { 24 }, "TripleDES-CBC [RFC2451]" },
  ["DES-CBC"] = { "des descbc cbcdes", { 8 }, "DES-CBC [RFC2405]" },
  ["Camellia-CBC"] = { "camellia camelliacbc cbccamellia", AES },
}

-- name → { what sources call it, key length in bytes, Wireshark's name, ICV bits }
local INTEGRITY = {
  ["none"] = { "null none digestnull", 0, "NULL", 0 },
  ["HMAC-MD5-96"] = { "md5 hmacmd5 hmacmd596", 16, "HMAC-MD5-96 [RFC2403]", 96 },
  ["HMAC-SHA1-96"] = { "sha1 hmacsha hmacsha1 hmacsha196", 20, "HMAC-SHA-1-96 [RFC2404]", 96 },
  ["HMAC-SHA2-256-96"] = { "hmacsha25696 hmacsha225696", 32, "HMAC-SHA-256-96 [draft-ietf-ipsec-ciph-sha-256-00]", 96 },
  ["HMAC-SHA2-256-128"] = { "sha256 hmacsha256 hmacsha2256 hmacsha256128 hmacsha2256128", 32,
    "HMAC-SHA-256-128 [RFC4868]", 128 },
  ["HMAC-SHA2-384-192"] = { "sha384 hmacsha384 hmacsha2384 hmacsha384192 hmacsha2384192", 48,
    "HMAC-SHA-384-192 [RFC4868]", 192 },
  ["HMAC-SHA2-512-256"] = { "sha512 hmacsha512 hmacsha2512 hmacsha512256 hmacsha2512256", 64,
    "HMAC-SHA-512-256 [RFC4868]", 256 },
  ["AES-XCBC-96"] = { "aesxcbc aesxcbcmac aesxcbc96 xcbcaes", 16, nil, 96 },
  ["AES-CMAC-96"] = { "aescmac aescmac96 cmacaes", 16, nil, 96 },
}

local function by_letters(known)
  local result = {}
  for name, row in pairs(known) do
    for spelling in string.gmatch(row[1], "%w+") do
      result[spelling] = name
    end
  end
  return result
end

local encryption_by_letters, integrity_by_letters = by_letters(ENCRYPTION), by_letters(INTEGRITY)

local function letters(text)
  return (string.lower(string.gsub(string.gsub(text, "%[.*$", ""), "[^%w]", "") .. ""))
end

-- The transform that a source's name means, or nil.
function transforms.encryption(text)
  return encryption_by_letters[letters(text)]
end

function transforms.integrity(text)
  return integrity_by_letters[letters(text)]
end

-- An AEAD of the kernel's, whose ICV length stands apart.
function transforms.with_icv_bits(name, bits)
  local octets = bits == "64" and "8" or bits == "96" and "12" or "16"
  if name and (string.find(name, "^AES%-GCM") or string.find(name, "^AES%-CCM")) then
    return string.sub(name, 1, 8) .. octets
  end
  return name
end

function transforms.is_aead(name)
  return string.find(name, "^AES%-[GC]CM") ~= nil or name == "AES-GMAC" or name == "ChaCha20-Poly1305"
end

function transforms.fits_encryption(name, digits)
  local known = ENCRYPTION[name]
  for _, length in ipairs(known and known[2] or {}) do
    if #digits == 2 * length then
      return true
    end
  end
  return false
end

function transforms.fits_integrity(name, digits)
  local known = INTEGRITY[name]
  return known ~= nil and #digits == 2 * known[2]
end

-- Longest HMAC key that is tried: the block of SHA-512. A longer one is hashed before use, so nobody makes it.
local LONGEST_HMAC_KEY = 128

-- Tells whether an HMAC's key has a length that its RFC for IPsec does not know: HMAC takes any (RFC 2104), and the
-- packets decide.
function transforms.is_unusual(name, digits)
  return string.find(name, "^HMAC") ~= nil and #digits > 0 and #digits <= 2 * LONGEST_HMAC_KEY
    and not transforms.fits_integrity(name, digits)
end

local USUAL = { "AES-CBC", "AES-GCM-16", "3DES-CBC", "ChaCha20-Poly1305", "AES-CCM-16", "DES-CBC" }
local USUAL_INTEGRITY = {
  "none", "HMAC-SHA1-96", "HMAC-SHA2-256-128", "HMAC-MD5-96", "HMAC-SHA2-384-192", "HMAC-SHA2-512-256",
}

-- Transforms that the key lengths allow where the log names none: a list of { encryption, integrity }.
function transforms.plausible(enc_key, auth_key)
  local pairs_found = {}
  for _, name in ipairs(USUAL) do
    for _, auth in ipairs(transforms.fits_encryption(name, enc_key) and USUAL_INTEGRITY or {}) do
      if transforms.fits_integrity(auth, auth_key) and (auth == "none" or not transforms.is_aead(name)) then
        pairs_found[#pairs_found + 1] = { name, auth }
      end
    end
  end
  return pairs_found
end

-- Returns the place at which one SA's whole KEYMAT divides: the digits of the encryption key, which comes first (RFC
-- 2409 §5.5); nil when the length fits no pair of transforms.
function transforms.keymat_split(digits)
  for _, auth in ipairs({ "HMAC-SHA1-96", "HMAC-SHA2-256-128" }) do
    local split = #digits - 2 * INTEGRITY[auth][2]
    if split > 0 and transforms.fits_encryption("AES-CBC", string.sub(digits, 1, split)) then
      return split
    end
  end
  return nil
end

-- Wireshark's names and the ICV's length in bits.
function transforms.wireshark_encryption(name)
  return ENCRYPTION[name] and ENCRYPTION[name][3]
end

function transforms.wireshark_integrity(name)
  local known = INTEGRITY[name]
  return known and known[3], known and known[4]
end

return transforms
