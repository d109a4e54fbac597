-- What stands before a router's message: PRI, RFC 5424 or RFC 3164 header, a collector's prefix, the router's
-- time, tag and context. Each part is optional. Pure.

local outer = {}

local REACH = 200
local STAMP = "()(%d%d%d%d/%d%d/%d%d %d%d:%d%d:%d%d):?()"
local TAGS = { IKE = "ike", IKE1 = "ike", IKE2 = "ike", IPSEC = "ike", L2TP = "other" }

local function after_syslog(line)
  local rest = string.match(line, "^<%d%d?%d?> ?(.*)$") or line
  local structured = string.match(rest, "^1 [%-%d][^ ]* [^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+ ?(.*)$")
  if structured then
    return structured
  end
  return string.match(rest, "^%u%l%l [ %d]%d %d%d:%d%d:%d%d [^ ]+ (.*)$") or rest
end

-- The words of a prefix that name a host: not times, not numbers.
local function sender_of(prefix)
  local names = {}
  for word in string.gmatch(string.gsub(prefix, "^<%d+>", "") .. "", "%S+") do
    local _, dots = string.gsub(word, "%.", "")
    local is_time = string.find(word, "^%d") and string.find(word, ":", 1, true)
    if not is_time and (dots >= 3 or string.find(word, "%a")) then
      names[#names + 1] = word
    end
  end
  return table.concat(names, " ")
end

-- { text, sender, time, tag ("ike", "other" or nil), context (the SA's number) } of a line. `text` is trimmed.
function outer.read(line)
  local head = string.sub(line, 1, REACH)
  local result = {}
  local prefix
  local at, time, after = string.match(head, STAMP)
  if at then
    result.time, result.text = time, string.sub(line, after)
    prefix = string.sub(line, 1, at - 1)
  else
    result.text = after_syslog(line)
    prefix = string.sub(line, 1, #line - #result.text)
  end
  local before, tag, rest = string.match(result.text, "^([^%[]*)%[(%u[%u%d]*)%](.*)$")
  if tag and TAGS[tag] and #before < REACH and not string.find(before, "%d$") then
    if not at then
      prefix = prefix .. before
    end
    result.tag, result.text = TAGS[tag], rest
  end
  result.text = string.match(result.text, "^%s*(.-)%s*$")
  local ahead, number, body = string.match(result.text, "^(.-)SA:(%d+)/[%w_]*%s*(.*)$")
  if number and #ahead < REACH and #number < 10 then
    result.context = number
    if ahead == "" or string.find(ahead, "^GW:") then
      result.text = body
    end
  end
  result.sender = sender_of(prefix)
  return result
end

-- Prompts, echoed commands and pager lines hold nothing and end nothing.
function outer.is_noise(line)
  local text = string.match(line, "^%s*(.-)%s*$")
  return text == "" or string.find(text, "^%-%-%-") ~= nil or string.find(text, "^[#>] ") ~= nil
    or string.find(text, "[#>]$") ~= nil or string.find(text, "^[^#>]*[#>]%s*show ") ~= nil
end

return outer
