### 時間の内訳: 転送の 1 秒ごとが何に使われたか（impact/tell/account.rs）。

## 文

account-lost = { $than } の場合より { $lost } 長くかかっています。内訳: { $parts }。
account-no-longer = 転送にかかった時間は、{ $than } の場合と変わりません（差は { $share } 以内）。全 { $seconds } の内訳: { $parts }。
account-faster = 転送は { $than } の場合より速く終わっています。全 { $seconds } の内訳: { $parts }。
account-nothing = 時間の内訳を示せるだけの長さの転送がありません。

# 項目ごとに 1 行の表示の、最初の行
account-brief-lost = 所要時間は { $seconds } で、{ $than } の場合より { $lost } 長くかかっています。内訳:
account-brief-no-longer = 所要時間は { $seconds } で、{ $than } の場合と変わりません（差は { $share } 以内）。内訳:
account-brief-faster = 所要時間は { $seconds } で、{ $than } の場合より短くなっています。内訳:
account-brief-won-back = うち { $seconds }（{ $share }）は、より速い区間で取り戻しています。
# トンネルのほかの通信が続く間に、$receiver だけが $seconds 不通だった場合
account-pair-down = 不通: { $receiver } 宛てだけが { $seconds } 不通（他の通信は継続）。数値はこの方向全体の遅れ。
account-down = 不通: 何も通らなかった時間は { $silent }、レートが戻るまでを含めた遅れは { $lost }。
account-beyond = 不通: 何も通らなかった時間は { $silent }、うち転送中は { $within }。
account-of-pair = 以上の数値は { $receiver } 宛ての通信だけのものです。トンネルのほかの通信は続いていました。

# $than（それぞれ、与えられたレート、証明された上限、観測された最高）
account-than-given = { $rate }
account-than-proven = この経路の最高レート { $rate }
account-than-best = この転送で観測された最高レート { $rate }
account-than-beside = リキーや不通のない時間のレート { $rate }

# 別のキャプチャとの、ギガバイトあたりの秒数の差
account-gap = { $capture } は { $reference } より GB あたり { $gap } 長くかかっています。内訳: { $parts }。
account-gap-none = GB あたりでは、{ $capture } は { $reference } より長くかかっていません（{ $own } と { $other }）。

## 内訳（助詞と句点は文の側に置く）

account-parts = { $before }、{ $next }
account-part-capture-hole = キャプチャの欠落 { $seconds }（{ $share }）
account-part-tunnel-down = 不通 { $seconds }（{ $share }）
account-part-rekey = リキー { $seconds }（{ $share }）
account-part-zero-window = 受信ウィンドウの閉鎖 { $seconds }（{ $share }）
account-part-receive-window = 受信ウィンドウ（{ $window }）待ち { $seconds }（{ $share }）
account-part-receive-window-unknown = 受信ウィンドウ待ち { $seconds }（{ $share }）
account-part-send-buffer = 送信バッファ待ち { $seconds }（{ $share }）
account-part-flight = 受信ウィンドウまたは送信バッファ待ち { $seconds }（{ $share }）
account-part-application = アプリケーションからの送信データ待ち { $seconds }（{ $share }）
account-part-path-loss = 経路上の損失 { $seconds }（{ $share }）
account-part-queue-loss = キューあふれによる損失 { $seconds }（{ $share }）
account-part-reordering = 損失とみなされた順序の入れ替わりや遅延 { $seconds }（{ $share }）
account-part-growth = レートの立ち上がり { $seconds }（{ $share }）
account-part-capacity = 回線または CPU の上限（{ $rate }） { $seconds }（{ $share }）
account-part-slower = 経路が遅くなった分 { $seconds }（{ $share }）
account-part-won-back = より速い区間での取り戻し { $seconds }（{ $share }）
account-part-less = 比較先より短い分 { $seconds }（{ $share }）
account-part-unexplained = 原因不明 { $seconds }（{ $share }）
account-part-unexplained-little = 原因不明 { $seconds }

## 判断できなかったこと

account-no-tcp = トンネル内に、確認応答を伴う TCP が見えないため、受信ウィンドウ待ち、送信バッファ待ち、送信データ待ち、損失による遅れは区別していません。
account-no-pattern = 確認応答が送信側に届いた時刻が分からないため、次のものは判断していません: { $labels }。
account-no-scale = ハンドシェイクも TCP タイムスタンプもキャプチャされていないため、受信ウィンドウ、送信バッファ、アプリケーション、レートの立ち上がりは区別していません。
account-not-testable = このキャプチャからは判断できない項目: { $labels }。
account-cut = 不通の開始か終了がキャプチャの範囲外のため、遅れのうち次のものは区別できません: { $labels }。

## レポートの表示

account-legend = { $label }: { $seconds } 秒（{ $share }）
account-stretch = { $label }: { $seconds }、フレーム { $from }～{ $to ->
    [0] 最後
   *[other] { $to }
}
account-filter = { $label }: { $filter }
account-all = 合計

## 項目

account-capture-hole = キャプチャの欠落
account-tunnel-down = 不通
account-rekey = リキー
account-zero-window = 受信ウィンドウの閉鎖
account-receive-window = 受信ウィンドウ
account-send-buffer = 送信バッファ
account-application = 送信データ待ち
account-path-loss = 経路上の損失
account-queue-loss = キューあふれによる損失
account-reordering = 順序の入れ替わり
account-growth = レートの立ち上がり
account-capacity = 回線または CPU の上限
account-below-best = 経路のレート低下
account-unexplained = 原因不明
account-undivided = 区別なし
