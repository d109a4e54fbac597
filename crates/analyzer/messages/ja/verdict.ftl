### 判定と算術的な限界（impact/sentence.rs）。

arithmetic-none = 転送中に起きたリキーがないため、限界は計算できません。
arithmetic-reference = リキーだけで { $reference } が { $observed } まで下がるには、リキー 1 回あたり { $waste } を失う計算になります。
arithmetic-example = リキーは { $interval } ごと（{ $volume }）に起きるため、1 回あたり { $stall } の停止は { $cost } の損失になります。
arithmetic-halve = リキーは { $interval } ごと（{ $volume }）に起きるため、1 回あたり { $stall } の停止は実測 { $observed } の { $cost } に相当します。レートが半分になるには、リキーのたびにこの間隔の半分、{ $half } を失う計算になります。
