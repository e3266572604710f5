//! Inference of operators and calls.

use super::*;
use crate::ir::graph::GraphBuilder;
use crate::ir::{AttrValue, Var};
use crate::tensor::DType;

fn tensor(dims: &[i64]) -> StructInfo {
    StructInfo::tensor(dims.iter().map(|&d| Expr::i64(d)).collect(), DType::F32)
}

fn op(
    name: &str,
    operands: &[StructInfo],
    attrs: &[(&str, AttrValue)],
) -> Result<StructInfo, InferError> {
    let mut b = GraphBuilder::new("f");
    let args = operands
        .iter()
        .map(|info| Arg::Value(b.param("x", info.clone())))
        .collect();
    let attrs = attrs.iter().map(|(k, v)| ((*k).to_owned(), v.clone()));
    b.infer(&Def::Call {
        callee: Callee::Op(name.to_owned()),
        args,
        attrs: attrs.collect(),
        sinfo_args: vec![],
    })
}

fn ints(values: &[i64]) -> AttrValue {
    AttrValue::List(values.iter().copied().map(AttrValue::Int).collect())
}

#[test]
fn binary_operators_broadcast() {
    assert_eq!(
        op("add", &[tensor(&[4, 1]), tensor(&[3])], &[]),
        Ok(tensor(&[4, 3]))
    );
    let error = op("add", &[tensor(&[2, 3]), tensor(&[4, 3])], &[]).expect_err("2 and 4");
    assert_eq!(
        error.to_string(),
        "R.add: extents 2 and 4 of dimension 0 do not broadcast"
    );
    let n = StructInfo::tensor(vec![Var::new("n", DType::I64).expr()], DType::F32);
    let unknown = op("add", &[n.clone(), tensor(&[3])], &[]).expect("may be equal");
    assert_eq!(
        unknown.as_tensor().map(|t| t.shape.clone()),
        Some(ShapeInfo::Ndim(1))
    );
    assert_eq!(op("add", &[n.clone(), tensor(&[1])], &[]), Ok(n));
}

#[test]
fn matmul_takes_vectors_and_batches() {
    let shapes = [
        (&[2i64, 3][..], &[3i64, 4][..], &[2i64, 4][..]),
        (&[3], &[3, 4], &[4]),
        (&[2, 3], &[3], &[2]),
        (&[3], &[3], &[]),
        (&[5, 1, 2, 3], &[7, 3, 4], &[5, 7, 2, 4]),
    ];
    for (a, b, c) in shapes {
        assert_eq!(op("matmul", &[tensor(a), tensor(b)], &[]), Ok(tensor(c)));
    }
    assert!(matches!(
        op("matmul", &[tensor(&[2, 3]), tensor(&[4, 3])], &[]),
        Err(InferError::Extents { .. })
    ));
}

#[test]
fn dimensions_move_join_and_part() {
    let x = tensor(&[4, 6]);
    assert_eq!(
        op("permute_dims", std::slice::from_ref(&x), &[]),
        Ok(tensor(&[6, 4]))
    );
    assert_eq!(
        op("sum", std::slice::from_ref(&x), &[("axis", ints(&[-1]))]),
        Ok(tensor(&[4]))
    );
    let sections = ("indices_or_sections", AttrValue::Int(2));
    let parts = op(
        "split",
        std::slice::from_ref(&x),
        &[sections, ("axis", AttrValue::Int(1))],
    );
    assert_eq!(parts, Ok(StructInfo::Tuple(vec![tensor(&[4, 3]); 2])));
    let pair = StructInfo::Tuple(vec![x.clone(), tensor(&[4, 2])]);
    assert_eq!(
        op("concat", &[pair], &[("axis", AttrValue::Int(1))]),
        Ok(tensor(&[4, 8]))
    );
    assert!(matches!(
        op("sum", &[x], &[("axis", ints(&[2]))]),
        Err(InferError::Axis {
            axis: 2,
            ndim: 2,
            ..
        })
    ));
}

#[test]
fn convolution_follows_layouts() {
    let (x, w) = (tensor(&[1, 3, 224, 224]), tensor(&[3, 16, 3, 3]));
    let layout = ("kernel_layout", AttrValue::Str("IOHW".into()));
    let padded = op(
        "nn.conv2d",
        &[x.clone(), w.clone()],
        &[("padding", ints(&[1, 1])), layout],
    );
    assert_eq!(padded, Ok(tensor(&[1, 16, 224, 224])));
    assert!(matches!(
        op("nn.conv2d", &[x, w], &[]),
        Err(InferError::Extents { .. })
    ));
}

#[test]
fn a_call_binds_the_symbolic_variables_of_the_callee() {
    let n = Var::new("n", DType::I64);
    let of_n = |dim: Expr| StructInfo::tensor(vec![dim], DType::F32);
    let signature = StructInfo::Callable {
        params: Some(vec![of_n(n.expr())]),
        ret: Box::new(of_n(n.expr() + 1)),
        pure: true,
    };
    let globals = Globals::new([("f".to_owned(), signature)].into_iter().collect());
    let mut b = GraphBuilder::in_module("g", globals);
    let m = Var::new("m", DType::I64);
    let x = b.param("x", of_n(m.expr()));
    let call = |args| Def::Call {
        callee: Callee::Global("f".into()),
        args,
        attrs: Attrs::new(),
        sinfo_args: vec![],
    };
    assert_eq!(b.infer(&call(vec![Arg::Value(x)])), Ok(of_n(m.expr() + 1)));
    assert!(matches!(
        b.infer(&call(vec![])),
        Err(InferError::ArgumentCount {
            expected: 1,
            got: 0,
            ..
        })
    ));
}
