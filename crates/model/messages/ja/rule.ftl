### 更新のきっかけとなる規則（rekey/rule）。

## 数えている量

rule-counting = { $side ->
    [inbound] 受信方向の SA の
    [outbound] 送信方向の SA の
    [b-to-a] クライアント向け SA の
    [a-to-b] ゲートウェイ向け SA の
   *[both] 両方向の
}{ $what ->
    [inner] 復号後ペイロード
    [esp] {" "}ESP バイト数
    [outer] 外側バイト数
   *[packets] パケット数
}
trigger-expiring = 寿命を迎える{ $side ->
    [inbound] 受信方向の SA の
    [outbound] 送信方向の SA の
    [a-to-b] ゲートウェイ向け SA の
   *[b-to-a] クライアント向け SA の
}{ $what ->
    [inner] 内側のバイト数
   *[esp] {" "}ESP バイト数（鍵なし）
}、1 kB = 1000 バイト
trigger-as-the-rule = { $counting }、1 kB = { $kilobyte } バイト
rule-age = 経過時間
rule-one-side = 片側（どちらかはキャプチャからは不明）
rule-rekeys = { $count } 回のリキー

## 規則

rule-no-start = { $who } が更新していますが、確立からキャプチャされ、ここで終わった SA がないため、規則は不明です。
rule-volume = { $who } は、{ $counting }で数えて { $limit } の { $fraction } に達すると更新します。ソフトリミットは約 { $soft } で、少し遅れて届く最初のメッセージの時点では { $seen } に達していました（{ $rekeys }）。
rule-volume-unlimited = { $who } は、{ $counting }で数えて約 { $soft } に達すると更新します（{ $rekeys }から。キロバイト単位の寿命は読み取れていません）。
rule-volume-at-most = { $who } は、{ $counting }で数えて { $soft } 以下で更新します（{ $rekeys }から。最初のメッセージがキャプチャされておらず、その時点の転送量はこれより少なくなります）。
rule-volume-far-below = { $who } は、{ $counting }で数えて約 { $soft } に達すると更新します（{ $rekeys }から）。上限の { $limit } よりはるかに少ない量です。
rule-volume-uncounted = { $who } は転送量で更新しますが、何を数えているかはキャプチャからは分かりません。
rule-kilobyte = ここでの 1 キロバイトは { $bytes } バイトです。
rule-kilobyte-assumed = 1 キロバイトを 1,000 バイトとみなしています。1,024 バイトなら、割合は { $fraction } になります。
rule-limit-stated = このキャプチャでは IKE が暗号化されているため、寿命は { $source } の記載によります。
rule-packets = { $who } は、{ $counting }が { $packets } に達すると更新します（{ $rekeys }から）。
rule-time = { $who } は、SA の経過時間が { $age }（{ $limit } の { $fraction }）になると更新します（{ $rekeys }から）。
rule-time-at-most = { $who } は、SA の経過時間が { $age } 以下で更新します（{ $rekeys }から。最初のメッセージはキャプチャされていません）。
rule-time-unlimited = { $who } は、SA の経過時間が { $age } になると更新します（{ $rekeys }から。秒単位の寿命は読み取れていません）。
rule-time-far-below = { $who } は、SA の経過時間が { $age } になると更新します（{ $rekeys }から）。上限の { $limit } よりはるかに早い時点です。
rule-unknown = { $who } が更新する条件は不明です。転送量か時間のどちらかですが、{ $rekeys }では、ばらつきが明らかに小さいと言えるものがありません。
rule-unknown-once = { $who } が更新する条件は、リキーが 1 回しかないため不明です（{ $least-volume }、{ $least-age }）。
rule-unknown-ranges = { $who } が更新する条件は不明です。転送量か時間のどちらかですが、{ $rekeys }では、ばらつきが明らかに小さいと言えるものがありません（{ $least-volume }～{ $most-volume }、{ $least-age }～{ $most-age }）。
# $kind は文書中の識別子。
rule-kind = { $who } は{ $kind ->
    [time] 時間
    [packets] パケット数
    [reauthentication] 再認証
    [collision] 衝突
   *[other] { $kind }
}によって更新します。

## 区別できない数え方

rule-alike = この数え方が一般的ですが、{ $names }もここでは同程度にしかばらつかない（この数え方との比がほぼ一定の）ため、どれなのかはキャプチャからは分かりません。
rule-too-few = { $count } 回のリキーでは、この数え方をほかの数え方（{ $others }）と区別できません。
rule-names = { $listed }、{ $name }
rule-more = ほか { $count } 種類
