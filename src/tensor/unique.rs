//! The different slices of a tensor.

use super::host_ops::{HostArgs, HostError, HostResult, NO_AXIS, element, int64s};
use super::scalar::Scalar;
use super::slices::Slices;
use super::{Element, ScalarType, Tensor};

/// The different slices along an axis (or elements), and as wanted the first position of each, for each slice which one it is,
/// and how often each occurs. Numbers: sorted, index, inverse, counts, and the axis if there is one.
pub(super) fn unique(args: &HostArgs) -> Result<HostResult, HostError> {
    let axis = args.numbers.get(4).copied().unwrap_or(NO_AXIS);
    let slices = Slices::of(args.tensor(0)?, axis)?;
    let (order, ends) = groups(&slices);
    let mut groups: Vec<&[usize]> = Vec::with_capacity(ends.len());
    let mut start = 0;
    for end in ends {
        groups.push(&order[start..end]);
        start = end;
    }
    if args.number(0)? == 0 {
        groups.sort_unstable_by_key(|group| group[0]);
    }
    let firsts: Vec<usize> = groups.iter().map(|group| group[0]).collect();
    let mut results = vec![slices.select(&firsts)?];
    let count = groups.len();
    if args.number(1)? != 0 {
        let firsts: Vec<i64> = firsts.iter().map(|&at| at as i64).collect();
        results.push(int64s(&[count], &firsts)?);
    }
    if args.number(2)? != 0 {
        let mut inverse = vec![0; slices.count];
        for (which, group) in groups.iter().enumerate() {
            for &slice in *group {
                inverse[slice] = which as i64;
            }
        }
        results.push(int64s(&[slices.count], &inverse)?);
    }
    if args.number(3)? != 0 {
        let counts: Vec<i64> = groups.iter().map(|group| group.len() as i64).collect();
        results.push(int64s(&[count], &counts)?);
    }
    Ok(match results.len() {
        1 => HostResult::Tensor(results.remove(0)),
        _ => HostResult::Tuple(results),
    })
}

/// The slices in ascending order, of equal ones the first in front, and where each group of equal slices ends.
fn groups(slices: &Slices<'_>) -> (Vec<usize>, Vec<usize>) {
    let keys = keys(slices.x);
    let (outer, count, inner) = (slices.outer, slices.count, slices.inner);
    if outer * inner == 1 {
        let sorted = sorted(keys);
        let ends = ends(count, |a, b| sorted[a].0 == sorted[b].0);
        return (sorted.into_iter().map(|(_, slice)| slice).collect(), ends);
    }
    let parts = |slice: usize| (0..outer).flat_map(move |at| block(at, count, inner, slice));
    let of = |slice| parts(slice).map(|at| keys[at]);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| of(a).cmp(of(b)));
    let ends = ends(count, |a, b| of(order[a]).eq(of(order[b])));
    (order, ends)
}

/// The positions of the elements of a slice in one of the blocks.
fn block(outer: usize, count: usize, inner: usize, slice: usize) -> std::ops::Range<usize> {
    let start = (outer * count + slice) * inner;
    start..start + inner
}

/// Where groups of neighbours that are equal end.
fn ends(count: usize, equal: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let is_end = |&end: &usize| end == count || !equal(end - 1, end);
    (1..=count).filter(is_end).collect()
}

/// The keys of elements, which are in the order of the elements. NaN is greater than every number and equal to itself; both zeros are
/// equal.
fn keys(x: &Tensor) -> Vec<u64> {
    fn of<T: Element>(x: &Tensor, key: impl Fn(T) -> u64) -> Vec<u64> {
        let elements = bytemuck::cast_slice::<u8, T>(x.bytes());
        elements.iter().map(|&element| key(element)).collect()
    }
    match x.dtype().scalar {
        ScalarType::I32 => of::<i32>(x, |v| of_int(v.into())),
        ScalarType::I64 => of::<i64>(x, of_int),
        ScalarType::U64 => of::<u64>(x, |v| v),
        ScalarType::F32 => of::<f32>(x, |v| key_of_float(v.into())),
        ScalarType::F64 => of::<f64>(x, key_of_float),
        _ => (0..x.len())
            .map(|at| match element(x, at) {
                Scalar::Int(v) => of_int(v),
                Scalar::Float(v) => key_of_float(v),
            })
            .collect(),
    }
}

const SIGN: u64 = 1 << 63;

fn of_int(v: i64) -> u64 {
    v as u64 ^ SIGN
}

/// The key of a float.
pub(super) fn key_of_float(v: f64) -> u64 {
    if v.is_nan() {
        return u64::MAX;
    }
    // Of the sum of a zero and 0.0 the sign is plus.
    let bits = (v + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// Bits of a digit.
const DIGIT: u32 = 8;

/// Fewer keys are compared: to count the digits of so few takes longer.
const FEW: usize = 256;

/// The keys in ascending order, each with its place before. Digits that all keys share are left out.
fn sorted(keys: Vec<u64>) -> Vec<(u64, usize)> {
    let common = keys
        .iter()
        .fold((u64::MAX, 0), |(and, or), key| (and & key, or | key));
    let differ = common.0 ^ common.1;
    let mut from: Vec<(u64, usize)> = keys.into_iter().zip(0..).collect();
    if from.len() < FEW {
        from.sort_by_key(|(key, _)| *key);
        return from;
    }
    let mut to = vec![(0, 0); from.len()];
    for shift in (0..u64::BITS).step_by(DIGIT as usize) {
        let digit = |key: u64| (key >> shift) as usize & ((1 << DIGIT) - 1);
        if digit(differ) == 0 {
            continue;
        }
        let mut places = [0; 1 << DIGIT];
        for &(key, _) in &from {
            places[digit(key)] += 1;
        }
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for &pair in &from {
            let place = &mut places[digit(pair.0)];
            to[*place] = pair;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_elements() {
        let floats = [
            f64::NEG_INFINITY,
            -2.5,
            -1e-310,
            0.0,
            1e-310,
            1.0,
            f64::INFINITY,
            f64::NAN,
        ];
        assert!(floats.map(key_of_float).is_sorted_by(|a, b| a < b));
        assert_eq!(key_of_float(-0.0), key_of_float(0.0));
        assert_eq!(key_of_float(-f64::NAN), key_of_float(f64::NAN));
        assert!(
            [i64::MIN, -1, 0, 1, i64::MAX]
                .map(of_int)
                .is_sorted_by(|a, b| a < b)
        );
    }

    #[test]
    fn many_keys_are_sorted_as_few_are() {
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            state >> 33
        };
        for (count, most) in [(10, 4), (1000, 300), (5000, u64::MAX)] {
            let keys: Vec<u64> = (0..count)
                .map(|_| next().wrapping_mul(next()) % most)
                .collect();
            let mut expected: Vec<(u64, usize)> = keys.iter().copied().zip(0..).collect();
            expected.sort_unstable();
            assert_eq!(sorted(keys), expected);
        }
    }
}
