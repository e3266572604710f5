//! `decompose_attention`: attention becomes two products with a softmax between them.
//!
//! The operator is one program in blocks (`topi/attention/blocked`) where the device has room for them. Where it has not, its products
//! would be computed row by row, and GPU schedules of products tile and share what they read: there kernels of their own are several
//! times as fast.

use super::PassError;
use super::rewrite_call::replace_calls;
use crate::ir::graph::{Arg, Callee, Def, GraphBuilder, InferError, Op, Scope};
use crate::ir::{AttrValue, Attrs, Expr, Module, StructInfo};
use crate::ops::{self, Threads};
use crate::tensor::scalar::{Scalar, encode};
use crate::tensor::{DType, Tensor};

const ATTENTION: Op = ops::op("nn.attention");
const ATTENTION_BIAS: Op = ops::op("nn.attention_bias");

/// The module where `R.nn.attention` and `R.nn.attention_bias` of float32 are `R.einsum`, `R.nn.softmax` and `R.einsum`. Calls stay that are
/// faster in blocks on a device with these threads, and so do those with a causal mask, with heads of keys that serve several heads of
/// queries, and of narrower floats, whose scores the operator keeps in float32.
///
/// ```text
/// y = R.nn.attention_bias(q, k, v, b, scale=s)    →    a = R.einsum((q, k), "bqhd,bkhd->bhqk")
///                                                      c = R.nn.softmax(a * s + b, axis=-1)
///                                                      y = R.einsum((c, v), "bhqk,bkhd->bqhd")
/// ```
///
/// # Errors
/// [`PassError::Type`] if the types of a call do not fit.
pub(super) fn decompose_attention(module: &Module, threads: Threads) -> Result<Module, PassError> {
    replace_calls(module, &mut |rewriter, def| {
        let attention = Attention::of(def, &rewriter.scope(), threads);
        let made = attention.map(|attention| attention.products(rewriter.builder()));
        made.transpose()
    })
}

/// A call that can be taken apart.
struct Attention {
    query: Arg,
    key: Arg,
    value: Arg,
    bias: Option<Arg>,
    scale: f64,
}

impl Attention {
    fn of(def: &Def, scope: &Scope<'_>, threads: Threads) -> Option<Self> {
        let (op, args, attrs) = def.op_call()?;
        let (query, key, value, bias) = match args {
            [query, key, value] if op == ATTENTION => (query, key, value, None),
            [query, key, value, bias] if op == ATTENTION_BIAS => (query, key, value, Some(bias)),
            _ => return None,
        };
        let is_set = |name: &str| !matches!(attrs.get(name), None | Some(AttrValue::None));
        if is_set("causal_mask") || is_set("window_size") {
            return None;
        }
        let infos = [query, key, value].map(|arg| scope.arg(arg));
        if ops::nn::attention_has_blocks(infos.each_ref(), threads) {
            return None;
        }
        let [q, k, _] = infos.each_ref().map(extents);
        let ([_, _, heads, size], [_, _, shared, _]) = (q?, k?) else {
            return None;
        };
        let dtype = infos[0].as_tensor().and_then(|info| info.dtype);
        if dtype != Some(DType::F32) || heads != shared {
            return None;
        }
        let scale = match attrs.get("scale") {
            Some(AttrValue::Float(scale)) => *scale,
            _ => 1.0 / (size.as_int().filter(|size| *size > 0)? as f64).sqrt(),
        };
        Some(Self {
            query: query.clone(),
            key: key.clone(),
            value: value.clone(),
            bias: bias.cloned(),
            scale,
        })
    }

    /// Binds scores and shares, and gives the product with the values.
    fn products(self, builder: &mut GraphBuilder) -> Result<Def, InferError> {
        let mut call = |op: &str, args: Vec<Arg>, attrs: Attrs| {
            let made = builder.op("lv", ops::op(op), args, attrs);
            made.map(Arg::Value)
        };
        let subscripts = |text: &str| attr("subscripts", AttrValue::Str(text.to_owned()));
        let operands = vec![Arg::Tuple(vec![self.query, self.key])];
        let mut scores = call("einsum", operands, subscripts("bqhd,bkhd->bhqk"))?;
        if self.scale != 1.0 {
            let scale = Arg::Const(scalar(self.scale));
            scores = call("multiply", vec![scores, scale], Attrs::new())?;
        }
        if let Some(bias) = self.bias {
            scores = call("add", vec![scores, bias], Attrs::new())?;
        }
        let shares = call("nn.softmax", vec![scores], attr("axis", AttrValue::Int(-1)))?;
        Ok(Def::Call {
            callee: Callee::Op(ops::op("einsum")),
            args: vec![Arg::Tuple(vec![shares, self.value])],
            attrs: subscripts("bhqk,bkhd->bqhd"),
            sinfo_args: vec![],
        })
    }
}

fn extents(info: &StructInfo) -> Option<&[Expr]> {
    info.as_tensor()?.shape.dims()
}

fn attr(name: &str, value: AttrValue) -> Attrs {
    Attrs::from_iter([(name.to_owned(), value)])
}

fn scalar(value: f64) -> Tensor {
    let mut bytes = [0; 4];
    encode(Scalar::Float(value), DType::F32.scalar, &mut bytes);
    Tensor::from_bytes(DType::F32, &[], &bytes).expect("four bytes are a float32")
}
