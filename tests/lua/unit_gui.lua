-- unit_gui.lua ROOT: menu, windows and dialogs, coloring rules, the keys that are offered; in Wireshark's place there are functions that
-- note what they are asked. Runs under every Lua.

local check = require("check")
local colors = require("rekeyscope_colors")
local corpus = require("corpus")
local packets = require("rekeyscope_packets")
local report = require("rekeyscope_report")
local sa = require("rekeyscope_sa")
local source = require("rekeyscope_source")

---------------------------------------------------------------------------------------------------- Wireshark that is not there

local asked, opened, dialog, menu = {}, nil, nil, {}
TextWindow = { new = function(title)
  opened = { title = title, buttons = {}, names = {} }
  function opened.set_atclose() end
  function opened.set(self, text)
    self.text = text
  end
  function opened.add_button(self, name, pressed)
    self.names[#self.names + 1], self.buttons[name] = name, pressed
  end
  return opened
end }
function set_filter(text)
  asked[#asked + 1] = text
end
function apply_filter()
  asked[#asked + 1] = "apply"
end
function new_dialog(title, ok, ...)
  dialog = { title = title, ok = ok, fields = { ... } }
end
function register_menu(name, chosen)
  menu[name] = chosen
end
local gui = require("rekeyscope_gui")

-- `count` rekeys, by their SPIs alone.
local function with_rekeys(count)
  local state = sa.new()
  for number = 0, count do
    for packet = 1, 4 do
      sa.packet(state, number * 4 + packet, (number * 4 + packet) * 1000000, "A", "B", "", string.format("%08x", number + 1), 100)
    end
  end
  return { accounts = { state = state }, loader = { choice = { mode = "ephemeral" } }, messages = {}, ask = function() end }
end

---------------------------------------------------------------------------------------------------- windows

check.begin("gui")
gui.context = with_rekeys(3)
gui.show_table()
check.equal(table.concat(opened.names, " "), "#1 #2 #3 Filter Copy", "a button for each row")
opened.buttons["#2"]()
check.equal(table.concat(asked, ", "), "frame.number == 9, apply", "it goes to the row's frame")
gui.drawn()
gui.drawn()
check.equal(table.concat(asked, ", "), "frame.number == 9, apply, , apply", "and shows all others afterwards, once")
gui.context = with_rekeys(30)
gui.show_table()
check.equal(table.concat(opened.names, " "), "Go to… Filter Copy", "many rows share a button")
opened.buttons["Go to…"]()
asked = {}
dialog.ok("30")
check.equal(asked[1], "frame.number == 121", "which asks for the row")
asked = {}
dialog.ok("31")
dialog.ok("x")
check.equal(#asked, 0, "and does nothing without one")

-- The window does not wait for a program that takes long: it has the table, and a button that asks again.
local program_says, waited = nil, 0
local asking = with_rekeys(1)
function asking.ask()
  return function(seconds)
    waited = waited + seconds
    return program_says
  end
end
gui.context = asking
gui.show_table()
check.truth(string.find(opened.text, "^rekeyscope is still reading this capture: Answer, .*\n\n0 of 2 SAs decrypt, 1 rekey\n"), opened.text)
check.equal(table.concat(opened.names, " "), "#1 Filter Copy Answer", "a button that asks again")
opened.buttons.Answer()
check.truth(string.find(opened.text, "^rekeyscope is still reading"), "which may be in vain")
program_says = "Line 1."
opened.buttons.Answer()
check.equal(string.match(opened.text, "^[^\n]*\n\n[^\n]*"), "Line 1.\n\n0 of 2 SAs decrypt, 1 rekey", "the answer, when it is there")
check.truth(waited < 3 * 5, "a desktop takes a window for dead after 5 s")
gui.show_table()
check.equal(table.concat(opened.names, " "), "#1 Filter Copy", "no such button where the answer is there")

-- Of five-digit frames, of addresses as long as they get, no line is wider than a window.
local wide = sa.new()
for number = 0, 20 do
  local spi = string.format("%08x", number + 1)
  for packet = 1, 40 do
    local frame, seconds = 40000 + number * 100 + packet, number * 125 + packet * 3
    local one = sa.packet(wide, frame, seconds * 1000000, "192.168.100.200", "198.51.100.200", "", spi, 99999)
    one.status.verified = (one.status.verified or 0) + 1
    sa.packet(wide, frame, (seconds + 1) * 1000000, "198.51.100.200", "192.168.100.200", "", spi, 999)
  end
end
for line in string.gmatch(report.all(wide), "[^\n]+") do
  check.truth(#string.gsub(line, "[\128-\191]", "") <= 78, "too wide: " .. line)
end
check.equal(report.closing(wide), "21 of 42 SAs decrypt, 20 rekeys", "SAs whose packets are decrypted")
check.truth(string.find(report.all(wide), "\n0x00000015 198.51.100.200 → 192.168.100.200: missing, 40 packets\nand 1 more SA\n", 1, true)
  == nil and string.find(report.all(wide), "\nand 1 more SA\n", 1, true), "SAs without a key, as many as a window shows")

---------------------------------------------------------------------------------------------------- what is offered

check.begin("beside")
local there = {}
local function exists(path)
  return there[path] == true
end
for _, name in ipairs({ "/a b/keys.ikev1", "/a b/x.keylog", "/a b/x.pcap.keys", "/a b/y.keylog", "/a b/keys.ikev2", "x.esp_sa" }) do
  there[name] = true
end
check.equal(source.joined(source.beside("/a b/x.pcap", exists)), "/a b/x.keylog;/a b/keys.ikev1", "by name, in order")
check.equal(source.joined(source.beside("/a b/x.pcap.gz", exists)), "/a b/x.keylog;/a b/x.pcap.keys;/a b/keys.ikev1", "compressed")
check.equal(source.joined(source.beside("x.pcap", exists)), "x.esp_sa", "without a folder")
check.equal(#source.beside("/c/x.pcap", exists), 0, "none")
local texts = { ["/1;2"] = "one", ["/a"] = "33acac7650479d9d," .. string.rep("0", 32), ["/b"] = "43acac7650479d9d," .. string.rep("0", 32) }
local disk = { is_capture = function() end, is_folder = function() end, run = function() end }
function disk.read(path)
  return texts[path]
end
check.equal(#source.load(disk, { keylog = "/a; /b", from = "test" }, {}).ike1, 2, "several logs")
check.equal(source.load(disk, { keylog = "/a;/c", from = "test" }, {}), nil, "of which one is missing")
check.equal(#source.load(disk, { keylog = "/1;2", from = "test" }, {}).ike1, 0, "a log whose name has the sign")

local context = with_rekeys(1)
context.loader.choice.keylog, context.loader.choice.from = "/loaded", "the dialog"
gui.context = context
check.equal(gui.offered(), "/loaded", "the loaded log, where it serves")
gui.new(context)
menu["rekeyscope/Load key log…"]()
check.equal(dialog.fields[1].value, "/loaded", "in the dialog")
check.truth(menu["rekeyscope/Install coloring rules"], "an entry for the coloring rules")

-- A load ends with a sentence, once, when the packets that were there before have come again.
context.loader.choice.seen = "00000001:4:IPv4 00000002:4:IPv4"
gui.new(context)
opened = nil
gui.drawn()
check.equal(string.match(opened.text, "^[^\n]+"), "0 of 2 SAs decrypt, 1 rekey", "all packets have come")
opened = nil
gui.drawn()
check.equal(opened, nil, "once")
context.loader.choice.seen = "00000001:4:IPv4 00000002:5:IPv4"
gui.new(context)
gui.drawn()
check.equal(opened, nil, "not before the last packet")

---------------------------------------------------------------------------------------------------- coloring rules

check.begin("colors")
local file = corpus.slurp(arg[1] .. "/wireshark/rekeyscope_colorfilters")
check.equal(string.gsub(file, "^#[^\n]*\n", ""), table.concat(colors.RULES, "\n") .. "\n", "the file to import has the same rules")
local files = { default = "# Wireshark's\n@Bad TCP@tcp@[1,2,3][4,5,6]\n" }
local store = {
  read = function(path)
    return files[path]
  end,
  write = function(path, text)
    files[path] = text
    return true
  end,
  rename = function(from, to)
    files[to], files[from] = files[from], nil
    return true
  end,
  remove = function(path)
    files[path] = nil
    return true
  end,
  make_private = function() end, lock = function() end, unlock = function() end,
}
check.equal(colors.install(store, "own", "default"), #colors.RULES, "all are new")
check.equal(files.own, "# Wireshark's\n" .. table.concat(colors.RULES, "\n") .. "\n@Bad TCP@tcp@[1,2,3][4,5,6]\n",
  "before Wireshark's own, which stay")
local once = files.own
check.equal(colors.install(store, "own", "default"), 0, "the second time none")
check.equal(files.own, once, "and nothing changes")
files.own = "@mine@ip@[1,2,3][4,5,6]\n!" .. colors.RULES[2] .. "\n@last@udp@[1,2,3][4,5,6]"
check.equal(colors.install(store, "own", "default"), #colors.RULES - 1, "one that is switched off")
check.truth(string.find(files.own, "\n@mine@ip@[1,2,3][4,5,6]\n!" .. colors.RULES[2] .. "\n@last@udp@[1,2,3][4,5,6]", 1, true),
  "stays so, and the user's own rules stay")
check.equal(select(2, colors.added("# no line end")), #colors.RULES, "a comment alone")
check.truth(string.find(colors.added("# no line end"), "^# no line end\n@rekeyscope"), "which keeps its line")
function store.write()
  return nil, "disk full"
end
once, files.own = "mine", "mine"
check.equal(select(2, colors.install(store, "own", "default")), "disk full", "a reason")
check.equal(files.own, once, "and the file as it was")

---------------------------------------------------------------------------------------------------- a dissector that fails inside

check.begin("status")
local shown = {}
local accounts = packets.new(function(name)
  return function()
    return shown[name] ~= nil and { value = shown[name], len = 100 } or nil
  end
end, { known = { ["00000001"] = true }, masked = {}, loaded = { ["00000001"] = true } })
local function status_of(more)
  shown = {
    ["frame.time_epoch"] = { secs = 0, nsecs = 0 }, ["frame.cap_len"] = 150, ["frame.len"] = 150, ["esp"] = "", ["esp.spi"] = 1,
    ["ip.src"] = "A", ["ip.dst"] = "B", ["ip.proto"] = 50,
  }
  for name, value in pairs(more) do
    shown[name] = value
  end
  packets.reset(accounts)
  packets.account(accounts, 1)
  return accounts.frame_status[1]
end
check.equal(status_of({}), "unused", "nothing decrypted")
check.equal(status_of({ ["esp.icv_good"] = true, ["esp.iv"] = "" }), "verified", "as usual")
check.equal(status_of({ ["esp.iv"] = "", ["_ws.malformed"] = "" }), "unverified", "decrypted, and malformed inside")
check.equal(status_of({ ["esp.decrypted_data"] = "" }), "unverified", "decrypted, and nothing behind it")
check.equal(status_of({ ["_ws.malformed"] = "" }), "unused", "malformed elsewhere")

check.finish("unit_gui")
