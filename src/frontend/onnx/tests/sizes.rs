//! Sizes that follow from those of the inputs, as exporters write them.

use super::*;

fn with(mut node: NodeProto, attributes: &[AttributeProto]) -> NodeProto {
    node.attribute.extend_from_slice(attributes);
    node
}

/// The numbers from 1 on in this shape.
fn counted(shape: &[usize]) -> Tensor {
    let count = shape.iter().product::<usize>();
    let elements: Vec<f32> = (1..=count).map(|v| v as f32).collect();
    Tensor::from_slice(shape, &elements).expect("as many")
}

fn types(bytes: &[u8]) -> Vec<String> {
    let model = parse(bytes, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let outputs = model.outputs.iter();
    outputs.map(|port| port.sinfo.to_string()).collect()
}

/// `floor(n * 1.5)` and `ceil(n / 2)`, by way of floats.
#[test]
fn sizes_may_be_scaled_as_floats() {
    let nodes = vec![
        node("Shape", &["x"], &["shape"]),
        with(node("Cast", &["shape"], &["f"]), &[int("to", 1)]),
        node("Mul", &["f", "scale"], &["wide"]),
        node("Floor", &["wide"], &["whole"]),
        with(node("Cast", &["whole"], &["to"]), &[int("to", 7)]),
        node("ConstantOfShape", &["to"], &["y"]),
        node("Div", &["f", "two"], &["half"]),
        node("Ceil", &["half"], &["up"]),
        with(node("Cast", &["up"], &["count"]), &[int("to", 7)]),
        node("ConstantOfShape", &["count"], &["z"]),
        node("Mul", &["wide", "two"], &["as_floats"]),
        node("Add", &["half", "x"], &["sum"]),
    ];
    let weights = vec![floats("scale", &[1.5]), floats("two", &[2.0])];
    let outputs = ["y", "z", "as_floats", "sum"];
    let bytes = model(nodes, weights, vec![port("x", &["n"])], &outputs);
    let bytes = of_version(&bytes, 17);
    let types = types(&bytes);
    assert_eq!(types[0], "R.Tensor((n * 3 // 2,), dtype=\"float32\")");
    assert_eq!(types[1], "R.Tensor(((n + 1) // 2,), dtype=\"float32\")");
    let results = run(&bytes, &[counted(&[5])]);
    assert_eq!(results[0].shape(), [7]);
    assert_eq!(results[1].shape(), [3]);
    assert_eq!(results[2].as_slice::<f32>(), Ok([15.0].as_slice()));
    let sum = [3.5, 4.5, 5.5, 6.5, 7.5];
    assert_eq!(results[3].as_slice::<f32>(), Ok(sum.as_slice()));
}

/// A scale that no size is multiplied by exactly: the graph computes the size, and the others stay known.
#[test]
fn images_may_have_a_computed_size() {
    let nodes = vec![
        node("Shape", &["x"], &["shape"]),
        node("Slice", &["shape", "zero", "two"], &["first"]),
        node("Slice", &["shape", "two", "four"], &["extents"]),
        with(node("Cast", &["extents"], &["f"]), &[int("to", 1)]),
        node("Mul", &["f", "scale"], &["narrow"]),
        node("Floor", &["narrow"], &["whole"]),
        with(node("Cast", &["whole"], &["new"]), &[int("to", 7)]),
        with(
            node("Concat", &["first", "new"], &["to"]),
            &[int("axis", 0)],
        ),
        with(
            node("Resize", &["x", "", "", "to"], &["y"]),
            &[
                text("coordinate_transformation_mode", "asymmetric"),
                text("nearest_mode", "floor"),
            ],
        ),
    ];
    let weights = vec![
        ints("zero", &[0]),
        ints("two", &[2]),
        ints("four", &[4]),
        floats("scale", &[0.7, 1.3]),
    ];
    let inputs = vec![port("x", &["b", "1", "h", "w"])];
    let bytes = of_version(&model(nodes, weights, inputs, &["y"]), 17);
    assert!(types(&bytes)[0].starts_with("R.Tensor((b, 1, "));
    let y = run(&bytes, &[counted(&[1, 1, 3, 2])]).swap_remove(0);
    assert_eq!(y.shape(), [1, 1, 2, 2]);
    let expected = [1.0, 2.0, 3.0, 4.0];
    assert_eq!(y.as_slice::<f32>(), Ok(expected.as_slice()));
}

/// Amounts of which one half is that of the difference of two sizes, rounded towards zero.
#[test]
fn what_is_padded_to_a_size_has_that_size() {
    let nodes = vec![
        node("Shape", &["x"], &["short"]),
        node("Shape", &["to"], &["long"]),
        node("Sub", &["long", "short"], &["more"]),
        node("Div", &["more", "two"], &["before"]),
        node("Sub", &["more", "before"], &["after"]),
        with(
            node("Concat", &["before", "after"], &["ends"]),
            &[int("axis", 0)],
        ),
        node("Pad", &["x", "ends"], &["wide"]),
        node("Add", &["wide", "to"], &["y"]),
    ];
    let inputs = vec![port("x", &["n"]), port("to", &["m"])];
    let bytes = of_version(&model(nodes, vec![ints("two", &[2])], inputs, &["y"]), 17);
    assert_eq!(types(&bytes), ["R.Tensor((m,), dtype=\"float32\")"]);
    let y = |n: usize, m: usize| {
        let zeros = Tensor::from_slice(&[m], &vec![0f32; m]).expect("as many");
        run(&bytes, &[counted(&[n]), zeros]).swap_remove(0)
    };
    let longer = y(2, 5);
    let expected = [0.0, 1.0, 2.0, 0.0, 0.0];
    assert_eq!(longer.as_slice::<f32>(), Ok(expected.as_slice()));
    let shorter = y(5, 2);
    assert_eq!(shorter.as_slice::<f32>(), Ok([2.0, 3.0].as_slice()));
}

/// Pairs of amounts from the last axis on, turned around: `torch.nn.functional.pad` as its exporter writes it.
#[test]
fn amounts_may_be_turned_around() {
    let nodes = vec![
        node("Reshape", &["pairs", "two_columns"], &["rows"]),
        node(
            "Slice",
            &["rows", "last", "end", "zero", "back"],
            &["turned"],
        ),
        with(
            node("Transpose", &["turned"], &["columns"]),
            &[AttributeProto {
                name: Some("perm".to_owned()),
                ints: vec![1, 0],
                kind: Some(7),
                ..AttributeProto::default()
            }],
        ),
        node("Reshape", &["columns", "back"], &["ends"]),
        node("Pad", &["x", "ends"], &["y"]),
    ];
    let weights = vec![
        ints("pairs", &[2, 0, 0, 1]),
        ints("two_columns", &[-1, 2]),
        ints("last", &[-1]),
        ints("end", &[i64::MIN + 1]),
        ints("zero", &[0]),
        ints("back", &[-1]),
    ];
    let bytes = of_version(
        &model(nodes, weights, vec![port("x", &["h", "w"])], &["y"]),
        17,
    );
    assert_eq!(
        types(&bytes),
        ["R.Tensor((h + 1, w + 2), dtype=\"float32\")"]
    );
    let y = run(&bytes, &[counted(&[1, 2])]).swap_remove(0);
    let expected = [0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(y.as_slice::<f32>(), Ok(expected.as_slice()));
}

#[test]
fn a_line_of_any_length_is_sorted() {
    let nodes = vec![
        node("Shape", &["x"], &["all"]),
        node("TopK", &["x", "all"], &["sorted", "places"]),
        node("TopK", &["x", "count"], &["some", "where"]),
    ];
    let inputs = vec![port("x", &["n"]), port_of("count", &["1"], 7)];
    let bytes = model(nodes, vec![], inputs, &["sorted", "some"]);
    let bytes = of_version(&bytes, 17);
    assert_eq!(types(&bytes)[0], "R.Tensor((n,), dtype=\"float32\")");
    let two = Tensor::from_slice(&[1], &[2i64]).expect("one");
    let results = run(&bytes, &[counted(&[3]), two]);
    assert_eq!(results[0].as_slice::<f32>(), Ok([3.0, 2.0, 1.0].as_slice()));
    assert_eq!(results[1].as_slice::<f32>(), Ok([3.0, 2.0].as_slice()));
}

#[test]
fn the_first_none_of_a_line_are_no_elements() {
    let nodes = vec![node("TopK", &["x", "none"], &["y", "at"])];
    let inputs = vec![port("x", &["2", "n"])];
    let bytes = model(nodes, vec![ints("none", &[0])], inputs, &["y", "at"]);
    let results = run(&of_version(&bytes, 11), &[counted(&[2, 3])]);
    assert_eq!(results[0].shape(), [2, 0]);
    assert_eq!(results[0].as_slice::<f32>(), Ok(&[][..]));
    assert_eq!(results[1].as_slice::<i64>(), Ok(&[][..]));
}

/// An extent of at most 1 is 1 where it is beside another one.
#[test]
fn a_slice_of_one_element_broadcasts() {
    let nodes = vec![
        node("Slice", &["x", "zero", "one"], &["first"]),
        node("Sub", &["x", "first"], &["y"]),
    ];
    let weights = vec![ints("zero", &[0]), ints("one", &[1])];
    let bytes = of_version(&model(nodes, weights, vec![port("x", &["n"])], &["y"]), 17);
    let y = run(&bytes, &[counted(&[3])]).swap_remove(0);
    assert_eq!(y.as_slice::<f32>(), Ok([0.0, 1.0, 2.0].as_slice()));
}

/// How many are taken is known when the model is called.
#[test]
fn more_than_there_are_cannot_be_taken() {
    let nodes = vec![node("TopK", &["x", "k"], &["y", "at"])];
    let inputs = vec![port("x", &["4"]), port_of("k", &["1"], 7)];
    let bytes = of_version(&model(nodes, vec![], inputs, &["y"]), 11);
    let x = tensor(&[4], &[3f32, 1.0, 4.0, 1.5]);
    let y = run(&bytes, &[x.clone(), tensor(&[1], &[2i64])]);
    assert_eq!(y[0].as_slice::<f32>(), Ok(&[4.0, 3.0][..]));
    let model = parse(&bytes, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let inputs = [x, tensor(&[1], &[9i64])].map(interp::Value::Tensor);
    let result = interp::run_module(&model.module, MAIN, &inputs, &HashMap::new());
    let error = result.expect_err("there are four").to_string();
    assert!(error.contains("expected 9, got 4"), "{error}");
}

/// Extents of different symbols broadcast in a call in which one of them is 1, and must be equal in others.
#[test]
fn extents_broadcast_by_the_numbers_of_a_call() {
    let nodes = vec![
        node("Add", &["x", "y"], &["sum"]),
        node("MatMul", &["sum", "w"], &["product"]),
        node("Mul", &["product", "z"], &["out"]),
    ];
    let mut w = floats("w", &[1.0, 2.0, 3.0, 4.0]);
    w.dims = vec![2, 2];
    let inputs = ["x", "y", "z"].map(|name| port(name, &[&format!("{name}_rows"), "2", "2"]));
    let bytes = model(nodes, vec![w], inputs.to_vec(), &["out"]);
    let bytes = of_version(&bytes, 17);
    for counts in [[3, 1, 1], [1, 3, 3], [1, 1, 3], [3, 3, 3], [1, 0, 1]] {
        let inputs = counts.map(|count| counted(&[count, 2, 2]));
        let expected = |at: [usize; 3]| {
            let element = |input: usize, at: [usize; 3]| {
                let first = if counts[input] == 1 { 0 } else { at[0] };
                (first * 4 + at[1] * 2 + at[2] + 1) as f32
            };
            let sum = |k| element(0, [at[0], at[1], k]) + element(1, [at[0], at[1], k]);
            let column = [[1.0, 3.0], [2.0, 4.0]][at[2]];
            (sum(0) * column[0] + sum(1) * column[1]) * element(2, at)
        };
        let rows = match counts.contains(&0) {
            true => 0,
            false => counts.into_iter().max().expect("three"),
        };
        let result = &run(&bytes, &inputs)[0];
        assert_eq!(result.shape(), [rows, 2, 2], "{counts:?}");
        let all: Vec<f32> = (0..rows * 4)
            .map(|flat| expected([flat / 4, flat / 2 % 2, flat % 2]))
            .collect();
        assert_eq!(result.as_slice::<f32>(), Ok(all.as_slice()), "{counts:?}");
    }
}

/// A size beside a number that is no short binary fraction goes into the graph.
#[test]
fn sizes_as_floats_stand_beside_any_number() {
    let nodes = vec![
        node("Shape", &["x"], &["shape"]),
        with(node("Cast", &["shape"], &["f"]), &[int("to", 1)]),
        with(node("Concat", &["f", "tenth"], &["y"]), &[int("axis", 0)]),
    ];
    let weights = vec![floats("tenth", &[0.1])];
    let bytes = of_version(&model(nodes, weights, vec![port("x", &["n"])], &["y"]), 17);
    let y = run(&bytes, &[counted(&[5])]).swap_remove(0);
    assert_eq!(y.as_slice::<f32>(), Ok([5.0, 0.1].as_slice()));
}

/// The product with a scale is one in float32, which rounds 6.9999998 to 7.
#[test]
fn sizes_of_images_are_products_in_float32() {
    let resize = with(
        node("Resize", &["x", "", "scales"], &["y"]),
        &[text("mode", "nearest")],
    );
    for scale in [0.7f32, 0.6, 0.3, 1.1, 1.3, 0.1, 3.7] {
        let weights = || vec![floats("scales", &[1.0, 1.0, scale])];
        let open = vec![port("x", &["1", "1", "n"])];
        let open = of_version(&model(vec![resize.clone()], weights(), open, &["y"]), 17);
        for extent in [1usize, 3, 5, 7, 10, 11, 30, 100, 170, 1000] {
            let expected = (extent as f32 * scale).floor() as usize;
            if expected == 0 {
                continue;
            }
            let x = counted(&[1, 1, extent]);
            let y = run(&open, std::slice::from_ref(&x)).swap_remove(0);
            assert_eq!(y.shape(), [1, 1, expected], "{extent} by {scale}");
            let fixed = vec![port("x", &["1", "1", &extent.to_string()])];
            let fixed = of_version(&model(vec![resize.clone()], weights(), fixed, &["y"]), 17);
            let y = run(&fixed, &[x]).swap_remove(0);
            assert_eq!(y.shape(), [1, 1, expected], "{extent} by {scale}");
        }
    }
}

/// What would begin before the first element begins at it.
#[test]
fn slices_backwards_begin_within_the_tensor() {
    let nodes = vec![
        node("Slice", &["x", "start", "end", "axis", "step"], &["y"]),
        node("Slice", &["x", "given", "end", "axis", "step"], &["z"]),
    ];
    let weights = vec![
        ints("start", &[-100]),
        ints("end", &[-200]),
        ints("axis", &[0]),
        ints("step", &[-2]),
    ];
    let inputs = vec![port("x", &["n"]), port_of("given", &["1"], 7)];
    let bytes = of_version(&model(nodes, weights, inputs, &["y", "z"]), 17);
    for (start, expected) in [
        (-100i64, vec![1.0]),
        (-2, vec![4.0, 2.0]),
        (9, vec![5.0, 3.0, 1.0]),
    ] {
        let results = run(&bytes, &[counted(&[5]), tensor(&[1], &[start])]);
        assert_eq!(results[0].as_slice::<f32>(), Ok([1.0].as_slice()));
        assert_eq!(
            results[1].as_slice::<f32>(),
            Ok(expected.as_slice()),
            "{start}"
        );
    }
}

/// An int8 does not hold a size of 300.
#[test]
fn sizes_are_narrowed_as_numbers_are() {
    let nodes = vec![
        node("Shape", &["x"], &["shape"]),
        with(node("Cast", &["shape"], &["small"]), &[int("to", 3)]),
        with(node("Cast", &["small"], &["y"]), &[int("to", 7)]),
    ];
    let bytes = of_version(&model(nodes, vec![], vec![port("x", &["n"])], &["y"]), 17);
    let y = run(&bytes, &[counted(&[300])]).swap_remove(0);
    assert_eq!(y.as_slice::<i64>(), Ok([44].as_slice()));
}

/// The call checks that a tensor can be expanded to a size that it computes.
#[test]
fn a_computed_size_of_expand_is_checked() {
    let nodes = vec![node("Expand", &["x", "to"], &["y"])];
    let inputs = vec![port("x", &["5"]), port_of("to", &["1"], 7)];
    let bytes = of_version(&model(nodes, vec![], inputs, &["y"]), 17);
    for to in [5i64, 1] {
        let y = run(&bytes, &[counted(&[5]), tensor(&[1], &[to])]).swap_remove(0);
        assert_eq!(y.shape(), [5]);
    }
    let model = parse(&bytes, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let inputs = [counted(&[5]), tensor(&[1], &[3i64])].map(interp::Value::Tensor);
    let result = interp::run_module(&model.module, MAIN, &inputs, &HashMap::new());
    let error = result.expect_err("3 is neither 5 nor 1").to_string();
    assert!(error.contains('3') && error.contains('5'), "{error}");
}

/// Parts whose sizes a model computes, or has as symbols.
#[test]
fn parts_may_have_computed_sizes() {
    let nodes = vec![
        with(
            node("Split", &["x", "sizes"], &["a", "b"]),
            &[int("axis", 0)],
        ),
        with(
            node("Split", &["x"], &["c", "d"]),
            &[int("axis", 0), int("num_outputs", 2)],
        ),
    ];
    let inputs = vec![port("x", &["n"]), port_of("sizes", &["2"], 7)];
    let bytes = of_version(&model(nodes, vec![], inputs, &["a", "b", "c", "d"]), 18);
    let results = run(&bytes, &[counted(&[5]), tensor(&[2], &[1i64, 4])]);
    let lengths: Vec<usize> = results.iter().map(|part| part.shape()[0]).collect();
    assert_eq!(lengths, [1, 4, 3, 2]);
    assert_eq!(results[3].as_slice::<f32>(), Ok([4.0, 5.0].as_slice()));
    let model = parse(&bytes, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let inputs = [counted(&[5]), tensor(&[2], &[1i64, 3])].map(interp::Value::Tensor);
    let result = interp::run_module(&model.module, MAIN, &inputs, &HashMap::new());
    let error = result.expect_err("1 and 3 are not 5").to_string();
    assert!(error.contains('4') && error.contains('5'), "{error}");
}

/// As many classes as another tensor has elements.
#[test]
fn a_depth_may_be_computed() {
    let nodes = vec![node("OneHot", &["x", "depth", "values"], &["y"])];
    let weights = vec![floats("values", &[0.0, 1.0])];
    let inputs = vec![port_of("x", &["n"], 7), port_of("depth", &[], 7)];
    let bytes = of_version(&model(nodes, weights, inputs, &["y"]), 17);
    let depth = Tensor::from_slice(&[], &[3i64]).expect("one");
    let y = run(&bytes, &[tensor(&[2], &[1i64, -1]), depth]).swap_remove(0);
    assert_eq!(y.shape(), [2, 3]);
    let expected = [0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(y.as_slice::<f32>(), Ok(expected.as_slice()));
}

#[test]
fn a_kernel_is_as_the_weights_have_it() {
    for op in ["Conv", "ConvTranspose"] {
        let of = |extents: &[i64]| {
            let conv = with(
                node(op, &["x", "w"], &["y"]),
                &[list("kernel_shape", extents)],
            );
            let weight = TensorProto {
                dims: vec![1, 1, 3, 2],
                ..floats("w", &[1.0; 6])
            };
            let x = port("x", &["1", "1", "5", "5"]);
            of_version(&model(vec![conv], vec![weight], vec![x], &["y"]), 17)
        };
        assert_eq!(types(&of(&[3, 2])).len(), 1);
        let refused = parse(&of(&[2, 3]), &ImportOptions::default());
        let text = refused.expect_err("it is another kernel").to_string();
        assert!(text.contains("kernel_shape"), "{text}");
        assert!(text.contains("[3, 2], as the weights have it"), "{text}");
    }
}
