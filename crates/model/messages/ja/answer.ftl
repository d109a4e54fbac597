### 3 行の答え（words/answer）: 数値、原因、対策。失敗がなければ、1 行目は判定の最初のメッセージ（verdict.ftl）。

## 1 行目（クライアントが複数のとき）

answer-of-client = { $client }：{ $sentence }
client-of-tunnel = { $client }（トンネル { $tunnel }）

## 2 行目

headline-more = { $direction }（{ $transfer }）の遅れ: { $to } { $lost }、リキー（鍵更新）{ $rekeys ->
    [none] なし
    [bound] は 1 回 { $bound } 未満
    [harmless] による停止なし
   *[hurt] { $used } 回中 { $hurt } 回で { $cost }
}
headline-queue = キューの滞留で{ $direction }が最大 { $delay } 遅延、リキー（鍵更新）{ $rekeys ->
    [none] なし
   *[harmless] による低下は見られず
}
lost-to = { $label }
why-cause = { $cause }{ $several ->
    [no] {""}
   *[yes] （影響のあった { $of } 回中 { $n } 回）
}。
why-shared = { $all ->
    [both] 影響のあった 2 回は、どちらもこれが原因です。
    [yes] 影響のあった { $of } 回は、すべてこれが原因です。
   *[no] 影響のあった { $of } 回のうち { $n } 回は、これが原因です。
}
why-slow-return = 遅れ { $cost }のうち { $silent }は何も届かず、残りはレートが戻るまでの時間です。
why-silence-alone = 停止の間に失われたパケットはありません。{ $keys ->
    [none] 鍵がないと
   *[some] データグラムには確認応答がないので
}、その時アプリケーションが休んでいた場合と区別できません。
why-no-cause-cut = パケットが途中で切られて（snaplen）キャプチャされているため、鍵を確かめられず、中は見えません。
# 原因が見つからない場合
why-lost-on-old = 新しい SA ができる前に古い SA が終わり、そこで送られたデータが届かなかったため
why-lost-on-new = 受信側が新しい SA を使えるようになる前に送られたデータが届かなかったため
why-silence = 何も送られていなかったため
why-reverse = データは届いたが、確認応答が送信側に戻らなかったため
why-slow = 停止はしていないが、ほかの時間より遅かったため
why-no-cause = これらのパケットからは分かりません。
why-no-cause-without-keys = 鍵がないため、これらのパケットからは分かりません。
why-no-cause-wrong-keys = 読み込んだ鍵はどのパケットにも合わず、これらのパケットからは分かりません。
why-no-return = ESP は { $direction } だけで、IKE は{ $by ->
    [icv] 双方向です。これらのパケットの ICV は HMAC-SHA2-256 の旧ドラフトの 96 ビットで、{ $to }が RFC 4868 の 128 ビットを想定していれば、すべて破棄されます。
    [ports] 同じ UDP ポートで双方向に届いているため、ポートのフィルターが ESP だけを落としているのではありません。{ $to }がこれらのパケットを受け付けていないか、返すものがありません。
   *[nothing] 双方向です。返信が何も送られていないか、フィルターが IKE だけを通しています。
}
why-two-tunnels = このトンネルの ESP は { $direction } だけで、{ $known ->
    [proven] 同じホスト間の
   *[time] 同じ時間に
}逆方向の { $packets } パケットは { $peer } のトンネルだけを通っています。2 本のトンネルで往復の経路になります。
why-one-way = キャプチャされているのは { $direction } だけで、逆方向は見えていません。
why-at-the-limit = レートは { $observed } でした。{ $how ->
    [proven] この経路の上限は { $own } です。
    [reached] これはこの経路の上限です。
    [beside] {""}
   *[best] 観測された最高は { $own } です。
}
why-largest = 遅れ { $lost } のうち { $seconds }（{ $share }）は、{ $to }によるものです。
why-largest-two = 遅れ { $lost } のうち { $seconds }（{ $share }）は{ $to }、{ $others }（{ $theirs }）は{ $other }によるものです。
why-idle = { $whole } 中 { $seconds } は送るデータのない時間でした。VPN の問題ではありません。
why-queue = キューの滞留で、すべてのパケットが最大 { $delay } 遅延しています。{ $at ->
    [known] 滞留はキャプチャ地点から{ $who }までの間か、{ $who }です。
   *[unknown] {""}
}
why-waits = 最も狭いリンクが運べる量を超えて送信され、超えた分が深いキューに滞留しています。{ $at ->
    [known] 滞留はキャプチャ地点から{ $who }までの間か、{ $who }です。
   *[unknown] {""}
}同じ向きの通話、ping、IKE もそこで待たされます。
why-rekeys = リキーでは、{ $text }
why-more = リキーよりも大きな遅れの要因は{ $label }（{ $seconds }）です。
why-unexplained = 遅れ { $lost } のうち { $seconds }（{ $share }）は、これらのパケットでは説明できません。
why-datagrams = UDP に確認応答はないため、相手側に届いたかどうかはこのキャプチャからは分かりません。
why-bound = このキャプチャでは、1 回あたり { $bound } 未満の遅れは見えません。
why-stopped = { $moment } に止まり、その後キャプチャは { $seconds } 続きます。鍵がないと、転送が終わったのかは分かりません。
# 新しい SA の番号が 1 より大きい値から始まる場合
why-first-numbers = 新しい SA の最初の { $n } パケットがキャプチャに届かず、{ $sas } 個の SA で同様です。送信側のオフロードか手前の機器で失われたと推定されます。
why-outside = リキーの影響を測れるのは、データが流れている間だけです。
why-no-data = リキーで遅くなるのはその間に待ったデータですが、ここではほとんど流れていません。

## 3 行目

do-beside-rekeys = リキーは原因ではありません。
do = 対策: { $text }
do-about = { $label }（{ $seconds }）: { $text }
do-not-rekeys = リキー（{ $seconds }）への対処は不要です。{ $other }
do-in-vain = { $how ->
    [refused] SA の要求の拒否
   *[unanswered] 無応答のリキー
}がありました（今回の影響なし）。{ $text }
do-expected = { $text }{ $parts ->
    [one] これで
   *[two] この対策だけ（{ $part }）で
}約 { $rate }（現在 { $now }）が見込めます。
do-lifetime = { $place }SA の寿命（kbytes）を { $limit } kB から { $lifetime } kB に延ばしてください（{ $command }{ $windows ->
    [maybe] 。Windows は変更不可
   *[no] {""}
}）。
do-lifetime-at = 更新する側（{ $who }）で、
do-lifetime-learnt = SA の寿命（kbytes、現在約 { $kilobytes } kB）を { $lifetime } kB に延ばしてください（{ $command }{ $windows ->
    [maybe] 。Windows は変更不可
   *[no] {""}
}）。
do-refused = 拒否された SA の要求を調べてください（-v）。プロポーザル、PFS グループ、トラフィックセレクターは、更新のたびに、また追加のサブネットごとに一致が必要です。
do-lifetime-anywhere = 始動側が NVR5x0 の場合: `ipsec ike duration ipsec-sa GATEWAY_ID { $seconds } { $kilobytes }`、strongSwan: `life_bytes = { $bytes }`、`rekey_bytes` はそれより小さく
do-lifetime-yamaha = `ipsec ike duration ipsec-sa GATEWAY_ID { $seconds } { $kilobytes }`
do-lifetime-strongswan = `life_bytes = { $bytes }`、`rekey_bytes` はそれより小さく
do-longer-capture = 対策: より多くのリキーが入る、より長い転送をキャプチャしてください。
do-keys-or-other-end = 対策: 鍵を指定する（--keys FILE）か、トンネルの反対側でキャプチャしてください。
do-other-end = 対策: トンネルの反対側でもキャプチャしてください（--also-from FILE）。
do-capture-load = 対策: 大きなファイルをトンネルで転送しながら、もう一度キャプチャしてください。
disorder-line = パケットが時刻の順に並んでいません（{ $packets } 個のうち { $back } 個が逆戻り）。
disorder-why = このままでは、何が何をどれだけ待ったのかは分かりません。
do-sort = 対策: 並べ替えてから（`reordercap FILE SORTED`）、そのファイルでもう一度実行してください。
do-capture-both = 対策: 両方向のパケットが通る場所でキャプチャしてください。
do-capture-ipsec = 対策: UDP 500、UDP 4500、ESP（IP プロトコル 50）が通る場所でキャプチャしてください。
do-nothing = 対策: リキーに関する対処は不要です。
do-nothing-at-the-limit = 対策: リキーに関する対処は不要です。遅いと感じる場合は、VPN なしで同じ転送を測ると、上限が回線なのか両端の CPU なのかが分かります。
do-queue = 対策: リキーに関する対処は不要です。{ $text }
cure-queue = { $at ->
    [known] { $who }でのキャプチャなら、データが流れている間の CPU 負荷（ハードウェアなしの暗号化）を調べてください。そうでなければ、
   *[unknown] {""}
}キューが滞留しないように、送信側でボトルネック回線より少し低いレートにシェーピングしてください（`fq_codel` や `cake`）。
do-keys = 対策: 鍵を指定すると（--keys FILE）、トンネル内の原因まで分かります。
do-whole-packets = 対策: パケット全体をキャプチャしてください（tcpdump -s 0、dumpcap は -s なし）。
do-other-keys = 対策: このキャプチャの鍵を指定すると（--keys FILE）、トンネル内の原因まで分かります。読み込んだ鍵は別の時のものか、写し間違いです。
do-unknown = 対策: リキーの表と表示フィルター（-v）を調べてください。

## その他

answer-cut = { $total }のパケットは途中で切られているため（snaplen）、鍵を確かめられません。転送量は ESP のバイト数で数えています。
answer-cut-some = { $total }のうち { $missing } 個はパケットが途中で切られているため（snaplen）、鍵を確かめられず、転送量は ESP のバイト数で数えています。パケット全体は `tcpdump -s 0` でキャプチャできます。
answer-wrong-keys = 読み込んだ鍵は { $total }のどれにも合わず、転送量は ESP のバイト数で数えています。このキャプチャの鍵は --keys FILE で指定できます。
answer-keys = { $total }のうち { $missing } 個の鍵がなく、転送量は ESP のバイト数で数えています。{ $file ->
    [none] --keys FILE（ルーターのログまたは Wireshark の鍵テーブル）を指定すると、さらに詳しく分かることがあります。
   *[path] { $file } には鍵がありませんでした。ルーターのデバッグログまたは Wireshark の鍵テーブルを --keys FILE で指定してください。
}{ $one_line ->
    [yes] IKE SA 1 個の鍵があれば、PFS なしでネゴシエートされた SA をすべて復号できます（-v に表示）。
   *[no] {""}
}
answer-beyond = 解析していないパケット: { $all }のうち { $packets }（保持できる数を超えるトンネルまたは SA）。先にアドレスで絞り込んでください。
answer-doubled = { $packets }のうち { $again } は同じパケットの重複（ミラーポートの両側、複数のインターフェイス、同じファイルの二重読み込み）で、1 回として数えました。再送ではありません。キャプチャは 1 か所のポートだけで行ってください。
answer-more = … ほか { $n } 件: -v
answer-costliest = … { $hurt ->
    [all] 影響のあった
   *[more] 影響の大きい
} { $n } 回だけを表示（全 { $all } 回は -v）
answer-warning = 警告: { $sentence }（-v）
answer-times = 時刻: { $first ->
    [unknown] 最初のパケット
   *[other] { $first } UTC { "" }
}からの秒数。転送は { $from }から { $to }まで{ $rests }。
times-count = 時刻: 最初のパケット{ $first ->
    [unknown] {""}
   *[other] （{ $first } UTC）
}からの秒数。
answer-rests = （休止 { $seconds }を除く）
answer-further = 詳細: -v（すべての数値とフィルター）、--html FILE（図）
# $what: counted things that only -v lists
answer-listed = { $what }: -v

## 更新に失敗した SA が後継なしで終わり、鍵がないため通信が見えない場合

do-orphan-deleted = 対策: { $who }が削除した理由（寿命、コマンド）を調べ、鍵を指定してください。誰の通信だったかが分かります。
orphan-line = { $what ->
    [deleted] { $who }が SA を削除（推定）
    [refused] { $ended ->
        [unseen] 新しい SA の要求
       *[seen] リキー要求
    }を{ $who }が拒否
   *[unanswered] リキー要求に{ $who }が応答せず
}、{ $ended ->
    [orphan] SA { $spi } が { $moment }に後継なしで終了
    [seen] SA が { $moment }に後継なしで終了
   *[unseen] このキャプチャに不通は見られず
}
orphan-why = 原因: 鍵がないと SA の中の通信は見えません。ほかの SA が動いていても、一部のサブネットだけが不通の可能性があります。

## 平文のデータ（全文は findings.ftl）

clear-line = データが { $first } から平文で流出（{ $dst } へ { $packets } パケット）
do-clear = 対策: トンネルを通らないデータは送信側で破棄し（ポリシーまたはフィルター）、トンネルが終わった理由を調べてください。

## トンネルができなかった場合

setup-line = トンネルができず: { $who }が { $step } { $how ->
    [refused] を拒否
    [rejected] を受け付けず
    [unheard] の応答を受け取れず
   *[unanswered] に無応答
}{ $often ->
    [again] （{ $n } 回）
   *[once] {""}
}
setup-line-stopped = { $who }は { $step } の先に進まず{ $often ->
    [again] （{ $n } 回）
   *[once] {""}
}
setup-line-ended = { $who }が { $n } 回ともトンネルの完成直後に自ら切断（ESP なし）
setup-why-ended = 原因: 鍵交換は毎回最後まで成立し、{ $who }が 1 秒以内にすべての SA を削除しています（最後は { $moment }）。{ $nat ->
    [yes] パケットは NAT を通ってプライベートアドレス { $gateway } に届いています。ゲートウェイは NAT の内側にあり、これを拒むクライアントがあります。
   *[no] 理由はこれらのパケットからは分かりません。
}
setup-why-read = 原因: 応答は { $notify } でした。
setup-why-sealed = 原因: 応答は通知だけで、その種類は暗号化されています。
setup-why-childless = 原因: ESP が続かず、応答には Child SA の入る長さがありません。{ $who }は相手を認証し、Child SA を拒否しています。通知の種類は暗号化されています。
setup-why-rejected = 原因: 最後のメッセージが { $n } 回送られ、そのたびに短い暗号化された応答（おそらくエラー）が返りました。
setup-why-unheard = 原因: 要求が { $n } 回届き、そのたびに応答が送られています。{ $who }宛ての応答は、このキャプチャより先で失われています。
setup-why-unanswered = 原因: { $moment } から要求が { $n } 回送られ、応答がありません。
setup-why-stopped = 原因: { $often ->
    [again] 毎回応答があり、最後の応答（{ $moment }）の後も、
   *[once] { $moment } に応答が送られた後、
}{ $who }からは再送も次のメッセージも来ませんでした。次のメッセージは最初の大きなもので、このキャプチャに届く前に失われたか、{ $who }がやめたと推定されます。{ $ended ->
    [well] { $later } からの試行は成功しています。
   *[open] {""}
}
setup-do-assume = 対策: おそらく{ $who }（Windows）のレジストリ（PolicyAgent）で `AssumeUDPEncapsulationContextOnSendRule` を 2 にして再起動すれば、NAT の内側のゲートウェイを受け入れます。ゲートウェイにグローバルアドレスを付けるか、IKEv2 にする方法もあります。
setup-do-ended = 対策: 自らトンネルを終えた{ $who }のログで理由{ $nat ->
    [yes] （NAT の内側のゲートウェイを受け入れるか）
   *[no] {""}
}を調べてください。鍵、プロポーザル、ポートは原因ではありません。
setup-do-ike = 対策: IKE のプロポーザル（暗号、ハッシュ、グループ）を両側で同じにしてください。
setup-do-identity = 対策: 事前共有鍵（または証明書）と ID を両側で合わせてください。何が合わないかは{ $who }のログにあります。
setup-do-address = 対策: { $who }のアドレスプールを広げるか、使われていない割り当てを解放してください。
setup-do-childless = 対策: { $who }のログで理由を調べてください。空きアドレスがない（INTERNAL_ADDRESS_FAILURE）か、ESP のプロポーザルやトラフィックセレクターが合っていません。IKE の鍵（--keys FILE）があればここに表示できます。
setup-do-child = 対策: ESP のプロポーザル、PFS グループ、トラフィックセレクターを両側で同じにしてください。
setup-do-way = 対策: UDP 500 と 4500 が{ $who }に届いているか、デーモンが動いているかを調べ、そちらでもキャプチャしてください。
setup-do-size = 対策: UDP 4500 とフラグメントが{ $who }に届いているか調べてください。このメッセージは前のものより大きくなっています（strongSwan: `fragmentation = yes`）。

## トンネル内の PPP のログインが拒否された場合

login-line = { $who }が PPP でユーザーのログインを拒否（{ $often ->
    [again] { $n } 回、最後は { $moment }
   *[once] { $moment }
}）
login-why = 原因: IPsec は動作しています。その中で{ $who }がユーザーのログインに { $notify } で応答し、その後のログインも受け付けていません。
login-do = 対策: ユーザー名とパスワード、{ $who }の PPP シークレットまたは RADIUS のアカウント（ロック、期限切れ、ダイヤルイン権限）、許可している認証方式（PAP、CHAP、MS-CHAPv2、EAP）を確認してください。IPsec や

## ESP が片方向だけで、IKE は双方向の場合

dialled-again-line = { $who }は遅くとも { $moment }から、新しい IKE SA を始めた { $anew }まで、おそらく応答を受信せず
dialled-again-why = 原因: キャプチャには{ $who }のパケットだけがあります。応答がないときのように生存確認を { $count } 回送り、{ $anew }に新しい IKE SA を要求しました。
do-dialled-again = 対策: { $peer }のログで、キャプチャ開始から { $moment }より前（再起動、SA の削除など）を調べ、{ $who }の DPD の間隔を短くし（strongSwan: `dpd_delay`）、両方向をキャプチャしてください。
no-return-line = { $to }から ESP が来ず: { $from }の { $packets } パケットに無応答
do-no-return = 対策: { $by ->
    [icv] ESP の認証アルゴリズムを変える（AES-GCM、HMAC-SHA1）か、{ $to }に 96 ビットを受け付けさせ（libreswan: `sha2-truncbug = yes`、strongSwan: ESP のプロポーザルに `sha256_96`）、{ $from }を更新してください。
    [ports] { $to }でこれらのパケットが復号されているか（ESP のカウンター、ログ）、返信がトンネルに入るか（経路、NAT の除外、ファイアウォール）を確認してください。
   *[nothing] { $to }の ESP（IP プロトコル 50）を通し、そちらでもキャプチャしてください。送信の有無が分かります。
}
two-tunnels-line = { $from }への返信は{ $known ->
    [proven] {" "}
   *[time] おそらく{" "}
}{ $peer } のトンネルを経由
do-two-tunnels = 対策: 2 本のトンネルで分担する設計なら、対策は不要です。そうでなければ両端の経路をそろえてください。片方のトンネルしか見えないファイアウォールは、このようなコネクションを破棄します。
elsewhere-line = { $peer }は { $from } に送り、{ $who }は { $to } から応答{ $probably }
elsewhere-line-port = { $peer }の宛先はポート { $asked }、{ $who }の ESP はポート { $own } から{ $probably }
elsewhere-why = 原因: { $peer }のパケットは { $from } 宛てで、返ってきた ESP や IKE の送信元は { $to } でした。NAT、ファイアウォール、または{ $peer }が、知らない相手のものとして破棄します。届いたかどうかはこのキャプチャでは分かりません。
elsewhere-why-port = 原因: { $peer }のパケットは IKE のポート { $from } 宛てで、ESP はポート { $own } から来ました。NAT が IKE と ESP に別のポートを割り当て、違うポート宛ての応答を破棄します。届いたかどうかはこのキャプチャでは分かりません。
silent-host-line = { $host } が無応答（トンネルを通った { $n } パケットに対して）
silent-host-why = 原因: { $host } に届いたか、応答がどこへ行ったかは、これらのパケットからは分かりません。同じトンネルでほかの通信には応答があり、トンネルは通っています。
silent-host-do = 対策: { $host } が動作しているか、戻りの経路とファイアウォールが{ $behind }を通るか、両端のポリシー（トラフィックセレクター）に { $host } が含まれるかを調べ、{ $behind }の内側でもキャプチャしてください。
turns-line = { $from } と { $to } が 1 つの SA を交互に使用: { $seconds }に新しい SA { $count } 個

## 片側が移動し、相手は古い宛先へ送り続けた

left-behind-line = { $who }の{ $what ->
    [port] ポート
   *[address] アドレス
}が { $moment }の時点で変化、{ $peer }は{ $followed ->
    [yes] {" "}{ $seconds }後に追従
   *[no] {" "}{ $seconds }たっても追従せず
}
left-behind-why = 原因: { $who }は { $from } から { $to } に移りましたが、{ $peer }のパケットは古い宛先へ送られ続け、失われたと思われます。

## 更新より先に削除、通信はわずか

torn-down-line = { $who }が更新より先に IKE SA を{ $at }削除: 各 { $seconds } SA なし
torn-down-by-another = { $clause }: 各 { $seconds } SA なし
torn-down-why = 原因: { $by ->
    [another] 相手側による
   *[itself] {""}
}次の IKE SA の要求は Delete の後でした（{ $list }）。通信が少なく、影響は測れません。

## トンネルを終える Delete の後にもデータが来て、キャプチャが終わる場合

cut-off-line = { $clause }、キャプチャはそこで終了
cut-off-why = 原因: その Delete の後にもデータが来ているので、転送は終わっていません。意図して閉じたかどうかは、これらのパケットからは分かりません。
do-cut-off = 対策: 意図して閉じたのでなければ、{ $who }のログでキャプチャ開始から { $moment }前後を調べ、より長くキャプチャしてください。トンネルが復旧するかどうかが分かります。

## 鍵がなく、リキーまで転送が止まっていた場合

standstill-line = { $direction }が { $from }から { $seconds }{ $until ->
    [rest] 停止（不通か休止かは不明）
    [renewal] 停止し、リキー（鍵更新）で再開
   *[ike] 停止し、新しい IKE SA で再開
}
standstill-why = 原因: 鍵がないと、送るデータが待っていたかどうか{ $until ->
    [rest] は
   *[renewal] （不通か休止か）は
}分かりません。
standstill-datagrams = 原因: リキーが終わるとすぐに UDP が再開しているため、古い SA で通信できなかったと思われます。送信側の休止の可能性も残ります。
standstill-checks = 原因: { $icmp ->
    [yes] { $who }が「ポート到達不能」（ICMP）を返し、
   *[no] {""}
}生存確認 { $checks } 回に応答がなかったため、休止ではなく不通と思われます。新しい IKE SA で回復しました。

## すべてのトンネルが同時に止まった場合

outage-all-line = { $n } 本のトンネルが { $moment } に一斉に停止、{ $open ->
    [yes] 以後 { $seconds } 不通のまま
   *[no] { $seconds } 不通
}
outage-all-why = 原因: すべてが同時に止まったので、共通する端{ $end }、その回線、またはその先の経路によるものです。
do-outage-all = 対策: 端{ $end } の回線とホストを調べ、その反対側でもキャプチャしてください。
slow-sa-line = { $from }から { $to }まで 1 つの SA だけ { $own }、他の SA は { $other }
slow-sa-why = 原因: SA { $spi } の最初のパケットからレートが落ち、次の SA の最初のパケットで戻ったため、遅いのは回線ではなくこの SA です。{ $delays ->
    [yes] 往復時間は { $delay }、他では { $usual } でした。
   *[no] {""}
}{ $direction }の遅れは { $lost } です。
do-slow-sa = 対策: { $who }がこの SA を他の SA のようにハードウェアで処理（オフロード）していない理由と、CPU の負荷を調べてください。それまではリキーでレートが戻ります。回線ではありません。

## 多くのパケットがキャプチャに届かなかった。$who: 送信側

path-loss-line = { $who }のパケットの { $share } がキャプチャに届かず
do-path-loss = 対策: { $who }とキャプチャ地点の間で、毎秒のパケット数やバイト数の制限（ポリサー、UDP フラッド対策）と、回線（インターフェースのエラー、デュプレックスの不一致、無線）を調べてください。{ $who }の送信量を減らすと損失が止まるかも確かめてください。

## 暗号化の前に失われたセグメント。$who: 「クライアント」または「ゲートウェイ」。他の引数: finding-lost-before-encryption

lost-before-line = { $transfer }のセグメントの { $share } 以上が暗号化前に損失、{ $whole } 中 { $seconds } の遅れ
lost-before-why = 原因: ESP で一度も来ていないセグメント { $lost } 個を TCP が再送し、ESP シーケンス番号は{ $esp ->
    [whole] {" "}1 つも欠けていません
   *[lossy] { $missing } 個しか欠けていません
}。損失は経路上ではなく、{ $who }かその内側のネットワークで起きています。{ $spared ->
    [yes] エコー要求 { $echoes } 個は 1 つも失われておらず、すべてのパケットが一様に破棄されているのではありません。
   *[no] {""}
}
do-lost-before = 対策: { $who }とその内側で、IPsec に渡る前に TCP を破棄するもの（MikroTik の FastTrack なら IPsec ポリシーの通信を対象外にする、あふれたキュー、不良ポート）を調べ、暗号化前の地点でもキャプチャしてください。
