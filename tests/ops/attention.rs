//! Attention against sums in float64.

use super::array::Array;
use super::{Cases, f32s, i32s, i64s};

/// Queries `[b, s, h, d]`, keys and values `[b, t, g, d]`; `sees` says which positions of keys a position of queries sees.
fn attention(
    q: &Array,
    k: &Array,
    v: &Array,
    bias: &dyn Fn(&[usize]) -> f64,
    scale: f64,
    sees: &dyn Fn(usize, usize) -> bool,
) -> Array {
    let shape = [q.shape[0], q.shape[1], q.shape[2], v.shape[3]];
    let shared = q.shape[2] / k.shape[2];
    Array::new(&shape, |i| {
        let &[b, s, h, d] = i else { unreachable!() };
        let keys = (0..k.shape[1]).filter(|&t| sees(s, t));
        let scored = keys.map(|t| {
            let products =
                (0..q.shape[3]).map(|e| q.at(&[b, s, h, e]) * k.at(&[b, t, h / shared, e]));
            (t, products.sum::<f64>() * scale + bias(&[b, h, s, t]))
        });
        let scored: Vec<(usize, f64)> = scored.collect();
        let sum: f64 = scored.iter().map(|(_, score)| score.exp()).sum();
        let mixed: f64 = (scored.iter())
            .map(|(t, score)| score.exp() * v.at(&[b, *t, h / shared, d]))
            .sum();
        if scored.is_empty() { 0.0 } else { mixed / sum }
    })
}

#[test]
fn queries_see_keys() {
    let mut cases = Cases::default();
    let q = Array::random(&[2, 3, 4, 5], 1);
    let (k, v) = (
        Array::random(&[2, 7, 4, 5], 2),
        Array::random(&[2, 7, 4, 2], 3),
    );
    let none = |_: &[usize]| 0.0;
    let all = |_: usize, _: usize| true;
    let root = 1.0 / 5f64.sqrt();
    let (qt, kt, vt) = (q.f32(), k.f32(), v.f32());
    let inputs = [("q", &qt), ("k", &kt), ("v", &vt)];
    let expected = attention(&q, &k, &v, &none, root, &all).f32();
    let types = [
        "R.Tensor((\"b\", \"s\", 4, 5), \"float32\")",
        "R.Tensor((\"b\", \"t\", 4, 5), \"float32\")",
        "R.Tensor((\"b\", \"t\", 4, 2), \"float32\")",
    ];
    let text = "R.nn.attention(q, k, v)";
    cases
        .case_of(text, &types, &inputs, std::slice::from_ref(&expected))
        .terms(12);
    let expected = attention(&q, &k, &v, &none, 0.25, &|s, t| t <= s).f32();
    let text = "R.nn.attention(q, k, v, scale=0.25, causal_mask=\"TopLeft\")";
    cases.case(text, &inputs, &[expected]).terms(12);
    let sees = |s: usize, t: usize| t <= s + 4 && t + 3 > s + 4;
    let expected = attention(&q, &k, &v, &none, root, &sees).f32();
    let text = "R.nn.attention(q, k, v, causal_mask=\"BottomRight\", window_size=3)";
    cases.case(text, &inputs, &[expected]).terms(12);
    let halves = (q.f16(), k.f16(), v.f16());
    let inputs = [("q", &halves.0), ("k", &halves.1), ("v", &halves.2)];
    let expected = attention(&q, &k, &v, &none, root, &all).f16();
    cases.case("R.nn.attention(q, k, v)", &inputs, &[expected]);
    cases.run();
}

#[test]
fn heads_share_keys_and_biases_broadcast() {
    let mut cases = Cases::default();
    let q = Array::random(&[1, 3, 4, 2], 1);
    let (k, v) = (
        Array::random(&[1, 2, 2, 2], 2),
        Array::random(&[1, 2, 2, 3], 3),
    );
    let bias = Array::random(&[4, 1, 2], 4);
    let (qt, kt, vt, bt) = (q.f32(), k.f32(), v.f32(), bias.f32());
    let inputs = [("q", &qt), ("k", &kt), ("v", &vt), ("b", &bt)];
    let of_bias = |i: &[usize]| bias.at(&[i[1], 0, i[3]]);
    let expected = attention(&q, &k, &v, &of_bias, 1.0 / 2f64.sqrt(), &|_, _| true).f32();
    let text = "R.nn.attention_bias(q, k, v, b)";
    cases.case(text, &inputs, &[expected]).terms(4);
    // More queries than keys: the first one belongs to no key, and sees none.
    let sees = |s: usize, t: usize| t < s;
    let expected = attention(&q, &k, &v, &of_bias, 1.0, &sees).f32();
    let text = "R.nn.attention_bias(q, k, v, b, scale=1.0, causal_mask=\"BottomRight\")";
    cases.case(text, &inputs, &[expected]).terms(4);
    cases.run();
}

/// Sequences that are blocks of queries and tiles of keys on a CPU, with parts of a block and of a tile at their ends.
#[test]
fn long_sequences() {
    let mut cases = Cases::default();
    let q = Array::random(&[1, 40, 2, 8], 1);
    let (k, v) = (
        Array::random(&[1, 150, 1, 8], 2),
        Array::random(&[1, 150, 1, 6], 3),
    );
    let bias = Array::random(&[1, 1, 1, 150], 4);
    // The first tile of keys counts for nothing, and so does the last key.
    let masked = Array::new(&[1, 150], |i| match i[1] {
        0..100 | 149 => f64::NEG_INFINITY,
        _ => 0.5,
    });
    let (none, all) = (|_: &[usize]| 0.0, |_: usize, _: usize| true);
    let root = 1.0 / 8f64.sqrt();
    let (qt, kt, vt, bt, mt) = (q.f32(), k.f32(), v.f32(), bias.f32(), masked.f32());
    let inputs = [("q", &qt), ("k", &kt), ("v", &vt)];
    let types = [
        "R.Tensor((\"b\", \"s\", 2, 8), \"float32\")",
        "R.Tensor((\"b\", \"t\", 1, 8), \"float32\")",
        "R.Tensor((\"b\", \"t\", 1, 6), \"float32\")",
    ];
    let expected = attention(&q, &k, &v, &none, root, &all).f32();
    let text = "R.nn.attention(q, k, v)";
    cases
        .case_of(text, &types, &inputs, std::slice::from_ref(&expected))
        .terms(158);
    cases.case(text, &inputs, &[expected]).terms(158);
    let expected = attention(&q, &k, &v, &none, 0.25, &|s, t| t <= s).f32();
    let text = "R.nn.attention(q, k, v, scale=0.25, causal_mask=\"TopLeft\")";
    cases.case(text, &inputs, &[expected]).terms(158);
    let sees = |s: usize, t: usize| t <= s + 110 && t + 30 > s + 110;
    let expected = attention(&q, &k, &v, &none, root, &sees).f32();
    let text = "R.nn.attention(q, k, v, causal_mask=\"BottomRight\", window_size=30)";
    cases.case(text, &inputs, &[expected]).terms(158);
    let of_bias = |i: &[usize]| bias.at(&[i[0], 0, 0, i[3]]);
    let expected = attention(&q, &k, &v, &of_bias, root, &all).f32();
    let biased = [("q", &qt), ("k", &kt), ("v", &vt), ("b", &bt)];
    let text = "R.nn.attention_bias(q, k, v, b)";
    cases.case(text, &biased, &[expected]).terms(158);
    let of_mask = |i: &[usize]| masked.at(&[0, i[3]]);
    let expected = attention(&q, &k, &v, &of_mask, root, &all).f32();
    let biased = [("q", &qt), ("k", &kt), ("v", &vt), ("b", &mt)];
    cases.case(text, &biased, &[expected]).terms(158);
    let halves = (q.f16(), k.f16(), v.f16());
    let inputs = [("q", &halves.0), ("k", &halves.1), ("v", &halves.2)];
    let expected = attention(&q, &k, &v, &none, root, &all).f16();
    cases.case("R.nn.attention(q, k, v)", &inputs, &[expected]);
    cases.run();
}

/// As many queries as keys, of open length: one block, several, and none. With more queries than keys the first ones see none.
#[test]
fn sequences_of_open_length() {
    let mut cases = Cases::default();
    let none = |_: &[usize]| 0.0;
    let root = 1.0 / 4f64.sqrt();
    let types = ["R.Tensor((1, \"s\", 2, 4), \"float32\")"; 3];
    for length in [0, 1, 9, 70] {
        let [q, k, v] = [1, 2, 3].map(|seed| Array::random(&[1, length, 2, 4], seed));
        let (qt, kt, vt) = (q.f32(), k.f32(), v.f32());
        let inputs = [("q", &qt), ("k", &kt), ("v", &vt)];
        let expected = attention(&q, &k, &v, &none, root, &|s, t| t <= s).f32();
        let text = "R.nn.attention(q, k, v, causal_mask=\"TopLeft\")";
        cases.case_of(text, &types, &inputs, &[expected]).terms(80);
    }
    let q = Array::random(&[1, 100, 2, 4], 1);
    let [k, v] = [2, 3].map(|seed| Array::random(&[1, 30, 2, 4], seed));
    let (qt, kt, vt) = (q.f32(), k.f32(), v.f32());
    let inputs = [("q", &qt), ("k", &kt), ("v", &vt)];
    for (window, width) in [("", 100), (", window_size=7", 7)] {
        let sees = |s: usize, t: usize| t + 70 <= s && t + 70 + width > s;
        let expected = attention(&q, &k, &v, &none, root, &sees).f32();
        let text = format!("R.nn.attention(q, k, v, causal_mask=\"BottomRight\"{window})");
        cases.case(&text, &inputs, &[expected]).terms(140);
        let sees = |s: usize, t: usize| t <= s && t + width > s;
        let expected = attention(&q, &k, &v, &none, root, &sees).f32();
        let text = format!("R.nn.attention(q, k, v, causal_mask=\"TopLeft\"{window})");
        cases.case(&text, &inputs, &[expected]).terms(140);
    }
    cases.run();
}

/// Queries that see no key give 0, however it comes that there is none.
#[test]
fn sequences_without_positions() {
    let mut cases = Cases::default();
    let types = [
        "R.Tensor((1, \"s\", 2, 3), \"float32\")",
        "R.Tensor((1, \"t\", 1, 3), \"float32\")",
        "R.Tensor((1, \"t\", 1, 5), \"float32\")",
        "R.Tensor((\"n\",), \"int32\")",
        "R.Tensor((\"n\",), \"int32\")",
        "R.Tensor((1,), \"int32\")",
    ];
    for (queries, keys, starts, ends) in [
        (2, 0, &[0, 2][..], &[0, 0][..]),
        (0, 3, &[0, 0], &[0, 3]),
        (0, 0, &[0, 0, 0], &[0, 0, 0]),
        (2, 3, &[0], &[0]),
    ] {
        let q = Array::random(&[1, queries, 2, 3], 1).f32();
        let k = Array::random(&[1, keys, 1, 3], 2).f32();
        let v = Array::random(&[1, keys, 1, 5], 3).f32();
        let expected = f32s(&[1, queries, 2, 5], &vec![0.0; queries * 10]);
        let starts = i32s(&[starts.len()], starts);
        let ends = i32s(&[ends.len()], ends);
        let count = i32s(&[1], &[3]);
        let inputs = [
            ("q", &q),
            ("k", &k),
            ("v", &v),
            ("a", &starts),
            ("b", &ends),
            ("c", &count),
        ];
        let call = "R.nn.attention_var_len(q, k, v, a, b, c, c)";
        cases.case(call, &inputs, std::slice::from_ref(&expected));
        cases.case_of(call, &types, &inputs, &[expected]);
    }
    cases.run();
}

#[test]
fn sequences_of_different_lengths() {
    let mut cases = Cases::default();
    // Positions 5 and 6 of the queries belong to no sequence; the second sequence is empty.
    let (starts, ends) = (i32s(&[4], &[0, 2, 2, 5]), i32s(&[4], &[0, 3, 4, 6]));
    let count = i32s(&[1], &[3]);
    let q = Array::random(&[1, 7, 4, 3], 1);
    let (k, v) = (
        Array::random(&[1, 6, 2, 3], 2),
        Array::random(&[1, 6, 2, 5], 3),
    );
    let sequence = |starts: &[usize], at: usize| {
        let begun = starts.iter().filter(|&&start| start <= at).count();
        begun.checked_sub(1).filter(|&s| s + 1 < starts.len())
    };
    let (of_q, of_k) = ([0, 2, 2, 5], [0, 3, 4, 6]);
    let none = |_: &[usize]| 0.0;
    let (qt, kt, vt) = (q.f32(), k.f32(), v.f32());
    let inputs = [
        ("q", &qt),
        ("k", &kt),
        ("v", &vt),
        ("a", &starts),
        ("b", &ends),
        ("c", &count),
    ];
    let together = |s: usize, t: usize| {
        let own = sequence(&of_q, s)?;
        (sequence(&of_k, t) == Some(own)).then(|| (own, s - of_q[own], t - of_k[own]))
    };
    let call = "R.nn.attention_var_len(q, k, v, a, b, c, c, scale=1.0";
    let all = |s: usize, t: usize| together(s, t).is_some();
    let expected = attention(&q, &k, &v, &none, 1.0, &all).f32();
    cases
        .case(
            &format!("{call})"),
            &inputs,
            std::slice::from_ref(&expected),
        )
        .terms(6);
    let types = [
        "R.Tensor((1, \"s\", 4, 3), \"float32\")",
        "R.Tensor((1, \"t\", 2, 3), \"float32\")",
        "R.Tensor((1, \"t\", 2, 5), \"float32\")",
        "R.Tensor((\"n\",), \"int32\")",
        "R.Tensor((\"n\",), \"int32\")",
        "R.Tensor((1,), \"int32\")",
    ];
    cases
        .case_of(&format!("{call})"), &types, &inputs, &[expected])
        .terms(6);
    let earlier = |s: usize, t: usize| together(s, t).is_some_and(|(_, s, t)| t <= s);
    let expected = attention(&q, &k, &v, &none, 1.0, &earlier).f32();
    cases
        .case(
            &format!("{call}, causal_mask=\"TopLeft\")"),
            &inputs,
            &[expected],
        )
        .terms(6);
    let last = |s: usize, t: usize| {
        let Some((n, s, t)) = together(s, t) else {
            return false;
        };
        let (queries, keys) = (of_q[n + 1] - of_q[n], of_k[n + 1] - of_k[n]);
        t + queries <= s + keys && t + queries + 2 > s + keys
    };
    let expected = attention(&q, &k, &v, &none, 1.0, &last).f32();
    cases
        .case(
            &format!("{call}, causal_mask=\"BottomRight\", window_size=2)"),
            &inputs,
            &[expected],
        )
        .terms(6);
    cases.run();
}

/// The pairs of elements of each head turned; `of` says which elements a pair is.
fn turned(x: &Array, pairs: usize, of: &dyn Fn(usize) -> [usize; 2], angle: &Angle<'_>) -> Array {
    let mut result = x.clone();
    let [batch, heads, time, size] = x.shape[..] else {
        unreachable!("four dimensions")
    };
    for at in 0..batch * heads * time {
        let (b, t) = (at / (heads * time), at % time);
        for pair in 0..pairs {
            let [first, second] = of(pair).map(|place| at * size + place);
            let (sin, cos) = angle(b, t, pair).sin_cos();
            let (p, q) = (x.data[first], x.data[second]);
            result.data[first] = p * cos - q * sin;
            result.data[second] = p * sin + q * cos;
        }
    }
    result
}

/// The angle of a pair at a position of a sequence.
type Angle<'a> = dyn Fn(usize, usize, usize) -> f64 + 'a;

#[test]
fn pairs_of_elements_turn_with_their_position() {
    let mut cases = Cases::default();
    let x = Array::random(&[2, 3, 5, 8], 1);
    let angles = Array::random(&[7, 4], 2);
    let (cos, sin) = (angles.map(f64::cos).f32(), angles.map(f64::sin).f32());
    let positions = [3usize, 0, 6, 1, 1, 0, 1, 2, 3, 4];
    let ids: Vec<i64> = positions.iter().map(|&p| p as i64).collect();
    let ids = i64s(&[2, 5], &ids);
    let xt = x.f32();
    let inputs = [("x", &xt), ("c", &cos), ("s", &sin), ("p", &ids)];
    let angle = |b: usize, t: usize, pair: usize| angles.at(&[positions[b * 5 + t], pair]);
    let halves = turned(&x, 4, &|k| [k, k + 4], &angle);
    let call = "R.nn.rotary_embedding(x, c, s, p)";
    cases.case(call, &inputs, &[halves.f32()]).terms(4);
    let types = [
        "R.Tensor((\"b\", \"h\", \"t\", 8), \"float32\")",
        "R.Tensor((\"m\", 4), \"float32\")",
        "R.Tensor((\"m\", 4), \"float32\")",
        "R.Tensor((\"b\", \"t\"), \"int64\")",
    ];
    cases
        .case_of(call, &types, &inputs, &[halves.f32()])
        .terms(4);
    let neighbours = turned(&x, 4, &|k| [2 * k, 2 * k + 1], &angle);
    let call = "R.nn.rotary_embedding(x, c, s, p, interleaved=True)";
    cases.case(call, &inputs, &[neighbours.f32()]).terms(4);
    // The same data with its heads in one dimension.
    let joined = |a: &Array| {
        let joined = a.relaid("bhts", "bths").f32();
        joined.reshape(&[2, 5, 24]).expect("as many elements")
    };
    let flat = joined(&x);
    let inputs = [("x", &flat), ("c", &cos), ("s", &sin), ("p", &ids)];
    let call = "R.nn.rotary_embedding(x, c, s, p, num_heads=3)";
    cases.case(call, &inputs, &[joined(&halves)]).terms(4);
    // Half of each head turns, and every sequence has a table of its own.
    let angles = Array::random(&[2, 5, 2], 3);
    let (cos, sin) = (angles.map(f64::cos).f32(), angles.map(f64::sin).f32());
    let part = turned(&x, 2, &|k| [k, k + 2], &|b, t, pair| {
        angles.at(&[b, t, pair])
    });
    let inputs = [("x", &xt), ("c", &cos), ("s", &sin)];
    let call = "R.nn.rotary_embedding(x, c, s, rotary_embedding_dim=4)";
    cases.case(call, &inputs, &[part.f32()]).terms(4);
    let halved = (
        x.f16(),
        angles.map(f64::cos).f16(),
        angles.map(f64::sin).f16(),
    );
    let inputs = [("x", &halved.0), ("c", &halved.1), ("s", &halved.2)];
    cases.case(call, &inputs, &[part.f16()]).terms(4);
    // No position at all.
    let nothing = Array::random(&[0, 3, 5, 8], 1).f32();
    let tables = [2, 3].map(|seed| Array::random(&[0, 5, 2], seed).f32());
    let inputs = [("x", &nothing), ("c", &tables[0]), ("s", &tables[1])];
    cases.case(call, &inputs, std::slice::from_ref(&nothing));
    cases.run();
}
