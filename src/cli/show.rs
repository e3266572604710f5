//! `weftile show`: what a module becomes on the way to code.

use std::path::Path;

use super::args::{ShowArgs, Stage, TargetKind};
use super::device::{self, this_cpu};
use super::environment::Environment;
use super::error::CliError;
use super::program::read_module;
use super::terminal::Terminal;
use crate::artifact::Executable;
use crate::codegen_cpu::clif_text;
use crate::codegen_wgsl;
use crate::ir::Module;
use crate::kernel::{GpuTarget, Kernel, Target};
use crate::sched::rules;
use crate::script::{self, PrintOptions};
use crate::support::files::write_whole;

/// One thing to show: its name with an extension, and its content.
struct Page {
    name: String,
    content: Content,
}

enum Content {
    Text(String),
    /// SPIR-V.
    Words(Vec<u32>),
}

pub(super) fn run(
    args: &ShowArgs,
    environment: &Environment,
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    let module = read_module(&args.module)?;
    let pages = pages(args, &module, environment)?;
    match &args.output {
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|source| CliError::Folder {
                path: folder.clone(),
                source,
            })?;
            for page in &pages {
                write(folder, page, terminal)?;
            }
        }
        None => print(&pages, terminal)?,
    }
    Ok(())
}

fn pages(
    args: &ShowArgs,
    module: &Module,
    environment: &Environment,
) -> Result<Vec<Page>, CliError> {
    let target = || target(args);
    let pages = match args.stage {
        Stage::Script => {
            let options = PrintOptions {
                show_meta: args.show_meta,
            };
            let text = script::print_with(module, &options);
            vec![text_page("module", "py", text)]
        }
        Stage::Scheduled | Stage::Trace => scheduled(args.stage, module, &target()?),
        Stage::Kernel | Stage::Wgsl | Stage::Spirv | Stage::Clif | Stage::Bytecode => {
            let executable = environment.compile(module, &target()?)?;
            match args.stage {
                Stage::Bytecode => bytecode(&executable),
                Stage::Clif => clif(&executable)?,
                stage => kernels(stage, &executable)?,
            }
        }
    };
    if pages.is_empty() {
        return Err(CliError::NothingToShow { stage: args.stage });
    }
    Ok(pages)
}

/// What to compile for: a device, or what every device of the kind has.
fn target(args: &ShowArgs) -> Result<Target, CliError> {
    if let Some(device) = &args.device {
        let args = super::args::DeviceArgs {
            device: device.clone(),
            allow_software: true,
        };
        return Ok(device::open(&args)?.target);
    }
    let kind = match (args.target, args.stage) {
        (Some(TargetKind::Cpu), Stage::Wgsl | Stage::Spirv) => {
            return Err(CliError::StageNeeds {
                stage: args.stage,
                target: "gpu",
            });
        }
        (Some(TargetKind::Gpu), Stage::Clif) => {
            return Err(CliError::StageNeeds {
                stage: args.stage,
                target: "cpu",
            });
        }
        (Some(kind), _) => kind,
        (None, Stage::Clif) => TargetKind::Cpu,
        (None, _) => TargetKind::Gpu,
    };
    Ok(match kind {
        TargetKind::Gpu => Target::Gpu(GpuTarget::default()),
        TargetKind::Cpu => Target::Cpu(this_cpu()),
    })
}

fn text_page(name: &str, extension: &str, text: String) -> Page {
    Page {
        name: format!("{name}.{extension}"),
        content: Content::Text(text),
    }
}

/// Each loop program as the default rules schedule it.
fn scheduled(stage: Stage, module: &Module, target: &Target) -> Vec<Page> {
    let mut pages = Vec::new();
    for (name, func) in module.prim_funcs() {
        let scheduled = rules::schedule(func, target);
        let heading = format!("# {name}: rules {}\n", scheduled.rules.join(", "));
        let text = match stage {
            Stage::Trace => scheduled.schedule.trace().to_string(),
            _ => script::print_prim_func(scheduled.schedule.func()).text,
        };
        pages.push(text_page(name, "py", heading + &text));
    }
    pages
}

fn bytecode(executable: &Executable) -> Vec<Page> {
    let text = format!("{}\n{}", executable.stats(), executable.as_text());
    vec![text_page("module", "txt", text)]
}

/// The kernels as kernel IR, or as shaders.
fn kernels(stage: Stage, executable: &Executable) -> Result<Vec<Page>, CliError> {
    let mut pages = Vec::new();
    for func in &executable.kernels {
        if stage == Stage::Kernel {
            pages.push(text_page(&func.func.name, "txt", func.func.to_string()));
            continue;
        }
        for (kernel, wgsl) in func.func.kernels.iter().zip(&func.wgsl) {
            pages.push(match stage {
                Stage::Wgsl => text_page(&kernel.name, "wgsl", wgsl.text.clone()),
                _ => spirv_page(kernel, &executable.target)?,
            });
        }
    }
    Ok(pages)
}

/// The native code of each kernel.
fn clif(executable: &Executable) -> Result<Vec<Page>, CliError> {
    let kernels = executable
        .kernels
        .iter()
        .flat_map(|func| &func.func.kernels);
    kernels
        .map(|kernel| Ok(text_page(&kernel.name, "clif", clif_text(kernel)?)))
        .collect()
}

fn spirv_page(kernel: &Kernel, target: &Target) -> Result<Page, CliError> {
    let Target::Gpu(gpu) = target else {
        return Err(CliError::StageNeeds {
            stage: Stage::Spirv,
            target: "gpu",
        });
    };
    let words = codegen_wgsl::spirv(&codegen_wgsl::emit(kernel, gpu)?)?;
    Ok(Page {
        name: format!("{}.spv", kernel.name),
        content: Content::Words(words),
    })
}

fn print(pages: &[Page], terminal: &mut Terminal) -> Result<(), CliError> {
    for (index, page) in pages.iter().enumerate() {
        if index > 0 {
            terminal.line("")?;
        }
        match &page.content {
            Content::Text(text) => terminal.text(text)?,
            Content::Words(words) => {
                terminal.line(format!("; {} (--output DIR writes the file)", page.name))?;
                for line in words.chunks(8) {
                    let line: Vec<String> = line.iter().map(|word| format!("{word:08x}")).collect();
                    terminal.line(line.join(" "))?;
                }
            }
        }
    }
    Ok(())
}

fn write(folder: &Path, page: &Page, terminal: &mut Terminal) -> Result<(), CliError> {
    let path = folder.join(&page.name);
    let written = match &page.content {
        Content::Text(text) => write_whole(&path, text.as_bytes()),
        Content::Words(words) => {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            write_whole(&path, &bytes)
        }
    };
    written.map_err(|source| crate::frontend::SaveError::Write {
        path: path.clone(),
        source,
    })?;
    terminal.line(path.display().to_string())?;
    Ok(())
}
