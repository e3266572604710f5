//! Non-maximum suppression: of boxes that overlap, the one of the greatest score.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Tensor;
use super::host_ops::{HostArgs, HostError, HostResult};
use super::scalar::decode;
use super::unique::key_of_float;

/// A box by its sides.
struct Sides {
    low: [f64; 2],
    high: [f64; 2],
    area: f64,
}

impl Sides {
    /// From two corners in any order, or from a centre and two extents.
    fn of(numbers: &[f64], centred: bool) -> Self {
        let [a, b, c, d] = [numbers[0], numbers[1], numbers[2], numbers[3]];
        let (low, high) = match centred {
            true => ([a - c / 2.0, b - d / 2.0], [a + c / 2.0, b + d / 2.0]),
            false => ([a.min(c), b.min(d)], [a.max(c), b.max(d)]),
        };
        Self {
            low,
            high,
            area: (high[0] - low[0]) * (high[1] - low[1]),
        }
    }

    /// Whether the common part is more than this part of what both cover.
    fn overlaps(&self, other: &Self, threshold: f64) -> bool {
        let side = |at: usize| self.high[at].min(other.high[at]) - self.low[at].max(other.low[at]);
        let (width, height) = (side(0), side(1));
        // Most boxes lie apart.
        if !(width > 0.0 && height > 0.0 && self.area > 0.0 && other.area > 0.0) {
            return false;
        }
        let common = width * height;
        let all = self.area + other.area - common;
        all > 0.0 && common / all > threshold
    }
}

fn floats(x: &Tensor) -> Result<Vec<f64>, HostError> {
    let dtype = x.dtype();
    if !dtype.is_float() {
        return Err(HostError::Arguments("a tensor of floats"));
    }
    if let Ok(elements) = x.as_slice::<f32>() {
        return Ok(elements.iter().map(|&element| element.into()).collect());
    }
    let elements = x.bytes().chunks_exact(dtype.bytes());
    Ok(elements
        .map(|bytes| decode(bytes, dtype.scalar).as_float())
        .collect())
}

/// The first element of a tensor.
fn first(x: &Tensor) -> Result<f64, HostError> {
    let numbers = floats(x)?;
    let first = numbers.first().copied();
    first.ok_or(HostError::Arguments("a number"))
}

/// Boxes `[batches, n, 4]` and scores `[batches, classes, n]`, then how many boxes to take of a class, the overlap above which the box
/// of the lower score goes, and the score that a box must exceed. Gives `[taken, 3]`: batch, class and box, in descending order of
/// the scores within a class; of equal scores the first box. Number: whether boxes are centres and extents.
pub(super) fn non_max_suppression(args: &HostArgs) -> Result<HostResult, HostError> {
    let [boxes, scores, most, overlap, least] = args.tensors.as_slice() else {
        return Err(HostError::Arguments("five tensors"));
    };
    let (&[batches, count, 4], &[other, classes, scored]) = (boxes.shape(), scores.shape()) else {
        return Err(HostError::Arguments("boxes of four numbers, and scores"));
    };
    if (batches, count) != (other, scored) {
        return Err(HostError::Arguments("as many scores as boxes"));
    }
    let centred = args.numbers.first().is_some_and(|&flag| flag != 0);
    let sides: Vec<Sides> = floats(boxes)?
        .chunks_exact(4)
        .map(|numbers| Sides::of(numbers, centred))
        .collect();
    let scores = floats(scores)?;
    let dtype = most.dtype();
    let most = match most.bytes().get(..dtype.bytes()) {
        Some(bytes) if dtype.is_int() => decode(bytes, dtype.scalar).as_int(),
        _ => return Err(HostError::Arguments("how many boxes to take")),
    };
    let most = usize::try_from(most).unwrap_or(0);
    let (overlap, least) = (first(overlap)?, first(least)?);
    let mut taken: Vec<i64> = vec![];
    for batch in 0..batches {
        let sides = &sides[batch * count..(batch + 1) * count];
        for class in 0..classes {
            let start = (batch * classes + class) * count;
            let scores = &scores[start..start + count];
            let above = (0..count).filter(|&at| scores[at] > least);
            // Few of many boxes are looked at where few are taken, so that they are not sorted before.
            let mut order: BinaryHeap<(u64, Reverse<usize>)> = above
                .map(|at| (key_of_float(scores[at]), Reverse(at)))
                .collect();
            let mut chosen: Vec<usize> = vec![];
            while chosen.len() < most
                && let Some((_, Reverse(at))) = order.pop()
            {
                let free = |&other: &usize| !sides[at].overlaps(&sides[other], overlap);
                if chosen.iter().all(free) {
                    chosen.push(at);
                }
            }
            let rows = chosen
                .iter()
                .flat_map(|&at| [batch as i64, class as i64, at as i64]);
            taken.extend(rows);
        }
    }
    let result = Tensor::from_slice(&[taken.len() / 3, 3], &taken)?;
    Ok(HostResult::Tensor(result))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;

    /// Three boxes: the second overlaps the first, the third lies apart.
    fn taken(boxes: &[f32], centred: bool, most: i64, least: f32) -> Vec<i64> {
        let tensor = |shape: &[usize], elements: &[f32]| {
            Tensor::from_slice(shape, elements).expect("the shape fits")
        };
        let args = HostArgs {
            tensors: vec![
                tensor(&[1, 3, 4], boxes),
                tensor(&[1, 1, 3], &[0.7, 0.9, 0.5]),
                Tensor::from_slice(&[1], &[most]).expect("the shape fits"),
                tensor(&[1], &[0.5]),
                tensor(&[1], &[least]),
            ],
            numbers: vec![centred.into()],
            texts: vec![],
        };
        match non_max_suppression(&args) {
            Ok(HostResult::Tensor(rows)) => {
                let rows = rows.bytes().chunks_exact(24);
                let last = rows.map(|row| decode(&row[16..], DType::I64.scalar).as_int());
                last.collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_greatest_score_of_boxes_that_overlap_stays() {
        let corners = [0.0, 0.0, 1.0, 1.0, 1.0, 1.1, 0.0, 0.1, 0.0, 5.0, 1.0, 6.0];
        assert_eq!(taken(&corners, false, 9, 0.0), [1, 2]);
        assert_eq!(taken(&corners, false, 1, 0.0), [1]);
        assert_eq!(taken(&corners, false, 9, 0.6), [1]);
        assert!(taken(&corners, false, 0, 0.0).is_empty());
        let centres = [0.5, 0.5, 1.0, 1.0, 0.5, 0.6, 1.0, 1.0, 0.5, 5.5, 1.0, 1.0];
        assert_eq!(taken(&centres, true, 9, 0.0), [1, 2]);
    }

    #[test]
    fn operands_that_do_not_fit_are_refused() {
        let none = non_max_suppression(&HostArgs::default());
        assert!(matches!(none, Err(HostError::Arguments(_))));
    }
}
