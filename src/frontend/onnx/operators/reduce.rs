//! Reductions, scans and sorting.

use serde_json::json;

use super::{Operator, fold};
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, materialized, number, one};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::value::{Known, Value};
use crate::ir::{Expr as Size, StructInfo};
use crate::relax::{self, Expr};
use crate::tensor::DType;

/// Versions of reductions whose axes came as an operand with 18.
const REDUCE: &[i64] = &[1, 11, 13, 18];

/// The same of those that take bfloat16 from 28 on.
const LOGARITHM: &[i64] = &[1, 11, 13, 18, 28];

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("ArgMax", &[1, 11, 12, 13], |c| position(c, "argmax")),
    Operator::new("ArgMin", &[1, 11, 12, 13], |c| position(c, "argmin")),
    Operator::new("CumProd", &[26], |c| scan(c, "cumprod"))
        .note("an axis that follows from the model"),
    Operator::new("CumSum", &[11, 14], |c| scan(c, "cumsum"))
        .note("an axis that follows from the model"),
    Operator::new("ReduceL1", REDUCE, |c| {
        reduced(c, 18, |_, x, r| Ok(r.of("sum", relax::op("abs", [x]))))
    })
    .note("axes that follow from the model"),
    Operator::new("ReduceL2", REDUCE, |c| {
        reduced(c, 18, |c, x, r| {
            let sum = r.of("sum", relax::op("square", [x]));
            in_floats(c, sum, |_, sum| Ok(relax::op("sqrt", [sum])))
        })
    })
    .note("axes that follow from the model"),
    Operator::new("ReduceLogSum", LOGARITHM, |c| {
        reduced(c, 18, |c, x, r| {
            let sum = r.of("sum", x);
            in_floats(c, sum, |_, sum| Ok(relax::op("log", [sum])))
        })
    })
    .note("axes that follow from the model"),
    Operator::new("ReduceLogSumExp", LOGARITHM, |c| {
        reduced(c, 18, |c, x, r| {
            in_floats(c, x, |c, x| log_sum_exp(c, x, r))
        })
    })
    .note("axes that follow from the model"),
    Operator::new("ReduceMax", &[1, 11, 12, 13, 18, 20], |c| extreme(c, "max"))
        .folds(|c| folded(c, |a, b| a.max(b)))
        .note("axes that follow from the model"),
    Operator::new("ReduceMean", REDUCE, |c| {
        reduced(c, 18, |_, x, r| Ok(r.of("mean", x)))
    })
    .note("axes that follow from the model"),
    Operator::new("ReduceMin", &[1, 11, 12, 13, 18, 20], |c| extreme(c, "min"))
        .folds(|c| folded(c, |a, b| a.min(b)))
        .note("axes that follow from the model"),
    Operator::new("ReduceProd", REDUCE, |c| {
        reduced(c, 18, |_, x, r| Ok(r.of("prod", x)))
    })
    .folds(|c| folded(c, |a, b| a * b))
    .note("axes that follow from the model"),
    Operator::new("ReduceSum", &[1, 11, 13], |c| {
        reduced(c, 13, |_, x, r| Ok(r.of("sum", x)))
    })
    .folds(|c| folded(c, |a, b| a + b))
    .note("axes that follow from the model"),
    Operator::new("ReduceSumSquare", REDUCE, |c| {
        reduced(c, 18, |_, x, r| Ok(r.of("sum", relax::op("square", [x]))))
    })
    .note("axes that follow from the model"),
    Operator::new("TopK", &[1, 10, 11, 24], top_k),
    Operator::new("Unique", &[11, 28], unique),
];

/// The axes of a reduction, and whether they stay.
struct Reduced {
    axes: Vec<usize>,
    keep: bool,
}

impl Reduced {
    fn of(&self, name: &str, x: Expr) -> Expr {
        let attributes = json!({"axis": self.axes, "keepdims": self.keep});
        relax::op_with(name, [x], attrs(&attributes))
    }
}

/// The axes; `None` where nothing is to be reduced.
fn axes(c: &Call<'_, '_>, since: i64) -> Result<Option<Reduced>, Fault> {
    let rank = c.ndim(0)?;
    let keep = c.attributes.flag("keepdims", true)?;
    let nothing = c.attributes.flag("noop_with_empty_axes", false)?;
    let axes = c.ints_since(since, "axes", 1)?.unwrap_or_default();
    if axes.is_empty() {
        let all = Reduced {
            axes: (0..rank).collect(),
            keep,
        };
        return Ok((!nothing).then_some(all));
    }
    let axes = axes.iter().map(|&axis| c.axis(axis, rank));
    let axes = axes.collect::<Result<Vec<usize>, Fault>>()?;
    Ok(Some(Reduced { axes, keep }))
}

/// A reduction that `f` writes. With axes that are empty on purpose, what it does to single elements stays.
fn reduced(
    c: &mut Call<'_, '_>,
    since: i64,
    f: impl FnOnce(&mut Call<'_, '_>, Expr, &Reduced) -> Result<Expr, Fault>,
) -> Outputs {
    let x = c.x(0)?;
    match axes(c, since)? {
        Some(reduced) => {
            let value = f(c, x, &reduced)?;
            one(c.emit(value)?)
        }
        None if matches!(
            c.node.op_type.as_deref(),
            Some("ReduceSum" | "ReduceMean" | "ReduceMax" | "ReduceMin" | "ReduceProd")
        ) =>
        {
            Ok(c.inputs.drain(..1).collect())
        }
        None => {
            // An axis of extent 1, which is gone again.
            let rank = c.ndim(0)?;
            let dims = c.dims(0)?;
            let wide = relax::op_with("expand_dims", [x], attrs(&json!({"axis": [rank]})));
            let value = f(
                c,
                wide,
                &Reduced {
                    axes: vec![rank],
                    keep: false,
                },
            )?;
            one(c.reshaped(value, dims)?)
        }
    }
}

/// A function of floats; integers are converted before it, and back after it.
fn in_floats(
    c: &mut Call<'_, '_>,
    x: Expr,
    f: impl FnOnce(&mut Call<'_, '_>, Expr) -> Result<Expr, Fault>,
) -> Result<Expr, Fault> {
    let dtype = c.dtype(0)?;
    match dtype.is_float() {
        true => f(c, x),
        false => Ok(cast(f(c, cast(x, DType::F32))?, dtype)),
    }
}

/// Stable: the greatest element is taken out first.
fn log_sum_exp(c: &mut Call<'_, '_>, x: Expr, r: &Reduced) -> Result<Expr, Fault> {
    let kept = Reduced {
        axes: r.axes.clone(),
        keep: true,
    };
    let x = c.emit(x)?;
    let greatest = c.emit(kept.of("max", (&x).into()))?;
    // Infinity less infinity is no number.
    let finite = relax::op("isfinite", [&greatest]);
    let dtype = x
        .sinfo()
        .as_tensor()
        .and_then(|info| info.dtype)
        .unwrap_or(DType::F32);
    let zero = number(0.0, dtype)?;
    let shift = c.op("where", [finite, (&greatest).into(), zero])?;
    let sum = kept.of("sum", relax::op("exp", [&x - &shift]));
    let value = c.emit(relax::op("log", [sum]) + &shift)?;
    Ok(match r.keep {
        true => (&value).into(),
        false => relax::op_with("squeeze", [&value], attrs(&json!({"axis": r.axes}))),
    })
}

/// Of bool, true is greater than false.
fn extreme(c: &mut Call<'_, '_>, name: &'static str) -> Outputs {
    let dtype = c.dtype(0)?;
    reduced(c, 18, |_, x, r| {
        Ok(match dtype.is_bool() {
            true => cast(r.of(name, cast(x, DType::U8)), DType::BOOL),
            false => r.of(name, x),
        })
    })
}

fn folded(c: &mut Call<'_, '_>, f: impl Fn(&Size, &Size) -> Size) -> Result<Option<Value>, Fault> {
    if c.has(1) || c.attributes.has("axes") && c.ndim(0)? != 1 {
        return Ok(None);
    }
    if c.attributes.flag("noop_with_empty_axes", false)? {
        return Ok(None);
    }
    let keep = c.attributes.flag("keepdims", true)?;
    Ok(fold::reduce(c, keep, f))
}

/// The first of equal elements, or the last.
fn position(c: &mut Call<'_, '_>, name: &str) -> Outputs {
    let axis = c.attributes.int_or("axis", 0)?;
    let keep = c.attributes.flag("keepdims", true)?;
    let last = c.attributes.flag("select_last_index", false)?;
    let dims = c.dims(0)?;
    let axis = c.axis(axis, dims.len())?;
    let mut x = c.x(0)?;
    if last {
        x = relax::op_with("flip", [x], attrs(&json!({"axis": axis})));
    }
    let attributes = json!({"axis": axis, "keepdims": keep});
    let at = c.op_with(name, [x], &attributes)?;
    if !last {
        return one(at);
    }
    let end = materialized(&Known::vector(vec![dims[axis].clone() - 1i64]))?;
    let end = relax::op("reshape", [end, relax::shape(Vec::<Size>::new())]);
    one(c.op("subtract", [end, (&at).into()])?)
}

fn scan(c: &mut Call<'_, '_>, name: &str) -> Outputs {
    let exclusive = c.attributes.flag("exclusive", false)?;
    let reverse = c.attributes.flag("reverse", false)?;
    let axis = c.ints(1)?;
    let axis = c.axis(axis.first().copied().unwrap_or(0), c.ndim(0)?)?;
    let x = c.x(0)?;
    let attributes = json!({"axis": axis, "exclusive": exclusive, "reverse": reverse});
    one(c.op_with(name, [x], &attributes)?)
}

fn top_k(c: &mut Call<'_, '_>) -> Outputs {
    let axis = c.attributes.int_or("axis", -1)?;
    let axis = c.axis(axis, c.ndim(0)?)?;
    let k = match c.version {
        ..10 => c
            .attributes
            .int("k")?
            .ok_or_else(|| Fault::NoAttribute("k".to_owned()))?,
        _ => match c.known(1).and_then(|known| known.ints()) {
            Some(k) => k.first().copied().unwrap_or(0),
            None => return computed_top_k(c, axis),
        },
    };
    if k < 0 {
        return Err(c.bad(1, k, "at least 0"));
    }
    if k == 0 {
        return top_none(c, axis);
    }
    let largest = c.attributes.flag("largest", true)?;
    // Sorted is one of the orders that "unsorted" allows.
    c.attributes.ignore("sorted");
    let x = c.x(0)?;
    let attributes = json!({"k": k, "axis": axis, "largest": largest, "dtype": "int64"});
    let both = c.op_with("topk", [x], &attributes)?;
    c.items(&both, 2)
}

/// No elements of each line, and no positions.
fn top_none(c: &mut Call<'_, '_>, axis: usize) -> Outputs {
    for attribute in ["largest", "sorted"] {
        c.attributes.ignore(attribute);
    }
    let none = [
        c.x(0)?,
        relax::shape([axis as i64]),
        relax::shape([0i64]),
        relax::shape([0i64]),
    ];
    let values = c.op("strided_slice", none)?;
    let positions = c.op_with("astype", [values.clone()], &json!({"dtype": "int64"}))?;
    Ok(vec![values.into(), positions.into()])
}

/// As many as a size says, or the graph computes: all in order, and of them the first.
fn computed_top_k(c: &mut Call<'_, '_>, axis: usize) -> Outputs {
    let largest = c.attributes.flag("largest", true)?;
    c.attributes.ignore("sorted");
    let k = c.sizes(1)?;
    let dims = c.dims(0)?;
    let all = match k.as_slice() {
        [k] => c.importer.arith.can_prove_equal(k, &dims[axis]),
        _ => return Err(c.bad(1, format!("{} numbers", k.len()), "one number")),
    };
    let (x, dtype) = (c.x(0)?, c.dtype(0)?);
    let mut taken = dims.clone();
    taken[axis].clone_from(&k[0]);
    // Below 1: all.
    let attributes = json!({"k": -1, "axis": axis, "largest": largest, "dtype": "int64"});
    let both = c.op_with("topk", [x], &attributes)?;
    if all {
        return c.items(&both, 2);
    }
    let mut first = vec![];
    for (item, dtype) in [dtype, DType::I64].into_iter().enumerate() {
        let args = [
            relax::item(&both, item),
            relax::shape([axis as i64]),
            relax::shape([0i64]),
            relax::shape(k.clone()),
        ];
        let part = c.op("strided_slice", args)?;
        // A slice of more than there are is all; here that is an error of the call.
        let sinfo = StructInfo::tensor(taken.clone(), dtype);
        first.push(c.bb.match_cast(&part, sinfo)?.into());
    }
    Ok(first)
}

fn unique(c: &mut Call<'_, '_>) -> Outputs {
    let sorted = c.attributes.flag("sorted", true)?;
    let axis = c.attributes.int("axis")?;
    let x = c.x(0)?;
    let flags = [sorted, true, true, true].map(|flag| Expr::from(Size::i64(flag.into())));
    let mut args: Vec<Expr> = std::iter::once(x).chain(flags).collect();
    if let Some(axis) = axis {
        args.push(Expr::from(Size::i64(axis)));
    }
    let all = c.op("unique", args)?;
    c.items(&all, 4)
}
