-- corpus_test.lua ROOT: every log of tests/keylog gives exactly what its .expect says (tests/keylog/README.md),
-- or "unsupported".

local check = require("check")
local corpus = require("corpus")
local keylog = require("rekeyscope_keylog")

-- Of masked keys the SPI counts.
local function without_addresses(line)
  return (string.gsub(line, "^defect masked %S+ %S+", "defect masked"))
end

-- What Lua derives or does not read is Rust's: these lines are not asked of it when the file says so.
local function expectation(path)
  local lines, unsupported = {}, nil
  for line in string.gmatch(corpus.slurp(path), "[^\r\n]+") do
    local format = string.match(line, "^unsupported%-in%-lua (.+)$")
    if format then
      unsupported = format
    elseif string.find(line, "^esp ") or string.find(line, "^defect masked") or string.find(line, "^problem ")
      or string.find(line, "^ike1 %S+ ka ") then
      -- Seeds and phase-1 secrets are for deriving, which is not Lua's.
      lines[#lines + 1] = without_addresses(line)
    end
  end
  table.sort(lines)
  return lines, unsupported
end

local function word(value)
  return value and value ~= "" and value or "-"
end

local function spi_word(spi)
  return spi and spi ~= "*" and "0x" .. spi or "-"
end

local function outcome(result)
  local lines = {}
  for _, entry in ipairs(result.entries) do
    if entry.status then
      lines[#lines + 1] = without_addresses(table.concat({ "defect", entry.status, word(entry.src), word(entry.dst),
        spi_word(entry.spi) }, " "))
    elseif entry.kind == "esp" then
      lines[#lines + 1] = table.concat({ "esp", word(entry.src), word(entry.dst), spi_word(entry.spi), word(entry.enc),
        word(entry.enc_key), word(entry.auth), word(entry.auth_key) }, " ")
    elseif entry.kind == "ike1" then
      lines[#lines + 1] = table.concat({ "ike1", word(entry.cookie), "ka", entry.key }, " ")
    end
  end
  for _, problem in ipairs(result.problems) do
    lines[#lines + 1] = "problem " .. problem.line
  end
  table.sort(lines)
  return lines
end

local function difference(got, wanted)
  local count, parts = {}, {}
  for _, line in ipairs(got) do
    count[line] = (count[line] or 0) + 1
  end
  for _, line in ipairs(wanted) do
    count[line] = (count[line] or 0) - 1
  end
  for line, times in pairs(count) do
    if times ~= 0 then
      parts[#parts + 1] = (times > 0 and "too much: " or "missing: ") .. line
    end
  end
  table.sort(parts)
  return table.concat(parts, "; ")
end

check.begin("corpus")
local expects = corpus.expected(arg[1])
for _, path in ipairs(expects) do
  local log = string.gsub(path, "%.expect$", ".log")
  local wanted, unsupported = expectation(path)
  local fine, result = pcall(keylog.parse, corpus.slurp(log))
  local name = string.match(log, "[^/]+$")
  if not fine then
    check.truth(false, name .. ": " .. tostring(result))
  elseif unsupported then
    check.truth(string.find(" " .. table.concat(result.unsupported, " ") .. " ", " " .. unsupported .. " ", 1, true),
      name .. ": unsupported: " .. unsupported .. " should be said, not '" .. table.concat(result.unsupported, ", ") .. "'")
    -- What it reads all the same must be right.
    local expected, guessed = {}, {}
    for _, line in ipairs(wanted) do
      expected[line] = true
    end
    for _, line in ipairs(outcome(result)) do
      if not expected[line] and not string.find(line, "^problem") then
        guessed[#guessed + 1] = line
      end
    end
    check.equal(table.concat(guessed, "; "), "", name .. ": nothing is guessed")
  else
    check.equal(difference(outcome(result), wanted), "", name)
  end
end
check.finish("corpus of " .. #expects .. " logs")
