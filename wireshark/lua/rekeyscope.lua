-- rekeyscope for Wireshark: loads an IPsec key log, then shows every rekey. The only file of the plugin that does
-- anything when it is run; README.md tells how to install and use it.

if not (Proto and ProtoField) then
  return
end

local keys = require("rekeyscope_keys")
local packets = require("rekeyscope_packets")
local report = require("rekeyscope_report")
local source = require("rekeyscope_source")
local tree = require("rekeyscope_tree")

set_plugin_info({ version = "0.1.0", description = "IPsec rekeys: keys from a log, generations, gaps" })

-- A second copy (plugin folder and -X lua_script) would clash with the first, but both have the same modules: the first
-- one takes over what the second was given.
local is_first, proto = pcall(Proto, "rekeyscope", "rekeyscope: IPsec rekeys")
if not is_first then
  local arguments = source.arguments(...)
  local taken = next(arguments) ~= nil and keys.take_over ~= nil
  io.stderr:write("rekeyscope: already loaded from another folder, this copy is ignored"
    .. (taken and " but for its arguments" or "") .. "\n")
  if taken then
    keys.take_over(arguments)
  end
  return
end

local messages = {}

local function say(text)
  messages[#messages + 1] = text
  if not gui_enabled() then
    io.stderr:write("rekeyscope: " .. text .. "\n")
  end
end

local loader = keys.new({ arguments = source.arguments(...), say = say, gui = gui_enabled() })
keys.repair(loader)
local loaded = keys.load(loader)

local shown = tree.new(proto)
local accounts = packets.new(Field.new, loaded)

local has_concluded = gui_enabled()

-- The sentence that tshark ends with, unless its table has begun with it.
local function conclude()
  if loaded and accounts.base and not has_concluded then
    has_concluded = true
    io.stdout:flush()
    say(report.closing(accounts.state))
  end
end

function keys.take_over(arguments)
  loaded = keys.again(loader, arguments)
  accounts.keys = loaded
end

-- Wireshark has read its tables by now; tshark calls this once more after the last packet. The decoding preferences
-- hold until it ends and are not written to disk; set at load time they would be lost after a reload.
function proto.init()
  conclude()
  keys.give_back(loader)
  packets.reset(accounts)
  if loader.decrypts then
    set_preference("esp.enable_encryption_decode", true)
    set_preference("esp.enable_authentication_check", true)
  end
end

local told_left_out, gui = false, gui_enabled() and require("rekeyscope_gui") or nil

function proto.dissector(_, pinfo, root)
  local number = pinfo.number
  packets.account(accounts, number)
  if loaded and loaded.advice and accounts.lacks_keys then
    say(loaded.advice)
    loaded.advice = nil
  end
  if accounts.left_out and not told_left_out then
    say("the log has keys of this capture that were left out, because another capture was open when it was loaded: load"
      .. " it again")
    told_left_out = true
  end
  tree.show(shown, root, pinfo, accounts, number)
  if gui and pinfo.visited then
    gui.showed()
  end
end

register_postdissector(proto)

-- Asks the program once about the open capture; see keys.answer.
local function ask()
  accounts.answer = accounts.answer or proto.prefs.answer and keys.answer(loader) or nil
  return accounts.answer
end

register_stat_cmd_arg("rekeyscope,sa", function()
  -- The program works while tshark reads.
  local tap, answer = Listener.new("frame", "esp"), ask()
  function tap.draw()
    has_concluded = true
    io.write(report.all(accounts.state, answer and answer()))
  end
end)

if gui then
  -- A tap with a filter makes Wireshark build trees already while it reads the file, in order.
  local tap = Listener.new("frame", "esp or isakmp")
  rekeyscope_tap = tap -- luacheck: globals rekeyscope_tap
  gui.new({ accounts = accounts, loader = loader, messages = messages, ask = ask })
  tap.draw = gui.drawn
end

-- Programs that end without opening a capture (tshark -G) never call init(): the rows go when Lua ends.
rekeyscope_at_exit = setmetatable({}, { -- luacheck: globals rekeyscope_at_exit
  __gc = function()
    conclude()
    keys.give_back(loader)
  end,
})
