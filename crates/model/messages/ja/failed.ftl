### 失敗したもの (impact/tell/failed.rs)、試行、不通区間。

failed-refused = { $time } のリキーは失敗しました。{ $who } が { $requests } 回要求し、応答は { $reason } でした。{ $outage }。
failed-unanswered = { $time } のリキーは失敗しました。要求 { $requests } 回に応答がありません。{ $outage }。
failed-limit = { $time } に SA がリミットを超えましたが、新しい SA は要求されませんでした。{ $outage }。
failed-outage = { $time } から何も届いていません（{ $cause }）。{ $outage }。
failed-in-all = SA の更新 { $attempts } 回のうち { $failed } 回が失敗しました。

## 上の文の部分

# failed-refused の $who
failed-someone = イニシエーター
# failed-refused の $reason
failed-short-answer = SA を作らない応答（理由は解読できません）
# $cause of failed-outage
failed-by-capture-hole = キャプチャにパケットの欠落
failed-by-deleted = SA が削除され、その後の交渉なし
failed-by-break-before-make = 新しい SA の交渉より先に古い SA を削除
failed-by-refused = リキーの拒否
failed-by-unanswered = リキーに応答なし、または遅い応答
failed-by-answer-lost = リキーへの応答が届かない
failed-by-collision = 双方が同時にリキー
failed-by-limit-reached = SA の寿命に到達
failed-by-new-sa-lost = 新しい SA の最初のパケットの損失
failed-by-deleted-early = 古い SA の削除が早すぎる
failed-by-peer-lost-sas = 相手側が SA を失った
failed-by-address-changed = アドレスまたはポートの変更
failed-by-peer-silent = 相手が無応答
failed-by-path-silent = 双方が無応答
failed-by-large-packets = 大きなパケットが通らない
failed-by-slow-exchange = 鍵交換に時間がかかった
failed-by-replay-window = リプレイウィンドウより遅れたパケット
failed-by-unexplained = このキャプチャからは原因不明
# $outage
failed-no-outage = このキャプチャに不通区間は見られません
failed-outage-open = { $seconds } 以上何も通りませんでした
failed-outage-new-sa = 新しい SA がデータを運ぶまで { $seconds } の間、何も通りませんでした
failed-outage-new-ike-sa = 新しい IKE SA ができるまで { $seconds } の間、何も通りませんでした
failed-outage-old-sa = { $seconds } の間、何も通りませんでした

## 試行の表、不通区間の一覧

outcome-completed = 完了
outcome-completed-unused = 完了、未使用
outcome-refused = 拒否
outcome-unanswered = 応答なし
outcome-superseded = 相手側の試行が採用
outcome-cut = キャプチャ終了により不明
outcome-limit-without-attempt = リミット超過、要求なし
outcome-break-before-make = 先に削除、後で交渉
outcome-because = { $what }: { $reason }
reason-peer-silent = 相手はほかにも何も送っていない
reason-peer-sends-esp = 相手は ESP を送り続けた
reason-volume = 容量
reason-seconds = 時間
outage-or-more = { $seconds } 以上
outage-item = { $direction }: { $from } s から { $length } の間、何も通りませんでした。{ $end }。
outage-end-new-sa = 新しい SA で回復しました
outage-end-new-ike-sa = 新しい IKE SA で回復しました
outage-end-old-sa = 古い SA が再びデータを運びました
outage-end-capture = キャプチャの終わりまで続いています
left-out-attempts = ほか { $n } 回の試行は JSON にあります。
