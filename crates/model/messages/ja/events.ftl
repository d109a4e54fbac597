### 制御プレーンと経路のイベント（words/events.rs）。

event-item = { $when }、フレーム { $frame }: { $said }
event-span = { $from }～{ $to }
event-with = { $said }（{ $names }）
event-change = { $at }に{ $said }{ $more ->
    [0] 。
   *[other] 。ほかに { $more } 回（-v）。
}

## 種類ごとに 1 つ

event-refused = { $who }が新しい SA を拒否{ $probably }
event-unanswered = { $who }が新しい SA の要求（送信 { $count } 回）に無応答
event-answered-late = { $who }が新しい SA の要求に、{ $count } 回送られてから応答
event-checks-unheard = 生存確認への{ $who }の応答はキャプチャにあるのに、確認が再送されている
event-answer-lost = { $who }の応答はキャプチャにあるのに、リキーのメッセージが再送されている
event-child-deleted = { $who }が SA を削除{ $follows ->
    [nothing] 、代わりの SA なし
   *[another] {""}
}{ $probably }
event-ike-sa-deleted = { $who }が IKE SA を削除{ $follows ->
    [nothing] 、代わりの IKE SA なし
   *[another] {""}
}{ $probably }
event-deleted = { $who }が Delete を送信（暗号化されていて対象は不明）{ $probably }
event-limit-reached = SA が寿命に到達
event-collision = 両側が同時に更新{ $probably }
event-address-changed = { $who }のアドレスが { $from } から { $to } に変化
event-port-changed = { $who }のポートが { $from } から { $to } に変化
event-invalid-spi = { $who }が未知の SPI を通知（{ $count } 回）
event-new-ike-sa = { $who }が新しい IKE SA のネゴシエーションを開始
event-ike-sa-rekeyed = { $who }が IKE SA をリキー{ $probably }
event-initial-contact = { $who }が INITIAL_CONTACT を通知（ほかの SA なし）
event-checks-unanswered = { $who }が生存確認 { $count } 回に無応答{ $probably }
event-stop-ccn = { $who }が L2TP 制御コネクションを停止
event-call-disconnected = { $who }が L2TP セッションを切断
event-lcp-terminated = { $who }が PPP リンクを終了
event-login-refused = { $who }が PPP のログインを拒否
event-echo-unanswered = { $who }が生存確認 { $count } 回に無応答
event-fragments-incomplete = フラグメント化された IKE メッセージのうち { $count } 個だけが届き、無応答
event-first-number = { $who }の新しい SA の最初のパケットの番号が { $count }
event-checks-answered-late = { $who }が生存確認（送信 { $count } 回）に、見切られた後で応答
event-bad-icv = { $who }のパケット { $count } 個の ICV が不一致
event-one-sided = 相手側が削除した SA で{ $who }が送信を継続{ $probably }
event-answered-elsewhere = { $who }が { $to } から送信（相手の宛先は { $from }）{ $probably }
event-networks-by-turns = { $from } と { $to } の SA が { $count } 回、交互に互いを終わらせた
event-numbers-back = { $who }の ESP シーケンス番号が { $count } 戻った
event-only-small-pass = { $who }の ESP パケット { $count } 個は先頭フラグメントだけが到着
event-capture-hole = 通過したパケット { $count } 個がキャプチャから欠落
event-everything-silent = 何もキャプチャされていない
event-unreachable = { $who }が ICMP で応答
event-pppoe-ended = 回線の PPPoE セッションが切断
event-too-big-inside = { $who }が ICMP で、{ $from } から { $to } へのパケットは { $count } バイトまでと通知
event-ike-silent = { $who }からの ESP は届くが IKE が届かない
event-esp-silent = { $sas ->
    [one] { $who }の SA の一つだけが途絶{ $probably }
   *[all] { $who }からの IKE は届くが ESP が届かない
}
event-other-tunnel = { $from } のトンネルのデータが { $to } のトンネルに移動{ $probably }
