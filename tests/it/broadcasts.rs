//! Operands that broadcast by the extents that a call has.

use std::collections::HashMap;

use weftile::interp;
use weftile::ir::{AttrValue, Attrs, Expr, Module, StructInfo, Var as Symbol};
use weftile::pipeline::{CompileOptions, compile};
use weftile::relax::{self, BlockBuilder, BuildError, Var};
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{DType, ScalarType, Tensor};
use weftile::vm::VirtualMachine;

use crate::vm::devices;

/// `where(x < y, (x + y) @ w, z)`, each operand with symbols of its own.
fn module() -> Result<Module, BuildError> {
    let open = |name: &str, rank: usize| {
        let symbol = |at| Symbol::new(format!("{name}{at}"), DType::I64).expr();
        let dims: Vec<Expr> = (0..rank).map(symbol).collect();
        Var::new(name, StructInfo::tensor(dims, DType::F32))
    };
    let (x, y, z, w) = (open("x", 3), open("y", 3), open("z", 2), open("w", 3));
    let mut bb = BlockBuilder::new();
    bb.broadcast_by_extents();
    bb.function("main", &[&x, &y, &z, &w], |bb| {
        let sum = bb.emit(relax::op("add", [&x, &y]))?;
        let product = relax::op("matmul", [&sum, &w]);
        let less = relax::op("less", [&x, &y]);
        let result = bb.emit(relax::op("where", [less, product, relax::expr(&z)]))?;
        bb.emit_func_output(&result)
    })?;
    bb.finish()
}

/// Of `x`, `y`, `z`, how many matrices `w` has, and the shape of the result.
type Shapes = ([usize; 3], [usize; 3], [usize; 2], usize, [usize; 3]);

fn numbers(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    let numbers = (0..count).map(|i| ((i * 37 + count) % 19) as f32 - 9.0);
    Tensor::from_slice(shape, &numbers.collect::<Vec<f32>>()).expect("as many")
}

#[test]
fn one_executable_broadcasts_whichever_operand_is_smaller() {
    let module = module().expect("it is well formed");
    let machines = devices().into_iter().map(|(target, device)| {
        let exec = compile(&module, &CompileOptions::new(target)).expect("it compiles");
        VirtualMachine::new(exec, device).expect("it loads")
    });
    let mut machines: Vec<_> = machines.collect();
    let calls: &[Shapes] = &[
        ([5, 3, 4], [5, 3, 4], [3, 4], 1, [5, 3, 4]),
        ([1, 3, 4], [5, 3, 4], [1, 1], 5, [5, 3, 4]),
        ([5, 1, 4], [1, 3, 4], [3, 1], 5, [5, 3, 4]),
        ([5, 3, 4], [1, 1, 1], [1, 4], 1, [5, 3, 4]),
        ([1, 1, 1], [1, 1, 4], [7, 4], 6, [6, 7, 4]),
        ([0, 3, 4], [1, 1, 4], [1, 4], 1, [0, 3, 4]),
    ];
    for (x, y, z, w, shape) in calls {
        let args = [numbers(x), numbers(y), numbers(z), numbers(&[*w, 4, 4])];
        let given = args.clone().map(interp::Value::Tensor);
        let expected = interp::run_module(&module, "main", &given, &HashMap::new());
        let Ok(interp::Value::Tensor(expected)) = expected else {
            panic!("{expected:?}");
        };
        assert_eq!(expected.shape(), shape);
        for vm in &mut machines {
            let result = vm.call("main", &args.clone().map(Into::into));
            let got = vm
                .to_host(result.expect("it runs"))
                .expect("it can be read");
            let tolerance = Tolerance::of(ScalarType::F32, 4);
            compare(&expected, &got.into_tensor().expect("a tensor"), tolerance)
                .unwrap_or_else(|e| panic!("{x:?}, {y:?}, {z:?}, {w}: {e}"));
        }
    }
    // Two numbers that are neither equal nor 1.
    let args = [[2, 3, 4], [5, 3, 4]].map(|shape| numbers(&shape));
    let rest = [numbers(&[1, 1]), numbers(&[1, 4, 4])];
    for vm in &mut machines {
        let args = args.iter().chain(&rest).cloned().map(Into::into);
        let refused = vm.call("main", &args.collect::<Vec<_>>());
        let error = refused.expect_err("2 and 5").to_string();
        assert!(error.contains('2') && error.contains('5'), "{error}");
    }
}

/// The indices of an einsum broadcast too, those of its ellipsis and those with a letter.
#[test]
fn the_indices_of_an_einsum_broadcast_by_extents() {
    let build = || {
        let open = |name: &str| {
            let symbol = |at| Symbol::new(format!("{name}{at}"), DType::I64).expr();
            let dims: Vec<Expr> = (0..3).map(symbol).collect();
            Var::new(name, StructInfo::tensor(dims, DType::F32))
        };
        let (x, y) = (open("x"), open("y"));
        let mut bb = BlockBuilder::new();
        bb.broadcast_by_extents();
        bb.function("main", &[&x, &y], |bb| {
            let subscripts = Attrs::from([(
                "subscripts".to_owned(),
                AttrValue::Str("...ij,...jk->...ik".to_owned()),
            )]);
            let operands = relax::tuple([&x, &y]);
            let result = bb.emit(relax::op_with("einsum", [operands], subscripts))?;
            bb.emit_func_output(&result)
        })?;
        bb.finish()
    };
    let module: Module = build().unwrap_or_else(|e: BuildError| panic!("{e}"));
    for (target, device) in devices() {
        let exec = compile(&module, &CompileOptions::new(target)).expect("it compiles");
        let mut vm = VirtualMachine::new(exec, device).expect("it loads");
        for (x, y) in [
            ([5, 2, 3], [5, 3, 4]),
            ([1, 2, 3], [5, 3, 4]),
            ([5, 2, 3], [1, 3, 4]),
            ([5, 2, 1], [1, 3, 4]),
        ] {
            let (a, b) = (numbers(&x), numbers(&y));
            let element = |tensor: &Tensor, shape: [usize; 3], at: [usize; 3]| {
                let [i, j, k] = [0, 1, 2].map(|d| if shape[d] == 1 { 0 } else { at[d] });
                let flat = (i * shape[1] + j) * shape[2] + k;
                tensor.as_slice::<f32>().expect("floats")[flat]
            };
            let mut expected = vec![];
            for at in 0..x[0].max(y[0]) * x[1] * y[2] {
                let (stack, row, column) = (at / y[2] / x[1], at / y[2] % x[1], at % y[2]);
                let products = (0..x[2].max(y[1]))
                    .map(|j| element(&a, x, [stack, row, j]) * element(&b, y, [stack, j, column]));
                expected.push(products.sum::<f32>());
            }
            let result = vm.call("main", &[a.into(), b.into()]).expect("it runs");
            let result = vm.to_host(result).expect("it can be read");
            let result = result.into_tensor().expect("a tensor");
            assert_eq!(result.shape(), [x[0].max(y[0]), x[1], y[2]]);
            assert_eq!(
                result.as_slice::<f32>(),
                Ok(expected.as_slice()),
                "{x:?}, {y:?}"
            );
        }
    }
}
