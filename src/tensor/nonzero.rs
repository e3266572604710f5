//! The elements that are not 0.

use bytemuck::Pod;

use super::host_ops::{HostArgs, HostError, HostResult, element};
use super::{DType, ScalarType, Tensor};

/// Whether each element differs from 0, in row-major order. Both zeros of a float are 0, and NaN is not.
pub(super) fn truths(x: &Tensor) -> Vec<bool> {
    fn of<T: Pod>(x: &Tensor, is_true: impl Fn(T) -> bool) -> Vec<bool> {
        let elements = bytemuck::cast_slice::<u8, T>(x.bytes());
        elements.iter().map(|&bits| is_true(bits)).collect()
    }
    match x.dtype().scalar {
        ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => of::<u8>(x, |bits| bits != 0),
        ScalarType::I16 | ScalarType::U16 => of::<u16>(x, |bits| bits != 0),
        ScalarType::I32 | ScalarType::U32 => of::<u32>(x, |bits| bits != 0),
        ScalarType::I64 | ScalarType::U64 => of::<u64>(x, |bits| bits != 0),
        // Without the sign.
        ScalarType::F16 | ScalarType::BF16 => of::<u16>(x, |bits| bits << 1 != 0),
        ScalarType::F32 => of::<u32>(x, |bits| bits << 1 != 0),
        ScalarType::F64 => of::<u64>(x, |bits| bits << 1 != 0),
        ScalarType::Small(_) => (0..x.len()).map(|at| element(x, at).is_true()).collect(),
    }
}

/// `[ndim, n]`: the indices of the elements that are not 0, in row-major order. A scalar counts as a vector.
pub(super) fn nonzero(args: &HostArgs) -> Result<HostResult, HostError> {
    let x = args.tensor(0)?;
    let truths = truths(x);
    let count = truths.iter().filter(|is_true| **is_true).count();
    let (outer, row) = match x.shape() {
        [] => (&[][..], 1),
        [outer @ .., row] => (outer, *row),
    };
    let mut indices = Tensor::zeros(DType::I64, &[outer.len() + 1, count])?;
    if count == 0 {
        return Ok(HostResult::Tensor(indices));
    }
    let mut axes = indices.as_mut_slice::<i64>()?.chunks_exact_mut(count);
    let (mut outside, last) = split_last(&mut axes);
    let mut index = vec![0; outer.len()];
    let mut found = 0;
    for row in truths.chunks_exact(row) {
        let before = found;
        for (at, &is_true) in row.iter().enumerate() {
            // Every element is noted, and those that are not 0 stay.
            if let Some(place) = last.get_mut(found) {
                *place = at as i64;
            }
            found += usize::from(is_true);
        }
        for (axis, &at) in outside.iter_mut().zip(&index) {
            axis[before..found].fill(at);
        }
        step(&mut index, outer);
    }
    Ok(HostResult::Tensor(indices))
}

/// The indices along all axes but the last one, and those along it.
fn split_last<'a>(
    axes: &mut std::slice::ChunksExactMut<'a, i64>,
) -> (Vec<&'a mut [i64]>, &'a mut [i64]) {
    let last = axes.next_back().expect("there is at least one axis");
    (axes.collect(), last)
}

/// The next index in row-major order.
fn step(index: &mut [i64], extents: &[usize]) {
    for (at, &extent) in index.iter_mut().zip(extents).rev() {
        *at += 1;
        if *at < extent as i64 {
            return;
        }
        *at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    fn indices(x: Tensor) -> (Vec<usize>, Vec<i64>) {
        let args = HostArgs {
            tensors: vec![x],
            ..HostArgs::default()
        };
        match nonzero(&args) {
            Ok(HostResult::Tensor(found)) => {
                let elements = found.as_slice::<i64>().expect("they are int64").to_vec();
                (found.shape().to_vec(), elements)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn indices_are_those_of_each_axis() {
        let x = [0, 3, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0i32];
        let x = Tensor::from_slice(&[2, 2, 3], &x).expect("the shape fits");
        assert_eq!(indices(x), (vec![3, 3], vec![0, 1, 1, 0, 0, 0, 1, 0, 2]));
        let one = Tensor::from_slice(&[], &[7u8]).expect("the shape fits");
        assert_eq!(indices(one), (vec![1, 1], vec![0]));
        let none = Tensor::zeros(DType::F32, &[3, 0]).expect("it is small");
        assert_eq!(indices(none), (vec![2, 0], vec![]));
    }

    #[test]
    fn zeros_of_floats_have_two_signs() {
        let numbers = [0.0, -0.0, f32::NAN, -1e-40, f32::INFINITY];
        let x = Tensor::from_slice(&[5], &numbers).expect("the shape fits");
        assert_eq!(truths(&x), [false, false, true, true, true]);
        let x = Tensor::from_slice(&[5], &numbers.map(f16::from_f32)).expect("the shape fits");
        assert_eq!(truths(&x), [false, false, true, false, true]);
        let x = Tensor::from_slice(&[5], &numbers.map(f64::from)).expect("the shape fits");
        assert_eq!(truths(&x), [false, false, true, true, true]);
    }
}
