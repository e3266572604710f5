//! Runs a lowered function on a GPU, kernel by kernel, without the virtual machine.

use std::time::Instant;

use weftile::codegen_wgsl;
use weftile::kernel::{Access, BufferRef, GpuTarget, HostExpr, LoweredFunc, ScalarPassing};
use weftile::runtime_gpu::{Commands, DeviceBuffer, Dispatch, Gpu, PipelineDesc};
use weftile::tensor::Tensor;

/// The dims that the shapes of the tensors give, checked against the function.
fn dims(func: &LoweredFunc, tensors: &[Tensor]) -> Vec<i64> {
    let mut dims = vec![0; func.dims.len()];
    for (param, tensor) in func.params.iter().zip(tensors) {
        assert_eq!(
            param.shape.len(),
            tensor.shape().len(),
            "rank of {}",
            param.name
        );
        for (extent, &given) in param.shape.iter().zip(tensor.shape()) {
            if let HostExpr::Dim(i) = extent {
                dims[*i] = given as i64;
            }
        }
    }
    for r in &func.requires {
        assert!(
            r.value.eval(&dims).expect("evaluates") <= r.limit,
            "{}",
            r.what
        );
    }
    dims
}

/// Runs all kernels `times` times and gives the results back in `tensors`, and the seconds of the fastest run.
pub(crate) fn launch(gpu: &Gpu, func: &LoweredFunc, tensors: &mut [Tensor], times: usize) -> f64 {
    let target: &GpuTarget = gpu.target();
    let dims = dims(func, tensors);
    let params: Vec<_> = tensors
        .iter()
        .map(|t| gpu.upload(t).expect("uploads"))
        .collect();
    let temps: Vec<_> = func
        .temps
        .iter()
        .map(|t| {
            let len = t.len.eval(&dims).expect("evaluates") as u64;
            gpu.alloc((len * t.dtype.bytes() as u64).max(16))
                .expect("allocates")
        })
        .collect();
    let mut best = f64::INFINITY;
    for _ in 0..times {
        gpu.wait().expect("waits");
        let start = Instant::now();
        let mut commands = Commands::new(gpu);
        for kernel in &func.kernels {
            let wgsl = codegen_wgsl::emit(kernel, target).expect("emits");
            codegen_wgsl::validate(&wgsl).expect("valid");
            let launch = kernel.launch.as_ref().expect("a GPU kernel");
            let grid: Vec<u64> = launch
                .grid
                .iter()
                .map(|e| e.eval(&dims).expect("evaluates") as u64)
                .collect();
            let dispatched = if wgsl.folded {
                weftile::kernel::folded_grid([grid[0], grid[1], grid[2]], target.max_grid)
                    .expect("folds")
            } else {
                [grid[0] as u32, grid[1] as u32, grid[2] as u32]
            };
            let scalars_of = |run: i64| -> Vec<u8> {
                let dims: Vec<i64> = dims.iter().copied().chain([run]).collect();
                let scalars = kernel.scalars.iter();
                let mut scalars: Vec<u8> = scalars
                    .flat_map(|(_, e)| (e.eval(&dims).expect("evaluates") as i32).to_le_bytes())
                    .collect();
                if wgsl.folded {
                    scalars.extend(grid.iter().flat_map(|d| (*d as u32).to_le_bytes()));
                }
                scalars
            };
            let access: Vec<Access> = kernel.bindings().map(|b| b.3).collect();
            let uniform = match wgsl.passing {
                ScalarPassing::Uniform { binding } => Some(binding),
                _ => None,
            };
            assert_eq!(uniform, None, "the adapter has immediates");
            let pipeline = gpu
                .pipeline(&PipelineDesc {
                    text: &wgsl.text,
                    entry: &wgsl.entry,
                    access: &access,
                    shared: &[],
                    uniform,
                    immediate_bytes: scalars_of(0).len() as u32,
                    subgroup: kernel.least_subgroup(),
                    proof: kernel.proof(),
                })
                .expect("compiles");
            let buffers: Vec<(&DeviceBuffer, u64)> = kernel
                .bindings()
                .map(|(_, _, buffer, _)| match buffer {
                    BufferRef::Param(i) => (&**params[i].buffer(), params[i].binding_bytes()),
                    BufferRef::Temp(i) => (&*temps[i], temps[i].size()),
                })
                .collect();
            for run in 0..launch.times.eval(&dims).expect("evaluates") {
                commands
                    .dispatch(&Dispatch {
                        pipeline: &pipeline,
                        buffers: &buffers,
                        uniform: None,
                        immediates: &scalars_of(run),
                        grid: dispatched,
                        flops: 0.0,
                        bytes: 0.0,
                    })
                    .expect("dispatches");
            }
        }
        commands.submit().expect("submits");
        gpu.wait().expect("waits");
        best = best.min(start.elapsed().as_secs_f64());
    }
    for (param, tensor) in params.iter().zip(tensors) {
        *tensor = param.to_host().expect("comes back");
    }
    best
}
