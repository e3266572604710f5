//! Layer 10: the one ordered list of stages from text to executable.
//!
//! loop programs: schedule, lower, emit; then graph functions to bytecode. Each stage is timed, and dumped where asked for.

use std::io;
use std::path::PathBuf;

use crate::artifact::{Executable, KernelFunc, ScalarPassing, Wgsl};
use crate::codegen_vm::{GraphError, compile_graph};
use crate::codegen_wgsl::{self, WgslError};
use crate::ir::verify::{self, PrimFuncError};
use crate::ir::{Module, PrimFunc, graph};
use crate::kernel::{LoweredFunc, Target};
use crate::lower::{LowerError, lower};
use crate::sched::rules;
use crate::script;
use crate::support::dump::{DumpKind, Dumper};
use crate::support::timing::Timing;

/// How to compile.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The device to compile for.
    pub target: Target,
    /// What to write of the stages, and where to.
    pub dump: Vec<DumpKind>,
    /// The folder of the dumps.
    pub dump_dir: PathBuf,
    /// Verify after each stage.
    pub verify: bool,
}

impl CompileOptions {
    /// For a target, without dumps; verifies in debug builds.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            dump: Vec::new(),
            dump_dir: PathBuf::new(),
            verify: cfg!(debug_assertions),
        }
    }
}

/// Why a module cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The graph functions of the module are not well formed.
    #[error("the module is not well formed: {}", list(.0))]
    Graphs(Vec<graph::GraphError>),
    /// A loop program is not well formed.
    #[error("`{func}` is not well formed after {stage}: {}", list(errors))]
    PrimFunc {
        /// The loop program.
        func: String,
        /// What came before.
        stage: &'static str,
        /// All that is wrong with it.
        errors: Vec<PrimFuncError>,
    },
    /// A loop program cannot become kernels.
    #[error("`{func}` cannot be lowered")]
    Lower {
        /// The loop program.
        func: String,
        /// Why.
        source: LowerError,
    },
    /// A kernel cannot become a shader.
    #[error("`{func}` cannot become a shader")]
    Wgsl {
        /// The loop program.
        func: String,
        /// Why.
        source: WgslError,
    },
    /// A graph function cannot become bytecode.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A dump cannot be written.
    #[error("cannot write a dump")]
    Dump(#[from] io::Error),
}

fn list(errors: &[impl std::fmt::Display]) -> String {
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    errors.join("; ")
}

/// Compiles a module, and says what each stage took.
///
/// # Errors
/// [`Error`]: the module is not well formed, or a stage cannot express it.
pub fn compile(module: &Module, options: &CompileOptions) -> Result<(Executable, Timing), Error> {
    let mut timing = Timing::default();
    let mut dumper = Dumper::new(&options.dump_dir, &options.dump);
    if options.verify {
        graph::verify(module).map_err(Error::Graphs)?;
    }
    if dumper.wants(DumpKind::Graph) {
        dumper.dump(DumpKind::Graph, "parsed", "module", &script::print(module))?;
    }
    let mut kernels = Vec::new();
    let mut traces = indexmap::IndexMap::new();
    for (name, func) in module.prim_funcs() {
        verify(name, func, "parse", options)?;
        let scheduled = timing.time("schedule", || rules::schedule(func, &options.target));
        verify(name, scheduled.schedule.func(), "schedule", options)?;
        let trace = scheduled.schedule.trace().to_string();
        dumper.dump(DumpKind::Trace, "schedule", name, &trace)?;
        traces.insert(name.to_owned(), trace);
        if dumper.wants(DumpKind::Prim) {
            let text = script::print_prim_func(scheduled.schedule.func()).text;
            dumper.dump(DumpKind::Prim, "schedule", name, &text)?;
        }
        let lowered = timing.time("lower", || {
            lower_func(name, scheduled.schedule.func(), options)
        })?;
        if dumper.wants(DumpKind::Kernel) {
            dumper.dump(DumpKind::Kernel, "lower", name, &lowered.to_string())?;
        }
        let wgsl = timing.time("emit", || shaders(&lowered, &options.target))?;
        for shader in &wgsl {
            dumper.dump(DumpKind::Wgsl, "emit", &shader.entry, &shader.text)?;
        }
        kernels.push(KernelFunc {
            func: lowered,
            wgsl,
        });
    }
    let mut executable = timing.time("bytecode", || {
        compile_graph(module, kernels, &options.target)
    })?;
    executable.traces = traces;
    dumper.dump(
        DumpKind::Bytecode,
        "bytecode",
        "module",
        &executable.as_text(),
    )?;
    Ok((executable, timing))
}

fn verify(
    name: &str,
    func: &PrimFunc,
    stage: &'static str,
    options: &CompileOptions,
) -> Result<(), Error> {
    if !options.verify {
        return Ok(());
    }
    verify::prim_func(func).map_err(|errors| Error::PrimFunc {
        func: name.to_owned(),
        stage,
        errors,
    })
}

fn lower_func(name: &str, func: &PrimFunc, options: &CompileOptions) -> Result<LoweredFunc, Error> {
    lower(func, &options.target).map_err(|source| Error::Lower {
        func: name.to_owned(),
        source,
    })
}

/// A shader for each kernel; none for the CPU, which makes native code when the executable is loaded.
fn shaders(func: &LoweredFunc, target: &Target) -> Result<Vec<Wgsl>, Error> {
    let Target::Gpu(gpu) = target else {
        return Ok(Vec::new());
    };
    let emit = |kernel| {
        let shader = codegen_wgsl::emit(kernel, gpu)?;
        Ok(Wgsl {
            text: shader.text,
            entry: shader.entry,
            folded: shader.folded,
            passing: match shader.passing {
                codegen_wgsl::ScalarPassing::None => ScalarPassing::None,
                codegen_wgsl::ScalarPassing::Immediates => ScalarPassing::Immediates,
                codegen_wgsl::ScalarPassing::Uniform { binding } => {
                    ScalarPassing::Uniform { binding }
                }
            },
        })
    };
    let all: Result<_, WgslError> = func.kernels.iter().map(emit).collect();
    all.map_err(|source| Error::Wgsl {
        func: func.name.clone(),
        source,
    })
}
