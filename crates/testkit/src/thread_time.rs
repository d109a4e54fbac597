//! CPU time of a thread, for measurements in the tests: other load on the machine does not count. Linux only.

use std::sync::OnceLock;

/// Nanoseconds that this thread has run. The kernel counts in ticks of some milliseconds: a measurement has to be longer.
pub fn thread_nanos() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split_whitespace().next().unwrap().parse().unwrap()
}

/// Runs `work` over `items` things, each of which it may look at a few times, but not at all the others for each. No time is
/// promised: an item may take half of what this machine takes to look at 100,000 numbers, some 20 µs, where the work for a
/// single item takes under a microsecond, and a look at all the others more than 50 µs.
pub fn assert_linear(items: usize, work: impl FnOnce()) {
    static LOOKS: OnceLock<u64> = OnceLock::new();
    let most = LOOKS.get_or_init(nanos_of_100_000_looks) / 2;
    assert!(items >= 100_000, "too few to tell");
    let start = thread_nanos();
    work();
    let nanos = (thread_nanos() - start) / items as u64;
    assert!(nanos <= most, "{nanos} ns per item, more than {most}");
}

fn nanos_of_100_000_looks() -> u64 {
    let numbers: Vec<u64> = (0..100_000).collect();
    let mut rounds = 0;
    let nanos = thread_nanos_of(|| {
        rounds += 1;
        for number in &numbers {
            std::hint::black_box(number);
        }
    });
    nanos / rounds
}

/// Repeats `work` for half a second of CPU time, a hundred ticks, and says how many nanoseconds it really was.
pub fn thread_nanos_of(mut work: impl FnMut()) -> u64 {
    let start = thread_nanos();
    loop {
        work();
        let nanos = thread_nanos() - start;
        if nanos > 500_000_000 {
            return nanos;
        }
    }
}
