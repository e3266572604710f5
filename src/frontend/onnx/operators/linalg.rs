//! Products of matrices.

use serde_json::json;

use super::Operator;
use crate::frontend::onnx::call::{Call, Outputs, attrs, number, one};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::fit::Extent;
use crate::relax::{self, Expr};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Det", &[11, 22], |c| c.simple("det", 1)),
    Operator::new("Einsum", &[12], einsum),
    Operator::new("Gemm", &[7, 9, 11, 13], gemm),
    Operator::new("MatMul", &[1, 9, 13], |c| c.simple("matmul", 2)),
];

fn einsum(c: &mut Call<'_, '_>) -> Outputs {
    let subscripts = c.attributes.str("equation")?;
    let subscripts = subscripts.ok_or_else(|| Fault::NoAttribute("equation".to_owned()))?;
    let operands: Result<Vec<Expr>, Fault> = (0..c.inputs.len()).map(|at| c.x(at)).collect();
    let subscripts: String = subscripts.chars().filter(|c| !c.is_whitespace()).collect();
    one(c.op_with(
        "einsum",
        [relax::tuple(operands?)],
        &json!({"subscripts": subscripts}),
    )?)
}

/// Refuses matrices that do not fit each other, and an addend that does not broadcast to their product.
fn check_gemm(c: &Call<'_, '_>) -> Result<(), Fault> {
    let turned = [
        c.attributes.flag("transA", false)?,
        c.attributes.flag("transB", false)?,
    ];
    let mut sizes = vec![];
    for (index, is_turned) in turned.into_iter().enumerate() {
        c.expect_extents(index, &[Extent::any("rows"), Extent::any("columns")])?;
        let mut dims = c.dims(index)?;
        if is_turned {
            dims.reverse();
        }
        sizes.push(dims);
    }
    let [m, k, n] = [&sizes[0][0], &sizes[0][1], &sizes[1][1]];
    c.expect_same("inner extent", (1, &sizes[1][0]), (0, k))?;
    c.expect_broadcast(2, &[("rows", m), ("columns", n)])
}

/// `alpha * a @ b + beta * c`, where `a` and `b` may be transposed.
fn gemm(c: &mut Call<'_, '_>) -> Outputs {
    let alpha = c.attributes.float_or("alpha", 1.0)?;
    let beta = c.attributes.float_or("beta", 1.0)?;
    let dtype = c.dtype(0)?;
    check_gemm(c)?;
    let matrix = |c: &mut Call<'_, '_>, index: usize, name: &str| {
        let x = c.x(index)?;
        Ok::<_, Fault>(match c.attributes.flag(name, false)? {
            true => relax::op_with("permute_dims", [x], attrs(&json!({"axes": [1, 0]}))),
            false => x,
        })
    };
    let (a, b) = (matrix(c, 0, "transA")?, matrix(c, 1, "transB")?);
    let mut y = relax::op("matmul", [a, b]);
    if alpha != 1.0 {
        y = relax::op("multiply", [y, number(alpha, dtype)?]);
    }
    if let Some(mut bias) = c.optional(2)?
        && beta != 0.0
    {
        if beta != 1.0 {
            bias = relax::op("multiply", [bias, number(beta, dtype)?]);
        }
        y = relax::op("add", [y, bias]);
    }
    one(c.emit(y)?)
}
