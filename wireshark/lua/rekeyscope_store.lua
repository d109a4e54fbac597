-- Puts rows into one of Wireshark's table files and takes them out again. The user's file is moved aside, not
-- rewritten, so that it comes back with its bytes, its mode and its inode. Pure but for `fs`:
--   read, write, rename, remove   each a value, or nil and a reason
--   make_private                  an empty file that its owner alone can read, where the system lets Lua make one
--   lock, unlock                  of a path, among programs that start at the same time
--   is_alive                      whether the program that a section's marker names still runs
--
--   <file>                       our section, then the user's bytes unchanged
--   <file>.rekeyscope-original   the user's file while ours stands in its place
--   <file>.rekeyscope-new        being written
--
-- Wireshark skips lines that begin with "#", so a section names itself and can be recognised after a crash.
-- Several programs may have a section each; the last one to leave, or the next one to start, restores the
-- user's file.

local store = {}

local TEMPORARY = "# rekeyscope temporary rows"
local PERSISTENT = "# rekeyscope rows"
local END = "# rekeyscope end"

local function section(first_line, rows)
  return first_line .. "\n" .. table.concat(rows, "\n") .. (#rows > 0 and "\n" or "") .. END .. "\n"
end

local function begins_with(text, prefix)
  return string.sub(text, 1, #prefix) == prefix
end

-- A section's first line names the program that wrote it (nonce, pid, start, time), and says whether the user had a
-- file.
local function marker_of(text)
  local marker = {}
  for name, value in string.gmatch(string.match(text, "^[^\r\n]*"), " (%l+)=(%w+)") do
    marker[name] = value
  end
  return marker
end

-- Returns the end of the section at the beginning of a text; a section that lost its end goes on to the text's.
local function section_end(text)
  local _, last = string.find(text, "\n" .. END .. "\r?\n")
  return last or #text
end

-- The temporary sections at the beginning of a text, and what follows them.
local function split(text)
  local sections = {}
  while begins_with(text, TEMPORARY) do
    local last = section_end(text)
    sections[#sections + 1] = { text = string.sub(text, 1, last), marker = marker_of(text) }
    text = string.sub(text, last + 1)
  end
  return sections, text
end

-- rename() does not replace a file on Windows; there the old one steps aside first and comes back if the second
-- step fails.
local function replace(fs, from, to)
  local ok, reason = fs.rename(from, to)
  if ok then
    return true
  end
  local old = to .. ".rekeyscope-old"
  if not fs.read(to) or not fs.rename(to, old) then
    return nil, reason
  end
  ok, reason = fs.rename(from, to)
  if ok then
    fs.remove(old)
    return true
  end
  fs.rename(old, to)
  return nil, reason
end

local function write_new(fs, path, text)
  local new = path .. ".rekeyscope-new"
  fs.make_private(new)
  local ok, reason = fs.write(new, text)
  if not ok then
    fs.remove(new)
    return nil, reason
  end
  return new
end

local function write_over(fs, path, text)
  local new, reason = write_new(fs, path, text)
  if not new then
    return nil, reason
  end
  return replace(fs, new, path)
end

-- Leaves the sections that `keeps` says; without any, the user's file is put back as it was.
local function keep_sections(fs, path, text, keeps)
  local sections, body = split(text)
  local kept, absent = {}, false
  for _, one in ipairs(sections) do
    absent = absent or one.marker.original == "absent"
    if keeps(one.marker) then
      kept[#kept + 1] = one.text
    end
  end
  local aside = path .. ".rekeyscope-original"
  if #kept > 0 then
    return #kept == #sections or write_over(fs, path, table.concat(kept) .. body)
  elseif fs.read(aside) then
    return replace(fs, aside, path)
  elseif body == "" and absent then
    return fs.remove(path)
  end
  return write_over(fs, path, body)
end

-- An action that takes `fs`, a path and more, with the path locked meanwhile.
local function locked(action)
  return function(fs, path, ...)
    fs.lock(path)
    local result, reason = action(fs, path, ...)
    fs.unlock(path)
    return result, reason
  end
end

-- Mends what a killed program left: true when there was something to mend.
store.repair = locked(function(fs, path)
  local text, aside, old = fs.read(path), path .. ".rekeyscope-original", path .. ".rekeyscope-old"
  local mended = false
  if fs.read(old) then
    -- Killed between the two renames of replace().
    if text then
      fs.remove(old)
    else
      fs.rename(old, path)
      text = fs.read(path)
    end
    mended = true
  end
  if fs.read(path .. ".rekeyscope-new") then
    fs.remove(path .. ".rekeyscope-new")
    mended = true
  end
  if text and begins_with(text, TEMPORARY) then
    keep_sections(fs, path, text, fs.is_alive)
    return mended or fs.read(path) ~= text
  elseif fs.read(aside) then
    -- A table that someone wrote anew since is newer, and the older one is kept beside it.
    return replace(fs, aside, text and path .. ".rekeyscope-saved" or path)
  end
  return mended
end)

-- Puts `rows` before the user's rows (the first match wins in Wireshark) until release(). `who`: { nonce, pid, start,
-- time }.
store.lend = locked(function(fs, path, rows, who)
  local text = fs.read(path)
  local under = text and split(text) or {}
  local absent = text == nil or (under[1] ~= nil and under[1].marker.original == "absent")
  local first_line = TEMPORARY .. " nonce=" .. who.nonce .. " pid=" .. (who.pid or "") .. " start=" .. (who.start or "")
    .. " time=" .. (who.time or "") .. " original=" .. (absent and "absent" or "present")
  local new, reason = write_new(fs, path, section(first_line, rows) .. (text or ""))
  if not new then
    return nil, reason
  end
  if text and #under == 0 then
    local ok
    ok, reason = fs.rename(path, path .. ".rekeyscope-original")
    if not ok then
      fs.remove(new)
      return nil, reason
    end
  end
  return replace(fs, new, path)
end)

-- Ends lend(). The user's file stands again unless another living program's rows are still in.
store.release = locked(function(fs, path, nonce)
  local text = fs.read(path)
  if not text or not begins_with(text, TEMPORARY) then
    return true
  end
  return keep_sections(fs, path, text, function(marker)
    return marker.nonce ~= nonce and fs.is_alive(marker)
  end)
end)

-- The user's own part of a table's text.
function store.user_part(text)
  local _, body = split(text or "")
  return begins_with(body, PERSISTENT) and string.sub(body, section_end(body) + 1) or body
end

-- Puts `rows` in for good, in place of what an earlier call put in; no rows takes them out. The user's bytes
-- stay as they are; the file becomes private where that is possible.
store.keep = locked(function(fs, path, rows)
  local text = fs.read(path)
  local body = store.user_part(text)
  local whole = (#rows > 0 and section(PERSISTENT, rows) or "") .. body
  if #rows == 0 and body == (text or "") then
    return true
  elseif whole == "" then
    return fs.remove(path)
  end
  return write_over(fs, path, whole)
end)

-- A file that is the user's to see and change, written whole or not at all.
store.rewrite = locked(write_over)

return store
