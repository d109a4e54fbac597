-- unit_program.lua: what the plugin asks the program for, and what it says where that is not installed. In the shell's place there is a
-- function that notes commands and answers; a real shell says whether words arrive as they are. Runs under every Lua.

local check = require("check")
local program = require("rekeyscope_program")
local source = require("rekeyscope_source")

---------------------------------------------------------------------------------------------------- commands

check.begin("quoting")
local on_windows = string.sub(package.config, 1, 1) ~= "/"
for _, word in ipairs({ "a b", "it's", 'a"b', "鍵 ログ.txt", "$HOME", "`id`", "a;b", "a\\", "-x", "a\nb", "*", "~" }) do
  if not on_windows then
    local pipe = io.popen("printf %s " .. program.quoted(word, false))
    check.equal(pipe:read("*a"), word, "as it is: " .. word)
    pipe:close()
  end
end
check.equal(program.quoted("a\0b", false), nil, "NUL ends a command")
check.equal(program.quoted("C:\\a b\\", true), '"C:\\a b"', "Windows: a folder")
check.equal(program.quoted("50%PATH%", true), nil, "Windows: a variable's value would stand there")
check.equal(program.command({ "a b" }, { program = "r", windows = true }),
  '"set COLUMNS=78&& "r" -V 2>&1 && "r" "a b" 2>&1"', "Windows: marks around all")
check.truth(string.find(program.command({ "a b" }, { program = "r" }), " 'r' 'a b' 2>&1", 1, true), "a shell")
check.equal(program.command({ "a\0b" }, {}), nil, "a word that no command can hold")

---------------------------------------------------------------------------------------------------- what it gives

local ROW = '"IPv4","*","*","0x2265b1f5","AES-CBC [RFC3602]","0x000102030405060708090a0b0c0d0e0f",'
  .. '"HMAC-SHA-1-96 [RFC2404]","0x000102030405060708090a0b0c0d0e0f10111213"'
local CHARON = "09[CHD] encryption initiator key => 16 bytes @ 0x54006120\n"
local NVR = "2018/10/25 15:46:26: [IKE] SPI: a6 67 47 47\n2018/10/25 15:46:26: [IKE] encryption key: 00 01 02 03 04 05 06 07 08 09 0a 0b"
  .. " 0c 0d 0e 0f\n2018/10/25 15:46:26: [IKE] authentication key: 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13\n"
local DERIVED = "2018/10/25 15:46:26: [IKE] SKEYID_d: 00 01 02 03 04 05 06 07\n"

-- Loads from files that are not there, with a program that answers; { loaded, the commands, the sentences as one text }.
local function load_with(files, keylog, answer)
  local commands = {}
  local fs = {
    read = function(path)
      return files[path]
    end,
    is_capture = function(path)
      return string.find(path, "%.pcap$") ~= nil
    end,
    holds_something = function(path)
      return files[path] ~= nil
    end,
    is_folder = function(path)
      return path == "folder"
    end,
    run = function(command)
      commands[#commands + 1] = command
      return answer(command)
    end,
    is_windows = false,
  }
  local loaded, why = source.load(fs, { keylog = keylog, from = "test" }, {})
  return loaded, commands, loaded and table.concat(loaded.sentences, "\n") or why
end

local function is_missing()
  return "sh: 1: rekeyscope: not found\n"
end

local function prints(text)
  return function()
    return "rekeyscope 0.0.9\n" .. text
  end
end

local gives_a_row = prints(ROW .. "\nrekeyscope: k is read as strongSwan charon log\n")

check.begin("program")
local loaded, commands, said, _ = load_with({ k = CHARON }, "k", gives_a_row)
check.equal(#loaded.esp, 2, "a claim without addresses, for both families")
check.truth(string.find(commands[1], "'rekeyscope' 'keys' '--export' 'wireshark' '-' '--claims' '--' 'k' 2>&1", 1, true), commands[1])
check.truth(string.find(said, "k is read as strongSwan charon log", 1, true), "what the program says")
check.truth(not string.find(said, "not installed", 1, true), "and nothing besides")
loaded, commands = load_with({ k = CHARON }, "/a b/x.pcap; k", gives_a_row)
check.truth(string.find(commands[1], "'-' '--keys=k' '--' '/a b/x.pcap' 2>&1", 1, true), "with the capture: " .. commands[1])
check.equal(#loaded.esp, 1, "a proven key has the capture's family")
loaded, commands = load_with({ k = NVR }, "k", gives_a_row)
check.equal(#commands .. #loaded.esp, "02", "a router's log is read here")
_, commands = load_with({ k = NVR .. DERIVED }, "k", gives_a_row)
check.equal(#commands, 0, "without the capture nothing is derived")
_, commands = load_with({ ["x.keylog"] = DERIVED }, "x.pcap", gives_a_row)
check.truth(string.find(commands[1], "'--keys=x.keylog' '--' 'x.pcap'", 1, true), "what lies beside the capture")
loaded, _, said = load_with({}, "x.pcap", gives_a_row)
check.truth(not loaded and string.find(said, "no key file lies beside it", 1, true), "nothing beside the capture")
_, commands = load_with({}, "folder", gives_a_row)
check.truth(string.find(commands[1], "'--' 'folder'", 1, true), "a folder of logs")
_, _, said = load_with({ k = DERIVED }, "k", prints("rekeyscope: no key of an SA stands in it: with the capture keys are derived\n"))
check.truth(string.find(said, "k has what keys are derived from: with rekeyscope installed", 1, true), "derived keys: " .. said)
_, _, said = load_with({ k = CHARON }, "k", prints("rekeyscope: no key of an SA stands in it: with the capture keys are derived\n"))
check.truth(string.find(said, "load it together with the capture (`CAPTURE;LOG`)", 1, true), "how the capture is named")
_, _, said = load_with({ k = CHARON }, "x.pcap;k", prints("rekeyscope: other users can read k\n"))
check.truth(string.find(said, "the log gives no key for x.pcap", 1, true), "no key for the capture: " .. said)
loaded, _, said = load_with({ k = NVR .. DERIVED }, "x.pcap;k", prints("rekeyscope: cannot read x.pcap\n"))
check.truth(#loaded.esp > 0 and string.find(said, "cannot read x.pcap", 1, true), "a program that fails takes no key away: " .. said)
_, _, said = load_with({ k = CHARON }, "k", prints("error: unexpected argument '--claims' found\n"))
check.truth(string.find(said, "does not know `keys --claims`", 1, true), "an older program")

---------------------------------------------------------------------------------------------------- one that hangs

check.begin("hangs")
-- The sentences of a log that a program of this text reads in a second; the rows that were loaded.
local function load_by(text)
  local path = os.tmpname()
  local file = io.open(path, "w")
  file:write("#!/bin/sh\n" .. text)
  file:close()
  os.execute("chmod 700 " .. path)
  local fs = {
    read = function(name)
      return name == "k" and CHARON or nil
    end,
    is_capture = function() end, is_folder = function() end,
    run = function(command)
      local pipe = io.popen(command)
      local printed = pipe:read("*a")
      pipe:close()
      return printed
    end,
  }
  local by = source.load(fs, { keylog = "k", from = "test", program = path }, { seconds = 1 })
  os.remove(path)
  return table.concat(by.sentences, "\n"), #by.esp
end
if not on_windows then
  local NAMES_ITSELF = '[ "$1" != -V ] || { echo rekeyscope 0.0.9; exit; }\n'
  for name, text in pairs({ ["at once"] = "", ["at work"] = NAMES_ITSELF }) do
    local told, rows = load_by(text .. "exec sleep 60\n")
    check.truth(string.find(told, "did not end within 1 s", 1, true) and string.find(told, "in a terminal", 1, true), name .. ": " .. told)
    check.truth(not string.find(told, "ended by the plugin", 1, true), name .. ": the shell's word is not shown")
    check.equal(rows, 0, name .. ": nothing is guessed")
  end
  local told, rows = load_by(NAMES_ITSELF .. "yes '#' | head -c 300000; echo '" .. ROW .. "'; echo 'rekeyscope: read'\n")
  check.truth(string.find(told, "read", 1, true) and rows == 2, "more than a pipe holds is read: " .. told)
  check.truth(string.find(load_by("exit 127\n"), "is not installed here", 1, true), "one that does not start is missing still")
end

---------------------------------------------------------------------------------------------------- where it is missing

check.begin("missing")
for text, name in pairs({
  [CHARON] = "a strongSwan log", ["  dec: spi=24c2ab68 esp=aes-gcm key=20 3de8"] = "output of FortiOS",
  ["Nov 20 20:11:53 vm1 racoon: DEBUG: #012350d59e6 74f2ca32 #012"] = "a racoon log",
  ["| ESP enckey:\n|   3c 48 0c 53"] = "a log of pluto",
  ['"2026-11-20T20:11:53.000Z","gw","      enc-key=""49765da92b65534e""'] = "output of MikroTik",
}) do
  loaded, commands, said = load_with({ k = text }, "k", is_missing)
  check.equal(#loaded.esp, 0, name .. ": nothing is guessed")
  check.truth(string.find(said, "k: " .. name, 1, true) and string.find(said, "is not installed here: install it", 1, true), said)
  check.truth(not string.find(said, "masked", 1, true) and not string.find(said, "console", 1, true), name .. ": no router's words")
  check.truth(not next(loaded.masked), name .. ": nothing is masked")
  check.equal(#commands, 1, name .. ": asked once")
end
_, _, said = load_with({ k = "PK\3\4" }, "k", is_missing)
check.truth(string.find(said, "a zip archive. Unpack it with `unzip`", 1, true), said)
_, _, said = load_with({ k = "Dear all" }, "k", is_missing)
check.truth(string.find(said, "holds no key in a format that the plugin reads by itself", 1, true), said)
local HIDDEN = "src 1.2.3.4 dst 1.2.3.5\n\tproto esp spi 0x2265b1f5 mode tunnel\n\tenc cbc(aes) <<Keys hidden>>\n"
loaded = load_with({ k = HIDDEN }, "k", is_missing)
check.truth(loaded.masked["2265b1f5"], "hidden keys are masked")

---------------------------------------------------------------------------------------------------- its answer

check.begin("answer")
-- The first lines of the table where the program prints this; and the command.
local function answer_of(printed, options)
  local asked, times = nil, 1
  options = options or { files = { "/a b/k" }, capture = "./x y.pcap" }
  local answer = program.answer(function(command)
    asked, times = command, 0
    return function()
      times = times + 1
      return printed
    end
  end, options)
  local first = answer()
  check.equal(answer(), first, "the same again")
  check.equal(times, 1, "it ran once")
  return first, asked
end
local ANSWER = "5 of 7 rekeys stopped this.\nWhy: data\nDo: raise it."
local command
said, command = answer_of("rekeyscope 0.1.0\n" .. ANSWER .. "\n\nIt took 16 s\n")
check.equal(said, ANSWER, "up to the first blank line")
check.truth(string.find(command, "COLUMNS=78 .* exec 'rekeyscope' '%-q' '%-%-keys=/a b/k' '%-%-' './x y.pcap' 2>&1$"), command)
check.equal(answer_of("rekeyscope 0.1.0\r\n" .. string.gsub(ANSWER, "\n", "\r\n") .. "\r\n\r\nIt took 16 s\r\n"), ANSWER, "Windows")
check.equal(answer_of("rekeyscope 0.1.0\nData in clear\n  frame.number == 3\n\n" .. ANSWER .. "\n\nmore\n"),
  "Data in clear\n  frame.number == 3\n\n" .. ANSWER, "what is said before it")
check.equal(answer_of("rekeyscope 0.1.0\nrekeyscope: a note\n" .. ANSWER .. "\n\nmore\n"), ANSWER, "a note before it")
check.equal(answer_of("rekeyscope 0.1.0\nrekeyscope: cannot read x\n"), "rekeyscope: cannot read x", "an error")
check.equal(answer_of("rekeyscope 0.1.0\nerror: unexpected '-q'\n\nUsage: x\n"), "error: unexpected '-q'", "an older program")
check.equal(answer_of("rekeyscope 0.1.0\n\nthread 'main' panicked\nat x\n"), "thread 'main' panicked", "a crash")
check.equal(answer_of("rekeyscope 0.1.0\n"), "rekeyscope: it ended without an answer", "nothing")
for _, shell in ipairs({ is_missing(), "", "rekeyscope\n" .. ANSWER .. "\n\n" }) do
  check.truth(string.find(answer_of(shell), "^Install rekeyscope .*cargo install"), "where it is missing: " .. answer_of(shell))
end
check.truth(string.find(answer_of("", { files = {}, capture = "a\0b" }), "^the name of .* rename it$"), "a name that cannot be given")
-- One that is still at work: nil for whoever does not wait, and its answer when it is through.
local naps, ends_after = 0, 25
local patient = program.answer(function(asked)
  if asked == "sleep 0.1" then
    return function()
      naps = naps + 1
    end
  end
  return function()
    return "rekeyscope 0.1.0\n" .. ANSWER .. "\n\nmore\n"
  end, function()
    return naps < ends_after
  end
end, { files = {}, capture = "x" })
check.equal(patient(2), nil, "not within two seconds")
check.equal(naps, 20, "which are over then")
check.equal(patient(2), ANSWER, "as soon as it is through")
check.equal(naps, ends_after, "and no later")
ends_after = 100
check.equal(patient(2), ANSWER, "asked no more")
command = select(2, answer_of("", { files = {}, capture = "x", no_keys = true }))
check.truth(string.find(command, "'-q' '--no-keys' '--' 'x'", 1, true), "no keys, where none are to be loaded: " .. command)

check.finish("unit_program")
