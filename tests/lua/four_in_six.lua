-- Writes a synthetic capture of an IPv6 tunnel that carries IPv4, and its keys: lua four_in_six.lua OUT.pcap OUT.esp_sa
-- One SA (NULL encryption, no ICV: nothing needs computing), four packets to two inner hosts, the last one cut short.

local pcap = require("pcap")

local big = pcap.big
local SPI = 0x46000001
local OUTER_SRC, OUTER_DST = "\32\1\13\184" .. string.rep("\0", 11) .. "\1", "\32\1\13\184" .. string.rep("\0", 11) .. "\2"

-- An inner IPv4 packet to 192.0.2.HOST with UDP; its checksums are left out (0 means none for UDP).
local function inner(host, data)
  local udp = big(4000, 2) .. big(5000, 2) .. big(8 + #data, 2) .. big(0, 2) .. data
  return "\69\0" .. big(20 + #udp, 2) .. big(0, 4) .. "\64\17" .. big(0, 2) .. "\10\0\0\1" .. "\192\0\2" .. string.char(host) .. udp
end

local function esp(sequence, packet)
  local pad = (4 - (#packet + 2) % 4) % 4
  local padding = string.sub("\1\2\3", 1, pad)
  return big(SPI, 4) .. big(sequence, 4) .. packet .. padding .. string.char(pad) .. "\4"
end

local function frame(payload)
  return "\2\0\0\0\0\2\2\0\0\0\0\1" .. "\134\221" .. "\96\0\0\0" .. big(#payload, 2) .. "\50\64" .. OUTER_SRC .. OUTER_DST .. payload
end

local frames = {}
for index = 1, 4 do
  local bytes = frame(esp(index, inner(index % 2 + 1, string.rep("x", 100 * index))))
  frames[index] = { index, bytes, index == 4 and #bytes - 50 or nil }
end
pcap.write(arg[1], frames)

local keys = assert(io.open(arg[2], "wb"))
keys:write('"IPv6","*","*","0x46000001","NULL","","NULL",""\n')
keys:close()
