//! Running sums of lines that lie beside each other, against sums in integers, which are exact.

use super::{Cases, f32s};

/// Running sums along the middle axis of `[outer, steps, lines]`.
fn sums(x: &[f32], [steps, lines]: [usize; 2], exclusive: bool, reverse: bool) -> Vec<f32> {
    let mut out = vec![0.0; x.len()];
    for first in (0..x.len()).step_by(steps * lines) {
        for line in 0..lines {
            let mut sum = 0.0;
            for step in 0..steps {
                let step = if reverse { steps - 1 - step } else { step };
                let at = first + step * lines + line;
                out[at] = if exclusive { sum } else { sum + x[at] };
                sum += x[at];
            }
        }
    }
    out
}

#[test]
fn running_sums_beside_each_other() {
    let mut cases = Cases::default();
    // Whole vectors, and numbers of lines that they do not divide.
    for lines in [64, 70, 127] {
        let shape = [2, 5, lines];
        let x: Vec<f32> = (0..10 * lines)
            .map(|i| (i * 7 % 23) as f32 - 11.0)
            .collect();
        let input = f32s(&shape, &x);
        for (exclusive, reverse) in [(false, false), (true, false), (false, true), (true, true)] {
            let expected = f32s(&shape, &sums(&x, [5, lines], exclusive, reverse));
            let flip = |x: &str| match reverse {
                true => format!("R.flip({x}, axis=1)"),
                false => x.to_owned(),
            };
            let exclusive = if exclusive { "True" } else { "False" };
            let call = format!("R.cumsum({}, axis=1, exclusive={exclusive})", flip("x"));
            cases
                .case(&flip(&call), &[("x", &input)], &[expected])
                .terms(5);
        }
    }
    cases.run();
}
