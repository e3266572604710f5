//! Loops whose number of iterations the graph computes.

use super::*;

/// A loop of `count` iterations over `x` as its body says, which gets the iteration `i`, the condition `c` and the state `s`.
fn looped(body: Vec<NodeProto>, outputs: &[&str], dims: &[&str], loop_outputs: &[&str]) -> Vec<u8> {
    let inputs = vec![port_of("i", &[], 7), port_of("c", &[], 9), port("s", dims)];
    let mut node = node("Loop", &["count", "", "x"], loop_outputs);
    node.attribute.push(AttributeProto {
        name: Some("body".to_owned()),
        g: Some(Box::new(GraphProto {
            node: body,
            input: inputs,
            output: outputs.iter().map(|name| port(name, &[])).collect(),
            ..GraphProto::default()
        })),
        kind: Some(5),
        ..AttributeProto::default()
    });
    let inputs = vec![port_of("count", &[], 7), port("x", dims), port("w", &[])];
    of_version(&model(vec![node], vec![], inputs, loop_outputs), 17)
}

fn scalar(count: i64) -> Tensor {
    Tensor::from_slice(&[], &[count]).expect("one")
}

fn x(elements: &[f32]) -> Tensor {
    Tensor::from_slice(&[elements.len()], elements).expect("as many")
}

#[test]
fn a_computed_number_of_iterations() {
    let body = vec![
        node("Add", &["s", "w"], &["t"]),
        node("Mul", &["t", "t"], &["y"]),
    ];
    let bytes = looped(body, &["c", "t", "y"], &["n"], &["last", "all"]);
    let w = Tensor::from_slice(&[], &[1f32]).expect("one");
    let results = run(&bytes, &[scalar(3), x(&[0.0, 2.0]), w.clone()]);
    assert_eq!(results[0].as_slice::<f32>(), Ok([3.0, 5.0].as_slice()));
    assert_eq!(results[1].shape(), [3, 2]);
    let squares = [1.0, 9.0, 4.0, 16.0, 9.0, 25.0];
    assert_eq!(results[1].as_slice::<f32>(), Ok(squares.as_slice()));
    let none = run(&bytes, &[scalar(0), x(&[0.5, 2.0]), w.clone()]);
    assert_eq!(none[0].as_slice::<f32>(), Ok([0.5, 2.0].as_slice()));
    assert_eq!(none[1].shape(), [0, 2]);
    // More iterations than calls may nest.
    let many = run(&bytes, &[scalar(1_000), x(&[0.0, 2.0]), w]);
    assert_eq!(many[1].shape(), [1_000, 2]);
}

#[test]
fn what_a_loop_carries_may_grow() {
    let mut join = node("Concat", &["s", "s"], &["t"]);
    join.attribute.push(int("axis", 0));
    let bytes = looped(vec![join], &["c", "t"], &["n"], &["y"]);
    let w = Tensor::from_slice(&[], &[1f32]).expect("one");
    let results = run(&bytes, &[scalar(3), x(&[1.0, 2.0]), w]);
    assert_eq!(
        results[0].as_slice::<f32>(),
        Ok([1.0, 2.0].repeat(8).as_slice())
    );
}

#[test]
fn what_a_loop_carries_keeps_its_rank() {
    let mut more = node("Unsqueeze", &["s", "i1"], &["t"]);
    more.name = Some("more".to_owned());
    let axis = vec![node("Identity", &["one"], &["i1"]), more];
    let mut bytes = looped(axis, &["c", "t"], &["n"], &["y"]);
    let mut model = ModelProto::decode(bytes.as_slice()).expect("it was encoded");
    let graph = model.graph.as_mut().expect("it has a graph");
    graph.initializer.push(ints("one", &[0]));
    bytes = model.encode_to_vec();
    let found = problems(&bytes);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("Loop") && found[0].contains("an iteration makes R.Tensor((1, n)"),
        "{found:?}"
    );
}

/// Names in a body are its own: the loop and a value of its body may have the same.
#[test]
fn a_body_may_use_the_name_of_the_result() {
    let bytes = looped(
        vec![node("Add", &["s", "w"], &["y"])],
        &["c", "y"],
        &["n"],
        &["y"],
    );
    let w = Tensor::from_slice(&[], &[1f32]).expect("one");
    let results = run(&bytes, &[scalar(3), x(&[1.0, 2.0]), w]);
    assert_eq!(results[0].as_slice::<f32>(), Ok([4.0, 5.0].as_slice()));
}

/// Two tensors an iteration, before which there is one: the sequence is the rows of a tensor.
#[test]
fn iterations_may_append_to_a_sequence() {
    let mut body = vec![
        node("Add", &["s", "w"], &["t"]),
        node("SequenceInsert", &["list", "t"], &["more"]),
        node("SequenceInsert", &["more", "s"], &["longer"]),
    ];
    let looped = |body: Vec<NodeProto>| {
        let inputs = vec![
            port_of("i", &[], 7),
            port_of("c", &[], 9),
            port("s", &["n"]),
            port("list", &[]),
        ];
        let mut repeated = node("Loop", &["count", "", "x", "first"], &["last", "all"]);
        repeated.attribute.push(AttributeProto {
            name: Some("body".to_owned()),
            g: Some(Box::new(GraphProto {
                node: body,
                input: inputs,
                output: ["c", "t", "longer"].map(|name| port(name, &[])).to_vec(),
                ..GraphProto::default()
            })),
            kind: Some(5),
            ..AttributeProto::default()
        });
        let mut stacked = node("ConcatFromSequence", &["all"], &["columns"]);
        stacked
            .attribute
            .extend([int("axis", 1), int("new_axis", 1)]);
        let mut joined = node("ConcatFromSequence", &["all"], &["row"]);
        joined.attribute.push(int("axis", 0));
        let nodes = vec![
            node("SequenceConstruct", &["x"], &["first"]),
            repeated,
            stacked,
            joined,
            node("SequenceAt", &["all", "which"], &["item"]),
            node("SequenceLength", &["all"], &["length"]),
        ];
        let inputs = vec![port_of("count", &[], 7), port("x", &["n"]), port("w", &[])];
        let outputs = ["columns", "row", "item", "length"];
        let mut which = ints("which", &[-2]);
        which.dims.clear();
        of_version(&model(nodes, vec![which], inputs, &outputs), 17)
    };
    let w = Tensor::from_slice(&[], &[1f32]).expect("one");
    let results = run(&looped(body.clone()), &[scalar(2), x(&[0.0, 5.0]), w]);
    assert_eq!(results[0].shape(), [2, 5]);
    let columns = [0.0, 1.0, 0.0, 2.0, 1.0, 5.0, 6.0, 5.0, 7.0, 6.0];
    assert_eq!(results[0].as_slice::<f32>(), Ok(columns.as_slice()));
    let row = [0.0, 5.0, 1.0, 6.0, 0.0, 5.0, 2.0, 7.0, 1.0, 6.0];
    assert_eq!(results[1].as_slice::<f32>(), Ok(row.as_slice()));
    assert_eq!(results[2].as_slice::<f32>(), Ok([2.0, 7.0].as_slice()));
    assert_eq!(results[3].as_slice::<i64>(), Ok([5].as_slice()));
    // What is read of the sequence while it grows is not known.
    body.push(node("SequenceLength", &["list"], &["read"]));
    let problems = problems(&looped(body));
    assert!(problems[0].contains("Loop"), "{problems:?}");
}

/// What iterations give may broadcast extents of the graph around the loop.
#[test]
fn results_of_iterations_may_broadcast_open_extents() {
    let body = vec![
        node("Add", &["s", "u"], &["t"]),
        node("Add", &["x", "u"], &["y"]),
    ];
    let bytes = looped(body, &["c", "s", "y"], &["n"], &["last", "all"]);
    let mut model = ModelProto::decode(&*bytes).expect("it was encoded");
    let graph = model.graph.as_mut().expect("it has a graph");
    graph.input[2] = port("u", &["m"]);
    let bytes = model.encode_to_vec();
    let results = run(&bytes, &[scalar(2), x(&[1.0]), x(&[1.0, 2.0, 3.0])]);
    assert_eq!(results[1].shape(), [2, 3]);
    let rows = [2.0, 3.0, 4.0, 2.0, 3.0, 4.0];
    assert_eq!(results[1].as_slice::<f32>(), Ok(rows.as_slice()));
}

/// A model may say that there are no iterations; the types of the results are those of one.
#[test]
fn a_loop_without_iterations_gives_no_rows() {
    let body = vec![node("Add", &["s", "s"], &["t"])];
    let bytes = looped(body, &["c", "t", "t"], &["n"], &["last", "all"]);
    let mut model = ModelProto::decode(&*bytes).expect("it was encoded");
    let graph = model.graph.as_mut().expect("it has a graph");
    graph.input.remove(0);
    let mut none = ints("count", &[0]);
    none.dims = vec![];
    graph.initializer.push(none);
    let w = Tensor::from_slice(&[], &[1f32]).expect("one");
    let results = run(&model.encode_to_vec(), &[x(&[1.0, 2.0]), w]);
    assert_eq!(results[0].as_slice::<f32>(), Ok([1.0, 2.0].as_slice()));
    assert_eq!(results[1].shape(), [0, 2]);
}
