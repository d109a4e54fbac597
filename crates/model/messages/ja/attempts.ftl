### 試行の表、不通の一覧。

outcome-completed = 完了
outcome-completed-unused = 完了、未使用
outcome-refused = 拒否
outcome-unanswered = 無応答
outcome-superseded = 相手側の試行が採用
outcome-cut = キャプチャまたは IKE SA の終わりで不明
outcome-because = { $what }: { $reason }
reason-peer-silent = 相手はほかにも何も送っていない
reason-peer-sends-esp = 相手は ESP を送り続けた
outage-or-more = { $seconds } 以上
outage-item = { $direction }: { $from } 秒から { $length } の間、何も通りませんでした。{ $end }。
outage-end-new-sa = 新しい SA で回復しました
outage-end-new-ike-sa = 新しい IKE SA で回復しました
outage-end-old-sa = 古い SA が再びデータを運びました
outage-end-end = キャプチャの終わりまで続いています
left-out-attempts = ほか { $n } 回の試行は JSON にあります。
