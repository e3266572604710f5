//! The matrices of minimal filtering: `m` results of a filter of `r` taps by `m + r - 1` multiplications in place of `m r`.
//!
//! `y = Aᵀ ((G g) ⊙ (Bᵀ d))` for a filter `g` and `m + r - 1` neighbouring inputs `d`, which is the transposed form of multiplying two
//! polynomials by their values at as many points, infinity among them (Toom-Cook). Points are numbers of few bits, so that `Aᵀ` and
//! `Bᵀ` are exact; `G` has divisions, and is applied once to the weights, in `float64`.
//!
//! Reference: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (CVPR 2016); Barabasz et al., "Error Analysis and
//! Improving the Accuracy of Winograd Convolution for Deep Neural Networks" (TOMS 2020), on the choice of points.

/// Taps of the filter.
pub(super) const TAPS: usize = 3;

/// F(m, 3), one of those below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Filtering {
    /// F(2, 3), with errors like those of the sums it replaces.
    Two,
    /// F(4, 3), with errors of up to some units in the sixth digit of the largest result.
    Four,
}

/// F(m × n, 3 × 3): one along columns nested with one along rows.
pub(super) type Nested = [Filtering; 2];

impl Filtering {
    /// Results of a step.
    pub(super) fn results(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Four => 4,
        }
    }

    /// Inputs of a step, which are as many as its multiplications.
    pub(super) fn inputs(self) -> usize {
        self.results() + TAPS - 1
    }

    /// The finite points. Of those for F(4, 3), 1/2 and -2 give a third of the error of 2 and -2.
    fn points(self) -> &'static [f64] {
        match self {
            Self::Two => &[0.0, 1.0, -1.0],
            Self::Four => &[0.0, 1.0, -1.0, 0.5, -2.0],
        }
    }

    /// `Aᵀ`: powers of the points, a row for each result.
    pub(super) fn of_results(self) -> Vec<Vec<f64>> {
        let last = self.results() - 1;
        let row = |power: usize| {
            let powers = self.points().iter().map(|point| point.powi(power as i32));
            let at_infinity = if power == last { 1.0 } else { 0.0 };
            powers.chain([at_infinity]).collect()
        };
        (0..=last).map(row).collect()
    }

    /// `G`: the filter's value at each point, divided by what the others make of it; its leading coefficient at infinity.
    pub(super) fn of_weights(self) -> Vec<[f64; TAPS]> {
        let points = self.points();
        let row = |&point: &f64| {
            let others = points.iter().filter(|other| **other != point);
            let divisor: f64 = others.map(|other| point - other).product();
            [0, 1, 2].map(|power| point.powi(power) / divisor)
        };
        let rows = points.iter().map(row);
        rows.chain([[0.0, 0.0, 1.0]]).collect()
    }

    /// `Bᵀ`: for each point the polynomial that is 0 at the others, for infinity the one that is 0 at all.
    pub(super) fn of_inputs(self) -> Vec<Vec<f64>> {
        let points = self.points();
        let zero_at = |left_out: Option<f64>| {
            let mut coefficients = vec![0.0; self.inputs()];
            coefficients[0] = 1.0;
            for point in points.iter().filter(|point| Some(**point) != left_out) {
                for power in (0..coefficients.len()).rev() {
                    let below = power.checked_sub(1).map_or(0.0, |p| coefficients[p]);
                    coefficients[power] = below - point * coefficients[power];
                }
            }
            coefficients
        };
        let rows = points.iter().map(|point| zero_at(Some(*point)));
        rows.chain([zero_at(None)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_as_the_sums_do() {
        let taps = [0.25, -1.5, 3.0];
        for filtering in [Filtering::Two, Filtering::Four] {
            let inputs: Vec<f64> = (0..filtering.inputs())
                .map(|i| (i * i) as f64 - 2.5)
                .collect();
            let dot = |row: &[f64], with: &[f64]| -> f64 {
                row.iter().zip(with).map(|(a, b)| a * b).sum()
            };
            let of_weights = filtering.of_weights();
            let of_inputs = filtering.of_inputs();
            let products: Vec<f64> = of_weights
                .iter()
                .zip(&of_inputs)
                .map(|(g, b)| dot(g, &taps) * dot(b, &inputs))
                .collect();
            assert_eq!(products.len(), filtering.inputs());
            for (at, row) in filtering.of_results().iter().enumerate() {
                let direct = dot(&taps, &inputs[at..]);
                let fast = dot(row, &products);
                assert!((direct - fast).abs() < 1e-12, "{direct} {fast}");
            }
        }
    }

    #[test]
    fn two_results_are_sums_and_differences() {
        // The paper has the last column, and the last row of `Bᵀ`, with the other sign.
        let rows = [[1.0, 1.0, 1.0, 0.0], [0.0, 1.0, -1.0, 1.0]];
        assert_eq!(Filtering::Two.of_results(), rows);
    }
}
