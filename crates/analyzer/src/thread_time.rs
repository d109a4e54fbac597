//! CPU time of a thread, for measurements in the tests: other load on the machine does not count. Linux only.

/// Nanoseconds that this thread has run. The kernel counts in ticks of some milliseconds: a measurement has to be longer.
pub(crate) fn thread_nanos() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split_whitespace().next().unwrap().parse().unwrap()
}

/// Runs `work` over `items` things, each of which it may look at a few times, but not at all the others for each: that would
/// be 100,000 × 10 ns, a millisecond per item, where a single pass takes under a microsecond without optimisation.
pub(crate) fn assert_linear(items: usize, work: impl FnOnce()) {
    const MOST_PER_ITEM: u64 = 20_000;
    assert!(items >= 100_000, "too few to tell");
    let start = thread_nanos();
    work();
    let nanos = (thread_nanos() - start) / items as u64;
    assert!(nanos <= MOST_PER_ITEM, "{nanos} ns per item");
}

/// Repeats `work` for half a second of CPU time, a hundred ticks, and says how many nanoseconds it really was.
pub(crate) fn thread_nanos_of(mut work: impl FnMut()) -> u64 {
    let start = thread_nanos();
    loop {
        work();
        let nanos = thread_nanos() - start;
        if nanos > 500_000_000 {
            return nanos;
        }
    }
}
