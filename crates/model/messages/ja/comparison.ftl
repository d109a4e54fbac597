### 複数のキャプチャの比較（comparison.rs、comparison/sentence.rs）。

## リキー 1 回の遅れ

compare-none = リキーの影響は判断できません。測定できる転送を含むキャプチャがありません。
compare-only-one = リキーの影響は判断できません。測定できる転送を含むキャプチャが一つしかありません。
compare-same = リキーの影響は判断できません。{ $captures } 個のキャプチャは 1 GB あたりのリキー数がすべて同じ（{ $densities }）なので、キャプチャ間の差には別の理由があります。SA の寿命の異なるキャプチャを比較してください。
compare-two = { $captures } 個のキャプチャの比較からは、リキーの影響は判断できません。2 点を通る直線は必ず引けるためです（この直線ではリキーごとに { $stall }）。SA の寿命の異なるキャプチャを追加してください。
compare-cost = リキー 1 回で { $stall } 遅くなっています（95 % 信頼区間 { $interval }）。1 GB あたり { $densities } 回のリキーを含む { $captures } 個のキャプチャから求めました。
compare-cost-and-without = リキー 1 回で { $stall } 遅くなっています（95 % 信頼区間 { $interval }）。1 GB あたり { $densities } 回のリキーを含む { $captures } 個のキャプチャから求めました。直線から求めた、リキーがない場合のレートは { $without } です。
compare-faster = リキーで遅くなるとは言えません。リキーの多いキャプチャのほうが速い（リキーごとに { $stall }、95 % 信頼区間 { $interval }）ため、キャプチャ間でほかの何かが異なっています。1 GB あたり { $densities } 回のリキーを含む { $captures } 個のキャプチャから求めました。
compare-cannot-tell = これら { $captures } 個のキャプチャの比較からは、リキーの影響は判断できません。直線から求めたリキー 1 回の遅れは { $interval }（95 % 信頼区間）と幅があり、{ $interest }（スループットの { $share }）以上なら問題となります。1 GB あたりのリキーは { $densities } 回です。SA の寿命が大きく異なるキャプチャを追加してください。
compare-not-shown = リキーで遅くなるとは言えません。リキーごとに { $stall }、95 % 信頼区間 { $interval } であり、最大でも { $most } です。1 GB あたり { $densities } 回のリキーを含む { $captures } 個のキャプチャから求めました。

## 暗号スイートごとの伝送効率

efficiency-several = データの方向の伝送効率（復号したペイロード ÷ IP のバイト数）: { $all }。同じペイロードを送るとき、{ $best } が回線に流すバイト数は { $worst } より { $saved } 少なくなります。1 パケットあたりのペイロードは平均で { $best-payload } バイトと { $worst-payload } バイトで、どの暗号スイートでもパケットが大きいほど効率は高くなります。
efficiency-one = データの方向の伝送効率（復号したペイロード ÷ IP のバイト数）: { $all }。比較できるほかの暗号スイートはありません。
efficiency-unknown = 伝送効率は不明です。鍵がないため、どのキャプチャのペイロードも数えられませんでした。

## 留保事項

compare-differs = キャプチャ間のほかの違い（回線、クライアント、時間帯）は、リキーの影響または雑音とみなされます。
compare-differs-suite = キャプチャ間のほかの違い（暗号スイート、回線、クライアント、時間帯）は、リキーの影響または雑音とみなされます。
compare-not-on-the-line = { $name } は直線の計算に含まれていません。理由: { $why }。

## 直線の計算に含めない理由

left-out-no-tunnel = IPsec トンネルが見つかりません
left-out-little-data = データが少なすぎます
left-out-old-document = 保存された解析結果に転送の記録がありません。古いバージョンで書かれたものなので、キャプチャをもう一度解析してください
left-out-nothing = 測定できるものがありません
left-out-no-keys = 鍵がなく、ほかのキャプチャのペイロードに対して ESP バイト数を並べることになります
