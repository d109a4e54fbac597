### 原因の代わりに観測されたこと、または調べられなかった理由（ruled_out.rs）。

## 調べられなかった理由

unseen-exchange = リキーの鍵交換がキャプチャされていません。UDP 500 と 4500 もキャプチャしてください
unseen-inner = 鍵がないため、内側のパケットを見られません
unseen-limit = SA が上限を超えたかどうかを見るには、ESP の鍵と IKE でネゴシエートされた上限、または内側の TCP とリキーの鍵交換が必要です
unseen-negotiated-limit = SA がリミットを超えたことを知るには、ESP の鍵と IKE で交渉されたリミットが必要です
unseen-deletes = Delete を読み取れません。IKE の鍵が必要です
unseen-tcp = これを示す TCP 接続がトンネル内にありません
no-occasion = 遅れを説明する原因ですが、転送を妨げたとされたリキーがありません

## 代わりに観測されたこと

absent-hard-limit = 鍵交換の開始時に使われていたのはキロバイト制限の最大 { $used } で、制限を超えた SA はありません
absent-hard-limit-unread = パケットから分かる制限を超えた SA はありません（制限の値そのものは読めていません）
absent-responder-not-ready = 新しい SA の最初のデータが再送された例はありません
absent-initiator-not-ready = CREATE_CHILD_SA の新しい SA で最初のデータが再送された例はありません
absent-refused = { $attempts } 回の試行のうち、エラーで答えられたものはありません
absent-unanswered = { $attempts } 回の試行は、いずれも 2 回目までの要求で応答がありました
absent-limit-without-rekey = リミットを超える前に新しい SA が要求されています
absent-break-before-make = 新しい SA を要求する前に使用中の SA が削除された例はありません
absent-dpd = 3 回続けて応答のなかった生存確認はありません
absent-storm = { $attempts } 回の試行のうち、通常の間隔の中で 3 回続けて無駄になったものはありません
absent-delete =
    { $deletes ->
        [0] 読めた Delete はありません
       *[other] Delete は { $deletes } 個読めましたが、対象の SA で損失が続いたものはありません
    }
absent-asymmetric = 各方向は自分の最初のパケットで切り替わり、その差はここでは最大 { $most } です。一方の切り替えから往復時間と { $margin } を過ぎて古い SA で送った方向はありません
absent-asymmetric-one-way = 新しい SA に切り替わったのは一方向だけで、逆方向にはパケットがありません
absent-retransmitted = { $exchanges } 回の鍵交換に { $messages } 個のメッセージがあり、重複はありません
absent-collision-one-side = どのトンネルでも、鍵交換はすべて一方の側から始まっています
absent-collision-both-sides = 鍵交換は両側から始まっていますが、重なったものはありません
absent-slow-exchange = リキーの鍵交換は最長で { $longest } で、そのうち計算は往復時間と 200 ms の合計以内です
absent-phase1 =
    { $count ->
        [0] キャプチャ内にフェーズ 1 の鍵交換はありません
       *[other] キャプチャ内のフェーズ 1 は { $count } 回で、古い SA の使用中に、リキーの直前 10 秒以内に起きたものはありません
    }
absent-fragmentation-suite = すべての SA が { $suite } を使っており、切り替え時にフラグメントの割合は増えていません
absent-fragmentation = 切り替え時に、変換方式、カプセル化、フラグメントの割合のいずれも変わっていません
absent-nat = 同じ方向の中で ESP の UDP ポートは変わっていません
absent-nat-elsewhere = リキーの前後で ESP の UDP ポートは変わっていません。それ以外では { $count } 回変わりました（最初はフレーム { $frame } で { $from } が { $to } に）
absent-ppp = リキーの前後に StopCCN、CDN、LCP Terminate、Protocol-Reject、新たな Configure-Request はなく、応答のない Hello もありません
absent-desync = リキーの前後に INVALID-SPI 通知はなく、両端の間に暗号化されていない L2TP もありません
absent-capture-artefact = キャプチャ全体で { $missing } 個の ESP 番号が欠けていますが、リキーが転送を妨げた箇所で、相手が確認応答したデータに当たるものはありません
absent-capture-artefact-none = キャプチャ全体で欠けている ESP 番号はありません
absent-replay-none = キャプチャ全体で、より大きい ESP 番号の後に届いたパケットはありません
absent-replay = キャプチャ全体で { $late } 個のパケットが、より大きい ESP 番号の後に届きましたが、転送を妨げたリキーの前後では、数が少ないか、遅れが足りません
absent-slow-path = 損失がないのにレートが以前の 0.7 倍未満にとどまった例はありません
absent-rto = 途切れた後に再送されたデータはありません。キャプチャ全体の TCP { $bytes } バイトのうち { $again } バイトが再送です
absent-application = すべて確認応答された状態で始まり、新しいデータで終わる休止はありません
