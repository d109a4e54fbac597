### 種類ごとに数えた特異な事象（diagnostic.rs とその呼び出し元）。

## プロトコル名だけではない層の名前

layer-l2tp-in-clear = 暗号化されていない L2TP
layer-udp-4500 = ESP でも IKE でもない UDP 4500
layer-esp-spi-0 = SPI が 0 の ESP
layer-ip-in-ip = IP カプセル化された IP
layer-mpls-in-ip = IP カプセル化された MPLS
layer-no-next-header = 次ヘッダーのない IPv6
layer-another-protocol = その他の IP プロトコル
layer-another-ethertype = その他の EtherType
layer-flow-control = Ethernet フロー制御
layer-loopback-test = Ethernet ループバック試験
layer-pppoe-discovery = PPPoE ディスカバリー
layer-ppp-compression = PPP 圧縮または MPPE
layer-ipcomp-whole = IPComp（ペイロード全体が必要）
layer-too-many-tags = VLAN タグが多すぎるスタック
layer-too-many-labels = MPLS ラベルが多すぎるスタック
layer-too-deep = 深すぎる入れ子
layer-mpls-payload = MPLS のペイロード
layer-snap = ベンダー独自の SNAP プロトコル
layer-pppoe-version = 未知のバージョンの PPPoE
layer-another-ppp = その他の PPP プロトコル
layer-another-family = その他のアドレスファミリー
layer-capture-header = 未知の種類のキャプチャヘッダー
layer-radiotap-version = 未知のバージョンの radiotap
layer-wifi-management = 802.11 管理フレーム
layer-wifi-control = 802.11 制御フレーム
layer-wifi-extension = 802.11 拡張フレーム
layer-wifi-empty = 内容のない 802.11 データ
layer-wifi-encrypted = 暗号化された 802.11 データ
layer-ppp-network-control = PPP ネットワーク制御
layer-ppp-link-control = PPP リンク制御
layer-ppp-authentication = PPP 認証
layer-ppp-bridging = PPP ブリッジング
layer-ppp-encryption = PPP 暗号化
layer-ppp-van-jacobson = PPP Van Jacobson 圧縮
layer-gre-keepalive = GRE キープアライブ
layer-gre-routing = GRE ソースルーティング
layer-pptp-acknowledgement = PPTP 確認応答
layer-dummy = 次ヘッダーなし（ダミーパケット）

## ファイル

oddity-cut-file = データが { $bytes } バイト目の後、レコードの途中で終わっています。{ $kept }。書き込み中またはコピー中だった場合は、完了してから取り直してください
oddity-appended = 同じファイルまたはストリームの途中から別のキャプチャが始まります（連結やローテーションによる）。そのヘッダーに従って続きを読みました
oddity-kept-none = それより前にパケットはありません
oddity-kept = それより前の { $packets } 個のパケットは読み取りました
oddity-no-packet = Wireshark がフレームとして表示するブロックに、パケットが含まれていません（ジャーナル、カスタムブロック、システムコール）
oddity-interfaces = 一つのセクションに { $most } 個を超えるインターフェースが記述されています。それ以降のインターフェースのパケットは除いてあります
oddity-no-time = シンプルパケットブロックには時刻がないため、直前のパケットの時刻を使います。時刻が重要な場合は、元のキャプチャから変換してください
oddity-unknown-interface = ファイルに記述のないインターフェースを指すパケットがあります。リンク種別が不明なため除いてあります
oddity-cut-packets = スナップ長で切られたパケットです（このパケットは { $bytes } バイトまで）。回線上の長さは数えていますが、検証も復号もできません。tcpdump -s 0 でキャプチャし直してください
oddity-bad-secrets = 長さの値が実際より大きい Decryption Secrets Block があり（最初は { $block } 番）、その中の鍵は使っていません
oddity-too-many-secrets = キャプチャの中の鍵が、一つのキャプチャから読む上限（Decryption Secrets Block { $blocks } 個、{ $megabytes } MB）を超えているため、残りは使っていません。--keys で指定してください
oddity-late-secrets = パイプは一度しか読めないため、パケットの間にある鍵は使っていません。キャプチャをファイルに保存してから解析してください
oddity-files-not-read = このキャプチャを構成するファイルのうち { $files } 個を読めず、そのパケットが欠けています
oddity-key-file = キャプチャの隣にある鍵ファイルを読めないため、使っていません

## フレーム

oddity-malformed = { $layer }: オフセット { $offset } に { $required } バイト必要ですが、{ $available } バイトしかありません
oddity-ip-longer = IP パケットの長さが、回線上のフレームより大きくなっています。切られたパケットとして扱います
oddity-udp-longer = UDP ヘッダーの長さが、IP パケットの中身より大きくなっています。IP の長さを採用します
oddity-cut-header = パケットが { $layer } ヘッダーの途中でスナップ長により切られています。スナップ長を大きくしてキャプチャしてください
oddity-link-type = リンク種別 { $type } のフレームはデコードしません
oddity-not-ip = IP ではなく { $name } です。数えるだけで、解析対象外
oddity-not-ipsec = IKE でも ESP でもないパケット（{ $name }）です。解析対象外
oddity-fragment-impossible = 位置または長さがあり得ないフラグメントです
oddity-fragment-behind = データグラムの終わりより後ろにあるフラグメントです
oddity-fragment-twice = すでに届いているフラグメントです。キャプチャ地点で同じパケットが二度見えています
oddity-fragment-overlaps = 先に届いたフラグメントと重なっています。先のものを採用します
oddity-fragment-replaces = 先に届いたフラグメントと同じ位置にあり、内容が異なります。識別子が一巡したものとして、後のものを採用します
oddity-fragments-too-many = フラグメントが多すぎるデータグラムは再構成しません
oddity-fragments-missing = このデータグラムのフラグメントがキャプチャに揃っていません。運んでいた内容は解析されません
oddity-duplicate = 同じパケット（{ $name }）が二度以上キャプチャされています（ミラーポートの両側、複数のインターフェース、同じファイルの重複など）。それぞれ 1 回として数えます
oddity-ah = 認証ヘッダーだけで保護されたパケット（RFC 4302）です。中身は暗号化されていません。ICV は検証しません
oddity-keepalive = NAT キープアライブ（RFC 3948 §2.3）です。両端の間に NAT があります
oddity-stream-lost = ESP を運ぶ TCP ストリームにキャプチャの欠落があり、その中のパケットが欠けています

## IKE

oddity-unprotected-delete = 暗号化されていない Delete ペイロードが届きました。信用しません（RFC 2408 §3.15）
oddity-ike-version = IKE のバージョン { $version } は未知のため、このメッセージは読みません
oddity-ike-sas = IKE SA が { $most } 個を超えています。それ以降のものは一覧に載せません
oddity-exchanges = 鍵交換が { $most } 回を超えています。それ以降のものは一覧に載せません
oddity-ike-fragment-dropped = 組み立てられなかった IKE フラグメントです。メッセージが { $pieces } 個または { $bytes } バイトを超えるか、残りのフラグメントを待つメッセージが多すぎるか、送信側の次のメッセージが先に届きました
oddity-cut-message = IKE メッセージがキャプチャされた長さより長くなっています。スナップ長を大きくしてください
oddity-exchange-type = IKEv{ $version } の交換タイプ { $type }（{ $name }）は、数えるだけでデコードしません

## ESP と鍵

oddity-esp-too-short = ヘッダー全体が揃っていない ESP パケットです（スナップ長で切られたか、破損しています）
oddity-not-opened = ICV は正しいのに、復号してもトレーラーが妥当にならないパケットです。暗号鍵が間違っています
oddity-not-decoded-inside = 復号したパケットを { $name } までたどりました。それより内側はペイロードとして数えます
oddity-nested = ESP の中の IKE と ESP のパケットです。独立したトンネルとして解析し、バイト数は最も内側のフローでだけ数えます
oddity-closed-around = 選んだトンネルを運ぶ SA に、復号できないパケットがあります。その中にあったものはこの解析に含まれません。足りない鍵は、トンネルを選ばずに作ったレポートで分かります
oddity-one-packet-proof = パケットが 1 個だけの SA です。暗号鍵が正しいという根拠はこの 1 個だけです（間違った鍵が通るのは 1,000 回に 1 回未満です）
oddity-too-few-packets = 認証鍵は合っていますが、暗号鍵を証明するにはパケットが足りない SA です。同じようなパケットが { $packets } 個あれば足ります
oddity-half-a-key = 認証鍵は合っていますが（ICV が一致）、鍵ファイルのどの暗号鍵でもパケットを開けない SA です
oddity-wrong-key = SA を名指ししているのに、そのパケットのどれにも合わない鍵です（最初の場所：{ $place }）。別の鍵は合っています。ログに間違った鍵が入っています
oddity-mining = ラベルのない鍵を { $trials } 回の試行で探しました（SA のパケットごとに最大 { $most } 回）
oddity-mining-gave-up = ラベルのない鍵を { $trials } 回の試行で探しましたが（SA のパケットごとに最大 { $most } 回）、鍵ファイルの全バイトをすべての SA に対して試してはいません。キャプチャの時刻の前後だけを切り出した、短いログを渡してください

## 解析そのもの

oddity-too-many = 保持できる数を超えるトンネルまたは SA があります。それ以降のパケットは解析しません。先にアドレスでキャプチャを絞り込んでください
oddity-forgot-packets = 重複の判定のために記憶できる数を超えるパケットがあります。同じパケットが離れた位置に二度あると、二度数えます
oddity-no-series = 時間推移を測れる数を超えるトンネルがあります。アドレスのキャプチャフィルターで絞り込んでください
oddity-decoding-died = デコードに失敗し、ひとまとまりのパケットが失われました。ご報告ください
oddity-close-up-shortened = { $rekeys } 回のリキーは前後のパケットが多すぎるか間隔が短すぎるため、拡大図に使ったのはその一部だけです
oddity-close-up-left-out = { $rekeys } 回のリキーは保持できる数を超えるため、拡大図がありません
oddity-stretches-left-out = 何も届かなかった区間のうち { $stretches } 個は保持できる数を超えるため、その中の不通は示していません
oddity-events-left-out = イベントは最初の { $most } 件だけを載せ、残る { $events } 件を省きます
oddity-silences-left-out = 停止が保持できる数を { $silences } 超えています。その中の休止では転送を分けません
