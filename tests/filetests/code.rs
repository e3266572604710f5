//! `# test: lower`, `# test: clif`, `# test: asm`: what one loop program becomes.

use libtest_mimic::Failed;
use weftile::ir::PrimFunc;
use weftile::kernel::{CpuTarget, GpuClass, GpuTarget, LoweredFunc, Target};
use weftile::sched::rules;
use weftile::{lower, script};

use crate::case::{Case, Expected};

/// The kernel IR, or why there is none, is what is expected; or what is there after the passes that the case names.
pub(crate) fn lower(case: &Case) -> Result<(), Failed> {
    let func = read(case)?;
    let passes = case.run.iter().filter_map(|run| run.strip_prefix("until "));
    let passes: Vec<&str> = passes.flat_map(|names| names.split(", ")).collect();
    let got = match (kernels(case, &func)?, passes.is_empty()) {
        (Ok((_, lowered)), true) => Expected::Listing(crate::case::tidy(&lowered.to_string())),
        (Ok((scheduled, _)), false) => forms(case, &scheduled, &passes)?,
        (Err(message), _) => Expected::Error(crate::case::tidy(&message)),
    };
    case.compare(&got)
}

/// What these passes of lowering make of a function.
fn forms(case: &Case, func: &PrimFunc, passes: &[&str]) -> Result<Expected, Failed> {
    let mut forms: Vec<(&str, String)> = vec![];
    let target = target(&case.target)?;
    lower::lower_seen(func, &target, lower::Launches::Many, &mut |pass, made| {
        forms.push((pass, made.to_string()));
    })
    .map_err(|error| error.render(func))?;
    let mut text = String::new();
    for pass in passes {
        let form = forms.iter().rfind(|(name, _)| name == pass);
        let ran = || {
            forms
                .iter()
                .map(|(name, _)| *name)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let (_, form) = form.ok_or_else(|| format!("no pass `{pass}` ran: {}", ran()))?;
        text += &format!("after {pass}:\n{form}\n");
    }
    Ok(Expected::Listing(crate::case::tidy(&text)))
}

/// The native code of all kernels is what is expected.
#[cfg(feature = "cpu")]
pub(crate) fn clif(case: &Case) -> Result<(), Failed> {
    let (_, lowered) = kernels(case, &read(case)?)??;
    let mut text = String::new();
    for kernel in &lowered.kernels {
        text += &weftile::codegen_cpu::clif_text(kernel)?;
    }
    case.compare(&Expected::Listing(crate::case::tidy(&text)))
}

/// The instructions that are made of the kernels for the vectors that the case names as its target.
#[cfg(feature = "cpu")]
pub(crate) fn asm(case: &Case) -> Result<(), Failed> {
    let backend = case
        .target
        .parse()
        .map_err(|_| format!("`# target: {}` has no code of its own", case.target))?;
    let (_, lowered) = kernels(case, &read(case)?)??;
    let mut text = String::new();
    for kernel in &lowered.kernels {
        text += &weftile::codegen_cpu::asm_text(kernel, backend)?;
    }
    case.compare(&Expected::Listing(crate::case::tidy(&text)))
}

/// The one loop program of the case.
fn read(case: &Case) -> Result<PrimFunc, Failed> {
    let module = script::parse(&case.name, &case.input).map_err(|e| e.to_string())?;
    let mut funcs = module.prim_funcs();
    let (_, func) = funcs.next().ok_or("the case has no loop program")?;
    match funcs.next() {
        Some((other, _)) => Err(format!("the case has a second loop program, `{other}`").into()),
        None => Ok(func.clone()),
    }
}

/// The function lowered for the target that the case names, after the default rules if it says `# run: default rules`, and the
/// function as it is scheduled; or the message of the refusal.
pub(crate) fn kernels(
    case: &Case,
    func: &PrimFunc,
) -> Result<Result<(PrimFunc, LoweredFunc), String>, Failed> {
    let target = target(&case.target)?;
    let lower = |func: &PrimFunc| lower::lower(func, &target);
    let mut runs = case.run.iter().filter(|run| !run.starts_with("until "));
    let lowered = match runs.next().map(String::as_str) {
        None => lower(func).map_err(|error| error.render(func)),
        Some("default rules") => {
            let (scheduled, lowered) = rules::choose(func, &target, lower);
            let scheduled = scheduled.schedule.func();
            let lowered = lowered.map_err(|error| error.render(scheduled));
            return Ok(lowered.map(|lowered| (scheduled.clone(), lowered)));
        }
        Some(other) => {
            let known = "there are `default rules`, and `until` with the name of a pass";
            return Err(format!("unknown `# run: {other}`: {known}").into());
        }
    };
    Ok(lowered.map(|lowered| (func.clone(), lowered)))
}

pub(crate) fn target(name: &str) -> Result<Target, Failed> {
    let gpu = |class| {
        Target::Gpu(GpuTarget {
            class,
            ..GpuTarget::default()
        })
    };
    let cpu = |f32_lanes, vector_registers| {
        Target::Cpu(CpuTarget {
            threads: 2,
            f32_lanes,
            vector_registers,
            fma: true,
            dot_bytes: name == "avx512vnni",
        })
    };
    Ok(match name {
        "cpu" => cpu(4, 16),
        "avx2" => cpu(8, 16),
        "avx512" | "avx512vnni" => cpu(16, 32),
        "gpu" => gpu(GpuClass::Unknown),
        "software" => gpu(GpuClass::Software),
        "lavapipe" => Target::Gpu(GpuTarget::usual(GpuClass::Software)),
        other => {
            return Err(format!(
                "unknown `# target: {other}`: there are cpu, avx2, avx512, avx512vnni, gpu, software and lavapipe"
            )
            .into());
        }
    })
}
