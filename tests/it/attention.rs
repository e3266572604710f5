//! Attention on the CPU: one kernel whose memory does not grow with the sequences, by each back end.

use weftile::codegen_cpu::host_target;
use weftile::ir::PrimFunc;
use weftile::kernel::{Space, Target};
use weftile::passes::{self, Cx};
use weftile::script::parse;
use weftile::tensor::Tensor;

use crate::cpu::{Compiled, check, compile, random};

/// The loop program of a call, of tensors of these types.
fn program(call: &str, types: &[&str]) -> PrimFunc {
    let names = ["q", "k", "v", "b"].into_iter().zip(types);
    let params: Vec<String> = names
        .map(|(name, ty)| format!("{name}: R.Tensor({ty}, \"float32\")"))
        .collect();
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main({}):\n        y = {call}\n        return y\n",
        params.join(", ")
    );
    let module = parse("attention.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let cx = Cx::new(&module, &Target::Cpu(host_target(2)));
    let pass = passes::pass("legalize_ops").expect("it is a pass");
    let module = cx.run(&pass, &module).expect("it has a program");
    let mut programs = module.prim_funcs().map(|(_, func)| func.clone());
    programs.next().expect("attention is a loop program")
}

/// Bytes of the arrays of a thread, and of tensors between kernels.
fn memory(compiled: &Compiled) -> (i64, usize) {
    let kernels = compiled.lowered.kernels.iter();
    let arrays = kernels.flat_map(|kernel| kernel.arrays.iter());
    let own = arrays.filter(|(_, array)| matches!(array.space, Space::Local));
    let bytes = own.map(|(_, array)| {
        let len = array.len.as_const().unwrap_or(0);
        len * array.dtype.bytes() as i64
    });
    (bytes.sum(), compiled.lowered.temps.len())
}

fn tensors(shapes: &[&[usize]]) -> Vec<Tensor> {
    let seeds = shapes.iter().zip(1..);
    seeds
        .map(|(shape, seed)| random(shape, seed, false))
        .collect()
}

#[test]
fn one_kernel_without_scores_in_memory() {
    let sizes = |n: usize| format!("(1, {n}, 2, 16)");
    let of_length = |n: usize| {
        let func = program("R.nn.attention(q, k, v)", &[sizes(n).as_str(); 3]);
        let compiled = compile(&func);
        assert_eq!(compiled.rules, ["attention"]);
        assert_eq!(compiled.lowered.kernels.len(), 1);
        (func, compiled)
    };
    let (short, long) = (of_length(512), of_length(4096));
    assert_eq!(memory(&short.1), memory(&long.1));
    assert_eq!(memory(&short.1).1, 0);
    // Also where blocks are no whole vectors of queries, or the last one is shorter.
    for length in [48, 77, 197] {
        let (func, compiled) = of_length(length);
        let shape: &[usize] = &[1, length, 2, 16];
        check(&func, &compiled, &tensors(&[shape; 4]), length + 16);
    }
}

#[test]
fn parts_of_blocks_and_tiles() {
    // Lengths that no panel or tile divides, keys that heads share, a bias, and a mask.
    let types = [
        "(2, 37, 2, 32)",
        "(2, 141, 1, 32)",
        "(2, 141, 1, 48)",
        "(2, 1, 141)",
    ];
    let call = "R.nn.attention_bias(q, k, v, b, causal_mask=\"BottomRight\")";
    let func = program(call, &types);
    let compiled = compile(&func);
    assert_eq!(compiled.rules, ["attention"]);
    let shapes: [&[usize]; 5] = [
        &[2, 37, 2, 32],
        &[2, 141, 1, 32],
        &[2, 141, 1, 48],
        &[2, 1, 141],
        &[2, 37, 2, 48],
    ];
    check(&func, &compiled, &tensors(&shapes), 164);
}

#[test]
fn open_lengths() {
    let types = ["(\"b\", \"n\", 2, 16)"; 3];
    let func = program("R.nn.attention(q, k, v, causal_mask=\"TopLeft\")", &types);
    let compiled = compile(&func);
    assert_eq!(compiled.rules, ["attention"]);
    assert_eq!(memory(&compiled).1, 0);
    for (batch, length) in [(1, 1), (3, 9), (1, 64), (1, 70), (1, 0), (0, 5)] {
        let shape: &[usize] = &[batch, length, 2, 16];
        check(&func, &compiled, &tensors(&[shape; 4]), length + 16);
    }
}

/// Rows of queries and results end with part of a panel.
#[test]
fn columns_that_no_panel_divides() {
    for size in [1, 40, 88] {
        let types = format!("(1, 37, 1, {size})");
        let func = program("R.nn.attention(q, k, v)", &[types.as_str(); 3]);
        let compiled = compile(&func);
        assert_eq!(compiled.rules, ["attention"], "{size}");
        assert_eq!(memory(&compiled).1, 0);
        let shape: &[usize] = &[1, 37, 1, size];
        check(&func, &compiled, &tensors(&[shape; 4]), 37 + size);
    }
}

/// A tile that keys do not fill: what lies behind the last one has the weight 0, and must not be that value again.
#[test]
fn the_last_value_may_be_infinite() {
    let types = ["(1, 40, 1, 16)"; 3];
    let func = program("R.nn.attention(q, k, v)", &types);
    let compiled = compile(&func);
    assert_eq!(compiled.rules, ["attention"]);
    let shape: &[usize] = &[1, 40, 1, 16];
    let mut tensors = tensors(&[shape; 4]);
    let mut values = tensors[2].as_slice::<f32>().expect("f32").to_vec();
    values[39 * 16] = f32::INFINITY;
    tensors[2] = Tensor::from_slice(shape, &values).expect("as many");
    check(&func, &compiled, &tensors, 56);
    weftile::interp::run_prim_func(&func, &mut tensors).expect("it runs");
    let result = tensors[3].as_slice::<f32>().expect("f32");
    for row in result.chunks(16) {
        assert_eq!(row[0], f32::INFINITY);
        assert!(row[1..].iter().all(|x| x.is_finite()), "{row:?}");
    }
}

/// Few queries of many keys read keys and values once: the plain form has the rules for that.
#[test]
fn few_queries_are_products_of_few_rows() {
    let types = ["(1, 1, 2, 16)", "(1, 512, 2, 16)", "(1, 512, 2, 16)"];
    let compiled = compile(&program("R.nn.attention(q, k, v)", &types));
    assert!(
        !compiled.rules.contains(&"attention"),
        "{:?}",
        compiled.rules
    );
}
