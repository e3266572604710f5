//! The variables of the environment that weftile reads, all here and once.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::CliError;
use super::terminal::Progress;
use super::to_stderr;
use crate::codegen_cpu::Backend;
use crate::ir::Module;
use crate::kernel::Target;
use crate::passes::{self, PassContext};
use crate::pipeline::{Compilation, CompileOptions, Verify, compile_until};
use crate::runtime_gpu::PipelineCache;
use crate::support::dump::DumpKind;
use crate::support::timing::Timing;

/// Where dumps go if nothing is said.
const DUMP_DIR: &str = "weftile-dump";

/// What `WEFTILE_*` ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Environment {
    /// `WEFTILE_DUMP`: what to write.
    dump: Vec<DumpKind>,
    /// `WEFTILE_DUMP_DIR`: where to.
    dump_dir: PathBuf,
    /// `WEFTILE_TIME`: print the time of each stage.
    time: bool,
    /// The times so far: of reading, of compiling, of the first call.
    timing: RefCell<Timing>,
    /// `WEFTILE_VERIFY`: verify after each stage.
    verify: bool,
    /// `WEFTILE_WITHOUT`: names of passes that do not run.
    without: Vec<String>,
    /// `WEFTILE_CPU`: what makes native code, if not the best that this machine has.
    pub(super) cpu: Option<Backend>,
    /// `WEFTILE_PIPELINE_CACHE`: where GPUs keep compiled pipelines.
    pub(super) pipelines: PipelineCache,
    /// `WEFTILE_LOG`: which messages to show, as `env_logger` reads it.
    pub(super) log: String,
}

/// Levels of messages, as `WEFTILE_LOG` names them.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// The APIs that this program is built for, as `WGPU_BACKEND` names them.
const BACKENDS: [&str; 3] = ["vulkan", "metal", "dx12"];

impl Environment {
    /// Reads the variables of this process.
    pub(crate) fn read() -> Result<Self, CliError> {
        Self::from(|name| std::env::var(name).ok())
    }

    /// Runs the compiler up to a stage, with the dumps, checks and times asked for.
    pub(crate) fn compile_until(
        &self,
        module: &Module,
        target: &Target,
        stage: &str,
    ) -> Result<Compilation, CliError> {
        self.compile_watched(module, target, stage, PassContext::default())
    }

    /// The same, with passes under a context of the verb's.
    pub(crate) fn compile_watched(
        &self,
        module: &Module,
        target: &Target,
        stage: &str,
        passes: PassContext,
    ) -> Result<Compilation, CliError> {
        let mut options = self.options(target, passes);
        if !self.dump.is_empty() {
            options.dump = Some((self.dump_dir.clone(), self.dump.clone()));
        }
        if self.verify {
            options.verify = Verify::Yes;
        }
        options.watch = Some(Arc::new(Progress::new("compile")));
        let mut compilation = compile_until(module, &options, stage)?;
        // What is left of it would go on to move.
        compilation.options.watch = None;
        options.watch = None;
        self.timing.borrow_mut().extend(&compilation.timing);
        Ok(compilation)
    }

    /// Does something, and adds its time to a stage.
    pub(super) fn time<T>(&self, stage: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add_time(stage, start.elapsed(), &Timing::default());
        result
    }

    /// Adds the time of a stage, less that of making native code meanwhile, which has stages of its own.
    pub(super) fn add_time(&self, stage: &str, elapsed: Duration, native: &Timing) {
        let mut timing = self.timing.borrow_mut();
        timing.extend(native);
        timing.add(stage, elapsed.saturating_sub(native.total()));
    }

    /// Prints the times of all stages, if that was asked for.
    pub(super) fn print_times(&self) {
        let timing = self.timing.borrow();
        if self.time && timing.stages().next().is_some() {
            to_stderr(&timing.to_string());
        }
    }

    /// How to compile for a target, with passes under this context.
    pub(crate) fn options(&self, target: &Target, passes: PassContext) -> CompileOptions {
        let mut options = CompileOptions::new(target.clone());
        options.passes = passes;
        options.passes.disabled.extend(self.without.iter().cloned());
        options
    }

    fn from(var: impl Fn(&str) -> Option<String>) -> Result<Self, CliError> {
        let on = |name: &'static str| match var(name).as_deref() {
            None | Some("" | "0") => Ok(false),
            Some("1") => Ok(true),
            Some(value) => Err(CliError::Variable {
                name,
                value: value.to_owned(),
                expected: "0 or 1".to_owned(),
            }),
        };
        let kinds = var("WEFTILE_DUMP").unwrap_or_default();
        let dump = kinds
            .split(',')
            .map(str::trim)
            .filter(|kind| !kind.is_empty())
            .map(|kind| {
                kind.parse().map_err(|_| CliError::Variable {
                    name: "WEFTILE_DUMP",
                    value: kind.to_owned(),
                    expected: DumpKind::ALL.map(DumpKind::name).join(", "),
                })
            })
            .collect::<Result<_, _>>()?;
        let log = log_filter(var("WEFTILE_LOG"))?;
        check_backends(var("WGPU_BACKEND"))?;
        Ok(Self {
            log,
            cpu: backend(var("WEFTILE_CPU"))?,
            without: without(&var("WEFTILE_WITHOUT").unwrap_or_default())?,
            dump,
            dump_dir: var("WEFTILE_DUMP_DIR").map_or_else(|| DUMP_DIR.into(), PathBuf::from),
            time: on("WEFTILE_TIME")?,
            timing: RefCell::default(),
            verify: on("WEFTILE_VERIFY")?,
            pipelines: pipelines(var("WEFTILE_PIPELINE_CACHE")),
        })
    }
}

/// Passes that do not run.
fn without(names: &str) -> Result<Vec<String>, CliError> {
    let names = names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let pass = |name: &str| {
        match passes::pass(name) {
        Ok(pass) => Ok(pass.name().to_owned()),
        Err(_) => Err(CliError::Variable {
            name: "WEFTILE_WITHOUT",
            value: name.to_owned(),
            expected: "a pass, as winograd_conv2d; WEFTILE_TIME=1 lists those that ran before the stages verify, schedule, lower"
                .to_owned(),
        }),
    }
    };
    names.map(pass).collect()
}

/// A back end that this machine can run.
fn backend(value: Option<String>) -> Result<Option<Backend>, CliError> {
    let Some(value) = value.filter(|value| !value.trim().is_empty()) else {
        return Ok(None);
    };
    match value.trim().parse::<Backend>() {
        Ok(backend) if backend.is_here() => Ok(Some(backend)),
        _ => {
            let here = Backend::ALL.into_iter().filter(|b| b.is_here());
            Err(CliError::Variable {
                name: "WEFTILE_CPU",
                value,
                expected: here.map(Backend::name).collect::<Vec<_>>().join(", "),
            })
        }
    }
}

/// 0 is nowhere, nothing said is the cache folder of the user, and so is 1; all else is a folder.
fn pipelines(value: Option<String>) -> PipelineCache {
    match value.as_deref() {
        None | Some("" | "1") => PipelineCache::of_user(),
        Some("0") => PipelineCache::Off,
        Some(folder) => PipelineCache::Folder(folder.into()),
    }
}

/// A level, or levels of parts of the program (`weftile::vm=debug,info`); errors only if nothing is said.
fn log_filter(value: Option<String>) -> Result<String, CliError> {
    let value = value.filter(|value| !value.trim().is_empty());
    let value = value.unwrap_or_else(|| "error".to_owned());
    let is_level = |level: &str| LEVELS.contains(&level.trim().to_ascii_lowercase().as_str());
    for part in value.split(',') {
        let level = part.split_once('=').map_or(part, |(_, level)| level);
        if !is_level(level) {
            return Err(CliError::Variable {
                name: "WEFTILE_LOG",
                value: part.to_owned(),
                expected: LEVELS.join(", "),
            });
        }
    }
    Ok(value)
}

/// `WGPU_BACKEND` is read where adapters are listed, and what is no API is passed over there.
fn check_backends(value: Option<String>) -> Result<(), CliError> {
    let value = value.unwrap_or_default();
    let parts = value.split(',').map(str::trim);
    let known = |part: &str| BACKENDS.contains(&part.to_ascii_lowercase().as_str());
    match parts
        .into_iter()
        .find(|part| !part.is_empty() && !known(part))
    {
        None => Ok(()),
        Some(part) => Err(CliError::Variable {
            name: "WGPU_BACKEND",
            value: part.to_owned(),
            expected: BACKENDS.join(", "),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Result<Environment, String> {
        let find = |name: &str| {
            let found = vars.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Environment::from(find).map_err(|error| error.to_string())
    }

    #[test]
    fn variables_are_read() {
        let none = read(&[]).expect("nothing is fine");
        assert!(none.dump.is_empty() && !none.time && !none.verify);
        let all = read(&[
            ("WEFTILE_DUMP", "graph, wgsl"),
            ("WEFTILE_DUMP_DIR", "d"),
            ("WEFTILE_TIME", "1"),
            ("WEFTILE_VERIFY", "0"),
            ("WEFTILE_CPU", "cranelift"),
            ("WEFTILE_WITHOUT", "winograd_conv2d, FoldConstant"),
            ("WEFTILE_PIPELINE_CACHE", "p"),
        ]);
        let expected = Environment {
            dump: vec![DumpKind::Graph, DumpKind::Wgsl],
            dump_dir: "d".into(),
            time: true,
            timing: RefCell::default(),
            verify: false,
            without: vec!["winograd_conv2d".to_owned(), "fold_constant".to_owned()],
            cpu: Some(Backend::Cranelift),
            pipelines: PipelineCache::Folder("p".into()),
            log: "error".to_owned(),
        };
        assert_eq!(all, Ok(expected));
        let pipelines = |value| {
            let read = read(&[("WEFTILE_PIPELINE_CACHE", value)]).expect("a folder or 0");
            read.pipelines
        };
        assert_eq!(none.pipelines, PipelineCache::of_user());
        assert_eq!(pipelines(""), PipelineCache::of_user());
        assert_eq!(pipelines("1"), PipelineCache::of_user());
        assert_eq!(pipelines("0"), PipelineCache::Off);
    }

    #[test]
    fn wrong_values_are_named() {
        assert_eq!(
            read(&[("WEFTILE_TIME", "yes")]),
            Err("WEFTILE_TIME is `yes`, expected 0 or 1".to_owned())
        );
        assert_eq!(
            read(&[("WEFTILE_LOG", "banana")]),
            Err(
                "WEFTILE_LOG is `banana`, expected off, error, warn, info, debug, trace".to_owned()
            )
        );
        let error = read(&[("WEFTILE_CPU", "z80")]).expect_err("no such code");
        assert!(
            error.starts_with("WEFTILE_CPU is `z80`, expected cranelift"),
            "{error}"
        );
        let error = read(&[("WEFTILE_WITHOUT", "winograd")]).expect_err("no such pass");
        assert!(
            error.starts_with("WEFTILE_WITHOUT is `winograd`, expected a pass, as winograd_conv2d"),
            "{error}"
        );
        let log = |value| read(&[("WEFTILE_LOG", value)]).map(|read| read.log);
        assert_eq!(
            log("weftile=debug,Info"),
            Ok("weftile=debug,Info".to_owned())
        );
        assert!(log("weftile=loud").is_err());
        assert_eq!(
            read(&[("WGPU_BACKEND", "foo")]),
            Err("WGPU_BACKEND is `foo`, expected vulkan, metal, dx12".to_owned())
        );
        assert!(read(&[("WGPU_BACKEND", "vulkan, DX12")]).is_ok());
        assert!(read(&[("WGPU_BACKEND", "")]).is_ok());
        let error = read(&[("WEFTILE_DUMP", "ptx")]).expect_err("no such kind");
        assert!(
            error.starts_with("WEFTILE_DUMP is `ptx`, expected graph, "),
            "{error}"
        );
    }
}
