### 不通の説明（words/explanations.rs）。行とその順序: impact/explain/table.rs

## 1 行目

outage-line = { $clause }: { $down }
outage-client = クライアント
outage-gateway = ゲートウェイ
outage-someone = 片側
outage-at = {" "}{ $moment }に
outage-before = キャプチャ開始前に
outage-times = {" "}{ $n } 回
outage-probably = （推定）
outage-hole-line = { $clause }
outage-down = { $nothing }が { $seconds }間途絶
outage-down-from = { $from }の時点から{ $nothing }が { $seconds }間途絶
outage-down-over = { $nothing }が最後まで { $seconds }間途絶
outage-down-open = 以後 { $seconds }間、{ $nothing }なし
outage-down-since = { $from }の時点から { $seconds }間、{ $receiver }不通のまま
outage-down-each = { $nothing }が各 { $seconds }間途絶
outage-nothing = 通信
outage-nothing-to = { $to } 宛ての通信
outage-nothing-large = 該当パケット
outage-nothing-of-it = そのパケット
outage-nothing-on-it = その SA

outage-deleted = { $who }が{ $at } { $what ->
    [ike] IKE SA
   *[child] SA
} を削除{ $probably }
outage-monitored = { $who }が{ $at }正常なトンネルを終了{ $probably }
outage-break-before-make = { $who }が{ $renews ->
    [same] 更新より先に SA を
   *[other] {" "}{ $what ->
        [ike] IKE SA
       *[child] SA
    } を
}{ $at }削除{ $probably }
outage-new-ike-deleted = { $who }が{ $at }新しい IKE SA を削除{ $probably }
outage-refused = { $who }が{ $at }リキー（鍵更新）を拒否{ $probably }
outage-refused-child = { $who }が{ $at }新しい Child SA を拒否{ $probably }
outage-given-up = { $who }が{ $at }生存確認に無応答{ $probably }
outage-given-up-login = { $other }がログインの応答がなく{ $at }トンネルを切断{ $probably }
outage-given-up-too-soon = { $who }を{ $at }早すぎる DPD 判定で切断{ $probably }
outage-unanswered = { $who }が{ $at }リキー（鍵更新）要求に無応答{ $probably }
outage-fragments-lost-behind = { outage-unanswered }
outage-answered-late = リキー（鍵更新）要求が{ $at } { $took }無応答{ $probably }
outage-answer-lost = リキー（鍵更新）のメッセージが{ $at }届かず{ $probably }
outage-collision = 両側が{ $at }同時にリキー（鍵更新）{ $probably }
outage-limit-reached = SA が{ $at }寿命に到達{ $probably }
outage-new-sa-lost = 新しい SA の最初のパケットが{ $at }届かず{ $probably }
outage-first-number = { outage-new-sa-lost }
outage-deleted-early = { $who }が{ $at }古い SA を早く削除しすぎ{ $probably }
outage-peer-restarted = { $who }が{ $at } SA を喪失{ $probably }
outage-invalid-spi = { $who }が{ $at } SA の一つを喪失{ $probably }
outage-came-back = { $other }が{ $who }の復帰に応答せず
outage-session-ended = { $who }の PPPoE セッションが { $at }切断
outage-address-changed = { $who }の{ $what ->
    [port] ポート
   *[address] アドレス
}が{ $at }変化{ $probably }
outage-peer-silent = { $who }からの通信が{ $at }途絶{ $probably }
outage-ike-fragments = { $who }の要求が{ $at }一部欠けて到着{ $probably }
outage-unheard = { $who }のパケットが{ $at }届かず{ $probably }
outage-silent-rested = { $who }への通信が{ $at }途絶{ $probably }
outage-esp-silent = { $who }からの ESP が{ $at }途絶{ $probably }
outage-one-sa-silent = { $who }の SA の一つが{ $at }途絶{ $probably }
outage-silent-on-new-sa = { outage-esp-silent }
outage-path-silent = 両側からの通信が{ $at }途絶{ $probably }
outage-first-fragments = { $who }の大きなパケットが{ $at }欠損{ $probably }
outage-large-packets = 大きなパケットだけが{ $at }途絶{ $probably }
outage-large-or-all = 大きなパケットだけが{ $at }途絶（推定）
outage-compressed = { $moment }以降の圧縮パケットが通らず
outage-no-mtu = { $lost } バイト以上が{ $at }途絶{ $probably }
outage-cut = { outage-no-mtu }
outage-never-cut = { $often ->
    [again] { $lost } バイトが{ $at }通らず{ $probably }
   *[once] { $moment }以降の { $lost } バイトが通らず{ $probably }
}
outage-large-never-passed = { $often ->
    [again] 大きなパケットが{ $at }通らず{ $probably }
   *[once] { $moment }以降の大きなパケットが通らず{ $probably }
}
outage-numbers-back = { $who }の ESP 番号が{ $at } { $bytes } 戻り{ $probably }
outage-left-out = { $who }が{ $at } SA から脱落{ $probably }
outage-by-turns = 通信が{ $at } { $to } 側に切り替わり{ $probably }
outage-other-tunnel = データが{ $at }別トンネルへ{ $probably }
outage-other-path = データが{ $at }別トンネルへ{ $probably }
outage-networks-by-turns = { $from } と { $to } が{ $at } SA を交互に使用{ $probably }
outage-one-sided = { $who }が{ $at }{ $known ->
    [inferred] 無効な SA で送信（推定）
   *[read] 削除済みの SA で送信を継続
}
outage-sa-of-others = { $who }が{ $at }別のネットワークの SA で送信
outage-one-sided-renewed = { $to }が { $from }までに SA を喪失（推定）
outage-one-sided-asked = { $to }が{ $at }新しい SA を使わず（推定）
outage-answered-elsewhere = { $who }が{ $at } { $to } から応答{ $probably }
outage-numbers-used-up = { $who }の ESP 番号が{ $at }枯渇{ $probably }
outage-bad-icv = { $who }のパケットが{ $at }破損{ $probably }
outage-too-big = { $who }の大きなパケットが{ $at }途絶{ $probably }
outage-connection-dead = 一つのコネクションだけが{ $at }無応答{ $probably }
outage-slow-exchange = 鍵交換が{ $at }遅延{ $probably }
outage-slow-renewal = { outage-slow-exchange }
outage-l2tp-silent = { $who }が{ $at }途絶の後に L2TP のセッションを切断{ $probably }
outage-l2tp-closed = { $who }が{ $at } L2TP のセッションを切断{ $probably }
outage-replay-window = { $who }が{ $at }遅れたパケットを破棄{ $probably }
outage-unexplained = { $from }から { $to }まで{ $known ->
    [inferred] データが届かず（推定）
    [echo] ping が応答なく
    [cut] 分割された ping が応答なく
   *[proven] 何も届かず
}、原因はキャプチャからは不明
outage-lost-before = { $from }から { $to }まで何も届かず（{ $who }のパケットが損失）
outage-unexplained-open = { $host ->
    [all] {""}
   *[one] { $host } 宛て、
}{ $from }の時点から { $seconds }間、{ $known ->
    [inferred] データが届かず（推定）
    [echo] ping が応答なく
    [cut] 分割された ping が応答なく
   *[proven] 何も届かず
}、原因はキャプチャからは不明
outage-unexplained-times = { $host ->
    [all] {""}
   *[one] { $host } 宛て、
}{ $known ->
    [inferred] データが届かない時間（推定）
    [echo] ping に応答がない時間
    [cut] 分割された ping に応答がない時間
   *[proven] 何も届かない時間
}が { $n } 回（{ $seconds }）、原因はキャプチャからは不明
outage-capture-hole = { $from }から { $to }までキャプチャに欠落があり、通信の有無は不明

outage-because = { $clause }。{ $outage }

## 原因の名前（表と一覧）

cause-capture-hole = キャプチャにパケットの欠落
cause-deleted = SA が削除され、その後のネゴシエーションなし
cause-break-before-make = 新しい SA のネゴシエーションより先に古い SA を削除
cause-refused = リキーの拒否
cause-unanswered = 更新の要求に無応答
cause-ike-fragments = 大きな IKE メッセージの一部のフラグメントしか届かない
cause-answered-late = 更新への応答の遅れ
cause-given-up = 動作中の IKE SA を切断
cause-given-up-too-soon = 相手側を早く見限りすぎた
cause-answer-lost = リキーのメッセージの損失
cause-collision = 両側が同時にリキー
cause-limit-reached = SA の寿命に到達
cause-new-sa-lost = 新しい SA の最初のパケットの損失
cause-first-number = 新しい SA の最初のパケットが届かない
cause-deleted-early = 古い SA の削除が早すぎる
cause-peer-restarted = 相手側が SA を失った
cause-invalid-spi = 相手側がその SA を知らない
cause-address-changed = アドレスまたはポートの変更
cause-peer-silent = 相手側からの通信が途絶
cause-unheard = 片側のパケットが届かず
cause-esp-silent = 片側からの ESP の途絶
cause-silent-on-new-sa = 新しい SA で何も届かない
cause-path-silent = 両側からの通信が途絶
cause-numbers-used-up = ESP シーケンス番号の枯渇
cause-bad-icv = パケットの破損
cause-connection-dead = 一つのコネクションだけが無応答
cause-numbers-back = ESP シーケンス番号の後戻り
cause-left-out = 新しい SA に含まれない内側のホスト
cause-one-sided = 相手が削除した SA で送信を継続
cause-answered-elsewhere = 要求されたのとは別のアドレスから応答
cause-by-turns = 2 つの相手が交互に通信
cause-other-tunnel = 別のトンネルへのデータの移動
cause-large-packets = 大きなパケットが通らない
cause-large-never-passed = 大きなパケットが一度も通らない
cause-first-fragments = 大きなパケットの先頭フラグメントしか届かない
cause-too-big = パケットが大きすぎるとルーターが通知
cause-slow-exchange = 鍵交換に時間がかかった
cause-slow-renewal = 更新の遅れ
cause-l2tp-closed = L2TP セッションの切断
cause-replay-window = リプレイウィンドウより遅れたパケット
cause-unexplained = このキャプチャからは原因不明

## 2 行目

why-outage = 原因: { $text }
explains-deleted = { $what ->
    [ike] IKE SA とともに Child SA も削除され、不通の間に新しい鍵交換は始まっていません。
    [child] この通信を運ぶ SA が削除され、不通の間に新しい鍵交換は始まっていません。
   *[unknown] 何を削除したかは暗号化されていて分かりません。不通の間に新しい鍵交換は始まっていません。
}
explains-break-before-make = { $renews ->
    [other] { $who }が{ $what ->
        [ike] { " " }IKE SA
       *[child] { " " }SA
    } を削除し、相手が新しい SA を要求したのはその後で、
   *[same] 新しい鍵交換は Delete の後に始まり、
}{ $timed ->
    [no] 不通の間に新しい SA はできませんでした。
   *[yes] 新しい SA ができたのは Delete の { $took }後でした。
}
explains-new-ike-deleted = その IKE SA は更新で作られたばかりで、本来は古い IKE SA だけを削除します。新しい IKE SA とともに Child SA も削除され、{ $timed ->
    [yes] 次の SA ができたのは { $took }後でした。
   *[no] 次の SA は作られていません。
}
explains-refused = 応答は { $notify }（{ $count } 回）で、古い SA に代わる SA はできませんでした。
explains-refused-encrypted = 要求が { $count } 回拒否され（理由は暗号化されていて不明）、古い SA に代わる SA はできませんでした。
explains-refused-child = 新しい IKE SA はできましたが、Child SA はできませんでした。{ $who }の応答は以前の応答より短く、Child SA が入る余地がなく、その後 ESP は届いていません。理由は暗号化されていて不明です。
explains-given-up = 生存確認が { $count } 回無応答だったため、古い IKE SA の代わりに新しい IKE SA が始まり、{ $who }はその要求にすぐ応答しました。到達性はあるので、生存確認かその応答が失われたか、{ $who }が再起動したかのどちらかです。
explains-given-up-away = 生存確認 { $count } 回に応答がなく、{ $other }は{ $who }をあきらめて { $took }何も送っていません。{ $who }はその間に戻りましたが、それを知らず、古い SA で送り続けていました。
explains-given-up-too-soon = { $who }は動作しており、生存確認に { $took }後に応答しましたが、相手側はすでにトンネルを閉じて新しい IKE SA を始めていました。キューがいっぱいのときのように、経路の遅延が大きくなっています。
explains-given-up-alive = { $took }の間に生存確認が { $count } 回無応答だったため、{ $other }が SA を削除しました。{ $who }の ESP はその間も届いており、動作していました。
explains-given-up-login = { $other }は Transaction 交換（おそらく IKE SA 更新時の XAUTH によるユーザー名とパスワードの要求）を { $count } 回送りましたが、{ $who }は応答せず、最初の要求から { $took }後に{ $other }が SA を削除しました。{ $who }の ESP はその間も届いていました。
explains-unanswered = 新しい SA の要求{ $count ->
    [0] { "" }
   *[other] { " " }{ $count } 回
}に無応答でしたが、その間も{ $who }のほかのパケットは届いていました。
explains-unanswered-given-up = { explains-unanswered }最初の要求から { $took }後に{ $other }からの通信が途絶えており、要求をあきらめて SA も破棄したと見られます。
explains-answered-late = 新しい SA の要求が { $count } 回送られ、{ $who }の応答が届くまでに { $took }かかりました。
explains-answered-late-lossy = { explains-answered-late }その間、まだ有効だった古い SA のデータも止まっており、要求とともにほかのパケットも経路で失われています。
explains-ike-fragments = 大きな IKE メッセージのフラグメントが一部しか届かなかったため、応答できませんでした。
explains-answer-lost = 応答はこのキャプチャにあるのに、リキーのメッセージが再送されています。その応答が送信側に間に合っていません。
explains-third-message-lost = { $who }が送った Quick Mode の 3 番目のメッセージはこのキャプチャにありますが、{ $other }はその後も自分の応答を再送しています。3 番目のメッセージが失われ、{ $other }には送信に使える SA がありません。
explains-third-message-once = { explains-third-message-lost }
explains-collision = 相手の応答より先に両側が新しい SA を要求し、残した SA が一致しませんでした。
explains-collision-silent = 相手の応答を受け取る前に両側が新しい SA を要求しました。その後{ $who }の ESP は来ず、IKE は来ています。{ $who }には送信に使う SA がないと推定されます。
explains-limit-read = { $stated ->
    [yes] SA が { $source } に記載された寿命（{ $limit }）に達したところでデータが止まりました。
   *[no] SA がネゴシエートされた寿命（{ $limit }）に達したところでデータが止まりました。
}
explains-limit-reached = SA が約 { $limit } に達したところでデータが止まりました。
explains-limit-late = 新しい SA が使われる前に、古い SA でデータが止まりました。
explains-new-sa-lost = 新しい SA のパケットが先頭から{ $count ->
    [0] { "" }
   *[other] { " " }{ $count } 個
}届いていません。{ $who }がまだその SA を使えなかったためです。
explains-second-tunnel = 新しい SA のパケットが先頭から{ $count ->
    [0] { "" }
   *[other] { " " }{ $count } 個
}届いていません。同じ両端の間に二つの IKE SA があり、それぞれが SA を作っています。一方のトンネルを通るパケットが失われています。
explains-first-number = 新しい SA の最初のパケット { $count } 個がキャプチャになく、ほかの SA でも同様です。送信側のオフロードで失われたか、キャプチャより手前の機器が新しい SPI を遅れて通しています。
explains-deleted-early = 古い SA を削除した時、パケット { $count } 個がまだ届いていませんでした。
explains-dropped-early = リキーの後も古い SA で送られた { $count } パケットはどれも届いていません。{ $who }は新しい SA ができるとすぐに古い SA を破棄したと推定されます。
explains-invalid-spi = { $who }が INVALID-SPI を { $count } 回通知しました。{ $who }側には該当する SA がもうありません。
explains-peer-restarted = 新しい IKE SA が始まるまで{ $timed ->
    [yes] の { $took }間、
   *[no] {""}
}{ $who }からは何も届いていません。古い SA を失っています。
explains-capture-hole = ESP シーケンス番号から見て両側の { $count } パケットが欠けていますが、鍵がないと再送されたかどうかは分かりません。
explains-address-changed = { $from } から { $to } に変わり、パケットの一部は古い宛先に送られ続けました。
explains-back-elsewhere = { $what ->
    [port] { $who }が { $to } から自ら送信するまで、{ $before }間 { $from } 宛ての送信は届きませんでした。何も送らない間に NAT がポートを忘れたと推定されます。
   *[address] { $who }が { $from } ではなく { $to } から戻るまで、{ $before }間何も通りませんでした。{ $who }の回線が不通だったか、アドレスの変化に気付くのが遅れたと推定されます。
}
explains-left-behind = { $from } から { $to } に変わりましたが、{ $other }はその後も { $lasted }間、パケットを古い宛先に送りました。
explains-moved = { $from } から { $to } に変わり、{ $other }は { $took }後にそこへ送り始めました。トンネルは移動できており、失われたのは途中にあったパケットだけです。
explains-session-ended = アクセス回線の PPPoE セッションが切断され（PADT）、次のセッションではアドレスが { $from } から { $to } に変わりました。トンネルはその後に新しいアドレスから張り直されています。
explains-came-back = { $who }は { $address } から { $first }以降 { $asked } 回トンネルを要求しましたが、{ $other }が応答したのは{ $known_end ->
    [yes] 、古いトンネルを { $given_up }に放棄した後の
   *[no] {" "}
} { $answered }です。
explains-silent-came-back = { explains-peer-silent } { $address }（同じクライアントの可能性あり）が { $first }以降 { $asked } 回トンネルを要求しましたが、{ $other }が応答したのは、このトンネルを { $given_up }に放棄した後の { $answered }です。
explains-source-changed = 送信元が { $from } から { $to } に変わりましたが、{ $other }は元のアドレスに問い合わせ続け、その応答が届いていません。NAT の内側には、自分から送ったことのないアドレスのパケットは届きません。
explains-peer-silent = { $span ->
    [part] { $who }からは ESP も IKE も { $took }間届きませんでした。
   *[all] その間、{ $who }からは ESP も IKE も届きませんでした。
}
explains-silent-rested = { $who }からは、{ $who }自身が何かを送るまで何も届きませんでした。それが表面化する前の { $rested }間は、どちらからも{ $esp ->
    [udp] 送信がなく（NAT キープアライブも含む）、NAT がポートを忘れた
   *[plain] 送信がなく、NAT かフィルターが ESP を忘れた
}か、{ $who }がスリープしていた可能性があります。
explains-silent-at-rest = { $who }は { $count } 回の生存確認に一度も応答していません。ほかに送られたものはなく、失われたデータはありません。
explains-unheard = { $who }のパケットはこのキャプチャにありますが、相手側は{ $who }が応答済みのメッセージを再送しています。{ $who }のパケットは、キャプチャ地点より先で失われています。
explains-esp-silent = { $span ->
    [part] { $who }から ESP は { $took }間届かず
   *[all] その間、{ $who }から ESP は届かず
}、IKE は届いていました。{ $esp ->
    [udp] NAT マッピングかフィルター
   *[plain] フィルター
}が IKE だけを通しているか、送るための SA がありません。
explains-esp-silent-lost = { $span ->
    [part] { $who }から ESP は { $took }間届かず
   *[all] その間、{ $who }から ESP は届かず
}、IKE は届いていました。このキャプチャで新しい SA の最初の番号が { $bytes } なので、{ $who }は ESP を送っており、それより前のパケットは途中で失われました。
explains-esp-silent-rested = { $span ->
    [part] { $who }から ESP は { $took }間届かず
   *[all] その間、{ $who }から ESP は届かず
}、IKE は届いていました。それが表面化する前の { $rested }間はどちらからも ESP の送信がなく、フィルター、NAT、ロードバランサーのいずれかがフローを忘れたか、送るための SA がありません。
explains-esp-silent-renewed = { $span ->
    [part] { $who }から ESP は { $took }間届かず
   *[all] その間、{ $who }から ESP は届かず
}、IKE は届いており、同じ IKE SA で新しい SA ができると戻りました。{ $who }は古い SA を Delete なしに破棄したか、使い切ったと推定されます。
explains-one-sa-silent = { $who }の他の SA は続いており、{ $other }も逆方向の SA で送り続けています。{ $count ->
    [0] {""}
   *[other] {""}番号によれば、その SA は { $bytes } パケット（約 { $limit }）を運んでいます。{ $who }が自分の上限（転送量または時間）で破棄したか、その Delete が失われた可能性があります。
}
explains-silent-on-new-sa = { explains-esp-silent }
explains-path-silent = { $span ->
    [part] 両側とも ESP も IKE も { $took }間届きませんでした。
   *[all] その間、両側とも ESP も IKE も届きませんでした。
}
explains-first-fragments = { $who }の ESP パケット { $bytes } 個は先頭フラグメントだけが届き、残りのフラグメントは届いていません。小さなパケットは通っています。経路上の何かがフラグメントを破棄しています。
explains-large-packets = { $bytes } バイトまでのパケットは通り、最大長のパケットは届いていません。通る上限はその間です。
explains-large-or-all = 最大長のパケットへの確認応答がありません。{ $who }のエコー要求への応答（{ $bytes } バイトまで）はその間も送られていますが、届いたかどうかはこれらのパケットからは分かりません。
explains-large-never-passed = { $bytes } バイトまでのパケットは通り、最大長のパケットは一度も届いていません。通る上限はその間です。
explains-compressed = 失われた{ $who }のパケットはすべて圧縮されており（IPComp）、圧縮されたパケットは一度も通っていません。圧縮されていない { $bytes } バイトまでのパケットは通っています。
explains-no-mtu = { $bytes } バイトまでのパケットは通り、{ $lost } バイト以上は届いていません。インターネットのリンクは 1,280 バイトを通すので（RFC 8200）、これほど小さい MTU はありません。
explains-cut = 送信側は { $lost } バイトのパケットを再送しても届かず、自分で { $bytes } バイトに縮めると通りました。通る上限はその間です。
explains-never-cut = { explains-cut }
explains-large-packets-only = エコーには応答がありましたが、最大長のパケットは届きませんでした。
explains-numbers-back = 同じ SA の番号が { $from } から { $to } に戻り、すでに使った番号が再び使われました。再起動やフェイルオーバーで古いカウンターから続けた場合に起こります。リプレイ検査を行う受信側は、これらのパケットをすべて破棄します。
explains-left-out = { $who }のパケットは、新しい SA への切り替えとともに両方向とも途絶えました。新しい SA はほかのホストのパケットを運んでいます。新しい SA のトラフィックセレクターに { $who }がおそらく含まれていません。両端がその時ちょうど送信をやめた可能性もあり、これらのパケットからは区別できません。
explains-by-turns = { $who }からの ESP は、{ $to } の新しい SA が始まるとこのクライアント宛てが途絶え、このクライアントの新しい SA が始まると { $to } 宛てが途絶えることを交互に繰り返しています。{ $who }が両者を同じクライアントとして扱っています。{ $known ->
    [proven] 両方のトンネル内アドレスが同じです。
   *[inferred] 識別子（ID）かトンネル内アドレスが同じ可能性があります。
}
explains-by-turns-transport = { $who }からの ESP は、{ $to } の新しい SA が始まるとこのクライアント宛てが途絶え、このクライアントの新しい SA が始まると { $to } 宛てが途絶えることを交互に繰り返しています。トランスポートモード（L2TP）では同じ NAT アドレスの内側のクライアントを区別できず、{ $who }は両方に最新の SA を使います。
explains-other-tunnel = { $known ->
    [inferred] その向きの ESP は、{ $to } のトンネルで始まったときにこのトンネルで途絶えました。
   *[proven] このトンネルで届いていたコネクションのパケットが、{ $to } のトンネルで届くようになりました。
}逆向きは今もこのトンネルを通っています。
explains-same-address = このトンネルで届いていたコネクションのパケットが、{ $to } のトンネルで届くようになりました。逆向きは今もこのトンネルを通っています。二つのクライアントのトンネル内アドレスが同じです。
explains-networks-by-turns = 新しい SA ができるたびに前の SA が終わり、二つのうちもう一方だけを交互に運んでいます。どの寿命よりもはるかに早い交替です。一方はネットワークごとに Child SA を持ち、もう一方は Child SA を一つしか持ちません。
explains-one-sided = { $to }がこの SA を { $moment }に削除した後も、{ $who }の ESP が { $took }にわたりその SA で届いています。受信側にはその鍵がありません。
explains-one-sided-left = { $to }は { $moment }に{ $what ->
    [sealed] 鍵のない Delete を送り
   *[unknown] 対になる SA での送信をやめ
}、別の SA で送り続けています。Child SA を失ったときの動きです。その後も{ $who }の ESP が { $took }にわたり元の SA で届いています。何を削除したかはこのキャプチャでは分かりません。
explains-one-sided-newer = { $to }は新しい SA に切り替えましたが、{ $who }の ESP はその後も { $took }にわたり古い SA で届き、応答は何も返っていません。{ $to }は古い SA をすでに破棄したと推定されます。IKE の生存確認では検出できません。
explains-sa-of-others = { $who }はこのホスト間の { $count } パケットを別の通信の SA で送っています。{ $to }は両者に別々の SA を使っており、別のネットワークの SA で届いたものを破棄します（RFC 4301 §5.2）。
explains-one-sided-alone = { $who }が送っている SA では何も返らず、{ $to }の ESP は古い SA で続いています。{ $to }は新しい SA をまだ持っていないか、すでに失っています。どちらかはこのキャプチャでは分かりません。
explains-one-sided-renewed = { $who }が送っていた SA のホストには一度も応答がなく、その間も{ $to }はほかの SA で送り続けています。{ $renewal }に始まったリキーの後はすぐに応答があったため、原因は SA です。
explains-one-sided-asked = 新しい SA は{ $to }が要求し、応答も届いています。{ $who }は新しい SA に切り替えましたが、そこで送ったものには何の反応もなく、{ $to }は古い SA だけで送り続けています。{ $to }には新しい SA がないと推定されます。
explains-answered-elsewhere = ESP や IKE は { $from } 宛てに送られ、返ってきたものの送信元は { $to } でした。NAT、ファイアウォール、または相手側が、知らない相手のものとして破棄します。
explains-answered-at-port = ESP は IKE のポート { $from } 宛てに送られ、{ $to } から来ました。NAT が IKE と ESP に別のポートを割り当て、違うポート宛ての応答を破棄します。
explains-numbers-used-up = ESP シーケンス番号が { $bytes } に達し、新しい SA なしでは次の番号がありません。リキーは間に合いませんでした。
explains-bad-icv = { $who }の ESP パケット { $bytes } 個の ICV が、ほかのパケットで確認済みの鍵に合いません。受信側はこれらを破棄します。より小さいパケットは通った可能性があります。
explains-too-big = ルーターが ICMP で、通るのは { $bytes } バイトまでと{ $timed ->
    [yes] { $took }にわたり繰り返し
   *[no] {""}
}通知しましたが、{ $who }はより大きいパケットを送り続けました。小さなパケットは通っています。
explains-too-big-inside = { $router } がトンネル内の ICMP で、その先に通るのは { $bytes } バイトまでと{ $timed ->
    [yes] { $took }にわたり繰り返し
   *[no] {""}
}通知しましたが、{ $from } は { $to } へより大きいパケットを送り続けました。
explains-connection-dead = そのコネクションのパケット { $bytes } 個が小さいものも含めて失われ、同じホスト間のエコーにはずっと応答がありました。トンネルは動作しています。{ $who }の先のファイアウォールかホストがそのコネクションを破棄したと推定されます。
explains-deleted-elsewhere = IKE SA とともに Child SA も削除されました。{ $took }後にできた新しい SA は別の内側アドレスを運ぶため、古いアドレスのコネクションは続きません。
explains-deleted-replaced = { $who }がこのトンネルを終了させ、{ $went ->
    [inferred] ちょうどその時から { $instead } のトンネルの ESP が両方向で増えています。このデータはそちらに切り替わって続いたと推定されます。
   *[proven] このデータは両方向とも { $instead } のトンネルに切り替わって続きました。
}
explains-monitored = { $who }がトンネル内で{ $other }自身に送った ping（{ $first }から { $last }まで { $asked } 回）には一度も応答がありませんが、データは通っていました。{ $who }の監視機能がトンネルの障害と誤認したと推定されます。
explains-slow-exchange = データは { $moment }に始まった鍵交換が終わるのを待っていました。
explains-slow-renewal = { explains-slow-exchange }
explains-l2tp-closed = トンネル内の L2TP または PPP のメッセージがセッションを終了しました。IPsec は続いています。
explains-l2tp-unanswered = { $who }の生存確認（{ $notify }）{ $asked } 回に、{ $other }は { $first }から { $last }まで一度も応答しませんでしたが、そのデータは届いていました。そこで{ $who }がセッションを終了しました。IPsec は続いています。
explains-l2tp-silent = { $other }から { $took }何も来ず、{ $who }の生存確認（{ $notify }）{ $asked } 回に { $first }から { $last }まで応答がなかったため、{ $who }がセッションを終了しました。その後{ $other }がそのセッションで送ったものには応答がありません。IPsec は続いています。
explains-l2tp-broken-line = { $first } から { $last } まで{ $other }からは何も来ず、{ $who }のキープアライブ（{ $notify }）{ $asked } 回に応答がありませんでした。{ $who }がセッションを終えた時にはデータがまた流れており、すぐに再ダイヤルはしませんでした。IPsec は続いています。
explains-replay-window = パケット { $count } 個が、後続の 32 個以上に追い越されて到着し、再送されました。
explains-unexplained = { $known ->
    [cut] 応答のない ping { $count } 個はすべて、暗号化の前にフラグメントに分割されています。それらがどこで失われたかは、これらのパケットからは分かりません。
    [echo] 不明です。ping { $count } 個に応答がありませんが、原因となるトンネルの障害はキャプチャに見られません。
   *[other] 不明です。{ $count ->
        [0] 失われたパケットも、原因となるトンネルの障害も、キャプチャには見られません。
       *[other] 届かなかったパケットが { $count } 個ありますが、原因となるトンネルの障害はキャプチャに見られません。
    }
}
explains-lost-before = キャプチャより手前で失われています。その間に ESP シーケンス番号が { $count } か所で欠けており、説明となるトンネルのイベントはありません。
outage-dead = 通信できない状態が { $dead }続き、その後は送信側が再送タイマーの満了を待っていました。
outage-timer = 通れるようになった後も、送信側は再送タイマーの満了を待っていました。
outage-slow-answers = そのうち { $took }は{ $who }の応答待ちです{ $eap ->
    [yes] （EAP は何度も往復し、RADIUS サーバーが遅い可能性があります）
   *[no] {""}
}。
outage-stopped-before = データは Delete の { $took }前からすでに止まっていました。
outage-late-in-all = この方向全体では { $late } 個（{ $share }）が、後続の { $window } 個以上に追い越されています。
outage-crossed = その SA のリキー要求が Delete と行き違い、拒否されました。
outage-alike = SA はいつも約 { $limit } で終わっています（{ $count } 個）。
outage-renewal-took = リキーには { $took }かかりました。
outage-connections = 止まったコネクションは { $n } 本です{ $never ->
    [yes] （いずれも最初の最大長パケットから）
   *[no] {""}
}。
outage-unused = その後の停止中は、新しい SA で何も送られていません。
outage-taken-back = その後{ $who }は新しい SA も削除し、次の SA まで SA がありませんでした。
outage-renewal-computed = リキーには { $took }かかり、そのうち { $computed }は鍵計算（DH）でした。
outage-renewal-all-computed = リキーには { $took }かかり、そのほとんどは鍵計算（DH）でした。
outage-brought-back = { $moment }に始まったリキーで途絶は終わりました。{ $esp ->
    [udp] SA の寿命、NAT マッピングの期限切れ、再起動、経路の中断のどれが原因か
   *[plain] SA の寿命、再起動、経路の中断のどれが原因か
}は、このキャプチャでは区別できません。
outage-since-renewal = { $moment }に始まったリキーの時から続いています。
outage-moments = 開始は { $list }です。
outage-earlier = それ以前にも { $n } 回ありました。
outage-others = ほかの原因の不通が { $n } 回あります（-v）。
outage-elsewhere = { $list }も同様です。
outage-elsewhere-item = { $client }（{ $moment }から { $seconds }間）
outage-elsewhere-and = 、
outage-one-host = その間、他のホスト宛ての通信は同じ SA で届いており、トンネルは通っていました。
outage-behind-another = いずれも別のクライアントがトンネルを張った直後です。ゲートウェイがトンネルの数を制限しているか、二つのクライアントを同じものとみなしていると推定されます。
outage-frames = フレーム: { $frames }{ $more ->
    [yes] {" "}など
   *[no] {""}
}。

## 3 行目

cure-deleted = { $who }のログで{ $what ->
    [ike] { " " }IKE SA
   *[child] { " " }SA
} を削除した理由を調べてください。寿命の場合は、その前にリキーが始まるようにする（strongSwan: `rekey_time` を 0 より大きく、寿命より短く）か、相手側から先にリキーさせてください。手動やアイドルタイマーの場合は、それを変更してください。
cure-one-host = トンネルの先にある { $host } 自身の回線（Wi-Fi、ケーブル、スイッチ、負荷）を調べ、そこでもキャプチャしてください。
cure-behind-another = ゲートウェイでトンネル数の制限（ライセンス、アドレスプール）と、同じ名前や証明書を使うクライアント（strongSwan: `unique`）を調べてください。
cure-deleted-at-limit = { cure-deleted }
cure-break-before-make = { $what ->
    [ike] { $who }で古い SA を削除する前に新しい SA を作るようにする（strongSwan: `make_before_break = yes`）か、再認証の代わりにリキーしてください。
   *[child] { $by ->
        [packets] { $who }がパケット数の上限に達する前に更新する（strongSwan: `rekey_packets` を `life_packets` より小さく）か、上限を増やしてください。
        [volume] { $who }が転送量の上限に達する前に更新する（strongSwan: `rekey_bytes` を `life_bytes` より小さく）か、上限を増やしてください。
        [either] SA の寿命が尽きる前に{ $who }が更新する（strongSwan: `rekey_bytes` を `life_bytes` より、`rekey_time` を `life_time` より小さく）か、両方の上限を増やしてください。どちらで終わるかはこれらのパケットからは分かりません。
       *[time] { $who }が寿命の前に更新するようにしてください（strongSwan: `rekey_time` を `life_time` より短く）。
    }
}
cure-deleted-and-made-anew = { $who }のログで { $moment }に { $what ->
    [ike] IKE SA
   *[child] SA
} を削除した理由（手動、アイドルタイマー、無応答のチェック、寿命）を調べてください。寿命の場合は、その前にどちらかが更新するようにしてください（strongSwan: { $what ->
    [ike] `reauth_time` ではなく `rekey_time`
   *[child] `rekey_time`
}）。
cure-new-ike-deleted = { $who }のログで、{ $moment }に新しい IKE SA を削除した理由（更新の要求を再送した後など、ソフトウェアの不具合）を調べて更新し、通信が発生したらトンネルを張り直すようにしてください（strongSwan: `start_action = trap`）。
cure-refused = { $who }のログで理由を調べてください。プロポーザル、PFS グループ、トラフィックセレクターは更新時にも一致が必要です。
cure-given-up-too-soon = 回線を使い切らないよう、送信を少し抑えて（`fq_codel` か `cake` でシェーピング）、UDP 500 と 4500 を優先し、DPD のタイムアウトを延ばしてください（strongSwan: `retransmit_tries` を増やす）。
cure-given-up-login = { $other }で、IKE SA の更新時にログインを求めない（Cisco: `re-xauth disable`）か、IKE SA の寿命を延ばしてください。{ $who }にユーザー名とパスワードを保存するか、証明書を使う IKEv2 にしても直ります。
cure-given-up-alive = { $other }で、ESP の到着も生存の印とみなす（何も届かないときだけ確認するオンデマンドの DPD）か、DPD の間隔と回数を増やしてください（strongSwan: `dpd_delay`、`dpd_timeout`、`retransmit_tries`）。{ $who }が確認に応答しない理由（負荷、フィルター）も調べてください。
cure-unanswered = 要求が届いたかを{ $who }のログで確認してください（想定外の要求は破棄されることがあります）。届いていなければ、ESP は通るのに IKE を破棄するものを探してください（{ $esp ->
    [udp] NAT のタイムアウト、UDP 500 と 4500 のフィルター
   *[plain] UDP 500 と 4500 のフィルター、しばらく通らない UDP を忘れる{ $who }側のファイアウォール（{ $who }から 20 秒ごとに生存確認を送る）
}など）。大きなメッセージが通らない場合は、IKE フラグメンテーションを使うか、鍵サイズの小さい DH グループ（楕円曲線など）にしてください。
cure-answer-lost = IKE メッセージが両端の間で失われる箇所（あふれたキュー、フィルター、NAT）を探し、SA の寿命を延ばしてリキーの回数を減らしてください。大きなメッセージだけが失われる場合は、IKE フラグメンテーションを使うか、鍵サイズの小さい DH グループ（楕円曲線など）にしてください。
cure-third-message-once = 応答が再送されたら 3 番目のメッセージを送り直すように{ $who }を更新するか、このメッセージのない IKEv2 を使ってください。IKE メッセージが両端の間で失われる箇所（あふれたキュー、フィルター、NAT）も探してください。応急処置は{ $who }での SA のクリアです。
cure-answered-late = IKE メッセージが両端の間で失われる箇所（あふれたキュー、フィルター、NAT）を探し、再送した要求への応答が SA の寿命に間に合うよう、リキーを早く始めてください（strongSwan: `rekey_time` か `rekey_bytes` を `life_time`、`life_bytes` より十分小さく）。大きなメッセージだけが失われる場合は、IKE フラグメンテーションを使うか、鍵サイズの小さい DH グループ（楕円曲線など）にしてください。
cure-answered-late-lossy = 両端の間で、種類を問わずパケットが失われる箇所を探してください。ボトルネック回線を超える送信があれば、少し低いレートにシェーピングし（`fq_codel` や `cake`）、IKE（UDP 500 と 4500）を優先してください。また、再送した要求への応答が SA の寿命に間に合うよう、リキーを早く始めてください（strongSwan: `rekey_time` を `life_time` より十分小さく）。
cure-ike-fragments = 両側で IKE フラグメンテーションを有効にする（strongSwan: `fragmentation = yes`）か、鍵サイズの小さい DH グループ（楕円曲線など）にしてください。
cure-given-up-away = { $who }からの通信が止まった理由（回線、Wi-Fi、スリープ）を調べてください。{ $other }では DPD のタイムアウトを延ばし（strongSwan: `retransmit_tries`、libreswan: `retransmit-timeout`）、{ $who }からも生存確認を行って自動でつなぎ直すようにしてください。応急処置はつなぎ直しです。
cure-given-up = 生存確認（INFORMATIONAL、UDP 500 と 4500）か{ $who }の応答が失われる箇所を探してください。DPD のタイムアウトを延ばしても（strongSwan: `retransmit_tries`）、問題が隠れるだけです。再起動したかどうかは{ $who }のログで分かります。
cure-collision = リキーを片側だけが行うように寿命に十分な差をつけ、リキー時刻のランダムなずれは残してください。
cure-collision-silent = 片側だけが更新するように寿命に差をつけ、相手側の SA を使わなかった{ $who }を更新してください。それまでは{ $who }で SA をクリアしてください。
cure-limit-reached = { $by ->
    [packets] { $who }が早めに更新するか、SA の上限（{ $limit }）を増やしてください（strongSwan: `rekey_packets` を `life_packets` より十分小さく）。両者の間に鍵交換が終わる余裕が必要です。
   *[volume] リキーする側（{ $who }）の寿命を相手側より短くし、鍵交換が終わる余裕をとって早めに始めてください（strongSwan: `rekey_bytes` を `life_bytes` より、`rekey_time` を `life_time` より小さく）。
}
cure-new-sa-lost = 始動側が新しい SA で送り始めるのを少し遅らせるか、IKEv2 にしてください。{ $who }が新しい SA を使い始めるのが遅れています。
cure-new-sa-initiator = { $other }から更新を始めるようにしてください（{ $who }のリミットを上げる）。応答する側は、相手が新しい SA で送る前にそれを持っています。または{ $who }をアップデートしてください。新しい SA を使い始めるのが遅れています。
cure-new-sa-responder = { $who }をアップデートしてください。応答する側は応答した時点で新しい SA で受信できなければなりませんが（RFC 7296 §2.8）、使い始めるのが遅れています。
cure-second-tunnel = 一方だけがトンネルを張るようにして（strongSwan: もう一方は `start_action = none`）、IKE SA を一つにしてください。もう一方の SA を破棄するもの（一つのトンネルしか扱わないルーターや NAT）も調べてください。
cure-first-number = 送信側でもキャプチャしてください。送信側から出ていれば、キャプチャより手前のルーター、NAT、ファイアウォール（IPsec パススルー、SPI ごとの状態）を調べるか、UDP カプセル化を使ってください。出ていなければ、送信側の IPsec オフロードか、受信側のリプレイウィンドウの検査を無効にしてください。
cure-deleted-early = { $who }が古い SA を数秒長く保つようにしてください（strongSwan: `delete_rekeyed_delay`）。
cure-dropped-early = { $who }では古い SA を数秒残す（strongSwan: `delete_rekeyed_delay`）か、{ $other }が新しい SA をすぐ使うように（更新）してください。
cure-peer-restarted = { $who }が SA を失った理由（再起動、SA の手動削除など）を調べ、相手側が早く気付くように、DPD の間隔とタイムアウトを短くしてください（strongSwan: `dpd_delay`、IKEv1 では `dpd_timeout`、IKEv2 では `retransmit_tries`）。
cure-invalid-spi = { cure-peer-restarted }
cure-address-changed = { $esp ->
    [udp] MOBIKE のある IKEv2 を使い、NAT キープアライブを 20 秒以下の間隔で送り、NAT のタイムアウトを延ばしてください。
   *[plain] MOBIKE のある IKEv2 を使うか、アドレスが変わらないようにしてください。
}
cure-back-elsewhere = { $what ->
    [port] { $who }が 20 秒ごとに NAT キープアライブ（RFC 3948）を送るか、同じ間隔で相手をチェックするか、NAT の UDP タイムアウトを延ばしてください。
   *[address] 回線のアドレスが変わったらすぐに{ $who }がトンネルを張り直すようにする（回線と同時に IPsec を再起動する、チェックの間隔を短くする）か、IKEv2 の MOBIKE を使ってください。回線が不通になった理由も調べるか、アドレスを固定してください。
}
cure-left-behind = { $what ->
    [port] NAT のポートが変わらないよう、NAT キープアライブを 20 秒以下の間隔で送り、NAT のタイムアウトを長くしてください
   *[address] 両端で IKEv2 の MOBIKE を使い、{ $who }はネットワークが変わったらすぐにトンネルを張り直すようにしてください
}。{ $other }が追従しなかった理由をログで調べてください。
cure-moved = VPN でできることはありません。新しい場所からの最初のメッセージの { $took }後には移動が終わっていました。その後の遅さは新しいネットワークのものです。
cure-session-ended = VPN でできることはありません。セッションが切断される理由をプロバイダーに確認してください。1 日に 1 回の切断なら、ルーターの張り直しを利用の少ない時刻に設定するか、固定アドレスの回線を使います。MOBIKE や短い間隔の確認で短くなるのは、回線が復旧した後の時間だけです。
cure-came-back = { $other }がクライアントの切断をより早く検出するようにしてください（確認の間隔を短く、回数を少なく。Yamaha: `ipsec ike keepalive use N on dpd 5 2`）。または、古いトンネルが残っていても同じクライアントの新しいトンネルを受け付ける設定にしてください。それまでは、古い SA を手動で削除します（Yamaha: `ipsec sa delete`）。
cure-silent-came-back = { cure-came-back }
cure-source-changed = { $who }の送信元アドレスを 1 つに固定してください（strongSwan: コネクションの `local_addrs`、ほかのインターフェイスには `charon.interfaces_ignore`、`mobike = no`）。IKEv2 でアドレスを変更できるのは、トンネルを開始した側だけです。
cure-peer-silent = { $who }の側でもキャプチャしてください。原因が経路か{ $who }自身かが分かります。
cure-silent-rested = { $esp ->
    [udp] { $who }が NAT キープアライブを 20 秒間隔で送る（RFC 3948）か、同じ間隔で生存確認をするか、NAT の UDP タイムアウトを延ばしてください。
   *[plain] { $who }がトンネル経由の ping を 20 秒間隔で送るか、UDP カプセル化とキープアライブを使う（strongSwan: `encap = yes`）か、手前のフィルターや NAT の ESP タイムアウトを延ばしてください。
}{ $who }がスリープしていたのなら、対処は不要です。
cure-silent-at-rest = { $who }がスリープしたか、電源が切れたか、ネットワークを離れただけなら、対処は不要です。そうでなければ{ $who }の側でもキャプチャしてください。
cure-silent-renewed = { $who }のログで、キャプチャ開始から { $from }前後に SA の削除や再起動がなかったかを調べ、{ $esp ->
    [udp] NAT キープアライブを 20 秒以下の間隔で送り、
   *[plain] {""}
}そちらでもキャプチャしてください。
cure-silent-without-ike = IKE（UDP 500、4500）もキャプチャしてください。次の SA の前に古い SA が終わった理由が分かります。
cure-unheard = { $other }でもキャプチャし、{ $who }からそこまでの経路（フィルター、NAT マッピング）を調べてください。そこまで届いているなら、破棄しているのは{ $other }自身です（外側インターフェースの ESP に対するファイアウォールとステート、ポリシー、カウンター）。
cure-esp-silent = { $who }の側でもキャプチャしてください。ESP を送ったかどうかが分かります。SA が残っているかどうかもそちらで調べてください（strongSwan: `swanctl --list-sas`）。{ $esp ->
    [udp] NAT キープアライブを 20 秒以下の間隔で送ってください。
   *[plain] 送られていれば、経路で IP プロトコル 50 を通すか、UDP カプセル化（strongSwan: `encap = yes`）を使ってください。
}
cure-esp-silent-rested = { $other }がトンネル経由の ping を 20 秒間隔で送るか、UDP カプセル化とキープアライブを使う（strongSwan: `encap = yes`）か、{ $who }の手前のフィルターの ESP タイムアウトを延ばしてください。{ $who }に SA が残っているかどうかも調べてください（strongSwan: `swanctl --list-sas`）。
cure-esp-silent-lost = { $who }からの IKE を通し、ESP を破棄しているものを探してください: { $esp ->
    [udp] NAT マッピングかフィルターです
   *[plain] フィルターか、IP プロトコル 50 を別の経路に転送しているプロバイダーです。ESP を UDP で送る（strongSwan: `encap = yes`）か、誤ったエントリーが消えるまでトンネルを数分止めてください
}。
cure-esp-silent-renewed = 両側の SA の寿命を秒でも kB でも同じ値にし、十分手前でリキーしてください。古い SA が終わった理由を{ $who }のログで調べ、破棄するときは Delete を送るようにしてください。
cure-one-sa-silent = { $who }でそのネットワークの SA をクリアし、送信が止まった理由をログとカウンター（Cisco: `show crypto ipsec sa`）で調べてください。両端の寿命をそろえ、ネットワークごとに ping で監視してください。転送量を使い切っていた場合は、ソフトウェアを更新し、転送量の上限を上げるか無効にして、秒単位の寿命が先に切れるようにしてください。
cure-silent-on-new-sa = { cure-esp-silent }
cure-path-silent = 両側の間の経路を調べ、反対側でもキャプチャしてください。
cure-first-fragments = { $who }とこのキャプチャの間でフラグメントを破棄しているファイアウォールかルーターを探し、通すようにしてください。または、フラグメントを避けてください: トンネル内の MTU か MSS を小さくする（`rekeyscope overhead{ $suite } --mtu LIMIT`）、暗号化の前に分割する。
cure-large-packets = トンネルの外側で両端の間を通る最大のパケットを調べ（DF 付きの `ping`）、`rekeyscope overhead{ $suite } --mtu LIMIT` が示す MSS を設定してください。リキーの時から始まっている場合は、その前後の暗号スイートとカプセル化を比べてください。
cure-large-or-all = トンネルの外側で両端の間を通る最大のパケットを調べ（DF 付きの `ping`）、`rekeyscope overhead{ $suite } --mtu LIMIT` が示す MSS を設定してください。小さなパケットも{ $who }に届かない（トンネル内の `ping` に応答がない）場合は、それらが届く SA を{ $who }が持っているか（ログ、SA の一覧）を調べてください。
cure-compressed = 両端で IPComp を無効にしてください（libreswan `compress=no`、strongSwan `ipcomp = no`）。または、これらを受け付けない{ $other }の ESP オフロードと GRO を無効にするか、更新してください。
cure-no-mtu = MTU 以外で破棄する原因を調べてください。圧縮（IPComp を無効にして比較）、受信側のオフロード、フィルターなどです。圧縮されているかどうかは鍵があれば分かります。
cure-large-never-passed = 通る最大のパケットを調べ（DF 付きの `ping`）、`rekeyscope overhead{ $suite } --mtu LIMIT` が示す MSS を両方向に設定してください。または ICMP「fragmentation needed」を通してください。
cure-numbers-back = { $who }のクラスターで ESP シーケンス番号を同期させる（または最後の番号より十分大きい値から始める）か、引き継いだノードがすぐに鍵を更新するようにしてください。
cure-left-out = リキーで合意されたトラフィックセレクターをログで調べ、毎回 { $who }を含む同じものを両側が要求するようにしてください。
cure-by-turns = { $who }で、クライアントごとに別の識別子（ID）とトンネル内アドレスを割り当てるか、同じ識別子での複数ログインを許可してください（strongSwan: `unique = never`）。
cure-by-turns-transport = { cure-other-tunnel }
cure-other-tunnel = 同じ NAT アドレスの内側にある二つのクライアントは、トランスポートモード（L2TP）では区別できず、{ $who }は両方に最新の SA を使います。IKEv2 などのトンネルモードを使うか、NAT アドレスごとに L2TP クライアントを一つにするか、{ $who }で SA ごとにマークを付けてください（strongSwan: `connmark` プラグイン）。
cure-same-address = { cure-by-turns }
cure-other-path = 両方向が同じトンネルを通るようにする（経路、メトリック、BGP）か、破棄しているファイアウォールで、どちらのトンネルから届いたデータも許可してください。
cure-networks-by-turns = 両側とも、二つのネットワークを一つの SA で運ぶ（セレクター 0.0.0.0/0、ルートベース。AWS など Child SA が一つだけのクラウドのゲートウェイ）か、ネットワークの数だけ SA を持つようにしてください。両側が要求するトラフィックセレクターはログで分かります。寿命が原因ではありません。
cure-one-sided = { $known ->
    [inferred] { $to }にこの SA があるか調べ（strongSwan: `swanctl --list-sas`）、なければ{ $who }でも削除するか更新してください
   *[read] { $who }でその SA を削除するか更新し（strongSwan: `swanctl --terminate --child-id`）、{ $to }が削除した理由をログで調べてください
}。Child SA が重複するのは、両側からトンネルを張った場合や再認証の場合です。トンネルは片側だけから張り（strongSwan: `start_action`、`close_action = start` は使わない）、`unique` も確認してください。
cure-one-sided-renewed = SA の寿命を両側で揃え、SA ごとにトンネル内への ping で監視してください（IKE の監視では分かりません）。SA を失った時刻は{ $to }のログで分かります。応急処置は{ $who }でのこの SA の削除です。
cure-one-sided-newer = { $who }で古い SA を削除し（つなぎ直し、SA のクリア）、最新の SA を使い INITIAL-CONTACT に従うようにしてください。{ $to }では、SA をクリアする前に Delete を送り、IKE の生存確認ではなくトンネル内の ping で監視してください。
cure-sa-of-others = { $who }でこのネットワークの SA をクリアして張り直し、ネットワークごとに別のポリシーを設定し（strongSwan: 個別の `reqid`）、{ $who }を更新してください。
cure-one-sided-asked = リキーは{ $who }から始め（{ $to }の SA の寿命を長くする）、{ $to }を更新し、新しい SA を使わない理由を{ $to }のログで調べてください（SPI の不一致など）。応急処置は{ $to }での SA のクリアです。
cure-answered-elsewhere = 要求されたアドレスから{ $who }が応答するようにしてください。送信元アドレスごとの経路（`ip rule add from { $from }` と回線ごとのテーブル）を設定するか、IKE をそのアドレスに固定します（strongSwan: `local_addrs`、`left`）。または相手側の宛先を { $to } にしてください。
cure-answered-at-port = { $who }側で別の回線を使うか、IKE と ESP に同じポートを割り当てる NAT にしてください（IPsec パススルーや ALG を無効にする）。
cure-numbers-used-up = 番号を使い切る前に{ $who }が鍵を更新する（strongSwan: `rekey_packets`）か、拡張シーケンス番号（strongSwan: ESP プロポーザルの `esn`）を使ってください。経路が原因ではありません。
cure-bad-icv = { $who }か経路上でパケットを壊すもの（暗号化のハードウェアやオフロード、メモリ、パケットを書き換える機器）を調べ、オフロードは無効にしてください。{ $who }側のキャプチャでどちらか分かります。
cure-too-big = { $who }で ICMP 'fragmentation needed' を通して従うようにするか、`rekeyscope overhead{ $suite } --mtu { $mtu }` が示す、より小さい MSS か MTU を設定してください。
cure-too-big-inside = { $router } からの ICMP（IPv4 'fragmentation needed'、IPv6 'packet too big'）を { $from } まで通して従わせるか、{ $from } 側のトンネルインターフェースの MTU を { $mtu } にしてください（MSS はさらに 40 バイト、IPv6 では 60 バイト小さく）。
cure-connection-dead = { $who }の先のファイアウォールとホスト（コネクションテーブルのタイムアウト、フェイルオーバー、再起動）を調べ、転送をやり直してください。
cure-deleted-replaced = もう一方のトンネルが冗長化のためのものであれば、対処は不要です。{ $what ->
    [ike] IKE SA
   *[child] SA
} を削除した理由は{ $who }のログに残ります。その後このトンネルで応答がなくても、このデータへの影響はありません。
cure-deleted-elsewhere = クライアントに毎回同じ内側アドレスを割り当てる（strongSwan: プールのリース、`vips`）か、アプリケーションにコネクションを張り直させてください。IKE SA を削除した理由は{ $who }のログに残ります。
cure-slow-exchange = 鍵計算（DH）の軽い DH グループ（楕円曲線など）にするか、PFS を無効にし、UDP 500 と 4500 を優先してください。
cure-slow-renewal = { cure-slow-exchange }
cure-l2tp-closed = { $who }の L2TP のログで切断の理由（アイドルタイマー、セッション時間の制限、RADIUS、PPP のオプション）を調べてください。
cure-l2tp-unanswered = { $who }でこの生存確認を止めるか、間隔と回数を増やしてください（ヤマハ: `l2tp keepalive use off`、pppd: `lcp-echo-failure`）。応答するクライアントに替えても直ります。
cure-l2tp-silent = { $other }から何も来なかった理由を調べてください。{ $who }の生存確認は、その程度の停止より長く待つように（pppd: `lcp-echo-failure`、FortiGate: `lcp-max-echo-fails`）、{ $other }も生存確認を行って自動で再ダイヤルするようにしてください（xl2tpd: `redial = yes`、pppd: `persist`、`lcp-echo-interval`）。
cure-l2tp-broken-line = { $who }が自動で再ダイヤルする（xl2tpd: `redial = yes`、pppd: `persist`）ようにし、キープアライブの待ち時間を延ばしてください（pppd: `lcp-echo-failure`）。その前に{ $other }から何も来なかった理由も調べてください。
cure-monitored = { $who }でこの監視を止めるか、宛先を{ $other }の内側で応答するホスト、送信元をトンネルが運ぶアドレスにしてください（Juniper: `vpn-monitor` の `source-interface`、`destination-ip`、`optimized`、ヤマハ: `ipsec ike keepalive use`）。{ $other }が ping に応答するようにしても直ります。IKE の DPD なら ping は不要です。
cure-lost-fragments = トンネル内の MTU（L2TP では PPP の MTU）を下げるか、MSS を{ $known ->
    [yes] { $mss } に
   *[no] {""}
}調整して、フラグメント化を避けてください。キャプチャ地点より手前でフラグメントを捨てるもの（ファイアウォール、NAT、フィルター）も調べてください。
cure-damaged = キャプチャ地点より手前でパケットを壊すもの（回線、モデム、無線、ケーブル、NIC のオフロード）を調べてください。鍵とリキーは正常です。
cure-late = 暗号化後の優先キュー（QoS）で ESP の順序を変えず、SA ごとに経路を 1 本にするか、受信側のリプレイウィンドウを広げてください（strongSwan: `replay_window`）。
cure-replay-window = 暗号化後の優先キュー（QoS）で ESP の順序を変えず、SA ごとに経路を 1 本にするか、{ $who }のリプレイウィンドウを広げてください（strongSwan: `replay_window`）。
cure-capture-hole = 鍵を指定してください（--keys FILE）。経路での損失か、キャプチャだけの欠落かが分かります。
cure-unexplained = { $known ->
    [cut] フラグメント化が要らない大きさで送ってください（ゲートウェイがトンネルの MTU を ICMP で伝える、MSS を制限する）。{ $who }でフラグメントを破棄するもの（フィルター、pf の `scrub`）も調べ、
   *[other] {""}
}{ $who }の側でもキャプチャしてください。パケットがどこで失われたかが分かります。
cure-windows = { $part }{ $most }。上限 250,000 kB は Windows の提案値で、設定では変更できません。
cure-windows-ready = { $gateway }が鍵交換の直後から新しい SA を使えるようにしてください（別のバージョンや機器）
cure-windows-exchange = { $gateway }で鍵交換（{ $took }）を短くしてください（PFS なし、楕円曲線グループ、より速い機器）
cure-windows-most = 。改善しても最大 { $rate }（現在 { $now }）です

## 時間と量

outage-seconds = { $n } 秒
outage-range = { $from }～{ $to } 秒
outage-packets = { $n } パケット
outage-kilobytes-and-seconds = { $kilobytes }、{ $seconds }
