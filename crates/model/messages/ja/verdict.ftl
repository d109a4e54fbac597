### 判定（impact/verdict/sentence.rs）。失敗がなければ答えの 1 行目にもなる。

verdict-upload = 上り
verdict-download = 下り
range = { $low }～{ $high }

## 判定。$direction: verdict-upload または verdict-download、$used: 転送中に起きたリキー

verdict-no-traffic = { $total ->
    [0] リキー（鍵更新）はなく、{ $direction }のデータも少なすぎて測定できない
   *[other] { $direction }のデータが少なすぎ、リキー（鍵更新）{ $total } 回の影響は判断できない
}
verdict-no-rekeys = リキー（鍵更新）なし、{ $direction }は { $volume } を { $rate } で転送
verdict-unused = リキー（鍵更新）{ $renewals } 回の SA は未使用、{ $direction }は { $volume } を { $rate } で転送
verdict-stopped = { $used } 回中 { $hurt } 回のリキー（鍵更新）で{ $direction }が { $silence } 停止: { $cost }（{ $transfer }の { $share }）
verdict-made-up = { $used } 回中 { $hurt } 回のリキー（鍵更新）で{ $direction }が { $silence } 停止したが、{ $cost }を除いて取り戻した
verdict-slowed = { $used } 回中 { $hurt } 回のリキー（鍵更新）で{ $direction }が停止せずに遅くなった: 遅れ { $cost }（{ $transfer }の { $share }）
verdict-just = { $cost }
verdict-at-least = { $cost } 以上
verdict-bounded = 測定できたリキー（鍵更新）{ $used } 回で{ $direction }に 1 回あたり { $bound } を超える遅れなし
verdict-bounded-without-keys = リキー（鍵更新）{ $used } 回で{ $direction }に { $bound } を超える停止なし
verdict-inconclusive = リキー（鍵更新）{ $used } 回が{ $direction }に与えた影響は判断できない
verdict-none-seen = リキー（鍵更新）{ $used } 回で{ $direction }の停止は見られない（1 回あたり { $bound }未満の影響は検出できない）
verdict-unanswered = リキー（鍵更新）の{ $direction }への影響は判断できない: 逆方向に応答のパケットがない
verdict-datagrams = リキー（鍵更新）の{ $direction }への影響は判断できない: UDP に確認応答がない
verdict-datagrams-went-on = リキー（鍵更新）{ $used } 回で、{ $direction }の UDP に { $bound } を超える停止なし（この地点）
verdict-outside = リキー（鍵更新）{ $total } 回はいずれも{ $direction }の転送外で、影響は不明

## リキーで説明できる、基準レートとの差

explained-no-gap = 実測 { $observed } は基準の { $reference } を下回っていないため、説明すべき差はありません。
explained-all = { $reference } との差は、すべてリキーで説明できます。
explained-all-at-least = { $reference } との差は、すべてリキーで説明できる可能性があり、少なくとも { $least } は説明できます。
explained-up-to-all = { $reference } との差の { $estimate } が、リキーで説明できます（少なくとも { $least }、すべて説明できる可能性もあります）。
explained-share = { $reference } との差の { $estimate }（{ $least }～{ $most }）が、リキーで説明できます。
explained-just = { $reference } との差の { $estimate } が、リキーで説明できます。

## 判定に付け加えること（それぞれ 1 文）

note-rates = 実測は { $observed } で、リキーがなければ { $without } だったはずです。
note-rates-without-keys = 実測は { $observed } で、リキーがなければ約 { $without } だったはずです。ただし、アプリケーションがそこで休止しても同じように見えます。
note-slow = そのうち { $cost } は、停止しなかった { $rekeys } 回のリキーに分散しています。
note-holes = トンネルは動いていたのにキャプチャが欠けている区間が { $holes } か所（計 { $length }）あります。観測されなかったものとして扱い{ $rekeys ->
    [0] ます。
   *[other] 、そこに重なる { $rekeys } 回のリキーは除いています。
}
note-transfers = キャプチャには転送が { $transfers } 回あります。間の休止（計 { $rest }）は除いています。
note-outer-bytes = 鍵がないため、ESP バイト（SPI から ICV まで）を数えています。再送もスループットに含まれます。
