-- Finds key logs: tests/keylog, samples, the lab. Uses `ls`, because plain Lua lists no folders.

local corpus = {}

function corpus.slurp(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

function corpus.exists(path)
  local file = io.open(path, "rb")
  if file then
    file:close()
  end
  return file ~= nil
end

local function list(pattern)
  local files = {}
  local pipe = io.popen("ls -d " .. pattern .. " 2>/dev/null")
  for line in pipe:lines() do
    files[#files + 1] = line
  end
  pipe:close()
  return files
end

-- The folder of the lab's captures, or nil: a user's clone has none, and REKEYSCOPE_NO_SHARED hides it.
function corpus.lab(root)
  if os.getenv("REKEYSCOPE_NO_SHARED") then
    return nil
  end
  for _, up in ipairs({ "/..", "/../.." }) do
    local found = list("'" .. root .. up .. "/shared/lab/captures'")
    if found[1] then
      return found[1]
    end
  end
  return nil
end

-- Whether a file is one of the lab's.
function corpus.is_of_lab(root, path)
  local lab = corpus.lab(root)
  return lab ~= nil and string.sub(path, 1, #lab) == lab
end

-- Key logs of the shared corpus: the ones with an .expect beside them.
function corpus.expected(root)
  return list("'" .. (os.getenv("REKEYSCOPE_CORPUS") or root .. "/tests/keylog") .. "'/*.expect")
end

-- Every key log there is.
function corpus.files(root)
  local files = {}
  local function add(pattern)
    for _, path in ipairs(list(pattern)) do
      local ending = string.match(path, "%.(%a+)$")
      if ending ~= "expect" and ending ~= "md" and ending ~= "py" and ending ~= "rs" then
        files[#files + 1] = path
      end
    end
  end
  add("'" .. root .. "'/tests/keylog/*.*")
  add("'" .. root .. "'/samples/*.keylog")
  local lab = corpus.lab(root)
  if lab then
    for _, pattern in ipairs({ "/*/xfrm.cli.log", "/*/charon.cli.log", "/*/keys.*" }) do
      add("'" .. lab .. "'" .. pattern)
    end
  end
  return files
end

return corpus
