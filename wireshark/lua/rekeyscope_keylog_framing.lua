-- What stands before a router's message: PRI, RFC 5424 or RFC 3164 header, a collector's prefix, the router's
-- time, tag and context. Each part is optional. Pure.

local stamp = require("rekeyscope_keylog_stamp")

local framing = {}

local REACH = 200
local STAMP = "()(%d%d%d%d/%d%d/%d%d %d%d:%d%d:%d%d):?()"
local TAGS = { IKE = "ike", IKE1 = "ike", IKE2 = "ike", IPSEC = "ike", L2TP = "other" }

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

-- { text, sender, time, tag ("ike", "other" or nil), context (the SA's number), collected (the collector's time), words
-- (what stands between that and what the router wrote), framed_at
-- (where the router's time, its tag or the message begins) } of
-- a line. `text` is trimmed.
function framing.read(line)
  local head = string.sub(line, 1, REACH)
  local result = {}
  local prefix, framed_at
  local at, time, after = string.match(head, STAMP)
  local collected, body = nil, line
  if at ~= 1 then
    collected, body = stamp.header(line)
  end
  if at then
    result.time, result.text = time, string.sub(line, after)
    prefix, framed_at = string.sub(line, 1, at - 1), at
  else
    result.text = body
    prefix = string.sub(line, 1, #line - #result.text)
  end
  local before, tag, rest
  if string.find(result.text, "[", 1, true) then
    before, tag, rest = string.match(result.text, "^([^%[]*)%[(%u[%u%d]*)%](.*)$")
  end
  if tag and TAGS[tag] and #before < REACH and not string.find(before, "%d$") then
    if not at then
      prefix = prefix .. before
    end
    result.tag, result.text = TAGS[tag], rest
  end
  framed_at = framed_at or #prefix + 1
  result.collected, result.framed_at = collected, framed_at
  result.words = at == 1 and "" or string.match(string.sub(line, #line - #body + 1, framed_at - 1), "^%s*(.-)%s*$")
  result.text = string.match(result.text, "^%s*(.-)%s*$")
  result.sender = prefix == "" and "" or sender_of(prefix)
  return with_context(result)
end

-- The same line of `sender`, whose other lines have `words` before the message; nil when this one has not.
function framing.behind(read, words, sender)
  if string.sub(read.text, 1, #words) ~= words then
    return nil
  end
  local result = {}
  for name, value in pairs(read) do
    result[name] = value
  end
  result.sender, result.text = sender, string.match(read.text, "^%s*(.*)$", #words + 1)
  return with_context(result)
end

-- Prompts, echoed commands, comments and pager lines hold nothing and end nothing.
function framing.is_noise(line)
  local first = string.match(line, "^%s*(.)")
  if not first or first == "#" or first == "-" and string.find(line, "^%s*%-%-") then
    return true
  elseif not string.find(line, "[#>]") then
    return false
  end
  return string.find(line, "^%s*<%-%-%-") ~= nil or string.find(line, "^%s*> ") ~= nil or string.find(line, "[#>]%s*$") ~= nil
    or string.find(line, "^[^#>]*[#>]%s*show ") ~= nil
end

return framing
