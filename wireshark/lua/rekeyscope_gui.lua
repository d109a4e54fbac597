-- Tools ▸ rekeyscope. Needs Wireshark's GUI functions; nothing happens before gui.new().

local keys = require("rekeyscope_keys")
local packets = require("rekeyscope_packets")
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

-- Wireshark has filtered and draws.
function gui.drawn()
  if gui.alone then
    gui.alone = nil
    set_filter("")
    apply_filter()
  end
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

function gui.show_table(context)
  local state = context.accounts.state
  local text = report.all(state)
  local new = window("rekeyscope: rekeys", text)
  add_row_buttons(new, sa.confirmed(state))
  new:add_button("Filter", function()
    set_filter(rekey_filter(state))
    apply_filter()
  end)
  new:add_button("Copy", function()
    copy_to_clipboard(text)
  end)
  return new
end

local function show_status(context)
  local choice = context.loader.choice
  local text = choice.keylog and ("Key log: " .. choice.keylog .. " (" .. choice.from .. ")") or "No key log is loaded."
  window("rekeyscope: key log", text .. "\n" .. table.concat(context.messages, "\n") .. "\n")
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

-- The log that the dialog begins with: the one that is loaded, unless this capture needs another and has it beside it.
function gui.offered(context)
  local keylog = context.loader.choice.keylog
  local beside = (keylog and not context.accounts.lacks_keys) and {} or keys.beside(keys.open_capture())
  return #beside > 0 and source.joined(beside) or keylog or ""
end

-- What the dialog's OK does.
function gui.load_log(context, path, profile, mode)
  path = string.gsub(string.gsub(path, "^%s+", ""), "%s+$", "")
  path = string.gsub(path, '^"(.*)"$', "%1")
  local capture = keys.open_capture()
  local reason = keys.try(context.loader, path, capture)
  if reason then
    window("rekeyscope: key log", reason .. "\n")
    return
  end
  local done, why = keys.remember({
    keylog = path, profile = profile ~= context.loader.gui_profile and profile or "",
    mode = string.find(mode, "^[pP]") and "persistent" or "ephemeral",
    seen = source.seen_text(packets.seen(context.accounts)), capture = capture,
  })
  if not done then
    window("rekeyscope: key log", "Cannot write the state file: " .. tostring(why) .. "\n")
    return
  end
  reload_lua_plugins()
end

function gui.new(context)
  gui.context = context
  local choice = context.loader.choice
  local profile_before = choice.profile ~= context.loader.gui_profile and choice.profile or ""
  register_menu("rekeyscope/Load key log…", function()
    new_dialog("rekeyscope: load key log", function(path, profile, mode)
      gui.load_log(context, path, profile, mode)
    end, { name = "Key log (full path; several with ; between them)", value = gui.offered(context) },
      { name = "Profile (empty: the current one)", value = profile_before },
      { name = "Keep keys on disk (ephemeral or persistent)", value = choice.mode })
  end, MENU_TOOLS_UNSORTED)
  register_menu("rekeyscope/Rekey table", function()
    gui.show_table(context)
  end, MENU_TOOLS_UNSORTED)
  register_menu("rekeyscope/Key log status", function()
    show_status(context)
  end, MENU_TOOLS_UNSORTED)
  register_menu("rekeyscope/Install coloring rules", gui.install_colors, MENU_TOOLS_UNSORTED)
  register_menu("rekeyscope/Forget key log", function()
    keys.forget(choice.profile)
    keys.remember({})
    reload_lua_plugins()
  end, MENU_TOOLS_UNSORTED)
end

return gui
