//! The generated code does what an evaluator of kernel IR does.

mod active;
mod functions;
mod loops;
mod programs;
mod scalars;

use super::{Backend, CompileOptions, KernelArgs, Verify, compile};
use crate::kernel::Kernel;
use crate::kernel::testing::eval;
use crate::support::tolerance::{Tolerance, compare, elements};
use crate::tensor::scalar::{EvalError, Scalar};
use crate::tensor::{ScalarType, Tensor};

/// Runs the kernel as native code of each back end on copies of the tensors, one for each global array.
pub(super) fn run_native(
    kernel: &Kernel,
    dims: &[i64],
    tensors: &[Tensor],
) -> Vec<(Backend, Vec<Tensor>)> {
    let here = Backend::ALL.into_iter().filter(|backend| backend.is_here());
    here.map(|backend| {
        let mut tensors: Vec<Tensor> = tensors.iter().map(copy).collect();
        run_on(backend, kernel, dims, &mut tensors);
        (backend, tensors)
    })
    .collect()
}

fn copy(t: &Tensor) -> Tensor {
    Tensor::from_bytes(t.dtype(), t.shape(), t.bytes()).expect("same size")
}

fn run_on(backend: Backend, kernel: &Kernel, dims: &[i64], tensors: &mut [Tensor]) {
    let options = CompileOptions {
        verify: Verify::Yes,
        backend,
    };
    let module = compile(&[kernel], options).expect("compiles");
    let refused = module.kernels()[0].segments.iter().find_map(|s| s.refusal);
    if let (Some(refusal), true) = (refused, kernel.in_bounds) {
        panic!("{} {}: {refusal}", kernel.name, backend.name());
    }
    let native = &module.kernels()[0];
    let lens: Vec<i64> = tensors.iter().map(|t| t.len() as i64).collect();
    let buffers: Vec<*mut u8> = tensors
        .iter_mut()
        .map(|t| t.bytes_mut().expect("not shared").as_mut_ptr())
        .collect();
    let scalars: Vec<i64> = kernel
        .scalars
        .iter()
        .map(|(_, e)| e.eval(dims).expect("dims"))
        .collect();
    let args = KernelArgs {
        buffers: buffers.as_ptr(),
        lens: lens.as_ptr(),
        scalars: scalars.as_ptr(),
    };
    for segment in &native.segments {
        let extent = segment.parallel.as_ref();
        let extent = extent.map_or(1, |e| e.eval(dims).expect("dims"));
        // SAFETY: the arguments are those that the kernel declares, and the module is alive.
        unsafe { (segment.entry)(&raw const args, 0, extent) };
    }
}

/// Runs the kernel both ways and compares every array.
pub(super) fn check(
    kernel: &Kernel,
    dims: &[i64],
    tensors: &[Tensor],
    terms: usize,
) -> Result<(), EvalError> {
    let mut want: Vec<Vec<Scalar>> = tensors.iter().map(|t| elements(t).collect()).collect();
    eval::run(kernel, dims, &mut want)?;
    for (backend, got) in run_native(kernel, dims, tensors) {
        for (want, got) in want.iter().zip(&got) {
            let dtype = got.dtype().scalar;
            let want = tensor(dtype, want);
            let flat =
                Tensor::from_bytes(got.dtype(), &[got.len()], got.bytes()).expect("same size");
            if let Err(difference) = compare(&want, &flat, Tolerance::of(dtype, terms)) {
                let (name, body) = (&kernel.name, &kernel.body);
                panic!("{name} by {}: {difference}\n{body:#?}", backend.name());
            }
        }
    }
    Ok(())
}

/// A tensor of one dimension with these elements.
pub(super) fn tensor(dtype: ScalarType, values: &[Scalar]) -> Tensor {
    let mut bytes = Vec::new();
    for &value in values {
        match dtype {
            ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => bytes.push(value.as_int() as u8),
            ScalarType::I16 | ScalarType::U16 => {
                bytes.extend((value.as_int() as u16).to_ne_bytes())
            }
            ScalarType::I32 | ScalarType::U32 => {
                bytes.extend((value.as_int() as u32).to_ne_bytes())
            }
            ScalarType::I64 | ScalarType::U64 => bytes.extend(value.as_int().to_ne_bytes()),
            ScalarType::F16 => bytes.extend(half::f16::from_f64(value.as_float()).to_ne_bytes()),
            ScalarType::BF16 => bytes.extend(half::bf16::from_f64(value.as_float()).to_ne_bytes()),
            ScalarType::F32 => bytes.extend((value.as_float() as f32).to_ne_bytes()),
            ScalarType::F64 => bytes.extend(value.as_float().to_ne_bytes()),
            ScalarType::Small(small) => unreachable!("no kernel has elements of {small}"),
        }
    }
    Tensor::from_bytes(dtype.into(), &[values.len()], &bytes)
        .expect("as many bytes as elements take")
}

/// Of Windows, too, whose own convention keeps other registers.
#[cfg(target_arch = "x86_64")]
#[test]
fn kernels_have_one_calling_convention_on_every_system() {
    use cranelift_codegen::isa::{CallConv, lookup_by_name};
    use cranelift_codegen::settings::{Flags, builder};
    for triple in ["x86_64-pc-windows-msvc", "x86_64-unknown-linux-gnu"] {
        let isa = lookup_by_name(triple).expect("x86-64 is there");
        let isa = isa.finish(Flags::new(builder())).expect("no features");
        let mut signatures = vec![super::emit::signature(&*isa)];
        let helpers = super::helpers::symbols(&*isa).into_iter();
        signatures.extend(helpers.map(|helper| helper.signature));
        for signature in signatures {
            assert_eq!(signature.call_conv, CallConv::SystemV, "{triple}");
        }
    }
}
