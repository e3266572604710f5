//! Products with quantized matrices, against the definition.

use super::*;

/// Three blocks of a row, the last one with four of 16 columns.
#[test]
fn weights_of_a_few_bits_are_dequantized() {
    let (rows, columns, blocks) = (3, 36, 3);
    for bits in [2, 4, 8] {
        let each = 8 / bits;
        let number = |row: usize, at: usize| (row * 31 + at * 7 + at / 5) % (1 << bits);
        let zero = |row: usize, block: usize| (row * 3 + block * 2 + 1) % (1 << bits);
        let bytes_of = |count: usize, number: &dyn Fn(usize) -> usize| {
            let byte = |byte: usize| {
                let own = (0..each).filter(|at| byte * each + at < count);
                own.map(|at| number(byte * each + at) << (at * bits))
                    .sum::<usize>() as u8
            };
            (0..count.div_ceil(each)).map(byte).collect::<Vec<u8>>()
        };
        let weights = (0..rows).flat_map(|row| bytes_of(blocks * 16, &|at| number(row, at)));
        let zeros = (0..rows).flat_map(|row| bytes_of(blocks, &|block| zero(row, block)));
        let weights = tensor(&[rows, blocks, 2 * bits], &weights.collect::<Vec<u8>>());
        let zeros = zeros.collect::<Vec<u8>>();
        let zeros = tensor(&[rows, zeros.len() / rows], &zeros);
        let (a, scales) = (noise(&[5, columns], 1), noise(&[rows, blocks], 2));
        let groups: Vec<i32> = (0..columns).map(|at| (at % blocks) as i32).collect();
        let groups = tensor(&[columns], &groups);
        let attributes = [
            int("N", rows as i64),
            int("K", columns as i64),
            int("bits", bits as i64),
            int("block_size", 16),
        ];
        for (zeros, groups) in [(Some(zeros), None), (None, Some(groups))] {
            let operands = [a.clone(), weights.clone(), scales.clone()].map(Some);
            let operands = [operands.to_vec(), vec![zeros.clone(), groups.clone()]].concat();
            let operator = ("com.microsoft", "MatMulNBits");
            let names = Extents::Names(&[(5, "m")]);
            let got = called(operator, &operands, &attributes, 1, names);
            let (a, scales) = (a.as_slice::<f32>(), scales.as_slice::<f32>());
            let (a, scales) = (a.expect("floats"), scales.expect("floats"));
            let element = |i: usize, row: usize| {
                let product = |at: usize| {
                    let block = if groups.is_some() {
                        at % blocks
                    } else {
                        at / 16
                    };
                    let zero = match zeros {
                        Some(_) => zero(row, block),
                        None => 1 << (bits - 1),
                    };
                    let weight = number(row, at) as f32 - zero as f32;
                    a[i * columns + at] * weight * scales[row * blocks + block]
                };
                (0..columns).map(product).sum::<f32>()
            };
            let expected = (0..5).flat_map(|i| (0..rows).map(move |row| (i, row)));
            let expected: Vec<f32> = expected.map(|(i, row)| element(i, row)).collect();
            let got = got[0].as_slice::<f32>().expect("floats");
            let mut pairs = got.iter().zip(&expected);
            assert!(
                pairs.all(|(a, b)| (a - b).abs() < 1e-3),
                "{bits} bits: {got:?}, expected {expected:?}"
            );
        }
    }
}

#[test]
fn products_of_integers_have_scales() {
    let (a, b) = (
        tensor(&[2, 2], &[1u8, 2, 3, 4]),
        tensor(&[2, 2], &[5u8, 6, 7, 8]),
    );
    let operands = [
        a,
        b,
        tensor(&[], &[0.5f32]),
        tensor(&[2], &[0.25f32, 2.0]),
        tensor(&[], &[1u8]),
        tensor(&[2], &[5u8, 4]),
        tensor(&[2], &[1.0f32, -1.0]),
    ]
    .map(Some);
    let operator = ("com.microsoft", "MatMulIntegerToFloat");
    let y = called(operator, &operands, &[], 1, Extents::Numbers);
    // (0 1; 2 3) times (0 2; 2 4), times (0.125 1), plus (1 -1).
    assert_eq!(y[0].as_slice::<f32>(), Ok(&[1.25f32, 3.0, 1.75, 15.0][..]));
    // 0 and 255 are exact in uint8, and 0 is the zero point.
    let a = tensor(&[2, 2], &[0.0f32, 255.0, 51.0, 102.0]);
    let [_, b, _, scale, _, zero, bias] = operands;
    let operands = [Some(a), b, scale, zero, bias];
    let operator = ("com.microsoft", "DynamicQuantizeMatMul");
    let y = called(operator, &operands, &[], 1, Extents::Numbers);
    let expected = [128.5f32, 2039.0, 52.0, 1019.0];
    assert_eq!(y[0].as_slice::<f32>(), Ok(&expected[..]));
}

/// Weights that are exact in both forms.
#[test]
fn quantized_layers_are_those_of_the_standard() {
    let (units, width) = (2, 3);
    let gates = 4 * units;
    let number = |at: usize| (at * 37 % 251) as u8;
    let layer = |rows: usize, zero: u8, scale: f32| {
        let quantized: Vec<u8> = (0..rows * gates).map(number).collect();
        let float = |gate: usize, row: usize| {
            let number = number(row * gates + gate);
            (f32::from(number) - f32::from(zero)) * scale
        };
        let floats = (0..gates).flat_map(|gate| (0..rows).map(move |row| (gate, row)));
        let floats: Vec<f32> = floats.map(|(gate, row)| float(gate, row)).collect();
        let parts = [tensor(&[1], &[scale]), tensor(&[1], &[zero])];
        let quantized = tensor(&[1, rows, gates], &quantized);
        (tensor(&[1, gates, rows], &floats), quantized, parts)
    };
    let (w, w8, [w_scale, w_zero]) = layer(width, 128, 1.0 / 128.0);
    let (r, r8, [r_scale, r_zero]) = layer(units, 100, 1.0 / 256.0);
    let (x, bias) = (noise(&[5, 2, width], 1), noise(&[1, 2 * gates], 2));
    let attributes = [int("hidden_size", units as i64)];
    let plain = [x.clone(), w, r, bias.clone()].map(Some);
    let expected = called(("", "LSTM"), &plain, &attributes, 3, Extents::Numbers);
    let first = [x, w8, r8, bias].map(Some).to_vec();
    let scales = [w_scale, w_zero, r_scale, r_zero].map(Some).to_vec();
    let operands = [first, vec![None; 4], scales].concat();
    let operator = ("com.microsoft", "DynamicQuantizeLSTM");
    let got = called(operator, &operands, &attributes, 3, Extents::Numbers);
    for (got, expected) in got.iter().zip(&expected) {
        assert_near(got, expected, "layer");
    }
}
