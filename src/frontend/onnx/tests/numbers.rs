//! Models of one node, against the numbers of ONNX's reference implementation.

use super::*;

/// Amounts below 0, within the type, and of all its bits and more.
#[test]
fn shifts_of_any_amount_leave_the_sign() {
    let amounts = [-1i8, 0, 1, 7, 8, 127];
    for (direction, x, expected) in [
        ("LEFT", -3i8, [0i8, -3, -6, -128, 0, 0]),
        ("LEFT", 3, [0, 3, 6, -128, 0, 0]),
        ("RIGHT", -3, [-1, -3, -2, -1, -1, -1]),
        ("RIGHT", 3, [0, 3, 1, 0, 0, 0]),
    ] {
        let mut shift = node("BitShift", &["x", "amount"], &["y"]);
        shift.attribute.push(text("direction", direction));
        let inputs = vec![port_of("x", &[], 3), port_of("amount", &["6"], 3)];
        let bytes = of_version(&model(vec![shift], vec![], inputs, &["y"]), 28);
        let y = run(&bytes, &[tensor(&[], &[x]), tensor(&[6], &amounts)]);
        assert_eq!(y[0].as_slice::<i8>(), Ok(&expected[..]), "{x} {direction}");
    }
}

/// The channels of a block are together, or its places.
#[test]
fn depth_takes_blocks_in_two_orders() {
    let x: Vec<f32> = (0..8u8).map(f32::from).collect();
    for (mode, expected) in [
        ("DCR", [0.0f32, 4.0, 1.0, 5.0, 2.0, 6.0, 3.0, 7.0]),
        ("CRD", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
    ] {
        let mut deep = node("SpaceToDepth", &["x"], &["y"]);
        deep.attribute = vec![int("blocksize", 2), text("mode", mode)];
        let inputs = vec![port("x", &["1", "2", "2", "2"])];
        let bytes = of_version(&model(vec![deep], vec![], inputs, &["y"]), 28);
        let y = run(&bytes, &[tensor(&[1, 2, 2, 2], &x)]);
        assert_eq!(y[0].as_slice::<f32>(), Ok(&expected[..]), "{mode}");
    }
}

/// Three scales for five columns: the last block has one column.
#[test]
fn blocks_have_scales_of_their_own() {
    let quantized = |rows: &str| {
        let mut node = node("DequantizeLinear", &["x", "scale", "zero"], &["y"]);
        node.attribute = vec![int("axis", 1), int("block_size", 2)];
        let inputs = vec![
            port_of("x", &[rows, "5"], 3),
            port("scale", &[rows, "3"]),
            port_of("zero", &[rows, "3"], 3),
        ];
        of_version(&model(vec![node], vec![], inputs, &["y"]), 25)
    };
    let x = tensor(&[2, 5], &[1i8, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let scale = tensor(&[2, 3], &[1f32, 10.0, 100.0, 2.0, 20.0, 200.0]);
    let zero = tensor(&[2, 3], &[0i8, 1, 2, 3, 4, 5]);
    let expected = [1f32, 2.0, 20.0, 30.0, 300.0, 6.0, 8.0, 80.0, 100.0, 1000.0];
    for rows in ["2", "rows"] {
        let y = run(&quantized(rows), &[x.clone(), scale.clone(), zero.clone()]);
        assert_eq!(y[0].as_slice::<f32>(), Ok(&expected[..]));
    }
    let wrong = of_version(
        &model(
            vec![{
                let mut node = node("QuantizeLinear", &["x", "scale"], &["y"]);
                node.attribute = vec![int("axis", 1), int("block_size", 3)];
                node
            }],
            vec![],
            vec![port("x", &["2", "5"]), port("scale", &["2", "3"])],
            &["y"],
        ),
        25,
    );
    assert_eq!(
        problems(&wrong),
        [
            "the node that makes `y` (QuantizeLinear): operand 1 (`scale`) is a tensor of shape (2, 3); it must be a tensor of shape (2, 2)"
        ]
    );
}

/// A symbolic extent gives what its number gives.
#[test]
fn same_padding_of_symbolic_extents() {
    let weight = TensorProto {
        name: Some("w".to_owned()),
        data_type: Some(1),
        dims: vec![1, 1, 3, 2],
        float_data: vec![1.0, -2.0, 3.0, 0.5, -1.0, 2.0],
        ..TensorProto::default()
    };
    let elements: Vec<f32> = (0..63).map(|at| (at * at % 19) as f32 - 9.0).collect();
    for (op, operands) in [
        ("Conv", &["x", "w"][..]),
        ("MaxPool", &["x"]),
        ("AveragePool", &["x"]),
        ("LpPool", &["x"]),
    ] {
        for how in ["SAME_UPPER", "SAME_LOWER"] {
            let of_extents = |dims: [&str; 4]| {
                let mut made = node(op, operands, &["y"]);
                made.attribute = vec![
                    list("kernel_shape", &[3, 2]),
                    list("strides", &[2, 3]),
                    text("auto_pad", how),
                ];
                let inputs = vec![port("x", &dims)];
                of_version(&model(vec![made], vec![weight.clone()], inputs, &["y"]), 22)
            };
            for (height, width) in [(1, 1), (4, 3), (5, 4), (9, 7)] {
                let x = tensor(&[1, 1, height, width], &elements[..height * width]);
                let named = of_extents(["1", "1", "h", "w"]);
                let numbered = [height.to_string(), width.to_string()];
                let numbered = of_extents(["1", "1", &numbered[0], &numbered[1]]);
                let x = std::slice::from_ref(&x);
                let (got, expected) = (run(&named, x), run(&numbered, x));
                assert_eq!(got[0].shape(), expected[0].shape(), "{op} {how}");
                let (got, expected) = (got[0].as_slice::<f32>(), expected[0].as_slice::<f32>());
                let (got, expected) = (got.expect("floats"), expected.expect("floats"));
                let mut pairs = got.iter().zip(expected);
                assert!(
                    pairs.all(|(a, b)| (a - b).abs() < 1e-5),
                    "{op} {how} of {height} by {width}: {got:?} {expected:?}"
                );
            }
        }
    }
}

/// Numbers of onnxruntime, for the operators of `com.microsoft` that its quantizer writes.
#[test]
fn operators_on_quantized_tensors() {
    let a = [0u8, 10, 128, 255];
    let b = [5u8, 200, 100, 7];
    let float = |v: f32| tensor(&[], &[v]);
    let byte = |v: u8| tensor(&[], &[v]);
    let first = |shape: &[usize]| vec![tensor(shape, &a), float(0.5), byte(128)];
    let both = |shape: &[usize], result: Vec<Tensor>| {
        let second = vec![tensor(shape, &b), float(0.25), byte(100)];
        [first(shape), second, result].concat()
    };
    let called = |op: &str, operands: &[Tensor], attributes: &[AttributeProto]| {
        let names: Vec<String> = (0..operands.len()).map(|at| format!("i{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut node = node(op, &names, &["y"]);
        node.domain = Some("com.microsoft".to_owned());
        node.attribute.extend_from_slice(attributes);
        let inputs = names.iter().zip(operands).map(|(name, operand)| {
            let dims: Vec<String> = operand.shape().iter().map(ToString::to_string).collect();
            let dims: Vec<&str> = dims.iter().map(String::as_str).collect();
            let code = match operand.dtype() {
                crate::tensor::DType::F32 => 1,
                crate::tensor::DType::U8 => 2,
                _ => 6,
            };
            port_of(name, &dims, code)
        });
        let bytes = model(vec![node], vec![], inputs.collect(), &["y"]);
        run(&of_version(&bytes, 17), operands).swap_remove(0)
    };
    let result = || vec![float(0.6), byte(120)];
    let gate = [
        tensor(&[4], &a),
        float(0.05),
        byte(128),
        float(1.0 / 256.0),
        byte(0),
    ];
    let leaky = [
        tensor(&[4], &a),
        float(0.05),
        byte(128),
        float(0.04),
        byte(20),
    ];
    let slope = AttributeProto {
        name: Some("alpha".to_owned()),
        f: Some(0.1),
        kind: Some(1),
        ..AttributeProto::default()
    };
    let parts = [vec![float(0.5), byte(10)], both(&[4], vec![])].concat();
    let mean = [first(&[1, 1, 2, 2]), vec![float(0.25), byte(100)]].concat();
    let line = [
        tensor(&[1, 4], &a),
        float(0.02),
        byte(128),
        float(1.0 / 256.0),
        byte(0),
    ];
    let bias = tensor(&[2], &[10i32, -20]);
    let product = both(&[2, 2], vec![bias.clone(), float(40.0), byte(100)]);
    let turned = [int("transB", 1)];
    type Case<'a> = (&'a str, Vec<Tensor>, &'a [AttributeProto], &'a [u8]);
    let cases: [Case<'_>; 8] = [
        ("QLinearAdd", both(&[4], result()), &[], &[0, 63, 120, 187]),
        ("QLinearMul", both(&[4], result()), &[], &[255, 0, 120, 0]),
        ("QLinearSigmoid", gate.to_vec(), &[], &[0, 1, 128, 255]),
        (
            "QLinearLeakyRelu",
            leaky.to_vec(),
            &[slope],
            &[4, 5, 20, 179],
        ),
        (
            "QLinearConcat",
            parts,
            &[int("axis", 0)],
            &[0, 0, 10, 137, 0, 60, 10, 0],
        ),
        ("QLinearGlobalAveragePool", mean, &[], &[40]),
        (
            "QLinearSoftmax",
            line.to_vec(),
            &[int("opset", 13)],
            &[1, 2, 18, 234],
        ),
        ("QGemm", product, &turned, &[101, 134, 140, 63]),
    ];
    for (op, operands, attributes, expected) in cases {
        let y = called(op, &operands, attributes);
        assert_eq!(y.as_slice::<u8>(), Ok(expected), "{op}");
    }
    // Without a scale of its own the result is of floats.
    let y = called("QGemm", &both(&[2, 2], vec![bias]), &turned);
    let expected = [46.25, 1369.25, 1588.75, -1478.875];
    assert_eq!(y.as_slice::<f32>(), Ok(expected.as_slice()));
}

/// Rows of 20 numbers of four bits in two blocks of 16, of which the last has four that count; the lowest bits of a byte come first.
#[test]
fn weights_of_four_bits_have_a_scale_and_a_zero_for_each_block() {
    let (n, k, block) = (3, 20, 16);
    let number = |row: usize, at: usize| ((row * 7 + at * 5) % 16) as u8;
    let byte = |row: usize, at: usize| number(row, 2 * at) | number(row, 2 * at + 1) << 4;
    let packed: Vec<u8> = (0..n)
        .flat_map(|row| (0..block).map(move |at| byte(row, at)))
        .collect();
    let scales: Vec<f32> = (1..=6u8).map(|i| f32::from(i) * 0.5).collect();
    let zeros = [0x51u8, 0x82, 0x03];
    let x: Vec<f32> = (0..2 * k).map(|i| (i % 9) as f32 - 4.0).collect();
    let expected: Vec<f32> = (0..2 * n)
        .map(|at| {
            let (m, row) = (at / n, at % n);
            let term = |i: usize| {
                let zero = zeros[row] >> (4 * (i / block)) & 15;
                let weight = f32::from(number(row, i)) - f32::from(zero);
                x[m * k + i] * weight * scales[row * 2 + i / block]
            };
            (0..k).map(term).sum()
        })
        .collect();
    let product = |block: i64, inputs: &[&str]| {
        let mut node = node("MatMulNBits", inputs, &["y"]);
        node.domain = Some("com.microsoft".to_owned());
        node.attribute = vec![
            int("bits", 4),
            int("block_size", block),
            int("N", n as i64),
            int("K", k as i64),
        ];
        let inputs = vec![
            port("x", &["rows", "20"]),
            port_of("packed", &["3", "2", "8"], 2),
            port("scales", &["3", "2"]),
            port_of("zeros", &["3", "1"], 2),
        ];
        model(vec![node], vec![], inputs, &["y"])
    };
    let args = [
        tensor(&[2, k], &x),
        tensor(&[n, 2, 8], &packed),
        tensor(&[n, 2], &scales),
        tensor(&[n, 1], &zeros),
    ];
    let all = ["x", "packed", "scales", "zeros"];
    let y = run(&product(16, &all), &args);
    let got: &[f32] = y[0].as_slice().expect("floats");
    for (got, expected) in got.iter().zip(&expected) {
        assert!((got - expected).abs() < 1e-4, "{got} {expected}");
    }
    assert_eq!(y[0].shape(), [2, n]);
    let refused = problems(&product(24, &all)).concat();
    assert!(refused.contains("`packed`"), "{refused}");
    let refused = problems(&product(3, &all)).concat();
    assert!(refused.contains("fills whole bytes"), "{refused}");
}

/// A matrix of `int4` or `uint4` with blocks of 16 along its first axis, whose rows are whole words or not.
#[test]
fn weights_of_int4_are_unpacked_where_they_are_dequantized() {
    for (signed, n) in [(true, 8), (false, 8), (true, 3), (false, 5)] {
        let (k, block) = (20, 16);
        let number = |at: usize| ((at * 7 + at / 3) % 16) as u8;
        let value = |number: u8| match signed && number > 7 {
            true => f32::from(number) - 16.0,
            false => f32::from(number),
        };
        let packed = |name: &str, rows: usize, first: usize| {
            let count = rows * n;
            let at = |at: usize| if at < count { number(first + at) } else { 0 };
            let bytes = (0..count.div_ceil(2)).map(|byte| at(2 * byte) | at(2 * byte + 1) << 4);
            TensorProto {
                name: Some(name.to_owned()),
                data_type: Some(if signed { 22 } else { 21 }),
                dims: vec![rows as i64, n as i64],
                raw_data: Some(bytes.collect::<Vec<u8>>().into()),
                ..TensorProto::default()
            }
        };
        let scales: Vec<f32> = (1..=2 * n as u8).map(|i| f32::from(i) * 0.25).collect();
        let scale = TensorProto {
            dims: vec![2, n as i64],
            ..floats("s", &scales)
        };
        let mut dequantize = node("DequantizeLinear", &["w", "s", "z"], &["d"]);
        dequantize.attribute = vec![int("axis", 0), int("block_size", block as i64)];
        let nodes = vec![dequantize, node("Add", &["d", "x"], &["y"])];
        let weights = vec![packed("w", k, 0), scale, packed("z", 2, 5)];
        let bytes = model(nodes, weights, vec![port("x", &["1"])], &["y"]);
        let y = run(&of_version(&bytes, 21), &[tensor(&[1], &[0.0f32])]);
        let expected = (0..k * n).map(|at| {
            let of_block = at / n / block * n + at % n;
            (value(number(at)) - value(number(5 + of_block))) * scales[of_block]
        });
        let expected: Vec<f32> = expected.collect();
        assert_eq!(y[0].as_slice(), Ok(expected.as_slice()), "{signed} {n}");
        assert_eq!(y[0].shape(), [k, n]);
    }
}

/// Nothing else takes such a weight, and one of the wrong number of bytes is none.
#[test]
fn weights_of_int4_are_refused_elsewhere() {
    let packed = |bytes: Vec<u8>| TensorProto {
        name: Some("w".to_owned()),
        data_type: Some(22),
        dims: vec![3],
        raw_data: Some(bytes.into()),
        ..TensorProto::default()
    };
    for (operator, bytes, expected) in [
        ("Neg", vec![1, 2], "int4"),
        ("DequantizeLinear", vec![1], "2"),
    ] {
        let inputs: &[&str] = if operator == "Neg" {
            &["w"]
        } else {
            &["w", "x"]
        };
        let nodes = vec![node(operator, inputs, &["y"])];
        let bytes = model(nodes, vec![packed(bytes)], vec![port("x", &[])], &["y"]);
        let refused = problems(&of_version(&bytes, 21)).concat();
        assert!(refused.contains(expected), "{refused}");
    }
}

/// One head of one number, whose projections are the number itself: each query takes the mean of what it may see, as all scores are 0.
#[test]
fn attention_with_projections_sees_what_its_mask_and_order_let_it() {
    let attention = |unidirectional: i64, heads: i64| {
        let mut node = node("Attention", &["x", "w", "b", "ends"], &["y"]);
        node.domain = Some("com.microsoft".to_owned());
        node.attribute = vec![
            int("num_heads", heads),
            int("unidirectional", unidirectional),
        ];
        let inputs = vec![
            port("x", &["batch", "length", "1"]),
            port("w", &["1", "3"]),
            port("b", &["3"]),
            port_of("ends", &["batch"], 6),
        ];
        model(vec![node], vec![], inputs, &["y"])
    };
    let args = [
        tensor(&[2, 3, 1], &[1f32, 2.0, 6.0, 10.0, 20.0, 30.0]),
        tensor(&[1, 3], &[0f32, 0.0, 1.0]),
        tensor(&[3], &[0f32, 0.0, 0.5]),
        tensor(&[2], &[2i32, 3]),
    ];
    for (unidirectional, expected) in [
        (0, [2f32, 2.0, 2.0, 20.5, 20.5, 20.5]),
        (1, [1.5, 2.0, 2.0, 10.5, 15.5, 20.5]),
    ] {
        let y = run(&attention(unidirectional, 1), &args);
        let got: &[f32] = y[0].as_slice().expect("floats");
        for (got, expected) in got.iter().zip(&expected) {
            assert!((got - expected).abs() < 1e-5, "{got} {expected}");
        }
    }
    for (heads, reason) in [
        (0, "`num_heads` is 0"),
        (-1, "`num_heads` is -1"),
        (2, "widths that 2 heads divide"),
    ] {
        let refused = problems(&attention(0, heads)).concat();
        assert!(refused.contains(reason), "{refused}");
    }
}

/// The test of the standard's version 10: axes that shrink round their coordinates upwards.
#[test]
fn images_shrink_upwards_before_version_11() {
    let mut resize = node("Resize", &["x", "scales"], &["y"]);
    resize.attribute.push(text("mode", "nearest"));
    let scales = floats("scales", &[1.0, 1.0, 0.6, 0.6]);
    let inputs = vec![port("x", &["1", "1", "2", "4"])];
    let bytes = of_version(&model(vec![resize], vec![scales], inputs, &["y"]), 10);
    let x: Vec<f32> = (1..9u8).map(f32::from).collect();
    let y = run(&bytes, &[tensor(&[1, 1, 2, 4], &x)]);
    assert_eq!(y[0].shape(), [1, 1, 1, 2]);
    assert_eq!(y[0].as_slice::<f32>(), Ok(&[1.0, 3.0][..]));
}

/// What is neither above nor below is 0, as the standard says, and NaN is neither.
#[test]
fn nan_is_between_thresholds() {
    let x = [f32::NAN, -2.0, 0.25, 2.0];
    for (op, expected) in [
        ("Shrink", [0.0, -2.0, 0.0, 2.0]),
        ("ThresholdedRelu", [0.0, 0.0, 0.0, 2.0]),
    ] {
        let inputs = vec![port("x", &["4"])];
        let bytes = model(vec![node(op, &["x"], &["y"])], vec![], inputs, &["y"]);
        let y = run(&of_version(&bytes, 21), &[tensor(&[4], &x)]);
        assert_eq!(y[0].as_slice::<f32>(), Ok(&expected[..]), "{op}");
    }
}

/// A number is one element, of which the index is 0.
#[test]
fn the_index_of_a_number_is_0() {
    let bytes = model(
        vec![node("NonZero", &["x"], &["y"])],
        vec![],
        vec![port("x", &[])],
        &["y"],
    );
    for (x, count) in [(3f32, 1), (0.0, 0)] {
        let y = run(&of_version(&bytes, 13), &[tensor(&[], &[x])]);
        assert_eq!(y[0].shape(), [1, count]);
        assert_eq!(y[0].as_slice::<i64>(), Ok(&vec![0; count][..]));
    }
}

/// Rows of three: what follows may count on it.
#[test]
fn selected_boxes_are_rows_of_three() {
    let nodes = vec![
        node("NonMaxSuppression", &["boxes", "scores", "most"], &["rows"]),
        node("GatherND", &["scores", "rows"], &["y"]),
    ];
    let most = ints("most", &[5]);
    let boxes = port("boxes", &["1", "2", "4"]);
    // Class before box, as in a row.
    let scores = port("scores", &["1", "1", "2"]);
    let bytes = of_version(&model(nodes, vec![most], vec![boxes, scores], &["y"]), 13);
    let apart = [0f32, 0.0, 1.0, 1.0, 5.0, 5.0, 6.0, 6.0];
    let inputs = [
        tensor(&[1, 2, 4], &apart),
        tensor(&[1, 1, 2], &[0.5f32, 0.75]),
    ];
    assert_eq!(
        run(&bytes, &inputs)[0].as_slice::<f32>(),
        Ok(&[0.75, 0.5][..])
    );
}

/// An index without dimensions takes one away, also where it counts from the end of an axis of any extent.
#[test]
fn one_index_from_the_end_takes_the_axis_away() {
    let last = TensorProto {
        dims: vec![],
        ..ints("last", &[-1])
    };
    let one = ints("one", &[1]);
    let first = TensorProto {
        dims: vec![],
        ..ints("first", &[0])
    };
    // Of the axis, and that of the number of rows less one.
    let constant = vec![node("Gather", &["x", "last"], &["y"])];
    let computed = vec![
        node("Shape", &["x"], &["shape"]),
        node("Gather", &["shape", "first"], &["rows"]),
        node("Sub", &["rows", "one_of_none"], &["index"]),
        node("Gather", &["x", "index"], &["y"]),
    ];
    let none = TensorProto {
        dims: vec![],
        name: Some("one_of_none".to_owned()),
        ..one
    };
    for nodes in [constant, computed] {
        let weights = vec![last.clone(), first.clone(), none.clone()];
        let bytes = model(nodes, weights, vec![port("x", &["rows", "2"])], &["y"]);
        for rows in [1, 3] {
            let x: Vec<f32> = (0..2 * rows).map(|i| i as f32).collect();
            let y = &run(&of_version(&bytes, 13), &[tensor(&[rows, 2], &x)])[0];
            assert_eq!(y.shape(), [2]);
            assert_eq!(y.as_slice::<f32>(), Ok(&x[2 * rows - 2..]));
        }
    }
}

/// Constants of types without a sign are computed as their numbers, those of uint64 above all int64 too.
#[test]
fn constants_without_a_sign_are_folded_as_numbers() {
    let constant = |name: &str, data_type: i32, raw: Vec<u8>, count: i64| TensorProto {
        name: Some(name.to_owned()),
        data_type: Some(data_type),
        dims: vec![count],
        raw_data: Some(raw.into()),
        ..TensorProto::default()
    };
    let large = (1u64 << 63) + 4;
    let wide = |numbers: [u64; 2]| numbers.map(u64::to_le_bytes).concat();
    let weights = vec![
        constant("bytes", 2, vec![5, 200], 2),
        constant("large", 13, wide([large, 7]), 2),
        constant("two", 13, wide([2, 2]), 2),
    ];
    let mut cast = node("Cast", &["large"], &["float"]);
    cast.attribute.push(int("to", 1));
    let nodes = vec![
        node("Abs", &["bytes"], &["abs"]),
        node("Div", &["large", "two"], &["half"]),
        cast,
        node("Identity", &["x"], &["same"]),
    ];
    let outputs = ["abs", "half", "float", "same"];
    let bytes = of_version(
        &model(nodes, weights, vec![port("x", &["1"])], &outputs),
        17,
    );
    let results = run(&bytes, &[tensor(&[1], &[0f32])]);
    assert_eq!(results[0].as_slice::<u8>(), Ok([5, 200].as_slice()));
    assert_eq!(results[1].as_slice::<u64>(), Ok([large / 2, 3].as_slice()));
    assert_eq!(
        results[2].as_slice::<f32>(),
        Ok([large as f32, 7.0].as_slice())
    );
}
