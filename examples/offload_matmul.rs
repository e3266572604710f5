//! Products of matrices are computed by another library, the `gemm` crate. Step by step, each printed and checked:
//!
//! 1. A network of two layers for any number of images, `n`.
//! 2. `FuseOpsByPattern` finds products with their bias and activation, and makes functions of them for a code generator `gemm`.
//! 3. `RunCodegen` hands these functions to the code generator, which names a packed function for each.
//! 4. The machine runs the module with the packed functions. Its results are those of the module without this library, for
//!    several `n`, and it refuses the same arguments.
//!
//! ```text
//! cargo run --release --example offload_matmul
//! ```

#![expect(clippy::print_stdout, reason = "an example talks to its user")]

#[path = "shared/command_line.rs"]
mod command_line;

use std::error::Error;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use command_line::{Options, Words};
use gemm::Parallelism;
use weftile::codegen_cpu::host_target;
use weftile::ir::graph::pattern::{DfPattern, is_op, wildcard};
use weftile::ir::graph::{Def, Function};
use weftile::ir::{AttrValue, Module, StructInfo};
use weftile::kernel::Target;
use weftile::ops::op;
use weftile::passes::{
    Candidate, Codegen, Codegens, Cx, FuseByPattern, FusionPattern, Pass, Sequential, Verify,
};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Override, PackedError, Registry, Value};
use weftile::script::{parse, print};
use weftile::tensor::{DType, Tensor};
use weftile::vm::VirtualMachine;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const NETWORK: &str = r#"
@I.ir_module
class Network:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w0: R.Tensor((64, 32), "float32"), b0: R.Tensor((32,), "float32"), w1: R.Tensor(("k", 10), "float32"), b1: R.Tensor((10,), "float32")):
        with R.dataflow():
            a = R.matmul(x, w0)
            b = R.add(a, b0)
            c = R.nn.relu(b)
            d = R.matmul(c, w1)
            e = R.add(d, b1)
            f = R.nn.softmax(e, axis=-1)
            R.output(f)
        return f
"#;

/// There are none.
#[derive(Default)]
struct Args;

impl Options for Args {
    const USAGE: &'static str = "\
Usage: cargo run --example offload_matmul";

    fn take(&mut self, _: &str, _: &mut Words<'_>) -> std::result::Result<bool, String> {
        Ok(false)
    }
}

fn main() -> ExitCode {
    command_line::main(|Args| run_all())
}

fn run_all() -> Result<()> {
    let network = parse("network.py", NETWORK)?;
    println!("# The network\n\n{}", print(&network));

    let fuse = FuseByPattern {
        codegen: Codegen::Annotate,
        ..FuseByPattern::default()
    };
    let fused = run(&network, fuse.pass(patterns()))?;
    println!("# FuseOpsByPattern\n\n{}", print(&fused));

    let library: Arc<Mutex<Vec<Product>>> = Arc::default();
    let compiled = library.clone();
    let codegens = Codegens::new().with("gemm", move |function| {
        let product = Product::of(function)?;
        let name = product.name.clone();
        compiled.lock().map_err(|e| e.to_string())?.push(product);
        Ok(name)
    });
    let offloaded = run(&fused, codegens.pass())?;
    println!("# RunCodegen\n\n{}", print(&offloaded));

    let mut registry = Registry::new();
    for product in library.lock().map_err(|e| e.to_string())?.drain(..) {
        let name = product.name.clone();
        registry.register(&name, move |args| product.call(args), Override::No)?;
    }
    let mut native = machine(&network, &Registry::new())?;
    let mut offloaded = machine(&offloaded, &registry)?;
    for n in [1, 7, 100] {
        let args = arguments(n, 64, 32)?;
        let expected = native.call("main", &args)?.into_tensor()?;
        let (given, profile) = offloaded.profile("main", &args)?;
        let given = given.into_tensor()?;
        ensure(
            given.shape() == [n, 10],
            "the shape is that of the native path",
        )?;
        let difference = difference(&given, &expected)?;
        println!("n = {n}: the greatest difference is {difference:e}");
        // 64 products are rounded in another order; probabilities are at most 1.
        ensure(
            difference < 64.0 * f32::EPSILON,
            "the numbers are those of the native path",
        )?;
        if n == 1 {
            println!("{profile}");
        }
    }
    let long = arguments(2, 65, 32)?;
    let short = arguments(2, 64, 31)?;
    let mut double = arguments(2, 64, 32)?;
    double[0] = Value::Tensor(Tensor::zeros(DType::F64, &[2, 64])?);
    for (what, args) in [
        ("65 columns", long),
        ("31 rows", short),
        ("float64", double),
    ] {
        let [native, offloaded] = [&mut native, &mut offloaded].map(|vm| vm.call("main", &args));
        let (Err(native), Err(offloaded)) = (native, offloaded) else {
            return Err(format!("{what}: one of both takes it").into());
        };
        println!("{what}: {offloaded}");
        ensure(
            native.to_string() == offloaded.to_string(),
            "both say the same",
        )?;
    }
    Ok(())
}

/// What the library computes, the most of it first: a product with a bias for each column and an activation, and parts of this.
fn patterns() -> Vec<FusionPattern> {
    let [x, w, bias] = [wildcard(), wildcard(), wildcard()];
    let product = is_op(op("matmul"), [&x, &w]);
    let sum = is_op(op("add"), [&product, &bias]);
    let relu = is_op(op("nn.relu"), [&sum]);
    let pattern = |name: &str, pattern: &DfPattern| {
        let [x, w, bias] = [&x, &w, &bias].map(Clone::clone);
        FusionPattern::new(name, pattern).check(move |found| {
            let operands = is_tensor(found, &x, 2) && is_tensor(found, &w, 2);
            operands && (found.matches.get(&bias).is_none() || is_tensor(found, &bias, 1))
        })
    };
    vec![
        pattern("gemm.matmul_bias_relu", &relu),
        pattern("gemm.matmul_bias", &sum),
        pattern("gemm.matmul", &product),
    ]
}

/// Whether a part of the pattern matched a tensor of `float32` with so many dimensions.
fn is_tensor(found: &Candidate<'_>, part: &DfPattern, ndim: usize) -> bool {
    match found.sinfo(&found.matches[part]) {
        StructInfo::Tensor(info) => {
            info.dtype == Some(DType::F32) && info.shape.ndim() == Some(ndim)
        }
        _ => false,
    }
}

/// A product that the library computes.
struct Product {
    name: String,
    bias: bool,
    relu: bool,
}

impl Product {
    /// The product that a function for the library is: it holds a closure, with the name of its pattern.
    fn of(function: &Function) -> std::result::Result<Self, String> {
        let mut closures = function.values.iter().filter_map(|(_, v)| match &v.def {
            Def::Function(inner) => inner.attrs.get("Composite").and_then(AttrValue::as_str),
            _ => None,
        });
        let (bias, relu) = match closures.next() {
            Some("gemm.matmul") => (false, false),
            Some("gemm.matmul_bias") => (true, false),
            Some("gemm.matmul_bias_relu") => (true, true),
            other => return Err(format!("no product: {other:?}")),
        };
        Ok(Self {
            name: function.name.clone(),
            bias,
            relu,
        })
    }

    /// Computes it, into the last argument.
    fn call(&self, args: &mut [Value]) -> std::result::Result<Value, PackedError> {
        let [inputs @ .., out] = args else {
            return Err("no arguments".into());
        };
        let (x, w) = (inputs[0].as_tensor()?, inputs[1].as_tensor()?);
        let (&[rows, inner], &[_, columns]) = (x.shape(), w.shape()) else {
            return Err("matrices are expected".into());
        };
        let (x, w) = (x.as_slice::<f32>()?, w.as_slice::<f32>()?);
        let out = out.as_tensor_mut()?.as_mut_slice::<f32>()?;
        if self.bias {
            let bias = inputs[2].as_tensor()?.as_slice::<f32>()?;
            for row in out.chunks_exact_mut(columns) {
                row.copy_from_slice(bias);
            }
        }
        // SAFETY: the three are dense matrices of these sizes, as the module declares, and `out` is no input.
        #[expect(unsafe_code, reason = "the crate's only entry point")]
        unsafe {
            gemm::gemm(
                rows,
                columns,
                inner,
                out.as_mut_ptr(),
                1,
                columns as isize,
                self.bias,
                x.as_ptr(),
                1,
                inner as isize,
                w.as_ptr(),
                1,
                columns as isize,
                1.0,
                1.0,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
        if self.relu {
            out.iter_mut().for_each(|v| *v = v.max(0.0));
        }
        Ok(Value::None)
    }
}

fn run(module: &Module, pass: Pass) -> Result<Module> {
    let mut cx = Cx::new(module, &Target::Cpu(host_target(1)));
    cx.context.instruments.push(Arc::new(Verify));
    Ok(Sequential::new(vec![pass]).run(module, &cx)?)
}

fn machine(module: &Module, registry: &Registry) -> Result<VirtualMachine> {
    let options = CompileOptions::new(Target::Cpu(host_target(1)));
    let executable = compile(module, &options)?;
    Ok(VirtualMachine::with_registry(
        executable,
        Device::Cpu,
        registry,
    )?)
}

/// Images and weights, the same each time.
fn arguments(n: usize, pixels: usize, hidden: usize) -> Result<Vec<Value>> {
    let shapes: [&[usize]; 5] = [&[n, pixels], &[64, 32], &[32], &[hidden, 10], &[10]];
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    let tensors = shapes.iter().map(|shape| {
        let count = shape.iter().product();
        let elements: Vec<f32> = std::iter::repeat_with(&mut next).take(count).collect();
        Ok(Value::Tensor(Tensor::from_slice(shape, &elements)?))
    });
    tensors.collect()
}

fn difference(a: &Tensor, b: &Tensor) -> Result<f32> {
    let pairs = a.as_slice::<f32>()?.iter().zip(b.as_slice::<f32>()?);
    Ok(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max))
}

fn ensure(holds: bool, what: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(what.into()) }
}

#[test]
fn the_library_computes_what_the_native_path_does() -> Result<()> {
    run_all()
}
