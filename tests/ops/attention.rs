//! Attention against sums in float64.

use super::Cases;
use super::array::Array;

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
    cases
        .case("R.nn.attention(q, k, v)", &inputs, &[expected])
        .not_on_gpus();
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
