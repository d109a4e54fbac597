### What every part of a report uses.

list-comma = {", "}
list-and = {" and "}

report-title = What did the rekeys cost?
report-title-failure = What went wrong in this tunnel?
