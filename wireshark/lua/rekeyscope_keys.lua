-- Puts the keys of the chosen log into the profile's tables before Wireshark reads them, and takes them out
-- afterwards. Needs Wireshark's Dir and the file system; nothing happens before keys.new().

local colors = require("rekeyscope_colors")
local program = require("rekeyscope_program")
local source = require("rekeyscope_source")
local store = require("rekeyscope_store")

local keys = {}

local fs = { rename = os.rename, remove = os.remove }

-- nil for a folder, which opens on Linux but cannot be read.
local function first_bytes(path, count)
  local file = io.open(path, "rb")
  local bytes = file and file:read(count)
  if file then
    file:close()
  end
  return bytes
end

function fs.read(path)
  return first_bytes(path, "*a")
end

function fs.write(path, text)
  local file, reason = io.open(path, "wb")
  if not file then
    return nil, reason
  end
  local written
  written, reason = file:write(text)
  if not (file:close() and written) then
    return nil, reason or "the disk is full?"
  end
  return true
end

-- Returns the time at which a process started, from its line in /proc (field 22, proc(5)); nil for one that has ended
-- but is still listed. A process number alone may have been given to another program since.
local function start_of(stat)
  local state, start = string.match(stat or "", "%) (%a) " .. string.rep("%S+ ", 18) .. "(%d+)")
  return state ~= "Z" and state ~= "X" and start or nil
end

fs.is_windows = string.sub(package.config, 1, 1) ~= "/"

-- Returns a function that waits for what a command prints, and one that tells whether it still runs; nil where there is
-- no shell. A command that has ended stays listed until it was waited for, so that its number is no other's.
function fs.start(command)
  local made, pipe = pcall(io.popen, fs.is_windows and command or "echo $$; " .. command, "r")
  if not (made and pipe) then
    return nil
  end
  local process = { pid = not fs.is_windows and string.match(pipe:read("*l") or "", "^%d+$") or nil }
  local function is_running()
    return process.pid ~= nil and start_of(fs.read("/proc/" .. process.pid .. "/stat")) ~= nil
  end
  -- A pipe that Lua throws away waits for its command's end. What was made later goes before.
  setmetatable(process, { __gc = function()
    if is_running() then
      os.execute("kill " .. process.pid)
    end
  end })
  return function()
    local output = pipe:read("*a")
    pipe:close()
    process.pid = nil
    return output
  end, is_running
end

function fs.run(command)
  local wait = fs.start(command)
  return wait and wait()
end

function fs.is_folder(path)
  return Dir.exists(path) == true
end

function fs.holds_something(path)
  return first_bytes(path, 1) ~= nil
end

-- pcap of both byte orders and resolutions, pcapng.
local MAGICS = {
  ["\161\178\195\212"] = true, ["\212\195\178\161"] = true, ["\161\178\60\77"] = true, ["\77\60\178\161"] = true,
  ["\10\13\13\10"] = true,
}

-- Tells whether a path is a capture's.
function fs.is_capture(path)
  return MAGICS[first_bytes(path, 4) or ""] == true
end

-- An empty file that only its owner can read: os.tmpname() makes one (mkstemp(3)), and a file keeps its mode when it is
-- written to and renamed. Not possible where /tmp is another file system, nor needed on Windows.
function fs.make_private(path)
  if fs.is_windows then
    return
  end
  local made, name = pcall(os.tmpname)
  if made and not os.rename(name, path) then
    os.remove(name)
  end
end

-- Making a folder either succeeds or fails as a whole, so it can serve as a lock. The sections that it guards
-- take milliseconds: one that is held for longer was left by a killed program.
local LOCK_SECONDS = 2
-- A lock may be released between a failed attempt and the look whether it is there; not this often in a row.
local MOST_UNHELD = 100

function fs.lock(path)
  local lock, given_up, unheld = path .. ".rekeyscope-lock", os.time() + LOCK_SECONDS, 0
  while not Dir.make(lock) do
    -- Nobody holds it, yet it cannot be made: the folder is missing or read-only, and writing will say so.
    unheld = unheld + (Dir.exists(lock) and 0 or 1)
    if os.time() > given_up or unheld > MOST_UNHELD then
      return
    end
  end
end

function fs.unlock(path)
  Dir.remove(path .. ".rekeyscope-lock")
end

-- Names us to another instance that runs at the same time.
local function identity()
  local stat = fs.read("/proc/self/stat") or ""
  local me = { time = os.time(), pid = string.match(stat, "^%d+"), start = start_of(stat) }
  me.nonce = string.format("%d", me.time) .. string.gsub(tostring(me), "[^%x]", "")
  return me
end

local me = identity()

-- By its process where the system shows processes, else by age: from loading scripts to reading tables takes a
-- second at most.
local SECONDS_TO_START = 10

function fs.is_alive(marker)
  if marker.pid and me.pid then
    local start = start_of(fs.read("/proc/" .. marker.pid .. "/stat"))
    return marker.pid ~= me.pid and start ~= nil and start == marker.start
  end
  local age = me.time - (tonumber(marker.time) or 0)
  return age >= 0 and age < SECONDS_TO_START
end

-- The folder of a profile's tables; "" and "Default" name the personal folder itself.
local function profile_folder(profile)
  local folder = string.gsub(Dir.personal_config_path(""), "[/\\]+$", "")
  if profile and profile ~= "" and profile ~= "Default" then
    folder = folder .. "/profiles/" .. profile
  end
  return folder
end

local function table_path(profile, name)
  return profile_folder(profile) .. "/" .. name
end

-- A new user has none of the folders above Wireshark's either.
local function make_folder(path)
  for at in string.gmatch(path .. "/", "().?[/\\]") do
    local upper = string.sub(path, 1, at)
    if not Dir.exists(upper) then
      Dir.make(upper)
    end
  end
end

local function state_path()
  return table_path("", "rekeyscope_state")
end

-- The profile that the GUI works in: it writes the name down whenever the profile changes. Lua has no other way
-- to ask.
local function gui_profile()
  local recent = fs.read(table_path("", "recent_common"))
  return recent and string.match("\n" .. recent, "\ngui%.last_used_profile: ([^\r\n]+)")
end

-- The key files beside a capture.
function keys.beside(capture)
  return capture and source.beside(capture, fs.holds_something) or {}
end

-- The capture that tshark was started to read (`-r FILE`), where the system shows command lines (Linux), or nil.
local function read_capture()
  local is_named, path = false, nil
  for word in string.gmatch(fs.read("/proc/self/cmdline") or "", "[^%z]+") do
    if is_named then
      path = word
    end
    is_named = string.find(word, "^%-%a*r$") ~= nil
    path = path or string.match(word, "^%-r(.+)$") or string.match(word, "^%-%-read%-file=(.+)$")
  end
  return path and fs.is_capture(path) and path or nil
end

-- Chooses what to load and where, from the arguments and all other sources.
local function choose(self)
  local capture = not self.is_gui and read_capture() or nil
  self.choice = source.choose(self.arguments, {
    keylog = os.getenv("REKEYSCOPE_KEYLOG"), profile = os.getenv("REKEYSCOPE_PROFILE"),
    mode = os.getenv("REKEYSCOPE_MODE"), program = os.getenv("REKEYSCOPE_PROGRAM"),
  }, self.state, { capture = capture, files = keys.beside(capture) })
  self.choice.profile = self.choice.profile or self.gui_profile
  if self.choice.profile and string.find(self.choice.profile, "[/\\]") then
    self.say("a profile's name has no slash: " .. self.choice.profile .. " is not used")
    self.choice.profile = self.gui_profile
  end
end

-- options: { arguments, say, gui }. `say` takes a sentence for the user; `gui` is true in Wireshark, false in
-- tshark.
function keys.new(options)
  local self = { say = options.say, lent = {}, arguments = options.arguments, is_gui = options.gui }
  self.state = source.read_state(fs, state_path())
  self.gui_profile = options.gui and gui_profile() or nil
  choose(self)
  if self.state.seen or self.state.capture then
    -- Both hold for the capture that was open when the dialog was used: for one reload.
    self.state.seen, self.state.capture = nil, nil
    source.write_state(fs, state_path(), self.state.beside and {} or self.state)
  end
  return self
end

-- Mends what an interrupted run has left in the tables.
function keys.repair(self)
  for _, profile in ipairs({ "", self.choice.profile }) do
    for _, name in ipairs(source.TABLES) do
      if store.repair(fs, table_path(profile, name)) then
        self.say(name .. ": took out what an interrupted run had left")
      end
    end
  end
end

local function put(self, name, list)
  local path, done, reason = table_path(self.choice.profile, name), true, nil
  if self.choice.mode == "persistent" then
    done, reason = store.keep(fs, path, list)
  elseif #list > 0 then
    done, reason = store.lend(fs, path, list, me)
    self.lent[path] = done
  end
  if not done then
    self.say("cannot write " .. path .. ": " .. tostring(reason) .. ". Wireshark reads keys from there only: make the"
      .. " folder writable, choose another profile, or run `rekeyscope wireshark CAPTURE`")
  end
end

-- Reads the chosen log and puts its rows in. Returns the sets of SPIs that rekeyscope_packets asks for, or nil.
function keys.load(self)
  if not self.choice.keylog then
    return nil
  end
  local major, minor = string.match(get_version and get_version() or "", "^(%d+)%.(%d+)")
  major, minor = tonumber(major or 4), tonumber(minor or 0)
  local profile = self.choice.profile
  local loaded, reason = source.load(fs, self.choice, {
    accepts_chacha = major > 4 or (major == 4 and minor >= 6),
    user_esp = store.user_part(fs.read(table_path(profile, source.TABLES[1]))),
    user_ike = store.user_part(fs.read(table_path(profile, source.TABLES[2]))),
    -- A window has to draw again soon; whoever waits in a terminal sees that and can end it.
    seconds = self.is_gui and program.PATIENCE_S or nil,
  })
  if not loaded then
    self.say(reason)
    return nil
  end
  for _, sentence in ipairs(loaded.sentences) do
    self.say(sentence)
  end
  if not Dir.exists(profile_folder(profile)) then
    if profile_folder(profile) ~= profile_folder("") then
      self.say("there is no profile \"" .. profile .. "\": make it in Wireshark first, or correct profile=NAME")
      return nil
    end
    make_folder(profile_folder(profile))
  end
  put(self, source.TABLES[1], loaded.esp)
  put(self, source.TABLES[2], loaded.ike1)
  self.decrypts = #loaded.esp > 0 or #loaded.ike1 > 0
  return loaded
end

-- The user's tables as they were. Harmless when there is nothing to give back.
function keys.give_back(self)
  for path in pairs(self.lent) do
    self.lent[path] = nil
    store.release(fs, path, me.nonce)
  end
end

-- Loads anew with more arguments: those of another copy of the plugin. Returns what keys.load returns.
function keys.again(self, arguments)
  for name, value in pairs(arguments) do
    self.arguments[name] = value
  end
  keys.give_back(self)
  choose(self)
  keys.repair(self)
  return keys.load(self)
end

-- Writes down what the dialog chose, for the reload that follows and for later starts. An empty keylog forgets.
function keys.remember(state)
  return source.write_state(fs, state_path(), state)
end

-- The capture that Wireshark has open, or nil, and whether it has been read to its end. Lua cannot ask for its name:
-- where the system shows which files a process holds open (Linux), it is one of them, twice while it is being read.
function keys.open_capture()
  local listed = me.pid and fs.run("readlink /proc/" .. me.pid .. "/fd/* 2>/dev/null") or ""
  local capture, times = nil, 0
  for path in string.gmatch(listed, "[^\n]+") do
    local folder = string.match(path, "^(/.*)/[^/]*$")
    if not capture and folder and folder ~= profile_folder("") and not string.find(folder, "^/dev")
      and fs.is_capture(path) then
      capture = path
    end
    times = times + (path == capture and 1 or 0)
  end
  return capture, times == 1
end

-- Asks the program about the capture that is open, where that is known and the file is complete. Returns what
-- program.answer returns, or nil.
function keys.answer(self)
  local capture, is_read = nil, false
  if self.is_gui then
    capture, is_read = keys.open_capture()
  end
  capture = is_read and capture or not self.is_gui and read_capture()
  local choice = self.choice
  return capture and program.answer(fs.start, {
    program = choice.program, windows = fs.is_windows, files = source.files(fs, choice), capture = capture,
    no_keys = choice.is_none,
  }) or nil
end

-- Adds the coloring rules to the profile that the GUI works in now. Returns how many were missing, or nil; and the file
-- or a reason.
function keys.install_colors()
  local profile = gui_profile()
  local path = table_path(profile, "colorfilters")
  make_folder(profile_folder(profile))
  if Dir.exists(path) ~= nil and not fs.read(path) then
    return nil, path .. ": it cannot be read"
  end
  local added, reason = colors.install(fs, path, Dir.global_config_path("colorfilters"))
  return added, added and path or path .. ": " .. tostring(reason)
end

-- Takes persistent rows out of a profile's tables.
function keys.forget(profile)
  for _, name in ipairs(source.TABLES) do
    store.keep(fs, table_path(profile, name), {})
  end
end

-- A sentence that says why a log cannot be loaded, or nil.
function keys.try(self, path, capture)
  local choice = { keylog = path, from = "the dialog", capture = capture, program = self.choice.program }
  local loaded, reason = source.load(fs, choice, { seconds = program.PATIENCE_S })
  if not loaded then
    return reason
  elseif #loaded.esp == 0 and #loaded.ike1 == 0 then
    return "No key in it can be loaded.\n" .. table.concat(loaded.sentences, "\n")
  end
  return nil
end

return keys
