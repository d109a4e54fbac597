### 3 行の答え（words/answer）: 数値、原因、対策。1 行目は全角 40 文字（80 桁）以内。

## 1 行目

headline-all = リキー（鍵更新）で{ $direction }の { $lost } 損失: { $used } 回中 { $hurt } 回で停止、各 { $stall }
headline-some-of-all = リキー（鍵更新）で{ $direction }の { $lost } 損失: 各 { $stall }、{ $used } 回中 { $hurt } 回で停止
headline-mean = リキー（鍵更新）で{ $direction }の { $lost } を損失: 平均 { $stall }（{ $used } 回）
headline-at-least = リキー（鍵更新）で{ $direction }の { $lost } 以上を損失: { $used } 回中 { $hurt } 回で停止
headline-stalled = リキー（鍵更新）{ $used } 回中 { $hurt } 回で{ $direction }が停止、最長 { $longest }
headline-bounded = リキー（鍵更新）による{ $direction }の低下はありません: 平均で最大 { $high }
headline-inconclusive = リキー（鍵更新）による{ $direction }の損失は判断不能: 平均で最大 { $high }
headline-unknown = リキー（鍵更新）{ $used } 回による{ $direction }の損失は判断できません
headline-outside = リキー（鍵更新）{ $total } 回はいずれも{ $direction }中ではなく、損失は不明です
headline-no-rekeys = リキー（鍵更新）はありません: { $direction }は { $rate } でした
headline-no-traffic = { $total ->
    [0] リキー（鍵更新）はなく、データも少なすぎて測定できません
   *[other] データが少なすぎ、リキー（鍵更新）{ $total } 回の損失は判断できません
}

## 1 行目（リキーの失敗、impact/tell/failed.rs）

headline-failed = { $time } のリキー（鍵更新）が失敗: { $down }
headline-outage = { $time } から何も届かず: { $down }
headline-down = トンネルが { $seconds } 不通
headline-down-open = トンネルは { $seconds } 以上不通のまま
headline-not-down = 不通は見られません

## 2 行目

why-cause = 原因: { $cause }（停止した { $of } 回中 { $n } 回{ $sure }）。
why-sure = 、確からしさ: { $confidence }
why-cause-of-failure = 原因: { $cause }。
why-no-cause = 原因: これらのパケットからは分かりません。
why-no-cause-without-keys = 原因: 鍵がないため、これらのパケットからは分かりません。
why-no-cause-wrong-keys = 原因: 読み込んだ鍵はどのパケットにも合わず、これらのパケットからは分かりません。
why-one-way = キャプチャされているのは { $direction } だけで、逆方向は見えていません。
why-at-the-limit = レートは { $observed } でした。{ $how ->
    [proven] この経路の上限は { $own } です。
   *[best] 観測された最高は { $own } です。
}
why-largest = 損失 { $lost } の最大の要因はリキー以外です: { $label } { $seconds } s（{ $share }）。
why-undetectable = このキャプチャでは、平均が約 { $least } 未満の停止は見落とす可能性があります。
# $why: verdict.ftl の verdict-…
why-no-mean = 判断できない理由: { $why }。
why-outside = 損失を測れるのは、データが流れている間だけです。
why-no-data = リキーの損失はその間に待ったデータに生じますが、ここではほとんど流れていません。

## 3 行目

do = 対策: { $text }
do-expected = 対策: { $text }予測: 約 { $rate }（現在 { $now }）。
do-lifetime = キロバイト有効期間を { $limit } kB から { $lifetime } kB に延ばしてください（{ $command }）。
do-lifetime-learnt = SA を更新する容量（現在約 { $kilobytes } kB）を { $lifetime } kB に増やしてください（{ $command }）。
do-refused = 拒否された SA の要求を調べてください（-v）。プロポーザル、PFS グループ、トラフィックセレクターは更新時にも一致が必要です。
do-unanswered = 応答のなかった SA の要求を調べてください（-v）。ESP は通るのに IKE が落ちています。
do-lifetime-anywhere = NVR5x0: `ipsec ike duration ipsec-sa`、strongSwan: `life_bytes` と `rekey_bytes`
do-lifetime-yamaha = `ipsec ike duration ipsec-sa`
do-lifetime-strongswan = `life_bytes` と `rekey_bytes`
do-longer-capture = 対策: 同様のリキーが約 { $needed } 回入る、より長い転送をキャプチャしてください。
do-any-longer-capture = 対策: より多くのリキーが入る、より長い転送をキャプチャしてください。
do-capture-load = 対策: 大きなファイルをトンネルで転送しながら、もう一度キャプチャしてください。
do-capture-ipsec = 対策: UDP 500、UDP 4500、ESP（IP プロトコル 50）が通る場所でキャプチャしてください。
do-nothing = 対策: リキーについては不要です。
do-keys = 対策: 鍵を指定すると（--keys FILE）、内側の原因まで分かります。
do-other-keys = 対策: このキャプチャの鍵を指定すると（--keys FILE）、内側の原因まで分かります。読み込んだ鍵は別の時のものか、写し間違いです。
do-unknown = 対策: リキーの表と表示フィルター（-v）を調べてください。

## その他

answer-wrong-keys = 読み込んだ鍵は { $total }のどれにも合わず、ESP バイトで数えています。このキャプチャの鍵は --keys FILE で指定できます。
answer-keys = { $total }のうち { $missing } 個の鍵がなく、ESP バイトで数えています。--keys FILE で指定できます。
answer-more = … ほか { $n } 件: -v
answer-further = 詳細: -v（すべての数値、信頼区間、フィルター）、--html FILE（図）
legend-short = { $ends }；無通信: 新規データのない最長の時間；停止: 失われた時間
legend-proven = 実証済み: パケットで確認
legend-hurt = 影響: 偶然では説明できない長さ
legend-cleared = 無関係: 送るデータなし
legend-unused = 対象外: 測定せず
causes-line = { $title }: { $where }
