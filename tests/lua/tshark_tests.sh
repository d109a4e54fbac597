# Sourced by run: what is tried on one capture ($sample_trace, $sample_log).

# A whole run: lines of frame and key status, then the table; and what is read from it.
whole_run() { # TRACE LOG
  plugin "$2" -r "$1" -Y rekeyscope.key_status -T fields -e frame.number -e rekeyscope.key_status -z rekeyscope,sa 2>/dev/null
}
verified_in() { grep -c $'^[0-9]*\tverified$' "$1"; }
rekeys_in() { sed -n "s/.*$CLOSING//p" "$1"; }

fresh
whole_run "$sample_trace" "$sample_log" >"$work/sample"
if [ "$(verified_in "$work/sample")" -gt 0 ]; then ok; else bad "no packet is verified"; fi

# A sample whose keys are in a table of Wireshark's.
table=$root/samples/l2tp_pfs4096_down.esp_sa
table_trace=$(readable "${table%.esp_sa}.pcap")

# Sources of the log, in order. Whether it was read shows in the first packets.
FEW=400
verified() { "$@" -r "$sample_trace" -c $FEW -Y 'rekeyscope.key_status == "verified"' -T fields -e frame.number 2>/dev/null | wc -l; }
all=$(head -n $FEW "$work/sample" | awk -v few=$FEW '$1 <= few && $2 == "verified"' | wc -l)
fresh
export REKEYSCOPE_KEYLOG="$sample_log"
expect "$(verified plugin "")" "$all" "REKEYSCOPE_KEYLOG"
export REKEYSCOPE_KEYLOG=/nonexistent
expect "$(verified plugin "$sample_log")" "$all" "the argument goes before REKEYSCOPE_KEYLOG"
unset REKEYSCOPE_KEYLOG
fresh
printf 'keylog=%s\n' "$sample_log" >"$config/rekeyscope_state"
expect "$(verified plugin "")" "$all" "the dialog's state file"
fresh
plugin /nonexistent -r "$sample_trace" -c 1 >/dev/null 2>"$work/errors"
expect "$(grep -c 'cannot read the key log' "$work/errors")" 1 "a missing log is named"

# In the plugin folder, where Wireshark runs every file.
fresh
mkdir -p "$home/.local/lib/wireshark/plugins" "$config/plugins"
cp -r "$work/lua" "$config/plugins/rekeyscope"
cp -r "$work/lua" "$home/.local/lib/wireshark/plugins/rekeyscope"
chmod -R a+rX "$home"
export REKEYSCOPE_KEYLOG="$sample_log"
expect "$(verified plain)" "$all" "installed as a plugin"
plain -r "$sample_trace" -c 1 >/dev/null 2>"$work/errors"
expect "$(grep -c -i -E 'lua error|\[Lua|\.lua:' "$work/errors")" 0 "no Lua error as a plugin ($(head -c 300 "$work/errors"))"
unset REKEYSCOPE_KEYLOG
plugin "$sample_log" -r "$sample_trace" -Y 'rekeyscope.key_status' -c 40 -T fields -e rekeyscope.key_status >"$work/twice" 2>"$work/errors"
expect "$(grep -c 'already loaded' "$work/errors")" 1 "a second copy says so"
expect "$(sort -u "$work/twice")" verified "a second copy's keylog= is taken over"
expect "$(ls "$config")" plugins "a second copy's keylog=: no file is left"
REKEYSCOPE_KEYLOG=none plain -X lua_script:"$work/lua/rekeyscope.lua" -r "$sample_trace" -Y 'rekeyscope.key_status' -c 40 -T fields \
  -e rekeyscope.key_status >"$work/twice" 2>"$work/errors"
expect "$(grep -c 'this copy is ignored$' "$work/errors"; sort -u "$work/twice")" "1
missing" "a second copy without arguments changes nothing"

# The log beside the capture, where none is named; and the sentence that a run with a log ends with.
fresh
mkdir -p "$work/beside"
cp "$sample_trace" "$work/beside/office.pcap"
cp "$sample_log" "$work/beside/office.keylog"
chmod -R a+rX "$work/beside"
for read in -r -nr; do
  plugin "" $read "$work/beside/office.pcap" -Y 'rekeyscope.key_status == "verified"' -T fields -e frame.number >"$work/found" 2>"$work/errors"
  expect "$(wc -l <"$work/found")" "$(verified_in "$work/sample")" "$read: the log beside the capture is loaded"
  expect "$(grep -c ' keys in .*/beside/office.keylog' "$work/errors"; sed 's/^rekeyscope: //' "$work/errors" | tail -n 1)" "1
$(grep -m 1 "^$CLOSING" "$work/sample")" "$read: what was loaded, and the sentence at the end"
done
expect "$(ls "$config")" "" "the log beside the capture: no file is left"
expect "$(plugin none -r "$work/beside/office.pcap" -Y 'rekeyscope.key_status == "missing"' 2>"$work/errors" | wc -l; cat "$work/errors")" \
  "$(verified_in "$work/sample")" "keylog=none loads nothing and says nothing"

# Another profile.
fresh
mkdir -p "$config/profiles/lab"
chmod -R a+rwX "$config"
count=$(plain -X lua_script:"$work/lua/rekeyscope.lua" -X lua_script1:keylog="$sample_log" -X lua_script1:profile=lab -C lab \
  -r "$sample_trace" -c $FEW -Y 'rekeyscope.key_status == "verified"' 2>/dev/null | wc -l)
expect "$count" "$all" "profile=lab with -C lab"
expect "$(ls "$config/profiles/lab" | grep -c -v -E 'preferences|recent')" 0 "nothing is left in the profile"

plain -X lua_script:"$work/lua/rekeyscope.lua" -X lua_script1:keylog="$sample_log" -X lua_script1:profile=../../elsewhere \
  -r "$sample_trace" -c 1 >/dev/null 2>"$work/errors"
expect "$(grep -c "name has no slash" "$work/errors"; ls -d "$home"/elsewhere "$config"/elsewhere 2>/dev/null)" 1 "a profile outside its folder"
plain -X lua_script:"$work/lua/rekeyscope.lua" -X lua_script1:keylog="$sample_log" -X lua_script1:profile=typo \
  -r "$sample_trace" -c 1 >/dev/null 2>"$work/errors"
expect "$(grep -c 'there is no profile' "$work/errors"; ls "$config/profiles")" "1
lab" "a profile that is not there"

# A log that a Windows editor wrote, in a folder with spaces and Japanese; a log of junk; a folder that cannot be written.
fresh
mkdir -p "$work/鍵 ログ"
chmod a+rx "$work/鍵 ログ"
{ printf '\xef\xbb\xbf'; sed 's/$/\r/' "$sample_log"; } >"$work/鍵 ログ/ルーター の log.txt"
whole_run "$sample_trace" "$work/鍵 ログ/ルーター の log.txt" >"$work/windows"
expect "$(md5sum <"$work/windows")" "$(md5sum <"$work/sample")" "a log with BOM and CRLF, its name with spaces and Japanese"
tail -c 300000 "$sample_trace" >"$work/junk.log"
chmod a+r "$work/junk.log"
plugin "$work/junk.log" -r "$sample_trace" -c 1 >/dev/null 2>"$work/errors"
expect "$(grep -c 'holds no key' "$work/errors"; grep -c '\.lua:' "$work/errors")" "1
0" "a log of junk is named"
if [ ${#as_user[@]} -gt 0 ]; then chown root "$config"; fi
chmod 555 "$config"
plugin "$sample_log" -r "$sample_trace" -c 1 >/dev/null 2>"$work/errors"
expect "$(grep -m 1 -c 'cannot write .*make the folder writable' "$work/errors"; ls "$config")" 1 "a folder that cannot be written"
chmod 755 "$config"

# What the plugin does not read by itself: the program reads it, named by program= and in a folder with spaces and Japanese, and its rows
# decrypt; where it is missing, the log is named.
fresh
daemon="$work/鍵 ログ/it's charon.log"
{ echo '09[CHD] <lab|1> encryption initiator key => 16 bytes @ 0x54006120'; } >"$daemon"
cp "$root/samples/l2tp_pfs4096_down.esp_sa" "$work/rows"
# stand_in FILE BODY: a program that names itself, notes its words and does what BODY says.
stand_in() {
  printf '#!/bin/sh\nif [ "$1" = -V ]; then echo "rekeyscope 0.0.0"; exit; fi\nprintf "%%s\\n" "$@" >>"%s"\n%s\n' "$home/words" "$2" >"$1"
  chmod a+rx "$1"
}
stand_in "$work/鍵 ログ/stand in" "cat '$work/rows'; echo 'rekeyscope: read' >&2"
chmod a+r "$daemon" "$work/rows"
daemon_trace=$(readable "$root/samples/l2tp_pfs4096_down.pcap")
expect "$(plugin "$daemon" -X lua_script1:program="$work/鍵 ログ/stand in" -r "$daemon_trace" -c $FEW \
  -Y 'rekeyscope.key_status == "verified"' 2>"$work/errors" | wc -l)" \
  "$(plugin "$work/rows" -r "$daemon_trace" -c $FEW -Y 'rekeyscope.key_status == "verified"' 2>/dev/null | wc -l)" "the program's rows decrypt"
expect "$(grep '^--keys=' "$home/words"; tail -n 1 "$home/words"; grep -c '^rekeyscope: read$' "$work/errors")" "--keys=$daemon
$daemon_trace
1" "the program gets the log's name as it is and the capture that is read, and what it says is shown"
plugin "$daemon" -r "$daemon_trace" -c 1 >/dev/null 2>"$work/errors"
expect "$(grep -c 'a strongSwan log.* is not installed here' "$work/errors"; grep -c -i 'masked' "$work/errors")" "1
0" "without the program: what the log is"

# The table begins with the answer of a program on the PATH, which is asked once and in the words of a command line, for a capture that
# is named relative to a folder with spaces; with a line where there is none or it fails; with nothing where the user wants none, and
# where the capture is not known.
fresh
mkdir -p "$work/my captures" "$work/bin"
cp "$table_trace" "$work/my captures/it's one.pcap"
cp "$table" "$work/my captures/it's one.esp_sa"
chmod -R a+rX "$work/my captures" "$work/bin"
table_of() { # ARGS: what tshark prints, of a program on the PATH
  (cd "$work/my captures" && PATH="$work/bin:$PATH" && unset REKEYSCOPE_PROGRAM &&
    plain -X lua_script:"$work/lua/rekeyscope.lua" -r "it's one.pcap" -q -z rekeyscope,sa "$@" 2>"$work/errors")
}
closing="12 of 12 SAs decrypt, 5 rekeys"
stand_in "$work/bin/rekeyscope" 'echo "Line 1, $COLUMNS wide."; echo "Why: 100 %."; echo "Do: that."; echo; echo "went to"; echo "rekeyscope: a note" >&2'
table_of >"$work/answered"
expect "$(head -n 5 "$work/answered")" "Line 1, 78 wide.
Why: 100 %.
Do: that.

$closing" "the program's answer"
expect "$(cat "$home/words")" "-q
--keys=it's one.esp_sa
--
it's one.pcap" "what the program is asked, once"
expect "$(table_of -o rekeyscope.answer:FALSE | head -n 1)" "$closing" "no answer where the preference is off"
expect "$(table_of -X lua_script1:keylog=none | tail -n +5 | head -n 1; sed -n '5,$p' "$home/words")" "0 of 12 SAs decrypt, 5 rekeys
-q
--no-keys
--
it's one.pcap" "no keys, no keys for the program"
expect "$(cd "$work/my captures" && plain -X lua_script:"$work/lua/rekeyscope.lua" -q -z rekeyscope,sa -r - <"it's one.pcap" 2>/dev/null | head -n 1)" \
  "0 of 12 SAs decrypt, 5 rekeys" "no answer for a capture that is not known"
stand_in "$work/bin/rekeyscope" 'echo "rekeyscope: cannot read it; check its name" >&2; exit 1'
expect "$(table_of | head -n 3)" "rekeyscope: cannot read it; check its name

$closing" "a program that fails: one line, and what the plugin reads by itself"
stand_in "$work/bin/rekeyscope" 'kill -9 $$'
expect "$(table_of | head -n 3 | tail -n 1)" "$closing" "a program that is killed"
rm "$work/bin/rekeyscope"
expect "$(table_of | head -n 3)" "Install rekeyscope for cost and cause: \`cargo install --path crates/analyzer\`.

$closing" "no program: a line that says how to get it"
expect "$(ls "$config"; grep -c '\.lua:' "$work/errors")" 0 "no file is left, and no error"

# Persistent on request; the user's bytes stay, a second load replaces the first, forgetting is by loading no rows.
fresh
user_file "$OWN
"
for _ in 1 2; do
  plain -X lua_script:"$work/lua/rekeyscope.lua" -X lua_script1:keylog="$sample_log" -X lua_script1:mode=persistent \
    -r "$sample_trace" -c 1 >/dev/null 2>&1
done
expect "$(tail -n 2 "$config/esp_sa")" "$OWN" "persistent: the user's rows"
expect "$(grep -c '^# rekeyscope rows' "$config/esp_sa")" 1 "persistent: one section"
expect "$(plain -o esp.enable_encryption_decode:TRUE -r "$sample_trace" -c $FEW -Y esp.protocol 2>/dev/null | wc -l)" \
  "$all" "persistent: decrypts without the plugin"

# A new user, who has no folder for settings yet; a log whose keys are all there says nothing of derivation, one that lacks
# some does.
fresh
nvr=$work/router.log
cp "$root/samples/l2tp_kb_modp1024_down.keylog" "$nvr"
chmod a+r "$nvr"
new_user() { "${as_user[@]}" env -u WIRESHARK_CONFIG_DIR -u XDG_CONFIG_HOME HOME="$home/new" "$TSHARK" -X lua_script:"$work/lua/rekeyscope.lua" "$@"; }
mkdir "$home/new"
[ ${#as_user[@]} -eq 0 ] || chown nobody "$home/new"
nvr_trace=$(readable "$root/samples/l2tp_kb_modp1024_down.pcap")
expect "$(new_user -X lua_script1:keylog="$nvr" -r "$nvr_trace" -Y 'rekeyscope.key_status == "verified"' 2>"$work/errors" | wc -l)" \
  "$(plain -r "$nvr_trace" -Y esp 2>/dev/null | wc -l)" "a new user: every packet is verified"
expect "$(sed 's/^rekeyscope: //; /keys in/d' "$work/errors")" "16 of 16 SAs decrypt, 7 rekeys" "a new user, every key: one sentence at the end"
expect "$(find "$home/new" -type f)" "" "a new user: no file is left"

# The log's SKEYID_e opens Quick Mode, which names the lifetime and so the trigger; the Info column says so, where it may.
# As printed: from 4.4 on the field _ws.col.info holds what stood there before the plugin.
info_of() {
  new_user -X lua_script1:keylog="$nvr" -r "$nvr_trace" -Y rekeyscope.rekey -o 'gui.column.format:"No.","%m","Info","%i"' "$@" 2>/dev/null |
    sed 's/^ *//'
}
info_of >"$work/info"
expect "$(grep -c '\[rekey [1-7]: begins, trigger volume\] Quick Mode$' "$work/info")" 7 "Info column: the triggers, with the log's IKE key"
expect "$(grep -c '\[rekey [1-7]\(: [^]]*\|\)\] ' "$work/info")" "$(wc -l <"$work/info")" "Info column: every frame of a rekey"
expect "$(grep '^5581 ' "$work/info" | cut -c 6-60)" "[rekey 2: first packet on the new SPI, gap 376 ms] [TCP" "Info column: a first packet"
expect "$(info_of -o rekeyscope.info_column:FALSE | grep -c '\[rekey')" 0 "Info column: not where the preference is off"
sed '/c9 d2 6f 1f/,+3d' "$nvr" >"$work/lacking.log"
chmod a+r "$work/lacking.log"
new_user -X lua_script1:keylog="$work/lacking.log" -r "$nvr_trace" >/dev/null 2>"$work/errors"
expect "$(grep -c 'has what keys are derived from' "$work/errors")" 1 "a key that the log lacks: derivation, once"
# Lua's own temporary files are private; one can become the table where /tmp is on the same file system.
new_user -X lua_script1:keylog="$nvr" -X lua_script1:mode=persistent -r "$nvr_trace" -c 1 >/dev/null 2>&1
if [ "$(stat -c %d /tmp)" = "$(stat -c %d "$home")" ]; then
  expect "$(stat -c %a "$home/new/.config/wireshark/esp_sa")" 600 "persistent rows: for the user alone"
else
  skip "/tmp is another file system: the mode of persistent rows was not tried"
fi
expect "$(find "$home/new/.config" -name '*rekeyscope*')" "" "persistent rows: no file beside them"

# Killed between writing the rows and reading them; the next start mends it, with and without a log.
for next in none "$sample_log"; do
  for own in "$OWN" none; do
    fresh
    [ "$own" = none ] || user_file "$own"
    before=$(cd "$config" && stat -c '%n %i %a %Y' ./* 2>/dev/null)
    plugin "$sample_log" -X lua_script:"$here/kill_now.lua" -r "$sample_trace" >/dev/null 2>&1
    if grep -q 'rekeyscope temporary' "$config/esp_sa"; then ok; else bad "killed: the rows should still be there"; fi
    plugin "$next" -r "$sample_trace" -c 1 >/dev/null 2>&1
    expect "$(cd "$config" && stat -c '%n %i %a %Y' ./* 2>/dev/null)" "$before" "killed, then started with log '$next': files"
    [ "$own" = none ] || expect "$(cat "$config/esp_sa")" "$own" "killed, then started with log '$next': the user's esp_sa"
  done
done
# Killed at other moments.
for delay in 0.02 0.05 0.08 0.12 0.2 0.3; do
  fresh
  user_file "$OWN"
  # In the background, because bash prints a line about a foreground command that is killed.
  timeout -s KILL "$delay" "${as_user[@]}" env HOME="$home" WIRESHARK_CONFIG_DIR="$config" "$TSHARK" \
    -X lua_script:"$work/lua/rekeyscope.lua" -X lua_script1:keylog="$sample_log" -r "$sample_trace" >/dev/null 2>&1 &
  wait $! 2>/dev/null
  sleep 0.3
  plugin none -r "$sample_trace" -c 1 >/dev/null 2>&1
  expect "$(cat "$config/esp_sa"; ls "$config")" "${OWN}esp_sa" "killed after $delay s: the user's esp_sa"
done
# Programs that never open a capture.
fresh
user_file "$OWN"
plugin "$sample_log" -G protocols >/dev/null 2>&1
plugin none -r "$sample_trace" -c 1 >/dev/null 2>&1
expect "$(cat "$config/esp_sa"; ls "$config")" "${OWN}esp_sa" "tshark -G: the user's esp_sa"

# Several at the same time in one configuration folder.
fresh
user_file "$OWN"
for n in 1 2 3 4; do
  plugin "$sample_log" -r "$sample_trace" -c 200 -Y 'rekeyscope.key_status == "verified"' >"$work/parallel$n" 2>/dev/null &
  pids[n]=$!
done
for n in 1 2 3 4; do wait "${pids[n]}"; done
expect "$(cat "$config/esp_sa"; ls "$config")" "${OWN}esp_sa" "four at a time: the user's esp_sa"
few=$(plugin "$sample_log" -r "$sample_trace" -c 200 -Y 'rekeyscope.key_status == "verified"' 2>/dev/null | wc -l)
for n in 1 2 3 4; do expect "$(wc -l <"$work/parallel$n")" "$few" "four at a time: packets that number $n verified"; done

# A wrong key is named; a wrong row never reaches Wireshark. Keys are changed in a table, whatever log the sample has.
fresh
sed 's/\("HMAC[^"]*","0x\)..../\10000/' "$table" >"$work/wrong.log"
chmod a+r "$work/wrong.log"
expect "$(diff "$table" "$work/wrong.log" | grep -c '^>')" "$(wc -l <"$table")" "rows with a wrong authentication key"
plugin "$work/wrong.log" -r "$table_trace" -c $FEW -Y 'rekeyscope.key_mismatch.expert && rekeyscope.key_status == "mismatch"' \
  -T fields -e frame.number >"$work/mismatch" 2>/dev/null
if [ "$(wc -l <"$work/mismatch")" -gt 0 ]; then ok; else bad "a wrong authentication key is not named"; fi
fresh
sed 's/\("AES-CBC[^"]*","0x\)../\1/' "$table" >"$work/short.log"
chmod a+r "$work/short.log"
expect "$(diff "$table" "$work/short.log" | grep -c '^>')" "$(wc -l <"$table")" "rows with a short key"
plugin "$work/short.log" -r "$table_trace" -V -c 40 >"$work/verbose" 2>&1
expect "$(grep -c -i 'dissector bug' "$work/verbose")" 0 "a short key causes no dissector bug"

# Damaged and cut captures: no Lua error, the packets that are whole are counted as ever.
if command -v editcap >/dev/null; then
  fresh
  for damage in 0.0005 0.01 0.2; do
    editcap --seed 1 -E "$damage" "$sample_trace" "$work/damaged.pcap" 2>/dev/null
    chmod a+r "$work/damaged.pcap"
    plugin "$sample_log" -2 -r "$work/damaged.pcap" -c 3000 -V -z rekeyscope,sa >"$work/verbose" 2>"$work/errors"
    expect "$(cat "$work/verbose" "$work/errors" | grep -c -i -E 'lua error|\[Lua|\.lua:')" 0 "damaged by $damage: Lua errors"
    expect "$(grep -c "^$CLOSING" "$work/verbose")" 1 "damaged by $damage: the table"
  done
  editcap -s 100 "$sample_trace" "$work/cut.pcap" 2>/dev/null
  chmod a+r "$work/cut.pcap"
  counters() { plugin "$sample_log" -r "$1" -Y esp -T fields -e frame.number -e rekeyscope.sa_packets -e rekeyscope.sa_bytes 2>/dev/null | md5sum; }
  expect "$(counters "$work/cut.pcap")" "$(counters "$sample_trace")" "cut at 100 bytes: the same counters"
  expect "$(plugin "$sample_log" -r "$work/cut.pcap" -Y 'esp && frame.len > 300' -T fields -e rekeyscope.key_status 2>/dev/null | sort -u)" \
    cut "cut at 100 bytes: key status"
  plain -r "$sample_trace" -Y 'not isakmp' -w - 2>/dev/null >"$work/noike.pcap"
  chmod a+r "$work/noike.pcap"
  plugin "$sample_log" -r "$work/noike.pcap" -q -z rekeyscope,sa >"$work/noike" 2>/dev/null
  expect "$(rekeys_in "$work/noike")" "$(rekeys_in "$work/sample")" "without IKE: rekeys from SPIs alone"
else
  skip "editcap is not installed: no damaged capture was tried"
fi

# IPv4 in IPv6: the SA is between the outer addresses, and its bytes are the outer packet's, also of a cut packet.
fresh
"${interpreters[-1]}" "$here/four_in_six.lua" "$work/four_in_six.pcap" "$work/four_in_six.esp_sa"
chmod a+r "$work"/four_in_six.*
plugin "$work/four_in_six.esp_sa" -r "$work/four_in_six.pcap" -T fields -e rekeyscope.sa_packets -e rekeyscope.sa_bytes \
  -e rekeyscope.key_status >"$work/four_in_six" 2>/dev/null
expect "$(tr '\t\n' ' ;' <"$work/four_in_six")" "1 140 unverified;2 380 unverified;3 720 unverified;4 1160 cut;" "IPv4 in IPv6"

# Attempts that fail: each message that tells it is marked, the table says what became of each.
"${interpreters[-1]}" "$here/attempts.lua" "$work/attempts.pcap"
chmod a+r "$work/attempts.pcap"
plugin none -r "$work/attempts.pcap" -Y rekeyscope.attempt.expert -T fields -e frame.number -e rekeyscope.rekey \
  -e rekeyscope.attempt_outcome -e rekeyscope.attempt_requests -e rekeyscope.attempt_reason -z rekeyscope,sa >"$work/attempts" 2>/dev/null
expect "$(head -n 4 "$work/attempts" | tr '\t\n' ' ;')" "4 1 refused 1 NO-PROPOSAL-CHOSEN;6 2 unanswered 2 ;7 2 unanswered 3 ;10 3 refused 1 not readable;" \
  "attempts that fail: marks"
expect "$(grep -c -E '3 rekeys \(3 of them failed\)$|^[123] .* (refused|no answer)$|^Rekey 1: refused: NO-PROPOSAL-CHOSEN; 1 request\.$|^Rekey 2: no answer; 3 requests over 11\.000 s\.$|^Rekey 3: refused \(its reason' "$work/attempts")" 7 \
  "attempts that fail: table"
if [ -n "$lab" ]; then
  plain -X lua_script:"$work/lua/rekeyscope.lua" -o "uat:ikev2_decryption_table:$(cat "$lab/fail_refused_ikev2_down/keys.ikev2")" \
    -r "$(readable "$lab/fail_refused_ikev2_down/trace.pcap")" -Y rekeyscope.attempt_outcome -T fields -e rekeyscope.attempt_reason \
    >"$work/refused" 2>/dev/null
  expect "$(tr '\n' ' ' <"$work/refused")" "NO_PROPOSAL_CHOSEN NO_PROPOSAL_CHOSEN " "a refusal that Wireshark decrypts has a name"
else
  skip "the lab is not there: no refusal was decrypted"
fi
