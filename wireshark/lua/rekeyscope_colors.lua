-- Coloring rules in the file that Wireshark keeps them in: those of ../rekeyscope_colorfilters. Pure but for `fs` (see
-- rekeyscope_store.lua).

local store = require("rekeyscope_store")

local colors = {}

-- The rules as Wireshark writes them: @name@display filter@[background][foreground]; a "!" before one that is switched
-- off.
colors.RULES = {
  '@rekeyscope: key mismatch@rekeyscope.key_status == "mismatch"@[52428,0,0][65535,65535,65535]',
  '@rekeyscope: rekey without an answer, refused or late@rekeyscope.attempt_outcome@[52428,0,0][65535,65535,65535]',
  '@rekeyscope: first packet on a new SPI@rekeyscope.gap_ms@[65535,49151,16384][0,0,0]',
  '@rekeyscope: rekey exchange@rekeyscope.rekey && isakmp@[29555,8995,33153][65535,65535,65535]',
  '@rekeyscope: ESP not decrypted@esp && rekeyscope.key_status in {"missing", "masked", "not loaded", '
    .. '"unused", "cut"}@[59110,59110,59110][29555,29555,29555]',
}

local function name_of(line)
  return string.match(line, "^!?@([^@]*)@")
end

-- A file's text with the rules that it lacks, before all others, because the first match wins; and how many it lacked.
function colors.added(text)
  local there, missing = {}, {}
  for line in string.gmatch(text, "[^\r\n]+") do
    there[name_of(line) or ""] = true
  end
  for _, rule in ipairs(colors.RULES) do
    if not there[name_of(rule)] then
      missing[#missing + 1] = rule .. "\n"
    end
  end
  local first = string.find("\n" .. text, "\n!?@") or #text + 1
  local before = string.sub(text, 1, first - 1)
  if #missing > 0 and before ~= "" and not string.find(before, "\n$") then
    before = before .. "\n"
  end
  return before .. table.concat(missing) .. string.sub(text, first), #missing
end

-- Adds what is missing to the file at `path`; a profile without one has Wireshark's own rules, those at `default`.
-- Rules that are there stay as they are, switched off or changed. Returns how many were added, or nil and a reason.
function colors.install(fs, path, default)
  local text, missing = colors.added(fs.read(path) or fs.read(default) or "")
  if missing == 0 then
    return 0
  end
  local done, reason = store.rewrite(fs, path, text)
  if not done then
    return nil, reason
  end
  return missing
end

return colors
