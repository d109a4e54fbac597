-- unit.lua ROOT: the pure modules. Runs under every Lua.

local check = require("check")
local corpus = require("corpus")
local labels = require("rekeyscope_keylog_labels")
local outer = require("rekeyscope_keylog_outer")
local keylog = require("rekeyscope_keylog")
local rows = require("rekeyscope_rows")
local sa = require("rekeyscope_sa")
local report = require("rekeyscope_report")
local source = require("rekeyscope_source")
local store = require("rekeyscope_store")
local table_format = require("rekeyscope_keylog_table")
local transforms = require("rekeyscope_transforms")

local root = arg[1]

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
check.truth(labels.continuation("2b 65 53", 2, false), "hex goes on")
check.truth(labels.continuation("5 2b 65 53", 2, true), "half a byte goes on")
check.equal(labels.continuation("be sure to", 2, false), nil, "words do not")
check.equal(labels.continuation("SPI: 12345678", 2, false), nil, "a label does not")
check.equal(labels.continuation("2b 65 auth key: 11", 2, false).after, 6, "the next label ends it")

check.begin("framing")
for line, wanted in pairs({
  ["2018/10/25 15:46:26: [IKE] GW:*/SA:4/INIT receive message:"] = "receive message:||4|ike",
  ["<15>1 2018-10-25T15:46:26Z gw - - - - [IKE] SA:5/IKE established"] = "established|gw|5|ike",
  ["Oct 25 15:46:26 192.0.2.1 [IKE2] SA:5/IKE established"] = "established|Oct 192.0.2.1|5|ike",
  ["2018/10/22 14:43:29: [L2TP] TUNNEL[1] connected"] = "TUNNEL[1] connected||nil|other",
  ["plain text"] = "plain text||nil|nil",
}) do
  local read = outer.read(line)
  local got = table.concat({ read.text, string.gsub(read.sender, "^1 .* gw .*$", "gw"), tostring(read.context), tostring(read.tag) },
    "|")
  check.equal(got, wanted, line)
end

---------------------------------------------------------------------------------------------------- tables

check.begin("esp_sa")
local ROW = '"IPv4","203.0.113.1","198.51.100.2","0x2265b1f5","AES-CBC [RFC3602]","0x000102030405060708090a0b0c0d0e0f",'
  .. '"HMAC-SHA-1-96 [RFC2404]","0x000102030405060708090a0b0c0d0e0f10111213"'
local entry = keylog.parse_line(ROW)
check.equal(entry and entry.spi, "2265b1f5", "SPI")
check.equal(entry and entry.dst, "198.51.100.2", "destination")
check.equal(keylog.parse_line(ROW .. ',"64-bit","0"').spi, "2265b1f5", "10 columns of newer versions")
check.equal(keylog.parse_line('"IPv4","*","*","573944309","NULL","","NULL",""').spi, "2235b1f5", "decimal SPI")
check.equal(keylog.parse_line('"IPv4","*","*","*","NULL","","NULL",""').spi, "*", "any SPI")
for line, reason in pairs({
  ['"IPv4","a","b"'] = "columns", ['"IPv4","a'] = "quote", [string.gsub(ROW, "0x0001", "0xzz01")] = "hexadecimal",
  [string.gsub(ROW, "0x2265b1f5", "4294967296")] = "SPI",
}) do
  local got, why = keylog.parse_line(line)
  check.equal(got, nil, line)
  check.truth(why and string.find(why, reason), "reason of " .. line .. ": " .. tostring(why))
  check.truth(not string.find(tostring(why), "0b0c0d", 1, true), "no key in a reason")
end
local cookie = keylog.parse_line("33ACAC7650479D9D,55a51cd0eafb9c978dae059e95a333e0")
check.equal(cookie.kind .. cookie.cookie, "ike133acac7650479d9d", "ikev1_decryption_table")
check.equal(select(2, keylog.parse_line("e9db428d215e5c2c,940f4d4729323447,00,00,\"NULL\",,,\"NONE\"")),
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

---------------------------------------------------------------------------------------------------- charon

check.begin("charon")
local CHARON = [[
1795205513.800 09[ENC] parsed QUICK_MODE response 3005173579 [ HASH SA No ID ID ]
1795205513.866 11[CHD] encryption initiator key => 16 bytes @ 0x1
1795205513.867 09[CHD] encryption initiator key => 16 bytes @ 0x54006120
1795205513.867 09[CHD]    0: 3C 48 0C 53 AB 7D 94 29 54 75 2D F9 33 F5 68 07  <H.S.}.)Tu-.3.h.
1795205513.867 11[CHD]    0: FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF  ................
1795205513.867 09[CHD] encryption responder key => 16 bytes @ 0x540064f0
1795205513.867 09[CHD]    0: 49 76 5D A9 2B 65 53 4E 26 BC 44 55 E3 19 35 16  Iv].+eSN&.DU..5.
1795205513.867 09[CHD] integrity initiator key => 20 bytes @ 0x540060c0
1795205513.867 09[CHD]    0: B9 77 0D A1 08 76 5D 96 B3 6A D3 C6 A3 5E 82 EC  .w...v]..j...^..
1795205513.867 09[CHD]   16: E2 C5 9C A7                                      AB CD EF 01 23 45
1795205513.867 09[CHD] integrity responder key => 20 bytes @ 0x54006510
1795205513.867 09[CHD]    0: C4 6A 30 78 F5 4D 0C 0B 47 34 E1 6C 7E A4 5D 1D  .j0x.M..G4.l~.].
1795205513.867 09[CHD]   16: 6E FC DA EA                                      n...
1795205513.867 09[CHD] adding inbound ESP SA
1795205513.867 09[CHD]   SPI 0xc7df968a, src 10.9.0.1 dst 10.9.0.2
1795205513.867 09[KNL]   using encryption algorithm AES_CBC with key size 128
1795205513.867 09[KNL]   using integrity algorithm HMAC_SHA1_96 with key size 160
1795205513.867 09[KNL]   using replay window of 32 packets
1795205513.874 09[CHD] adding outbound ESP SA
1795205513.874 09[CHD]   SPI 0xc06e0f04, src 10.9.0.2 dst 10.9.0.1
1795205513.874 09[KNL]   using encryption algorithm AES_CBC with key size 128
1795205513.875 09[KNL]   using integrity algorithm HMAC_SHA1_96 with key size 160
1795205513.875 09[KNL]   using replay window of 0 packets
]]
for name, text in pairs({
  plain = CHARON, syslog = string.gsub(CHARON, "(1795%d+%.%d+ )", "Nov 20 20:11:53 host charon: %1"),
  systemd = string.gsub(CHARON, "1795%d+%.%d+ ", "Nov 20 20:11:53 host charon-systemd[123]: "),
}) do
  parsed = keylog.parse(text)
  check.equal(#parsed.entries, 2, name .. ": entries")
  check.equal(parsed.entries[1] and parsed.entries[1].enc_key, "49765da92b65534e26bc4455e3193516", name .. ": inbound key")
  check.equal(parsed.entries[2] and parsed.entries[2].auth_key, "b9770da108765d96b36ad3c6a35e82ece2c59ca7", name .. ": outbound")
end
parsed = keylog.parse((string.gsub(CHARON, "QUICK_MODE response", "QUICK_MODE request")))
check.equal(parsed.entries[1].enc_key, "3c480c53ab7d942954752df933f56807", "a responder's inbound key is the initiator's")

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
  reversed[#NVR + 1 - index] = (string.gsub(line, "15:46:2%d", "15:46:2" .. index))
end
nvr_check(table.concat(reversed, "\n"), "show log reverse")
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
check.equal(parsed.entries[1] and parsed.entries[1].enc_key, string.sub(key36, 1, 32), "serial console: encryption key")
check.equal(parsed.entries[1] and parsed.entries[1].auth_key, string.sub(key36, 33), "serial console: authentication key")
check.equal(parsed.entries[1] and parsed.entries[1].dst, "198.51.100.7", "serial console: the peer is the destination")
local derived = keylog.parse("2018/10/25 15:46:26: [IKE] SKEYID_d: 00 01 02 03 04 05 06 07")
check.equal(derived.entries[1].kind .. " " .. derived.unsupported[1], "secret derivation", "SKEYID is no row")
check.equal(#rows.esp(derived.entries, {}).rows + #rows.ike1(derived.entries, {}).rows, 0, "and makes none")

---------------------------------------------------------------------------------------------------- other formats

check.begin("unsupported")
for line, name in pairs({
  ["0x12345678@1.2.3.4 aes128-cbc-hmac96:0x00112233"] = "tcpdump",
  ["| enc key:  44 9e 82 9e  a9 66 d4 21"] = "pluto", ["    dec: spi=24c2ab68 esp=aes key=16 3de8"] = "FortiOS",
  ["\tE: aes-cbc  7575d5cc 7575d5cc 7575d5cc 7575d5cc"] = "setkey",
  ['spi=0xE841441 enc-algorithm=aes-cbc auth-key="00" enc-key="00"'] = "MikroTik",
}) do
  check.equal(select(2, keylog.parse_line(line)), "unsupported: " .. name, line)
end

---------------------------------------------------------------------------------------------------- rows

check.begin("rows")
local function esp(fields)
  local one = {
    kind = "esp", spi = "00000001", enc = "AES-CBC", enc_key = string.rep("0", 32), auth = "HMAC-SHA1-96",
    auth_key = string.rep("0", 40),
  }
  for name, value in pairs(fields or {}) do
    one[name] = value
  end
  return one
end
check.equal(rows.from(esp()).auth, "HMAC-SHA-1-96 [RFC2404]", "a good row")
for what, fields in pairs({
  ["short key"] = { enc_key = "00" }, ["unknown cipher"] = { enc = "AES" }, ["bad hex"] = { enc_key = string.rep("g", 32) },
  ["unknown authentication"] = { auth = "HMAC" }, ["long SPI"] = { spi = "123456789" }, ["quote"] = { src = '","' },
  ["authentication key"] = { auth_key = "" }, ["CIDR"] = { src = "10.0.0.0/8" },
  ["a cipher that Wireshark does not decrypt"] = { enc = "Camellia-CBC" },
}) do
  check.equal(rows.from(esp(fields)), nil, what .. " is refused")
end
local chacha = { enc = "ChaCha20-Poly1305", enc_key = string.rep("0", 72), auth = "none", auth_key = "" }
check.equal(rows.from(esp(chacha), false), nil, "ChaCha20 before 4.6")
check.truth(rows.from(esp(chacha), true), "ChaCha20 from 4.6 on")
check.equal(rows.from(esp({ auth = "AES-XCBC-96", auth_key = string.rep("0", 32) })).auth,
  "ANY 96 bit authentication [no checking]", "an ICV that Wireshark cannot check is skipped")
local open = esp()
open.enc, open.auth = nil, nil
check.equal(rows.from(open).enc, "AES-CBC [RFC3602]", "key lengths decide where the log names nothing")
open.enc_key = string.rep("0", 48)
check.truth(string.find(select(2, rows.from(open)), "does not say"), "24 bytes are AES or 3DES: not guessed")
open.enc_key, open.auth_key = string.rep("0", 40), ""
check.equal(rows.from(open).enc, "AES-GCM with 16 octet ICV [RFC4106]", "20 bytes alone are AES-GCM")
check.equal(transforms.keymat_split(string.rep("0", 72)), 32, "KEYMAT of AES-128 and HMAC-SHA1")
check.equal(transforms.keymat_split(string.rep("0", 70)), nil, "no transforms have 35 bytes")
local plan = rows.esp({ esp({ src = "10.9.0.1", dst = "192.168.77.2" }), esp({ src = "1.2.3.4", dst = "4.3.2.1" }) }, {})
check.equal(#plan.rows, 1, "the same key from two places is one row")
check.truth(string.find(plan.rows[1], '^"IPv4","%*","%*","0x00000001","AES'), "any address where the SPI is unique")
plan = rows.esp({ esp({ src = "::1", dst = "::2" }) }, {})
check.truth(string.find(plan.rows[1], '^"IPv6"'), "IPv6")
plan = rows.esp({ esp() }, {})
check.equal(#plan.rows, 2, "a log without addresses may mean either IP")
plan = rows.esp({ esp() }, { seen = { ["00000001"] = { packets = 1, ip = "IPv6" } } })
check.equal(#plan.rows .. string.sub(plan.rows[1], 1, 6), '1"IPv6"', "the capture decides which IP")
plan = rows.esp({ esp({ src = "10.0.0.1", dst = "10.0.0.2" }),
  esp({ src = "10.0.0.3", dst = "10.0.0.4", enc_key = string.rep("1", 32) }) }, {})
check.equal(#plan.rows, 2, "two keys for one SPI")
check.truth(string.find(plan.rows[2], '"10.0.0.3","10.0.0.4"', 1, true), "then addresses tell them apart")
plan = rows.esp({ esp(), esp({ spi = "00000002" }), esp({ spi = "00000003" }) }, { seen = {
  ["00000002"] = { packets = 1, ip = "IPv4" }, ["00000003"] = { packets = 9, ip = "IPv4" } } })
check.equal(plan.unseen .. " " .. #plan.rows, "1 2", "only SPIs that occur")
check.truth(string.find(plan.rows[1], "0x00000003", 1, true), "busiest first")
check.equal(#rows.esp({ esp({ src = "10.0.0.1" }) }, { user = plan.rows[1] .. "\n" .. rows.esp({ esp({ src = "10.0.0.1" }) },
  {}).rows[1] }).rows, 0, "the user's own rows are not repeated")
check.equal(rows.ike1({ { kind = "ike1", cookie = "33acac7650479d9d", key = string.rep("0", 32) } }, {}).rows[1],
  "33acac7650479d9d," .. string.rep("0", 32), "ikev1 row")
check.equal(#rows.ike1({ { kind = "ike1", cookie = "33acac7650479d9d", key = "00" } }, {}).rejected, 1, "bad IKE key")

---------------------------------------------------------------------------------------------------- store

-- A disk in memory. `budget` operations succeed; the next one never returns, as after kill -9. `windows`:
-- rename() does not replace.
local function disk(files, budget, windows)
  local fs = { files = files, lock = function() end, unlock = function() end }
  function fs.is_alive()
    return false
  end
  local function step()
    if budget then
      if budget == 0 then
        error("killed", 0)
      end
      budget = budget - 1
    end
  end
  function fs.read(path)
    return files[path]
  end
  function fs.write(path, text)
    -- A write may be cut anywhere; half is the worst case that matters.
    if budget == 0 then
      files[path] = string.sub(text, 1, math.floor(#text / 2))
    end
    step()
    files[path] = text
    return true
  end
  function fs.make_private(path)
    step()
    files[path] = ""
  end
  function fs.rename(from, to)
    step()
    if not files[from] or (windows and files[to]) then
      return nil, "no"
    end
    files[to], files[from] = files[from], nil
    return true
  end
  function fs.remove(path)
    step()
    files[path] = nil
    return true
  end
  return fs
end

local function only(files, path)
  for name in pairs(files) do
    if name ~= path then
      return false
    end
  end
  return true
end

check.begin("store")
local USER = '# mine\n"IPv4","*","*","0x00000009","NULL","","NULL",""'
local OURS = { '"IPv4","*","*","0x00000001","NULL","","NULL",""' }
for _, windows in ipairs({ false, true }) do
  for _, user in ipairs({ USER, "", false }) do
    local files = { t = user or nil }
    local fs = disk(files, nil, windows)
    local label = tostring(windows) .. "/" .. tostring(user)
    check.truth(store.lend(fs, "t", OURS, { nonce = "aa", pid = "1", time = 5 }), label .. ": lend")
    check.truth(string.find(files.t, OURS[1], 1, true), label .. ": our row is in")
    check.equal(string.sub(files.t, -#USER) == USER, user == USER, label .. ": the user's rows follow, unchanged")
    check.truth(store.release(fs, "t", "aa"), label .. ": release")
    check.equal(files.t, user or nil, label .. ": the user's file is back")
    check.truth(only(files, "t"), label .. ": nothing else is left")
    -- Killed at every step of lend and release; the next start mends it.
    for budget = 0, 12 do
      files = { t = user or nil }
      fs = disk(files, budget, windows)
      pcall(function()
        store.lend(fs, "t", OURS, { nonce = "aa" })
        store.release(fs, "t", "aa")
      end)
      store.repair(disk(files, nil, windows), "t")
      check.equal(files.t, user or nil, label .. ": killed after " .. budget .. " steps")
      check.truth(only(files, "t"), label .. ": nothing else is left after " .. budget .. " steps")
      -- Killed while mending, too.
      for second = 0, 4 do
        files = { t = user or nil }
        pcall(function()
          local first = disk(files, budget, windows)
          store.lend(first, "t", OURS, { nonce = "aa" })
          store.release(first, "t", "aa")
        end)
        pcall(store.repair, disk(files, second, windows), "t")
        store.repair(disk(files, nil, windows), "t")
        check.equal(files.t, user or nil, label .. ": killed after " .. budget .. " and " .. second .. " steps")
      end
    end
  end
end
-- Several programs at once: each takes out its own rows; the last one restores. A dead one's rows go with the next.
local files = { t = USER }
local fs = disk(files)
local living = { aa = true, bb = true }
function fs.is_alive(marker)
  return living[marker.nonce] == true
end
store.lend(fs, "t", OURS, { nonce = "aa", pid = "1" })
check.equal(store.repair(fs, "t"), false, "a living program's rows stay")
store.lend(fs, "t", { "# b" }, { nonce = "bb", pid = "2" })
store.release(fs, "t", "aa")
check.truth(string.find(files.t, "# b\n", 1, true) and not string.find(files.t, OURS[1], 1, true), "only the second's rows are left")
store.release(fs, "t", "bb")
check.equal(files.t, USER, "the user's file is back")
check.truth(only(files, "t"), "nothing else is left")
store.lend(fs, "t", OURS, { nonce = "cc" })
store.lend(fs, "t", { "# b" }, { nonce = "bb" })
store.release(fs, "t", "bb")
check.equal(files.t, USER, "a dead program's rows go, too")
-- Wireshark rewrote the table while ours stood: its version wins, the older one is kept.
files = { t = "new\n", ["t.rekeyscope-original"] = USER }
store.repair(disk(files), "t")
check.equal(files.t .. files["t.rekeyscope-saved"], "new\n" .. USER, "nothing of the user's is lost")
-- Persistent.
files = { t = USER }
store.keep(disk(files), "t", OURS)
store.keep(disk(files), "t", OURS)
check.equal(select(2, string.gsub(files.t, "0x00000001", "")), 1, "persistent rows are replaced, not repeated")
check.equal(store.user_part(files.t), USER, "the user's part")
store.keep(disk(files), "t", {})
check.equal(files.t, USER, "and taken out")

---------------------------------------------------------------------------------------------------- source

check.begin("source")
local options = source.arguments("keylog=/a=b.log", "profile=x", 7, "nonsense")
check.equal(options.keylog .. options.profile, "/a=b.logx", "arguments")
local choice = source.choose({ keylog = "1" }, { keylog = "2" }, { keylog = "3" })
check.equal(choice.keylog, "1", "argument first")
check.equal(source.choose({}, { keylog = "2" }, { keylog = "3" }).keylog, "2", "environment second")
check.equal(source.choose({}, {}, { keylog = "3", mode = "persistent" }).mode, "persistent", "dialog last")
check.equal(source.choose({}, {}, {}).keylog, nil, "none")
files = {}
source.write_state(disk(files), "s", { keylog = "/a\\ b", profile = "", seen = "00000001:5:IPv4" })
local state = source.read_state(disk(files), "s")
check.equal(state.keylog .. tostring(state.profile), "/a\\ bnil", "state file")
check.equal(source.seen_table(state.seen)["00000001"].packets, 5, "what the capture holds")
source.write_state(disk(files), "s", {})
check.equal(files.s, nil, "an empty state leaves no file")
local folder = disk({ ["out/esp_sa"] = ROW, ["out/ikev1_decryption_table"] = "33acac7650479d9d," .. string.rep("0", 32) })
local loaded = source.load(folder, { keylog = "out", from = "test" }, {})
check.equal(#loaded.esp .. #loaded.ike1, "11", "the folder that --export wireshark writes")
local OTHER = string.gsub(ROW, "0x%x+\"", "0x7e570001\"", 1)
loaded = source.load(disk({ k = ROW .. "\n" .. OTHER }), { keylog = "k", from = "test", seen = "7e570001:3:IPv4" }, {})
check.equal(#loaded.esp .. tostring(string.find(loaded.esp[1], "0x7e570001", 1, true) ~= nil), "1true",
  "of a known capture only the SPIs it holds")
check.equal(#source.load(disk({ k = ROW .. "\n" .. OTHER }), { keylog = "k", from = "test" }, {}).esp, 2, "all when it is not known")
check.equal(string.find(select(2, source.load(disk({}), { keylog = "no", from = "test" }, {})),
  "cannot read the key log no (named by test): check that it exists", 1, true), 1,
  "a missing log")
-- What keys derive from is worth a sentence where the log has no key, and later where an SA of the capture lacks one.
local DERIVED = "2018/10/25 15:46:26: [IKE] SKEYID_d: 00 01 02 03 04 05 06 07\n"
loaded = source.load(disk({ k = DERIVED }), { keylog = "k", from = "test" }, {})
check.truth(string.find(table.concat(loaded.sentences, "\n"), "unsupported: derivation", 1, true), "only derivation")
check.equal(loaded.advice, nil, "said at once, not again")
loaded = source.load(disk({ k = DERIVED .. ROW }), { keylog = "k", from = "test" }, {})
check.truth(not string.find(table.concat(loaded.sentences, "\n"), "derivation", 1, true), "keys beside derivation")
check.truth(string.find(loaded.advice or "", "unsupported: derivation", 1, true), "for an SA without a key")
for _, sentence in ipairs(source.load(disk({ k = (string.gsub(ROW, "0x0001", "0x01")) }), { keylog = "k", from = "test" }, {})
  .sentences) do
  check.truth(not string.find(sentence, "0b0c0d", 1, true), "no key in a sentence")
end

---------------------------------------------------------------------------------------------------- SAs and rekeys

check.begin("rekeys")
local MS = 1000
-- packets(state, from_ms, to_ms, spi, src, dst, bytes): one packet every 10 ms.
local frame = 0
local function packets(s, from_ms, to_ms, spi, src, dst, bytes)
  local one
  for at = from_ms, to_ms, 10 do
    frame = frame + 1
    one = sa.packet(s, frame, at * MS, src, dst, "", spi, bytes or 1000)
  end
  return one
end
local function quick_mode(s, at_ms, id, src, dst, fields)
  frame = frame + 1
  local message = { frame = frame, us = at_ms * MS, src = src, dst = dst, ports = "", id = id, number = id, version = 1 }
  for name, value in pairs(fields or {}) do
    message[name] = value
  end
  return sa.exchange(s, message)
end

-- Regular: Quick Mode, then both directions switch.
local s = sa.new()
quick_mode(s, 0, "q0", "A", "B", { kilobytes = 1000, seconds = 3600 })
quick_mode(s, 20, "q0", "B", "A")
packets(s, 100, 9000, "a1", "A", "B")
packets(s, 105, 9005, "b1", "B", "A", 100)
quick_mode(s, 9010, "q1", "A", "B")
quick_mode(s, 9030, "q1", "B", "A")
local a2 = packets(s, 9040, 12000, "a2", "A", "B")
packets(s, 9060, 12000, "b2", "B", "A", 100)
local list = sa.confirmed(s)
check.equal(#list, 1, "one rekey")
check.equal(list[1].exchange.number, "q1", "its exchange")
check.equal(a2.generation .. a2.previous.spi, "1a1", "generation and the SPI before")
check.equal(list[1].gap_us["AB"], 40 * MS, "gap")
check.equal(list[1].trigger.kind, "volume", "891 kB of 1000 kB after 9 s of 3600 s")
check.equal(string.format("%.3f", list[1].trigger.fraction), "0.891", "fraction")

-- The limit counts decrypted payload where every packet of the expiring SA was decrypted.
do
  local decrypted = sa.new()
  quick_mode(decrypted, 0, "q0", "A", "B", { kilobytes = 1, seconds = 3600 })
  quick_mode(decrypted, 20, "q0", "B", "A")
  for number = 1, 4 do
    frame = frame + 1
    local one = sa.packet(decrypted, frame, (100 + number) * MS, "A", "B", "", "a1", 250)
    sa.payload(one, 212)
  end
  quick_mode(decrypted, 9010, "q1", "A", "B")
  quick_mode(decrypted, 9030, "q1", "B", "A")
  packets(decrypted, 9040, 9100, "a2", "A", "B")
  check.equal(string.format("%.3f", sa.confirmed(decrypted)[1].trigger.fraction), "0.848", "fraction of the payload")
end
check.truth(string.find(report.all(s), "Negotiated lifetime: 1000 kB, 3600 s", 1, true), "the table says which limit")

-- Time lifetime.
s = sa.new()
quick_mode(s, 0, "q0", "A", "B", { seconds = 10 })
packets(s, 100, 9000, "a1", "A", "B")
quick_mode(s, 9010, "q1", "A", "B")
check.equal(s.rekeys[1].trigger.kind, "time", "9 s of 10 s")

-- No IKE in the capture: SPIs alone; the limit is assumed, and said so.
s = sa.new()
packets(s, 100, 9000, "a1", "A", "B")
packets(s, 100, 9000, "b1", "B", "A")
packets(s, 9100, 9500, "a2", "A", "B")
packets(s, 9105, 9500, "b2", "B", "A")
list = sa.confirmed(s)
check.equal(#list, 1, "both directions are one rekey")
check.equal(list[1].trigger.kind, "unknown", "no limit is known")
check.truth(string.find(report.all(s), "Windows' default of 250000 kB", 1, true), "the table says what it assumes")

-- An exchange that no packet follows, then one that is used.
s = sa.new()
packets(s, 0, 1000, "a1", "A", "B")
quick_mode(s, 1010, "q1", "B", "A")
quick_mode(s, 1020, "q1", "A", "B")
quick_mode(s, 5010, "q2", "B", "A")
quick_mode(s, 5020, "q2", "A", "B")
local a3 = packets(s, 5030, 6000, "a3", "A", "B")
check.equal(#sa.confirmed(s), 2, "two rekeys")
check.equal(a3.rekey.exchange.number, "q2", "the new SPI belongs to the exchange just finished")

-- A retransmitted message is the same exchange.
s = sa.new()
packets(s, 0, 1000, "a1", "A", "B")
quick_mode(s, 1010, "q1", "B", "A")
quick_mode(s, 1020, "q1", "A", "B")
quick_mode(s, 5010, "q1", "A", "B")
check.equal(#sa.confirmed(s) .. s.rekeys[1].exchange.frames, "13", "one rekey, three messages")

-- Collision: two exchanges overlap; each makes an SA.
s = sa.new()
packets(s, 0, 1000, "a1", "A", "B")
quick_mode(s, 1010, "q1", "A", "B")
quick_mode(s, 1012, "q2", "B", "A")
quick_mode(s, 1030, "q1", "B", "A")
quick_mode(s, 1032, "q2", "A", "B")
local x = packets(s, 1040, 1040, "a2", "A", "B")
local y = packets(s, 1050, 1500, "a3", "A", "B")
check.truth(x.rekey ~= y.rekey, "one rekey each")
check.equal(#sa.confirmed(s), 2, "two rekeys")

-- Two CHILD_SAs side by side from the start, named by their exchanges.
s = sa.new()
quick_mode(s, 0, "q1", "A", "B", { spis = { "a1" } })
quick_mode(s, 50, "q2", "A", "B", { spis = { "c1" } })
packets(s, 100, 200, "a1", "A", "B")
packets(s, 150, 200, "c1", "A", "B")
packets(s, 210, 5000, "a1", "A", "B")
check.equal(#sa.confirmed(s), 0, "no rekey")

-- Side by side without IKE: taken for a rekey at first, put right when the old SPI goes on.
s = sa.new()
packets(s, 0, 1000, "a1", "A", "B")
packets(s, 1005, 1500, "c1", "A", "B")
for at = 1500, 6000, 10 do
  packets(s, at, at, "a1", "A", "B")
  packets(s, at, at, "c1", "A", "B")
end
check.equal(#sa.confirmed(s), 0, "no rekey in the table")
local a9 = packets(s, 6010, 7000, "a9", "A", "B")
check.equal(a9.previous.spi, "a1", "the SPI that stopped, not the other, was replaced")

-- Behind NAT: two hosts with one address, told apart by their ports; a changed port is still the same tunnel.
s = sa.new()
for _, host in ipairs({ "1024-4500", "1025-4500" }) do
  frame = frame + 1
  sa.packet(s, frame, 0, "A", "N", host, "spi" .. host, 100)
end
check.equal(#sa.confirmed(s) .. #s.list, "02", "two tunnels, no rekey")
sa.packet(s, 900, 10, "N", "A", "1024-4500", "in1", 100)
sa.packet(s, 901, 20, "N", "A", "1033-4500", "in1", 100)
local moved = sa.packet(s, 902, 30, "N", "A", "1033-4500", "in2", 100)
check.equal(moved.generation, 1, "the NAT moved the peer to another port")

-- Bounds and reports of nothing.
local most = sa.MAX_SAS
sa.MAX_SAS = 2
s = sa.new()
for index = 1, 4 do
  sa.packet(s, index, index, "A", "B", "", "spi" .. index, 1)
end
check.equal(#s.sas .. s.left_out, "22", "SAs are bounded")
check.truth(string.find(report.summary(s), "left out", 1, true), "and the report says so")
sa.MAX_SAS = most
check.truth(string.find(report.all(sa.new()), "No rekey", 1, true), "an empty capture")

---------------------------------------------------------------------------------------------------- the lab's logs

local lab = corpus.lab(root)
if lab then
  check.begin("lab")
  for _, path in ipairs(corpus.files(root)) do
    local run_folder = string.match(path, "^(.*/shared/lab/captures/.*)/[^/]+$")
    if run_folder and (string.find(path, "xfrm", 1, true) or string.find(path, "charon", 1, true)) then
      local function plan_of(file)
        local result = keylog.parse(corpus.slurp(file))
        local made = rows.esp(result.entries, {})
        check.equal(#made.rejected, 0, file .. ": rejected")
        table.sort(made.rows)
        return table.concat(made.rows, "\n")
      end
      check.equal(plan_of(path), plan_of(run_folder .. "/keys.esp_sa"), path .. ": the same rows as keys.esp_sa")
    end
  end
end

---------------------------------------------------------------------------------------------------- the router's subset

-- Yamaha's Lua takes no decimal literal and has no math; what only Wireshark runs may have more.
check.begin("subset")
local FORBIDDEN = {
  "%d%.%d", "math%.", "goto ", "//", "[^%a]~[^=]", "<<", ">>", "&", "loadstring", "unpack", "string%.pack", "\\x%x",
}
local function violations(text)
  local found, number = {}, 0
  for line in string.gmatch(text, "([^\n]*)\n") do
    number = number + 1
    local code = string.gsub(string.gsub(string.gsub(line, '"[^"]*"', '""'), "'[^']*'", "''"), "%-%-.*$", "")
    for _, forbidden in ipairs(FORBIDDEN) do
      if string.find(code, forbidden) then
        found[#found + 1] = "line " .. number .. ": " .. forbidden
      end
    end
  end
  return table.concat(found, ", ")
end

for _, name in ipairs({ "transforms", "keylog", "keylog_nvr", "keylog_table", "keylog_xfrm", "keylog_charon", "keylog_labels",
  "keylog_outer", "keylog_show_sa", "sa", "rows",
  "store", "source", "report" }) do
  local path = root .. "/wireshark/lua/rekeyscope_" .. name .. ".lua"
  if corpus.exists(path) then
    check.equal(violations(corpus.slurp(path)), "", name .. ".lua")
  end
end

check.equal(violations(corpus.slurp(root .. "/wireshark/lua/nvr510_keylog.lua")), "", "nvr510_keylog.lua")

check.finish("unit")
