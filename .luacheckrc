-- luacheck wireshark tests/lua: what Wireshark and the router define.
std = "min"
max_line_length = 120
files["wireshark/lua/rekeyscope.lua"].read_globals = {
  "Proto", "ProtoField", "Field", "Listener", "gui_enabled", "register_postdissector", "register_stat_cmd_arg",
  "set_plugin_info", "set_preference",
}
files["wireshark/lua/rekeyscope_packets.lua"].read_globals = { "all_field_infos" }
files["wireshark/lua/rekeyscope_keys.lua"].read_globals = { "Dir", "get_version" }
files["wireshark/lua/rekeyscope_tree.lua"].read_globals = {
  "ProtoField", "ProtoExpert", "Pref", "UInt64", "base", "expert",
}
files["wireshark/lua/rekeyscope_gui.lua"].read_globals = {
  "register_menu", "new_dialog", "TextWindow", "reload_lua_plugins", "set_filter", "apply_filter", "copy_to_clipboard",
  "MENU_TOOLS_UNSORTED",
}
files["wireshark/lua/nvr510_keylog.lua"].read_globals = { "rt" }
files["tests/lua/router_test.lua"].read_globals = { "setfenv" }
files["tests/lua/unit_gui.lua"] = {
  globals = { "TextWindow", "set_filter", "apply_filter", "new_dialog", "register_menu" },
}
files["tests/lua/gui_driver.lua"] = {
  read_globals = { "Field", "Listener", "gui_enabled", "redissect_packets" }, globals = { "gui_test_tap" },
}
-- Fixtures are quoted as they are printed.
files["tests/lua"] = { max_line_length = 140, ignore = { "613" } }
