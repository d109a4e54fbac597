-- Tools ▸ rekeyscope. Needs Wireshark's GUI functions; nothing happens before gui.new().

local keys = require("rekeyscope_keys")
local packets = require("rekeyscope_packets")
local program = require("rekeyscope_program")
local report = require("rekeyscope_report")
local sa = require("rekeyscope_sa")
local source = require("rekeyscope_source")

local gui = {}

-- Windows vanish when nothing refers to them.
gui.windows = {}

local function window(title, text)
  local new = TextWindow.new(title)
  gui.windows[new] = true
  new:set_atclose(function()
    gui.windows[new] = nil
  end)
  new:set(text)
  return new
end

-- A display filter for every frame of every rekey in the table.
local function rekey_filter(state)
  local confirmed, numbers = sa.confirmed(state), {}
  if #confirmed == #state.rekeys then
    return "rekeyscope.rekey"
  end
  for index, rekey in ipairs(confirmed) do
    numbers[index] = tostring(rekey.number)
  end
  return "rekeyscope.rekey in {" .. table.concat(numbers, ", ") .. "}"
end

-- Selects a frame among all others. Lua cannot select, but a frame that is shown alone gets selected, and stays it when
-- the others come back. Wireshark drops a filter that is set before the one before it is through: see gui.drawn.
function gui.go_to(frame)
  set_filter("frame.number == " .. frame)
  apply_filter()
  gui.alone = true
end

-- A button for each row is as many as fit; more rows share one that asks for the row.
local MOST_ROW_BUTTONS = 8

local function add_row_buttons(new, rekeys)
  if #rekeys <= MOST_ROW_BUTTONS then
    for number, rekey in ipairs(rekeys) do
      new:add_button("#" .. number, function()
        gui.go_to(rekey.frame)
      end)
    end
    return
  end
  new:add_button("Go to…", function()
    new_dialog("rekeyscope: go to a rekey", function(number)
      local rekey = rekeys[tonumber(number)]
      if rekey then
        gui.go_to(rekey.frame)
      end
    end, { name = "# (1 to " .. #rekeys .. ")", value = "1" })
  end)
end

local STILL_READS = "rekeyscope is still reading this capture: Answer, below, asks again.\n"
  .. "If it never ends, `rekeyscope CAPTURE` in a terminal shows how far it gets."

function gui.show_table()
  local state = gui.context.accounts.state
  local answer, text, said = gui.context.ask(), nil, nil
  local function look()
    said = answer and answer(program.PATIENCE_S)
    text = report.all(state, answer and (said or STILL_READS))
    return text
  end
  local new = window("rekeyscope: rekeys", look())
  add_row_buttons(new, sa.confirmed(state))
  new:add_button("Filter", function()
    set_filter(rekey_filter(state))
    apply_filter()
  end)
  new:add_button("Copy", function()
    copy_to_clipboard(text)
  end)
  if answer and not said then
    new:add_button("Answer", function()
      new:set(look())
    end)
  end
  return new
end

-- Adds the coloring rules. Wireshark reads them when it starts, when another profile is chosen, and with the plugins.
function gui.install_colors()
  local added, where = keys.install_colors()
  local title = "rekeyscope: coloring rules"
  if not added then
    return window(title, "Cannot write " .. where .. "\n")
  end
  local text = (added > 0 and added .. " coloring rules were added to " or "All coloring rules are in ") .. where
    .. "\n\nReload reads them now (the capture is read again); otherwise they are there when Wireshark starts next.\n"
    .. "View > Coloring Rules... shows them, and switches them off.\n"
  local new = window(title, text)
  new:add_button("Reload", function()
    reload_lua_plugins()
  end)
  return new
end

-- Loads a log into the open capture: Wireshark reads tables with the plugins. Returns nil, or why it cannot.
local function load(state)
  local reason = keys.try(gui.context.loader, state.keylog, state.capture)
  if reason then
    return reason
  end
  state.seen = source.seen_text(packets.seen(gui.context.accounts))
  local done, why = keys.remember(state)
  if not done then
    return "Cannot write the state file: " .. tostring(why)
  end
  reload_lua_plugins()
  return nil
end

-- Loads what lies beside the open capture, where no log was chosen and none is to be loaded. Wireshark must have read
-- all of the capture: plugins cannot be loaded anew between two packets. Returns whether that has to be waited for.
local function load_beside()
  local context = gui.context
  local choice = context.loader.choice
  if choice.is_none or choice.keylog and choice.from ~= source.BESIDE or not context.accounts.lacks_keys then
    return false
  end
  local capture, is_read = keys.open_capture()
  if not capture or capture == choice.capture or capture == context.tried then
    return false
  elseif not is_read then
    return true
  end
  context.tried = capture
  local beside = keys.beside(capture)
  if #beside > 0 then
    local state = { keylog = source.joined(beside), capture = capture, beside = "yes" }
    context.messages[#context.messages + 1] = load(state)
  end
  return false
end

local function show_status()
  local context = gui.context
  local choice = context.loader.choice
  local log = choice.keylog and ("Key log: " .. choice.keylog .. " (" .. choice.from .. ")") or "No key log is loaded."
  window("rekeyscope: key log", report.closing(context.accounts.state) .. "\n" .. log .. "\n"
    .. table.concat(context.messages, "\n") .. "\n")
end

-- Says what became of a log that was just loaded, when all packets that were there before have come again.
local function conclude()
  local missing = gui.context.awaited
  for _, one in ipairs(missing and gui.context.accounts.state.sas or {}) do
    missing = missing - one.packets
  end
  if missing and missing <= 0 then
    gui.context.awaited = nil
    show_status()
  end
end

-- Wireshark draws: it has filtered, or read packets.
function gui.drawn()
  if gui.alone then
    gui.alone = nil
    set_filter("")
    apply_filter()
  end
  conclude()
  gui.waits = true
end

-- Wireshark shows a packet that it has read before. It may draw for the last time before it has come to the capture's
-- end; what waits for that looks here again.
function gui.showed()
  conclude()
  gui.waits = gui.waits and load_beside()
end

-- The log that the dialog begins with: the one that is loaded, unless this capture needs another and has it beside it.
function gui.offered()
  local keylog = gui.context.loader.choice.keylog
  local beside = (keylog and not gui.context.accounts.lacks_keys) and {} or keys.beside(keys.open_capture())
  return #beside > 0 and source.joined(beside) or keylog or ""
end

local NOTHING_BESIDE = "No key file was found beside the capture: enter the path of the log. On Linux alone\n"
  .. "a plugin can see which capture Wireshark has open."

-- Loads what the dialog names, at its OK.
function gui.load_log(path, profile, mode)
  path = string.gsub(string.match(path, "^%s*(.-)%s*$"), '^"(.*)"$', "%1")
  local capture = keys.open_capture()
  local state = {
    keylog = path, profile = profile ~= gui.context.loader.gui_profile and profile or "",
    mode = string.find(mode, "^[pP]") and "persistent" or "ephemeral", capture = capture,
  }
  if path == "" then
    state.keylog, state.beside = source.joined(keys.beside(capture)), "yes"
  end
  local reason = state.keylog == "" and NOTHING_BESIDE or load(state)
  if reason then
    window("rekeyscope: key log", reason .. "\n")
  end
end

-- Takes all keys out again; nothing is loaded until the dialog's next OK.
function gui.forget()
  keys.forget(gui.context.loader.choice.profile)
  keys.remember({ keylog = source.NONE })
  reload_lua_plugins()
end

local function ask_for_log()
  local loader = gui.context.loader
  local choice = loader.choice
  local profile = choice.profile ~= loader.gui_profile and choice.profile or ""
  new_dialog("rekeyscope: load key log", gui.load_log,
    { name = "Key log: its path (several: a;b), or empty: beside the capture", value = gui.offered() },
    { name = "Profile (empty: the current one)", value = profile },
    { name = "Keys: ephemeral, or persistent (they stay in esp_sa)", value = choice.mode })
end

-- context: { accounts, loader, messages, ask }.
function gui.new(context)
  gui.context = context
  for _, what in pairs(source.seen_table(context.loader.choice.seen) or {}) do
    context.awaited = (context.awaited or 0) + what.packets
  end
  register_menu("rekeyscope/Load key log…", ask_for_log, MENU_TOOLS_UNSORTED)
  register_menu("rekeyscope/Rekey table", gui.show_table, MENU_TOOLS_UNSORTED)
  register_menu("rekeyscope/Key log status", show_status, MENU_TOOLS_UNSORTED)
  register_menu("rekeyscope/Install coloring rules", gui.install_colors, MENU_TOOLS_UNSORTED)
  register_menu("rekeyscope/Forget key log", gui.forget, MENU_TOOLS_UNSORTED)
end

return gui
