//! Scaled dot-product attention, with the transposes that exporters put around it.
//!
//! # References
//! A. Vaswani et al., "Attention is all you need", 2017, section 3.2.

use super::Declined;
use super::idiom::{Calls, Idiom, Match, Operand, attrs, axes, binary, ints, same_dims, scalar};
use crate::ir::graph::pattern::{DfPattern, is_op, is_op_with_first, wildcard};
use crate::ir::graph::{Arg, Op, ValueId};
use crate::ir::{AttrValue, Attrs, Expr};
use crate::ops;
use crate::passes::recognize_causal_masks::is_causal;
use crate::tensor::Tensor;

const DIVIDE: Op = ops::op("divide");
const MULTIPLY: Op = ops::op("multiply");
const PERMUTE_DIMS: Op = ops::op("permute_dims");

/// Batch, heads, sequence and size as the operator has them, of what a product of heads has: both ways.
const HEADS_INSIDE: [usize; 4] = [0, 2, 1, 3];
/// The same of keys that are transposed for the product.
const KEYS_INSIDE: [usize; 4] = [0, 3, 1, 2];

/// Attention whose result is transposed, and attention whose result is not.
pub(super) fn idioms() -> Vec<Idiom> {
    let parts = Parts::new();
    let transposed = is_op(PERMUTE_DIMS, [&parts.mixed]);
    let whole = [transposed, parts.mixed.clone()];
    let idiom = |whole: DfPattern| {
        let parts = parts.clone();
        let core = parts.softmax.clone();
        let pattern = whole.clone();
        Idiom::new("nn.attention", &pattern, &core, move |site| {
            parts.instead(site, &whole)
        })
    };
    whole.map(idiom).into()
}

#[derive(Clone)]
struct Parts {
    query: DfPattern,
    key: DfPattern,
    value: DfPattern,
    factor: DfPattern,
    divisor: DfPattern,
    mask: DfPattern,
    replaced: DfPattern,
    softmax: DfPattern,
    mixed: DfPattern,
}

impl Parts {
    fn new() -> Self {
        let [query, key, value, factor, divisor, mask, condition] =
            std::array::from_fn(|_| wildcard());
        let product = binary("matmul", &query, &key);
        let scaled = &binary("multiply", &product, &factor) | &binary("divide", &product, &divisor);
        let scaled = &scaled | &product;
        let choice = ops::op("where");
        let replaced = &is_op(choice, [&condition, &scaled, &mask])
            | &is_op(choice, [&condition, &mask, &scaled]);
        let scores = &(&binary("add", &scaled, &mask) | &replaced) | &scaled;
        let softmax = is_op_with_first(ops::op("nn.softmax"), [&scores]);
        let mixed = binary("matmul", &softmax, &value);
        Self {
            query,
            key,
            value,
            factor,
            divisor,
            mask,
            replaced,
            softmax,
            mixed,
        }
    }

    fn instead(&self, site: &Match<'_>, whole: &DfPattern) -> Result<Option<Calls>, Declined> {
        let operands = [&self.query, &self.key, &self.value].map(|part| site.arg(part));
        let ([Some(query), Some(key), Some(value)], Some(mixed)) =
            (operands, site.arg(&self.mixed))
        else {
            return Ok(None);
        };
        let dims = [
            site.dims_of("the query", query)?,
            site.dims_of("the key", key)?,
            site.dims_of("the value", value)?,
        ];
        let ndim = dims[0].len();
        let wrong = |dims: &Vec<Expr>| dims.len() != ndim || !(3..=4).contains(&ndim);
        if let Some(at) = dims.iter().position(wrong) {
            let what = ["the query", "the key", "the value"][at];
            return Err(Declined::Shape { what });
        }
        // The operator broadcasts neither batches nor heads.
        for (what, other) in [("the key", &dims[1]), ("the value", &dims[2])] {
            if !same_dims(&dims[0][..ndim - 2], &other[..ndim - 2]) {
                return Err(Declined::Shape { what });
            }
        }
        let along = site.matches.attrs(&self.softmax, site.scope);
        let along = along.and_then(|own| axes(own, "axis", ndim));
        if along.as_deref() != Some(&[ndim - 1]) {
            return Err(Declined::Axes {
                what: "softmax",
                given: along.unwrap_or_default(),
                expected: vec![ndim - 1],
            });
        }
        let bias = match (site.arg(&self.replaced), site.arg(&self.mask)) {
            (Some(replaced), _) => {
                let lengths = [&dims[0][ndim - 2], &dims[1][ndim - 1]];
                Some(Bias::of_replaced(site, replaced, lengths)?)
            }
            (None, mask) => mask.cloned().map(Bias::Given),
        };
        let mut scale = 1.0;
        if let Some(factor) = site.arg(&self.factor) {
            scale *= site.number("the scale", factor)?;
        }
        if let Some(divisor) = site.arg(&self.divisor) {
            scale /= site.number("the scale", divisor)?;
        }
        let (query, key) = (
            Operands::scaled(site, query, ndim),
            Operands::scaled(site, key, ndim),
        );
        scale *= query.scale * key.scale;
        let result = match site.arg(whole) {
            Some(arg) if arg != mixed => {
                let own = site.matches.attrs(whole, site.scope);
                let axes = own.and_then(|own| permutation(own, ndim));
                Some(axes.ok_or(Declined::Shape { what: "the result" })?)
            }
            _ => None,
        };
        let attention = Attention {
            query,
            key,
            value: Operands::unscaled(site, value, ndim),
            dims,
            bias,
            scale,
            result,
        };
        if ndim == 3 {
            let calls = attention.by_batches(site);
            return calls.map(Some).ok_or(Declined::Shape { what: "the query" });
        }
        match attention.in_layout(site) {
            Ok(calls) => Ok(Some(calls)),
            Err(declined) => attention.by_batches(site).map(Some).ok_or(declined),
        }
    }
}

/// What was found.
struct Attention {
    query: Operands,
    key: Operands,
    value: Operands,
    /// The extents of each as the products have it: batch and heads, or both as one, then rows and columns.
    dims: [Vec<Expr>; 3],
    bias: Option<Bias>,
    scale: f64,
    /// The order of dimensions that a transpose gives the result.
    result: Option<Vec<usize>>,
}

impl Attention {
    /// The operator in its own layout, with heads after the sequence: transposes go, or move.
    fn in_layout(&self, site: &Match<'_>) -> Result<Calls, Declined> {
        let mut calls = Calls::default();
        let mut layout = Layout::default();
        let bias = self.bias.as_ref().map(|bias| bias.bound(&mut calls));
        let operands = [
            layout.operand(&mut calls, &self.query, HEADS_INSIDE),
            layout.operand(&mut calls, &self.key, KEYS_INSIDE),
            layout.operand(&mut calls, &self.value, HEADS_INSIDE),
        ];
        let attended = self.attended(&mut calls, operands, bias);
        layout
            .saved
            .extend(self.result.is_some().then_some(site.value));
        let result = self.result.clone().unwrap_or(vec![0, 1, 2, 3]);
        let back: Vec<usize> = result.iter().map(|&at| HEADS_INSIDE[at]).collect();
        if back != [0, 1, 2, 3] {
            layout.added += 1;
            let axes = attrs([("axes", ints(back))]);
            calls.add("permute_dims", vec![attended], axes);
        }
        let (added, saved) = (layout.added, layout.saved.len());
        match added <= saved {
            true => Ok(calls),
            false => Err(Declined::Transposes { added, saved }),
        }
    }

    /// The operator with each head as a batch of its own, which takes no transposes but that of the keys. What is added to the scores must
    /// be the same for all heads of all batches, or have them all.
    fn by_batches(&self, site: &Match<'_>) -> Option<Calls> {
        let ndim = self.dims[0].len();
        let in_order: Vec<usize> = (0..ndim).collect();
        let mut transposed = in_order.clone();
        transposed.swap(ndim - 2, ndim - 1);
        let orders = [&self.query.axes, &self.key.axes, &self.value.axes];
        if orders != [&in_order, &transposed, &in_order] {
            return None;
        }
        let heads = &self.dims[0][..ndim - 2];
        let batches = heads.iter().cloned().reduce(|all, extent| all * extent)?;
        let [queries, keys, values] = self.dims.each_ref().map(|dims| &dims[ndim - 2..]);
        let one = || Expr::i64(1);
        let apart = |rows: &Expr, columns: &Expr| {
            vec![batches.clone(), rows.clone(), one(), columns.clone()]
        };
        let mut calls = Calls::default();
        let bias = match &self.bias {
            None => None,
            Some(Bias::Given(arg)) => {
                let dims = site.dims(arg)?;
                let of_heads = &dims[..dims.len().saturating_sub(2)];
                let given = Operand::Given(arg.clone());
                Some(if of_heads.iter().all(Expr::is_one) {
                    given
                } else if same_dims(of_heads, heads) {
                    let scores = dims[ndim - 2..].iter().cloned();
                    let shape = [batches.clone(), one()].into_iter().chain(scores);
                    reshaped(&mut calls, given, shape.collect())
                } else {
                    return None;
                })
            }
            Some(Bias::Chosen(_)) => return None,
        };
        let mut operand = |of: &Operands, rows: &Expr, columns: &Expr| {
            let base = Operand::Given(of.base.clone());
            reshaped(&mut calls, base, apart(rows, columns))
        };
        let operands = [
            operand(&self.query, &queries[0], &queries[1]),
            operand(&self.key, &keys[1], &keys[0]),
            operand(&self.value, &values[0], &values[1]),
        ];
        let attended = self.attended(&mut calls, operands, bias);
        let rows = [queries[0].clone(), values[1].clone()];
        let result = reshaped(&mut calls, attended, [heads, &rows].concat());
        if let Some(axes) = &self.result {
            let axes = attrs([("axes", ints(axes.clone()))]);
            calls.add("permute_dims", vec![result], axes);
        }
        Some(calls)
    }

    fn attended(&self, calls: &mut Calls, of: [Operand; 3], bias: Option<Operand>) -> Operand {
        let op = match bias {
            Some(_) => "nn.attention_bias",
            None => "nn.attention",
        };
        let args = of.into_iter().chain(bias).collect();
        calls.add(op, args, attrs([("scale", AttrValue::Float(self.scale))]))
    }
}

fn reshaped(calls: &mut Calls, x: Operand, shape: Vec<Expr>) -> Operand {
    let shape = Operand::Given(Arg::Shape(shape));
    calls.add("reshape", vec![x, shape], attrs([]))
}

/// What is added to the scores.
enum Bias {
    Given(Arg),
    /// The operands of a choice between nothing and a number that hides a score.
    Chosen([Arg; 3]),
}

impl Bias {
    fn bound(&self, calls: &mut Calls) -> Operand {
        match self {
            Self::Given(arg) => Operand::Given(arg.clone()),
            Self::Chosen(choice) => {
                let args = choice.iter().cloned().map(Operand::Given).collect();
                calls.add("where", args, attrs([]))
            }
        }
    }

    /// What is added to scores instead of replacing some of them by a number. That is the same where scores vanish beside the number, and
    /// where each query has a score that stays, beside which the others have no weight.
    fn of_replaced(
        site: &Match<'_>,
        replaced: &Arg,
        [queries, keys]: [&Expr; 2],
    ) -> Result<Self, Declined> {
        let Some((_, _, [condition, first, second], _)) = site.call(replaced) else {
            return Err(Declined::MaskReplaces);
        };
        let (hidden, stays) = match (scalar(first), scalar(second)) {
            (_, Some(hidden)) => (hidden, true),
            (Some(hidden), None) => (hidden, false),
            (None, None) => return Err(Declined::MaskReplaces),
        };
        let causal = || stays && is_causal(condition, site.scope, [queries, keys], hidden);
        if hidden > SWALLOWS && !causal() {
            return Err(Declined::MaskReplaces);
        }
        let zero = |like: &Arg| {
            let dtype = site.dtype(like)?;
            Some(Arg::Const(Tensor::zeros(dtype, &[]).ok()?))
        };
        let number = if stays { second } else { first }.clone();
        let zero = zero(&number).ok_or(Declined::Shape { what: "the mask" })?;
        let [first, second] = if stays {
            [zero, number]
        } else {
            [number, zero]
        };
        Ok(Self::Chosen([condition.clone(), first, second]))
    }
}

/// A score to which this is added is this, unless it is as large.
const SWALLOWS: f64 = -1e30;

/// An operand without the transposes and scalar factors before it.
struct Operands {
    base: Arg,
    /// The dimension of the base that each dimension of the operand is.
    axes: Vec<usize>,
    scale: f64,
    /// Transposes that nothing else uses.
    transposes: Vec<ValueId>,
}

impl Operands {
    fn scaled(site: &Match<'_>, arg: &Arg, ndim: usize) -> Self {
        let mut operand = Self::unscaled(site, arg, ndim);
        while let Some((scale, base)) = factor(site, &operand.base) {
            operand.scale *= scale;
            operand.base = base;
            operand.look_through(site);
        }
        operand
    }

    fn unscaled(site: &Match<'_>, arg: &Arg, ndim: usize) -> Self {
        let mut operand = Self {
            base: arg.clone(),
            axes: (0..ndim).collect(),
            scale: 1.0,
            transposes: vec![],
        };
        operand.look_through(site);
        operand
    }

    /// Goes through transposes.
    fn look_through(&mut self, site: &Match<'_>) {
        while let Some((id, op, [data], own)) = site.call(&self.base)
            && op == PERMUTE_DIMS
            && let Some(axes) = permutation(own, self.axes.len())
        {
            self.axes.iter_mut().for_each(|at| *at = axes[*at]);
            if site.is_used_once(id) {
                self.transposes.push(id);
            }
            self.base = data.clone();
        }
    }
}

/// A constant scalar with which an argument is multiplied, and what is multiplied.
fn factor(site: &Match<'_>, arg: &Arg) -> Option<(f64, Arg)> {
    let (_, op, [a, b], _) = site.call(arg)? else {
        return None;
    };
    let (scale, base) = match (scalar(a), scalar(b)) {
        (_, Some(scale)) if op == MULTIPLY => (scale, a),
        (Some(scale), _) if op == MULTIPLY => (scale, b),
        (_, Some(divisor)) if op == DIVIDE => (1.0 / divisor, a),
        _ => return None,
    };
    same_dims(&site.dims(arg)?, &site.dims(base)?).then(|| (scale, base.clone()))
}

/// The dimensions of the operand in the order of the result.
fn permutation(own: &Attrs, ndim: usize) -> Option<Vec<usize>> {
    let AttrValue::List(values) = own.get("axes")? else {
        return Some((0..ndim).rev().collect());
    };
    let axis = |value: &AttrValue| {
        let axis = value.as_int()?;
        usize::try_from(if axis < 0 { axis + ndim as i64 } else { axis }).ok()
    };
    let axes = values.iter().map(axis).collect::<Option<Vec<_>>>()?;
    (axes.len() == ndim && axes.iter().all(|at| *at < ndim)).then_some(axes)
}

/// Transposes that the layout of the operator takes, and those that it makes superfluous.
#[derive(Default)]
struct Layout {
    added: usize,
    saved: Vec<ValueId>,
}

impl Layout {
    /// The operand with its dimensions in this order.
    fn operand(&mut self, calls: &mut Calls, of: &Operands, order: [usize; 4]) -> Operand {
        for id in &of.transposes {
            if !self.saved.contains(id) {
                self.saved.push(*id);
            }
        }
        let axes = order.map(|at| of.axes[at]);
        let base = Operand::Given(of.base.clone());
        if axes == [0, 1, 2, 3] {
            return base;
        }
        self.added += 1;
        calls.add("permute_dims", vec![base], attrs([("axes", ints(axes))]))
    }
}
