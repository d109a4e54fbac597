### 失敗したもの (impact/tell/failed.rs)、試行、不通。

failed-refused = { $time } に { $who } が新しい SA を { $requests } 回要求しました（応答: { $reason }）。{ $outage }。
failed-unanswered = { $time } のリキーは失敗しました。要求 { $requests } 回に無応答でした。{ $outage }。
failed-outage = { $time } から何も届いていません（{ $cause }）。{ $outage }。
failed-in-all = SA の更新 { $attempts } 回のうち { $failed } 回が失敗しました。

## 上の文の部分

# failed-refused の $who
failed-someone = 始動側
# failed-refused の $reason
failed-short-answer = 拒否、理由は暗号化
# $cause of failed-outage
cause-capture-hole = キャプチャにパケットの欠落
cause-deleted = SA が削除され、その後のネゴシエーションなし
cause-break-before-make = 新しい SA のネゴシエーションより先に古い SA を削除
cause-refused = リキーの拒否
cause-unanswered = 更新の要求に無応答
cause-ike-fragments = 大きな IKE メッセージの一部のフラグメントしか届かない
cause-answered-late = 更新への応答の遅れ
cause-given-up = 生きている IKE SA の放棄
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
cause-by-turns = 片側が 2 つの相手と交互に通信
cause-large-packets = 大きなパケットが通らない
cause-first-fragments = 大きなパケットの先頭フラグメントしか届かない
cause-too-big = パケットが大きすぎるとルーターが通知
cause-slow-exchange = 鍵交換に時間がかかった
cause-slow-renewal = 更新の遅れ
cause-l2tp-closed = L2TP セッションの切断
cause-replay-window = リプレイウィンドウより遅れたパケット
cause-unexplained = このキャプチャからは原因不明
# $outage
failed-sa-ended = 古い SA は { $time } に終わり、代わる新しい SA はありませんでした
failed-no-outage = このキャプチャに不通は見られません
failed-outage-open = { $seconds } 以上何も通りませんでした
failed-outage-new-sa = 新しい SA でデータが流れるまで { $seconds } の間、何も通りませんでした
failed-outage-new-ike-sa = 新しい IKE SA ができるまで { $seconds } の間、何も通りませんでした
failed-outage-old-sa = { $seconds } の間、何も通りませんでした

## 試行の表、不通の一覧

outcome-completed = 完了
outcome-completed-unused = 完了、未使用
outcome-refused = 拒否
outcome-unanswered = 無応答
outcome-superseded = 相手側の試行が採用
outcome-cut = キャプチャの終わりで不明
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
