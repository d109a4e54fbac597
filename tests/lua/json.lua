-- A JSON reader for the lab's truth.json: objects, arrays, numbers, strings without \u, true, false, null (as nil).

local json = {}

local read

local function skip(text, at)
  return string.match(text, "^%s*()", at)
end

local function read_string(text, at)
  local stop = at + 1
  while true do
    local next_stop = string.find(text, '["\\]', stop)
    if string.sub(text, next_stop, next_stop) == '"' then
      return string.sub(text, at + 1, next_stop - 1), next_stop + 1
    end
    stop = next_stop + 2
  end
end

local function read_list(text, at, close, one)
  local result = {}
  at = skip(text, at + 1)
  while string.sub(text, at, at) ~= close do
    at = skip(text, one(result, at))
    if string.sub(text, at, at) == "," then
      at = skip(text, at + 1)
    end
  end
  return result, at + 1
end

local LITERALS = { ["true"] = true, ["false"] = false }

function read(text, at)
  at = skip(text, at)
  local first = string.sub(text, at, at)
  if first == "{" then
    return read_list(text, at, "}", function(result, from)
      local key, value
      key, from = read_string(text, from)
      value, from = read(text, skip(text, from) + 1)
      result[key] = value
      return from
    end)
  elseif first == "[" then
    return read_list(text, at, "]", function(result, from)
      local value
      value, from = read(text, from)
      result[#result + 1] = value
      return from
    end)
  elseif first == '"' then
    return read_string(text, at)
  end
  local word, after = string.match(text, "^([%w%.%+%-]+)()", at)
  local literal = LITERALS[word]
  if literal ~= nil then
    return literal, after
  end
  return tonumber(word), after
end

function json.parse(text)
  return (read(text, 1))
end

return json
