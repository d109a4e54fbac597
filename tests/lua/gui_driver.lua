-- Runs inside Wireshark's GUI, beside the plugin, and does what a user does with menu and dialog. REKEYSCOPE_TEST_DIR holds what
-- must survive a reload of the Lua plugins: the step file. Writes what it sees to result.

local folder, log = os.getenv("REKEYSCOPE_TEST_DIR"), os.getenv("REKEYSCOPE_TEST_LOG")
if not (folder and gui_enabled()) then
  return
end

local function slurp(name)
  local file = io.open(folder .. "/" .. name, "rb")
  local text = file and file:read("*a") or ""
  if file then
    file:close()
  end
  return text
end

local function put(name, text)
  local file = io.open(folder .. "/" .. name, "wb")
  file:write(text)
  file:close()
end

-- "verified=20209" and the total: how many packets have which key status by now.
local function count(gui)
  local by_status, total = {}, 0
  for _, one in ipairs(gui.context.accounts.state.sas) do
    for status, number in pairs(one.status) do
      by_status[status] = (by_status[status] or 0) + number
      total = total + number
    end
  end
  local parts = {}
  for status, number in pairs(by_status) do
    parts[#parts + 1] = status .. "=" .. number
  end
  table.sort(parts)
  return table.concat(parts, " "), total
end

-- What each frame's tree shows, one line each, in the order of GUI_FIELDS in gui_tests.sh, written as `tshark -T fields` does.
local get, lines = {}, {}
for name in string.gmatch(os.getenv("REKEYSCOPE_TEST_FIELDS"), "%S+") do
  get[#get + 1] = Field.new(name)
end

local function dump()
  return table.concat(lines, "\n") .. "\n"
end

-- The text of the window that a load ends with. Listeners are drawn last made first.
local function concluded(gui)
  gui.drawn()
  local parts = {}
  for window in pairs(gui.windows) do
    parts[#parts + 1] = window:get_text()
  end
  return table.concat(parts, "\n")
end

local STEPS = {}

-- The capture is open and nothing decrypts. The log beside it is loaded by itself.
STEPS[""] = function(gui)
  put("before", (count(gui)))
  put("offered", gui.offered())
  put("colors", gui.install_colors():get_text())
  put("colors_again", gui.install_colors():get_text())
  put("step", "beside")
end

STEPS.beside = function(gui)
  put("beside", (count(gui)))
  put("beside_said", concluded(gui))
  put("step", "forgotten")
  gui.forget()
end

-- Nothing is loaded by itself any more: the dialog's OK.
STEPS.forgotten = function(gui)
  put("forgotten", (count(gui)))
  put("forgotten_said", concluded(gui))
  put("step", "loaded")
  gui.load_log(log, "", "ephemeral")
end

-- The plugins were reloaded.
STEPS.loaded = function(gui)
  put("said", concluded(gui))
  put("step", "redissected")
  put("after", (count(gui)))
  put("frames_after", dump())
  put("messages", table.concat(gui.context.messages, "\n") .. "\n")
  redissect_packets()
end

STEPS.redissected = function(gui)
  put("again", (count(gui)))
  put("frames_again", dump())
  local text = gui.show_table():get_text()
  put("table_early", text)
  while string.find(text, "^rekeyscope is still reading") do
    text = gui.show_table():get_text()
  end
  put("table", text)
  put("step", "gone")
  gui.go_to(100)
  put("alone", tostring(gui.alone))
end

-- The frame of a row was shown alone: Wireshark draws, and the plugin shows the others, too.
STEPS.gone = function(gui)
  if not gui.alone then
    put("step", "done")
  end
end

-- Listeners are drawn while a file is read, too: a step waits for the last packet.
gui_test_tap = Listener.new("frame", "esp or isakmp")

function gui_test_tap.reset()
  lines = {}
end

function gui_test_tap.packet()
  local values, shown = {}, false
  for index, field in ipairs(get) do
    local info = field()
    values[index] = info and tostring(info) or ""
    -- Frame number and time aside, a frame of neither kind has no value.
    shown = shown or (info ~= nil and index > 1)
  end
  if shown then
    lines[#lines + 1] = table.concat(values, "\t")
  end
end

function gui_test_tap.draw()
  local gui = require("rekeyscope_gui")
  local step = STEPS[slurp("step")]
  if step and gui.context and select(2, count(gui)) == tonumber(os.getenv("REKEYSCOPE_TEST_PACKETS")) then
    step(gui)
  end
end
