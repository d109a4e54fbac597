-- router_test.lua ROOT: nvr510_keylog.lua on a router that is not there: rt, a ring buffer that drops lines, and an io that can do
-- what the router's can. Lua 5.1 and LuaJIT only, as on the router (setfenv).

local check = require("check")
local keylog = require("rekeyscope_keylog")

local script = arg[1] .. "/wireshark/lua/nvr510_keylog.lua"
check.begin("router")
local source = io.open(script, "rb")
check.equal(string.find(source:read("*a"), "[^\n\32-\126]"), nil, "ASCII, which Shift_JIS holds too")
source:close()

local function log_of(number)
  local key = string.rep(string.format("%02x ", number), 16)
  return {
    string.format("2026/11/20 20:%02d:00: [IKE] GW:1/SA:%d/IPSEC SPI: 00 00 00 %02x", number, number, number),
    string.format("2026/11/20 20:%02d:00: [IKE] GW:1/SA:%d/IPSEC encryption key: %s", number, number, key),
    string.format("2026/11/20 20:%02d:00: [IKE] GW:1/SA:%d/IPSEC authentication key: %s", number, number, key),
    string.format("2026/11/20 20:%02d:00:   %s", number, "aa bb cc dd"),
    string.format("2026/11/20 20:%02d:00: [L2TP] TUNNEL[1] connected from 198.51.100.7", number),
    string.format("2026/11/20 20:%02d:00: same message repeated 2 times", number),
  }
end

-- options: { sas, ring (lines), missing (looks without external memory), empty (looks at a log without lines) }.
-- Returns the files and what was complained about.
local function run(options)
  local files, complaints, looks, ring = {}, 0, 0, {}
  local function file_of(path, mode)
    if mode == "rb" then
      return files[path] and { close = function() end } or nil
    end
    check.equal(mode, "wb", "the router's io knows only rb and wb")
    if looks <= (options.missing or 0) then
      return nil
    end
    local file = { close = function() end }
    function file.write(_, text)
      files[path] = text
      return true
    end
    return file
  end
  local router = {
    string = string, table = { concat = table.concat }, io = { open = file_of }, ipairs = ipairs, tostring = tostring,
    rt = {
      command = function(_, logged)
        check.equal(logged, "off", "a look leaves no line in the log")
        looks = looks + 1
        if looks <= (options.empty or 0) then
          return true, "\r\n"
        end
        for _, line in ipairs(log_of(looks)) do
          ring[#ring + 1] = line
          if #ring > options.ring then
            table.remove(ring, 1)
          end
        end
        return true, table.concat(ring, "\r\n") .. "\r\n"
      end,
      sleep = function()
        if looks == options.sas then
          error("enough", 0)
        end
      end,
      syslog = function()
        complaints = complaints + 1
      end,
    },
  }
  local chunk = assert(loadfile(script))
  setfenv(chunk, router)
  local _, why = pcall(chunk)
  check.equal(why, "enough", "it runs until it is stopped")
  local text, number = "", 1
  while files[string.format("usb1:/keylog_%03d.log", number)] do
    text = text .. files[string.format("usb1:/keylog_%03d.log", number)]
    number = number + 1
  end
  return keylog.parse(text), complaints, number - 1, text
end

local function keys_of(result)
  local spis = {}
  for index, entry in ipairs(result.entries) do
    spis[index] = tonumber(entry.spi, 16)
  end
  return table.concat(spis, " ")
end

local all = {}
for index = 1, 59 do
  all[index] = index
end
local result, complaints, _, text = run({ sas = 59, ring = 20 })
check.equal(keys_of(result), table.concat(all, " "), "every SA's key, although the ring holds three SAs")
check.equal(complaints, 0, "nothing to complain about")
check.truth(not string.find(text, "L2TP", 1, true), "only IKE's lines")
check.equal(select(2, string.gsub(text, "SPI:", "")), 59, "each line once")
result, complaints = run({ sas = 10, ring = 20, missing = 4 })
check.equal(keys_of(result), "1 2 3 4 5 6 7 8 9 10", "external memory that comes later")
check.equal(complaints, 1, "one complaint")
result, _, _, text = run({ sas = 5, ring = 6 })
check.equal(keys_of(result), "1 2 3 4 5", "a ring that turns over with each look")
check.truth(string.find(text, "turned over", 1, true), "is named")
result, _, _, text = run({ sas = 4, ring = 20, empty = 1 })
check.equal(keys_of(result), "2 3 4", "an empty log at the first look")
check.truth(not string.find(text, "turned over", 1, true), "nothing turned over since")
check.finish("router")
