-- Logs cut at every byte: no Lua error, and no malformed row. Of lines that differ in their digits alone, after lines of the same
-- words, the first of all logs is cut at every byte; the others at both ends and a byte inside these. cuts.lua ROOT [LOG…]

local check = require("check")
local corpus = require("corpus")
local keylog = require("rekeyscope_keylog")
local rows = require("rekeyscope_rows")

-- Cutting costs the square of a file's size. So a larger file is cut at every byte twice: once with what stands before it
-- reduced to the lines that hold keys or name SAs, once with the last lines before each cut alone.
local LARGEST = 4000
-- The corpus' own logs, not the lab's of 300 kB.
local WINDOWED = 100000
-- Two lines of a charon log and the one that is cut.
local WINDOW = 250

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

-- Counts what went wrong in one text: errors, malformed rows, the first error.
local function try(seen, text, at)
  local fine, result = pcall(keylog.parse, text)
  if not fine then
    seen.errors = seen.errors + 1
    seen.first = seen.first or (at .. ": " .. tostring(result))
    return
  end
  for _, row in ipairs(rows.esp(result.entries, { accepts_chacha = true }).rows) do
    if not string.find(row, '^"IPv[46]","[^"]+","[^"]+","[^"]+","[^"]+","[^"]*","[^"]+","[^"]*"$') then
      seen.wrong = seen.wrong + 1
    end
  end
end

-- Where the window of whole lines before a cut begins: a line's beginning, else in its middle (a line longer than the window).
local function window_start(text, cut)
  local from = cut - WINDOW
  if from <= 1 then
    return 1
  end
  local line_end = string.find(text, "\n", from, true)
  return line_end and line_end < cut and line_end + 1 or from
end

-- The form of a line: its digits, also hexadecimal ones, are alike, and so is what a dump prints beside them.
local function form_of(line)
  return (string.gsub(string.gsub(line, "(%x%x %x%x  ).*", "%1"), "%x", "0"))
end

-- Calls cut(length) for every cut of a text that is to be tried. `known`: the forms that were cut at every byte.
local function each_cut(text, known, cut)
  local at, words_before = 0, ""
  for line in string.gmatch(text, "[^\n]*\n?") do
    local form = form_of(line)
    local new = not known[words_before .. form]
    known[words_before .. form] = true
    for length = 1, #line do
      if new or length == 1 or length >= #line - 1 then
        cut(at + length)
      end
    end
    at, words_before = at + #line, string.gsub(form, "%A", "")
  end
end

local function cut_everywhere(path, known)
  local whole = corpus.slurp(path)
  local text = condensed(whole)
  check.begin(path)
  local seen = { errors = 0, wrong = 0 }
  each_cut(text, known, function(length)
    try(seen, string.sub(text, 1, length), length)
  end)
  if text ~= whole and #whole <= WINDOWED then
    each_cut(whole, known, function(length)
      try(seen, string.sub(whole, window_start(whole, length), length), length)
    end)
  end
  check.equal(seen.errors, 0, "cuts with a Lua error (first: " .. tostring(seen.first) .. ")")
  check.equal(seen.wrong, 0, "malformed rows")
end

local logs = corpus.files(arg[1])
for index = 2, #arg do
  logs[#logs + 1] = arg[index]
end
local count, known = 0, {}
for _, path in ipairs(logs) do
  -- The lab's logs have one shape per format: the IKEv2 and the NAT run stand for all.
  if not corpus.is_of_lab(arg[1], path) or string.find(path, "ikev2", 1, true)
    or string.find(path, "natt", 1, true) then
    count = count + 1
    cut_everywhere(path, known)
  end
end
check.finish("cuts of " .. count .. " logs")
