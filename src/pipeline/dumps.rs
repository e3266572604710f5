//! What is written of each stage where dumps are asked for.

use super::Compilation;
use crate::ir::PrimFunc;
#[cfg(feature = "cpu")]
use crate::kernel::Target;
use crate::lower::{self, Launches};
use crate::support::dump::{DumpKind, Dumper};
use crate::{passes, script};

pub(super) fn module(c: &Compilation, dumper: &mut Dumper, stage: &str) -> std::io::Result<()> {
    if dumper.wants(DumpKind::Graph) {
        dumper.dump(DumpKind::Graph, stage, "module", &script::print(&c.module))?;
    }
    prims(dumper, stage, c.module.prim_funcs())
}

fn prims<'a>(
    dumper: &mut Dumper,
    stage: &str,
    funcs: impl Iterator<Item = (&'a str, &'a PrimFunc)>,
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

pub(super) fn schedules(c: &Compilation, dumper: &mut Dumper, stage: &str) -> std::io::Result<()> {
    prims(
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

pub(super) fn kernels(c: &Compilation, dumper: &mut Dumper, stage: &str) -> std::io::Result<()> {
    if dumper.wants(DumpKind::Lower) {
        for (name, scheduled) in &c.scheduled {
            lowering(c, dumper, name, scheduled.schedule.func())?;
        }
    }
    if dumper.wants(DumpKind::Kernel) {
        for (name, func) in &c.lowered {
            dumper.dump(DumpKind::Kernel, stage, name, &func.to_string())?;
        }
    }
    Ok(())
}

/// What each pass of lowering makes of a function that is scheduled. It was lowered to be chosen, so it is lowered again to be seen.
fn lowering(
    c: &Compilation,
    dumper: &mut Dumper,
    name: &str,
    func: &PrimFunc,
) -> std::io::Result<()> {
    let host = super::host();
    let target = match c.module.prim_func(name).is_some_and(passes::is_of_host) {
        true => &host,
        false => &c.options.target,
    };
    let mut dumped = Ok(());
    // A refusal is reported where the function was lowered first.
    let _ = lower::lower_seen(func, target, Launches::Many, &mut |pass, made| {
        if dumped.is_ok() {
            dumped = dumper.dump(DumpKind::Lower, pass, name, &made.to_string());
        }
    });
    dumped
}

/// Shaders, or the native code that they are the counterpart of.
pub(super) fn code(c: &Compilation, dumper: &mut Dumper, stage: &str) -> std::io::Result<()> {
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

pub(super) fn bytecode(c: &Compilation, dumper: &mut Dumper, stage: &str) -> std::io::Result<()> {
    match &c.executable {
        Some(executable) => dumper.dump(DumpKind::Bytecode, stage, "module", &executable.as_text()),
        None => Ok(()),
    }
}
