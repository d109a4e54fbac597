### 図の文字。描くすべての文字がフォントに必要（fonts/README.md）。

plot-timeline-title = トンネル { $tunnel } のスループットとリキー
plot-timeline-text = 両方向のスループット（{ $run }）、{ $rekeys }、{ $which }。下段は各 SA がパケットを運んだ時間。
plot-none-hurt = 影響なし
plot-hurt-list = 影響あり: { $list }
plot-lane = { $direction }、{ $unit }
plot-stepped = ；階段状の線: { $name }
plot-account = 時間がかかったところ、{ $direction }
plot-lanes = SA: 1 本の棒が最初から最後のパケットまで（淡色は鍵なし）
# 帯の方向、表では SA の方向
plot-up = アップ
plot-down = ダウン
plot-seconds = キャプチャ開始からの秒
plot-mark = リキー { $number }、{ $when } s{ $stall }
plot-stall = {": 停止 "}{ $stall }
plot-stall-hurt = {": 停止 "}{ $stall }、影響あり
plot-hurt = 、影響あり
plot-mean-title = リキー前後の平均、{ $direction }
plot-mean-text = 新しい SA への切り替え前後の平均レート。帯はプラセボの平均の 95 % が入る範囲。
plot-mean-headline = { $direction }、{ $unit } – 線: リキーの平均、帯: プラセボの 95 %
plot-mean-axis = 新しい SA への切り替えからのミリ秒
plot-panel-title = リキー { $number }
plot-panel-text = リキー { $number } 前後の { $direction } のスループット{ $stall }。
plot-panel-headline = リキー { $number }、{ $when } s、{ $unit }
plot-panel-hurt-stall = 影響あり: 停止 { $stall }
plot-panel-stall = 停止 { $stall }
plot-panel-hurt = 影響あり
plot-comparison-title = ギガバイトあたりの秒数とリキー回数
plot-comparison-text = 1 点が 1 つのキャプチャ。点を通る直線の傾きがリキー 1 回の損失。
plot-comparison-x = ギガバイトあたりのリキー回数
plot-comparison-y = ギガバイトあたりの秒数
