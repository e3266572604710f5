//! Buffers, pipelines and submission on any adapter that is there, software ones included.

use super::*;
use crate::kernel::{Access, Proof};
use crate::tensor::{DType, Tensor};

/// The first adapter; without one the test passes unless `WEFTILE_REQUIRE_GPU` is set.
fn gpu() -> Option<Gpu> {
    let found = adapters()
        .first()
        .map(|a| a.open(Checks::Proved).expect("the adapter opens"));
    if found.is_none() {
        without_adapter();
    }
    found
}

/// Fails where an adapter is required.
pub(super) fn without_adapter() {
    assert!(
        std::env::var_os("WEFTILE_REQUIRE_GPU").is_none(),
        "no adapter, but one is required"
    );
}

const DOUBLE: &str = include_str!("../../shaders/double.wgsl");

pub(super) fn double(gpu: &Gpu, a: &DeviceTensor, b: &DeviceTensor) -> Result<(), GpuError> {
    double_in(gpu, a, b, [1, 1, 1])
}

fn double_in(
    gpu: &Gpu,
    a: &DeviceTensor,
    b: &DeviceTensor,
    grid: [u32; 3],
) -> Result<(), GpuError> {
    let pipeline = gpu.pipeline(&PipelineDesc {
        text: DOUBLE,
        entry: "double",
        access: &[Access::Read, Access::Write],
        shared: &[],
        uniform: None,
        immediate_bytes: 0,
        subgroup: 0,
        proof: Proof::NONE,
    })?;
    let buffers = [
        (&**a.buffer(), a.binding_bytes()),
        (&**b.buffer(), b.binding_bytes()),
    ];
    let mut commands = Commands::new(gpu);
    commands.dispatch(&Dispatch {
        pipeline: &pipeline,
        buffers: &buffers,
        uniform: None,
        immediates: &[],
        grid,
        flops: 1.0,
        bytes: 1.0,
    })?;
    commands.finish().map(|_| ())
}

#[test]
fn a_second_run_creates_nothing() {
    let Some(gpu) = gpu() else { return };
    let input = Tensor::from_slice(&[5], &[1.0f32, 2.0, 3.0, f32::NAN, -0.0]).expect("five");
    let run = || {
        let a = gpu.upload(&input).expect("small");
        let b = gpu.empty(DType::F32, &[5]).expect("small");
        double(&gpu, &a, &b).expect("runs");
        b.to_host().expect("comes back")
    };
    let first = run();
    let before = gpu.counters();
    let second = run();
    let after = gpu.counters();
    assert_eq!(first.bytes(), second.bytes());
    assert_eq!(
        second.as_slice::<f32>().map(|s| s[..3].to_vec()),
        Ok(vec![2.0, 4.0, 6.0])
    );
    assert_eq!(
        (before.buffers, before.pipelines, before.bind_groups),
        (after.buffers, after.pipelines, after.bind_groups)
    );
    assert_eq!(after.dispatches - before.dispatches, 1);
}

#[test]
fn what_is_recorded_keeps_its_buffers_until_it_is_submitted() {
    let Some(gpu) = gpu() else { return };
    let pipeline = gpu.pipeline(&PipelineDesc {
        text: DOUBLE,
        entry: "double",
        access: &[Access::Read, Access::Write],
        shared: &[],
        uniform: None,
        immediate_bytes: 0,
        subgroup: 0,
        proof: Proof::NONE,
    });
    let pipeline = pipeline.expect("compiles");
    let input = |value: f32| Tensor::from_slice(&[4], &[value; 4]).expect("four");
    let mut commands = Commands::new(&gpu);
    let mut record = |a: &DeviceTensor, b: &DeviceTensor| {
        let buffers = [
            (&**a.buffer(), a.binding_bytes()),
            (&**b.buffer(), b.binding_bytes()),
        ];
        let dispatch = Dispatch {
            pipeline: &pipeline,
            buffers: &buffers,
            uniform: None,
            immediates: &[],
            grid: [1, 1, 1],
            flops: 1.0,
            bytes: 1.0,
        };
        commands.dispatch(&dispatch).expect("records");
    };
    let outputs = [1.0, 2.0, 3.0].map(|value| {
        let mut a = gpu.upload(&input(value)).expect("small");
        let b = gpu.empty(DType::F32, &[4]).expect("small");
        record(&a, &b);
        assert!(a.is_unique(), "its holder may still write it in place");
        b
    });
    commands.submit().expect("runs");
    for (value, output) in [2.0, 4.0, 6.0].into_iter().zip(&outputs) {
        assert_eq!(output.to_host().expect("comes back"), input(value));
    }
    let before = gpu.counters().buffers;
    gpu.upload(&input(1.0)).expect("small");
    assert_eq!(gpu.counters().buffers, before, "they are in the pool again");
}

#[test]
fn a_tensor_in_a_new_buffer_has_room_for_what_is_planned() {
    let Some(gpu) = gpu() else { return };
    let mut tensor = gpu.empty(DType::F32, &[4]).expect("small");
    let holder = tensor.clone();
    tensor.renew(DType::F32, &[4], 1 << 20).expect("small");
    assert_ne!(tensor.buffer().id(), holder.buffer().id());
    assert!(tensor.buffer().size() >= 1 << 20);
}

#[test]
fn tensors_side_by_side_are_read_and_written() {
    let Some(gpu) = gpu() else { return };
    let arena = gpu.alloc_arena(768).expect("small").expect("small");
    assert_eq!(arena.size(), 768, "no more than was asked for");
    let at = |offset| {
        let made = gpu.tensor_in(&arena, offset, DType::F32, &[5]);
        made.expect("small").expect("it fits")
    };
    let (a, b, c) = (at(0), at(256), at(512));
    let input = |value: f32| Tensor::from_slice(&[5], &[value; 5]).expect("five");
    for (tensor, value) in [(&a, 3.0), (&b, 5.0), (&c, 7.0)] {
        tensor.write(&input(value)).expect("small");
    }
    let desc = PipelineDesc {
        text: DOUBLE,
        entry: "double",
        access: &[Access::Read, Access::Write],
        shared: &[0],
        uniform: None,
        immediate_bytes: 0,
        subgroup: 0,
        proof: Proof::NONE,
    };
    let run = |desc: &PipelineDesc, from: &DeviceTensor, to: &DeviceTensor| {
        let pipeline = gpu.pipeline(desc)?;
        let mut commands = Commands::new(&gpu);
        let buffers = [from, to].map(|t| (&**t.buffer(), t.binding_bytes()));
        commands.dispatch(&Dispatch {
            pipeline: &pipeline,
            buffers: &buffers,
            uniform: None,
            immediates: &[],
            grid: [1, 1, 1],
            flops: 1.0,
            bytes: 1.0,
        })?;
        commands.finish().map(drop)
    };
    run(&desc, &a, &b).expect("runs");
    let values = [&a, &b, &c].map(|tensor| tensor.to_host().expect("comes back"));
    assert_eq!(values, [input(3.0), input(6.0), input(7.0)]);
    let copy = b.duplicate().expect("small");
    run(&desc, &b, &c).expect("runs");
    assert_eq!(copy.to_host().expect("comes back"), input(6.0));
    assert_eq!(c.to_host().expect("comes back"), input(12.0));

    let error = run(&desc, &b, &at(256)).expect_err("it would read what it writes");
    assert!(matches!(error, GpuError::Overlap { written: 1, .. }));
    let apart = PipelineDesc {
        shared: &[],
        ..desc
    };
    let error = run(&apart, &a, &b).expect_err("one buffer, bound in two ways");
    assert!(matches!(error, GpuError::Rejected { .. }), "{error}");

    let placed = |offset, len: usize| gpu.tensor_in(&arena, offset, DType::U8, &[len]);
    for (offset, len) in [(128, 1), (768, 1), (512, 257), (!255, 1)] {
        let made = placed(offset, len).expect("small");
        assert!(made.is_none(), "{len} bytes from {offset}");
    }
    assert!(matches!(gpu.alloc_arena(u64::MAX), Ok(None)));
}

#[test]
fn tensors_of_every_type_come_back_as_they_went() {
    let Some(gpu) = gpu() else { return };
    let bytes: Vec<u8> = (0..24).collect();
    for dtype in [DType::U8, DType::BOOL, DType::F16, DType::I32, DType::F32] {
        let shape = [24 / dtype.bytes() - 1];
        let tensor = Tensor::from_bytes(dtype, &shape, &bytes[..shape[0] * dtype.bytes()]);
        let tensor = tensor.expect("sized to fit");
        let device = gpu.upload(&tensor).expect("small");
        assert_eq!(device.to_host().expect("comes back"), tensor);
    }
    let ids = Tensor::from_slice(&[3], &[-1i64, 1 << 40, i64::MIN]).expect("three");
    let device = gpu.upload(&ids).expect("small");
    assert_eq!(device.to_host().expect("comes back"), ids);
    let empty = Tensor::zeros(DType::F32, &[0, 3]).expect("empty");
    let device = gpu.upload(&empty).expect("nothing to copy");
    assert_eq!(device.to_host().expect("comes back"), empty);
}

#[test]
fn what_the_device_cannot_hold_is_an_error() {
    let Some(gpu) = gpu() else { return };
    assert!(matches!(
        gpu.empty(DType::F64, &[1]),
        Err(GpuError::DType(DType::F64))
    ));
    assert!(matches!(
        gpu.empty(DType::F32, &[1 << 40]),
        Err(GpuError::TooLarge { .. })
    ));
}

#[test]
fn a_shader_that_the_driver_refuses_is_an_error() {
    let Some(gpu) = gpu() else { return };
    let wrong = PipelineDesc {
        text: "fn nothing() -> {",
        entry: "nothing",
        access: &[],
        shared: &[],
        uniform: None,
        immediate_bytes: 0,
        subgroup: 0,
        proof: Proof::NONE,
    };
    assert!(matches!(
        gpu.pipeline(&wrong),
        Err(GpuError::Rejected { .. })
    ));
}

#[test]
fn pipelines_are_those_of_their_whole_description() {
    let Some(gpu) = gpu() else { return };
    let desc = PipelineDesc {
        text: DOUBLE,
        entry: "double",
        access: &[Access::Read, Access::Write],
        shared: &[],
        uniform: None,
        immediate_bytes: 0,
        subgroup: 0,
        proof: Proof::NONE,
    };
    let made = gpu.pipeline(&desc).expect("compiles");
    let again = gpu.pipeline(&desc).expect("made before");
    assert!(std::sync::Arc::ptr_eq(&made, &again));
    let other = PipelineDesc {
        access: &[Access::Read, Access::Read],
        shared: &[],
        ..desc.clone()
    };
    assert!(
        matches!(gpu.pipeline(&other), Err(GpuError::Rejected { .. })),
        "it writes what is bound to be read"
    );
    let large = PipelineDesc {
        subgroup: 2 * gpu.target().subgroup.unwrap_or(1),
        ..desc.clone()
    };
    assert!(matches!(
        gpu.pipeline(&large),
        Err(GpuError::Subgroup { .. })
    ));
    let many = PipelineDesc {
        immediate_bytes: gpu.target().immediate_bytes + 4,
        ..desc
    };
    assert!(matches!(
        gpu.pipeline(&many),
        Err(GpuError::Immediates { .. })
    ));
}

#[test]
fn shaders_are_trusted_only_if_accesses_and_loops_are_proved() {
    let Some(gpu) = gpu() else { return };
    for (accesses, loops) in [(false, false), (true, false), (false, true), (true, true)] {
        let desc = PipelineDesc {
            text: DOUBLE,
            entry: "double",
            access: &[Access::Read, Access::Write],
            shared: &[],
            uniform: None,
            immediate_bytes: 0,
            subgroup: 0,
            proof: Proof { accesses, loops },
        };
        let made = gpu.pipeline(&desc).expect("compiles");
        assert_eq!(made.is_trusted(), accesses && loops);
    }
}

#[test]
fn profiled_dispatches_have_times() {
    let Some(gpu) = gpu() else { return };
    let tensor = Tensor::zeros(DType::F32, &[64]).expect("small");
    let a = gpu.upload(&tensor).expect("small");
    let b = gpu.empty(DType::F32, &[64]).expect("small");
    double(&gpu, &a, &b).expect("runs");
    let pipeline = gpu
        .pipeline(&PipelineDesc {
            text: DOUBLE,
            entry: "double",
            access: &[Access::Read, Access::Write],
            shared: &[],
            uniform: None,
            immediate_bytes: 0,
            subgroup: 0,
            proof: Proof::NONE,
        })
        .expect("made before");
    let buffers = [
        (&**a.buffer(), a.binding_bytes()),
        (&**b.buffer(), b.binding_bytes()),
    ];
    let mut commands = Commands::profiled(&gpu);
    commands
        .dispatch(&Dispatch {
            pipeline: &pipeline,
            buffers: &buffers,
            uniform: None,
            immediates: &[],
            grid: [1, 1, 1],
            flops: 1.0,
            bytes: 1.0,
        })
        .expect("runs");
    let times = commands.finish().expect("done");
    assert_eq!(times.len(), 1);
    assert!(times[0].seconds > 0.0 && times[0].name == "double");
}

#[test]
fn copies_on_the_device_are_tensors_of_their_own() {
    let Some(gpu) = gpu() else { return };
    let input = Tensor::from_slice(&[3], &[1.0f32, 2.0, 3.0]).expect("three");
    let mut a = gpu.upload(&input).expect("small");
    assert!(a.is_unique());
    let shared = a.clone();
    assert!(!a.is_unique());
    let mut copy = a.duplicate().expect("small");
    assert!(copy.is_unique());
    double(&gpu, &copy.clone(), &shared).expect("runs");
    assert_eq!(copy.to_host().expect("comes back"), input);
    let doubled = Tensor::from_slice(&[3], &[2.0f32, 4.0, 6.0]).expect("three");
    assert_eq!(a.to_host().expect("comes back"), doubled);
    let empty = gpu.empty(DType::F32, &[0]).expect("nothing");
    assert!(empty.duplicate().expect("nothing").to_host().is_ok());
}

#[test]
fn a_dispatch_beyond_the_limits_is_an_error() {
    let Some(gpu) = gpu() else { return };
    let tensor = Tensor::from_slice(&[2], &[1.0f32, 2.0]).expect("two");
    let a = gpu.upload(&tensor).expect("small");
    let b = gpu.empty(DType::F32, &[2]).expect("small");
    let refused = double_in(&gpu, &a, &b, [gpu.target().max_grid + 1, 1, 1]);
    assert!(
        matches!(refused, Err(GpuError::Rejected { .. })),
        "{refused:?}"
    );
    double(&gpu, &a, &b).expect("the device goes on");
    let doubled = Tensor::from_slice(&[2], &[2.0f32, 4.0]).expect("two");
    assert_eq!(b.to_host().expect("comes back"), doubled);
}

#[test]
fn a_lost_device_is_an_error_of_everything_done_with_it() {
    let Some(gpu) = gpu() else { return };
    let tensor = Tensor::zeros(DType::F32, &[64]).expect("small");
    let a = gpu.upload(&tensor).expect("small");
    let b = gpu.empty(DType::F32, &[64]).expect("small");
    double(&gpu, &a, &b).expect("runs");
    let reading = a.to_host_async().expect("small");
    let done = gpu.done_async().expect("a thread");
    gpu.shared.device.destroy();
    let lost = |what: &str, result: Result<(), GpuError>| {
        assert!(
            matches!(result, Err(GpuError::Lost { .. })),
            "{what}: {result:?}"
        );
    };
    // What was under way may have come through.
    let read = pollster::block_on(reading);
    assert!(read.is_err() || read.is_ok_and(|read| read == tensor));
    let done = pollster::block_on(done);
    assert!(
        matches!(done, Ok(()) | Err(GpuError::Lost { .. })),
        "{done:?}"
    );
    // The thread that polls for the futures may be the one that hears of it, at this moment.
    let mut patience = 1000;
    while gpu.wait().is_ok() && patience > 0 {
        std::thread::sleep(std::time::Duration::from_millis(1));
        patience -= 1;
    }
    lost("waiting", gpu.wait());
    lost("checking", gpu.check());
    lost("uploading", gpu.upload(&tensor).map(|_| ()));
    lost("allocating", gpu.empty(DType::F32, &[1 << 20]).map(|_| ()));
    lost("running", double(&gpu, &a, &b));
    lost("reading", b.to_host().map(|_| ()));
    lost("copying", a.duplicate().map(|_| ()));
    lost("compiling", {
        let other = PipelineDesc {
            text: &DOUBLE.replace("2.0", "3.0"),
            entry: "double",
            access: &[Access::Read, Access::Write],
            shared: &[],
            uniform: None,
            immediate_bytes: 0,
            subgroup: 0,
            proof: Proof::NONE,
        };
        gpu.pipeline(&other).map(|_| ())
    });
}
