//! Scaled dot-product attention as a composition of operators of the graph, for every operator that holds one.
//!
//! # References
//! A. Vaswani et al., "Attention is all you need", 2017, section 3.2.1.

use serde_json::json;

use super::pieces::{dims_of, part_between};
use crate::frontend::onnx::call::{Call, attrs, cast, in_type, number, shown};
use crate::frontend::onnx::error::Fault;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

/// (batch, sequence, heads * size) as (batch, heads, sequence, size).
pub(super) fn split_heads(
    c: &mut Call<'_, '_>,
    x: impl Into<Expr>,
    [batch, length, width]: [&Size; 3],
    count: i64,
) -> Result<Var, Fault> {
    let size = c.importer.arith.simplify(&width.floor_div(count.max(1)));
    let split = [batch.clone(), length.clone(), Size::i64(count), size];
    let x = c.reshaped(x, split)?;
    c.op_with("permute_dims", [&x], &json!({"axes": [0, 2, 1, 3]}))
}

/// (batch, heads, sequence, size) as (batch, sequence, heads * size).
pub(super) fn join_heads(c: &mut Call<'_, '_>, x: &Var) -> Result<Var, Fault> {
    let dims = dims_of(c, x)?;
    let x = c.op_with("permute_dims", [x], &json!({"axes": [0, 2, 1, 3]}))?;
    let width = c.importer.arith.simplify(&(&dims[1] * &dims[3]));
    c.reshaped(&x, [dims[0].clone(), dims[2].clone(), width])
}

/// Refuses queries, keys and values, each (batch, heads, sequence, size), that do not fit each other. They come from these operands.
pub(super) fn check(c: &Call<'_, '_>, [q, k, v]: [usize; 3], qkv: [&Var; 3]) -> Result<(), Fault> {
    let [query, key, value] = [
        dims_of(c, qkv[0])?,
        dims_of(c, qkv[1])?,
        dims_of(c, qkv[2])?,
    ];
    c.expect_same("batch", (k, &key[0]), (q, &query[0]))?;
    c.expect_same("head size", (k, &key[3]), (q, &query[3]))?;
    c.expect_same("batch", (v, &value[0]), (q, &query[0]))?;
    c.expect_same("number of heads", (v, &value[1]), (k, &key[1]))?;
    c.expect_same("sequence length", (v, &value[2]), (k, &key[2]))?;
    match (query[1].as_int(), key[1].as_int()) {
        (Some(all), Some(own)) if own != all && (own == 0 || all % own != 0) => {
            let given = format!("{} with {own} heads", shown(&c.dims(k)?));
            let expected = format!(
                "of heads whose number divides {all}, that of {}",
                c.operand(q)
            );
            Err(c.bad(k, given, expected))
        }
        _ => Ok(()),
    }
}

/// Each head of keys or values repeated in place, as often as there are heads of queries for it.
pub(super) fn grouped(c: &mut Call<'_, '_>, x: &Var, queries: &Size) -> Result<Var, Fault> {
    let dims = dims_of(c, x)?;
    match (dims[1].as_int(), queries.as_int()) {
        (Some(own), Some(all)) if own != all && own > 0 && all % own == 0 => {
            c.op_with("repeat", [x], &json!({"repeats": all / own, "axis": 1}))
        }
        _ => Ok(x.clone()),
    }
}

/// A cache followed by what is new, along the sequence of (batch, heads, sequence, size).
pub(super) fn appended(c: &mut Call<'_, '_>, past: Expr, new: &Var) -> Result<Var, Fault> {
    let both = relax::tuple([past, new.into()]);
    c.op_with("concat", [both], &json!({"axis": 2}))
}

/// A vector of the first integers, in a shape that puts them along an axis of `rank`, counted from the end.
pub(super) fn positions(count: &Size, from_end: usize, rank: usize) -> Expr {
    let i = relax::op_with(
        "arange",
        [Expr::from(count.clone())],
        attrs(&json!({"dtype": "int64"})),
    );
    let mut dims = vec![Size::i64(1); rank];
    dims[rank - from_end] = count.clone();
    relax::op("reshape", [i, relax::shape(dims)])
}

/// The extent of a vector with a number for each batch.
pub(super) fn batch_of(c: &Call<'_, '_>, index: usize) -> Result<Size, Fault> {
    let dims = c.dims(index)?;
    match dims.as_slice() {
        [batch] => Ok(batch.clone()),
        _ => Err(c.bad(index, shown(&dims), "a vector with a number for each batch")),
    }
}

/// A vector with a number for each batch as a tensor that broadcasts to the products.
pub(super) fn each_batch(x: Expr, batch: &Size) -> Expr {
    let one = Size::i64(1);
    let dims = [batch.clone(), one.clone(), one.clone(), one];
    relax::op("reshape", [x, relax::shape(dims)])
}

/// What is added to the products before softmax.
pub(super) struct Bias {
    pub(super) value: Option<Var>,
    pub(super) dtype: DType,
}

impl Bias {
    pub(super) fn and(&mut self, c: &mut Call<'_, '_>, bias: Expr) -> Result<(), Fault> {
        let sum = match &self.value {
            Some(value) => value + bias,
            None => bias,
        };
        self.value = Some(c.emit(sum)?);
        Ok(())
    }

    /// Adds minus infinity where a query may not look.
    pub(super) fn allow(&mut self, c: &mut Call<'_, '_>, allowed: Expr) -> Result<(), Fault> {
        let (zero, never) = (
            number(0.0, self.dtype)?,
            number(f64::NEG_INFINITY, self.dtype)?,
        );
        self.and(c, relax::op("where", [allowed, zero, never]))
    }

    /// The least finite number instead where a query may not look: a query that may look nowhere then looks everywhere alike.
    pub(super) fn restrict(&mut self, c: &mut Call<'_, '_>, allowed: Expr) -> Result<(), Fault> {
        let least = number(-self.dtype.scalar.max_finite(), self.dtype)?;
        let kept = match &self.value {
            Some(value) => value.into(),
            None => number(0.0, self.dtype)?,
        };
        self.value = Some(c.op("where", [allowed, kept, least])?);
        Ok(())
    }
}

/// What a query gets that may look at no key: every number of its bias is minus infinity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unseeing {
    /// Zeros.
    Zero,
    /// Anything: the operator has no such query.
    Any,
}

/// Attention of queries to keys, each (batch, heads, sequence, size).
pub(super) struct DotProduct {
    pub(super) query: Var,
    pub(super) key: Var,
    pub(super) value: Var,
    pub(super) dtype: DType,
    /// What products are multiplied by; 1 / sqrt(size) if nothing is said.
    pub(super) scale: Option<f64>,
    /// Products are between minus this number and this number, unless it is 0.
    pub(super) softcap: f64,
    pub(super) bias: Option<Var>,
    /// The element type in which softmax is computed.
    pub(super) precision: DType,
    /// A product, (1, heads, 1, 1), that counts in the denominator of softmax and has no value.
    pub(super) sink: Option<Expr>,
    pub(super) unseeing: Unseeing,
}

/// What attention gives, and the products on the way.
pub(super) struct Attended {
    /// (batch, heads, sequence, size)
    pub(super) y: Var,
    /// Products after the scale.
    pub(super) raw: Var,
    /// After the cap.
    pub(super) capped: Var,
    /// After the bias.
    pub(super) biased: Var,
    /// After softmax.
    pub(super) shares: Var,
}

impl DotProduct {
    pub(super) fn attend(self, c: &mut Call<'_, '_>) -> Result<Attended, Fault> {
        let dims = dims_of(c, &self.query)?;
        let key = grouped(c, &self.key, &dims[1])?;
        let value = grouped(c, &self.value, &dims[1])?;
        let raw = self.products(c, &dims, &key)?;
        let capped = match self.softcap > 0.0 {
            true => {
                let cap = number(self.softcap, self.dtype)?;
                let scaled = relax::op("tanh", [&raw / cap.clone()]);
                c.emit(scaled * cap)?
            }
            false => raw.clone(),
        };
        let biased = match &self.bias {
            Some(bias) => c.emit(&capped + bias)?,
            None => capped.clone(),
        };
        let nowhere = self.nowhere(c)?;
        let mut shares = self.shares(c, &dims, &biased)?;
        // What is mixed becomes 0 in the end where nobody asks for the shares, so that the products around softmax are attention.
        let of_shares = c.wants(3);
        let zeroed = |c: &mut Call<'_, '_>, x: &Var| match &nowhere {
            Some(nowhere) => c.op(
                "where",
                [nowhere.clone(), number(0.0, self.dtype)?, x.into()],
            ),
            None => Ok(x.clone()),
        };
        if of_shares {
            shares = zeroed(c, &shares)?;
        }
        let mut y = c.op("matmul", [&shares, &value])?;
        if !of_shares {
            y = zeroed(c, &y)?;
        }
        Ok(Attended {
            y,
            raw,
            capped,
            biased,
            shares,
        })
    }

    /// Half of the scale is on each side, so that products of float16 stay within their type.
    fn products(&self, c: &mut Call<'_, '_>, dims: &[Size], key: &Var) -> Result<Var, Fault> {
        let scale = match self.scale {
            Some(scale) => scale,
            None => {
                let size = dims[3].as_int();
                let size = size.ok_or_else(|| {
                    c.bad(0, shown(dims), "queries whose heads have a constant size")
                })?;
                1.0 / (size as f64).sqrt()
            }
        };
        let root = scale.abs().sqrt();
        let query = &self.query * number(root.copysign(scale), self.dtype)?;
        let turned = attrs(&json!({"axes": [0, 1, 3, 2]}));
        let key = relax::op_with("permute_dims", [key], turned);
        let key = key * number(root, self.dtype)?;
        c.op("matmul", [query, key])
    }

    fn shares(&self, c: &mut Call<'_, '_>, dims: &[Size], biased: &Var) -> Result<Var, Fault> {
        let mut input = in_type(biased, self.dtype, self.precision);
        let last = attrs(&json!({"axis": -1}));
        if let Some(sink) = &self.sink {
            let column = dims[..3].iter().cloned().chain([Size::i64(1)]);
            let sink = relax::op("broadcast_to", [sink.clone(), relax::shape(column)]);
            let sink = match self.dtype == self.precision {
                true => sink,
                false => cast(sink, self.precision),
            };
            input = relax::op_with("concat", [relax::tuple([input, sink])], last.clone());
        }
        let mut shares = c.emit(relax::op_with("nn.softmax", [input], last))?;
        if self.sink.is_some() {
            let keys = dims_of(c, biased)?.swap_remove(3);
            shares = part_between(c, &shares, 3, &Size::i64(0), &keys)?;
        }
        match self.precision == self.dtype {
            true => Ok(shares),
            false => c.emit(cast(&shares, self.dtype)),
        }
    }

    /// Which queries may look at no key, (batch, heads, sequence, 1) after broadcasting, if such are to get zeros.
    fn nowhere(&self, c: &mut Call<'_, '_>) -> Result<Option<Expr>, Fault> {
        let (Some(bias), Unseeing::Zero) = (&self.bias, self.unseeing) else {
            return Ok(None);
        };
        let last = attrs(&json!({"axis": [-1], "keepdims": true}));
        let greatest = relax::op_with("max", [bias], last);
        let never = number(f64::NEG_INFINITY, self.dtype)?;
        let nowhere = c.op("equal", [greatest, never])?;
        Ok(Some((&nowhere).into()))
    }
}
