//! Clouds of points and the lines below and above them.

/// A packet seen at both points: when it was seen here, and how much later there; seconds from a common origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lag {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// The lower hull of a cloud, and its mean.
#[derive(Debug, Clone)]
pub(crate) struct LowerHull {
    corners: Vec<Lag>,
    mean: Lag,
}

impl LowerHull {
    /// `None` of no points. The points are sorted.
    pub(crate) fn of(points: &mut [Lag]) -> Option<LowerHull> {
        if points.is_empty() {
            return None;
        }
        points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        let n = points.len() as f64;
        let mean = Lag {
            x: points.iter().map(|p| p.x / n).sum(),
            y: points.iter().map(|p| p.y / n).sum(),
        };
        let mut corners: Vec<Lag> = Vec::new();
        for &p in points.iter() {
            while let [.., a, b] = corners.as_slice()
                && (b.x - a.x) * (p.y - a.y) <= (b.y - a.y) * (p.x - a.x)
            {
                corners.pop();
            }
            // Of points at one time the lowest counts.
            if corners.last().is_none_or(|last| p.x > last.x) {
                corners.push(p);
            }
        }
        Some(LowerHull { corners, mean })
    }

    /// Where the highest line of this slope that lies below all points crosses x = 0.
    pub(crate) fn height(&self, slope: f64) -> f64 {
        let rises = |pair: &[Lag]| match pair {
            [a, b] => (b.y - a.y) < slope * (b.x - a.x),
            _ => false,
        };
        // The slopes of the edges grow along the hull: the line touches it where they pass its own.
        let (mut low, mut high) = (0, self.corners.len().saturating_sub(1));
        while low < high {
            let middle = low.midpoint(high);
            if self.corners.get(middle..middle + 2).is_some_and(rises) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.corners.get(low).map_or(0.0, |p| p.y - slope * p.x)
    }

    /// How far the points lie above that line on average.
    pub(crate) fn distance(&self, slope: f64) -> f64 {
        self.mean.y - slope * self.mean.x - self.height(slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_line_lies_below_all_points_and_touches_one(
            points in prop::collection::vec((0.0..100.0f64, -1.0..1.0f64), 1..60),
            slope in -0.1..0.1f64,
        ) {
            let mut points: Vec<Lag> = points.into_iter().map(|(x, y)| Lag { x, y }).collect();
            let hull = LowerHull::of(&mut points).unwrap();
            let height = hull.height(slope);
            let least = points.iter().map(|p| p.y - slope * p.x).fold(f64::INFINITY, f64::min);
            prop_assert!((height - least).abs() < 1e-9, "{height} {least}");
        }
    }

    /// A line of slope 0 lies at the lowest point, one of slope 1 at the last one.
    #[test]
    fn the_distance_is_the_mean_above_the_line() {
        let mut points = [(0.0, 1.0), (1.0, 4.0), (2.0, 1.0), (5.0, 2.0)].map(|(x, y)| Lag { x, y });
        let hull = LowerHull::of(&mut points).unwrap();
        assert_eq!((hull.height(0.0), hull.distance(0.0)), (1.0, 1.0));
        assert_eq!((hull.height(1.0), hull.distance(1.0)), (-3.0, 3.0));
    }
}
