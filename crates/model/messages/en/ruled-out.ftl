### What was seen instead of a cause, or why it could not be looked for (ruled_out.rs).

## Why nothing could be looked for

unseen-exchange = no exchange of a rekey was captured: capture UDP 500 and 4500 too
unseen-inner = without keys the inner packets cannot be seen
unseen-limit = it takes ESP keys and the limit that IKE negotiated, or inner TCP and the exchanges of the rekeys, to see that an SA passed its limit
unseen-negotiated-limit = it takes ESP keys and the limit that IKE negotiated to see that an SA passed it
unseen-deletes = no Delete could be read: that takes the IKE keys
unseen-tcp = the tunnel carried no TCP connection that would show it
no-occasion = it explains a loss, and no rekey is named as one that hurt

## What was seen instead

absent-hard-limit = when the exchanges began, at most { $used } of the kilobyte limit was used up, and no SA went past it
absent-hard-limit-unread = no SA went past a limit that the packets show (the limit itself was not read)
absent-responder-not-ready = no first data on a new SA had to be sent again
absent-initiator-not-ready = no first data on a new SA of a CREATE_CHILD_SA had to be sent again
absent-refused = none of the { $attempts } attempts was answered by an error
absent-unanswered = each of the { $attempts } attempts was answered after two requests at most
absent-limit-without-rekey = a new SA was asked for before any limit was passed
absent-break-before-make = no SA in use was deleted before a new one was asked for
absent-dpd = no check of the peer was asked three times in vain
absent-storm = of { $attempts } attempts, never three came in vain within the usual interval
absent-delete =
    { $deletes ->
        [0] no Delete could be read
        [one] one Delete could be read, and no loss followed it on the SA that it names
       *[other] { $deletes } Deletes could be read; none was followed by a loss on the SA that it names
    }
absent-asymmetric = each direction changes with its own first packet, here at most { $most } apart; none sent on its old SA later than a round trip and { $margin } after the other had changed
absent-asymmetric-one-way = only one direction changed to a new SA: the other carried nothing
absent-retransmitted =
    { $exchanges ->
        [one] { $messages } messages in one exchange, none of them twice
       *[other] { $messages } messages in { $exchanges } exchanges, none of them twice
    }
absent-collision-one-side = one side of each tunnel began all exchanges
absent-collision-both-sides = both sides began exchanges, but no two of them overlap
absent-slow-exchange = the longest exchange of a rekey took { $longest }, its computations no more than a round trip and 200 ms
absent-phase1 =
    { $count ->
        [0] no phase-1 exchange is in the capture
        [one] the one phase-1 exchange in the capture is not in the ten seconds before a rekey while its old SA was in use
       *[other] { $count } phase-1 exchanges are in the capture, none in the ten seconds before a rekey while its old SA was in use
    }
absent-fragmentation-suite = all SAs use { $suite }; the share of fragments did not rise at a switch
absent-fragmentation = neither transform nor encapsulation nor the share of fragments changed at a switch
absent-nat = no UDP port of ESP changed within a direction
absent-nat-elsewhere =
    { $count ->
        [one] no UDP port of ESP changed around a rekey; elsewhere one did ({ $from } became { $to } at frame { $frame })
       *[other] no UDP port of ESP changed around a rekey; elsewhere { $count } times one did (first { $from } became { $to } at frame { $frame })
    }
absent-ppp = around the rekeys no StopCCN, CDN, LCP Terminate, Protocol-Reject or new Configure-Request; no Hello without an answer
absent-desync = around the rekeys no INVALID-SPI notification and no L2TP in clear between the ends
absent-capture-artefact = { $missing } ESP numbers are missing in the whole capture, none of them where a rekey hurt and the peer acknowledged the data
absent-capture-artefact-none = no ESP number is missing in the whole capture
absent-replay-none = no packet came after a higher ESP number in the whole capture
absent-replay = { $late } packets came after a higher ESP number in the whole capture, too few or not late enough around the rekeys that hurt
absent-slow-path = the rate did not stay below 0.7 of what it was before without a loss
absent-rto = no data rested and was then sent again; { $again } of { $bytes } TCP bytes in the whole capture are retransmissions
absent-application = no pause began with everything acknowledged and ended with new data
