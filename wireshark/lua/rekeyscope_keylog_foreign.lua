-- Names the formats that the program reads and the plugin does not. Pure.

local foreign = {}

-- A row is { name, its words in a sentence, literals of which one shows it }.
local FORMATS = {
  { "charon", "a strongSwan log", { "bytes @ 0x", "charon: ", "charon-systemd", "[CHD] " } },
  { "pluto", "a log of pluto (Libreswan, Openswan)",
    { "| enc key:", "| ESP ", "|   KEYMAT", "| our  keymat:", "ICOOKIE:", "ESP encrypt key:", "pluto[" } },
  { "racoon", "a racoon log", { ": DEBUG: ", "racoon: ", "oakley.c:" } },
  { "setkey", "output or input of setkey",
    { "esp mode=", "E: aes-cbc", "E: 3des-cbc", "esp-udp mode=", "E: aes-gcm", "-E aes-cbc", "-E rijndael-cbc",
      "-E 3des-cbc", "-E aes-gcm" } },
  { "tcpdump", "a secrets file of tcpdump -E", { "-hmac96:0x", "-cbc:0x" } },
  { "FortiOS", "output of FortiOS",
    { " esp=aes", " esp=3des", " esp=null", "ah=sha", "ike -1", " key 16:", " key 24:", " key 32:", "SK_ei 16:",
      "SK_ei 32:" } },
  { "MikroTik", "output of MikroTik RouterOS", { "enc-key=", "auth-key=", "enc-algorithm=" } },
  { "DPDK", "a configuration of DPDK's ipsec-secgw", { "cipher_algo ", "aead_algo " } },
  { "VPP", "output of VPP", { "crypto-key ", "crypto alg ", "integ-key " } },
  { "scapy", "a script for scapy", { "crypt_key=", "SecurityAssociation(" } },
}

local OTHER_END = "take them from the other end of the tunnel"

-- Texts that never hold a key: the name, a sentence on where keys are, literals of which one shows it.
local KEYLESS = {
  { "Windows' `Get-NetIPsecQuickModeSA`", "Windows shows no IPsec keys at all: " .. OTHER_END,
    { "NetIPsecQuickModeSA", "NetIPsecMainModeSA", "MSFT_NetQuickModeSA", "TransportLayerFilterName" } },
  { "Windows' `netsh wfp show state`", "Windows shows no IPsec keys at all: " .. OTHER_END,
    { "netsh wfp", "<wfpstate", "<wfpdiag", "<saContexts", "<ikeSaDb>" } },
  { "Cisco's `show crypto ipsec sa` or its debug log", "IOS and ASA print no keys: " .. OTHER_END,
    { "Crypto map tag:", "#pkts encaps:", "current outbound spi:", "IPSEC(create_sa)", "ISAKMP:(" } },
  { "Android's `dumpsys ipsec`", "Run `ip xfrm state` as root on the device, or " .. OTHER_END,
    { "IpSecService dump", "mKey=<hidden>", "TransformRecord" } },
}

foreign.KEYLESS = {}
for _, known in ipairs(KEYLESS) do
  foreign.KEYLESS[known[1]] = known[2]
end

-- Lua cannot unpack these; their first bytes show them.
local CONTAINERS = {
  { "gzip", "compressed with gzip", "^\31\139\8" }, { "zstd", "compressed with zstd", "^%(\181\47\253" },
  { "zstd", "compressed with zstd", "^[P-_]%*M\24" }, { "zip", "a zip archive", "^PK\3\4" },
  { "JSON", "a text in JSON", '^%s*%[?%s*{%s*"' }, { "JSON", "a text in JSON", '^%s*%[?%s*"[^"]*[^\\]\\[nt]' },
  { "xz", "compressed with xz", "^\2537zXZ%z" }, { "bzip2", "compressed with bzip2", "^BZh%d1AY" },
}

-- A format's words in a sentence.
foreign.CALLED = {
  ikev2 = "has rows of ikev2_decryption_table", derivation = "has what keys are derived from",
  folder = "a folder of logs",
}
for _, list in ipairs({ FORMATS, CONTAINERS }) do
  for _, known in ipairs(list) do
    foreign.CALLED[known[1]] = known[2]
  end
end

-- Returns the container of those bytes, or nil.
function foreign.container(bytes)
  for _, known in ipairs(CONTAINERS) do
    if string.find(bytes, known[3]) then
      return known[1]
    end
  end
  return nil
end

local function shows(text, literals)
  for _, literal in ipairs(literals) do
    if string.find(text, literal, 1, true) then
      return true
    end
  end
  return false
end

-- A text's beginning tells what it is.
local SAMPLE = 1000000

-- Returns the names of a list that a text shows.
local function shown(list, whole)
  local names, text = {}, string.sub(whole, 1, SAMPLE)
  for _, known in ipairs(list) do
    if shows(text, known[3]) then
      names[#names + 1] = known[1]
    end
  end
  return names
end

-- Returns the names of the formats in a text.
function foreign.formats(text)
  return shown(FORMATS, text)
end

-- Returns the name of a text that never holds a key, or nil.
function foreign.keyless(text)
  return shown(KEYLESS, text)[1]
end

return foreign
