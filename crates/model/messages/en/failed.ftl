### What failed (impact/tell/failed.rs), the attempts, and the outages.

failed-refused = A rekey failed at { $time }: { $who } asked { $requests ->
    [one] once
   *[other] { $requests } times
}, and the answer was { $reason }; { $outage }.
failed-unanswered = A rekey failed at { $time }: { $requests ->
    [one] one request
   *[other] { $requests } requests
}, no answer; { $outage }.
failed-late = A rekey nearly failed at { $time }: { $requests ->
    [one] one request
   *[other] { $requests } requests
} in { $wait } until the first answer; { $outage }.
failed-limit = An SA passed its limit at { $time }, and nobody asked for a new one; { $outage }.
failed-break = The SAs were deleted at { $time }, and new ones were negotiated only afterwards; { $outage }.
failed-blackhole = An SA died unnoticed at { $time }: what { $from } sent went out again and again, and nothing was acknowledged; { $outage }.
failed-check = The peer stopped answering at { $time }; { $outage }.
failed-in-all = { $failed } of { $attempts } attempts to renew SAs failed.

## Parts of them

# $who of failed-refused
failed-someone = the initiator
# $reason of failed-refused
failed-short-answer = one that makes no SA (its reason cannot be read)
# $outage
failed-no-outage = no outage is seen in this capture
failed-outage-open = nothing passed for { $seconds } or more
failed-outage-new-sa = nothing passed for { $seconds }, until a new SA carried data
failed-outage-new-ike-sa = nothing passed for { $seconds }, until a new IKE SA stood
failed-outage-old-sa = nothing passed for { $seconds }

## The table of attempts, the list of outages

outcome-completed = completed
outcome-completed-unused = completed, never used
outcome-refused = refused
outcome-unanswered = no answer
outcome-superseded = superseded by the other side's
outcome-cut = cut off by the end of the capture
outcome-limit-without-attempt = limit passed, nobody asked
outcome-break-before-make = deleted first, then negotiated
outcome-because = { $what }: { $reason }
reason-peer-silent = the other side sent nothing else either
reason-peer-sends-esp = the other side went on sending ESP
reason-volume = volume
reason-seconds = time
outage-or-more = { $seconds } or more
outage-item = { $direction }: nothing passed from { $from } s on for { $length }; { $end }.
outage-end-new-sa = a new SA ended that
outage-end-new-ike-sa = a new IKE SA ended that
outage-end-old-sa = the old SA carried data again
outage-end-capture = the capture ends before it does
left-out-attempts = { $n } more attempts are in the JSON.
