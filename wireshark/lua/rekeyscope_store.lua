-- Puts rows into one of Wireshark's table files and takes them out again. The user's file is moved aside, not
-- rewritten, so that it comes back with its bytes, its mode and its inode. Pure but for `fs`: { read, write,
-- rename, remove }, each true/nil, reason.
--
--   <file>                       our section, then the user's bytes unchanged
--   <file>.rekeyscope-original   the user's file while ours stands in its place
--   <file>.rekeyscope-new        being written
--
-- Wireshark skips lines that begin with "#", so a section names itself and can be recognised after a crash.

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

-- The rest of a text after the section it begins with.
local function after_section(text)
  local _, last = string.find(text, "\n" .. END .. "\r?\n")
  return last and string.sub(text, last + 1) or ""
end

-- The user's part of a text: everything after our temporary sections.
local function without_temporary(text)
  while begins_with(text, TEMPORARY) do
    text = after_section(text)
  end
  return text
end

-- The marker of the topmost temporary section: { nonce, pid, time, absent } or nil.
function store.marker(text)
  if not text or not begins_with(text, TEMPORARY .. " ") then
    return nil
  end
  local line = string.match(text, "^[^\r\n]*")
  return {
    nonce = string.match(line, " nonce=(%w+)"), pid = string.match(line, " pid=(%d+)"),
    time = tonumber(string.match(line, " time=(%d+)") or ""),
    absent = string.find(line, "original=absent", 1, true) ~= nil,
  }
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

-- Takes our temporary sections out, whoever's they are.
local function restore(fs, path, text, marker)
  local aside = path .. ".rekeyscope-original"
  if fs.read(aside) then
    return replace(fs, aside, path)
  end
  local body = without_temporary(text)
  if body == "" and marker.absent then
    return fs.remove(path)
  end
  return write_over(fs, path, body)
end

-- Mends what a killed program left: true when there was something to mend. `is_alive(marker)` tells whether the
-- program that wrote a section may still be starting; then the section is left to it.
function store.repair(fs, path, is_alive)
  local text, aside = fs.read(path), path .. ".rekeyscope-original"
  local marker = store.marker(text)
  if marker and is_alive(marker) then
    return false
  end
  local mended, old = false, path .. ".rekeyscope-old"
  if fs.read(old) then
    -- Killed between the two renames of replace().
    if text then
      fs.remove(old)
    else
      fs.rename(old, path)
      text = fs.read(path)
      marker = store.marker(text)
    end
    mended = true
  end
  if fs.read(path .. ".rekeyscope-new") then
    fs.remove(path .. ".rekeyscope-new")
    mended = true
  end
  if marker then
    return restore(fs, path, text, marker)
  end
  if fs.read(aside) then
    if text then
      -- Someone wrote the table anew since; theirs is newer, the older one is kept beside it.
      return replace(fs, aside, path .. ".rekeyscope-saved")
    end
    return replace(fs, aside, path)
  end
  return mended
end

-- Puts `rows` before the user's rows (the first match wins in Wireshark) until release(). `who`: { nonce, pid,
-- time }.
function store.lend(fs, path, rows, who)
  local text = fs.read(path)
  local under = store.marker(text)
  local absent = text == nil or (under ~= nil and under.absent)
  local first_line = TEMPORARY .. " nonce=" .. who.nonce .. " pid=" .. (who.pid or "") .. " time=" .. (who.time or "")
    .. " original=" .. (absent and "absent" or "present")
  local new, reason = write_new(fs, path, section(first_line, rows) .. (text or ""))
  if not new then
    return nil, reason
  end
  if text and not under then
    local ok
    ok, reason = fs.rename(path, path .. ".rekeyscope-original")
    if not ok then
      fs.remove(new)
      return nil, reason
    end
  end
  return replace(fs, new, path)
end

-- Ends lend(): true when the user's file stands again, false when another program's rows lie on top (it will
-- restore the file).
function store.release(fs, path, nonce)
  local text = fs.read(path)
  local marker = store.marker(text)
  if not marker or marker.nonce ~= nonce then
    return false
  end
  return restore(fs, path, text, marker)
end

-- Puts `rows` in for good, in place of what an earlier call put in; no rows takes them out. User's bytes stay
-- as they are.
function store.keep(fs, path, rows)
  local text = fs.read(path)
  local body = without_temporary(text or "")
  if begins_with(body, PERSISTENT) then
    body = after_section(body)
  end
  if #rows == 0 then
    if not text or body == text then
      return true
    elseif body == "" then
      return fs.remove(path)
    end
    return write_over(fs, path, body)
  end
  return write_over(fs, path, section(PERSISTENT, rows) .. body)
end

-- The user's own part of a table's text.
function store.user_part(text)
  local body = without_temporary(text or "")
  return begins_with(body, PERSISTENT) and after_section(body) or body
end

return store
