//! `If` whose branches no one type has.

use super::sequences::graph;
use super::*;
use crate::tensor::DType;

/// An `If` on the input `c` whose branches make `t` of `x` by these nodes, and the nodes after it, which make `y`.
fn chosen(then: NodeProto, otherwise: NodeProto, after: Vec<NodeProto>) -> Vec<u8> {
    let mut chosen = node("If", &["c"], &["t"]);
    for (name, made) in [("then_branch", then), ("else_branch", otherwise)] {
        chosen
            .attribute
            .push(graph(name, vec![made], vec![], "made"));
    }
    let mut nodes = vec![chosen];
    nodes.extend(after);
    let inputs = vec![port_of("c", &[], 9), port("x", &["1", "n"])];
    of_version(&model(nodes, vec![ints("first", &[0])], inputs, &["y"]), 17)
}

fn called(bytes: &[u8], flag: bool) -> Tensor {
    let condition = Tensor::from_bytes(DType::BOOL, &[], &[u8::from(flag)]);
    let x = Tensor::from_slice(&[1, 3], &[1f32, -2.0, 3.0]).expect("three");
    run(bytes, &[condition.expect("one"), x]).swap_remove(0)
}

#[test]
fn each_branch_goes_on_with_its_number_of_dimensions() {
    let after = vec![
        node("Relu", &["t"], &["r"]),
        node("Neg", &["x"], &["beside"]),
        node("Add", &["r", "beside"], &["s"]),
        node("Reshape", &["s", "flat"], &["y"]),
        node("Shape", &["x"], &["all"]),
        node("Slice", &["all", "one", "two"], &["flat"]),
    ];
    let squeezed = node("Squeeze", &["x", "first"], &["made"]);
    let same = node("Identity", &["x"], &["made"]);
    let mut bytes = ModelProto::decode(chosen(squeezed, same, after).as_slice()).expect("a model");
    let graph = bytes.graph.as_mut().expect("it has a graph");
    graph
        .initializer
        .extend([ints("one", &[1]), ints("two", &[2])]);
    let bytes = bytes.encode_to_vec();
    for flag in [true, false] {
        let y = called(&bytes, flag);
        assert_eq!(y.shape(), [3]);
        assert_eq!(y.as_slice::<f32>(), Ok([0.0, 2.0, 0.0].as_slice()));
    }
}

#[test]
fn outputs_may_have_the_number_of_dimensions_of_the_branch() {
    let squeezed = node("Squeeze", &["x", "first"], &["made"]);
    let same = node("Identity", &["x"], &["made"]);
    let bytes = chosen(squeezed, same, vec![node("Abs", &["t"], &["y"])]);
    assert_eq!(called(&bytes, true).shape(), [3]);
    assert_eq!(called(&bytes, false).shape(), [1, 3]);
}

#[test]
fn sequences_of_other_lengths_are_joined_in_each_branch() {
    let two = node("SequenceConstruct", &["x", "x"], &["made"]);
    let one = node("SequenceConstruct", &["x"], &["made"]);
    let mut joined = node("ConcatFromSequence", &["t"], &["y"]);
    joined.attribute.push(int("axis", 0));
    let bytes = chosen(two, one, vec![joined]);
    assert_eq!(called(&bytes, true).shape(), [2, 3]);
    assert_eq!(called(&bytes, false).shape(), [1, 3]);
}

#[test]
fn branches_of_other_element_types_are_refused() {
    let mut whole = node("Cast", &["x"], &["made"]);
    whole.attribute.push(int("to", 7));
    let same = node("Identity", &["x"], &["made"]);
    let bytes = chosen(whole, same, vec![node("Abs", &["t"], &["y"])]);
    assert_eq!(
        problems(&bytes),
        ["the node that makes `t` (If): its branches give int64 and float32"]
    );
}
