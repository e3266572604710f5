//! Normalisations.

use crate::ir::StructInfo;
use crate::ir::graph::{AttrDefault, AttrKind, OpCall};
use crate::ops::def::{DTypes, OpDef, Pattern, attr, tensor};
use crate::ops::rules;

pub(in crate::ops) const OPS: &[OpDef] = &[OpDef::new(
    "nn.batch_norm",
    "normalised per channel; the result, running mean and running variance",
)
.operands(&[
    tensor("data"),
    tensor("gamma"),
    tensor("beta"),
    tensor("moving_mean"),
    tensor("moving_var"),
])
.attrs(&[
    attr("axis", AttrKind::Int, AttrDefault::Required),
    attr("epsilon", AttrKind::Float, AttrDefault::Float(1e-5)),
    attr("center", AttrKind::Bool, AttrDefault::Bool(true)),
    attr("scale", AttrKind::Bool, AttrDefault::Bool(true)),
    attr("momentum", AttrKind::Float, AttrDefault::Float(0.1)),
    attr("training", AttrKind::Bool, AttrDefault::Bool(true)),
])
.dtypes(DTypes::Float)
.infer(batch_norm)
.pattern(Pattern::OutEWiseFusable)];

fn batch_norm(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let [data, _, _, mean, variance] = c.operands else {
        return Ok(StructInfo::Object);
    };
    let items = [data, mean, variance].map(Clone::clone);
    Ok(StructInfo::Tuple(items.to_vec()))
}
