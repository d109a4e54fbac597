# Sourced by run: the modules alone, without Wireshark, under every Lua; and luacheck.

for lua in "${interpreters[@]}"; do
  for unit in keylog outer program rows sa attempt gui; do
    "$lua" "$here/unit_$unit.lua" "$root" >"$work/unit" 2>&1
    add_up "unit_$unit.lua under $lua" "$work/unit"
  done
  $full || [ "$lua" = "$fast" ] || continue
  "$lua" "$here/corpus_test.lua" "$root" >"$work/corpus" 2>&1
  add_up "corpus_test.lua under $lua" "$work/corpus"
done
for lua in lua5.1 luajit; do
  command -v "$lua" >/dev/null || continue
  $full || [ "$lua" = "$fast" ] || continue
  "$lua" "$here/router_test.lua" "$root" >"$work/router" 2>&1
  add_up "router_test.lua under $lua" "$work/router"
done
# Large logs: the oldest Lua and the fastest are enough.
for lua in "${interpreters[@]:0:1}" ${fast:+"$fast"}; do
  $full || [ "$lua" = "$fast" ] || continue
  "$lua" "$here/lab_logs.lua" "$root" >"$work/logs" 2>&1
  add_up "lab_logs.lua under $lua" "$work/logs"
done
[ -d "${REKEYSCOPE_CORPUS:-$root/tests/keylog}" ] || skip "tests/keylog is not there: no log of the shared corpus was read"
if command -v luacheck >/dev/null; then
  if (cd "$root" && env -u LUA_PATH luacheck --no-color -q wireshark tests/lua) >"$work/luacheck" 2>&1; then ok; else bad "luacheck: $(cat "$work/luacheck")"; fi
else
  skip "luacheck is not installed"
fi
