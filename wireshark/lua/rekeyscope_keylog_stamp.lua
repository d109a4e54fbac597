-- Times and headers that collectors and daemons put before a line: RFC 3164, RFC 5424, ISO 8601. Pure.

local stamp = {}

-- "2026-11-20T20:11:53.123+09:00" at the start: the time to the second, and what follows; nil when it is none.
local function iso_time(text)
  local date, time, rest = string.match(text, "^(%d%d%d%d%-%d%d%-%d%d)[Tt ](%d%d:%d%d:%d%d)(.*)$")
  if not date then
    return nil
  end
  rest = string.gsub(rest, "^[%.,]%d*", "")
  local after = string.match(rest, "^[Zz](.*)$") or string.match(rest, "^[+%-]%d*:%d%d(%D.*)$")
    or string.match(rest, "^[+%-]%d*:%d%d$") and "" or string.match(rest, "^[+%-]%d*(.*)$")
    or string.match(rest, "^ [+%-]%d%d%d%d(%D.*)$") or rest
  return date .. " " .. time, after
end

local function iso(text)
  local bracketed = string.match(text, "^%[(.*)$")
  local time, rest = iso_time(bracketed or text)
  if not time then
    return nil
  end
  if bracketed then
    rest = string.match(rest, "^%](.*)$")
  else
    rest = string.gsub(rest, "^:", "")
  end
  if not rest or not (rest == "" or string.find(rest, "^[ \t]")) then
    return nil
  end
  return time, rest
end

local function word(text)
  local first, rest = string.match(text, "^([^ ]*) (.*)$")
  return first or text, rest or ""
end

-- Returns what follows `[id@123 name="value with blanks"][…] `; a router's tag has neither parameters nor an enterprise
-- number.
local function after_structured_data(text)
  local rest, before = text
  repeat
    before = #rest
    rest = string.gsub(rest, '^%[[^%s%]]+%s.-"%](%f[%[ %z])', "")
    rest = string.gsub(rest, "^%[[^%s%]]*@%d+%]", "")
  until #rest == before
  return #rest < #text and string.gsub(rest, "^ ", "") .. "" or nil
end

-- `1 TIME HOST APP PROCID MSGID SD MESSAGE`. Some senders write fewer or more dashes than the four after the host.
local function rfc5424(text)
  local body = string.match(text, "^1 (.*)$")
  if not body then
    return nil
  end
  local first, rest = word(body)
  local time, behind = iso_time(first)
  if (time and behind ~= "") or (not time and first ~= "-") then
    return nil
  end
  local _
  _, rest = word(rest)
  local message = rest
  for _ = 1, 4 do
    local data = after_structured_data(rest)
    if data then
      message = data
      break
    end
    local field
    field, rest = word(rest)
    if field == "-" then
      message = rest
    end
  end
  while message == "-" or string.sub(message, 1, 2) == "- " do
    message = string.sub(message, 3)
  end
  return time or "-", (string.gsub(message, "^\239\187\191", ""))
end

-- `Nov 20 20:11:53 HOST MESSAGE`, also with `program[123]: ` before the message.
local function rfc3164(text)
  local time, rest = string.match(text, "^(%u%l%l [ %d]%d %d%d:%d%d:%d%d) [^ ]* (.*)$")
  if not time then
    return nil
  end
  return time, string.match(rest, "^[^ %[]+%[%d+%]: ?(.*)$") or rest
end

function stamp.after_pri(line)
  return string.match(line, "^<%d%d?%d?> ?(.*)$") or line
end

-- Returns what stands for a line's time, to the second (nil without one), and what follows PRI, header or time. The
-- host is part of syslog's headers, not of an ISO time.
function stamp.header(line)
  local body = stamp.after_pri(line)
  local time, rest = rfc5424(body)
  if not time then
    time, rest = rfc3164(body)
  end
  if not time then
    time, rest = iso(body)
  end
  if not time then
    return nil, body
  end
  return time ~= "-" and time or nil, rest
end

return stamp
