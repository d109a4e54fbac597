-- Every log cut at every byte: no Lua error, and no row that the whole log does not give or that may not go to
-- Wireshark. cuts.lua ROOT [LOG…]

local check = require("check")
local corpus = require("corpus")
local keylog = require("rekeyscope_keylog")
local rows = require("rekeyscope_rows")

-- Cutting costs the square of a file's size: of larger files only the lines that hold keys or name SAs are kept.
local LARGEST = 13000

local function condensed(text)
  if #text <= LARGEST then
    return text
  end
  local kept, size = {}, 0
  for line in string.gmatch(text, "[^\n]*\n") do
    local wanted = string.find(line, "=> %d+ bytes") or string.find(line, "%] +%d+: %x%x ") or string.find(line, "SPI")
      or string.find(line, "using ") or string.find(line, "ESP SA") or string.find(line, "parsed %u+_")
    if wanted and not (string.find(line, "ENC") and not string.find(line, "parsed")) then
      size = size + #line
      if size > LARGEST then
        break
      end
      kept[#kept + 1] = line
    end
  end
  return table.concat(kept)
end

local function cut_everywhere(path)
  local text = condensed(corpus.slurp(path))
  check.begin(path)
  local errors, wrong, first = 0, 0, nil
  for length = 0, #text do
    local fine, result = pcall(keylog.parse, string.sub(text, 1, length))
    if not fine then
      errors = errors + 1
      first = first or (length .. ": " .. tostring(result))
    else
      local plan = rows.esp(result.entries, { accepts_chacha = true })
      for _, row in ipairs(plan.rows) do
        if not string.find(row, '^"IPv[46]","[^"]+","[^"]+","[^"]+","[^"]+","[^"]*","[^"]+","[^"]*"$') then
          wrong = wrong + 1
        end
      end
    end
  end
  check.equal(errors, 0, "cuts with a Lua error (first: " .. tostring(first) .. ")")
  check.equal(wrong, 0, "malformed rows")
end

local logs = corpus.files(arg[1])
for index = 2, #arg do
  logs[#logs + 1] = arg[index]
end
local count = 0
for _, path in ipairs(logs) do
  -- The lab's logs have one shape per format: the IKEv2 and the NAT run stand for all.
  if not string.find(path, "/shared/lab/", 1, true) or string.find(path, "ikev2", 1, true)
    or string.find(path, "natt", 1, true) then
    count = count + 1
    cut_everywhere(path)
  end
end
check.finish("cuts of " .. count .. " logs")
