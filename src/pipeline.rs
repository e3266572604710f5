//! The ordered list of stages from a module to an executable.
//!
//! A module goes through the [`passes_for`] its target, then through [`STAGES`]. One loop runs, times, verifies and dumps them.
//! Tools that look at what is in between stop after a stage and read the [`Compilation`].

mod dumps;
mod equal;
mod error;
#[cfg(feature = "cpu")]
mod native;
mod origins;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use indexmap::IndexMap;

use crate::artifact::{Executable, KernelFunc};
use crate::codegen_wgsl;
use crate::explain;
use crate::ir::{AttrValue, Func, Module, PrimFunc, attrs};
use crate::kernel::{GpuModel, LoweredFunc, Shader, Target};
use crate::lower::{self, Launches, LowerError};
use crate::passes::PassContext;
use crate::sched::rules::{self, Scheduled, Search};
use crate::support::dump::{DumpKind, Dumper};
use crate::support::timing::Timing;
use crate::{codegen_vm, passes, script};
use equal::{Known, Place};
use error::all_of;

pub use crate::codegen_vm::signature;
pub use error::Error;
pub use origins::Operand;

/// Whether what each stage made is verified. Kernels are in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verify {
    /// After every stage.
    Yes,
    /// Only what comes from outside.
    No,
}

/// What a compilation depends on besides the module.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The device to compile for.
    pub target: Target,
    /// Verification between stages.
    pub verify: Verify,
    /// Dumps: the folder, and what goes there.
    pub dump: Option<(PathBuf, Vec<DumpKind>)>,
    /// Which passes run, and who watches them.
    pub passes: PassContext,
    /// Who is told how far the compiler is.
    pub watch: Option<Arc<dyn Watch>>,
}

/// Somebody who is told how far a compilation is.
pub trait Watch: std::fmt::Debug + Send + Sync {
    /// A pass or stage begins, or has done so many of its loop programs.
    fn at(&self, stage: &str, done: usize, of: usize);
}

impl CompileOptions {
    /// Options for a target; stages are verified in debug builds.
    pub fn new(target: Target) -> Self {
        let verify = if cfg!(debug_assertions) {
            Verify::Yes
        } else {
            Verify::No
        };
        Self {
            target,
            verify,
            dump: None,
            passes: PassContext::default(),
            watch: None,
        }
    }

    fn tell(&self, stage: &str, done: usize, of: usize) {
        if let Some(watch) = &self.watch {
            watch.at(stage, done, of);
        }
    }
}

/// What the stages have made so far.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// What it depends on.
    pub options: CompileOptions,
    /// The module.
    pub module: Module,
    /// Loop programs with their schedules.
    pub scheduled: IndexMap<String, Scheduled>,
    /// What lowering makes of those schedules.
    attempts: IndexMap<String, Result<LoweredFunc, LowerError>>,
    /// Loop programs as kernels.
    pub lowered: IndexMap<String, LoweredFunc>,
    /// Shaders of those kernels, for a GPU.
    pub wgsl: IndexMap<String, Vec<Shader>>,
    /// The whole.
    pub executable: Option<Executable>,
    /// Time of each stage.
    pub timing: Timing,
}

/// A stage: its name, what it does, how that is verified, and what of it is dumped.
pub struct Stage {
    /// Its name, as in dumps and timings.
    pub name: &'static str,
    run: fn(&mut Compilation) -> Result<(), Error>,
    verify: fn(&Compilation) -> Result<(), Error>,
    dump: fn(&Compilation, &mut Dumper, &str) -> std::io::Result<()>,
}

/// The passes over modules for a target, in order.
pub fn passes_for(target: &Target) -> &'static [&'static str] {
    match target {
        Target::Cpu(_) | Target::Gpu(_) => &[
            "lambda_lift",
            "realize_vdevice",
            "remove_redundant_reshape",
            "remove_redundant_permute_dims",
            "recognize_ops",
            "recognize_causal_masks",
            "simplify_batchnorm",
            "decompose_attention",
            "decompose_conv_transpose",
            "split_concat",
            "pack_bytes",
            "legalize_ops",
            "fold_constant",
            "specialize",
            "winograd_conv2d",
            "fold_constant",
            "pack_weights",
            "fold_constant",
            "fuse_transpose_matmul",
            "annotate_tir_op_pattern",
            "fuse_reductions",
            "fuse_ops",
            "fuse_tir",
            "rewrite_reshape",
            "dead_code_elimination",
            "to_non_dataflow",
            "remove_purity_checking",
            "bind_target",
            "insert_copies",
            "call_tir_rewrite",
            "static_plan_block_memory",
            "lower_alloc_tensor",
            "kill_after_last_use",
            "unify_index_types",
            "vm_shape_lower",
            "add_variants",
        ],
    }
}

/// The module with what its functions do to their weights in functions of their own, which run once, when the weights are there;
/// the weights are then as the kernels for the target read them. Weights are the parameters after `num_input`. [`compile`] takes
/// what comes out; nothing of it rewrites a weight while `main` runs.
///
/// ```
/// use weftile::codegen_cpu::host_target;
/// use weftile::kernel::Target;
/// use weftile::pipeline::{CompileOptions, compile, weights_apart};
/// use weftile::runtime::{Device, Value};
/// use weftile::tensor::Tensor;
/// use weftile::vm::VirtualMachine;
///
/// let text = r#"
/// @I.ir_module
/// class Module:
///     @R.function
///     def main(x: R.Tensor((1, 8), "float32"), w: R.Tensor((32, 8), "float32")):
///         R.func_attr({"num_input": 1})
///         with R.dataflow():
///             t = R.permute_dims(w)
///             y = R.matmul(x, t)
///             R.output(y)
///         return y
/// "#;
/// let module = weftile::script::parse("dense.py", text)?;
/// let options = CompileOptions::new(Target::Cpu(host_target(1)));
/// let apart = weights_apart(&module, &options)?;
/// let mut machine = VirtualMachine::new(compile(&apart, &options)?, Device::Cpu)?;
///
/// let (x, w) = (Tensor::from_slice(&[1, 8], &[1f32; 8])?, Tensor::from_slice(&[32, 8], &[2f32; 256])?);
/// let weights = Value::Tuple(vec![w.into()]);
/// let mut args = vec![Value::from(x)];
/// args.extend_from_slice(machine.call("main_transform_params", &[weights])?.as_tuple()?);
/// let y = machine.call("main", &args)?;
/// assert_eq!(y.as_tensor()?.as_slice::<f32>()?, [16f32; 32]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// What the first pass that fails says.
pub fn weights_apart(module: &Module, options: &CompileOptions) -> Result<Module, Error> {
    let cx = passes::Cx::new(module, &options.target).with(options.passes.clone());
    let parameters = || [("parameters".to_owned(), AttrValue::Bool(true))].into();
    let passes = [
        passes::pass("remove_redundant_reshape")?,
        passes::pass("remove_redundant_permute_dims")?,
        passes::pass("recognize_ops")?,
        passes::pass("recognize_causal_masks")?,
        passes::pass_with("simplify_batchnorm", parameters())?,
        passes::pass("decompose_attention")?,
        passes::pass("decompose_conv_transpose")?,
        passes::pass("pack_bytes")?,
        passes::pass("legalize_ops")?,
        passes::pass("specialize")?,
        passes::pass_with("winograd_conv2d", parameters())?,
        passes::pass_with("pack_weights", parameters())?,
        passes::pass("lift_transform_params")?,
    ];
    Ok(passes::Sequential::new(passes).run(module, &cx)?)
}

/// The stages after the passes, in order.
pub const STAGES: &[Stage] = &[
    Stage {
        name: "schedule",
        run: schedule,
        verify: verify_schedules,
        dump: dumps::schedules,
    },
    Stage {
        name: "lower",
        run: lower,
        // In every build: kernels are what code is made of that checks nothing more.
        verify: |_| Ok(()),
        dump: dumps::kernels,
    },
    Stage {
        name: "emit",
        run: emit,
        verify: verify_shaders,
        dump: dumps::code,
    },
    Stage {
        name: "bytecode",
        run: bytecode,
        verify: |_| Ok(()),
        dump: dumps::bytecode,
    },
];

/// Compiles a module.
///
/// # Errors
/// What the first stage that fails says.
pub fn compile(module: &Module, options: &CompileOptions) -> Result<Executable, Error> {
    let compilation = compile_until(module, options, "bytecode")?;
    Ok(compilation.executable.expect("the last stage makes it"))
}

/// Runs everything up to and including the pass or stage with this name (see [`passes_for`] and [`STAGES`]); `"verify"` is what
/// comes before all.
///
/// # Errors
/// What the first stage that fails says.
pub fn compile_until(
    module: &Module,
    options: &CompileOptions,
    last: &str,
) -> Result<Compilation, Error> {
    let mut run = Run {
        compilation: Compilation {
            options: options.clone(),
            module: module.clone(),
            scheduled: IndexMap::new(),
            attempts: IndexMap::new(),
            lowered: IndexMap::new(),
            wgsl: IndexMap::new(),
            executable: None,
            timing: Timing::default(),
        },
        dumper: match &options.dump {
            Some((dir, kinds)) => Dumper::new(dir, kinds),
            None => Dumper::default(),
        },
    };
    let mut cx = passes::Cx::new(module, &options.target).with(options.passes.clone());
    cx.evaluator = evaluator();
    run.step("verify", |c| verify_module(c), |_| Ok(()), dumps::module)?;
    if last == "verify" {
        return Ok(run.compilation);
    }
    let mut passes = passes_for(&options.target);
    'placement: loop {
        let mut placed = None;
        for (at, &name) in passes.iter().enumerate() {
            if name == PLACEMENT {
                placed = Some((run.compilation.module.clone(), &passes[at..]));
            }
            let pass = passes::pass(name).expect("pipelines name passes that there are");
            let apply = |c: &mut Compilation| {
                c.module = cx.run(&pass, &c.module)?;
                Ok(())
            };
            run.step(name, apply, verify_module, dumps::module)?;
            if name == last {
                return Ok(run.compilation);
            }
        }
        for stage in STAGES {
            run.step(stage.name, stage.run, stage.verify, stage.dump)?;
            if let Some((module, rest)) = &mut placed
                && stage.name == "schedule"
                && run.compilation.of_long_loops(module)
            {
                run.compilation.module = module.clone();
                run.compilation.scheduled.clear();
                run.compilation.attempts.clear();
                passes = rest;
                continue 'placement;
            }
            if stage.name == last {
                break;
            }
        }
        return Ok(run.compilation);
    }
}

/// The pass that says which programs the host runs. It and what follows it are run anew where lowering finds another one.
const PLACEMENT: &str = "bind_target";

impl Compilation {
    /// The loop program that one is a variant of: calls of it run the variant where that is for their sizes.
    pub fn variant_of(&self, name: &str) -> Option<&str> {
        self.module.prim_func(name).and_then(variant_of)
    }

    /// The variants of a lowered loop program, by their numbers.
    fn variants(&self, name: &str) -> Vec<u32> {
        let general = &self.lowered[name];
        let is_variant = |(other, func): (&String, &LoweredFunc)| {
            self.variant_of(other) == Some(name) && func.is_called_as(general)
        };
        let numbers = self.lowered.iter().zip(0..);
        let variants = numbers.filter_map(|(entry, at)| is_variant(entry).then_some(at));
        variants.collect()
    }

    /// Marks the programs in `module` that the host has to run, since the device would end their loops. Whether there are any.
    fn of_long_loops(&self, module: &mut Module) -> bool {
        let mut found = false;
        for (name, attempt) in &self.attempts {
            let name = self.variant_of(name).unwrap_or(name);
            if let Err(error) = attempt
                && error.problem.is_of_long_loops()
                && let Some(Func::Prim(program)) = module.funcs.get_mut(name)
            {
                log::warn!("`{name}` runs on the host: {}", error.problem);
                passes::run_on_host(program);
                found = true;
            }
        }
        found
    }
}

/// Who computes constants that are large.
fn evaluator() -> Option<Arc<dyn passes::Evaluate>> {
    #[cfg(feature = "cpu")]
    return Some(Arc::new(native::Native));
    #[cfg(not(feature = "cpu"))]
    return None;
}

struct Run {
    compilation: Compilation,
    dumper: Dumper,
}

impl Run {
    /// One pass or stage: run, timed, verified if that is asked for, dumped.
    fn step(
        &mut self,
        name: &'static str,
        run: impl FnOnce(&mut Compilation) -> Result<(), Error>,
        verify: impl FnOnce(&Compilation) -> Result<(), Error>,
        dump: impl FnOnce(&Compilation, &mut Dumper, &str) -> std::io::Result<()>,
    ) -> Result<(), Error> {
        let c = &mut self.compilation;
        c.options.tell(name, 0, 0);
        c.timing.begin(name);
        let (before, start) = (c.timing.total(), Instant::now());
        let result = run(c);
        // A stage may run a part of another one, and says so: its own time is the rest.
        let of_others = c.timing.total() - before;
        c.timing
            .add(name, start.elapsed().saturating_sub(of_others));
        result?;
        if c.options.verify == Verify::Yes {
            verify(c)?;
        }
        dump(c, &mut self.dumper, name).map_err(|source| Error::Dump {
            dir: c.options.dump.iter().map(|(dir, _)| dir.clone()).collect(),
            source,
        })
    }
}

fn verify_module(c: &Compilation) -> Result<(), Error> {
    Ok(script::well_formed(&c.module)?)
}

/// The host, beside a GPU: this machine.
fn host() -> Target {
    #[cfg(feature = "cpu")]
    let host = crate::codegen_cpu::this_cpu();
    #[cfg(not(feature = "cpu"))]
    let host = crate::kernel::CpuTarget {
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        f32_lanes: 4,
        vector_registers: 16,
        fma: false,
        dot_bytes: false,
    };
    Target::Cpu(host)
}

/// Chooses schedules. Only lowering knows whether the device can run one, so what it makes of the chosen one is kept. Programs
/// that are equal but for names have one schedule.
fn schedule(c: &mut Compilation) -> Result<(), Error> {
    let target = &c.options.target;
    // The machine itself computes scalars of sizes.
    let shape_funcs = passes::shape_funcs(&c.module);
    let programs = c.module.prim_funcs();
    let has_kernels = |(name, func): &(&str, &PrimFunc)| {
        func.as_scalar().is_none() && !shape_funcs.contains(name)
    };
    let host = host();
    let programs: Vec<_> = programs.filter(has_kernels).collect();
    let mut known = Known::default();
    for (done, (name, func)) in programs.iter().copied().enumerate() {
        c.options.tell("schedule", done, programs.len());
        let (place, target) = match passes::is_of_host(func) {
            true => (Place::Host, &host),
            false => (Place::Device, target),
        };
        if let Some((equal, twin)) = known.equal_to(func, place)
            && let Some(Ok(lowered)) = c.attempts.get(equal)
        {
            log::debug!("`{name}` is `{equal}` but for names, and has its schedule");
            let (scheduled, lowered) = (
                c.scheduled[equal].named_as(func),
                equal::renamed(lowered, twin, func),
            );
            c.scheduled.insert(name.to_owned(), scheduled);
            c.attempts.insert(name.to_owned(), Ok(lowered));
            continue;
        }
        known.add(name, func, place);
        let (scheduled, lowered) = chosen(func, target, &mut c.timing);
        if let (Some(general), Err(error)) = (variant_of(func), &lowered)
            && !func.attrs.contains_key(attrs::ALTERNATIVE)
        {
            log::debug!("`{general}` has no variant `{name}`: {error}");
            continue;
        }
        scheduled.warn();
        c.scheduled.insert(name.to_owned(), scheduled);
        c.attempts.insert(name.to_owned(), lowered);
    }
    Ok(())
}

/// The loop program that this one is a variant of.
fn variant_of(func: &PrimFunc) -> Option<&str> {
    func.attrs.get(attrs::VARIANT_OF)?.as_str()
}

/// A default schedule, and what lowering makes of it. One that needs several launches is taken only if no rule makes one that does not.
fn chosen(
    func: &PrimFunc,
    target: &Target,
    timing: &mut Timing,
) -> (Scheduled, Result<LoweredFunc, LowerError>) {
    let mut with = |launches| {
        let lower = |scheduled: &PrimFunc| {
            timing.time("lower", || lower::lower_with(scheduled, target, launches))
        };
        let time = |lowered: &LoweredFunc| match target {
            Target::Gpu(gpu) => {
                let sizes = lowered.dims.iter();
                let sizes: Vec<i64> = sizes.map(|name| rules::usual_size(func, name)).collect();
                explain::time(lowered, &sizes, &GpuModel::of_target(gpu)).ok()
            }
            Target::Cpu(_) => None,
        };
        rules::choose_fastest(func, target, lower, time, Search::Promising)
    };
    match with(Launches::One) {
        (_, Err(error)) if error.problem.is_of_long_loops() => with(Launches::Many),
        chosen => chosen,
    }
}

fn verify_schedules(c: &Compilation) -> Result<(), Error> {
    for scheduled in c.scheduled.values() {
        script::well_formed_prim_func(scheduled.schedule.func())?;
    }
    Ok(())
}

fn lower(c: &mut Compilation) -> Result<(), Error> {
    let mut refused = vec![];
    for (name, lowered) in std::mem::take(&mut c.attempts) {
        match lowered {
            Ok(lowered) => {
                c.lowered.insert(name, lowered);
            }
            Err(error) => {
                let scheduled = Box::new(c.scheduled[&name].clone());
                let error = Error::Lower { error, scheduled };
                refused.push(error.in_program(&c.module, &name));
            }
        }
    }
    all_of(refused)?;
    verify_kernels(c)
}

fn verify_kernels(c: &Compilation) -> Result<(), Error> {
    for func in c.lowered.values() {
        func.verify()?;
    }
    Ok(())
}

/// Shaders; native code is made from kernel IR when the executable is loaded.
fn emit(c: &mut Compilation) -> Result<(), Error> {
    let Target::Gpu(target) = &c.options.target else {
        return Ok(());
    };
    let module = &c.module;
    let of_host = |name: &str| module.prim_func(name).is_some_and(passes::is_of_host);
    let mut refused = vec![];
    for (name, func) in c.lowered.iter().filter(|(name, _)| !of_host(name)) {
        let kernels = func.kernels.iter();
        let shaders = kernels.map(|kernel| codegen_wgsl::emit(kernel, target));
        match shaders.collect() {
            Ok(shaders) => {
                c.wgsl.insert(name.clone(), shaders);
            }
            Err(error) => refused.push(Error::from(error).in_program(&c.module, name)),
        }
    }
    all_of(refused)
}

fn verify_shaders(c: &Compilation) -> Result<(), Error> {
    for kernel in c.wgsl.values().flatten() {
        codegen_wgsl::validate(kernel)?;
    }
    Ok(())
}

fn bytecode(c: &mut Compilation) -> Result<(), Error> {
    let kernels = c.lowered.iter().map(|(name, func)| KernelFunc {
        func: func.clone(),
        wgsl: c.wgsl.get(name).into_iter().flatten().cloned().collect(),
        variants: c.variants(name),
    });
    let mut executable =
        codegen_vm::compile_graph(&c.module, kernels.collect(), &c.options.target)?;
    executable.script = script::print_with(&c.module, &script::PrintOptions::default());
    executable.traces = c
        .scheduled
        .iter()
        .map(|(name, s)| (name.clone(), s.schedule.trace().to_string()))
        .collect();
    executable.metadata.insert(
        "compiler".into(),
        concat!("weftile ", env!("CARGO_PKG_VERSION")).into(),
    );
    c.executable = Some(executable);
    Ok(())
}
