### What makes a side renew (rekey/rule).

## What is counted

rule-counting = { $what ->
    [inner] decrypted payload
    [esp] ESP bytes
    [outer] outer bytes
   *[packets] packets
} of { $side ->
    [inbound] the inbound SA
    [outbound] the outbound SA
    [b-to-a] the SA to the client
    [a-to-b] the SA to the gateway
   *[both] both directions
}
trigger-expiring = { $what ->
    [inner] inner bytes
   *[esp] ESP bytes (no key)
} of the expiring { $side ->
    [inbound] inbound
    [outbound] outbound
    [a-to-b] gateway's inbound
   *[b-to-a] client's inbound
} SA, kB = 1000
trigger-as-the-rule = { $counting }, kB = { $kilobyte }
rule-age = age
rule-one-side = One side (which one is not captured)
rule-rekeys = { $count ->
    [one] one rekey
   *[other] { $count } rekeys
}

## Rules

rule-no-start = { $who } renews, but no SA that ends here was captured from its start, so its rule is unknown.
rule-volume = { $who } renews at { $fraction } of { $limit }, counting { $counting }: a soft limit of about { $soft }, seen { $seen } full at the first message of { $rekeys }, which comes a little later.
rule-volume-unlimited = { $who } renews at about { $soft }, counting { $counting } (over { $rekeys }; no limit in kilobytes could be read).
rule-volume-at-most = { $who } renews at { $soft } or less, counting { $counting } (over { $rekeys }; no first message was captured, and the volume then was smaller).
rule-volume-far-below = { $who } renews at about { $soft }, counting { $counting } (over { $rekeys }), far below the limit of { $limit }.
rule-volume-uncounted = { $who } renews by volume, in a counting that the capture does not show.
rule-kilobyte = A kilobyte is { $bytes } bytes here.
rule-kilobyte-assumed = A kilobyte is taken as 1,000 bytes; were it 1,024, the fraction would be { $fraction }.
rule-limit-stated = IKE is encrypted in this capture: the lifetime is what { $source } states.
rule-packets = { $who } renews after { $packets } { $counting } (over { $rekeys }).
rule-time = { $who } renews when the SAs are { $age } old, { $fraction } of { $limit } (over { $rekeys }).
rule-time-at-most = { $who } renews when the SAs are { $age } old or younger (over { $rekeys }; no first message was captured).
rule-time-unlimited = { $who } renews when the SAs are { $age } old (over { $rekeys }; no limit in seconds could be read).
rule-time-far-below = { $who } renews when the SAs are { $age } old (over { $rekeys }), long before the limit of { $limit }.
rule-unknown = { $who } renews at a limit that is unknown: volume or time, because over { $rekeys } neither varies clearly less than the other.
rule-unknown-once = { $who } renews at a limit that is unknown: one rekey was seen ({ $least-volume }, { $least-age }).
rule-unknown-ranges = { $who } renews at a limit that is unknown: volume or time, because over { $rekeys } neither varies clearly less than the other ({ $least-volume } to { $most-volume } and { $least-age } to { $most-age }).
# $kind is an identifier of the document: time, packets, reauthentication or collision.
rule-kind = { $who } renews by { $kind }.

## Countings that cannot be told apart

rule-alike = This counting is the usual one; { $names } vary no more here (their ratio to it is nearly constant), so which of them it is the capture cannot tell.
rule-too-few = { $count ->
    [one] One rekey
   *[other] { $count } rekeys
} cannot tell this counting from others ({ $others }).
rule-names = { $listed }, { $name }
rule-more = { $count } more
