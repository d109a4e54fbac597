### The table of attempts, and the list of outages.

outcome-completed = completed
outcome-completed-unused = completed, never used
outcome-refused = refused
outcome-unanswered = no answer
outcome-superseded = superseded by the other side's
outcome-cut = cut off by the end of the capture or of the IKE SA
outcome-because = { $what }: { $reason }
reason-peer-silent = the other side sent nothing else either
reason-peer-sends-esp = the other side went on sending ESP
outage-or-more = { $seconds } or more
outage-item = { $direction }: nothing passed from { $from } s on for { $length }; { $end }.
outage-end-new-sa = a new SA ended that
outage-end-new-ike-sa = a new IKE SA ended that
outage-end-old-sa = the old SA carried data again
outage-end-end = the capture ends before it does
left-out-attempts = { $n } more attempts are in the JSON.
