//! Inference of operators and calls.

use super::*;
use crate::ir::graph::{Arg, Callee, Def, GraphBuilder, InferError};
use crate::ir::{AttrValue, Expr, StructInfo, Var};
use crate::tensor::DType;

fn tensor(dims: &[i64]) -> StructInfo {
    StructInfo::tensor(dims.iter().map(|&d| Expr::i64(d)).collect(), DType::F32)
}

fn call(
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
        callee: Callee::Op(op(name)),
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
        call("add", &[tensor(&[4, 1]), tensor(&[3])], &[]),
        Ok(tensor(&[4, 3]))
    );
    let error = call("add", &[tensor(&[2, 3]), tensor(&[4, 3])], &[]).expect_err("2 and 4");
    assert_eq!(
        error.to_string(),
        "R.add: extents 2 and 4 of dimension 0 do not broadcast"
    );
    let n = StructInfo::tensor(vec![Var::new("n", DType::I64).expr()], DType::F32);
    assert_eq!(
        call("add", &[n.clone(), tensor(&[3])], &[]),
        Ok(tensor(&[3]))
    );
    let m = StructInfo::tensor(vec![Var::new("m", DType::I64).expr()], DType::F32);
    assert_eq!(call("add", &[n.clone(), m], &[]), Ok(n.clone()));
    assert_eq!(call("add", &[n.clone(), tensor(&[1])], &[]), Ok(n));
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
        assert_eq!(call("matmul", &[tensor(a), tensor(b)], &[]), Ok(tensor(c)));
    }
    assert!(matches!(
        call("matmul", &[tensor(&[2, 3]), tensor(&[4, 3])], &[]),
        Err(InferError::Extents { .. })
    ));
}

#[test]
fn dimensions_move_join_and_part() {
    let x = tensor(&[4, 6]);
    assert_eq!(
        call("permute_dims", std::slice::from_ref(&x), &[]),
        Ok(tensor(&[6, 4]))
    );
    assert_eq!(
        call("sum", std::slice::from_ref(&x), &[("axis", ints(&[-1]))]),
        Ok(tensor(&[4]))
    );
    let sections = ("indices_or_sections", AttrValue::Int(2));
    let parts = call(
        "split",
        std::slice::from_ref(&x),
        &[sections, ("axis", AttrValue::Int(1))],
    );
    assert_eq!(parts, Ok(StructInfo::Tuple(vec![tensor(&[4, 3]); 2])));
    let pair = StructInfo::Tuple(vec![x.clone(), tensor(&[4, 2])]);
    assert_eq!(
        call("concat", &[pair], &[("axis", AttrValue::Int(1))]),
        Ok(tensor(&[4, 8]))
    );
    assert!(matches!(
        call("sum", &[x], &[("axis", ints(&[2]))]),
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
    let padded = call(
        "nn.conv2d",
        &[x.clone(), w.clone()],
        &[("padding", ints(&[1, 1])), layout],
    );
    assert_eq!(padded, Ok(tensor(&[1, 16, 224, 224])));
    assert!(matches!(
        call("nn.conv2d", &[x, w], &[]),
        Err(InferError::Extents { .. })
    ));
}

#[test]
fn names_are_unique_and_definitions_hold_together() {
    let mut seen = std::collections::HashSet::new();
    for def in all() {
        let name = def.schema.name;
        assert!(seen.insert(name), "{name} is defined twice");
        let optional = def.schema.operands.iter().position(|o| o.optional);
        let required = def.schema.operands.iter().rposition(|o| !o.optional);
        assert!(
            optional.is_none_or(|first| required.is_none_or(|last| last < first)),
            "{name}: optional operands come last"
        );
        for spec in def.schema.attrs {
            let taken = def.schema.operands.iter().any(|o| o.name == spec.name);
            assert!(
                !taken,
                "{name}: `{}` is an operand and an attribute",
                spec.name
            );
        }
        assert_eq!(find(name).map(OpDef::op), Some(def.op()));
    }
}

#[test]
fn attributes_are_completed_and_checked() {
    let conv = op("nn.conv2d");
    let given = |name: &str, value| [(name.to_owned(), value)].into_iter().collect();
    let attrs = conv
        .complete(given("strides", AttrValue::Int(2)))
        .expect("one number");
    assert_eq!(attrs["strides"], ints(&[2, 2]));
    assert_eq!(attrs["data_layout"], AttrValue::Str("NCHW".into()));
    assert!(!attrs.contains_key("out_dtype"));
    let unknown = conv
        .complete(given("stride", AttrValue::Int(2)))
        .expect_err("no such attribute");
    assert_eq!(
        unknown.to_string(),
        "R.nn.conv2d has no attribute stride; it has strides, padding, dilation, groups, data_layout, kernel_layout, \
         out_layout, out_dtype"
    );
    let wrong = conv.complete(given("groups", AttrValue::Str("two".into())));
    assert_eq!(
        wrong.expect_err("a text").to_string(),
        "R.nn.conv2d: attribute groups must be an integer, got \"two\""
    );
    let missing = op("astype")
        .complete(Default::default())
        .expect_err("no dtype");
    assert_eq!(missing.to_string(), "R.astype needs the attribute dtype");
}

#[test]
fn the_layout_of_a_result_is_honoured() {
    let (x, w) = (tensor(&[1, 3, 8, 8]), tensor(&[16, 3, 3, 3]));
    let layout = ("out_layout", AttrValue::Str("NHWC".into()));
    assert_eq!(
        call("nn.conv2d", &[x, w], &[layout]),
        Ok(tensor(&[1, 6, 6, 16]))
    );
}
