//! Sums of products.

/// Σ aᵢ·bᵢ over the shorter of both, in lanes that the compiler makes vectors of.
// Loops rather than adapters: where those are not inlined, as in the build of the tests, nothing becomes a vector.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f64 {
    const LANES: usize = 16;
    let n = a.len().min(b.len());
    let ((a, rest_a), (b, rest_b)) = (a[..n].as_chunks::<LANES>(), b[..n].as_chunks::<LANES>());
    let mut lanes = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for k in 0..LANES {
            lanes[k] += a[k] * b[k];
        }
    }
    let mut sum = 0.0;
    for (a, b) in rest_a.iter().zip(rest_b) {
        sum += f64::from(a * b);
    }
    for lane in lanes {
        sum += f64::from(lane);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_summed_whatever_their_number() {
        for n in [0, 1, 15, 16, 17, 40] {
            let a: Vec<f32> = (0..n).map(|k| k as f32).collect();
            let b = vec![2.0; n + 3];
            let expected: f64 = (0..n).map(|k| 2.0 * k as f64).sum();
            assert_eq!(dot(&a, &b), expected);
        }
    }
}
