-- Runs on a Yamaha router (NVR500 from Rev.11.00.06, NVR510 from Rev.15.01.02, RTX with Lua), not in Wireshark:
-- copies every IKE key line of the log to external memory before the ring buffer drops it, so that the key of each
-- SA is kept, not only the last one's.
--
--   ipsec ike log 1 key-info      (1: your gateway's number)
--   syslog debug on
--   lua usb1:/nvr510_keylog.lua   (or from a schedule: schedule at 1 startup * lua usb1:/nvr510_keylog.lua)
--
-- Stop with `terminate lua all`; undo with `no ipsec ike log 1` and `syslog debug off`. Then load the files
-- keylog_001.log ..., joined in order, in Wireshark or give them to rekeyscope. They hold keys: whoever has them
-- can read the tunnel.
--
-- The router's Lua is 5.1 with these gaps: whole numbers only, of math no floor, io.open(name, "w") adds CR, "a" fails;
-- rt.syslogwatch loses lines between its windows, so `show log` is read again and again instead. The router reads
-- Shift_JIS, so this file stays ASCII.

if not rt then
  return
end

local FOLDER = "usb1:/"     -- "sd1:/" for an SD card
local SECONDS = 10          -- between two looks; the buffer must not turn over meanwhile
local FILE_BYTES = 65536    -- a file is written anew with each look, so it must stay small
local MOST_BYTES = 262144   -- kept in memory while external memory is missing; then the oldest is dropped
local MARK_LINES = 8        -- as many last lines are looked for in the next `show log`

local number, kept, mark, complained = 1, "", "", false

local function path(index)
  return FOLDER .. string.format("keylog_%03d.log", index)
end

local function exists(name)
  local file = io.open(name, "rb")
  if file then
    file:close()
  end
  return file ~= nil
end

-- Returns the gain of the log since the last look: all behind the last place where the mark stands. All of it when
-- the mark is gone.
local function gained(text)
  if mark == "" then
    return text
  end
  local after, at = nil, 1
  while true do
    local first, last = string.find(text, mark, at, true)
    if not first then
      break
    end
    after, at = last + 1, first + 1
  end
  if after then
    return string.sub(text, after)
  end
  return "# the log turned over here: lines may be missing\n" .. text
end

local function remember(text)
  local at, lines = #text, 0
  while at > 1 and lines < MARK_LINES do
    at = at - 1
    if string.sub(text, at, at) == "\n" then
      lines = lines + 1
    end
  end
  -- An empty log is a line end, which every later log holds too.
  mark = string.find(text, "%S") and string.sub(text, lines < MARK_LINES and 1 or at + 1) or ""
end

-- IKE's lines, and the lines without a tag that go on with them.
local function key_lines(text)
  local lines, inside = {}, false
  for line in string.gmatch(text, "[^\n]+") do
    local tagged = string.find(line, "%[%u")
    if string.find(line, "[IKE", 1, true) or string.find(line, "[IPSEC", 1, true) or string.sub(line, 1, 2) == "# " then
      inside = true
    elseif tagged then
      inside = false
    end
    if inside then
      lines[#lines + 1] = line .. "\n"
    end
  end
  return table.concat(lines)
end

local function write()
  local file = io.open(path(number), "wb")
  local done = file and file:write(kept)
  if file then
    file:close()
  end
  if not done then
    if not complained then
      rt.syslog("info", "nvr510_keylog: cannot write " .. path(number))
      complained = true
    end
    if #kept > MOST_BYTES then
      kept = string.sub(kept, #kept - MOST_BYTES + 1)
    end
    return
  end
  complained = false
  if #kept >= FILE_BYTES then
    number, kept = number + 1, ""
  end
end

while exists(path(number)) do
  number = number + 1
end
while true do
  -- "off": the router logs no line about this command, which would push out others.
  local ok, text = rt.command("show log", "off")
  if ok and text then
    text = string.gsub(text, "\r", "")
    local new = key_lines(gained(text))
    remember(text)
    if new ~= "" then
      kept = kept .. new
      write()
    end
  end
  rt.sleep(SECONDS)
end
