-- lab_logs.lua ROOT: the lab's kernel logs give the same rows as its tables, and none is rejected.

local check = require("check")
local corpus = require("corpus")
local keylog = require("rekeyscope_keylog")
local rows = require("rekeyscope_rows")

local root = arg[1]

local function plan_of(file)
  local result = keylog.parse(corpus.slurp(file))
  local made = rows.esp(result.entries, {})
  check.equal(#made.rejected, 0, file .. ": rejected")
  table.sort(made.rows)
  return table.concat(made.rows, "\n")
end

check.begin("lab")
for _, path in ipairs(corpus.files(root)) do
  local run_folder = string.match(path, "^(.*)/[^/]+$")
  if corpus.is_of_lab(root, path) and string.find(path, "xfrm", 1, true) then
    check.equal(plan_of(path), plan_of(run_folder .. "/keys.esp_sa"), path .. ": the same rows as keys.esp_sa")
  end
end
check.finish("lab_logs")
