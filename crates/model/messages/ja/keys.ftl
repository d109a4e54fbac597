### ネゴシエーションは読めたのに鍵を導出できなかった理由（underivable.rs）。

underivable-pfs = このうち { $count } 個の SA は PFS（前方秘匿性）を使ってネゴシエートされています。鍵交換ごとに独自の Diffie–Hellman 共有秘密が作られ、SKEYID_d または SK_d とともに鍵の導出に使われます（RFC 2409 §5.5、RFC 7296 §2.17）。この秘密は回線を流れないため、フェーズ 1 の鍵だけでは鍵を導出できません。この秘密を含むログ（charon はレベル 4 でシードとともに出力します）か、ESP の鍵そのものが必要です。
underivable-without-pfs = このうち { $count } 個の SA は PFS を使わず、読み取れたメッセージでネゴシエートされています。その IKE SA の SKEYID_d（IKEv2 では SK_d）があれば鍵を導出できます。Ka、SKEYID_e、SK_ei、SK_er では、メッセージを開くことしかできません。
