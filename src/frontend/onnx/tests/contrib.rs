//! Operators of `com.microsoft` that exported transformers carry, against operators of the default domain and the definition.

use super::*;
use crate::tensor::DType;

mod quantized;
mod unfit;

/// Floats without order between -1 and 1, others for each seed.
fn noise(shape: &[usize], seed: usize) -> Tensor {
    let at = |at: usize| (at * 7919 + seed * 104_729) % 1009;
    let count = shape.iter().product();
    let elements: Vec<f32> = (0..count).map(|i| at(i) as f32 / 504.0 - 1.0).collect();
    tensor(shape, &elements)
}

/// How the extents of the inputs are declared.
#[derive(Clone, Copy)]
enum Extents {
    Numbers,
    /// The batch and the sequences have names; an extent of two operands has one name.
    Names(&'static [(usize, &'static str)]),
}

/// A model of one node on these operands, and the operands that it takes.
fn model_of(
    (domain, op): (&str, &str),
    operands: &[Option<Tensor>],
    attributes: &[AttributeProto],
    outputs: usize,
    extents: Extents,
) -> (Vec<u8>, Vec<Tensor>) {
    let name = |at: usize| format!("i{at}");
    let names = operands.iter().enumerate();
    let names = names.map(|(at, operand)| operand.as_ref().map_or(String::new(), |_| name(at)));
    let names: Vec<String> = names.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let results: Vec<String> = (0..outputs).map(|at| format!("y{at}")).collect();
    let results: Vec<&str> = results.iter().map(String::as_str).collect();
    let mut node = node(op, &names, &results);
    node.domain = Some(domain.to_owned());
    node.attribute.extend_from_slice(attributes);
    let given = names.iter().zip(operands);
    let given = given.filter_map(|(name, operand)| Some((name, operand.as_ref()?)));
    let inputs = given.clone().map(|(name, operand)| {
        let shape = operand.shape();
        // Heads, and how much is packed, are numbers.
        let shown = |axis: usize| match extents {
            Extents::Names(names) if ![(1, 4), (3, 5)].contains(&(axis, shape.len())) => {
                let name = names.iter().find(|(known, _)| *known == shape[axis]);
                name.map_or(shape[axis].to_string(), |(_, name)| (*name).to_owned())
            }
            _ => shape[axis].to_string(),
        };
        let dims: Vec<String> = (0..shape.len()).map(shown).collect();
        let dims: Vec<&str> = dims.iter().map(String::as_str).collect();
        let code = match operand.dtype() {
            DType::F32 => 1,
            DType::U8 => 2,
            DType::I32 => 6,
            DType::I64 => 7,
            other => panic!("no code for {other}"),
        };
        port_of(name, &dims, code)
    });
    let bytes = model(vec![node], vec![], inputs.collect(), &results);
    let taken = given.map(|(_, operand)| operand.clone()).collect();
    (of_version(&bytes, 23), taken)
}

fn called(
    operator: (&str, &str),
    operands: &[Option<Tensor>],
    attributes: &[AttributeProto],
    outputs: usize,
    extents: Extents,
) -> Vec<Tensor> {
    let (bytes, inputs) = model_of(operator, operands, attributes, outputs, extents);
    run(&bytes, &inputs)
}

fn refused(op: &str, operands: &[Option<Tensor>], attributes: &[AttributeProto]) -> String {
    let operator = ("com.microsoft", op);
    let (bytes, _) = model_of(operator, operands, attributes, 1, Extents::Numbers);
    let all = problems(&bytes).join("\n");
    let (_, fault) = all.split_once("): ").expect("a problem names its node");
    fault.to_owned()
}

fn assert_near(got: &Tensor, expected: &Tensor, what: &str) {
    assert_eq!(got.shape(), expected.shape(), "{what}");
    let (got, expected) = (got.as_slice::<f32>(), expected.as_slice::<f32>());
    let (got, expected) = (got.expect("floats"), expected.expect("floats"));
    let mut pairs = got.iter().zip(expected);
    assert!(
        pairs.all(|(a, b)| (a - b).abs() < 2e-5),
        "{what}: {got:?}, expected {expected:?}"
    );
}

const MULTI_HEAD: (&str, &str) = ("com.microsoft", "MultiHeadAttention");
const STANDARD: (&str, &str) = ("", "Attention");

/// Batch 2, five queries, six cached keys, eleven keys with them.
const NAMED: Extents = Extents::Names(&[(2, "batch"), (5, "sequence"), (6, "past"), (11, "total")]);

/// (2, 5, 3 heads of 4) thrice.
fn three() -> Vec<Option<Tensor>> {
    (1..4).map(|seed| Some(noise(&[2, 5, 12], seed))).collect()
}

fn standard(
    mask: Option<Tensor>,
    past: &[Option<Tensor>],
    attributes: &[AttributeProto],
) -> Vec<Tensor> {
    let operands = [three(), vec![mask], past.to_vec()].concat();
    let heads = [int("q_num_heads", 3), int("kv_num_heads", 3)];
    let attributes = [&heads, attributes].concat();
    called(STANDARD, &operands, &attributes, 3, Extents::Numbers)
}

#[test]
fn multi_head_attention_is_that_of_the_standard() {
    let past = [5, 6].map(|seed| Some(noise(&[2, 3, 6, 4], seed)));
    let bias = noise(&[1, 3, 5, 11], 9);
    let padding: Vec<i32> = (0..22).map(|at| (at % 5 != 1).into()).collect();
    let each = [0, 1]
        .iter()
        .flat_map(|b| padding[b * 11..b * 11 + 11].repeat(5));
    let hidden = each.map(|number| (number - 1) as f32 * 10_000.0);
    let hidden = tensor(&[2, 1, 5, 11], &hidden.collect::<Vec<f32>>());
    let none = || vec![None, None, None];
    let cached = |middle: Vec<Option<Tensor>>| [three(), middle, past.to_vec()].concat();
    let masked = vec![None, Some(tensor(&[2, 11], &padding)), None];
    let added = vec![None, None, Some(bias.clone())];
    let causal = [int("is_causal", 1)];
    type Case<'a> = (
        &'a str,
        Vec<Option<Tensor>>,
        Vec<AttributeProto>,
        Vec<Tensor>,
    );
    let cases: [Case<'_>; 6] = [
        ("plain", three(), vec![], standard(None, &[], &[])),
        ("past", cached(none()), vec![], standard(None, &past, &[])),
        (
            "causal",
            cached(none()),
            vec![int("unidirectional", 1)],
            standard(None, &past, &causal),
        ),
        (
            "bias",
            cached(added),
            vec![],
            standard(Some(bias), &past, &[]),
        ),
        (
            "padding",
            cached(masked),
            vec![],
            standard(Some(hidden), &past, &[]),
        ),
        (
            "scale",
            three(),
            vec![float("scale", 0.75)],
            standard(None, &[], &[float("scale", 0.75)]),
        ),
    ];
    for (what, operands, mut attributes, expected) in cases {
        attributes.push(int("num_heads", 3));
        for extents in [Extents::Numbers, NAMED] {
            let got = called(MULTI_HEAD, &operands, &attributes, 3, extents);
            for (got, expected) in got.iter().zip(&expected) {
                assert_near(got, expected, what);
            }
        }
    }
}

/// Items `at` of each head, between the heads and their size.
fn packed(items: &[Tensor]) -> Tensor {
    let rows: Vec<&[f32]> = items
        .iter()
        .map(|x| x.as_slice().expect("floats"))
        .collect();
    let mut all = vec![];
    for head in 0..2 * 5 * 3 {
        for row in &rows {
            all.extend_from_slice(&row[head * 4..head * 4 + 4]);
        }
    }
    tensor(&[2, 5, 3, items.len(), 4], &all)
}

#[test]
fn packed_projections_are_those_apart() {
    let apart: Vec<Tensor> = three().into_iter().flatten().collect();
    let bias = Some(noise(&[36], 8));
    let attributes = [int("num_heads", 3)];
    let given = |x: &Tensor| Some(x.clone());
    let with = |operands: [Option<Tensor>; 3]| [operands.to_vec(), vec![bias.clone()]].concat();
    let expected = called(
        MULTI_HEAD,
        &with([given(&apart[0]), given(&apart[1]), given(&apart[2])]),
        &attributes,
        3,
        NAMED,
    );
    let all = with([Some(packed(&apart)), None, None]);
    let keys = with([given(&apart[0]), Some(packed(&apart[1..])), None]);
    for operands in [all, keys] {
        let got = called(MULTI_HEAD, &operands, &attributes, 3, NAMED);
        for (got, expected) in got.iter().zip(&expected) {
            assert_near(got, expected, "packed");
        }
    }
    // Keys and values of (batch, heads, sequence, size) are as they were projected: only queries have a bias.
    let plain = called(MULTI_HEAD, &three(), &attributes, 3, NAMED);
    let zeros = Tensor::zeros(DType::F32, &[36]).expect("a few");
    let cross = [
        given(&apart[0]),
        given(&plain[1]),
        given(&plain[2]),
        Some(zeros),
    ];
    let got = called(MULTI_HEAD, &cross, &attributes, 1, NAMED);
    assert_near(&got[0], &plain[0], "cross attention");
}

/// The forms of a mask for the same keys, and projections in the node.
#[test]
fn attention_projects_and_masks() {
    let operator = ("com.microsoft", "Attention");
    let (x, weights, bias) = (noise(&[2, 5, 7], 1), noise(&[7, 36], 2), noise(&[36], 3));
    let of = |mask: Option<Tensor>, extents| {
        let all = [&x, &weights, &bias].map(|x| Some(x.clone())).to_vec();
        let operands = [all, vec![mask]].concat();
        called(operator, &operands, &[int("num_heads", 3)], 2, extents)
    };
    let projected = called(
        ("", "MatMul"),
        &[Some(x.clone()), Some(weights.clone())],
        &[],
        1,
        NAMED,
    );
    let projected = projected[0].as_slice::<f32>().expect("floats").to_vec();
    let shift = bias.as_slice::<f32>().expect("floats");
    let part = |first: usize| {
        let row = |row: usize| (first..first + 12).map(move |at| row * 36 + at);
        let elements = (0..10)
            .flat_map(row)
            .map(|at| projected[at] + shift[at % 36]);
        Some(tensor(&[2, 5, 12], &elements.collect::<Vec<f32>>()))
    };
    let visible = [0, 1, 1, 1, 0, 1, 1, 1, 0, 0];
    let mask = Some(tensor(&[2, 5], &visible));
    let apart = [part(0), part(12), part(24), None, mask.clone()];
    let expected = called(MULTI_HEAD, &apart, &[int("num_heads", 3)], 3, NAMED);
    let ends_and_starts = Some(tensor(&[4], &[4i32, 3, 1, 0]));
    let each: Vec<i32> = [0, 1]
        .iter()
        .flat_map(|b| visible[b * 5..b * 5 + 5].repeat(5))
        .collect();
    let each = Some(tensor(&[2, 5, 5], &each));
    for (what, mask, extents) in [
        ("keys", mask, NAMED),
        ("queries and keys", each, NAMED),
        ("ends and starts", ends_and_starts, Extents::Numbers),
    ] {
        let got = of(mask, extents);
        assert_near(&got[0], &expected[0], what);
        assert_eq!(got[1].shape(), [2, 2, 3, 5, 4]);
    }
    let lengths = of(Some(tensor(&[2], &[3i32, 4])), NAMED);
    let beyond = [1, 1, 1, 0, 0, 1, 1, 1, 1, 0];
    let beyond = of(Some(tensor(&[2, 5], &beyond)), NAMED);
    assert_near(&lengths[0], &beyond[0], "lengths");
}

const GROUPED: (&str, &str) = ("com.microsoft", "GroupQueryAttention");

fn grouped_heads() -> Vec<AttributeProto> {
    vec![int("num_heads", 4), int("kv_num_heads", 2)]
}

/// Four heads of queries, two of keys, of size 4, after `past` tokens.
fn grouped(batch: usize, past: usize, new: usize) -> Vec<Option<Tensor>> {
    let of = |shape: &[usize], seed| Some(noise(shape, seed));
    let mut operands = vec![
        of(&[batch, new, 16], 1),
        of(&[batch, new, 8], 2),
        of(&[batch, new, 8], 3),
    ];
    if past > 0 {
        operands.extend([4, 5].map(|seed| of(&[batch, 2, past, 4], seed)));
    }
    operands
}

#[test]
fn group_query_attention_is_causal_attention_of_the_standard() {
    let total = Some(tensor(&[], &[11i32]));
    let lengths = Some(tensor(&[2], &[10i32, 10]));
    let operands = [grouped(2, 6, 5), vec![lengths, total]].concat();
    let mut of_standard = grouped(2, 6, 5);
    of_standard.insert(3, None);
    let heads = [int("q_num_heads", 4), int("kv_num_heads", 2)];
    let cap = float("softcap", 0.5);
    let capped = [&heads[..], &[int("is_causal", 1), cap.clone()]].concat();
    let expected = called(STANDARD, &of_standard, &capped, 3, Extents::Numbers);
    let attributes = [grouped_heads(), vec![cap]].concat();
    // The total is not known while the model is imported.
    for extents in [Extents::Numbers, NAMED] {
        let got = called(GROUPED, &operands, &attributes, 3, extents);
        for (got, expected) in got.iter().zip(&expected) {
            assert_near(got, expected, "grouped");
        }
    }
}

/// Each sequence of a batch as it is alone, in a cache with room for more.
#[test]
fn sequences_of_different_lengths_share_a_cache() {
    let all = grouped(2, 6, 1);
    let tables = [1, 2].map(|seed| Some(noise(&[9, 2], seed)));
    let attributes = [grouped_heads(), vec![int("do_rotary", 1)]].concat();
    let tail = |lengths: &[i32], total: i32| {
        let lengths = Some(tensor(&[lengths.len()], lengths));
        [vec![lengths, Some(tensor(&[], &[total]))], tables.to_vec()].concat()
    };
    let operands = [all.clone(), tail(&[4, 2], 5)].concat();
    let got = called(GROUPED, &operands, &attributes, 3, Extents::Numbers);
    assert_eq!(got[1].shape(), [2, 2, 6, 4]);
    let row = |x: &Tensor, row: usize| {
        let each = x.len() / x.shape()[0];
        let shape = [&[1], &x.shape()[1..]].concat();
        let elements = x.as_slice::<f32>().expect("floats");
        tensor(&shape, &elements[row * each..(row + 1) * each])
    };
    for (at, last) in [(0, 4), (1, 2)] {
        let own: Vec<_> = all.iter().map(|x| x.as_ref().map(|x| row(x, at))).collect();
        let operands = [own, tail(&[last], last + 1)].concat();
        let alone = called(GROUPED, &operands, &attributes, 3, Extents::Numbers);
        for (got, alone) in got.iter().zip(&alone) {
            assert_near(&row(got, at), alone, "alone");
        }
    }
}

#[test]
fn rotary_embedding_is_that_of_the_standard() {
    let x = noise(&[2, 5, 12], 1);
    let tables = [2, 3].map(|seed| noise(&[9, 3], seed));
    let ids = [0i64, 1, 2, 3, 4, 3, 4, 5, 6, 8];
    let ids = tensor(&[2, 5], &ids);
    let [cos, sin] = tables.map(Some);
    for interleaved in [0, 1] {
        let attributes = [int("interleaved", interleaved), int("num_heads", 2)];
        let operands = [Some(x.clone()), cos.clone(), sin.clone(), Some(ids.clone())];
        let expected = called(
            ("", "RotaryEmbedding"),
            &operands,
            &attributes,
            1,
            Extents::Numbers,
        );
        let operands = [Some(x.clone()), Some(ids.clone()), cos.clone(), sin.clone()];
        let operator = ("com.microsoft", "RotaryEmbedding");
        // The tables say how large the heads are.
        for attributes in [&attributes[..], &attributes[..1]] {
            let got = called(operator, &operands, attributes, 1, NAMED);
            assert_near(&got[0], &expected[0], "rotary");
        }
    }
}

#[test]
fn simplified_normalization_is_that_of_the_standard() {
    let operands = [noise(&[2, 5, 12], 1), noise(&[12], 2)].map(Some);
    let of = |op: &str| called(("", op), &operands, &[float("epsilon", 0.25)], 1, NAMED);
    let (got, expected) = (of("SimplifiedLayerNormalization"), of("RMSNormalization"));
    assert_near(&got[0], &expected[0], "normalised");
}

#[test]
fn what_does_not_fit_is_refused() {
    let heads = |count: i64| vec![int("num_heads", count)];
    type Case<'a> = (&'a str, Vec<Option<Tensor>>, Vec<AttributeProto>, &'a str);
    let cases: Vec<Case<'_>> = vec![
        (
            "MultiHeadAttention",
            three(),
            heads(0),
            "attribute `num_heads` is 0; it must be at least 1",
        ),
        (
            "MultiHeadAttention",
            three(),
            heads(i64::MAX),
            "operand 0 (`i0`) is a tensor of shape (2, 5, 12); it must be (batch, sequence, width) with a constant width that \
             9223372036854775807 divides",
        ),
        (
            "MultiHeadAttention",
            three(),
            vec![],
            "attribute `num_heads` is missing",
        ),
        (
            "MultiHeadAttention",
            three()[..1].to_vec(),
            heads(3),
            "operand 1 is missing",
        ),
        (
            "Attention",
            vec![Some(noise(&[2, 5, 6], 1)), Some(noise(&[6, 36], 2))],
            [heads(3), vec![int("past_present_share_buffer", 1)]].concat(),
            "attribute `past_present_share_buffer` is 1; it must be 0",
        ),
        (
            "Attention",
            vec![
                Some(noise(&[2, 5, 6], 1)),
                Some(noise(&[6, 36], 2)),
                None,
                Some(tensor(&[2, 1, 1, 1], &[1i32, 1])),
            ],
            heads(3),
            "operand 3 (`i3`) is a tensor of shape (2, 1, 1, 1); it must be a mask of one to three dimensions",
        ),
        (
            "GroupQueryAttention",
            grouped(2, 0, 5),
            [grouped_heads(), vec![int("sliding_window_cache", 1)]].concat(),
            "attribute `sliding_window_cache` is 1; it must be 0",
        ),
        (
            "GroupQueryAttention",
            grouped(2, 0, 5),
            vec![int("num_heads", 4), int("kv_num_heads", 3)],
            "attribute `kv_num_heads` is 3; it must be a number that divides the 4 heads of queries",
        ),
        (
            "MatMulNBits",
            vec![
                Some(noise(&[2, 32], 1)),
                Some(tensor(&[1], &[1u8])),
                Some(noise(&[1], 1)),
            ],
            vec![int("N", 1), int("K", 32), int("block_size", 0)],
            "attribute `block_size` is 0; it must be at least 1",
        ),
        (
            "MatMulNBits",
            vec![
                Some(noise(&[2, 32], 1)),
                Some(tensor(&[1], &[1u8])),
                Some(noise(&[1], 1)),
            ],
            vec![
                int("N", 1),
                int("K", 32),
                int("block_size", 32),
                int("bits", 3),
            ],
            "attribute `bits` is 3; it must be 2, 4 or 8",
        ),
        (
            "MatMulNBits",
            vec![
                Some(noise(&[2, 32], 1)),
                Some(tensor(&[1], &[1u8])),
                Some(noise(&[1], 1)),
            ],
            vec![int("N", 1), int("K", 32), int("block_size", 32)],
            "operand 1 (`i1`) is a tensor of shape (1); it must be a tensor of shape (1, 1, 16)",
        ),
    ];
    for (op, operands, attributes, expected) in cases {
        assert_eq!(refused(op, &operands, &attributes), expected, "{op}");
    }
}
