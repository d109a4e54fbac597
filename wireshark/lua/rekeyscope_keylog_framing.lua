-- Takes off what stands before a router's message: PRI, RFC 5424 or RFC 3164 header, a collector's prefix, the router's
-- time, tag and context. Each part is optional. Pure.

local framing = {}

local REACH = 200
local STAMP = "()(%d%d%d%d/%d%d/%d%d %d%d:%d%d:%d%d):?()"
-- A line as the router prints it, with nothing around it: most lines.
local AS_PRINTED = "^(%d%d%d%d/%d%d/%d%d %d%d:%d%d:%d%d):[ \t]*([^\r\n]*)"
local TAGS = { IKE = "ike", IKE1 = "ike", IKE2 = "ike", IPSEC = "ike", L2TP = "other" }

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

local function first_word(text)
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
  local first, rest = first_word(body)
  local time, behind = iso_time(first)
  if (time and behind ~= "") or (not time and first ~= "-") then
    return nil
  end
  local _
  _, rest = first_word(rest)
  local message = rest
  for _ = 1, 4 do
    local data = after_structured_data(rest)
    if data then
      message = data
      break
    end
    local field
    field, rest = first_word(rest)
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

-- Times and headers that collectors and daemons put before a line.
local HEADERS = { rfc5424, rfc3164, iso }

-- Returns what stands for a line's time, to the second (nil without one), and what follows PRI, header or time. The
-- host is part of syslog's headers, not of an ISO time.
local function header(line)
  local body = string.match(line, "^<%d%d?%d?> ?(.*)$") or line
  for _, read in ipairs(HEADERS) do
    local time, rest = read(body)
    if time then
      return time ~= "-" and time or nil, rest
    end
  end
  return nil, body
end

-- The words of a prefix that name a host: not times, not numbers.
local function sender_of(prefix)
  local names = {}
  for word in string.gmatch(string.gsub(prefix, "^<%d+>", "") .. "", "%S+") do
    word = string.gsub(string.gsub(word, ":$", ""), "^%[", "")
    local _, dots = string.gsub(word, "%.", "")
    local is_time = string.find(word, "^%d") and string.find(word, ":", 1, true)
    if not is_time and (dots >= 3 or string.find(word, "%a")) then
      names[#names + 1] = word
    end
  end
  return table.concat(names, " ")
end

local function with_context(result)
  if not string.find(result.text, "SA:", 1, true) then
    return result
  end
  local ahead, number, body = string.match(result.text, "^(.-)SA:(%d+)/[%w_]*%s*(.*)$")
  if number and #ahead < REACH and #number < 10 then
    result.context = number
    if ahead == "" or string.find(ahead, "^GW:") then
      result.text = body
    end
  end
  return result
end

local function trimmed(text)
  return string.match(text, "^%s*(.*%S)") or ""
end

-- The tag before a message, where it stands, and what follows it.
local function tag_of(text)
  if not string.find(text, "[", 1, true) then
    return nil
  end
  local before, tag, rest = string.match(text, "^([^%[]*)%[(%u[%u%d]*)%]%s*(.*)$")
  if tag and TAGS[tag] and #before < REACH and not string.find(before, "%d$") then
    return TAGS[tag], before, rest
  end
  return nil
end

-- Reads a line that begins at a place of a text as the router prints it; nil for others. No string is made of the whole
-- line: Lua 5.1 keeps strings in chains, which grow where lines differ in little more than their time.
function framing.printed(text, start)
  local time, message = string.match(text, AS_PRINTED, start)
  if not time then
    return nil
  end
  message = trimmed(message)
  local tag, _, rest = tag_of(message)
  return with_context({
    text = tag and rest or message, sender = "", time = time, tag = tag, framed_at = 1, context = nil, run = nil,
  })
end

-- { text, sender, time, tag ("ike", "other" or nil), context (the SA's number), collected (the collector's time),
-- framed_at (where the router's time, its tag or the message begins) } of a line. `text` is trimmed.
function framing.read(line)
  local at, time, after = string.match(string.sub(line, 1, REACH), STAMP)
  local collected, body, prefix, text = nil, line
  if at ~= 1 then
    collected, body = header(line)
  end
  if at then
    prefix, text = string.sub(line, 1, at - 1), string.sub(line, after)
  else
    prefix, text = string.sub(line, 1, #line - #body), body
  end
  local tag, before, rest = tag_of(text)
  if tag then
    prefix, text = at and prefix or prefix .. before, rest
  end
  return with_context({
    text = trimmed(text), sender = prefix == "" and "" or sender_of(prefix), time = time, tag = tag,
    collected = collected, framed_at = at or #prefix + 1, context = nil, run = nil,
  })
end

-- Prompts, echoed commands, comments and pager lines hold nothing and end nothing.
function framing.is_noise(line)
  local first = string.match(line, "^%s*(.)")
  if not first or first == "#" or first == "-" and string.find(line, "^%s*%-%-") then
    return true
  elseif not string.find(line, "#", 1, true) and not string.find(line, ">", 1, true) then
    return false
  end
  return string.find(line, "^%s*<%-%-%-") ~= nil or string.find(line, "^%s*> ") ~= nil
    or string.find(line, "[#>]%s*$") ~= nil or string.find(line, "^[^#>]*[#>]%s*show ") ~= nil
end

return framing
