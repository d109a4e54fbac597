# rekeyscope watch の行。
watch-rekey = リキー: { $parts }
watch-rekey-by = 始動側: { $end }
watch-rekey-exchange = 鍵交換 { $time }
watch-rekey-gap = 古い SA から新しい SA まで { $time }
watch-rekey-silence = { $time } 何も届かず
watch-rekey-cost-so-far = 現時点での遅れ { $time }
watch-failed = リキー失敗: { $outcome }、{ $copies }
watch-unanswered = リキーに無応答: { $outcome }、{ $copies }
watch-copies = 要求 { $n } 回
watch-rekey-cost = リキーで { $direction } が { $cost } 遅れました: { $silence } 何も届かず
watch-outage-began = 不通: { $direction } に送るデータがあるのに何も届いていません
watch-outage-ended = 回復: { $direction } は { $length } の間、不通でした。{ $end }
watch-rekey-trigger = そのリキーの契機: { $trigger }
watch-outage-corrected = 訂正: { $direction } の不通は { $length } でした
watch-outage-none = 訂正: { $direction } は不通ではありませんでした。データが届いていたことが、後続のパケットから分かりました
watch-key-missing = 鍵なし: { $dst } 宛ての SA { $spi } は復号できません（{ $status }）。レートは ESP のバイト数です
watch-answer = { $english ->
   *[any] { $japanese }
}
watch-verdict = { $direction } の判定: { $verdict }。{ $sentence }
watch-verdict-before = { $direction } の判定: { $verdict }（以前は{ $before }）。{ $sentence }
watch-kernel = カーネル: { $counter } が { $packets } 増加。{ $meaning }
watch-kernel-not-ready = このマシンにない SA 宛てのパケット（準備前、または削除済み）
watch-kernel-replay = 受信済み、または古すぎるシーケンス番号
watch-kernel-hard-limit = ハードリミットを過ぎた SA のパケット
watch-kernel-wrong-key = ICV または形式の誤り（別の鍵またはアルゴリズム）
watch-kernel-other = 破棄されたパケット
watch-summary = { $rekeys }、{ $failures }、{ $outages }、{ $packets }
watch-count-rekeys = リキー { $n } 回
watch-count-failures = 失敗 { $n } 回
watch-count-outages = 不通 { $n } 回
