### 判定と算術的な限界（impact/sentence.rs）。

arithmetic-none = 転送中に起きたリキーがないため、限界は計算できません。
arithmetic-reference = リキーだけで { $reference } が { $observed } まで下がるのは、毎回 { $waste } 停止した場合に限られます。
arithmetic-example = リキーは { $interval } ごと（{ $volume }）に起きるため、1 回あたり { $stall } の停止は { $cost } の損失になります。
arithmetic-halve = リキーは { $interval } ごと（{ $volume }）に起きるため、1 回あたり { $stall } の停止は実測 { $observed } の { $cost } に相当します。リキーだけでレートが半分になるのは、毎回 { $half } 停止した場合に限られます{ $measured }。
# arithmetic-halve の $measured
arithmetic-measured = （実測は { $stall }）

## 測定した対象

verdict-upload = アップロード
verdict-download = ダウンロード
range = { $low } ～ { $high }
rekeys-named = リキー { $names }
rekeys-more = 他 { $count } 回

## 6 種類の判定

verdict-no-traffic-no-rekey = { $direction }のデータ量が少なすぎて測定できません。このキャプチャにはリキーもありません。
verdict-no-traffic = { $direction }のデータ量が少なすぎるため、リキー（{ $total } 回）による損失は判断できません。
verdict-no-rekeys = このキャプチャにリキーはありません。{ $direction }の転送は { $volume }、レートは { $rate } で、リキーはこれに関与していません。
verdict-shown = リキーがスループットを下げています。{ $proven }リキーのたびに{ $direction }が平均 { $stall } 停止しています（95 % 信頼区間 { $interval }{ $lost }）。{ $hurt }{ $p }。
verdict-shown-at-least = リキーがスループットを下げています。{ $proven }リキーのたびに{ $direction }が平均 { $stall } 以上停止しています（95 % 信頼区間 { $interval }{ $lost }）。{ $hurt }{ $p }。
verdict-shown-no-mean = リキーがスループットを下げています。{ $proven }{ $why }。
verdict-some = 一部のリキーがスループットを下げています。{ $proven }{ $silence }。{ $used } 回のリキーから、平均的な損失があるとまでは言えません（{ $mean }{ $p }）。
verdict-some-no-mean = 一部のリキーがスループットを下げています。{ $proven }{ $silence }。{ $why }。
verdict-bounded = リキーによる損失があるとは言えません。切り替えから { $window } 以内で見ると、リキーごとの{ $direction }の損失は平均で最大 { $high } であり（{ $mean }）、問題となる { $interest }を下回ります。{ $hurt }{ $p }。
verdict-inconclusive = このキャプチャからは判断できません。切り替えから { $window } 以内で見ると、リキーごとに{ $direction }で平均最大 { $high } の損失がある可能性があり（{ $mean }{ $p }）、問題となるのは { $interest }です。{ $hurt }。{ $needed }。
verdict-no-mean = このキャプチャからは判断できません。{ $why }。
verdict-no-mean-hurt = このキャプチャからは判断できません。{ $why }。{ $hurt }。

## 判定文の部品（句点は判定文の側に置く）

# 統計によらず、パケットが証明すること。$proven: $used 回のうち何回か、$least: 最短の停止、$mean: その平均
verdict-proven = { $used } 回のうち { $proven } 回で、少なくとも { $least } の停止がパケットから証明されます（平均 { $mean }。{ $how }）
# verdict-shown と verdict-shown-at-least の $proven
verdict-proven-shown = { $proven }。回復までを含めると、
# その他の $proven
verdict-proven-some = { $proven }。
# $how（最も多い規則による）
proven-lost-on-old = 古い SA の最後のデータが失われた
proven-lost-on-new = 新しい SA の最初のデータが失われた
proven-not-sent = 何も送信されなかった
proven-no-feedback = 古い SA が上限を超え、以後のデータが失われた
# verdict-shown の $lost
verdict-lost = 、転送全体の { $share }
# verdict-shown-at-least の $lost
verdict-lost-at-least = 、転送全体の { $share } 以上
verdict-p-in-brackets = （p = { $p }）
verdict-p-after = 、p = { $p }
# 停止が最大の窓の中で終わらなかったか、窓より前に始まっていた場合
verdict-mean-at-least = 平均 { $mean } 以上、95 % 信頼区間 { $interval }
verdict-mean = 平均 { $mean }、95 % 信頼区間 { $interval }
verdict-interest = { $stall }（スループットの { $share }）
verdict-silence = 全 { $total } 回のうち{ $rekeys } で{ $direction }が停止しています（新しいデータが途切れた時間は最長 { $longest }）
verdict-hurt-not-the-one = 唯一のリキーは、前後と比べて目立っていません
verdict-hurt-none = { $used } 回のリキーに、単独で目立つものはありません
verdict-hurt-all = { $used } 回のリキーのうち { $hurt } 回で転送が妨げられています
verdict-hurt-some = { $used } 回のリキーのうち { $hurt } 回で転送が妨げられています（{ $rekeys }）
# どの程度の停止なら検出できたか
verdict-detectable = この { $used } 回のリキーで検出できるのは { $least } 以上の停止であり、{ $needed }
verdict-needed-rekeys = { $interest } を検出するには同様のリキーが約 { $needed } 回必要です
verdict-needed-longer = より長いキャプチャが必要です
# 平均を出せない理由
verdict-none-within = { $total } 回のリキーはいずれも{ $direction }の転送中に起きていません
verdict-too-few = { $direction }の転送中に起きたリキーは { $used } 回だけで、平均と信頼区間を求めるには { $least } 回必要です
verdict-too-few-of = { $total } 回のリキーのうち{ $direction }の転送中に起きたのは { $used } 回だけで、平均と信頼区間を求めるには { $least } 回必要です
verdict-too-close = リキーの間隔が短すぎ、比較の基準となる、リキーの影響を受けていない通信がありません

## 停止で説明できる、基準レートとの差

explained-no-gap = 実測 { $observed } は基準の { $reference } を下回っていないため、説明すべき差はありません。
explained-maybe-all = { $reference } との差は、すべてリキーで説明できる可能性があります。
explained-about = { $reference } との差のうち、リキーで説明できるのは約 { $estimate } です（{ $least } ～ { $most }）。
explained-about-or-all = { $reference } との差のうち、リキーで説明できるのは約 { $estimate } ですが、すべてである可能性もあります。
explained-all = { $reference } との差は、これですべて説明できます。
explained-all-at-least = { $reference } との差は、これですべて説明できる可能性があり、少なくとも { $least } は説明できます。
explained-up-to-all = { $reference } との差の { $estimate } が、これで説明できます（少なくとも { $least }、すべて説明できる可能性もあります）。
explained-share = { $reference } との差の { $estimate }（{ $least } ～ { $most }）が、これで説明できます。

## 留保事項（それぞれ 1 文）

# $least: 秒、$level: p の水準
note-above-zero = 信頼区間が 0 を上回るだけでは、平均としての損失を示したことになりません。下端が { $least } を超え、さらにリキーのない時点との比較（p が { $level } 以下）か個々のリキーの判定で裏付けられる必要があります。
note-mostly-affected = 測定区間の大半がリキーの影響範囲に入り、影響のない通信が少なすぎて p 値を求められません。この判定は、信頼区間と、ほかではまれな、新しいデータの途切れに基づきます。
note-bias = 停止時間は最大 { $most } 短く見積もっている可能性があります。データ量契機のリキーは通信が速い時間帯に起きやすく、間隔が短すぎてこの偏りの大きさを測れないためです。
note-bias-unknown = これらがデータ量契機のリキーなら（それは不明です）、停止時間は最大 { $most } 短く見積もっている可能性があります。データ量契機のリキーは通信が速い時間帯に起きやすく、間隔が短すぎてこの偏りの大きさを測れないためです。
note-holes = トンネルは動いていたのにキャプチャが欠けている区間が { $holes } か所（計 { $length }）あります。観測されなかったものとして扱い{ $rekeys ->
    [0] ます。
   *[other] 、そこに重なる { $rekeys } 回のリキーは統計から除いています。
}
note-transfers = キャプチャには転送が { $transfers } 回あり、それぞれ別に測っています。間の休止（計 { $rest }）は除いています。
note-transfers-differ = 判定は転送ごとに異なります: { $each }。
transfer-shown = 転送 { $number } は影響あり
transfer-some = 転送 { $number } は一部のリキーのみ
transfer-bounded = 転送 { $number } は影響なし
transfer-inconclusive = 転送 { $number } は判定不能
transfers-more = 他 { $count } 回
note-outer-bytes = 鍵がないため、ESP バイト（SPI から ICV まで）を数えています。再送もスループットに含まれます。
note-late-start = { $used } 回のリキーのうち { $late } 回は最初の IKE メッセージがキャプチャされていないため、キャプチャされた最初のメッセージより前の損失は数えていません{ $bound }。
note-silent-start = { $used } 回のリキーのうち { $silences } 回は交換の前に双方とも無通信だったため、最初のメッセージがキャプチャ地点より手前で失われた可能性があります。キャプチャされた最初のメッセージより前の損失は数えていません{ $bound }。
note-unseen-start = { $used } 回のリキーのうち { $unseen } 回は IKE メッセージがまったくキャプチャされていないため、新しい SA の最初のパケットより { $before } 以上前の損失は数えていません{ $bound }。
# 上の 3 つの $bound
note-lower-bound = 。したがって平均は下限値であり、それより前の遅い区間まで含むのは信頼区間の上端だけです
