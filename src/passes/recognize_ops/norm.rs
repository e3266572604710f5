//! Layer normalisation and root-mean-square normalisation.
//!
//! # References
//! J. L. Ba et al., "Layer normalization", 2016; B. Zhang, R. Sennrich, "Root mean square layer normalization", 2019.

use super::Declined;
use super::idiom::{Calls, Idiom, Match, Operand, attrs, axes, binary, ints, same_dims, unary};
use crate::ir::graph::Arg;
use crate::ir::graph::pattern::{DfPattern, is_const, is_op_with_first, wildcard};
use crate::ir::{AttrValue, Attrs, Expr};
use crate::ops;

/// Both, with scale and offset, with a scale, and without.
pub(super) fn idioms() -> Vec<Idiom> {
    let mut all = vec![];
    for affine in [Affine::Both, Affine::Scale, Affine::Neither] {
        all.push(layer_norm(affine));
    }
    for affine in [Affine::Scale, Affine::Neither] {
        all.push(rms_norm(affine));
    }
    all
}

/// What follows a normalisation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Affine {
    /// A product and a sum.
    Both,
    /// A product.
    Scale,
    Neither,
}

/// A tensor divided by its deviation.
struct Normalized {
    squares: DfPattern,
    epsilon: DfPattern,
    /// Constants: 1 that is divided, 2 and -1/2 as exponents.
    one: DfPattern,
    two: DfPattern,
    inverse_root: DfPattern,
    whole: DfPattern,
}

impl Normalized {
    /// `x / sqrt(mean(y ** 2) + epsilon)`, as exporters write it.
    fn new(x: &DfPattern, y: &DfPattern) -> Self {
        let [epsilon, one, two, inverse_root] = std::array::from_fn(|_| is_const());
        let square = &binary("power", y, &two) | &binary("multiply", y, y);
        let squares = mean(&square);
        let sum = binary("add", &squares, &epsilon);
        let deviation = unary("sqrt", &sum);
        let inverse = &unary("rsqrt", &sum) | &binary("divide", &one, &deviation);
        let inverse = &inverse | &binary("power", &sum, &inverse_root);
        let whole = &binary("divide", x, &deviation) | &binary("multiply", x, &inverse);
        Self {
            squares,
            epsilon,
            one,
            two,
            inverse_root,
            whole,
        }
    }

    /// The dimensions of the mean of squares, and epsilon.
    fn of(&self, site: &Match<'_>, ndim: usize) -> Result<(Vec<usize>, f64), Declined> {
        site.is_number("the exponent", &self.two, 2.0)?;
        site.is_number("what is divided", &self.one, 1.0)?;
        site.is_number("the exponent", &self.inverse_root, -0.5)?;
        let epsilon = site.arg(&self.epsilon);
        let what = "epsilon";
        let epsilon = epsilon.ok_or(Declined::NotConstant { what })?;
        let axes = reduced(site, "the mean of squares", &self.squares, ndim)?;
        Ok((axes, site.number(what, epsilon)?))
    }
}

fn mean(x: &DfPattern) -> DfPattern {
    is_op_with_first(ops::op("mean"), [x])
}

/// The dimensions that a mean reduces and keeps with an extent of 1.
fn reduced(
    site: &Match<'_>,
    what: &'static str,
    mean: &DfPattern,
    ndim: usize,
) -> Result<Vec<usize>, Declined> {
    let own = site.matches.attrs(mean, site.scope);
    let keeps = own
        .and_then(|own| own.get("keepdims"))
        .and_then(AttrValue::as_int);
    if keeps != Some(1) {
        return Err(Declined::DroppedDims { what });
    }
    let axes = own.and_then(|own| axes(own, "axis", ndim));
    axes.ok_or(Declined::Shape { what })
}

/// A scale or an offset, with an extent for each of the axes.
fn parameter(
    site: &Match<'_>,
    calls: &mut Calls,
    what: &'static str,
    arg: &Arg,
    (dims, axes): (&[Expr], &[usize]),
) -> Result<Operand, Declined> {
    let own = site.dims_of(what, arg)?;
    let Some(missing) = dims.len().checked_sub(own.len()) else {
        return Err(Declined::Shape { what });
    };
    let fits = (0..dims.len()).all(|at| {
        let extent = at.checked_sub(missing).map(|at| &own[at]);
        match extent {
            Some(extent) if axes.contains(&at) => {
                same_dims(std::slice::from_ref(extent), &dims[at..=at])
            }
            Some(extent) => extent.is_one(),
            None => !axes.contains(&at),
        }
    });
    if !fits {
        return Err(Declined::Shape { what });
    }
    let given = Operand::Given(arg.clone());
    if own.len() == axes.len() {
        return Ok(given);
    }
    let shape = axes.iter().map(|at| dims[*at].clone()).collect();
    let shape = Operand::Given(Arg::Shape(shape));
    Ok(calls.add("reshape", vec![given, shape], Attrs::new()))
}

/// Ones, where there is no scale.
fn ones(
    site: &Match<'_>,
    calls: &mut Calls,
    x: &Arg,
    (dims, axes): (&[Expr], &[usize]),
) -> Result<Operand, Declined> {
    let dtype = site.dtype(x).ok_or(Declined::Shape { what: "the data" })?;
    let shape = axes.iter().map(|at| dims[*at].clone()).collect();
    let shape = Operand::Given(Arg::Shape(shape));
    let attrs = attrs([("dtype", AttrValue::DType(dtype))]);
    Ok(calls.add("ones", vec![shape], attrs))
}

/// `(x - mean) / sqrt(variance + epsilon)`
fn layer_norm(affine: Affine) -> Idiom {
    let (x, scale, offset) = (wildcard(), wildcard(), wildcard());
    let center = mean(&x);
    let distance = binary("subtract", &x, &center);
    // Some exporters subtract the mean twice.
    let again = mean(&x);
    let again = (binary("subtract", &x, &again), again);
    let normalized = Normalized::new(&distance, &again.0);
    let scaled = binary("multiply", &normalized.whole, &scale);
    let whole = match affine {
        Affine::Both => binary("add", &scaled, &offset),
        Affine::Scale => scaled,
        Affine::Neither => normalized.whole.clone(),
    };
    let core = normalized.squares.clone();
    Idiom::new("nn.layer_norm", &whole, &core, move |site| {
        let Some(data) = site.arg(&x) else {
            return Ok(None);
        };
        let dims = site.dims_of("the data", data)?;
        let (own, epsilon) = normalized.of(site, dims.len())?;
        for mean in [&center, &again.1] {
            let given = reduced(site, "the mean", mean, dims.len())?;
            if given != own {
                return Err(Declined::Axes {
                    what: "the mean",
                    given,
                    expected: own,
                });
            }
        }
        let (mut calls, along) = (Calls::default(), (dims.as_slice(), own.as_slice()));
        let mut part = |what, part: &DfPattern| match site.arg(part) {
            Some(arg) => parameter(site, &mut calls, what, arg, along),
            None => ones(site, &mut calls, data, along),
        };
        let (gamma, beta) = (part("the scale", &scale)?, part("the offset", &offset)?);
        let has = |wanted: bool| AttrValue::Bool(wanted);
        let attrs = attrs([
            ("axes", ints(own.iter().copied())),
            ("epsilon", AttrValue::Float(epsilon)),
            ("center", has(affine == Affine::Both)),
            ("scale", has(affine != Affine::Neither)),
        ]);
        let operands = vec![Operand::Given(data.clone()), gamma, beta];
        calls.add("nn.layer_norm", operands, attrs);
        Ok(Some(calls))
    })
}

/// `x / sqrt(mean(x ** 2) + epsilon)`
fn rms_norm(affine: Affine) -> Idiom {
    let (x, scale) = (wildcard(), wildcard());
    let normalized = Normalized::new(&x, &x);
    let whole = match affine {
        Affine::Both | Affine::Scale => binary("multiply", &normalized.whole, &scale),
        Affine::Neither => normalized.whole.clone(),
    };
    let core = normalized.squares.clone();
    Idiom::new("nn.rms_norm", &whole, &core, move |site| {
        let Some(data) = site.arg(&x) else {
            return Ok(None);
        };
        let dims = site.dims_of("the data", data)?;
        let (own, epsilon) = normalized.of(site, dims.len())?;
        let (mut calls, along) = (Calls::default(), (dims.as_slice(), own.as_slice()));
        let weight = match site.arg(&scale) {
            Some(arg) => parameter(site, &mut calls, "the scale", arg, along)?,
            None => ones(site, &mut calls, data, along)?,
        };
        let attrs = attrs([
            ("axes", ints(own.iter().copied())),
            ("epsilon", AttrValue::Float(epsilon)),
        ]);
        let operands = vec![Operand::Given(data.clone()), weight];
        calls.add("nn.rms_norm", operands, attrs);
        Ok(Some(calls))
    })
}
