-- unit_sa.lua ROOT: generations, rekeys and what is said of them; the subset of Lua that the router has. Runs under every Lua.

local check = require("check")
local corpus = require("corpus")
local sa = require("rekeyscope_sa")
local report = require("rekeyscope_report")

local root = arg[1]

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
  local message = { frame = frame, us = at_ms * MS, src = src, dst = dst, ports = "", id = id, version = 1, length = 172 }
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
check.equal(list[1].exchange.id, "q1", "its exchange")
check.equal(a2.generation .. a2.previous.spi, "1a1", "generation and the SPI before")
check.equal(a2.gap_us, 40 * MS, "gap")
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
check.truth(string.find(report.all(s), "lifetime: 1,000 kB, 3,600 s", 1, true), "the table says which limit")
check.truth(string.find(report.all(s), "\n1   9%.010  client  volume 89 %%  891 kB      20          55   %d+  completed\n"),
  "a row: B -> A acknowledges, and was silent from 9.005 s to 9.060 s")

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
check.truth(string.find(report.trigger(list[1]), "of 250,000 kB (Windows' default", 1, true), "its field says what it assumes")
check.truth(string.find(report.all(s), "\n1   9%.100  –   unknown  891 kB       –"), "the table does not: " .. report.all(s))

-- Silence: of the direction that acknowledges where there is one, else of the data; from the request to the first packet.
local function silence_of(acknowledges)
  s = sa.new()
  for at = 0, 20000, 10 do
    -- 70 ms at the exchange, 120 ms up to the new SPI, 500 ms long after it.
    local is_silent = at > 9000 and at < 9070 or at > 9100 and at < 9220 or at > 15000 and at < 15500
    if at == 9030 or at == 9060 then
      quick_mode(s, at, "q1", at == 9030 and "A" or "B", at == 9030 and "B" or "A")
    end
    if not is_silent then
      packets(s, at, at, at < 9220 and "a1" or "a2", "A", "B")
    end
    if acknowledges and not (at > 9050 and at < 9300) then
      packets(s, at, at, at < 9300 and "b1" or "b2", "B", "A", 100)
    end
  end
  s.ends_us = 20000 * MS
  return string.match(report.all(s), "\n1 .-  (%d+) +%d+  completed\n")
end
check.equal(silence_of(false), "120", "without acknowledgements")
check.equal(silence_of(true), "250", "with them")

-- Nothing comes after the request: silent up to the capture's end.
s = sa.new()
packets(s, 0, 1000, "a1", "A", "B")
quick_mode(s, 1010, "q1", "A", "B")
s.ends_us = 13000 * MS
check.truth(string.find(report.all(s), "\n1   1%.010  client  unknown  101 kB     0%.0      12,000"), report.all(s))

-- An exchange that no packet follows, then one that is used.
s = sa.new()
packets(s, 0, 1000, "a1", "A", "B")
quick_mode(s, 1010, "q1", "B", "A")
quick_mode(s, 1020, "q1", "A", "B")
quick_mode(s, 5010, "q2", "B", "A")
quick_mode(s, 5020, "q2", "A", "B")
local a3 = packets(s, 5030, 6000, "a3", "A", "B")
check.equal(#sa.confirmed(s), 2, "two rekeys")
check.equal(a3.rekey.exchange.id, "q2", "the new SPI belongs to the exchange just finished")

-- A retransmitted message is the same exchange.
s = sa.new()
packets(s, 0, 1000, "a1", "A", "B")
quick_mode(s, 1010, "q1", "B", "A")
quick_mode(s, 1020, "q1", "A", "B")
quick_mode(s, 5010, "q1", "A", "B")
check.equal(#sa.confirmed(s), 1, "one rekey")
check.equal(s.rekeys[1].exchange.last_us, 5010 * MS, "its last message")

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
check.truth(string.find(report.closing(s), "left out", 1, true), "and the report says so")
sa.MAX_SAS = most
check.equal(report.all(sa.new()), "no ESP in the capture, 0 rekeys\n", "an empty capture")

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

for _, name in ipairs({ "transforms", "keylog", "keylog_nvr", "keylog_table", "keylog_xfrm", "keylog_foreign", "keylog_framing",
  "keylog_labels", "keylog_outer", "program", "sa", "attempt", "rows",
  "store", "source", "report" }) do
  local path = root .. "/wireshark/lua/rekeyscope_" .. name .. ".lua"
  if corpus.exists(path) then
    check.equal(violations(corpus.slurp(path)), "", name .. ".lua")
  end
end

check.equal(violations(corpus.slurp(root .. "/wireshark/lua/nvr510_keylog.lua")), "", "nvr510_keylog.lua")

check.finish("unit_sa")
