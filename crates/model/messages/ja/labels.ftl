### ラベル: 表の列と、種類・状態・原因の名前。

## 表の列。

column-number = #
column-direction = 方向
column-point-both = 両地点
column-point-lost = 地点間で損失
column-point-neither = 両地点で欠落
column-point-only-here = この地点のみ
column-point-only-there = 他方のみ
column-point-reordered = 追い越し
column-point-least = 最小
column-point-median = 遅延の中央値
column-point-p95 = 95 % 点
column-point-most = 最大
column-verdict = 判定
column-rekeys = リキー
column-hurt = 影響
column-rate = レート
column-lost = 遅れ s
column-silence-ms = 停止 ms
column-lost-to-rekeys = リキー遅れ s
column-without-rekeys = なしの場合
column-lifetime = 寿命
column-expected-rate = 予測レート
column-from = 最小
column-to = 最大
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
column-retransmitted-share = 再送率
column-handshake-ms = ハンドシェイク ms
column-rtt-ms = RTT ms
column-ack-rtt-ms = ACK RTT ms
column-window = ウィンドウ
column-in-flight = インフライト
column-rekey = リキー
column-time-s = 時刻 s
column-before = 直前
column-lowest = 最低
column-highest = 最高
column-by = 始動側
column-outcome = 結果
column-requests = 要求数
column-answer-s = 応答 s
column-outage-from-s = 不通開始 s
column-outage = 不通
column-trigger = 契機
column-volume = 転送量
column-age = 経過
column-ike-ms = IKE ms
column-sa-gap-ms = 旧→新 SA ms
column-overlap-ms = 重複 ms
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
column-initiator-spi = 始動側 SPI
column-responder-spi = 応答側 SPI
column-ike = IKE
column-capture = キャプチャ
column-sentence = 説明
column-account = 内訳
column-seconds = 秒
column-share = 全体比
column-lost-s = 遅れ s
column-lost-share = 遅れに占める割合
column-s-per-gb = 秒/GB
column-without = 除いた場合
column-also = 併存
column-own-s-per-gb = 秒/GB
column-reference-s-per-gb = 比較先
column-difference = 差
column-gap-share = 差に占める割合
column-stretch-s = 秒
column-stretch-filter = 表示フィルター
comparison-capture = キャプチャ
comparison-suite = 暗号スイート
comparison-lifetime = 寿命
comparison-rekeys = リキー
comparison-per-gb = GB あたり
comparison-rate = レート
comparison-s-per-gb = 秒/GB
comparison-cost = 1 回の遅れ
comparison-range = 最小～最大
comparison-efficiency = 効率

## 判定。

verdict-label-failed = 障害
verdict-label-shown = 遅くなった
verdict-label-some = 一部のリキーで遅れ
verdict-label-bounded = 影響なし
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
effect-stopped = 停止
effect-lost-on-old = 旧 SA で損失
effect-lost-on-new = 新 SA で損失
effect-silence = 送信なし
effect-outage = 不通中
effect-reverse = 確認応答が損失
effect-slow = 低速
effect-not-observed = 観測なし
effect-outside = 転送外

## 原因。

