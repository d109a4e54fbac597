### リキーが原因ではない問題（diagnosis/findings）。
### $direction は「192.0.2.1 → 192.0.2.2」の形。

## 損失

finding-capture-dropped = { $direction }: キャプチャでは { $packets } 個の ESP パケットのうち { $missing } 個が欠けていますが、その中身は届いています。一度もキャプチャされず再送もされていない { $bytes } バイトに、内側の TCP が確認応答を返しています。失ったのはトンネルではなくキャプチャであり、ここに示すレートはその分だけ低くなっています。
finding-one-direction-loss = { $direction }: { $missing } 個の ESP パケット（{ $share }）がキャプチャに届いていません。逆方向は { $other } です。キャプチャ地点より手前での、片方向の損失です。
finding-both-directions-loss = { $direction }: { $missing } 個の ESP パケット（{ $share }）がキャプチャに届いていません。逆方向は { $other } です。キャプチャ地点より手前での、両方向の損失です。
finding-packet-loss = { $direction }: { $missing } 個の ESP パケット（{ $share }）がキャプチャに届いていません。キャプチャ地点より手前での損失です。逆方向の通信は比較するには少なすぎます。
finding-behind-window = { $direction }: ESP パケット { $late } 個（{ $share }）が、後続の { $window } 個以上に追い越されて到着しました。{ $lost ->
    [seen] 再送されているため、受信側がリプレイウィンドウより古いものとして破棄しています。
   *[unseen] リプレイウィンドウが { $window } の受信側ならこれらを破棄しますが、実際に破棄されたかは分かりません。
}
finding-damaged = { $direction }: ESP パケット { $damaged } 個（{ $share }）が壊れて届きました（ICV 不一致）。{ $by ->
    [capture] 内側の TCP はその内容に確認応答したため、壊したのはキャプチャです
   *[line] 受信側はそれらを破棄します
}。
finding-lost-fragments = { $direction }: ESP パケット { $missing } 個（{ $share }）が欠け、うち { $cut } 個は先頭のフラグメントだけが届きました。後続のフラグメントがキャプチャ地点より手前で失われています。
finding-lost-before-encryption = { $direction }: TCP セグメント { $segments } 個のうち { $lost } 個（{ $share }）は再送で初めて届き、ESP シーケンス番号は{ $esp ->
    [whole] {" "}1 つも欠けていません
   *[lossy] { $missing } 個しか欠けていません
}。暗号化の前に失われています{ $spared ->
    [yes] （エコー要求 { $echoes } 個は 1 つも失われていません）
   *[no] {""}
}。
finding-packets-missing = { $direction }: { $missing } 個の ESP パケット（{ $share }）がキャプチャに届いていません。逆方向は { $other } です。キャプチャ地点より手前で失われたのか、キャプチャされなかったのかは、両方向の鍵がないため分かりません。

## 同じ引数による短い文

brief-finding-one-direction-loss = { $direction } の ESP の { $share } がキャプチャ地点より手前で損失
brief-finding-both-directions-loss = { $direction } の ESP の { $share }、逆方向 { $other } がキャプチャ地点より手前で損失
brief-finding-packet-loss = { $direction } の ESP の { $share } がキャプチャ地点より手前で損失
brief-finding-damaged = { $direction } の ESP の { $share } が壊れて届いた（ICV 不一致）
brief-finding-lost-fragments = { $direction } の ESP の { $share } に後続のフラグメントがない
brief-finding-packets-missing = { $direction } の ESP の { $share } がキャプチャにない
brief-finding-tiny-fragments = { $direction } のパケット { $packets } 個中 { $split } 個が最大長と小さな残りの 2 つに分割
brief-finding-tiny-segments = { $direction } の TCP セグメント { $segments } 個中 { $tiny } 個が最大長の直後の小さな残り
brief-finding-path-mtu = { $direction } のパケット { $packets } 個中 { $fragmented } 個がフラグメント化
brief-finding-leak = トンネルの両端の間で L2TP パケット { $packets } 個が平文で流れた

## SA

finding-parallel-sas = { $direction }: 並行して有効な複数の SA をパケットが交互に使っています（古い SA への復帰 { $returns } 回）。同じ相手との間に Child SA が二つあると、リキーも倍になります。
finding-unused-sas = ネゴシエートされた Child SA { $negotiated } 個のうち { $unused } 個は、パケットを一度も運んでいません。両端が、使う数より多くの Child SA をネゴシエートしています。

## サイズ

finding-tiny-fragments = { $direction }: { $packets } 個のパケットのうち { $split } 個が、最大長の IP パケットとごく小さな IP パケット（{ $largest } バイトと残り）に分かれています。パケットを数バイト小さくすればパケット数は半分になります。内側の MTU を下げるか、MSS を調整してください。
finding-tiny-segments = { $direction }: { $segments } 個の TCP セグメントのうち { $tiny } 個は、{ $largest } バイトの最大長セグメントの直後に続くごく小さな残りです。アプリケーションの書き込みがセグメントに収まる長さを数バイト超えています。{ $largest } バイト以下で書き込めば、パケット数は半分になります。
finding-path-mtu = { $direction }: { $packets } 個のパケットのうち { $fragmented } 個がフラグメント化されています。分割されずに通過した最大の IP パケットは { $mtu } バイトです。
finding-fits = 収まる ESP ペイロードは最大 { $fits } バイトで、観測された最大値より { $excess } バイト小さい値です。TCP の MSS を { $mss } にすれば、フラグメントは発生しません。

## キャプチャ自体

finding-clock-step-back = キャプチャの時計がフレーム { $frame } で { $seconds } 戻っています（{ $told }）。この飛びは取り除いてあります。以降の時刻は時計が飛ばなかったものとして示し、レートの計算にも含めていません。
finding-clock-step-forward = キャプチャの時計がフレーム { $frame } で { $seconds } 進んでいます（{ $told }）。この飛びは取り除いてあります。以降の時刻は時計が飛ばなかったものとして示し、レートの計算にも含めていません。
finding-step-by-clocks = 両端自身の時計による
finding-step-by-packets = パケットは切れ目なく続いている
finding-out-of-order = フレーム { $frame } から、それまでより { $seconds } 古いパケットが続きます。ファイルが順序どおりに連結されていないか、同じファイルが 2 回連結されています。すでに現れたパケットは除いてあります。停止の長さを正確に知るには、先にファイルを並べ替えてください（reordercap）。
finding-silence-or-step = { $seconds } の停止がフレーム { $frame } で終わっています。何も送られなかったのか、時計が飛んだのかは、パケットからは判断できません。時計が飛んでいた場合、実際のレートはここに示す値より高くなります。
finding-coarse-clock = このキャプチャの時刻は { $time } 刻みです。1 刻みの停止や集中はこの時計によるもので、それより短いことはわかりません。より細かい時計でキャプチャしてください。
finding-copies-apart = 同じパケットが最大 { $time } 離れて二度入っています。時計の異なる二つのキャプチャが結合されています。それぞれ 1 回として数えます。両端の間の時刻は正確ではないため、一方のキャプチャだけを調べてください。
finding-earlier-times = { $packets } 個のパケットの時刻が、直前のパケットより最大 { $most } 前になっています。時計が戻されたか、複数のインターフェースやキューがまとめられています。その付近の停止とレートは正確ではありません。
finding-program-dropped = キャプチャプログラムが { $dropped } 個のパケットを取りこぼしました。停止や ESP シーケンス番号の欠けは、キャプチャ自体によるものかもしれません。
finding-leak = { $packets } 個の L2TP パケットが、トンネルの両端の間を暗号化されずに流れました。IPsec SA の確立前、並行中、または終了後のものです。
finding-failed-open = トンネルがフェイルオープンしました。{ $time } { $what ->
    [delete] の Delete
   *[outage] に始まる不通
}の後、トンネル内を通っていた { $src } から { $dst } への { $packets } 個のパケット（{ $bytes } バイト）が暗号化されずに流れました。
