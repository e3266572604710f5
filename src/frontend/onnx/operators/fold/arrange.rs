//! Known elements in another arrangement: gathered, cut, joined, reshaped, transposed, repeated.

use super::Folded;
use super::operands::{broadcast, indices, operands, place};
use crate::frontend::onnx::call::Call;
use crate::frontend::onnx::value::{Known, Value};
use crate::ir::Expr;

/// Elements at indices of the first dimension of the operands that are known: `index` maps an index of the result to one of the
/// operand.
fn moved(
    c: &Call<'_, '_>,
    data: &Known,
    shape: Vec<usize>,
    index: impl Fn(&[usize]) -> Option<Vec<usize>>,
) -> Option<Value> {
    let mut elements = vec![];
    for at in indices(&shape)? {
        elements.push(data.elements[place(&data.shape, &index(&at)?)].clone());
    }
    let mut known = Known::new(shape, elements, &c.importer.arith)?;
    known.dtype = data.dtype;
    Some(Value::Known(known))
}

/// Slices at constant indices.
pub(in crate::frontend::onnx::operators) fn gather(c: &mut Call<'_, '_>) -> Folded {
    let axis = c.attributes.int_or("axis", 0)?;
    let (Some(data), Some(at)) = (c.known(0), c.known(1)) else {
        return Ok(None);
    };
    let axis = c.axis(axis, data.shape.len())?;
    let Some(at_ints) = at.ints() else {
        return Ok(None);
    };
    let extent = data.shape[axis] as i64;
    let mut shape = data.shape[..axis].to_vec();
    shape.extend(&at.shape);
    shape.extend(&data.shape[axis + 1..]);
    let rank = at.shape.len();
    Ok(moved(c, &data, shape, |index| {
        let which = at_ints[place(&at.shape, &index[axis..axis + rank])];
        let which = if which < 0 { which + extent } else { which };
        let which = usize::try_from(which)
            .ok()
            .filter(|w| (*w as i64) < extent)?;
        let mut from = index[..axis].to_vec();
        from.push(which);
        from.extend(&index[axis + rank..]);
        Some(from)
    }))
}

/// The elements of a part of each dimension, of constant ends.
pub(in crate::frontend::onnx::operators) fn slice(
    c: &Call<'_, '_>,
    cuts: &[(usize, i64, i64, i64)],
) -> Option<Value> {
    let data = c.known(0)?;
    let mut shape = data.shape.clone();
    let mut starts = vec![(0i64, 1i64); shape.len()];
    for &(axis, start, end, step) in cuts {
        let extent = data.shape[axis] as i64;
        if extent == 0 {
            shape[axis] = 0;
            continue;
        }
        let wrap = |v: i64| if v < 0 { v.saturating_add(extent) } else { v };
        let (low, high) = if step > 0 {
            (0, extent)
        } else {
            (-1, extent - 1)
        };
        let start = wrap(start).clamp(low.max(0), high);
        let end = wrap(end).clamp(low, high);
        // Steps are at most as long as the dimension, as far as the result knows.
        let step = step.clamp(-extent - 1, extent + 1);
        let span = if step > 0 { end - start } else { start - end };
        let count = (span + step.abs() - 1).div_euclid(step.abs());
        shape[axis] = usize::try_from(count).unwrap_or(0);
        starts[axis] = (start, step);
    }
    moved(c, &data, shape, |index| {
        let at = index.iter().zip(&starts);
        at.map(|(&i, (start, step))| usize::try_from(start + i as i64 * step).ok())
            .collect()
    })
}

/// Operands one after the other along an axis.
pub(in crate::frontend::onnx::operators) fn concat(c: &mut Call<'_, '_>) -> Folded {
    let Some(axis) = c.attributes.int("axis")? else {
        return Ok(None);
    };
    let Some(parts) = operands(c) else {
        return Ok(None);
    };
    let Some(first) = parts.first() else {
        return Ok(None);
    };
    let axis = c.axis(axis, first.shape.len())?;
    // A vector: what sizes are. Others go into the graph.
    if parts.iter().any(|part| part.shape.len() != 1) || axis != 0 {
        return Ok(None);
    }
    let elements: Vec<Expr> = parts
        .iter()
        .flat_map(|part| part.elements.clone())
        .collect();
    let mut known = Known::new(vec![elements.len()], elements, &c.importer.arith);
    if let Some(known) = &mut known {
        known.dtype = first.dtype;
    }
    Ok(known.map(Value::Known))
}

/// The same elements in another shape, if that is known.
pub(in crate::frontend::onnx::operators) fn reshaped(
    c: &Call<'_, '_>,
    shape: Option<Vec<usize>>,
) -> Option<Value> {
    let mut data = c.known(0)?;
    let shape = shape.filter(|shape| {
        let count = shape.iter().try_fold(1usize, |n, &dim| n.checked_mul(dim));
        count == Some(data.elements.len())
    })?;
    data.shape = shape;
    Some(Value::Known(data))
}

/// The elements with their dimensions in another order.
pub(in crate::frontend::onnx::operators) fn transposed(
    c: &Call<'_, '_>,
    axes: &[i64],
) -> Option<Value> {
    let data = c.known(0)?;
    let rank = data.shape.len();
    let axes = axes.iter().map(|&axis| usize::try_from(axis).ok());
    let axes: Vec<usize> = axes.collect::<Option<_>>()?;
    let shape = axes.iter().map(|&axis| data.shape.get(axis).copied());
    let shape: Vec<usize> = shape.collect::<Option<_>>()?;
    let each = (0..rank).all(|axis| axes.contains(&axis));
    if axes.len() != rank || !each {
        return None;
    }
    moved(c, &data, shape, |index| {
        let mut from = vec![0; rank];
        for (&i, &axis) in index.iter().zip(&axes) {
            from[axis] = i;
        }
        Some(from)
    })
}

/// The elements repeated along dimensions of extent 1.
pub(in crate::frontend::onnx::operators) fn expand(c: &mut Call<'_, '_>) -> Folded {
    let (Some(data), Some(to)) = (c.known(0), c.known(1).and_then(|to| to.ints())) else {
        return Ok(None);
    };
    let to: Option<Vec<usize>> = to.iter().map(|&dim| usize::try_from(dim).ok()).collect();
    let Some(shape) = to.and_then(|to| broadcast(&data.shape, &to)) else {
        return Ok(None);
    };
    let skip = shape.len() - data.shape.len();
    let extents = data.shape.clone();
    Ok(moved(c, &data, shape, |index| {
        let at = index[skip..].iter().zip(&extents);
        Some(at.map(|(&i, &dim)| if dim == 1 { 0 } else { i }).collect())
    }))
}
