# Sourced by run: the GUI without a screen. What a user does with menu and dialog, gui_driver.lua does.
# WIRESHARK=/path/to/wireshark another one.

WIRESHARK=${WIRESHARK:-wireshark}
GUI_FIELDS="frame.number esp.spi rekeyscope.sa_generation rekeyscope.sa_packets rekeyscope.sa_bytes rekeyscope.sa_age
  rekeyscope.prev_spi rekeyscope.gap_ms rekeyscope.key_status rekeyscope.rekey rekeyscope.rekey_trigger"
if ! command -v "$WIRESHARK" >/dev/null; then
  skip "wireshark is not installed: the GUI was not tried"
else
  fresh
  user_file "$OWN"
  mkdir -p "$config/plugins" "$home/run" "$home/result" "$home/my captures"
  # The capture with keys beside it, and coloring rules of the user's own.
  cp "$sample_trace" "$home/my captures/office.pcap"
  cp "$sample_log" "$home/my captures/office.keylog"
  printf '@mine@tcp@[1,2,3][4,5,6]\n' >"$config/colorfilters"
  cp -r "$work/lua" "$config/plugins/rekeyscope"
  cp "$here/gui_driver.lua" "$home/"
  [ ${#as_user[@]} -eq 0 ] || chown -R nobody "$home"
  chmod 700 "$home/run"
  # A key that the open capture does not need.
  { cat "$sample_log"; echo "src 192.0.2.77 dst 192.0.2.78"; printf '\tproto esp spi 0x7e570001 reqid 9 mode transport\n'
    printf '\tauth-trunc hmac(sha1) 0x%040d 96\n\tenc cbc(aes) 0x%032d\n' 1 2; } >"$work/with_another.log"
  chmod a+r "$work/with_another.log"
  packets=$(verified_in "$work/sample")
  # A program that takes longer than the window waits.
  stand_in "$work/slow" 'sleep 4; echo "Line 1."; echo; echo "went to"'
  "${as_user[@]}" env HOME="$home" XDG_RUNTIME_DIR="$home/run" WIRESHARK_CONFIG_DIR="$config" QT_QPA_PLATFORM=offscreen \
    REKEYSCOPE_TEST_DIR="$home/result" REKEYSCOPE_TEST_LOG="$work/with_another.log" REKEYSCOPE_TEST_PACKETS="$packets" \
    REKEYSCOPE_TEST_FIELDS="$GUI_FIELDS" REKEYSCOPE_PROGRAM="$work/slow" \
    "$WIRESHARK" -X lua_script:"$home/gui_driver.lua" -r "$home/my captures/office.pcap" >"$home/output" 2>&1 &
  gui=$!
  for _ in $(seq 600); do # a loaded machine is slow
    [ "$(cat "$home/result/step" 2>/dev/null)" = done ] && break
    sleep 1
  done
  kill "$gui" 2>/dev/null
  wait "$gui" 2>/dev/null
  result() { cat "$home/result/$1" 2>/dev/null; }
  expect "$(result step)" done "GUI: every step ($(grep -v propagateSizeHints "$home/output" | head -c 300))"
  expect "$(result alone)" true "GUI: the button of a row"
  expect "$(result before)" "missing=$packets" "GUI: before any log"
  expect "$(result offered)" "$home/my captures/office.keylog" "GUI: the dialog begins with the keys beside the capture"
  expect "$(result beside)" "verified=$packets" "GUI: the log beside the capture, loaded by itself"
  sentence=$(grep -m 1 "^$CLOSING" "$work/sample")
  expect "$(result beside_said | head -n 2)" "$sentence
Key log: $home/my captures/office.keylog (it lies beside the capture)" "GUI: what a load ends with"
  expect "$(result forgotten)" "missing=$packets" "GUI: after Forget key log"
  expect "$(result forgotten_said)" "" "GUI: nothing to say then"
  expect "$(result said | head -n 2)" "$sentence
Key log: $work/with_another.log (the dialog)" "GUI: what the dialog's load ends with"
  expect "$(grep -o '^[0-9]* coloring rules were added to ' "$home/result/colors")$(grep -o '^All coloring rules' "$home/result/colors_again")" \
    "5 coloring rules were added to All coloring rules" "GUI: the coloring rules, once"
  expect "$(grep -c '^@rekeyscope' "$config/colorfilters"; tail -n 1 "$config/colorfilters")" '5
@mine@tcp@[1,2,3][4,5,6]' "GUI: the file of coloring rules"
  expect "$(result after)" "verified=$packets" "GUI: after the dialog"
  expect "$(result messages | grep -c '^1 SPIs of the log do not occur in the capture')" 1 "GUI: only the open capture's SPIs are loaded"
  expect "$(result again)" "verified=$packets" "GUI: after a redissection"
  if cmp -s "$home/result/frames_after" "$home/result/frames_again"; then ok; else bad "GUI: a redissection changes values"; fi
  gui_columns=()
  for field in $GUI_FIELDS; do gui_columns+=(-e "$field"); done
  plugin "$sample_log" -r "$sample_trace" -Y 'esp or rekeyscope.rekey' -T fields -E occurrence=f "${gui_columns[@]}" -z rekeyscope,sa \
    >"$work/tshark" 2>/dev/null
  sed "/$CLOSING/,\$d" "$work/tshark" >"$work/tshark_frames"
  if cmp -s "$home/result/frames_after" "$work/tshark_frames"; then ok; else bad "GUI: values differ from tshark's: $(diff "$home/result/frames_after" "$work/tshark_frames" | head -n 5)"; fi
  expect "$(result table_early | head -n 1 | cut -d: -f1; result table_early | grep -c "^$CLOSING")" "rekeyscope is still reading this capture
1" "GUI: the table window before the program is through"
  expect "$(result table)" "Line 1.

$(sed -n "/$CLOSING/,\$p" "$work/tshark")" "GUI: the table window"
  expect "$(cat "$config/esp_sa")" "$OWN" "GUI: the user's esp_sa"
  expect "$(ls "$config" | grep -c 'esp_sa.')" 0 "GUI: nothing is left beside it"
fi
