//! ESP numbers of one SA that step back: their sender goes on with an old counter (RFC 4303 §2.2 wants each number once).

use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::Timestamp;

/// Numbers of the largest replay window that receivers have by default (Cisco and Juniper: 64; strongSwan: 32).
const REPLAY_WINDOW: u64 = 64;

/// Packets whose numbers other packets of the SA had, from a step back up to the highest number before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepBack {
    /// The highest number before.
    pub from: u64,
    /// The number of the first packet behind the step.
    pub to: u64,
    /// Time and frame of that packet.
    pub begin: (Timestamp, u64),
    /// Time of the last packet that came before a number above `from`.
    pub last: Timestamp,
    /// Time and frame of the first number above `from`; `None` where none came.
    pub until: Option<(Timestamp, u64)>,
    /// Number of packets between.
    pub packets: u64,
    /// Packets among them under a number that another one had.
    used: u64,
    /// Highest number among them.
    reached: u64,
    /// A new SA under an old SPI begins with its first numbers, too.
    anew: bool,
}

/// The steps of one SA, in boxes: few SAs have any.
#[derive(Debug, Clone, Default)]
pub struct StepsBack {
    now: Option<Box<StepBack>>,
    longest: Option<Box<StepBack>>,
}

impl StepsBack {
    /// Takes the number of a packet that the capture did not hold before; `used`: another packet had it. `highest` of those before, and
    /// whether the packet is proven to be of this SA. A number below the `first` one of the SA in the capture was used before the capture: no path
    /// holds a packet for as long as a window of others takes.
    pub fn take(
        &mut self,
        number: u64,
        used: bool,
        (first, highest, proven): (u64, u64, bool),
        seen: (Timestamp, u64),
    ) {
        let used = used || number < first && highest - first >= REPLAY_WINDOW;
        let Some(step) = &mut self.now else {
            let begin = || StepBack {
                from: highest,
                to: number,
                begin: seen,
                last: seen.0,
                until: None,
                packets: 1,
                used: 1,
                reached: number,
                anew: number <= LEAST_NOT_BY_CHANCE && !proven,
            };
            self.now = (used && number < highest).then(|| Box::new(begin()));
            return;
        };
        if number > step.from {
            step.until = Some(seen);
            self.longest = self.longest().map(Box::new);
            self.now = None;
            return;
        }
        step.packets += 1;
        step.used += u64::from(used && number > step.reached);
        step.reached = step.reached.max(number);
        step.last = seen.0;
    }

    /// The step with most packets. Packets that overtook each other have numbers of their own; one or two that were damaged have not.
    pub fn longest(&self) -> Option<StepBack> {
        let all = self.longest.iter().chain(&self.now);
        all.filter(|step| step.used >= LEAST_NOT_BY_CHANCE && !step.anew)
            .max_by_key(|step| step.packets)
            .map(|step| **step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes numbers in this order, each a new packet.
    fn taken(numbers: impl IntoIterator<Item = u64>, proven: bool) -> Option<StepBack> {
        let (mut steps, mut seen, mut highest) = (StepsBack::default(), Vec::new(), 0);
        for (place, number) in numbers.into_iter().enumerate() {
            let at = (Timestamp(place as i64), place as u64);
            let first = *seen.first().unwrap_or(&number);
            steps.take(number, seen.contains(&number), (first, highest, proven), at);
            seen.push(number);
            highest = highest.max(number);
        }
        steps.longest()
    }

    #[test]
    fn a_counter_that_was_restored_comes_up_to_its_old_number() {
        let step = taken((1..=961).chain(262..=970), false).unwrap();
        assert_eq!((step.from, step.to, step.packets), (961, 262, 700));
        assert_eq!((step.begin.1, step.until), (961, Some((Timestamp(1661), 1661))));
        // The capture lacks some of either run, and ends before the old number is reached.
        let lacking = (1..=961).chain(262..=900).filter(|number| number % 7 != 0);
        let step = taken(lacking, false).unwrap();
        assert_eq!((step.from, step.to, step.until), (961, 262, None));
    }

    /// The numbers that come again were sent before the capture.
    #[test]
    fn a_counter_that_was_restored_to_before_the_capture() {
        let step = taken((5_000..=5_400).chain(3_000..=3_100), false).unwrap();
        assert_eq!((step.from, step.to, step.packets), (5_400, 3_000, 101));
        let just_begun = taken((5_000..=5_040).chain(4_900..=4_999), false);
        assert_eq!(just_begun, None);
        let two_late = taken((5_000..=5_400).chain([4_998, 4_999]).chain(5_401..=5_500), false);
        assert_eq!(two_late, None);
    }

    #[test]
    fn reordering_copies_and_new_sas_are_no_step_back() {
        let late = (1..=500).chain(700..=900).chain(501..=699).chain(901..=950);
        assert_eq!(taken(late, false), None);
        let damaged = (1..=500).chain([400, 401]).chain(501..=600);
        assert_eq!(taken(damaged, false), None);
        // Copies with other bytes, each some packets behind its original.
        let copies = (41..500).flat_map(|number| [number, number - 40]);
        assert_eq!(taken((1..=40).chain(copies), false), None);
        let anew = || (1..=500).chain(1..=600);
        assert_eq!(taken(anew(), false), None);
        assert_eq!(taken(anew(), true).map(|step| step.to), Some(1));
        // Extended numbers go on above 32 bits.
        assert_eq!(taken((1 << 32) - 100..(1 << 32) + 100, true), None);
    }
}
