### 外部の時系列: iperf3、サンプル（overlay）。

overlay-few = 値が { $n } 個しかありません。リキーの影響を見るには、リキーの前、最中、後の 3 個以上が必要です。
overlay-clock = 時計: 元の時刻に { $offset } を加えました（パケットとの相互相関 { $correlation }、{ $step } 刻みで探索。精度は間隔の { $interval } が限度です）。iperf3 は開始時刻を秒単位で記録するため、このうち最大 1 秒は時計の差ではありません。
overlay-clock-unlike = 時計の差を特定できませんでした。レートがパケットのレートに追従していません（相互相関 { $correlation }）。元の時刻のまま描いています。
overlay-clock-several = 時計の差を特定できませんでした。同じ程度に合う位置が複数あります（相互相関 { $correlation }）。元の時刻のまま描いています。
overlay-clock-too-little = 時計の差を特定できませんでした。この記録またはパケットの記録が短すぎて比較できません。元の時刻のまま描いています。
overlay-comparison = iperf3: 平均 { $mean }、標準偏差 { $sd }（{ $intervals } 区間）。同じ区間のパケット: 平均 { $packets-mean }、標準偏差 { $packets-sd }。{ $bin } のビンで見た標準偏差は { $bins-sd } です。
overlay-rows-fine = { $row } 間隔の記録なので、{ $stall } の停止を捉えられます。1 秒間隔の記録では捉えられません。停止は一つの記録の { $share } を減らすか、二つの記録に分かれて現れるだけだからです。
overlay-rows-coarse = { $row } 間隔の記録では、{ $stall } の停止を捉えられません。停止は一つの記録の { $share } を減らすか、二つの記録に分かれて現れるだけだからです。パケットからは捉えられます（10 ms のビン）。
overlay-rows-coarse-and-scattered = { $row } 間隔の記録では、{ $stall } の停止を捉えられません。停止は一つの記録の { $share } を減らすか、二つの記録に分かれて現れるだけで、記録自体がもともと { $scatter } ばらついているからです。パケットからは捉えられます（10 ms のビン）。
overlay-counts-at-sender = この iperf3 の値は、送信側がソケットに渡した量です。ソケットのバッファの分だけパケットより先行します。受信側で数えるには、--get-server-output を付けるか、-R で測定してください。
overlay-no-rekey = このキャプチャのリキーを一つも含んでいません。ファイルと、2 台の機器の時計を確認してください。
overlay-shortened = { $total } 個の値のうち、最初の { $kept } 個だけを残しています。
overlay-bad-rows = { $rows } 行は時刻と数値の組ではないため除きました（最初は { $first } 行目）。
