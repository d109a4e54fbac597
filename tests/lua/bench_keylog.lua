-- bench_keylog.lua [LINES]: how long the plugin's reader takes for a router's log, in seconds of CPU time: a measurement, which
-- asserts nothing. Of each ten lines four are of key-info, the others are what a router says besides.
--   LUA_PATH='wireshark/lua/?.lua' lua5.4 tests/lua/bench_keylog.lua

local keylog = require("rekeyscope_keylog")

local wanted = tonumber(arg[1] or "200000")

local OTHERS = {
  "PP[01] Rejected at IN(1000) filter: TCP 203.0.113.9:51234 > 192.0.2.1:22",
  "[L2TP] TUNNEL[1] connected from 198.51.100.7",
  "[IKE] initiate informational exchange (delete)",
  "LAN1: port1 link up (1000BASE-T Full Duplex)",
  "[IKE] GW:1/SA:%d/IPSEC receive message: 44f4d0e2ec4e43b7 0000000000000000",
  "same message repeated 3 times",
}

local function bytes(count, seed)
  local parts = {}
  for index = 1, count do
    parts[index] = string.format("%02x", (seed * 37 + index * 101) % 256)
  end
  return table.concat(parts, " ")
end

local lines, sa = {}, 0
while #lines < wanted do
  sa = sa + 1
  local time = string.format("2026/11/%02d %02d:%02d:%02d: ", math.floor(sa / 86400) % 28 + 1, math.floor(sa / 3600) % 24,
    math.floor(sa / 60) % 60, sa % 60)
  local tag = time .. "[IKE] GW:1/SA:" .. sa % 200 .. "/IPSEC "
  lines[#lines + 1] = tag .. string.format("SPI: c1 %02x %02x %02x", math.floor(sa / 65536), math.floor(sa / 256) % 256, sa % 256)
  lines[#lines + 1] = tag .. "encryption key: " .. bytes(16, sa)
  lines[#lines + 1] = tag .. "authentication key: " .. bytes(16, sa + 1)
  lines[#lines + 1] = time .. "[IKE]   " .. bytes(4, sa + 2)
  for _, other in ipairs(OTHERS) do
    lines[#lines + 1] = time .. string.gsub(other, "%%d", sa % 200)
  end
end
local text = table.concat(lines, "\n", 1, wanted) .. "\n"
collectgarbage()
local began = os.clock()
local parsed = keylog.parse(text)
print(string.format("%d lines, %d keys: %.2f s (%s)", wanted, #parsed.entries, os.clock() - began, _VERSION))
