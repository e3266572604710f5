//! `weftile devices`: what programs can run on here.

use serde::Serialize;

use super::args::{DeviceArgs, DevicesArgs};
use super::device::{Chosen, open_among};
use super::environment::Environment;
use super::error::CliError;
use super::terminal::Terminal;
use crate::codegen_cpu::{Backend, this_cpu};
use crate::kernel::CpuTarget;
use crate::runtime_gpu::{Adapter, AdapterInfo, PipelineCache, adapters};

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    cpu: Cpu,
    gpus: Vec<AdapterInfo>,
    /// What `--device auto` takes.
    chosen: String,
    reason: String,
    /// Where those GPUs keep compiled pipelines that can; nowhere if none are to be kept.
    pipeline_cache: Option<String>,
}

#[derive(Serialize)]
struct Cpu {
    #[serde(flatten)]
    target: CpuTarget,
    /// What makes its code, as `WEFTILE_CPU` names it.
    code: &'static str,
}

pub(super) fn run(
    args: &DevicesArgs,
    environment: &Environment,
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    let found = adapters();
    let cache = &environment.pipelines;
    let chosen = open_among(&found, &automatic(), cache)?;
    if args.json {
        terminal.json(&Report {
            cpu: Cpu {
                target: this_cpu(),
                code: Backend::default().name(),
            },
            gpus: found.iter().map(|a| a.info().clone()).collect(),
            chosen: chosen.name,
            reason: chosen.reason,
            pipeline_cache: match cache {
                PipelineCache::Folder(folder) => Some(folder.display().to_string()),
                PipelineCache::Off => None,
            },
        })?;
        return Ok(());
    }
    print(terminal, &found, &chosen, cache)
}

/// What `--device auto` means.
fn automatic() -> DeviceArgs {
    DeviceArgs {
        device: "auto".to_owned(),
        allow_software: false,
    }
}

/// The devices as a table, and which one is used.
pub(super) fn print(
    terminal: &mut Terminal,
    adapters: &[Adapter],
    chosen: &Chosen,
    cache: &PipelineCache,
) -> Result<(), CliError> {
    let cpu = this_cpu();
    let fma = if cpu.fma { ", fused multiply-add" } else { "" };
    let mut rows = vec![vec![
        "cpu".to_owned(),
        "native code".to_owned(),
        format!(
            "{} threads, {} lanes of float32{fma}, code by {}",
            cpu.threads,
            cpu.f32_lanes,
            Backend::default().name()
        ),
    ]];
    for info in adapters.iter().map(Adapter::info) {
        rows.push(vec![
            info.name.clone(),
            format!("{}, {}", info.kind, info.backend),
            info.driver.clone(),
        ]);
    }
    terminal.table(&["device", "kind", "details"], &rows)?;
    for info in adapters.iter().map(Adapter::info) {
        let products: Vec<String> = info.fragments.iter().map(ToString::to_string).collect();
        if !products.is_empty() {
            let products = products.join(", ");
            terminal.line(format!("{} multiplies tiles of {products}", info.name))?;
        }
    }
    terminal.line("")?;
    terminal.line(format!(
        "using {}: {}",
        terminal.bold(&chosen.name),
        chosen.reason
    ))?;
    let mut able = adapters.iter().map(Adapter::info);
    if able.any(|info| info.pipeline_cache) {
        terminal.line(match cache {
            PipelineCache::Folder(folder) => {
                format!("compiled pipelines are kept in {}", folder.display())
            }
            PipelineCache::Off => "compiled pipelines are not kept".to_owned(),
        })?;
    }
    Ok(())
}
