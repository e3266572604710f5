//! Layer 10: the one ordered list of stages from a module to an executable.
//!
//! [`STAGES`] is the compiler's story; one loop runs, times and dumps them. Tools that look at what is in between stop after a
//! stage and read the [`Compilation`].

use std::path::PathBuf;

use indexmap::IndexMap;

use crate::artifact::{Executable, KernelFunc};
use crate::codegen_wgsl;
use crate::ir::verify::{self, PrimFuncError};
use crate::ir::{Module, graph};
use crate::kernel::{LoweredFunc, Shader, Target};
use crate::sched::rules::{self, Scheduled};
use crate::support::dump::{DumpKind, Dumper};
use crate::support::timing::Timing;
use crate::{codegen_vm, lower, passes, script};

/// Whether what each stage made is verified.
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
        }
    }
}

/// Why a module was not compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not TVMScript.
    #[error(transparent)]
    Script(#[from] script::ScriptErrors),
    /// Graph functions break rules; all that do.
    #[error("the module is not well formed:{}", list(.0))]
    Graph(Vec<graph::GraphError>),
    /// A loop program breaks rules.
    #[error("loop program `{func}` is not well formed:{}", list(.errors))]
    PrimFunc {
        /// The function.
        func: String,
        /// What it breaks.
        errors: Vec<PrimFuncError>,
    },
    /// A loop program has no kernels.
    #[error(transparent)]
    Lower(#[from] lower::LowerError),
    /// A kernel has no shader.
    #[error(transparent)]
    Wgsl(#[from] codegen_wgsl::WgslError),
    /// A graph function has no bytecode.
    #[error(transparent)]
    Bytecode(#[from] codegen_vm::GraphError),
    /// A dump cannot be written.
    #[error("cannot write dumps to {dir}")]
    Dump {
        /// The folder.
        dir: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

fn list<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(|item| format!("\n  {item}")).collect()
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
    /// Loop programs as kernels.
    pub lowered: IndexMap<String, LoweredFunc>,
    /// Shaders of those kernels, for a GPU.
    pub wgsl: IndexMap<String, Vec<Shader>>,
    /// The whole.
    pub executable: Option<Executable>,
    /// Time of each stage.
    pub timing: Timing,
}

/// A stage: its name, what it does, and what of the result is dumped.
pub struct Stage {
    /// Its name, as in dumps and timings.
    pub name: &'static str,
    run: fn(&mut Compilation) -> Result<(), Error>,
    dump: fn(&Compilation, &mut Dumper, &str) -> std::io::Result<()>,
}

/// All stages, in order.
pub const STAGES: &[Stage] = &[
    Stage {
        name: "verify",
        run: verify_module,
        dump: dump_module,
    },
    Stage {
        name: "specialize",
        run: specialize,
        dump: dump_module,
    },
    Stage {
        name: "schedule",
        run: schedule,
        dump: dump_schedules,
    },
    Stage {
        name: "lower",
        run: lower,
        dump: dump_kernels,
    },
    Stage {
        name: "emit",
        run: emit,
        dump: dump_code,
    },
    Stage {
        name: "bytecode",
        run: bytecode,
        dump: dump_bytecode,
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

/// Runs the stages up to and including the one with this name (see [`STAGES`]).
///
/// # Errors
/// What the first stage that fails says.
pub fn compile_until(
    module: &Module,
    options: &CompileOptions,
    last: &str,
) -> Result<Compilation, Error> {
    let mut compilation = Compilation {
        options: options.clone(),
        module: module.clone(),
        scheduled: IndexMap::new(),
        lowered: IndexMap::new(),
        wgsl: IndexMap::new(),
        executable: None,
        timing: Timing::default(),
    };
    let mut dumper = match &options.dump {
        Some((dir, kinds)) => Dumper::new(dir, kinds),
        None => Dumper::default(),
    };
    for stage in STAGES {
        let mut timing = std::mem::take(&mut compilation.timing);
        let result = timing.time(stage.name, || (stage.run)(&mut compilation));
        compilation.timing = timing;
        result?;
        let dumped = (stage.dump)(&compilation, &mut dumper, stage.name);
        dumped.map_err(|source| {
            let dir = options
                .dump
                .as_ref()
                .map(|(dir, _)| dir.clone())
                .unwrap_or_default();
            Error::Dump { dir, source }
        })?;
        if stage.name == last {
            break;
        }
    }
    Ok(compilation)
}

fn verify_module(c: &mut Compilation) -> Result<(), Error> {
    graph::verify(&c.module).map_err(Error::Graph)?;
    for (name, func) in c.module.prim_funcs() {
        verify::prim_func(func).map_err(|errors| Error::PrimFunc {
            func: name.to_owned(),
            errors,
        })?;
    }
    Ok(())
}

fn specialize(c: &mut Compilation) -> Result<(), Error> {
    c.module = passes::specialize(&c.module);
    match c.options.verify {
        Verify::Yes => verify_module(c),
        Verify::No => Ok(()),
    }
}

fn schedule(c: &mut Compilation) -> Result<(), Error> {
    for (name, func) in c.module.prim_funcs() {
        let scheduled = rules::schedule(func, &c.options.target);
        if c.options.verify == Verify::Yes {
            verify::prim_func(scheduled.schedule.func()).map_err(|errors| Error::PrimFunc {
                func: name.to_owned(),
                errors,
            })?;
        }
        c.scheduled.insert(name.to_owned(), scheduled);
    }
    Ok(())
}

fn lower(c: &mut Compilation) -> Result<(), Error> {
    for (name, scheduled) in &c.scheduled {
        let lowered = lower::lower(scheduled.schedule.func(), &c.options.target)?;
        c.lowered.insert(name.clone(), lowered);
    }
    Ok(())
}

/// Shaders; native code is made from kernel IR when the executable is loaded.
fn emit(c: &mut Compilation) -> Result<(), Error> {
    let Target::Gpu(target) = &c.options.target else {
        return Ok(());
    };
    for (name, func) in &c.lowered {
        let kernels = func
            .kernels
            .iter()
            .map(|kernel| codegen_wgsl::emit(kernel, target));
        c.wgsl
            .insert(name.clone(), kernels.collect::<Result<_, _>>()?);
    }
    if c.options.verify == Verify::Yes {
        for kernel in c.wgsl.values().flatten() {
            codegen_wgsl::validate(kernel)?;
        }
    }
    Ok(())
}

fn bytecode(c: &mut Compilation) -> Result<(), Error> {
    let kernels = c.lowered.iter().map(|(name, func)| KernelFunc {
        func: func.clone(),
        wgsl: c.wgsl.get(name).into_iter().flatten().cloned().collect(),
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

fn dump_module(c: &Compilation, dumper: &mut Dumper, stage: &str) -> std::io::Result<()> {
    if dumper.wants(DumpKind::Graph) {
        dumper.dump(DumpKind::Graph, stage, "module", &script::print(&c.module))?;
    }
    dump_prims(dumper, stage, c.module.prim_funcs())
}

fn dump_prims<'a>(
    dumper: &mut Dumper,
    stage: &str,
    funcs: impl Iterator<Item = (&'a str, &'a crate::ir::PrimFunc)>,
) -> std::io::Result<()> {
    if !dumper.wants(DumpKind::Prim) {
        return Ok(());
    }
    for (name, func) in funcs {
        dumper.dump(
            DumpKind::Prim,
            stage,
            name,
            &script::print_prim_func(func).text,
        )?;
    }
    Ok(())
}

fn dump_schedules(c: &Compilation, dumper: &mut Dumper, stage: &str) -> std::io::Result<()> {
    dump_prims(
        dumper,
        stage,
        c.scheduled
            .iter()
            .map(|(name, s)| (name.as_str(), s.schedule.func())),
    )?;
    for (name, scheduled) in &c.scheduled {
        dumper.dump(
            DumpKind::Trace,
            stage,
            name,
            &scheduled.schedule.trace().to_string(),
        )?;
    }
    Ok(())
}

fn dump_kernels(c: &Compilation, dumper: &mut Dumper, stage: &str) -> std::io::Result<()> {
    if dumper.wants(DumpKind::Kernel) {
        for (name, func) in &c.lowered {
            dumper.dump(DumpKind::Kernel, stage, name, &func.to_string())?;
        }
    }
    Ok(())
}

/// Shaders, or the native code that they are the counterpart of.
fn dump_code(c: &Compilation, dumper: &mut Dumper, stage: &str) -> std::io::Result<()> {
    for kernel in c.wgsl.values().flatten() {
        dumper.dump(DumpKind::Wgsl, stage, &kernel.entry, &kernel.text)?;
    }
    #[cfg(feature = "cpu")]
    if let (Target::Cpu(_), true) = (&c.options.target, dumper.wants(DumpKind::Clif)) {
        for kernel in c.lowered.values().flat_map(|func| &func.kernels) {
            let text = crate::codegen_cpu::clif_text(kernel).map_err(std::io::Error::other)?;
            dumper.dump(DumpKind::Clif, stage, &kernel.name, &text)?;
        }
    }
    Ok(())
}

fn dump_bytecode(c: &Compilation, dumper: &mut Dumper, stage: &str) -> std::io::Result<()> {
    match &c.executable {
        Some(executable) => dumper.dump(DumpKind::Bytecode, stage, "module", &executable.as_text()),
        None => Ok(()),
    }
}
