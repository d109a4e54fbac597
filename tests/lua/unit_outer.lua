-- unit_outer.lua: the three formats that the plugin reads by itself, in the ways people copy them. Runs under every Lua.

local check = require("check")
local keylog = require("rekeyscope_keylog")

local ENC, AUTH = "49765da92b65534e26bc4455e3193516", "c46a3078f54d0c0b4734e16c7ea45d1d6efcdaea"
local SPACED_ENC = "49 76 5d a9 2b 65 53 4e 26 bc 44 55 e3 19 35 16"
local SPACED_AUTH = "c4 6a 30 78 f5 4d 0c 0b 47 34 e1 6c 7e a4 5d 1d 6e fc da ea"

local TEXTS = {
  router = {
    "2026/11/20 20:11:53: [IKE] GW:1/SA:2/IPSEC SPI: c7 df 96 8a",
    "2026/11/20 20:11:53: [IKE] GW:1/SA:2/IPSEC encryption key: " .. SPACED_ENC,
    "2026/11/20 20:11:53: [IKE] GW:1/SA:2/IPSEC authentication key: " .. SPACED_AUTH,
    "2026/11/20 20:11:54: [L2TP] TUNNEL[1] connected from 10.9.0.2",
  },
  esp_sa = {
    '"IPv4","10.9.0.1","10.9.0.2","0xc7df968a","AES-CBC [RFC3602]","0x' .. ENC .. '","HMAC-SHA-1-96 [RFC2404]","0x' .. AUTH .. '"',
  },
  xfrm = {
    "src 10.9.0.1 dst 10.9.0.2", "\tproto esp spi 0xc7df968a reqid 1 mode transport",
    "\treplay-window 0 seq 0x00000000 flag af-unspec (0x00100000)",
    "\tauth-trunc hmac(sha1) 0x" .. AUTH .. " 96", "\tenc cbc(aes) 0x" .. ENC, "\tsel src 10.9.0.1/32 dst 10.9.0.2/32 ",
  },
}

local function is_read(text, what)
  local entries = keylog.parse(text).entries
  local entry = entries[1] or {}
  check.equal(#entries .. " " .. tostring(entry.spi) .. " " .. tostring(entry.enc_key) .. " " .. tostring(entry.auth_key),
    "1 c7df968a " .. ENC .. " " .. AUTH, what)
end

local function lines(change, ending)
  return function(format)
    local changed = {}
    for index, line in ipairs(TEXTS[format]) do
      changed[index] = change(line, index)
    end
    return table.concat(changed, ending or "\n") .. "\n"
  end
end

local function prefixed(prefix)
  return lines(function(line)
    return prefix .. line
  end)
end

-- Another sign for one of ASCII's.
local function signs(from, to)
  return lines(function(line)
    return (string.gsub(line, from, to))
  end)
end

local function full_width(char)
  local code = string.byte(char) - 32
  return code < 64 and "\239\188" .. string.char(128 + code) or "\239\189" .. string.char(64 + code)
end

local WAYS = {
  plain = prefixed(""), mail = prefixed("> "), ["mail twice"] = prefixed(">> "), ["mail in a mail"] = prefixed("> > "),
  ["four blanks"] = prefixed("    "), ["a table's bar"] = prefixed("| "),
  ["grep -rn"] = lines(function(line, index)
    return "/var/log/keys.log:" .. index .. ":" .. line
  end),
  ["grep -n"] = lines(function(line, index)
    return index .. ":" .. line
  end),
  ["grep -r"] = prefixed("./keys.log:"),
  ["cat -n"] = lines(function(line, index)
    return string.format("%6d\t%s", index, line)
  end),
  ["grep in a mail"] = lines(function(line, index)
    return "> keys.log:" .. index .. ":" .. line
  end),
  ["no-break spaces"] = signs(" ", "\194\160"), ["full-width"] = signs("[%w\"]", full_width),
  ["typographic quotes"] = signs('"', "\226\128\156"), colours = signs("(%x%x)", "\27[01;31m\27[K%1\27[m\27[K"),
  ["line ends of rsyslog"] = function(format)
    return "gw " .. string.rep("x", 3) .. "#012" .. lines(function(line)
      return line
    end, "#012")(format)
  end,
  ["noise of FF FE"] = function(format)
    return "\255\254\128\n" .. prefixed("")(format)
  end,
  CRLF = lines(function(line)
    return line
  end, "\r\n"),
}
for way, made in pairs(WAYS) do
  check.begin(way)
  for format in pairs(TEXTS) do
    is_read(made(format), format)
  end
end

-- A policy that was pasted below an SA is none of it; where blanks were lost, the words tell.
check.begin("pasted")
is_read(prefixed("")("xfrm") .. "# ip xfrm policy\nsrc 10.9.0.1/32 dst 10.9.0.2/32 \n\tdir in priority 0 \n"
  .. "\ttmpl src 10.9.0.1 dst 10.9.0.2\n\t\tproto esp reqid 1 mode transport\n", "a policy")
is_read(lines(function(line)
  return (string.gsub(line, "^%s+", ""))
end)("xfrm"), "no blanks")

-- A terminal breaks a line at its width, wherever that falls, tabs as blanks.
local function wrapped(text, width)
  local broken = {}
  for line in string.gmatch(string.gsub(text, "\t", "        "), "[^\n]+") do
    for at = 1, #line, width do
      broken[#broken + 1] = string.sub(line, at, at + width - 1)
    end
  end
  return table.concat(broken, "\n") .. "\n"
end
check.begin("wrapped")
for format, least in pairs({ router = 60, esp_sa = 20, xfrm = 40 }) do
  for width = least, 170 do
    is_read(wrapped(prefixed("")(format), width), format .. " at " .. width)
  end
end

check.begin("xfrm")
local XFRM = prefixed("")("xfrm")
is_read((string.gsub(string.gsub(XFRM, ENC, "%0 (128 bits)"), AUTH, "%0 (160 bits)")), "ip -s")
is_read((string.gsub(XFRM, "\n\t", "\\\t")), "ip -o")
is_read(XFRM .. "Thanks\n", "words behind it")
check.equal(#keylog.parse(XFRM .. "33acac7650479d9d,55a51cd0eafb9c978dae059e95a333e0\n").entries, 2, "an IKE key behind it")
is_read("root@gw:~# ip xfrm state\n" .. XFRM .. "root@gw:~# \n", "prompts")

check.begin("tables")
is_read((string.gsub(prefixed("")("esp_sa"), ",", ";")), "of a spreadsheet")
local old = keylog.parse('"IPv4","*","*","0xc7df968a","AES-GCM [RFC4106]","0x' .. AUTH .. '","ANY 128 bit authentication [No Checking]",""')
check.equal(old.entries[1] and old.entries[1].enc .. old.entries[1].auth, "AES-GCM-16none", "names before 3.6")

check.begin("router")
local ROWS = {
  "2026/11/20 20:11:53: [IKE] SPI: c7 df 96 8a", "2026/11/20 20:11:53: [IKE] encryption key: " .. SPACED_ENC,
  "2026/11/20 20:11:53: [IKE] authentication key: " .. SPACED_AUTH,
  "2026/11/20 20:11:53: [IKE] c0 21 01 01 00 0e 01 04  05 ae 05 06 c0 7f 33 92",
}
is_read(table.concat(ROWS, "\n"), "a dump behind a complete value")
ROWS[3] = "encryption key: 1234\n" .. ROWS[3]
is_read(table.concat(ROWS, "\n"), "noise with a label")
for _, host in ipairs({ "192.0.2.1", "router1" }) do
  local before = "2026-11-20T20:11:53.732273+09:00 " .. host .. " "
  is_read(before .. "SPI: c7 df 96 8a\n" .. before .. "encryption key:\n" .. before .. "  " .. SPACED_ENC .. "\n" .. before
    .. "authentication key:\n" .. before .. "  " .. string.sub(SPACED_AUTH, 1, 47) .. "\n" .. before .. "  "
    .. string.sub(SPACED_AUTH, 49) .. "\n", "a host before every row: " .. host)
end

check.finish("unit_outer")
