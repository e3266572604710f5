//! Convolutions against the interpreter: windows, strides, dilations, groups, sizes that no tile divides, and epilogues; on the CPU, on
//! the GPU that is there, and with the default schedules of other GPUs on it.

mod cases;

use weftile::ir::Module;
use weftile::kernel::{GpuClass, GpuTarget, Target};
use weftile::pipeline::{self, CompileOptions};
use weftile::runtime::{Device, Value};
use weftile::runtime_gpu::Gpu;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{ScalarType, Tensor};
use weftile::vm::VirtualMachine;
use weftile::{interp, script};

use self::cases::{CASES, Case, case};
use crate::gpu::cases::{data, gpu};
use crate::vm::cpu;

impl Case {
    fn text(&self) -> String {
        let Self {
            image,
            weight,
            op,
            attributes,
            epilogue,
        } = self;
        let extents: Vec<&str> = weight.split(", ").collect();
        let channels = extents[usize::from(*op == "conv2d_transpose")];
        let bias = format!("1, {channels}{}", ", 1".repeat(extents.len() - 2));
        let named = |e: &str| match e.parse::<usize>() {
            Ok(_) => e.to_owned(),
            Err(_) => format!("\"{e}\""),
        };
        let image: Vec<String> = image.split(", ").map(named).collect();
        let image = image.join(", ");
        format!(
            r#"
@R.function
def main(x: R.Tensor(({image}), "float32"), w: R.Tensor(({weight}), "float32"), b: R.Tensor(({bias}), "float32")):
    with R.dataflow():
        y = R.nn.{op}(x, w, {attributes})
        z = {epilogue}
        R.output(z)
    return z
"#
        )
    }

    /// Arguments for each number that symbolic extents are.
    fn inputs(&self) -> Vec<[Vec<usize>; 3]> {
        let extents = |text: &str, open: usize| -> Vec<usize> {
            let extents = text.split(", ").map(|e| e.parse().unwrap_or(open));
            extents.collect()
        };
        let weight = extents(self.weight, 0);
        let mut bias = vec![1; weight.len()];
        bias[1] = weight[usize::from(self.op == "conv2d_transpose")];
        let is_open = self.image.contains(|c: char| c.is_alphabetic());
        let open: &[usize] = if is_open { &[1, 3] } else { &[0] };
        let inputs = |&open: &usize| [extents(self.image, open), weight.clone(), bias.clone()];
        open.iter().map(inputs).collect()
    }

    /// Compiles the case with the default schedules of a target.
    fn machine(&self, target: &Target, device: &Device) -> VirtualMachine {
        let executable = pipeline::compile(&self.module(), &CompileOptions::new(target.clone()));
        let executable = executable.unwrap_or_else(|e| panic!("{e}"));
        VirtualMachine::new(executable, device.clone()).expect("loads")
    }

    fn module(&self) -> Module {
        script::parse("conv.py", &self.text()).unwrap_or_else(|e| panic!("{e}"))
    }

    /// The result for a target whose weights are rewritten apart from the call.
    fn with_weights_apart(&self, (target, device): &(Target, Device), inputs: &[Tensor]) -> Tensor {
        let weights = "    R.func_attr({\"num_input\": 1})\n    with R.dataflow():";
        let text = self.text().replace("    with R.dataflow():", weights);
        let module = script::parse("conv.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let options = CompileOptions::new(target.clone());
        let apart = pipeline::weights_apart(&module, &options).unwrap_or_else(|e| panic!("{e}"));
        let rewritten = ["permuted", "panels"].map(|name| apart.prim_func(name).is_some());
        assert!(rewritten.contains(&true), "{text}");
        let executable = pipeline::compile(&apart, &options).unwrap_or_else(|e| panic!("{e}"));
        let mut vm = VirtualMachine::new(executable, device.clone()).expect("loads");
        let mut args: Vec<Value> = inputs.iter().cloned().map(Value::Tensor).collect();
        let weights = Value::Tuple(args.split_off(1));
        let weights = vm.call("main_transform_params", &[weights]).expect("runs");
        args.extend_from_slice(weights.as_tuple().expect("a tuple"));
        let result = vm.call("main", &args).expect("runs");
        let result = vm.to_host(result).expect("is copied").into_tensor();
        result.expect("a tensor")
    }

    /// What the interpreter gives, and by how much others may differ.
    fn expected(&self, inputs: &[Tensor]) -> (Tensor, Tolerance) {
        let args: Vec<_> = inputs.iter().cloned().map(interp::Value::Tensor).collect();
        let expected = interp::run_module(&self.module(), "main", &args, &Default::default());
        let interp::Value::Tensor(expected) = expected.expect("the interpreter runs it") else {
            panic!("one tensor")
        };
        let terms = inputs[1].shape()[1..].iter().product();
        (expected, Tolerance::of(ScalarType::F32, terms))
    }

    fn check(&self, targets: &[(Target, Device)]) {
        let machine =
            |(target, device): &(Target, Device)| (target.clone(), self.machine(target, device));
        let mut machines: Vec<_> = targets.iter().map(machine).collect();
        for shapes in self.inputs() {
            let inputs: Vec<Tensor> = shapes.iter().map(|s| data(s, false)).collect();
            let (expected, tolerance) = self.expected(&inputs);
            let args: Vec<_> = inputs.into_iter().map(Value::Tensor).collect();
            for (target, vm) in &mut machines {
                let result = vm.call("main", &args).expect("runs");
                let result = vm.to_host(result).expect("is copied").into_tensor();
                compare(&expected, &result.expect("a tensor"), tolerance)
                    .unwrap_or_else(|e| panic!("{target:?} {shapes:?}: {e}\n{}", self.text()));
            }
        }
    }
}

/// The GPU with the default schedules of a class, its own if none is said.
fn scheduled_for(gpu: &Gpu, class: Option<GpuClass>) -> (Target, Device) {
    let mut target = gpu.target().clone();
    target.class = class.unwrap_or(target.class);
    (Target::Gpu(target), Device::Gpu(gpu.clone()))
}

#[test]
fn convolutions_agree_with_the_interpreter_on_the_gpu() {
    let Some(gpu) = gpu() else { return };
    let classes = [GpuClass::Nvidia, GpuClass::Apple, GpuClass::Unknown];
    for (case, class) in CASES.iter().zip(classes.into_iter().cycle()) {
        case.check(&[None, Some(class)].map(|class| scheduled_for(&gpu, class)));
    }
}

/// In whatever order the dimensions of weights are that a GPU wants, and of channels that no step divides.
#[test]
fn weights_in_the_order_of_their_copies() {
    let Some(gpu) = gpu() else { return };
    let same = "padding=[1, 1, 1, 1]";
    let cases = [
        case("conv2d", "1, 16, 9, 13", "24, 16, 3, 3", same),
        case("conv2d", "n, 19, 8, 7", "17, 19, 3, 3", same),
        case("conv2d", "2, 8, 11, 10", "16, 8, 5, 5", "strides=[2, 2]"),
        case("conv2d", "1, 16, 12, 9", "32, 16, 3, 3", "dilation=[2, 2]"),
        case("conv2d", "1, 3, 20, 21", "16, 3, 7, 7", "strides=[2, 2]"),
        case(
            "conv2d",
            "1, 9, 10, 16",
            "24, 16, 3, 3",
            "data_layout=\"NHWC\"",
        ),
    ];
    let classes = [GpuClass::Nvidia, GpuClass::Apple, GpuClass::Mobile];
    for (case, class) in cases.iter().zip(classes.into_iter().cycle()) {
        let device = scheduled_for(&gpu, Some(class));
        for shapes in case.inputs() {
            let inputs: Vec<Tensor> = shapes.iter().map(|s| data(s, false)).collect();
            let (expected, tolerance) = case.expected(&inputs);
            let got = case.with_weights_apart(&device, &inputs);
            compare(&expected, &got, tolerance)
                .unwrap_or_else(|e| panic!("{class:?} {shapes:?}: {e}\n{}", case.text()));
        }
    }
}

/// Weights of groups in panels: a group of one panel, of two and of three, and more results than channels.
#[test]
fn weights_of_groups_in_panels() {
    let same = "groups=2, padding=[1, 1, 1, 1]";
    let cases = [
        case("conv2d", "1, 32, 14, 14", "32, 16, 3, 3", same),
        case("conv2d", "1, 32, 7, 9", "96, 16, 3, 3", same),
        case("conv2d", "n, 64, 5, 7", "64, 32, 3, 3", same),
        case("conv1d", "1, 64, 25", "128, 32, 5", "groups=2"),
    ];
    for case in cases {
        for shapes in case.inputs() {
            let inputs: Vec<Tensor> = shapes.iter().map(|s| data(s, false)).collect();
            let (expected, tolerance) = case.expected(&inputs);
            let got = case.with_weights_apart(&cpu(), &inputs);
            compare(&expected, &got, tolerance)
                .unwrap_or_else(|e| panic!("{shapes:?}: {e}\n{}", case.text()));
        }
    }
}

/// The interpreter would take minutes.
#[test]
fn a_convolution_of_the_largest_tiles_agrees_with_the_cpu() {
    let Some(gpu) = gpu() else { return };
    let large = case(
        "conv2d",
        "1, 8, 112, 112",
        "128, 8, 3, 3",
        "padding=[1, 1, 1, 1]",
    );
    let (target, device) = scheduled_for(&gpu, Some(GpuClass::Nvidia));
    let compiled = pipeline::compile(&large.module(), &CompileOptions::new(target.clone()));
    let compiled = compiled.unwrap_or_else(|e| panic!("{e}"));
    let mut shaders = compiled.kernels.iter().flat_map(|func| &func.wgsl);
    assert!(shaders.any(|shader| shader.text.contains("@workgroup_size(16, 16, 1)")));
    let shapes = large.inputs().remove(0);
    let args: Vec<Value> = shapes.iter().map(|s| data(s, false).into()).collect();
    let [expected, got] = [cpu(), (target, device)].map(|(target, device)| {
        let mut vm = large.machine(&target, &device);
        let result = vm.call("main", &args).expect("runs");
        let result = vm.to_host(result).expect("is copied").into_tensor();
        result.expect("a tensor")
    });
    compare(&expected, &got, Tolerance::of(ScalarType::F32, 72)).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn convolutions_agree_with_the_interpreter_on_the_cpu() {
    for case in CASES {
        case.check(&[cpu()]);
    }
}

/// Channels and pixels that no tile divides, and tiles of one image in several parts: the sums of a tile are the thread's own, as few as
/// a tile has.
#[test]
fn tiles_that_run_past_channels_and_pixels() {
    let odd = case("conv2d", "3, 3, 29, 31", "113, 3, 1, 1", "");
    odd.check(&[cpu()]);
}

/// The rules that are best for these, of which [`convolutions_are_tiled_on_the_cpu`] takes any.
#[test]
fn convolutions_of_few_products_have_rules_of_their_own() {
    let cases = [
        (case("conv2d", "4, 1, 28, 28", "32, 1, 3, 3", ""), "windows"),
        (
            case("conv2d", "4, 64, 28, 28", "32, 64, 3, 3", ""),
            "convolution",
        ),
        (
            case("conv2d", "n, 24, 14, 14", "64, 24, 1, 1", ""),
            "pointwise",
        ),
        (
            case("conv2d", "n, 960, 7, 7", "64, 960, 1, 1", ""),
            "convolution",
        ),
        (
            case("conv2d", "n, 24, 14, 14", "64, 24, 1, 1", "strides=[2, 2]"),
            "convolution",
        ),
        // Groups of channels that fill vectors, unless the lines do, or strides keep windows from sharing elements.
        (
            case("conv2d", "4, 64, 28, 28", "64, 16, 3, 3", "groups=4"),
            "convolution",
        ),
        (
            case("conv2d", "4, 64, 34, 34", "64, 16, 3, 3", "groups=4"),
            "windows",
        ),
        (
            case(
                "conv2d",
                "4, 64, 29, 29",
                "64, 16, 3, 3",
                "groups=4, strides=[2, 2]",
            ),
            "windows",
        ),
        (
            case(
                "conv2d",
                "4, 64, 29, 29",
                "64, 32, 3, 3",
                "groups=2, strides=[2, 2]",
            ),
            "convolution",
        ),
    ];
    for (case, expected) in cases {
        let (target, _) = cpu();
        let options = CompileOptions::new(target);
        let compiled = pipeline::compile_until(&case.module(), &options, "schedule");
        let compiled = compiled.unwrap_or_else(|e| panic!("{e}"));
        let mut rules = compiled.scheduled.values().flat_map(|s| &s.rules);
        assert!(rules.any(|rule| *rule == expected), "{}", case.text());
    }
}

/// Depthwise convolutions and poolings on GPUs, of any layout and of open sizes.
#[test]
fn windows_of_one_channel_have_a_rule_on_gpus() {
    let is_depthwise = |case: &&Case| {
        let group = format!(
            "groups={},",
            case.weight.split(", ").next().unwrap_or_default()
        );
        let weights = case.weight.split(", ").nth(1);
        let of_one = format!("{},", case.attributes).contains(&group) && weights == Some("1");
        case.op == "conv2d" && of_one || case.epilogue.contains("pool2d")
    };
    let cases: Vec<&Case> = CASES.iter().filter(is_depthwise).collect();
    assert!(cases.len() >= 15, "{}", cases.len());
    let classes = [GpuClass::Nvidia, GpuClass::Unknown, GpuClass::Software];
    for (case, class) in cases.into_iter().zip(classes.into_iter().cycle()) {
        let options = CompileOptions::new(Target::Gpu(GpuTarget::usual(class)));
        let compiled = pipeline::compile_until(&case.module(), &options, "schedule");
        let compiled = compiled.unwrap_or_else(|e| panic!("{e}"));
        let mut rules = compiled.scheduled.values().flat_map(|s| &s.rules);
        assert!(
            rules.any(|rule| *rule == "depthwise"),
            "{class:?} {}",
            case.text()
        );
    }
}

/// A rule that declines leaves a program that is right and slow.
#[test]
fn convolutions_are_tiled_on_the_cpu() {
    // Windows with channels last are left to other rules.
    let is_taken =
        |case: &&Case| !case.op.ends_with("_transpose") && !case.attributes.contains("NHWC");
    for case in CASES.iter().filter(is_taken) {
        let expected: &[&str] = match case.op {
            "conv2d_transpose" => &["windows"],
            _ => &["convolution", "pointwise", "windows"],
        };
        let (target, _) = cpu();
        let options = CompileOptions::new(target);
        let compiled = pipeline::compile_until(&case.module(), &options, "schedule");
        let compiled = compiled.unwrap_or_else(|e| panic!("{e}"));
        let mut rules = compiled.scheduled.values().flat_map(|s| &s.rules);
        assert!(rules.any(|rule| expected.contains(rule)), "{}", case.text());
    }
}
