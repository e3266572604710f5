//! How passes are run: what is switched on, who watches, and what a pass knows besides the module.

use std::fmt;
use std::sync::{Arc, Mutex};

use indexmap::IndexSet;

use super::evaluate::Evaluate;
use super::remove_unused_functions::entries;
use super::{Pass, PassError};
use crate::ir::{Attrs, Module};
use crate::kernel::{GpuModel, GpuTarget, Target};
use crate::ops::{Threads, Workgroups};
use crate::sched::rules;
use crate::script;
use crate::support::timing::Timing;

/// Which passes run and who watches them (TVM: `PassContext`).
#[derive(Clone)]
pub struct PassContext {
    /// Passes of a higher level do not run, unless they are required.
    pub opt_level: u8,
    /// Names of passes that run at any level.
    pub required: IndexSet<String>,
    /// Names of passes that do not run.
    pub disabled: IndexSet<String>,
    /// What passes look up by name.
    pub config: Attrs,
    /// Those who watch, in order.
    pub instruments: Vec<Arc<dyn Instrument>>,
}

impl Default for PassContext {
    /// Level 2, nothing required or disabled, nobody watches.
    fn default() -> Self {
        Self {
            opt_level: 2,
            required: IndexSet::new(),
            disabled: IndexSet::new(),
            config: Attrs::new(),
            instruments: vec![],
        }
    }
}

impl fmt::Debug for PassContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PassContext")
            .field("opt_level", &self.opt_level)
            .field("required", &self.required)
            .field("disabled", &self.disabled)
            .field("config", &self.config)
            .field("instruments", &self.instruments.len())
            .finish()
    }
}

/// Somebody who watches passes (TVM: `PassInstrument`).
pub trait Instrument: Send + Sync {
    /// Whether the pass shall run on the module.
    fn wants(&self, _pass: &Pass, _module: &Module) -> bool {
        true
    }

    /// Called before a pass runs.
    fn before(&self, _pass: &Pass, _module: &Module) {}

    /// Called with what the pass made.
    ///
    /// # Errors
    /// If the module shall go no further.
    fn after(&self, _pass: &Pass, _module: &Module) -> Result<(), PassError> {
        Ok(())
    }
}

/// What a pass knows besides the module.
#[derive(Clone, Debug)]
pub struct Cx {
    /// The device that is compiled for.
    pub target: Target,
    /// The functions that others than the module may call. No pass drops them or changes their signatures unasked.
    pub entries: IndexSet<String>,
    /// Which passes run and who watches them.
    pub context: PassContext,
    /// Who computes constants that are large; without it, the interpreter does.
    pub evaluator: Option<Arc<dyn Evaluate>>,
}

/// The workgroups of a device.
fn workgroups(gpu: &GpuTarget) -> Workgroups {
    let model = GpuModel::of_target(gpu);
    let operations = model.fma_per_cycle * model.clock * f64::from(model.cores);
    Workgroups {
        threads: gpu.max_threads.into(),
        shared_bytes: gpu.shared_bytes.into(),
        fast_shared: rules::has_fast_shared(gpu),
        cores: gpu.cores(),
        subgroup: model.subgroup.into(),
        operations_per_byte: (operations / model.memory) as i64,
    }
}

impl Cx {
    /// What is to be known where `module` is compiled.
    pub fn new(module: &Module, target: &Target) -> Self {
        Self {
            target: target.clone(),
            entries: entries(module),
            context: PassContext::default(),
            evaluator: None,
        }
    }

    /// The threads of the device, where they decide by which algorithm an operator is computed.
    pub(super) fn threads(&self) -> Threads {
        match self.target {
            Target::Cpu(_) => Threads::Few,
            Target::Gpu(ref gpu) => Threads::Many(workgroups(gpu)),
        }
    }

    /// The functions of this module that others may call: those that others might call from the start, and public graph
    /// functions that passes have made.
    pub(super) fn entries_of(&self, module: &Module) -> IndexSet<String> {
        let public = module.functions().filter(|(_, f)| !f.private);
        let mut entries = self.entries.clone();
        entries.extend(public.map(|(name, _)| name.to_owned()));
        entries
    }

    /// The same under another context.
    #[must_use]
    pub fn with(mut self, context: PassContext) -> Self {
        self.context = context;
        self
    }

    /// Runs a pass if the context lets it.
    ///
    /// # Errors
    /// Those of the pass and of those who watch.
    pub fn run(&self, pass: &Pass, module: &Module) -> Result<Module, PassError> {
        let PassContext {
            opt_level,
            required,
            disabled,
            config: _,
            instruments,
        } = &self.context;
        let level = pass.opt_level() <= *opt_level || required.contains(pass.name());
        if !level
            || disabled.contains(pass.name())
            || instruments.iter().any(|i| !i.wants(pass, module))
        {
            return Ok(module.clone());
        }
        instruments.iter().for_each(|i| i.before(pass, module));
        let made = pass.apply(module, self)?;
        for instrument in instruments {
            instrument.after(pass, &made)?;
        }
        Ok(made)
    }
}

/// Passes one after the other (TVM: `Sequential`).
///
/// ```
/// use weftile::kernel::{GpuTarget, Target};
/// use weftile::passes::{Cx, Sequential, Verify, pass};
/// # use std::sync::Arc;
///
/// let text = r#"
/// @I.ir_module
/// class Module:
///     @R.function
///     def main(x: R.Tensor((4,), "float32")):
///         y = R.nn.relu(x)
///         return y
/// "#;
/// let module = weftile::script::parse("relu.py", text)?;
/// let passes = Sequential::new([pass("legalize_ops")?, pass("dead_code_elimination")?]);
/// let mut cx = Cx::new(&module, &Target::Gpu(GpuTarget::default()));
/// cx.context.instruments.push(Arc::new(Verify));
/// let module = passes.run(&module, &cx)?;
/// assert!(module.prim_func("relu").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sequential(Vec<Pass>);

impl Sequential {
    /// These passes, in this order.
    pub fn new(passes: impl IntoIterator<Item = Pass>) -> Self {
        Self(passes.into_iter().collect())
    }

    /// The module after those of the passes that the context lets run.
    ///
    /// # Errors
    /// Those of the first pass or watcher that fails.
    pub fn run(&self, module: &Module, cx: &Cx) -> Result<Module, PassError> {
        let mut module = module.clone();
        for pass in &self.0 {
            module = cx.run(pass, &module)?;
        }
        Ok(module)
    }
}

/// Checks that what every pass makes is well formed.
#[derive(Clone, Copy, Debug)]
pub struct Verify;

impl Instrument for Verify {
    fn after(&self, pass: &Pass, module: &Module) -> Result<(), PassError> {
        script::well_formed(module).map_err(|error| PassError::IllFormed {
            pass: pass.name().to_owned(),
            error,
        })
    }
}

/// Prints modules before and after passes, those with a name in a list or all.
pub struct Print {
    /// Names of passes; none is all.
    pub passes: IndexSet<String>,
    /// Where the text goes.
    pub sink: Mutex<Box<dyn std::io::Write + Send>>,
}

impl Print {
    fn print(&self, when: &str, pass: &Pass, module: &Module) {
        if !self.passes.is_empty() && !self.passes.contains(pass.name()) {
            return;
        }
        let Ok(mut sink) = self.sink.lock() else {
            return;
        };
        let text = script::print(module);
        if let Err(error) = writeln!(sink, "# {when} {}\n{text}", pass.name()) {
            log::warn!("cannot print the module {when} `{}`: {error}", pass.name());
        }
    }
}

impl Instrument for Print {
    fn before(&self, pass: &Pass, module: &Module) {
        self.print("before", pass, module);
    }

    fn after(&self, pass: &Pass, module: &Module) -> Result<(), PassError> {
        self.print("after", pass, module);
        Ok(())
    }
}

/// Measures how long passes take.
#[derive(Default)]
pub struct PassTiming(Mutex<State>);

#[derive(Default)]
struct State {
    started: Vec<std::time::Instant>,
    timing: Timing,
}

impl PassTiming {
    /// Passes with their times so far.
    pub fn timing(&self) -> Timing {
        let state = self.0.lock();
        state.map_or_else(|_| Timing::default(), |state| state.timing.clone())
    }
}

impl Instrument for PassTiming {
    fn before(&self, _: &Pass, _: &Module) {
        if let Ok(mut state) = self.0.lock() {
            state.started.push(std::time::Instant::now());
        }
    }

    fn after(&self, pass: &Pass, _: &Module) -> Result<(), PassError> {
        if let Ok(mut state) = self.0.lock()
            && let Some(started) = state.started.pop()
        {
            state.timing.add(pass.name(), started.elapsed());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::pass;

    const RELU: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.nn.relu(x)
        return y
"#;

    fn relu() -> (Module, Cx) {
        let module = script::parse("relu.py", RELU).expect("it parses");
        let cx = Cx::new(&module, &Target::Gpu(GpuTarget::default()));
        (module, cx)
    }

    #[test]
    fn levels_and_lists_decide_what_runs() {
        let (module, mut cx) = relu();
        let drop_all = Pass::new("drop_all", 3, |_, _| Ok(Module::default()));
        let functions = |cx: &Cx| cx.run(&drop_all, &module).expect("it runs").funcs.len();
        assert_eq!(functions(&cx), 1, "its level is too high");
        cx.context.required.insert("drop_all".into());
        assert_eq!(functions(&cx), 0);
        cx.context.disabled.insert("drop_all".into());
        assert_eq!(functions(&cx), 1);
    }

    #[test]
    fn watchers_see_each_pass_and_may_end_the_run() {
        struct Seen(Mutex<Vec<String>>);
        impl Instrument for Seen {
            fn wants(&self, pass: &Pass, _: &Module) -> bool {
                pass.name() != "specialize"
            }
            fn before(&self, pass: &Pass, _: &Module) {
                let mut seen = self.0.lock().expect("no panic");
                seen.push(pass.name().to_owned());
            }
        }
        let (module, mut cx) = relu();
        let (seen, timing) = (
            Arc::new(Seen(Mutex::default())),
            Arc::new(PassTiming::default()),
        );
        cx.context.instruments = vec![seen.clone(), timing.clone(), Arc::new(Verify)];
        let broken = Pass::new("broken", 0, |module, _| {
            let mut module = module.clone();
            let func = module.funcs.shift_remove("relu").expect("it was made");
            module.funcs.insert("other".into(), func);
            Ok(module)
        });
        let passes = ["specialize", "legalize_ops"].map(|name| pass(name).expect("there is"));
        let passes = Sequential::new(passes.into_iter().chain([broken]));
        let error = passes.run(&module, &cx).expect_err("`main` calls `relu`");
        assert!(
            error
                .to_string()
                .starts_with("after `broken` the module is not well formed")
        );
        assert_eq!(
            *seen.0.lock().expect("no panic"),
            ["legalize_ops", "broken"]
        );
        assert_eq!(timing.timing().stages().count(), 2);
    }
}
