//! Models whose inputs and outputs are sequences and optional values.

use std::collections::HashSet;

use super::super::proto::ElementTypeProto;
use super::*;

/// An input that is a sequence of tensors, or an optional tensor.
fn wrapped(
    name: &str,
    dims: &[&str],
    wrap: fn(Box<ElementTypeProto>) -> type_proto::Value,
) -> ValueInfoProto {
    let element = port(name, dims).kind.map(Box::new);
    let element = Box::new(ElementTypeProto { elem_type: element });
    ValueInfoProto {
        name: Some(name.to_owned()),
        kind: Some(TypeProto {
            value: Some(wrap(element)),
        }),
    }
}

pub(super) fn graph(
    name: &str,
    nodes: Vec<NodeProto>,
    inputs: Vec<ValueInfoProto>,
    output: &str,
) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        g: Some(Box::new(GraphProto {
            node: nodes,
            input: inputs,
            output: vec![port(output, &[])],
            ..GraphProto::default()
        })),
        kind: Some(5),
        ..AttributeProto::default()
    }
}

fn names(ports: &[Port]) -> Vec<&str> {
    ports.iter().map(|port| port.name.as_str()).collect()
}

/// Tensors of one sequence have extents of their own, though the model gives these one name.
#[test]
fn sequences_are_so_many_tensors() {
    let mut twice = node("SequenceMap", &["xs"], &["ys"]);
    let body = vec![node("Add", &["x", "x"], &["y"])];
    twice
        .attribute
        .push(graph("body", body, vec![port("x", &["n"])], "y"));
    let nodes = vec![twice, node("SequenceLength", &["ys"], &["count"])];
    let inputs = vec![wrapped("xs", &["n"], type_proto::Value::Sequence)];
    let bytes = of_version(&model(nodes, vec![], inputs, &["ys", "count"]), 17);
    let mut options = ImportOptions::default();
    options.shapes.insert("xs[0]".to_owned(), vec![2]);
    options.shapes.insert("xs[1]".to_owned(), vec![3]);
    let model = parse(&bytes, &options).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(names(&model.inputs), ["xs[0]", "xs[1]"]);
    assert_eq!(names(&model.outputs), ["ys[0]", "ys[1]", "count"]);
    let x = |elements: &[f32]| {
        let tensor = Tensor::from_slice(&[elements.len()], elements).expect("as many");
        interp::Value::Tensor(tensor)
    };
    let inputs = [x(&[1.0, 2.0]), x(&[3.0, 4.0, 5.0])];
    let result = interp::run_module(&model.module, MAIN, &inputs, &HashMap::new());
    let Ok(interp::Value::Tuple(results)) = result else {
        panic!("{result:?}")
    };
    let expected = [vec![2f32, 4.0], vec![6.0, 8.0, 10.0]];
    for (result, expected) in results.iter().zip(expected) {
        let interp::Value::Tensor(result) = result else {
            panic!("{result:?}")
        };
        assert_eq!(result.as_slice::<f32>(), Ok(expected.as_slice()));
    }
    // The number alone is enough where the model says the number of dimensions.
    let options = ImportOptions {
        lengths: HashMap::from([("xs".to_owned(), 1)]),
        ..ImportOptions::default()
    };
    let model = parse(&bytes, &options).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(names(&model.outputs), ["ys[0]", "count"]);
}

#[test]
fn sequences_of_unknown_length_are_refused() {
    let nodes = vec![node("Identity", &["xs"], &["ys"])];
    let inputs = vec![wrapped("xs", &["2"], type_proto::Value::Sequence)];
    let bytes = of_version(&model(nodes, vec![], inputs, &["ys"]), 17);
    let problems = problems(&bytes);
    assert!(
        problems[0].contains("how many tensors it has must be said"),
        "{problems:?}"
    );
    let options = ImportOptions {
        lengths: HashMap::from([("xs".to_owned(), 1 << 40)]),
        ..ImportOptions::default()
    };
    assert!(parse(&bytes, &options).is_err());
}

#[test]
fn optional_inputs_are_there_or_not() {
    let nodes = vec![node("OptionalHasElement", &["x"], &["y"])];
    let inputs = vec![wrapped("x", &["2"], type_proto::Value::Optional)];
    let bytes = of_version(&model(nodes, vec![], inputs, &["y"]), 18);
    let count = |options: &ImportOptions| {
        let model = parse(&bytes, options).unwrap_or_else(|e| panic!("{e}"));
        model.inputs.len()
    };
    assert_eq!(count(&ImportOptions::default()), 1);
    let absent = ImportOptions {
        absent: HashSet::from(["x".to_owned()]),
        ..ImportOptions::default()
    };
    assert_eq!(count(&absent), 0);
}

/// A computed condition between sequences: of one length they are one sequence, of two no type has them.
#[test]
fn branches_give_sequences_of_one_length() {
    let branch = |tensors: &[&str]| {
        let made = node("SequenceConstruct", tensors, &["made"]);
        graph("", vec![made], vec![], "made")
    };
    let chosen = |then: &[&str], otherwise: &[&str]| {
        let mut chosen = node("If", &["c"], &["s"]);
        for (name, tensors) in [("then_branch", then), ("else_branch", otherwise)] {
            let mut attribute = branch(tensors);
            attribute.name = Some(name.to_owned());
            chosen.attribute.push(attribute);
        }
        let inputs = vec![port_of("c", &[], 9), port("x", &["1"]), port("y", &["1"])];
        of_version(&model(vec![chosen], vec![], inputs, &["s"]), 17)
    };
    let tensor = |value: f32| Tensor::from_slice(&[1], &[value]).expect("one");
    for flag in [0u8, 1] {
        let condition = Tensor::from_bytes(crate::tensor::DType::BOOL, &[], &[flag]);
        let inputs = [condition.expect("one"), tensor(3.0), tensor(4.0)];
        let made = run(&chosen(&["x", "y"], &["y", "x"]), &inputs);
        let made: Vec<f32> = made
            .iter()
            .map(|t| t.as_slice::<f32>().expect("floats")[0])
            .collect();
        let expected = if flag == 1 { [3.0, 4.0] } else { [4.0, 3.0] };
        assert_eq!(made, expected);
    }
    let problems = problems(&chosen(&["x", "y"], &["x"]));
    assert!(
        problems[0].contains("only one branch gives a sequence of this length"),
        "{problems:?}"
    );
}
