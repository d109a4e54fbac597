### Series from elsewhere: iperf3, samples (overlay).

overlay-few =
    { $count ->
        [0] It has no value.
        [one] It has { $n } value: what a rekey did to it shows from three on, one before, one at and one after the rekey.
       *[other] It has { $n } values: what a rekey did to it shows from three on, one before, one at and one after the rekey.
    }
overlay-clock = Its clock: { $offset } were added to its own times (cross-correlation { $correlation } with the packets, in steps of { $step }; no better than its interval of { $interval }). iperf3 writes its start in whole seconds, so that up to 1 s of that is no difference of the clocks.
overlay-clock-unlike = Its clock could not be found: its rates do not follow those of the packets (cross-correlation { $correlation }). It is drawn at its own times.
overlay-clock-several = Its clock could not be found: several places fit as well (cross-correlation { $correlation }). It is drawn at its own times.
overlay-clock-too-little = Its clock could not be found: there is too little of it, or of the packet record, to compare. It is drawn at its own times.
overlay-comparison = iperf3: mean { $mean }, standard deviation { $sd } over { $intervals } intervals; the packets over the same intervals: { $packets-mean } and { $packets-sd }, and { $bins-sd } over bins of { $bin }.
overlay-rows-fine = Its rows of { $row } are short enough to show a silence of { $stall }; rows of 1 s would not: it takes { $share } from one of them, or parts of that from two.
overlay-rows-coarse = Its rows of { $row } cannot show a silence of { $stall }: it takes { $share } from one row, or parts of that from two. The packets can (bins of 10 ms).
overlay-rows-coarse-and-scattered = Its rows of { $row } cannot show a silence of { $stall }: it takes { $share } from one row, or parts of that from two, and its rows scatter by { $scatter } anyway. The packets can (bins of 10 ms).
overlay-counts-at-sender = iperf3 counts here what its sender handed to the socket, which the socket's buffer lets run ahead of the packets: add --get-server-output or measure with -R to count at the receiver.
overlay-no-rekey = It covers no rekey of this capture: check the file and the clocks of the two machines.
overlay-shortened = Only the first { $kept } of its { $total } values are kept.
overlay-bad-rows = { $rows } rows are no time and number and were left out, row { $first } first.
