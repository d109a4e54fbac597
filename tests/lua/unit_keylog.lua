-- unit_keylog.lua: the parsers of key logs, on fixtures. Runs under every Lua.

local check = require("check")
local foreign = require("rekeyscope_keylog_foreign")
local framing = require("rekeyscope_keylog_framing")
local labels = require("rekeyscope_keylog_labels")
local keylog = require("rekeyscope_keylog")
local rows = require("rekeyscope_rows")
local table_format = require("rekeyscope_keylog_table")

---------------------------------------------------------------------------------------------------- labels

check.begin("labels")
for _, text in ipairs({
  "SKEYID_e: b0 16 81 21 5f 16 20 23", "skeyid_e = 0xB01681215F162023", "SKEYID_e(8)b0168121 5f162023",
  "SKEYID e (8 bytes): b0168121 5f162023 ok", "SKEYID_e b0:16:81:21:5f:16:20:23", "SKEYID-e b0-16-81-21-5f-16-20-23",
  "12:01:34 SKEYID_e 64: b0 16 81 21 5f 16 20 23",
}) do
  local run = labels.next_run(text, 1)
  check.equal(run and run.kind .. " " .. run.digits, "skeyid_e b01681215f162023", text)
end
check.equal(labels.next_run("respond IPsec phase to 200.1.1.1 (local address 100.1.1.1)", 1), nil, "no hex")
for label, wanted in pairs({
  ["ESP encryption key (AES-CBC)"] = "enc", ["IKE enc key"] = "ka", ["enckey"] = "enc", ["Integrity Key"] = "auth",
  ["Initiator cookie"] = "icookie", ["R_COOKIE"] = "rcookie", ["SK_ei"] = "sk_ei", ["IV"] = "none",
  ["authenticator key[20]"] = "auth",
}) do
  check.equal(labels.kind(label), wanted, label)
end
check.equal(labels.kind("whatever"), nil, "whatever")
check.equal(labels.kind("DH shared secret") .. labels.kind("pre-shared key") .. labels.kind("(for Auth."), "sharedkeyauth", "words")
check.truth(labels.continuation("0x2b655300", 2, 8, true), "rows may begin with 0x")
check.equal(labels.continuation("0x2b655300", 2, 8, nil), nil, "where the others do")
check.truth(labels.continuation("2b 65 53", 2, 8), "hex goes on")
check.truth(labels.continuation("5 2b 65 53", 2, 7), "half a byte goes on")
check.equal(labels.continuation("be sure to", 2, 8), nil, "words do not")
check.equal(labels.continuation("SPI: 12345678", 2, 8), nil, "a label does not")
check.equal(labels.continuation("2b 65 auth key: 11", 2, 8).after, 6, "the next label ends it")

check.begin("framing")
for line, wanted in pairs({
  ["2018/10/25 15:46:26: [IKE] GW:*/SA:4/INIT receive message:"] = "receive message:||4|ike",
  ["<15>1 2018-10-25T15:46:26Z gw - - - - [IKE] SA:5/IKE established"] = "established|gw|5|ike",
  ["Oct 25 15:46:26 192.0.2.1 [IKE2] SA:5/IKE established"] = "established|Oct 192.0.2.1|5|ike",
  ["2018/10/22 14:43:29: [L2TP] TUNNEL[1] connected"] = "TUNNEL[1] connected||nil|other",
  ["plain text"] = "plain text||nil|nil",
  ["1 2018-10-25T15:46:26.1Z - ike - - - [IKE] SA:5/IKE established"] = "established|ike|5|ike",
  ["1 2018-10-25T15:46:26Z - - - [a@1 b=\" c\"][d@2 e=\"f\"] [IKE] x"] = "x|a@1 b=\" c\"][d@2 e=\"f\"]|nil|ike",
  ["2018-10-25 15:46:26.123 +0900 x"] = "x||nil|nil", ["[2018-10-25 15:46:26] x"] = "x||nil|nil",
  ["Oct 25 15:46:26 192.0.2.1 rtlog[12]: x"] = "x|Oct 192.0.2.1 rtlog[12]|nil|nil",
}) do
  local read = framing.read(line)
  local got = table.concat({ read.text, string.gsub(read.sender, "^1 .* gw .*$", "gw"), tostring(read.context), tostring(read.tag) },
    "|")
  check.equal(got, wanted, line)
end

---------------------------------------------------------------------------------------------------- tables

-- What one line alone gives: an entry, or nil and why not.
local function parse_line(line)
  local parsed = keylog.parse(line)
  local problem = parsed.problems[1]
  return parsed.entries[1], parsed.unsupported[1] and "unsupported: " .. parsed.unsupported[1] or problem and problem.reason
end

check.begin("esp_sa")
local ROW = '"IPv4","203.0.113.1","198.51.100.2","0x2265b1f5","AES-CBC [RFC3602]","0x000102030405060708090a0b0c0d0e0f",'
  .. '"HMAC-SHA-1-96 [RFC2404]","0x000102030405060708090a0b0c0d0e0f10111213"'
local entry = parse_line(ROW)
check.equal(entry and entry.spi, "2265b1f5", "SPI")
check.equal(entry and entry.dst, "198.51.100.2", "destination")
check.equal(parse_line(ROW .. ',"64-bit","0"').spi, "2265b1f5", "10 columns of newer versions")
check.equal(parse_line('"IPv4","*","*","573944309","NULL","","NULL",""').spi, "2235b1f5", "decimal SPI")
check.equal(parse_line('"IPv4","*","*","*","NULL","","NULL",""').spi, "*", "any SPI")
for line, reason in pairs({
  ['"IPv4","a","b"'] = "columns", ['"IPv4","a'] = "quote", [string.gsub(ROW, "0x0001", "0xzz01")] = "hexadecimal",
  [string.gsub(ROW, "0x2265b1f5", "4294967296")] = "SPI",
}) do
  local got, why = parse_line(line)
  check.equal(got, nil, line)
  check.truth(why and string.find(why, reason), "reason of " .. line .. ": " .. tostring(why))
  check.truth(not string.find(tostring(why), "0b0c0d", 1, true), "no key in a reason")
end
local cookie = parse_line("33ACAC7650479D9D,55a51cd0eafb9c978dae059e95a333e0")
check.equal(cookie.kind .. cookie.cookie, "ike133acac7650479d9d", "ikev1_decryption_table")
check.equal(select(2, parse_line("e9db428d215e5c2c,940f4d4729323447,00,00,\"NULL\",,,\"NONE\"")),
  "unsupported: ikev2", "ikev2_decryption_table")
check.equal(table.concat(table_format.columns('"a" , b,"c,d",'), "|"), "a|b|c,d|", "columns")

---------------------------------------------------------------------------------------------------- xfrm

check.begin("xfrm")
local XFRM = [[
[2026-11-20T20:11:53.874136] Updated src 10.9.0.1 dst 10.9.0.2
	proto esp spi 0xc7df968a reqid 1 mode transport
	auth-trunc hmac(sha1) 0xc46a3078f54d0c0b4734e16c7ea45d1d6efcdaea 96
	enc cbc(aes) 0x49765da92b65534e26bc4455e3193516
	sel src 10.9.0.1/32 dst 10.9.0.2/32
[2026-11-20T20:12:01.708985] Expired src 10.9.0.1 dst 10.9.0.2
	proto esp spi 0xc7df968a reqid 1 mode transport
	hard 0
src 10.9.0.1/32 dst 10.9.0.2/32
	dir out priority 366847
src 2001:db8::1 dst 2001:db8::2
	proto esp spi 0x00000102(258) reqid 1(0x00000001) mode tunnel
	aead rfc4106(gcm(aes)) 0xc52123756220f5f8c03c057042d68d57b5cecca2 128
src 10.0.0.1 dst 10.0.0.2
	proto ah spi 0x00000103 reqid 1 mode tunnel
	auth-trunc hmac(sha1) 0xc46a3078f54d0c0b4734e16c7ea45d1d6efcdaea 96
src 10.0.0.1 dst 10.0.0.2
	proto esp spi 0x00000104 reqid 1 mode tunnel
	enc cbc(serpent) 0xc46a3078f54d0c0b4734e16c7ea45d1d6efcdaea
src 10.0.0.1 dst 10.0.0.2
	proto esp spi 0x00000105 reqid 1 mode tunnel
	auth-trunc hmac(sha256) <<Keys hidden>> 128
	enc cbc(aes) <<Keys hidden>>
]]
local parsed = keylog.parse(XFRM)
check.equal(#parsed.entries, 3, "entries")
check.equal(parsed.entries[1].auth_key, "c46a3078f54d0c0b4734e16c7ea45d1d6efcdaea", "authentication key")
check.equal(parsed.entries[2].enc, "AES-GCM-16", "GCM")
check.equal(parsed.entries[2].src, "2001:db8::1", "IPv6")
check.equal(parsed.entries[3].status, "masked", "hidden keys")
check.equal(#parsed.problems, 2, "problems: an unknown cipher, hidden keys")
check.truth(string.find(parsed.problems[1].reason, "serpent"), "an unknown cipher is named")
check.equal(parsed.problems[1].line, 19, "line of the problem")

---------------------------------------------------------------------------------------------------- NVR

check.begin("NVR")
local NVR = {
  "2018/10/25 15:46:26: [IKE] GW:1/SA:4/IPSEC receive SPI: a6 67 47 47",
  "2018/10/25 15:46:26: [IKE] GW:1/SA:4/IPSEC encryption key: 00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f",
  "2018/10/25 15:46:26: [IKE] GW:1/SA:4/IPSEC authentication key: 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f",
  "2018/10/25 15:46:26: [IKE]   10 11 12 13",
  "2018/10/25 15:46:27: [L2TP] TUNNEL[1] connected from 198.51.100.7",
}
local function nvr_check(text, what)
  local result = keylog.parse(text)
  local got = result.entries[1] or {}
  check.equal(#result.entries, 1, what .. ": entries")
  check.equal(got.spi, "a6674747", what .. ": SPI")
  check.equal(got.enc_key, "000102030405060708090a0b0c0d0e0f", what .. ": encryption key")
  check.equal(got.auth_key, "000102030405060708090a0b0c0d0e0f10111213", what .. ": authentication key")
end
nvr_check(table.concat(NVR, "\n"), "show log")
nvr_check(table.concat(NVR, "\r\n") .. "\r\n", "CRLF")
local function each(change)
  local changed = {}
  for index, line in ipairs(NVR) do
    changed[index] = change(line, index)
  end
  return table.concat(changed, "\n")
end
nvr_check(each(function(line) return "<15>" .. line end), "PRI")
nvr_check(each(function(line) return "Oct 25 15:46:26 192.0.2.1 " .. line end), "RFC 3164")
nvr_check(each(function(line) return "<15>1 2018-10-25T15:46:26Z gw - - - - " .. line end), "RFC 5424")
nvr_check(each(function(line) return (string.gsub(line, "^[^%[]*", "<15>")) end), "UDP syslog without times")
nvr_check(each(function(line)
  return (string.gsub(line, "(%x%x) (%x%x) (%x%x) (%x%x) ?", "%1%2%3%4 "))
end), "groups of four")
local reversed = {}
for index, line in ipairs(NVR) do
  -- The fourth line is the rest of the third.
  reversed[#NVR + 1 - index] = (string.gsub(line, "15:46:2%d", "15:46:2" .. (index == 4 and 3 or index)))
end
nvr_check(table.concat(reversed, "\n"), "show log reverse")
nvr_check(each(function(line) return (string.gsub(line, ": ", ":\0 ", 1)) .. "\0" end), "NUL bytes")
nvr_check(table.concat(NVR, "\r"), "CR alone")
nvr_check(table.concat(NVR, "\n") .. "\n2018/10/25 15:46:49:   c0 21 01 01 00 0e 01 04", "a dump that comes later")
for what, pattern in pairs({ ["UTF-16LE"] = "%0\0", ["UTF-16BE"] = "\0%0" }) do
  nvr_check((string.gsub(table.concat(NVR, "\r\n"), ".", function(byte)
    return (string.gsub(pattern, "%%0", byte == "%" and "%%" or byte))
  end)), what)
end
check.equal(select(2, parse_line("\31\139\8\0 anything")), "unsupported: gzip", "compressed")
nvr_check("nvr510> show log\n" .. table.concat(NVR, "\n---more---\n") .. "\nnvr510>", "console noise")
local SHOW = [[
SA[1] Duration: 10675s
Local ID: 192.0.2.1
Remote ID: 198.51.100.7
Protocol: IKE
Algorithm: AES-CBC, SHA-1, MODP 1024bit

SPI: 6b ce fd 8a d5 30 9b 02 0c f3 87 52 4a 87 6e 77 
Key: ** ** ** ** **  (confidential)   ** ** ** ** **
----------------------------------------------------
SA[2] Duration: 1719s
Direction: send
Protocol: ESP (Mode: transport)
Algorithm: AES-CBC (for Auth.: HMAC-SHA)
SPI: a6 67 47 47 
Key: KEY
----------------------------------------------------
]]
parsed = keylog.parse((string.gsub(SHOW, "KEY", "** ** ** ** **  (confidential)   ** ** ** ** **")))
check.equal(parsed.entries[1] and parsed.entries[1].status, "masked", "masked keys of show ipsec sa")
check.equal(#parsed.entries, 1, "masked entries")
local key36 = "000102030405060708090a0b0c0d0e0f" .. "000102030405060708090a0b0c0d0e0f10111213"
parsed = keylog.parse((string.gsub(SHOW, "KEY", (string.gsub(key36, "%x%x", "%0 ")))))
check.equal(#parsed.entries .. parsed.entries[1].enc_key, "1" .. string.sub(key36, 1, 32), "serial console")
local derived = keylog.parse("2018/10/25 15:46:26: [IKE] SKEYID_d: 00 01 02 03 04 05 06 07")
check.equal(derived.entries[1].kind .. " " .. derived.unsupported[1], "secret derivation", "SKEYID is no row")
check.equal(#rows.esp(derived.entries, {}).rows + #rows.ike1(derived.entries, {}).rows, 0, "and makes none")

---------------------------------------------------------------------------------------------------- other formats

check.begin("unsupported")
for line, name in pairs({
  ["0x12345678@1.2.3.4 aes128-cbc-hmac96:0x00112233"] = "tcpdump",
  ["| enc key:  44 9e 82 9e  a9 66 d4 21"] = "pluto", ["    dec: spi=24c2ab68 esp=aes key=16 3de8"] = "FortiOS",
  ["    dec: spi=24c2ab68 esp=aes-gcm key=20 3de8"] = "FortiOS",
  ["\tE: aes-cbc  7575d5cc 7575d5cc 7575d5cc 7575d5cc"] = "setkey",
  ['spi=0xE841441 enc-algorithm=aes-cbc auth-key="00" enc-key="00"'] = "MikroTik",
  ["09[CHD] <lab|1> encryption initiator key => 16 bytes @ 0x54006120"] = "charon",
  ["koala charon-systemd[3747]:    0: 3C 48 0C 53 AB 7D 94 29 54 75 2D F9 33 F5 68 07"] = "charon",
  ["2026-11-20 20:11:53: DEBUG: SKEYID computed:"] = "racoon", ["PK\3\4rest"] = "zip", ["\253" .. "7zXZ\0rest"] = "xz",
  ["sa in 3353319050 cipher_algo aes-128-cbc cipher_key 49:76"] = "DPDK",
}) do
  check.equal(select(2, parse_line(line)), "unsupported: " .. name, line)
end
-- Of a daemon's log nothing is guessed; beside a router's lines those are read.
local DAEMON = "09[CHD] adding inbound ESP SA\n09[CHD]   SPI 0xc7df968a, src 10.9.0.1 dst 10.9.0.2\n"
  .. "09[CHD] encryption key => 16 bytes @ 0x1\n09[CHD]    0: 3C 48 0C 53 AB 7D 94 29 54 75 2D F9 33 F5 68 07\n"
check.equal(#keylog.parse(DAEMON).entries, 0, "a daemon's log")
nvr_check(DAEMON .. table.concat(NVR, "\n") .. "\n" .. DAEMON, "a router's log between a daemon's")
check.equal(#keylog.parse({ table.concat(NVR, "\n"), table.concat(NVR, "\n") }).entries, 1, "two texts")
local hidden = keylog.parse("src 10.9.0.1 dst 10.9.0.2\n\tproto esp spi 0xc7df968a mode transport\n\tenc cbc(aes) <<Keys hidden>>\n")
check.truth(string.find(hidden.problems[1].reason, "as root, without `nokeys`"), "hidden keys: what to do")

-- Texts that never hold a key.
for text, name in pairs({
  ["    Crypto map tag: CMAP, local addr 10.9.0.2\n     current outbound spi: 0xC06E0F04(3228438276)\n"] = "Cisco",
  ["PS C:\\> Get-NetIPsecQuickModeSA\nInboundSpi : 3353319050\n"] = "QuickModeSA",
  ["<wfpstate>\n<saContexts numItems=\"1\">\n<spi>3353319050</spi>\n"] = "netsh wfp",
  ["IpSecService dump:\nTransformRecord: mKey=<hidden>\n"] = "dumpsys ipsec",
}) do
  local told = keylog.parse(text)
  local called = told.unsupported[1]
  check.truth(#told.entries == 0 and called and string.find(called, name, 1, true), name)
  check.truth(called and string.find(foreign.KEYLESS[called], "other end", 1, true), name .. ": where keys are")
end

check.finish("unit_keylog")
