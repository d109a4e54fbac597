# Sourced by run --cost: what the plugin costs on one capture ($sample_trace, $sample_log).

# Cost: user time of the same run with and without the plugin, smallest of nine each, because a busy machine only adds.
fresh
plain_config=$config plain_home=$home
plain -X lua_script:"$work/lua/rekeyscope.lua" -X lua_script1:keylog="$sample_log" -X lua_script1:mode=persistent -r "$sample_trace" \
  -c 1 >/dev/null 2>&1
fresh
user_time() { # CONFIG HOME COMMAND…
  local TIMEFORMAT=%U
  { time "${as_user[@]}" env HOME="$2" WIRESHARK_CONFIG_DIR="$1" "${@:3}" >/dev/null 2>&1; } 2>&1
}
without="" with=""
for _ in 1 2 3 4 5 6 7 8 9; do
  without+="$(user_time "$plain_config" "$plain_home" "$TSHARK" -o esp.enable_encryption_decode:TRUE \
    -o esp.enable_authentication_check:TRUE -r "$sample_trace")"$'\n'
  with+="$(user_time "$config" "$home" "$TSHARK" -X lua_script:"$work/lua/rekeyscope.lua" -X lua_script1:keylog="$sample_log" \
    -r "$sample_trace")"$'\n'
done
without=$(sort -n <<<"$without" | sed '/^$/d' | head -n 1)
with=$(sort -n <<<"$with" | sed '/^$/d' | head -n 1)
ratio=$(awk -v a="$with" -v b="$without" 'BEGIN { printf "%.2f", a / b }')
echo "cost: decrypting $without s, with the plugin $with s of user time: $ratio times"
if awk -v r="$ratio" 'BEGIN { exit !(r <= 2.5) }'; then ok; else bad "the plugin costs $ratio times decrypting alone, 2.5 is the limit"; fi
