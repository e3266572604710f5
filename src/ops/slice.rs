//! Operators on a part of a tensor that begins, ends and steps along axes.

use super::ComputeCall;
use super::def::{Computed, Layout, OpDef, Pattern, attr, operand, optional, tensor};
use super::rules::{self, axis_of, scalar_or, simple, tensor_like};
use crate::ir::graph::{AttrDefault, AttrKind, InferError, OpCall, OperandKind};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::te;
use crate::tensor::DType;
use crate::topi;

pub(super) const OPS: &[OpDef] = &[
    OpDef::new(
        "reverse_sequence",
        "the first elements of each row, as many as its length says, backwards",
    )
    .operands(&[tensor("data"), tensor("seq_lengths")])
    .attrs(&[
        attr("seq_axis", AttrKind::Int, AttrDefault::Int(1)),
        attr("batch_axis", AttrKind::Int, AttrDefault::Int(0)),
    ])
    .infer(infer_reverse)
    .compute(reverse)
    .pattern(Pattern::Injective),
    OpDef::new(
        "slice_scatter",
        "the tensor with a slice along an axis replaced",
    )
    .operands(&[
        tensor("input"),
        tensor("src"),
        operand("start", OperandKind::Scalar),
        operand("end", OperandKind::Scalar),
        operand("step", OperandKind::Scalar),
    ])
    .attrs(&[attr("axis", AttrKind::Int, AttrDefault::Int(0))])
    .infer(infer_slice_scatter)
    .compute(slice_scatter)
    .pattern(Pattern::Injective),
    OpDef::new(
        "strided_slice",
        "from begin to before end in steps, along axes; numbers below 0 count from the end",
    )
    .operands(&[
        tensor("x"),
        operand("axes", OperandKind::Shape),
        operand("begin", OperandKind::Shape),
        operand("end", OperandKind::Shape),
        optional("strides", OperandKind::Shape),
    ])
    .attrs(&[attr(
        "assume_inbound",
        AttrKind::Bool,
        AttrDefault::Bool(false),
    )])
    .infer(infer_slice)
    .compute(slice)
    .pattern(Pattern::Injective)
    .layout(Layout::AxesOperand(1)),
];

/// A slice of one dimension: its first index, the step, and how many indices it has.
struct Cut {
    axis: usize,
    begin: Expr,
    step: i64,
    extent: Expr,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bounds {
    /// Ends outside of the dimension are moved to its ends.
    Clamped,
    /// They are inside.
    Inside,
}

impl Cut {
    fn of(axis: usize, dim: &Expr, begin: &Expr, end: &Expr, step: i64, bounds: Bounds) -> Self {
        let (low, high) = if step > 0 {
            (Expr::i64(0), dim.clone())
        } else {
            (Expr::i64(-1), dim.clone() - 1i64)
        };
        let place = |e: &Expr| {
            let e = e.cast(DType::I64);
            let placed = match (e.as_int(), dim.as_int()) {
                (Some(v), Some(n)) => Expr::i64(if v < 0 { v.saturating_add(n) } else { v }),
                // Further than any dimension reaches.
                (Some(v), None) if v > i64::from(i32::MAX) => return high.clone(),
                (Some(v), None) if v < -i64::from(i32::MAX) => return low.clone(),
                (Some(v), None) if v < 0 => dim.clone() + e,
                (Some(_), None) => e,
                (None, _) => Expr::select(e.lt(0i64), e.clone() + dim, e),
            };
            match bounds {
                Bounds::Clamped => placed.max(&low).min(&high),
                Bounds::Inside => placed,
            }
        };
        let (begin, end) = (simple(&place(begin)), simple(&place(end)));
        let span = if step > 0 {
            end - &begin
        } else {
            begin.clone() - end
        };
        let step_length = step.saturating_abs();
        let count = (span + Expr::i64(step_length - 1)).floor_div(Expr::i64(step_length));
        let extent = match bounds {
            Bounds::Clamped => simple(&simple(&count).max(0i64)),
            Bounds::Inside => simple(&count),
        };
        Self {
            axis,
            begin,
            step,
            extent,
        }
    }

    /// The index in the whole of an index in the slice.
    fn index(&self, at: &Expr) -> Expr {
        match self.step {
            1 => at.clone() + &self.begin,
            step => at.clone() * Expr::i64(step) + &self.begin,
        }
    }
}

/// The slices that a call of `strided_slice` makes of these extents; `None` if a bound is not known.
fn cuts(c: &OpCall<'_>, dims: &[Expr]) -> Result<Option<Vec<Cut>>, InferError> {
    let list = |index: usize| match c.has(index) {
        true => Some(c.shape(index)),
        false => None,
    };
    let (Some(axes), Some(begin), Some(end)) = (list(1), list(2), list(3)) else {
        return Ok(None);
    };
    let (Some(axes), Some(begin), Some(end)) = (axes.dims(), begin.dims(), end.dims()) else {
        return Ok(None);
    };
    let strides = match list(4) {
        None => vec![Expr::i64(1); axes.len()],
        Some(ShapeInfo::Known(strides)) => strides,
        Some(_) => return Ok(None),
    };
    for (index, len) in [(2, begin.len()), (3, end.len()), (4, strides.len())] {
        if len != axes.len() {
            return Err(c.bad_operand(index, "as many numbers as there are axes"));
        }
    }
    let bounds = if c.flag("assume_inbound")? {
        Bounds::Inside
    } else {
        Bounds::Clamped
    };
    let mut cuts: Vec<Cut> = Vec::new();
    for at in 0..axes.len() {
        let axis = axes[at].as_int();
        let axis = axis.ok_or_else(|| c.bad_operand(1, "axes that are constants"))?;
        let axis = c.axis(axis, dims.len())?;
        let step = strides[at].as_int().filter(|step| *step != 0);
        let step = step.ok_or_else(|| c.bad_operand(4, "strides that are constants, and not 0"))?;
        if cuts.iter().any(|cut| cut.axis == axis) {
            return Err(c.bad_operand(1, "each axis once"));
        }
        cuts.push(Cut::of(
            axis,
            &dims[axis],
            &begin[at],
            &end[at],
            step,
            bounds,
        ));
    }
    Ok(Some(cuts))
}

fn infer_slice(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let Some(dims) = info.shape.dims() else {
        return Ok(StructInfo::Tensor(info.clone()));
    };
    let shape = match cuts(c, dims)? {
        Some(cuts) => {
            let mut dims = dims.to_vec();
            for cut in cuts {
                rules::not_negative(c, &cut.extent)?;
                dims[cut.axis] = cut.extent;
            }
            ShapeInfo::Known(dims)
        }
        None => ShapeInfo::Ndim(dims.len()),
    };
    Ok(tensor_like(info, shape, info.dtype))
}

fn slice(c: &ComputeCall<'_>) -> Computed {
    let x = c.x(0);
    let cuts = cuts(c, x.shape())?;
    let cuts = cuts.ok_or_else(|| c.bad_operand(2, "numbers that are known"))?;
    let shape = c.result_shape(0).to_vec();
    Ok(vec![te::compute(c.name(), shape, |i| {
        let mut index = i.to_vec();
        for cut in &cuts {
            index[cut.axis] = cut.index(&i[cut.axis]);
        }
        x.at(index)
    })])
}

/// The slice of the input that is replaced.
fn replaced(c: &OpCall<'_>, dims: &[Expr]) -> Result<Cut, InferError> {
    let axis = axis_of(c, "axis", dims.len())?;
    let step = scalar_or(c, 4, 1)?.as_int().filter(|step| *step > 0);
    let step = step.ok_or_else(|| c.bad_operand(4, "a constant step above 0"))?;
    let (start, end) = (scalar_or(c, 2, 0)?, scalar_or(c, 3, 0)?);
    Ok(Cut::of(
        axis,
        &dims[axis],
        &start,
        &end,
        step,
        Bounds::Clamped,
    ))
}

fn infer_slice_scatter(c: &OpCall<'_>) -> rules::Inferred {
    let (Some(info), Some(src)) = (c.tensor(0)?, c.tensor(1)?) else {
        return Ok(StructInfo::Object);
    };
    rules::equal_types(c, info.dtype, src.dtype)?;
    if let (Some(dims), Some(src)) = (info.shape.dims(), src.shape.dims()) {
        let cut = replaced(c, dims)?;
        if src.len() != dims.len() {
            return Err(c.bad_operand(1, "a tensor with as many dimensions as the input"));
        }
        for (at, (dim, src)) in dims.iter().zip(src).enumerate() {
            let dim = if at == cut.axis { &cut.extent } else { dim };
            rules::equal_extents(c, "the extents of the slice", dim, src)?;
        }
    }
    rules::identity(c)
}

fn slice_scatter(c: &ComputeCall<'_>) -> Computed {
    let (x, src) = (c.x(0), c.x(1));
    let cut = replaced(c, x.shape())?;
    Ok(vec![topi::map_at(c.name(), x, |i, kept| {
        let from = i[cut.axis].clone() - &cut.begin;
        let step = Expr::i64(cut.step);
        let mut index = i.to_vec();
        index[cut.axis] = from.floor_div(&step);
        let inside = te::all([
            from.ge(0i64),
            index[cut.axis].lt(&src.shape()[cut.axis]),
            from.floor_mod(&step).equals(0i64),
        ]);
        te::if_then_else(inside, src.at(index), kept)
    })])
}

fn infer_reverse(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_indices(c, 1)?;
    rules::dims_of(c, 1, 1, "a vector of lengths")?;
    if let Some(ndim) = c.tensor(0)?.and_then(|info| info.shape.ndim())
        && axis_of(c, "seq_axis", ndim)? == axis_of(c, "batch_axis", ndim)?
    {
        return Err(c.bad_attribute("batch_axis", "an axis other than seq_axis"));
    }
    rules::identity(c)
}

fn reverse(c: &ComputeCall<'_>) -> Computed {
    let (x, lengths) = (c.x(0), c.x(1));
    let (seq, batch) = (
        axis_of(c, "seq_axis", x.ndim())?,
        axis_of(c, "batch_axis", x.ndim())?,
    );
    Ok(vec![topi::reindex(c.name(), x, x.shape(), seq, |i| {
        let length = topi::wide_index(&lengths.at([&i[batch]]));
        let length = length.min(x.shape()[seq].cast(length.dtype()));
        let at = i[seq].cast(length.dtype());
        let mirrored = length.clone() - Expr::constant(1, length.dtype()) - &at;
        Expr::select(at.lt(&length), mirrored, at)
    })])
}
