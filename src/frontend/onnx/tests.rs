//! Models that are made here, message by message.

use std::collections::HashMap;

use prost::Message;

use super::proto::{
    AttributeProto, Dimension, DimensionProto, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, StringStringEntryProto, TensorProto, TensorShapeProto, TensorTypeProto,
    TypeProto, ValueInfoProto, type_proto,
};
use super::*;
use crate::interp;
use crate::tensor::Tensor;

mod branches;
mod contrib;
mod loops;
mod numbers;
mod random;
mod sequences;
mod sizes;

fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    NodeProto {
        op_type: Some(op.to_owned()),
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: outputs.iter().map(|&name| name.to_owned()).collect(),
        ..NodeProto::default()
    }
}

fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        i: Some(value),
        kind: Some(2),
        ..AttributeProto::default()
    }
}

fn list(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        ints: values.to_vec(),
        kind: Some(7),
        ..AttributeProto::default()
    }
}

fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        f: Some(value),
        kind: Some(1),
        ..AttributeProto::default()
    }
}

fn tensor<T: crate::tensor::Element>(shape: &[usize], elements: &[T]) -> Tensor {
    Tensor::from_slice(shape, elements).expect("as many elements")
}

fn port(name: &str, dims: &[&str]) -> ValueInfoProto {
    let dim = |text: &&str| DimensionProto {
        value: Some(match text.parse() {
            Ok(extent) => Dimension::Value(extent),
            Err(_) => Dimension::Param((*text).to_owned()),
        }),
    };
    let tensor = TensorTypeProto {
        elem_type: Some(1),
        shape: Some(TensorShapeProto {
            dim: dims.iter().map(dim).collect(),
        }),
    };
    ValueInfoProto {
        name: Some(name.to_owned()),
        kind: Some(TypeProto {
            value: Some(type_proto::Value::Tensor(tensor)),
        }),
    }
}

fn ints(name: &str, values: &[i64]) -> TensorProto {
    TensorProto {
        name: Some(name.to_owned()),
        data_type: Some(7),
        dims: vec![values.len() as i64],
        int64_data: values.to_vec(),
        ..TensorProto::default()
    }
}

fn floats(name: &str, values: &[f32]) -> TensorProto {
    TensorProto {
        name: Some(name.to_owned()),
        data_type: Some(1),
        dims: vec![values.len() as i64],
        float_data: values.to_vec(),
        ..TensorProto::default()
    }
}

fn model(
    nodes: Vec<NodeProto>,
    weights: Vec<TensorProto>,
    inputs: Vec<ValueInfoProto>,
    outputs: &[&str],
) -> Vec<u8> {
    let graph = GraphProto {
        node: nodes,
        initializer: weights,
        input: inputs,
        output: outputs.iter().map(|name| port(name, &[])).collect(),
        ..GraphProto::default()
    };
    let opset = OperatorSetIdProto {
        domain: None,
        version: Some(17),
    };
    let model = ModelProto {
        graph: Some(graph),
        opset_import: vec![opset],
        ..ModelProto::default()
    };
    model.encode_to_vec()
}

fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        s: Some(value.as_bytes().to_vec()),
        kind: Some(3),
        ..AttributeProto::default()
    }
}

/// An input of another type than float32, by its code.
fn port_of(name: &str, dims: &[&str], elem_type: i32) -> ValueInfoProto {
    let mut port = port(name, dims);
    if let Some(TypeProto {
        value: Some(type_proto::Value::Tensor(tensor)),
    }) = &mut port.kind
    {
        tensor.elem_type = Some(elem_type);
    }
    port
}

/// The same model with outputs of which only the names are said, of another operator set.
fn of_version(bytes: &[u8], version: i64) -> Vec<u8> {
    let mut model = ModelProto::decode(bytes).expect("it was encoded");
    model.opset_import[0].version = Some(version);
    let graph = model.graph.as_mut().expect("it has a graph");
    graph
        .output
        .iter_mut()
        .for_each(|output| output.kind = None);
    model.encode_to_vec()
}

/// What the interpreter computes.
fn run(bytes: &[u8], inputs: &[Tensor]) -> Vec<Tensor> {
    let model = parse(bytes, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let inputs: Vec<_> = inputs.iter().cloned().map(interp::Value::Tensor).collect();
    let result = interp::run_module(&model.module, MAIN, &inputs, &HashMap::new());
    let items = match result.unwrap_or_else(|e| panic!("{e}")) {
        interp::Value::Tuple(items) => items,
        single => vec![single],
    };
    let tensor = |item| match item {
        interp::Value::Tensor(tensor) => tensor,
        other => panic!("{other:?} is no tensor"),
    };
    items.into_iter().map(tensor).collect()
}

fn problems(bytes: &[u8]) -> Vec<String> {
    match parse(bytes, &ImportOptions::default()) {
        Err(OnnxError::Problems(problems)) => problems.0.iter().map(ToString::to_string).collect(),
        other => panic!("expected problems, got {other:?}"),
    }
}

#[test]
fn sizes_are_computed_while_importing() {
    // The shape of x, with its last two extents as one.
    let nodes = vec![
        node("Shape", &["x"], &["shape"]),
        node("Gather", &["shape", "first"], &["batch"]),
        node("Concat", &["batch", "open"], &["to"]),
        node("Reshape", &["x", "to"], &["y"]),
    ];
    let mut nodes = nodes;
    nodes[2].attribute.push(int("axis", 0));
    let weights = vec![ints("first", &[0]), ints("open", &[-1])];
    let bytes = model(
        nodes,
        weights,
        vec![port("x", &["batch", "3", "n"])],
        &["y"],
    );
    let model = parse(&bytes, &ImportOptions::default()).expect("the model is right");
    let text = crate::script::print(&model.module);
    assert!(
        text.contains("R.reshape(x, R.shape([batch, n * 3]))"),
        "{text}"
    );
    assert_eq!(
        model.outputs[0].sinfo.to_string(),
        "R.Tensor((batch, n * 3), dtype=\"float32\")"
    );
}

#[test]
fn nodes_may_be_in_any_order() {
    let nodes = vec![node("Relu", &["t"], &["y"]), node("Abs", &["x"], &["t"])];
    let bytes = model(nodes, vec![], vec![port("x", &["2"])], &["y"]);
    let model = parse(&bytes, &ImportOptions::default()).expect("the model is right");
    assert_eq!(model.inputs.len(), 1);
}

#[test]
fn all_problems_are_reported_with_their_nodes() {
    let mut relu = node("Relu", &["x"], &["r"]);
    relu.attribute.push(int("slope", 1));
    let nodes = vec![
        node("Frobnicate", &["x"], &["a"]),
        relu,
        node("Add", &["x", "nowhere"], &["b"]),
        node("Abs", &["a"], &["c"]),
    ];
    let bytes = model(nodes, vec![], vec![port("x", &["2"])], &["c"]);
    assert_eq!(
        problems(&bytes),
        [
            "the node that makes `a` (Frobnicate): there is no operator `Frobnicate` here",
            "the node that makes `r` (Relu): attribute `slope` is not known",
            "the node that makes `b` (Add): nothing defines `nowhere`",
        ]
    );
}

#[test]
fn nodes_that_need_themselves_are_refused() {
    let nodes = vec![
        node("Add", &["x", "b"], &["a"]),
        node("Abs", &["a"], &["b"]),
    ];
    let bytes = model(nodes, vec![], vec![port("x", &["2"])], &["b"]);
    let problems = problems(&bytes);
    assert!(
        problems[0].contains("it needs its own result"),
        "{problems:?}"
    );
}

#[test]
fn damaged_weights_are_refused() {
    let mut short = ints("w", &[1, 2, 3]);
    short.dims = vec![1 << 40, 1 << 40];
    let mut other = ints("v", &[1, 2, 3]);
    other.dims = vec![4];
    let mut outside = ints("u", &[]);
    outside.data_location = Some(1);
    outside.external_data.push(StringStringEntryProto {
        key: Some("location".to_owned()),
        value: Some("../../etc/passwd".to_owned()),
    });
    let nodes = vec![node("Relu", &["x"], &["y"])];
    let bytes = model(
        nodes,
        vec![short, other, outside],
        vec![port("x", &["2"])],
        &["y"],
    );
    let problems = problems(&bytes);
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].contains("is impossible"), "{problems:?}");
    assert!(problems[1].contains("takes 32"), "{problems:?}");
    assert!(problems[2].contains("without a folder"), "{problems:?}");
}

#[test]
fn files_beside_a_model_stay_in_its_folder() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for bad in ["../w.bin", "/etc/passwd", "", "a/../../w.bin"] {
        assert!(file::beside(folder.path(), bad).is_err(), "{bad}");
    }
    std::fs::write(folder.path().join("w.bin"), [0u8; 4]).expect("the folder can be written");
    assert!(file::beside(folder.path(), "w.bin").is_ok());
}

/// A loop in a loop in a loop, each of which is written out.
#[test]
fn loops_that_multiply_are_refused() {
    let body = |inner: Vec<NodeProto>| GraphProto {
        node: inner,
        input: vec![port("i", &[]), port("going", &[]), port("carried", &["2"])],
        output: vec![port("going", &[]), port("result", &["2"])],
        ..GraphProto::default()
    };
    let around = |graph: GraphProto, from: &str, to: &str| {
        let mut node = node("Loop", &["count", "", from], &[to]);
        node.attribute.push(AttributeProto {
            name: Some("body".to_owned()),
            g: Some(Box::new(graph)),
            kind: Some(5),
            ..AttributeProto::default()
        });
        node
    };
    let mut graph = body(vec![node("Abs", &["carried"], &["result"])]);
    for _ in 0..3 {
        graph = body(vec![around(graph, "carried", "result")]);
    }
    let nodes = vec![around(graph, "x", "y")];
    let bytes = model(
        nodes,
        vec![ints("count", &[200])],
        vec![port("x", &["2"])],
        &["y"],
    );
    let problems = problems(&bytes);
    assert!(
        problems.iter().any(|p| p.contains("more than 50000 nodes")),
        "{problems:?}"
    );
}

#[test]
fn outputs_that_are_not_made_are_reported() {
    let nodes = vec![node("Relu", &["x"], &["y", "z"])];
    let bytes = model(nodes, vec![], vec![port("x", &["2"])], &["z", "y"]);
    assert_eq!(
        problems(&bytes),
        ["the node that makes `y` (Relu): output `z` is not made here"]
    );
}

/// A name is one value; what a node is said to make, it makes.
#[test]
fn names_that_two_things_define_are_refused() {
    let relu = || vec![node("Relu", &["x"], &["y"])];
    let twice = model(
        relu(),
        vec![],
        vec![port("x", &["2"]), port("x", &["2"])],
        &["y"],
    );
    assert_eq!(
        problems(&twice),
        ["the inputs of the model: `x` is defined twice"]
    );
    let weights = vec![ints("y", &[1])];
    let weight = model(relu(), weights, vec![port("x", &["2"])], &["y"]);
    assert_eq!(
        problems(&weight),
        ["the node that makes `y` (Relu): `y` is defined twice"]
    );
}

#[test]
fn branches_make_what_their_node_makes() {
    let mut chosen = node("If", &["c"], &["y"]);
    for name in ["then_branch", "else_branch"] {
        let empty = AttributeProto {
            name: Some(name.into()),
            kind: Some(5),
            g: Some(Box::default()),
            ..AttributeProto::default()
        };
        chosen.attribute.push(empty);
    }
    let bytes = model(vec![chosen], vec![], vec![port_of("c", &[], 9)], &["y"]);
    assert_eq!(
        problems(&bytes),
        ["the node that makes `y` (If): output `y` is not made here"]
    );
}

/// Nodes with too few operands, too many, or constants that are too short.
#[test]
fn operands_are_counted() {
    let one = || vec![ints("c", &[1]), ints("none", &[])];
    for (op, inputs) in [
        ("Neg", &[][..]),
        ("Not", &[]),
        ("Add", &["c"]),
        ("Add", &["c", "c", "c"]),
        ("Where", &["c", "c"]),
        ("Equal", &["c"]),
        ("Dropout", &[]),
        ("Identity", &[]),
        ("Trilu", &["x", "none"]),
        ("TopK", &["x", "none"]),
        ("Slice", &["none", "c", "c", "c", "c", "c"]),
    ] {
        let nodes = vec![node(op, inputs, &["y"])];
        let bytes = model(nodes, one(), vec![port("x", &["2", "2"])], &["y"]);
        // It is enough that it ends.
        let _ = parse(&bytes, &ImportOptions::default());
    }
}

#[test]
fn extents_of_one_name_are_one_and_others_are_not() {
    let inputs = vec![port("x", &["", "n"]), port("y", &["x_0", "n"])];
    let nodes = vec![node("Relu", &["x"], &["a"]), node("Relu", &["y"], &["b"])];
    let bytes = model(nodes, vec![], inputs, &["a", "b"]);
    let model = parse(&bytes, &ImportOptions::default()).expect("the model is right");
    let dims = |at: usize| {
        let info = model.inputs[at].sinfo.as_tensor().expect("a tensor");
        info.shape.dims().expect("known").to_vec()
    };
    assert_ne!(dims(0)[0], dims(1)[0]);
    assert_eq!(dims(0)[1], dims(1)[1]);
}

#[test]
fn operator_sets_that_are_too_new_are_refused() {
    let nodes = vec![node("Relu", &["x"], &["y"])];
    let bytes = model(nodes, vec![], vec![port("x", &["2"])], &["y"]);
    let mut newer = ModelProto::decode(bytes.as_slice()).expect("it was encoded");
    newer.opset_import[0].version = Some(99);
    assert_eq!(
        problems(&newer.encode_to_vec()),
        ["the model: it uses version 99 of the operator set `ai.onnx`; up to 28 are known"]
    );
}

#[test]
fn values_of_inputs_have_their_types() {
    let nodes = vec![node("Relu", &["x"], &["y"])];
    let bytes = model(nodes, vec![], vec![port("x", &["2"])], &["y"]);
    let given = |value: Tensor| {
        let mut options = ImportOptions::default();
        options.values.insert("x".to_owned(), value);
        parse(&bytes, &options).map_err(|error| error.to_string())
    };
    let right = Tensor::from_slice(&[2], &[1f32, 2.0]).expect("two elements");
    assert!(given(right).is_ok());
    for (wrong, why) in [
        (
            Tensor::from_slice(&[2], &[1i64, 2]),
            "it cannot have a value of int64: it is float32",
        ),
        (
            Tensor::from_slice(&[3], &[1f32, 2.0, 3.0]),
            "it cannot have the shape [3]",
        ),
    ] {
        let refused = given(wrong.expect("as many elements")).expect_err("another type");
        assert!(refused.contains(why), "{refused}");
    }
}

#[test]
fn outputs_are_what_the_model_says_of_them() {
    let nodes = vec![node("Shape", &["x"], &["y"]), node("Relu", &["x"], &["z"])];
    let bytes = model(nodes, vec![], vec![port("x", &["2", "3"])], &["y", "z"]);
    let mut said = ModelProto::decode(bytes.as_slice()).expect("it was encoded");
    let graph = said.graph.as_mut().expect("it has a graph");
    graph.output = vec![port("y", &["2"]), port("z", &["2", "3"])];
    assert_eq!(
        problems(&said.encode_to_vec()),
        ["output `y`: its elements are int64, and the model says float32 of them"]
    );
    let graph = said.graph.as_mut().expect("it has a graph");
    graph.output = vec![port("z", &["n", "4"])];
    let model = parse(&said.encode_to_vec(), &ImportOptions::default()).expect("a note is enough");
    assert_eq!(
        model.notes,
        ["output `z`: the model says (n, 4) of it, and it is a tensor of shape (2, 3)"]
    );
}

/// Nodes of thousands of operands, and tensors of thousands of dimensions.
#[test]
fn many_operands_and_dimensions_end() {
    let names = vec!["x"; 3000];
    let mut concat = node("Concat", &names, &["y"]);
    concat.attribute.push(int("axis", 0));
    for wide in [
        concat,
        node("Sum", &names, &["y"]),
        node("Max", &names, &["y"]),
    ] {
        let bytes = model(vec![wide], vec![], vec![port("x", &["2"])], &["y"]);
        assert!(parse(&bytes, &ImportOptions::default()).is_ok());
    }
    let ones = vec![1i64; 1000];
    let nodes = vec![node("Reshape", &["x", "to"], &["y"])];
    let bytes = model(
        nodes,
        vec![ints("to", &ones)],
        vec![port("x", &["1"])],
        &["y"],
    );
    assert_eq!(
        problems(&bytes),
        ["the node that makes `y` (Reshape): a tensor of 1000 dimensions; tensors have at most 64"]
    );
}

/// Places and elements.
const RESIZED: [(usize, f32); 6] = [
    (0, 8.0),
    (5, 12.375),
    (17, 12.125),
    (40, 20.15625),
    (63, 16.71875),
    (95, 31.0),
];

/// Four dimensions change: three at a time, with the numbers of ONNX's reference implementation.
#[test]
fn more_than_three_dimensions_are_resized() {
    let scales = TensorProto {
        name: Some("scales".to_owned()),
        data_type: Some(1),
        dims: vec![4],
        float_data: vec![2.0, 0.5, 2.0, 1.5],
        ..TensorProto::default()
    };
    let mut resize = node("Resize", &["x", "", "scales"], &["y"]);
    resize.attribute = vec![AttributeProto {
        name: Some("mode".to_owned()),
        s: Some(b"linear".to_vec()),
        kind: Some(3),
        ..AttributeProto::default()
    }];
    let input = port("x", &["2", "4", "2", "2"]);
    let bytes = model(vec![resize], vec![scales], vec![input], &["y"]);
    let model = parse(&bytes, &ImportOptions::default());
    let model = model.unwrap_or_else(|e| panic!("{e}"));
    let elements: Vec<f32> = (0..32).map(|at| (at * at % 37) as f32).collect();
    let x = Tensor::from_slice(&[2, 4, 2, 2], &elements).expect("as many");
    let args = [interp::Value::Tensor(x)];
    let y = interp::run_module(&model.module, MAIN, &args, &HashMap::new());
    let Ok(interp::Value::Tensor(y)) = y else {
        panic!("{y:?}")
    };
    let y = y.as_slice::<f32>().expect("floats");
    for (at, expected) in RESIZED {
        assert!(
            (y[at] - expected).abs() < 1e-3,
            "{at}: {} {expected}",
            y[at]
        );
    }
}
