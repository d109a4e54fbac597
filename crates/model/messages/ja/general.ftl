### レポート全体で使う語句。

list-comma = 、
list-and = 、

report-title = リキーでどれだけ遅くなったか
report-title-failure = このトンネルで何が起きたか
