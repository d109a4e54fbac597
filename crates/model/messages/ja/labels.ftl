### ラベル: 表の列と、種類・状態・原因の名前。

## 表の列。

column-number = #
column-direction = 方向
column-verdict = 判定
column-rekeys = リキー
column-hurt = 影響
column-rate = レート
column-stall-ms = 停止 ms
column-95-from = 95 % 下限
column-95-to = 上限
column-p = p
column-q = q
column-detectable-ms = 検出限界 ms
column-changed = 変更点
column-agreement = 一致
column-lifetime = 有効期間
column-expected-rate = 予測レート
column-from = 下限
column-to = 上限
column-suite = 暗号スイート
column-packets = パケット
column-on-the-wire = 回線上
column-inner = 内側
column-efficiency = 効率
column-iv = IV
column-padding = パディング
column-icv = ICV
column-headers = ヘッダー
column-largest-packet = 最大パケット: 回線
column-mss-ipv4 = MSS IPv4
column-mss-ipv6 = MSS IPv6
column-flow = フロー
column-protocol = 種別
column-new-bytes = 新規バイト
column-retransmitted = 再送
column-cause = 原因
column-meaning = 意味
column-result = 結果
column-rekey = リキー
column-time-s = 時刻 s
column-before = 直前
column-lowest = 最低
column-highest = 最高
column-by = 開始側
column-outcome = 結果
column-requests = 要求数
column-answer-s = 応答 s
column-outage-from-s = 不通開始 s
column-outage = 不通
column-trigger = 契機
column-volume = 転送量
column-age = 経過
column-ike-ms = IKE ms
column-gap-ms = 空白 ms
column-sa-gap-ms = 旧→新 SA ms
column-overlap-ms = 重複 ms
column-depth = 深さ
column-effect = 結果
column-causes = 原因
column-dir = 方向
column-gen = 世代
column-spi = SPI
column-key = 鍵
column-key-from = 鍵の出所
column-mode = モード
column-from-s = 開始 s
column-to-s = 終了 s
column-esp-bytes = ESP バイト
column-icv-fit = ICV 一致
column-bad = 不一致
column-unchecked = 未検査
column-missing = 欠落
column-source-address = 送信元
column-destination-address = 宛先
column-road = 入手方法
column-source = 出所
column-initiator-spi = イニシエーター SPI
column-responder-spi = レスポンダー SPI
column-ike = IKE
column-capture = キャプチャ
column-sentence = 説明
comparison-capture = キャプチャ
comparison-suite = 暗号スイート
comparison-lifetime = 有効期間
comparison-rekeys = リキー
comparison-per-gb = GB あたり
comparison-rate = レート
comparison-s-per-gb = s / GB
comparison-stall = 停止
comparison-95 = 95 %
comparison-efficiency = 効率

## 判定。

verdict-label-failed = リキー失敗
verdict-label-shown = 損失あり
verdict-label-some = 一部のリキーに影響
verdict-label-bounded = 問題となる損失なし
verdict-label-inconclusive = 判断できない
verdict-label-no-rekeys = リキーなし
verdict-label-no-traffic = 通信なし
verdict-label-no-tunnel = トンネルなし
verdict-label-not-read = 読み込めず

## リキーの契機。

trigger-volume = 転送量
trigger-time = 時間
trigger-packets = パケット数
trigger-reauthentication = 再認証
trigger-collision = 衝突
trigger-unknown = 不明

## 鍵の状態。

key-verified = 検証済み
key-unverified = 未検証
key-derived = 導出のみ
key-prefix8 = 先頭 8 バイト
key-masked = 伏せ字
key-truncated = 途中切れ
key-conflict = 矛盾
key-missing = なし
road-explicit = 明記
road-mined = 探索
road-derived = 導出
road-known = 既知
mode-transport = トランスポート
mode-tunnel = トンネル
confidence-high = 高
confidence-medium = 中
confidence-low = 低
effect-hurt = 影響あり
effect-unused = 対象外
disagrees = 不一致

## 原因。

cause-responder-not-ready = レスポンダーが新しい SA を設定し終える前に、その SA でデータが送られた
cause-initiator-not-ready = イニシエーターが新しい SA を設定し終える前に、その SA でデータが送られた
cause-rekey-refused = 相手がリキーを拒否した
cause-rekey-unanswered = 相手がリキーに応答しなかった、または何度も要求されてから応答した
cause-limit-without-rekey = SA がリミットを超えたが、新しい SA は要求されなかった
cause-break-before-make = 新しい SA を交渉する前に SA が削除された
cause-blackhole-after-rekey = リキー後の SA が届かなくなり、データは再送を繰り返し、確認応答がなかった
cause-dpd-unanswered = 相手が生存確認 (DPD) に応答しなかった
cause-rekey-storm = 通常 1 回のリキーの時間に試行が続いた
cause-old-sa-deleted-early = パケットがまだ届いていないうちに古い SA が削除された
cause-asymmetric-switch = 一方向だけが、逆方向の切り替え後も長く古い SA を使い続けた
cause-hard-limit-reached = 新しい SA に替わる前に古い SA がハードリミットを超えた
cause-exchange-retransmitted = 鍵交換のメッセージが再送された
cause-collision = 両側が同時にリキーを始めた
cause-replay-drops = リプレイウィンドウの外に出たパケットがある
cause-slow-key-exchange = 鍵の計算に時間がかかった
cause-slow-path = 新しい SA の設定後、処理経路が遅くなった
cause-rto-stall = 内側の TCP が再送タイマー（RTO）を待った
cause-window-cut = 内側の TCP がウィンドウを縮めた
cause-receiver-limited = 受信側のウィンドウが閉じていた（リキーが原因ではない）
cause-application-limited = 送信側に送るデータがなかった（リキーが原因ではない）
cause-fragmentation-change = 新しい SA でパケット長またはフラグメント化が変わった
cause-nat-mapping-change = NAT の変換が変わった
cause-phase1-renewal = 近くでフェーズ 1 が更新された
cause-ppp-trouble = L2TP または PPP 自体に問題があった
cause-capture-artefact = キャプチャ自体がここで欠けている
cause-desync = 一方が相手の SA を知らなかった
