//! `weftile show`: what a module becomes on the way to code.

use std::collections::HashMap;
use std::path::Path;

use indexmap::IndexSet;
use serde::Serialize;

use super::args::{InputArgs, ShowArgs, Shown, Stage, TargetKind, check_once};
use super::device;
use super::entry::named;
use super::environment::Environment;
use super::error::CliError;
use super::output::{Written, check_output};
use super::program::{bind, read};
use super::terminal::{Terminal, table};
use crate::codegen_cpu::{Backend, asm_text, clif_text, this_cpu};
use crate::codegen_wgsl::spirv;
use crate::ir::Module;
use crate::ir::graph::{Def, Function};
use crate::kernel::{GpuTarget, Target};
use crate::passes::{MemoryUsage, memory_usage};
use crate::pipeline::Compilation;
use crate::runtime_gpu::PipelineCache;
use crate::script::{self, PrintOptions, picture};
use crate::support::files::write_whole;

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    file: String,
    stage: String,
    pages: Vec<Page>,
}

/// One thing to show: its name with an extension, and its content.
#[derive(Serialize)]
struct Page {
    name: String,
    #[serde(flatten)]
    content: Content,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
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
    check_once("--size", &args.sizes)?;
    if let Some(folder) = &args.output {
        check_output(folder, Written::Folder)?;
    }
    let mut module = read(&args.module, &InputArgs::default())?;
    if args.module.params.is_some() {
        let functions: Vec<&str> = module.funcs.keys().map(String::as_str).collect();
        let graphs: Vec<&str> = module.functions().map(|(name, _)| name).collect();
        let func = named(&functions, &graphs, args.module.func.as_deref())?;
        module = bind(module, &func, &args.module)?;
    }
    let pages = pages(args, &module, environment)?;
    if args.json {
        terminal.json(&Report {
            file: args.module.file.display().to_string(),
            stage: args.stage.to_string(),
            pages,
        })?;
        return Ok(());
    }
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
    let until = |stage: &str| environment.compile_until(module, &target(args)?, stage);
    let pages = match args.stage {
        Stage::Script => {
            let options = PrintOptions {
                show_meta: args.show_meta,
            };
            let text = script::print_with(module, &options);
            vec![text_page("module", "py", text)]
        }
        Stage::Graph => graphs(args, module)?,
        Stage::Scheduled | Stage::Trace => scheduled(args.stage, &until("schedule")?),
        Stage::Kernel => kernels(&until("lower")?),
        Stage::Clif | Stage::Asm => native(args.stage, &until("lower")?)?,
        Stage::Wgsl | Stage::Spirv => shaders(args.stage, &until("emit")?)?,
        Stage::Memory => memory(args, &until("kill_after_last_use")?)?,
        Stage::Bytecode => bytecode(&until("bytecode")?),
    };
    if pages.is_empty() {
        return Err(CliError::NothingToShow { stage: args.stage });
    }
    Ok(pages)
}

/// What to compile for: a device, this CPU, or what GPUs have.
fn target(args: &ShowArgs) -> Result<Target, CliError> {
    if let Some(device) = &args.device {
        let args = super::args::DeviceArgs {
            device: device.clone(),
            allow_software: true,
        };
        return Ok(device::open(&args, &PipelineCache::Off)?.target);
    }
    let native = matches!(args.stage, Stage::Clif | Stage::Asm);
    let shader = matches!(args.stage, Stage::Wgsl | Stage::Spirv);
    let needs = |target| CliError::StageNeeds {
        stage: args.stage,
        target,
    };
    let usual = if native {
        TargetKind::Cpu
    } else {
        TargetKind::Gpu
    };
    match args.target.unwrap_or(Shown::Kind(usual)) {
        Shown::Kind(TargetKind::Cpu) if shader => Err(needs("gpu")),
        Shown::Kind(TargetKind::Cpu) => Ok(Target::Cpu(this_cpu())),
        _ if native => Err(needs("cpu")),
        Shown::Kind(TargetKind::Gpu) => Ok(Target::Gpu(GpuTarget::desktop())),
        Shown::Family(family) => Ok(Target::Gpu(family.target())),
    }
}

fn text_page(name: &str, extension: &str, text: String) -> Page {
    Page {
        name: format!("{name}.{extension}"),
        content: Content::Text(text),
    }
}

/// The pictures of the graph functions: on a terminal the Graphviz text alone, for an SVG is not for reading.
fn graphs(args: &ShowArgs, module: &Module) -> Result<Vec<Page>, CliError> {
    let mut pages = vec![];
    for (name, _) in module.functions() {
        let dot = picture::dot(module, name).map(|text| text_page(name, "dot", text));
        pages.extend(dot);
        if args.output.is_some() {
            let svg = picture::svg(module, name)?;
            pages.extend(svg.map(|text| text_page(name, "svg", text)));
        }
    }
    Ok(pages)
}

/// Each loop program as the default rules schedule it.
fn scheduled(stage: Stage, compilation: &Compilation) -> Vec<Page> {
    let mut pages = Vec::new();
    for (name, scheduled) in &compilation.scheduled {
        let mut heading = format!("# {name}: {}\n", scheduled.rules.join(", "));
        for declined in &scheduled.declined {
            heading.extend(
                declined
                    .to_string()
                    .lines()
                    .map(|line| format!("# {line}\n")),
            );
        }
        let text = match stage {
            Stage::Trace => scheduled.schedule.trace().to_string(),
            _ => script::print_prim_func(scheduled.schedule.func()).text,
        };
        pages.push(text_page(name, "py", heading + &text));
    }
    pages
}

fn kernels(compilation: &Compilation) -> Vec<Page> {
    let funcs = compilation.lowered.iter();
    funcs
        .map(|(name, func)| text_page(name, "txt", func.to_string()))
        .collect()
}

/// The name of the page of a kernel: that of the loop program if it has but one, which no kernel of another one can have.
fn kernel_name(func: &str, kernel: &str) -> String {
    if kernel == func {
        func.to_owned()
    } else {
        format!("{func}.{kernel}")
    }
}

/// The native code of each kernel: Cranelift IR, or instructions.
fn native(stage: Stage, compilation: &Compilation) -> Result<Vec<Page>, CliError> {
    let funcs = compilation.lowered.iter();
    let kernels = funcs.flat_map(|(name, func)| func.kernels.iter().map(move |k| (name, k)));
    kernels
        .map(|(func, kernel)| {
            let name = kernel_name(func, &kernel.name);
            Ok(match stage {
                Stage::Asm => text_page(&name, "asm", asm_text(kernel, Backend::default())?),
                _ => text_page(&name, "clif", clif_text(kernel)?),
            })
        })
        .collect()
}

fn shaders(stage: Stage, compilation: &Compilation) -> Result<Vec<Page>, CliError> {
    let funcs = compilation.wgsl.iter();
    let shaders = funcs.flat_map(|(name, shaders)| shaders.iter().map(move |s| (name, s)));
    shaders
        .map(|(func, shader)| {
            let name = kernel_name(func, &shader.entry);
            Ok(match stage {
                Stage::Spirv => Page {
                    name: format!("{name}.spv"),
                    content: Content::Words(spirv(shader)?),
                },
                _ => text_page(&name, "wgsl", shader.text.clone()),
            })
        })
        .collect()
}

/// The memory that each graph function takes, and each function inside of one.
fn memory(args: &ShowArgs, compilation: &Compilation) -> Result<Vec<Page>, CliError> {
    let mut functions = vec![];
    for (name, function) in compilation.module.functions() {
        with_inner(name.to_owned(), function, &mut functions);
    }
    let known = functions
        .iter()
        .flat_map(|(_, function)| function.symbolic_vars());
    let known: IndexSet<String> = known.map(|var| var.name().to_owned()).collect();
    let mut sizes: HashMap<&str, i64> = HashMap::new();
    for (name, size) in &args.sizes {
        if !known.contains(name) {
            let (name, known) = (name.clone(), known.into_iter().collect());
            return Err(CliError::UnknownSize { name, known });
        }
        sizes.insert(name, *size);
    }
    let mut rows = vec![];
    for (name, function) in functions {
        let Some(usage) = memory_usage(function, &sizes) else {
            let vars = function.symbolic_vars().into_iter();
            let open = vars.map(|var| var.name().to_owned());
            let open: Vec<String> = open
                .filter(|var| !sizes.contains_key(var.as_str()))
                .collect();
            return Err(match open.is_empty() {
                true => CliError::Uncountable { func: name },
                false => CliError::OpenSizes {
                    what: name,
                    sizes: open,
                },
            });
        };
        let MemoryUsage {
            tensors,
            storages,
            naive,
            planned,
            live,
        } = usage;
        let counts = [tensors as u64, storages as u64, naive, planned, live];
        let row = [name].into_iter();
        rows.push(row.chain(counts.map(|count| count.to_string())).collect());
    }
    let header = [
        "function",
        "tensors",
        "storages",
        "each its own",
        "planned",
        "at least",
    ];
    let text = table(&header, &rows, u16::MAX);
    Ok(vec![text_page("memory", "txt", text)])
}

/// A function under its name, and those inside of it under theirs behind it.
fn with_inner<'m>(name: String, function: &'m Function, out: &mut Vec<(String, &'m Function)>) {
    out.push((name.clone(), function));
    for (_, value) in function.values.iter() {
        if let Def::Function(inner) = &value.def {
            with_inner(format!("{name}.{}", inner.name), inner, out);
        }
    }
}

fn bytecode(compilation: &Compilation) -> Vec<Page> {
    let executable = compilation.executable.iter();
    executable
        .map(|executable| {
            let text = format!("{}\n{}", executable.stats(), executable.as_text());
            text_page("module", "txt", text)
        })
        .collect()
}

fn print(pages: &[Page], terminal: &mut Terminal) -> Result<(), CliError> {
    for (index, page) in pages.iter().enumerate() {
        if index > 0 {
            terminal.line("")?;
        }
        match &page.content {
            Content::Text(text) if page.name.ends_with(".py") => terminal.program(text)?,
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
