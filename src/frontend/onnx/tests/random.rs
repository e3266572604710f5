//! Models with random numbers: their ranges and moments, and which are the same again.

use super::*;

/// A model of one node whose operand, if it has one, is `x`.
fn of_node(mut made: NodeProto, attributes: Vec<AttributeProto>, dims: &[&str]) -> Vec<u8> {
    made.attribute = attributes;
    of_version(
        &model(vec![made], vec![], vec![port("x", dims)], &["y"]),
        22,
    )
}

fn full(shape: &[usize], value: f32) -> Tensor {
    let elements = vec![value; shape.iter().product()];
    Tensor::from_slice(shape, &elements).expect("as many elements")
}

fn floats(tensors: &[Tensor]) -> Vec<f32> {
    tensors[0].as_slice::<f32>().expect("float32").to_vec()
}

fn mean(numbers: &[f32]) -> f32 {
    numbers.iter().sum::<f32>() / numbers.len() as f32
}

#[test]
fn random_numbers_are_where_the_attributes_say() {
    let x = full(&[50, 60], 0.25);
    let uniform = node("RandomUniformLike", &["x"], &["y"]);
    let bytes = of_node(
        uniform,
        vec![float("low", -3.0), float("high", 1.0)],
        &["n", "m"],
    );
    let y = floats(&run(&bytes, std::slice::from_ref(&x)));
    assert!(y.iter().all(|y| (-3.0..1.0).contains(y)));
    assert!((mean(&y) + 1.0).abs() < 0.15, "{}", mean(&y));
    let normal = node("RandomNormalLike", &["x"], &["y"]);
    let bytes = of_node(
        normal,
        vec![float("mean", 5.0), float("scale", 2.0)],
        &["n", "m"],
    );
    let y = floats(&run(&bytes, std::slice::from_ref(&x)));
    assert!((mean(&y) - 5.0).abs() < 0.25, "{}", mean(&y));
    let squares: Vec<f32> = y.iter().map(|y| (y - 5.0) * (y - 5.0)).collect();
    assert!((mean(&squares) - 4.0).abs() < 0.7, "{}", mean(&squares));
    let bytes = of_node(node("Bernoulli", &["x"], &["y"]), vec![], &["n", "m"]);
    let y = floats(&run(&bytes, &[x]));
    assert!(y.iter().all(|&y| y == 0.0 || y == 1.0));
    assert!((mean(&y) - 0.25).abs() < 0.05, "{}", mean(&y));
}

#[test]
fn numbers_of_a_seed_are_the_same_in_every_call() {
    let shape = AttributeProto {
        name: Some("shape".to_owned()),
        ints: vec![3, 4],
        kind: Some(7),
        ..AttributeProto::default()
    };
    for op in ["RandomNormal", "RandomUniform"] {
        let numbers = |seed: Option<f32>| {
            let mut made = node(op, &[], &["y"]);
            made.attribute = vec![shape.clone()];
            made.attribute.extend(seed.map(|seed| float("seed", seed)));
            floats(&run(
                &of_version(&model(vec![made], vec![], vec![], &["y"]), 22),
                &[],
            ))
        };
        assert_eq!(numbers(Some(7.0)), numbers(Some(7.0)));
        assert_ne!(numbers(Some(7.0)), numbers(Some(7.5)));
        assert_ne!(numbers(None), numbers(None));
    }
}

/// Two nodes with the same operands are two throws.
#[test]
fn equal_nodes_give_different_numbers() {
    let nodes = vec![
        node("RandomUniformLike", &["x"], &["a"]),
        node("RandomUniformLike", &["x"], &["b"]),
        node("Sub", &["a", "b"], &["y"]),
    ];
    let bytes = of_version(&model(nodes, vec![], vec![port("x", &["40"])], &["y"]), 22);
    let y = floats(&run(&bytes, &[full(&[40], 0.0)]));
    assert!(y.iter().any(|&y| y != 0.0));
}

#[test]
fn classes_are_drawn_by_their_weights() {
    let mut drawn = node("Multinomial", &["x"], &["y"]);
    drawn.attribute = vec![int("sample_size", 2000), int("dtype", 7)];
    let bytes = of_version(
        &model(vec![drawn], vec![], vec![port("x", &["2", "3"])], &["y"]),
        22,
    );
    let never = f32::NEG_INFINITY;
    let x = [2f32.ln(), 0.0, never, never, 7.0, never];
    let x = Tensor::from_slice(&[2, 3], &x).expect("as many elements");
    let y = run(&bytes, &[x]);
    assert_eq!(y[0].shape(), [2, 2000]);
    let y = y[0].as_slice::<i64>().expect("int64");
    let first = y[..2000].iter().filter(|&&class| class == 0).count();
    assert!(y[..2000].iter().all(|class| (0..2).contains(class)));
    assert!((1200..1460).contains(&first), "{first} of two thirds");
    assert!(y[2000..].iter().all(|&class| class == 1));
}

/// What is not dropped grows by what is.
#[test]
fn dropout_drops_in_training_alone() {
    let flag = |value: i32| TensorProto {
        name: Some("training".to_owned()),
        data_type: Some(9),
        int32_data: vec![value],
        ..TensorProto::default()
    };
    let ratio = TensorProto {
        name: Some("ratio".to_owned()),
        data_type: Some(1),
        float_data: vec![0.75],
        ..TensorProto::default()
    };
    for training in [0, 1] {
        let mut nodes = vec![node("Dropout", &["x", "ratio", "training"], &["y", "mask"])];
        nodes[0].attribute.push(int("seed", 3));
        let weights = vec![ratio.clone(), flag(training)];
        let inputs = vec![port("x", &["40", "50"])];
        let bytes = of_version(&model(nodes, weights, inputs, &["y", "mask"]), 22);
        let results = run(&bytes, &[full(&[40, 50], 3.0)]);
        let y = floats(&results);
        let kept = y.iter().filter(|&&y| y != 0.0).count();
        match training {
            0 => assert!(y.iter().all(|&y| y == 3.0)),
            _ => {
                assert!(y.iter().all(|&y| y == 0.0 || y == 12.0));
                assert!((400..600).contains(&kept), "{kept} of a quarter");
            }
        }
        let mask = results[1].bytes().iter().filter(|&&flag| flag != 0).count();
        assert_eq!(mask, kept);
    }
}
