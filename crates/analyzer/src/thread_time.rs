//! CPU time of a thread, for measurements in the tests: other load on the machine does not count. Linux only.

/// Nanoseconds that this thread has run. The kernel counts in ticks of some milliseconds: a measurement has to be longer.
pub(crate) fn thread_nanos() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split_whitespace().next().unwrap().parse().unwrap()
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
