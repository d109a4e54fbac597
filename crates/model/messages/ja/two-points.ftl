### 2 地点でキャプチャした 1 本のトンネル（tell/two_points.rs）。

## 比較の対象

two-points-no-common-sa = { $other } には、このキャプチャと共通の SA がありません。別のトンネルか、別の時間のものです。比較は行っていません。
two-points-no-common-packet = { $other } には、このキャプチャと共通の SA が { $sas } 個ありますが、共通のパケットは一つもありません。2 つのキャプチャの時間は重なっていません。比較は行っていません。
two-points-no-common-time = { $other } とこのキャプチャが重なる時間は、パケットが一方から他方へ届くまでの時間より短いものです。比較は行っていません。
two-points-kept-until = 比較したのは最初の { $seconds } です。それ以降は、比較のために保持できるパケット数を超えています。
two-points-files-unread = 2 地点のファイルのうち { $files } 個は、全部または一部を読めませんでした。その時間に通ったパケットは、地点間で失われたものとして数えています。
two-points-behind-nat = { $sas } 個の SA は、もう一方の地点では宛先が異なります（間に NAT があります）。SPI とシーケンス番号だけで対応付けました。
two-points-sas-left-out = 一方のキャプチャにしかない SA は除きました。このキャプチャだけにあるものが { $here } 個、もう一方だけにあるものが { $there } 個です。

## 時計

two-points-clock-ahead = { $other } の時計は、共通の時間の最初に、このキャプチャの時計より { $offset } 進んでいます（± { $error }。2 地点間の最短往復時間の半分です。往復時間が行きと帰りにどう分かれるかは分かりません）。
two-points-clock-behind = { $other } の時計は、共通の時間の最初に、このキャプチャの時計より { $offset } 遅れています（± { $error }。2 地点間の最短往復時間の半分です。往復時間が行きと帰りにどう分かれるかは分かりません）。
two-points-drift-gains = その時計は { $ppm } の割合で進みます。
two-points-drift-loses = その時計は { $ppm } の割合で遅れます。
two-points-drift-unknown = 両方の地点で見られたパケットの時間が短すぎて、時計がずれていくかどうかは分かりません。
two-points-clock-set = すべてのパケットに合う時計の差とその変化はありません。このキャプチャか { $other } の時計が途中で合わせ直されています。遅延は示しませんが、損失は示します。
two-points-one-way = { $other } の時計との差は分かりません。片方向だけのパケットや、近すぎる 2 地点のパケットからは求められないためです。遅延は、最小の遅延との差で示します。

## 損失

two-points-lost-behind-here = { $src } → { $dst } はこの地点を先に通ります。{ $sent } 個のパケットのうち { $grouped } 個がもう一方の地点に届いていません。どちらの地点でも見られなかったものが { $missing } 個、もう一方だけで見られたものが { $unrecorded } 個あります。
two-points-lost-before-here = { $src } → { $dst } はもう一方の地点を先に通ります。{ $sent } 個のパケットのうち { $grouped } 個がこの地点に届いていません。どちらの地点でも見られなかったものが { $missing } 個、この地点だけで見られたものが { $unrecorded } 個あります。
two-points-lost-unknown = { $src } → { $dst }: 両方の地点で見られたパケットが { $both } 個、この地点だけのものが { $here } 個、もう一方だけのものが { $there } 個あります。どちらの地点を先に通るかは、時刻からもホップリミットからも分かりません。
two-points-order-by-hops = どちらの地点を先に通るかは、時刻からは分からないため、これらのパケットのホップリミット（TTL）から判断しました。先に通る地点のほうが大きくなっています。
two-points-ike-lost = 2 地点の間で IKE メッセージ { $messages } 個が失われました。
two-points-drops-none = どちらのキャプチャも、取りこぼしたパケットはないと記録しています。
two-points-drops-unknown = キャプチャが取りこぼしたパケットは、失われたパケットと区別できません。どちらのキャプチャにも取りこぼした数の記録がありません。
two-points-drops = キャプチャが取りこぼしたパケットは、失われたパケットと区別できません。取りこぼしの記録は、このキャプチャが { $here }、もう一方が { $there } です。
two-points-not-told = 不明

## リキー

two-points-packets-old = 古い SA { $spi } のパケット { $packets } 個
two-points-packets-new = 新しい SA { $spi } のパケット { $packets } 個
two-points-messages = IKE メッセージ { $messages } 個
two-points-rekey-before = リキー { $number }: 2 地点の間で{ $lost }が、切り替えの { $first } 前から { $last } 前までに失われました。
two-points-rekey-after = リキー { $number }: 2 地点の間で{ $lost }が、切り替えの { $first } 後から { $last } 後までに失われました。
two-points-rekey-around = リキー { $number }: 2 地点の間で{ $lost }が、切り替えの { $first } 前から { $last } 後までに失われました。
two-points-usual = 前後のこれらの SA のパケットは { $sent } 個です。ほかの時間と同じ割合なら、失われるのは { $usual } 個です。
