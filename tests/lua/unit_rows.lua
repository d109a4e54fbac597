-- unit_rows.lua ROOT: from entries to the tables on disk, and where the log comes from. Runs under every Lua.

local check = require("check")
local rows = require("rekeyscope_rows")
local source = require("rekeyscope_source")
local store = require("rekeyscope_store")
local transforms = require("rekeyscope_transforms")

local ROW = '"IPv4","203.0.113.1","198.51.100.2","0x2265b1f5","AES-CBC [RFC3602]","0x000102030405060708090a0b0c0d0e0f",'
  .. '"HMAC-SHA-1-96 [RFC2404]","0x000102030405060708090a0b0c0d0e0f10111213"'

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
local function has(row, name)
  return row ~= nil and string.find(row.keys, name, 1, true) ~= nil
end
check.truth(has(rows.from(esp()), "HMAC-SHA-1-96 [RFC2404]"), "a good row")
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
check.truth(has(rows.from(esp({ auth = "AES-XCBC-96", auth_key = string.rep("0", 32) })),
  "ANY 96 bit authentication [no checking]"), "an ICV that Wireshark cannot check is skipped")
local open = esp()
open.enc, open.auth = nil, nil
check.truth(has(rows.from(open), "AES-CBC [RFC3602]"), "key lengths decide where the log names nothing")
open.enc_key = string.rep("0", 48)
check.truth(string.find(select(2, rows.from(open)), "does not say"), "24 bytes are AES or 3DES: not guessed")
open.enc_key, open.auth_key = string.rep("0", 40), ""
check.truth(has(rows.from(open), "AES-GCM with 16 octet ICV [RFC4106]"), "20 bytes alone are AES-GCM")
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
  local fs = { files = files }
  for _, name in ipairs({ "lock", "unlock", "is_capture", "is_folder", "run" }) do
    fs[name] = function() end
  end
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
local beside = { capture = "x.pcap", files = { "x.keys", "keys.ikev1" } }
choice = source.choose({}, {}, {}, beside)
check.equal(choice.keylog .. choice.capture .. choice.mode, "x.keys;keys.ikev1x.pcapephemeral", "what lies beside the capture")
choice = source.choose({}, { keylog = "2" }, {}, beside)
check.equal(choice.keylog .. choice.capture, "2x.pcap", "unless a log is named, which may need the capture")
choice = source.choose({}, {}, { keylog = "none" }, beside)
check.equal(tostring(choice.keylog) .. tostring(choice.is_none), "niltrue", "or none is to be loaded")
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
check.truth(string.find(table.concat(loaded.sentences, "\n"), "k has what keys are derived from", 1, true), "only derivation")
check.equal(loaded.advice, nil, "said at once, not again")
loaded = source.load(disk({ k = DERIVED .. ROW }), { keylog = "k", from = "test" }, {})
check.truth(not string.find(table.concat(loaded.sentences, "\n"), "derived", 1, true), "keys beside derivation")
check.truth(string.find(loaded.advice or "", "k has what keys are derived from", 1, true), "for an SA without a key")
-- Ka is the beginning of SKEYID_e where that is long enough for the cipher.
local E = { kind = "secret", name = "skeyid_e", cookie = "33acac7650479d9d", key = string.rep("ab", 20) }
local KA = "33acac7650479d9d," .. string.rep("ab", 16)
check.equal(table.concat(rows.ike1({ esp(), E }, {}).rows, "\n"), KA, "Ka from SKEYID_e")
check.equal(#rows.ike1({ esp({ enc_key = string.rep("0", 64) }), E }, {}).rows, 0, "a key longer than SKEYID_e is not guessed")
check.equal(table.concat(rows.ike1({ E, { kind = "ike1", cookie = E.cookie, key = string.rep("0", 32) } }, {}).rows, "\n"),
  E.cookie .. "," .. string.rep("0", 32), "Ka that the log prints goes before it")
check.equal(#rows.ike1({ { kind = "secret", name = "skeyid_e", key = E.key } }, {}).rows, 0, "without a cookie there is no row")
check.equal(#rows.ike1({ E }, { user = KA }).rows, 0, "the user's own row is not repeated")
for _, sentence in ipairs(source.load(disk({ k = (string.gsub(ROW, "0x0001", "0x01")) }), { keylog = "k", from = "test" }, {})
  .sentences) do
  check.truth(not string.find(sentence, "0b0c0d", 1, true), "no key in a sentence")
end

check.finish("unit_rows")
