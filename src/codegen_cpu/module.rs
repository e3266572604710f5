//! Native modules: the code of some kernels in memory.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cranelift_codegen::ir::{Function, UserFuncName};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use memmap2::Mmap;

use super::emit;
use super::isa::host_isa;
use super::{Backend, CodegenError, Verify, helpers};
use crate::codegen_common::KernelArgs;
use crate::codegen_common::expand::expand;
use crate::codegen_common::host::{parallel_loop, segments};
use crate::codegen_x86::{self, Refusal};
use crate::kernel::{ArrayId, Expr, HostExpr, Kernel, Stmt, VarId};
use crate::support::Id;
use crate::support::timing::Timing;

/// A kernel in machine code: iterations `begin .. end` of its parallel loop, or all of it (see [`Segment::parallel`]). On x86-64 it has
/// the System V calling convention, on Windows too: there, that of C saves other registers.
#[cfg(target_arch = "x86_64")]
pub type NativeFn = unsafe extern "sysv64" fn(args: *const KernelArgs, begin: i64, end: i64);
/// A kernel in machine code: iterations `begin .. end` of its parallel loop, or all of it (see [`Segment::parallel`]).
#[cfg(not(target_arch = "x86_64"))]
pub type NativeFn = unsafe extern "C" fn(args: *const KernelArgs, begin: i64, end: i64);

/// How to compile.
#[derive(Clone, Copy, Default, Debug)]
pub struct CompileOptions {
    /// Whether Cranelift checks what it is given.
    pub verify: Verify,
    /// What makes the code; Cranelift makes that of the pieces that the other one refuses.
    pub backend: Backend,
}

/// A piece of a kernel with a function of its own. The pieces of a kernel run in order, each after the one before is done.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Its code, valid as long as the module.
    pub entry: NativeFn,
    /// Number of iterations that may run on different threads, in terms of the dims; `None` if it is one piece of work.
    pub parallel: Option<HostExpr>,
    /// What made its code.
    pub backend: Backend,
    /// Why it was not the one that was asked for.
    pub refusal: Option<Refusal>,
}

/// The code of one kernel.
#[derive(Clone, Debug)]
pub struct NativeKernel {
    /// Name of the kernel.
    pub name: String,
    /// What runs, in order.
    pub segments: Vec<Segment>,
    /// Bytes of machine code. Kernels that differ in names alone share it.
    pub code_bytes: usize,
}

/// Machine code of kernels. Its memory is freed when it is dropped, so no entry may run then.
pub struct NativeModule {
    kernels: Vec<NativeKernel>,
    timing: Timing,
    /// Only for its memory, when the module is dropped.
    code: Mutex<Option<JITModule>>,
    /// The same.
    _full_width: Option<Mmap>,
}

impl NativeModule {
    /// The kernels, in the order in which they were given.
    pub fn kernels(&self) -> &[NativeKernel] {
        &self.kernels
    }

    /// How long its stages took.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }
}

impl std::fmt::Debug for NativeModule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeModule")
            .field("kernels", &self.kernels)
            .finish_non_exhaustive()
    }
}

impl Drop for NativeModule {
    fn drop(&mut self) {
        let code = self.code.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = code.take() {
            // SAFETY: calling an entry requires the module to be alive, by the contract of `NativeFn`'s users.
            unsafe { code.free_memory() };
        }
    }
}

/// Compiles kernels to machine code.
///
/// # Errors
/// If a kernel is not for the CPU or not well formed, or there is no memory.
pub fn compile(kernels: &[&Kernel], options: CompileOptions) -> Result<NativeModule, CodegenError> {
    let mut compiler = Compiler {
        options,
        cranelift: None,
        full_width: vec![],
        timing: Timing::default(),
    };
    let compiled = compiler.define(kernels);
    // From here on the memory is freed whatever happens.
    let mut native = NativeModule {
        kernels: vec![],
        timing: compiler.timing,
        code: Mutex::new(compiler.cranelift.map(|cranelift| cranelift.module)),
        _full_width: None,
    };
    let defined = compiled?;
    let full_width = executable(&compiler.full_width)?;
    let code = native
        .code
        .get_mut()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(code) = code {
        code.finalize_definitions()
            .map_err(|e| CodegenError::Memory(Box::new(e)))?;
    }
    let entry = |at: &Place| match (at, &code, &full_width) {
        (Place::Cranelift(id), Some(code), _) => code.get_finalized_function(*id),
        (Place::FullWidth(offset), _, Some(code)) => code[*offset..].as_ptr(),
        _ => unreachable!("there is memory for what has code"),
    };
    let kernels = kernels.iter().zip(defined).map(|(kernel, pieces)| {
        let code_bytes = pieces.iter().map(|piece| piece.code_bytes).sum();
        let segments = pieces.into_iter().map(|piece| Segment {
            // SAFETY: both back ends give functions the signature of `NativeFn` (`emit::signature`, `codegen_x86::generate`).
            entry: unsafe { std::mem::transmute::<*const u8, NativeFn>(entry(&piece.place)) },
            parallel: piece.parallel,
            backend: piece.backend,
            refusal: piece.refusal,
        });
        NativeKernel {
            name: kernel.name.clone(),
            segments: segments.collect(),
            code_bytes,
        }
    });
    native.kernels = kernels.collect();
    native._full_width = full_width;
    Ok(native)
}

/// Memory with this code that can run and not be written; `None` for no code.
fn executable(code: &[u8]) -> Result<Option<Mmap>, CodegenError> {
    if code.is_empty() {
        return Ok(None);
    }
    let mut memory = memmap2::MmapMut::map_anon(code.len()).map_err(CodegenError::Map)?;
    memory.copy_from_slice(code);
    memory.make_exec().map(Some).map_err(CodegenError::Map)
}

/// A compiled function that is not in executable memory yet.
#[derive(Clone)]
struct Piece {
    place: Place,
    backend: Backend,
    refusal: Option<Refusal>,
    parallel: Option<HostExpr>,
    code_bytes: usize,
}

#[derive(Clone, Copy)]
enum Place {
    Cranelift(FuncId),
    /// Offset in the code of `codegen_x86`.
    FullWidth(usize),
}

/// Code that is being made.
struct Compiler {
    options: CompileOptions,
    /// Made when the first piece needs it.
    cranelift: Option<Cranelift>,
    full_width: Vec<u8>,
    timing: Timing,
}

struct Cranelift {
    module: JITModule,
    context: FunctionBuilderContext,
}

/// The stage that all back ends have.
const EXPAND: &str = "native: expand";

/// What a function of `codegen_x86` starts at a multiple of.
const ALIGN: usize = 64;

impl Compiler {
    /// Compiles the pieces of each kernel. Those that differ in names alone have the same pieces.
    fn define(&mut self, kernels: &[&Kernel]) -> Result<Vec<Vec<Piece>>, CodegenError> {
        let mut out: Vec<Vec<Piece>> = Vec::new();
        let mut first = HashMap::new();
        for (i, kernel) in kernels.iter().enumerate() {
            check_names(kernel)?;
            let first = *first.entry(without_names(kernel)).or_insert(i);
            if first != i {
                out.push(out[first].clone());
                continue;
            }
            let mut pieces = Vec::new();
            for (j, segment) in segments(kernel).iter().enumerate() {
                // Kernels of different functions may share a name.
                let name = format!("{i}.{j}.{}", kernel.name);
                pieces.push(self.define_piece(&name, segment)?);
            }
            out.push(pieces);
        }
        Ok(out)
    }

    fn define_piece(&mut self, name: &str, kernel: &Kernel) -> Result<Piece, CodegenError> {
        let parallel = parallel_loop(kernel).map(|(_, extent)| extent);
        let mut refusal = None;
        if let Backend::FullWidth(isa) = self.options.backend {
            let timing = &mut self.timing;
            let expanded = timing.time(EXPAND, || expand(kernel, isa.vector_bytes()));
            match codegen_x86::generate(&expanded, isa, timing) {
                Ok(code) => {
                    let offset = self.full_width.len().next_multiple_of(ALIGN);
                    self.full_width.resize(offset, 0xcc);
                    self.full_width.extend(&code.bytes);
                    return Ok(Piece {
                        place: Place::FullWidth(offset),
                        backend: self.options.backend,
                        refusal: None,
                        parallel,
                        code_bytes: code.bytes.len(),
                    });
                }
                Err(reason) => refusal = Some(reason),
            }
        }
        let width = Backend::Cranelift.vector_bytes();
        let expanded = self.timing.time(EXPAND, || expand(kernel, width));
        let start = Instant::now();
        let (id, code_bytes) = self.cranelift()?.define(name, &expanded)?;
        self.timing.add("native: cranelift", start.elapsed());
        Ok(Piece {
            place: Place::Cranelift(id),
            backend: Backend::Cranelift,
            refusal,
            parallel,
            code_bytes,
        })
    }

    fn cranelift(&mut self) -> Result<&mut Cranelift, CodegenError> {
        if self.cranelift.is_none() {
            self.cranelift = Some(Cranelift::new(self.options.verify)?);
        }
        Ok(self.cranelift.as_mut().expect("it was just made"))
    }
}

impl Cranelift {
    /// An empty module, which declares the helpers.
    fn new(verify: Verify) -> Result<Self, CodegenError> {
        let isa = host_isa(verify)?;
        let symbols = helpers::symbols(&*isa);
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        builder.symbols(symbols.iter().map(|s| (s.name.clone(), s.address)));
        let mut module = JITModule::new(builder);
        for (i, symbol) in symbols.iter().enumerate() {
            let id = module
                .declare_function(&symbol.name, Linkage::Import, &symbol.signature)
                .map_err(|e| CodegenError::Memory(Box::new(e)))?;
            assert_eq!(id.as_u32() as usize, i, "helpers are numbered by position");
        }
        Ok(Self {
            module,
            context: FunctionBuilderContext::new(),
        })
    }

    fn define(&mut self, name: &str, kernel: &Kernel) -> Result<(FuncId, usize), CodegenError> {
        let failed = |source| CodegenError::Compile {
            kernel: kernel.name.clone(),
            source: Box::new(source),
        };
        let module = &mut self.module;
        let signature = emit::signature(module.isa());
        let id = module
            .declare_function(name, Linkage::Local, &signature)
            .map_err(failed)?;
        let mut ctx = module.make_context();
        ctx.func.name = UserFuncName::user(0, id.as_u32());
        emit::emit(kernel, module.isa(), &mut ctx.func, &mut self.context)?;
        module.define_function(id, &mut ctx).map_err(failed)?;
        let code = ctx.compiled_code();
        Ok((id, code.map_or(0, |code| code.code_buffer().len())))
    }
}

/// The kernel without its names, as bytes: the same for kernels whose code is the same.
fn without_names(kernel: &Kernel) -> Vec<u8> {
    let mut bare = kernel.clone();
    bare.name.clear();
    bare.comment.clear();
    for at in 0..bare.arrays.bound() {
        let array = bare.arrays.get_mut(ArrayId::from_index(at));
        array.into_iter().for_each(|array| array.name.clear());
    }
    for at in 0..bare.vars.bound() {
        let var = bare.vars.get_mut(VarId::from_index(at));
        var.into_iter().for_each(|var| var.name.clear());
    }
    postcard::to_stdvec(&bare).expect("memory takes all bytes")
}

/// Every variable and array that a kernel names is one of its own: after that their types can be asked for.
fn check_names(kernel: &Kernel) -> Result<(), CodegenError> {
    let mut vars: Vec<VarId> = kernel.scalars.iter().map(|(var, _)| *var).collect();
    let mut arrays = vec![];
    for stmt in &kernel.body {
        stmt.walk(&mut |stmt| match stmt {
            Stmt::Let(var, _) | Stmt::For { var, .. } => vars.push(*var),
            Stmt::Store { array, .. } => arrays.push(*array),
            Stmt::If { .. } | Stmt::While { .. } | Stmt::Barrier | Stmt::Fragment(_) => {}
        });
        stmt.walk_exprs(&mut |e| match e {
            Expr::Var(var) => vars.push(*var),
            Expr::Load { array, .. } => arrays.push(*array),
            _ => {}
        });
    }
    if let Some(&var) = vars.iter().find(|var| kernel.vars.get(**var).is_none()) {
        let kernel = kernel.name.clone();
        return Err(CodegenError::Unbound { kernel, var });
    }
    match arrays
        .iter()
        .find(|array| kernel.arrays.get(**array).is_none())
    {
        Some(&array) => Err(CodegenError::UnknownArray {
            kernel: kernel.name.clone(),
            array,
        }),
        None => Ok(()),
    }
}

/// The Cranelift functions of a kernel as text, before Cranelift optimises it.
///
/// # Errors
/// As [`compile`].
pub fn clif_text(kernel: &Kernel) -> Result<String, CodegenError> {
    let isa = host_isa(Verify::No)?;
    let isa: &dyn TargetIsa = &*isa;
    check_names(kernel)?;
    let mut text = format!("; {}: {}\n", kernel.name, kernel.comment);
    for segment in segments(kernel) {
        let mut func = Function::new();
        let mut context = FunctionBuilderContext::new();
        let expanded = expand(&segment, Backend::Cranelift.vector_bytes());
        emit::emit(&expanded, isa, &mut func, &mut context)?;
        text.push_str(&func.display().to_string());
    }
    Ok(text)
}

/// The machine code of a kernel as text, piece by piece: what `backend` makes, and why it is not full-width code where it is not.
/// Of a piece whose accesses are checked it is the code for launches that need no checks.
///
/// # Errors
/// If the kernel names what it does not declare.
pub fn asm_text(kernel: &Kernel, backend: Backend) -> Result<String, CodegenError> {
    check_names(kernel)?;
    let mut text = format!("; {}: {}\n", kernel.name, kernel.comment);
    for segment in segments(kernel) {
        let Backend::FullWidth(isa) = backend else {
            text.push_str("; by cranelift\n");
            continue;
        };
        // A launch whose sizes show that all accesses are in bounds runs this code.
        let is_checked = !segment.in_bounds;
        let mut segment = segment;
        segment.in_bounds = true;
        let expanded = expand(&segment, isa.vector_bytes());
        match codegen_x86::generate(&expanded, isa, &mut Timing::default()) {
            Ok(code) => {
                let name = backend.name();
                text.push_str(&match is_checked {
                    false => format!("; by {name}\n"),
                    true => format!(
                        "; by cranelift: accesses that are checked, unless the sizes of a launch show that all are in bounds: then by {name}\n"
                    ),
                });
                text.push_str(&codegen_x86::disassemble(&code));
            }
            Err(refusal) => text.push_str(&format!("; by cranelift: {refusal}\n")),
        }
    }
    Ok(text)
}
