-- The smallest test harness that will do: check.equal, check.truth, check.group; counts and names every failure.

local check = { passed = 0, failed = 0, group = "" }

function check.begin(name)
  check.group = name
end

local function show(value)
  if type(value) == "table" then
    local parts = {}
    for key, inner in pairs(value) do
      parts[#parts + 1] = tostring(key) .. "=" .. tostring(inner)
    end
    table.sort(parts)
    return "{" .. table.concat(parts, ", ") .. "}"
  end
  return tostring(value)
end

function check.truth(value, what)
  if value then
    check.passed = check.passed + 1
  else
    check.failed = check.failed + 1
    print("not ok: " .. check.group .. ": " .. what)
  end
end

function check.equal(got, wanted, what)
  if got == wanted then
    check.passed = check.passed + 1
  else
    check.failed = check.failed + 1
    print("not ok: " .. check.group .. ": " .. what .. ": got " .. show(got) .. ", wanted " .. show(wanted))
  end
end

-- Prints the counts for the runner to add up.
function check.finish(label)
  print(string.format("%s: %d passed, %d failed", label, check.passed, check.failed))
  os.exit(check.failed == 0 and 0 or 1)
end

return check
