### The verdict and the arithmetic bound (impact/sentence.rs).

arithmetic-none = No rekey lies within a transfer, so there is nothing to bound.
arithmetic-reference = To bring { $reference } down to { $observed } by rekeys alone, each rekey would have to waste { $waste }.
arithmetic-example = With a rekey every { $interval } ({ $volume }), each { $stall } of stall per rekey costs { $cost }.
arithmetic-halve = With a rekey every { $interval } ({ $volume }), each { $stall } of stall per rekey costs { $cost } of the { $observed } seen; to halve a rate, each rekey would have to waste half of that time, { $half }.
