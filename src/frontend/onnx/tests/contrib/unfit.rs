//! Nodes whose operands or attributes do not fit: the node is blamed in its own words, not an operator that it becomes.

use super::*;

type Operands = Vec<Option<Tensor>>;

/// What is wrong with a node.
fn fault(operator: (&str, &str), operands: &Operands, attributes: &[AttributeProto]) -> String {
    let (bytes, _) = model_of(operator, operands, attributes, 1, Extents::Numbers);
    let all = problems(&bytes).join("\n");
    let (_, fault) = all.split_once("): ").expect("a problem names its node");
    fault.to_owned()
}

fn of(shapes: &[&[usize]]) -> Operands {
    let shapes = shapes.iter().enumerate();
    shapes
        .map(|(seed, shape)| Some(noise(shape, seed)))
        .collect()
}

/// These operands, and at most one more at a place of its own.
fn with(mut operands: Operands, at: usize, more: Tensor) -> Operands {
    operands.resize(operands.len().max(at + 1), None);
    operands[at] = Some(more);
    operands
}

fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        s: Some(value.as_bytes().to_vec()),
        kind: Some(3),
        ..AttributeProto::default()
    }
}

fn assert_faults(
    operator: (&str, &str),
    cases: Vec<(Operands, Vec<AttributeProto>, &str)>,
    common: &[AttributeProto],
) {
    for (operands, attributes, expected) in cases {
        let attributes = [common, &attributes].concat();
        let got = fault(operator, &operands, &attributes);
        assert_eq!(got, expected, "{}", operator.1);
    }
}

#[test]
fn attributes_of_attention_have_the_values_of_the_standard() {
    let heads = [int("q_num_heads", 3), int("kv_num_heads", 3)];
    let cases = [
        (
            int("qk_matmul_output_mode", 9),
            "attribute `qk_matmul_output_mode` is 9; it must be 0 to 3",
        ),
        (
            float("softcap", -1.0),
            "attribute `softcap` is -1; it must be at least 0",
        ),
        (
            int("is_causal", 2),
            "attribute `is_causal` is 2; it must be 0 or 1",
        ),
        (
            int("softmax_precision", 7),
            "attribute `softmax_precision` is 7; it must be the number of an element type of floats: 1 (float32), 10 (float16), \
             11 (float64) or 16 (bfloat16)",
        ),
    ];
    let cases = cases.map(|(attribute, expected)| (three(), vec![attribute], expected));
    assert_faults(STANDARD, cases.into(), &heads);
    let cases = [
        (
            float("softcap", -0.5),
            "attribute `softcap` is -0.5; it must be at least 0",
        ),
        (
            int("smooth_softmax", 2),
            "attribute `smooth_softmax` is 2; it must be -1 to 1",
        ),
        (
            int("qk_output", 3),
            "attribute `qk_output` is 3; it must be 0 to 2",
        ),
        (
            int("do_rotary", -1),
            "attribute `do_rotary` is -1; it must be 0 or 1",
        ),
    ];
    let lengths = [Some(tensor(&[2], &[4i32, 4])), Some(tensor(&[], &[5i32]))];
    let operands = [grouped(2, 0, 5), vec![None, None], lengths.to_vec()].concat();
    let cases = cases.map(|(attribute, expected)| (operands.clone(), vec![attribute], expected));
    assert_faults(GROUPED, cases.into(), &grouped_heads());
}

#[test]
fn heads_of_attention_fit() {
    let heads = |q, kv| vec![int("q_num_heads", q), int("kv_num_heads", kv)];
    let cases = vec![
        (
            three(),
            heads(5, 3),
            "operand 0 (`i0`) is a tensor of shape (2, 5, 12); it must be (batch, sequence, width) with a width that 5 divides, \
             `q_num_heads`",
        ),
        (
            three(),
            heads(0, 3),
            "attribute `q_num_heads` is 0; it must be at least 1",
        ),
        (
            three(),
            heads(3, 2),
            "operand 1 (`i1`) is a tensor of shape (2, 5, 12) with head size 6; it must be of head size 4, as operand 0 (`i0`) is",
        ),
        (three(), vec![], "attribute `q_num_heads` is missing"),
        (
            of(&[&[2, 3, 5, 4], &[2, 2, 5, 4], &[2, 2, 5, 4]]),
            vec![],
            "operand 1 (`i1`) is a tensor of shape (2, 2, 5, 4) with 2 heads; it must be of heads whose number divides 3, that of \
             operand 0 (`i0`)",
        ),
        (
            of(&[&[2, 3, 5, 4], &[2, 3, 5, 4], &[2, 3, 6, 4]]),
            vec![],
            "operand 2 (`i2`) is a tensor of shape (2, 3, 6, 4) with sequence length 6; it must be of sequence length 5, as \
             operand 1 (`i1`) is",
        ),
        (
            of(&[&[2, 5], &[2, 5], &[2, 5]]),
            vec![],
            "operand 0 (`i0`) is a tensor of shape (2, 5); it must be a tensor of three or four dimensions",
        ),
    ];
    assert_faults(STANDARD, cases, &[]);
}

#[test]
fn caches_and_masks_of_attention_fit() {
    let heads = [int("q_num_heads", 3), int("kv_num_heads", 3)];
    let cached = |keys: &[usize], values: &[usize]| {
        with(with(three(), 4, noise(keys, 7)), 5, noise(values, 8))
    };
    let mask = |shape: &[usize]| with(three(), 3, noise(shape, 9));
    let cases = vec![
        (
            with(three(), 4, noise(&[2, 3, 6, 4], 7)),
            vec![],
            "operand 4 (`i4`) is given; it must be left out, as operand 5 is, or given together with it",
        ),
        (
            cached(&[2, 2, 6, 4], &[2, 3, 6, 4]),
            vec![],
            "operand 4 (`i4`) is a tensor of shape (2, 2, 6, 4); it must be of shape (batch 2, heads 3, past sequence, size 4)",
        ),
        (
            cached(&[2, 3, 6, 4], &[2, 3, 7, 4]),
            vec![],
            "operand 5 (`i5`) is a tensor of shape (2, 3, 7, 4) with past sequence 7; it must be of past sequence 6, as \
             operand 4 (`i4`) is",
        ),
        (
            mask(&[4, 5]),
            vec![],
            "operand 3 (`i3`) is a tensor of shape (4, 5); it must be of a shape that broadcasts to (2, 3, 5, 5), which are batch, \
             heads, sequence and keys; it may have fewer keys",
        ),
        (
            mask(&[5, 6]),
            vec![],
            "operand 3 (`i3`) is a tensor of shape (5, 6); it must be of a shape that broadcasts to (2, 3, 5, 5), which are batch, \
             heads, sequence and keys; it may have fewer keys",
        ),
    ];
    assert_faults(STANDARD, cases, &heads);
}

#[test]
fn operands_of_contributed_attention_fit() {
    let heads = [int("num_heads", 3)];
    let cases = vec![
        (
            with(three(), 3, noise(&[35], 4)),
            vec![],
            "operand 3 (`i3`) is a tensor of shape (35); it must be a vector of 2 * 12 + 12 numbers",
        ),
        (
            with(three(), 4, tensor(&[2, 4], &[1i32; 8])),
            vec![],
            "operand 4 (`i4`) is a tensor of shape (2, 4); it must be of shape (batch 2, sequence of keys 5)",
        ),
        (
            with(three(), 5, noise(&[1, 2, 5, 5], 4)),
            vec![],
            "operand 5 (`i5`) is a tensor of shape (1, 2, 5, 5); it must be of shape (batch 2 or 1, heads 3 or 1, sequence 5, \
             sequence of keys 5)",
        ),
        (
            of(&[&[2, 5, 12], &[3, 5, 12], &[3, 5, 12]]),
            vec![],
            "operand 1 (`i1`) is a tensor of shape (3, 5, 12) with batch 3; it must be of batch 2, as operand 0 (`i0`) is",
        ),
    ];
    assert_faults(MULTI_HEAD, cases, &heads);
    let cases = vec![
        (
            of(&[&[2, 5, 7], &[6, 36]]),
            vec![],
            "operand 1 (`i1`) is a tensor of shape (6, 36); it must be of shape (width 7, width of queries, keys and values)",
        ),
        (
            of(&[&[2, 5, 7], &[7, 34]]),
            vec![],
            "operand 1 (`i1`) is a tensor of shape (7, 34); it must be of shape (width, 3 * n) for three widths that 3 heads divide, \
             or with `qkv_hidden_sizes`",
        ),
        (
            of(&[&[2, 5, 7], &[7, 36], &[35]]),
            vec![],
            "operand 2 (`i2`) is a tensor of shape (35); it must be of shape (width of queries, keys and values 36)",
        ),
    ];
    assert_faults(("com.microsoft", "Attention"), cases, &heads);
    let lengths = [Some(tensor(&[2], &[4i32, 4])), Some(tensor(&[], &[5i32]))];
    let plain = [grouped(2, 0, 5), vec![None, None], lengths.to_vec()].concat();
    let cases = vec![(
        with(plain, 10, noise(&[1, 3, 5, 5], 4)),
        vec![],
        "operand 10 (`i10`) is a tensor of shape (1, 3, 5, 5); it must be of shape (batch 2 or 1, heads 4 or 1, sequence 5, total \
         sequence 5)",
    )];
    assert_faults(GROUPED, cases, &grouped_heads());
}

#[test]
fn weights_of_recurrent_layers_fit() {
    let layer = |w: &[usize], r: &[usize]| of(&[&[4, 2, 3], w, r]);
    let cases = vec![
        (
            layer(&[1, 20, 3], &[1, 20, 6]),
            vec![],
            "operand 1 (`i1`) is a tensor of shape (1, 20, 3); it must be of shape (directions 1, gates * hidden 24, input 3)",
        ),
        (
            layer(&[1, 24, 3], &[1, 24, 6]),
            vec![text("direction", "bidirectional")],
            "operand 1 (`i1`) is a tensor of shape (1, 24, 3); it must be of shape (directions 2, gates * hidden 24, input 3)",
        ),
        (
            with(layer(&[1, 24, 3], &[1, 24, 6]), 3, noise(&[1, 24], 1)),
            vec![],
            "operand 3 (`i3`) is a tensor of shape (1, 24); it must be of shape (directions 1, 2 * gates * hidden 48)",
        ),
        (
            with(layer(&[1, 24, 3], &[1, 24, 6]), 5, noise(&[1, 3, 6], 1)),
            vec![],
            "operand 5 (`i5`) is a tensor of shape (1, 3, 6); it must be of shape (directions 1, batch 2, hidden 6)",
        ),
    ];
    assert_faults(("", "LSTM"), cases, &[]);
}

#[test]
fn operands_of_products_and_convolutions_fit() {
    let gemm = vec![
        (
            of(&[&[2, 3], &[4, 5]]),
            vec![],
            "operand 1 (`i1`) is a tensor of shape (4, 5) with inner extent 4; it must be of inner extent 3, as operand 0 (`i0`) is",
        ),
        (
            of(&[&[2, 3], &[4, 5]]),
            vec![int("transA", 2)],
            "attribute `transA` is 2; it must be 0 or 1",
        ),
        (
            of(&[&[2, 3], &[3, 5], &[3, 5]]),
            vec![],
            "operand 2 (`i2`) is a tensor of shape (3, 5); it must be of shape (rows 2 or 1, columns 5 or 1), or the last of these \
             extents",
        ),
    ];
    assert_faults(("", "Gemm"), gemm, &[]);
    let conv = vec![
        (
            of(&[&[1, 4, 6, 6], &[8, 3, 3, 3]]),
            vec![],
            "operand 1 (`i1`) is a tensor of shape (8, 3, 3, 3); it must be of extent 4 in dimension 1, for the 4 channels of \
             operand 0 (`i0`)",
        ),
        (
            of(&[&[1, 4, 6, 6], &[8, 4, 3, 3], &[7]]),
            vec![],
            "operand 2 (`i2`) is a tensor of shape (7); it must be of shape (channels 8)",
        ),
        (
            of(&[&[1, 4, 6, 6], &[8, 4, 3, 3]]),
            vec![int("group", 3)],
            "attribute `group` is 3; it must be a number that divides the 4 channels of operand 0 (`i0`)",
        ),
    ];
    assert_faults(("", "Conv"), conv, &[]);
    let norm = vec![(
        of(&[&[2, 3, 8], &[7], &[8]]),
        vec![],
        "operand 1 (`i1`) is a tensor of shape (7); it must be of shape (extent 2 or 1, extent 3 or 1, extent 8 or 1), or the last \
         of these extents",
    )];
    assert_faults(("", "LayerNormalization"), norm, &[]);
    let packed = vec![
        Some(noise(&[2, 32], 1)),
        Some(tensor(&[3, 1, 16], &[7u8; 48])),
        Some(noise(&[3, 1], 1)),
    ];
    let packed = vec![(
        with(packed, 5, noise(&[4], 2)),
        vec![int("N", 3), int("K", 32), int("block_size", 32)],
        "operand 5 (`i5`) is a tensor of shape (4); it must be of shape (N 3)",
    )];
    assert_faults(("com.microsoft", "MatMulNBits"), packed, &[]);
}

#[test]
fn refused_operators_of_the_graph_name_the_operands_of_the_node() {
    let got = fault(("", "MatMul"), &of(&[&[2, 3], &[4, 5]]), &[]);
    let operands =
        "`i0`, a tensor of shape (2, 3) in float32; `i1`, a tensor of shape (4, 5) in float32";
    assert!(
        got.ends_with(&format!("; the node takes {operands}")),
        "{got}"
    );
}
