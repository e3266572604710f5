//! Native modules: the code of some kernels in memory.

use std::sync::{Mutex, PoisonError};

use cranelift_codegen::ir::{Function, UserFuncName};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};

use super::emit::{self, KernelArgs};
use super::host::{parallel_loop, segments};
use super::isa::host_isa;
use super::{CodegenError, Verify, helpers, opt};
use crate::kernel::{Expr, HostExpr, Kernel, Stmt, VarId};

/// A kernel in machine code: iterations `begin .. end` of its parallel loop, or all of it (see [`Segment::parallel`]).
pub type NativeFn = unsafe extern "C" fn(args: *const KernelArgs, begin: i64, end: i64);

/// How to compile.
#[derive(Clone, Copy, Default, Debug)]
pub struct CompileOptions {
    /// Whether Cranelift checks what it is given.
    pub verify: Verify,
}

/// A piece of a kernel with a function of its own. The pieces of a kernel run in order, each after the one before is done.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Its code, valid as long as the module.
    pub entry: NativeFn,
    /// Number of iterations that may run on different threads, in terms of the dims; `None` if it is one piece of work.
    pub parallel: Option<HostExpr>,
}

/// The code of one kernel.
#[derive(Clone, Debug)]
pub struct NativeKernel {
    /// Name of the kernel.
    pub name: String,
    /// What runs, in order.
    pub segments: Vec<Segment>,
    /// Bytes of machine code.
    pub code_bytes: usize,
}

/// Machine code of kernels. Its memory is freed when it is dropped, so no entry may run then.
pub struct NativeModule {
    kernels: Vec<NativeKernel>,
    /// Only for its memory, when the module is dropped.
    code: Mutex<Option<JITModule>>,
}

impl NativeModule {
    /// The kernels, in the order in which they were given.
    pub fn kernels(&self) -> &[NativeKernel] {
        &self.kernels
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
    let isa = host_isa(options.verify)?;
    let symbols = helpers::symbols(&*isa);
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    builder.symbols(symbols.iter().map(|s| (s.name.clone(), s.address)));
    let mut module = JITModule::new(builder);
    let compiled = define(&mut module, &symbols, kernels);
    let module = Mutex::new(Some(module));
    // From here on the memory is freed whatever happens.
    let mut native = NativeModule {
        kernels: vec![],
        code: module,
    };
    let defined = compiled?;
    let code = native
        .code
        .get_mut()
        .unwrap_or_else(PoisonError::into_inner);
    let code = code.as_mut().expect("the module was just put there");
    code.finalize_definitions()
        .map_err(|e| CodegenError::Memory(Box::new(e)))?;
    let kernels = kernels.iter().zip(defined).map(|(kernel, pieces)| {
        let code_bytes = pieces.iter().map(|piece| piece.code_bytes).sum();
        let segments = pieces.into_iter().map(|piece| {
            let entry = code.get_finalized_function(piece.id);
            Segment {
                // SAFETY: the function was compiled with `emit::signature`, which is that of `NativeFn`.
                entry: unsafe { std::mem::transmute::<*const u8, NativeFn>(entry) },
                parallel: piece.parallel,
            }
        });
        NativeKernel {
            name: kernel.name.clone(),
            segments: segments.collect(),
            code_bytes,
        }
    });
    native.kernels = kernels.collect();
    Ok(native)
}

/// A compiled function that is not in executable memory yet.
struct Piece {
    id: FuncId,
    parallel: Option<HostExpr>,
    code_bytes: usize,
}

/// Declares the helpers and compiles the pieces of each kernel.
fn define(
    module: &mut JITModule,
    symbols: &[helpers::Symbol],
    kernels: &[&Kernel],
) -> Result<Vec<Vec<Piece>>, CodegenError> {
    for (i, symbol) in symbols.iter().enumerate() {
        let id = module
            .declare_function(&symbol.name, Linkage::Import, &symbol.signature)
            .map_err(|e| CodegenError::Memory(Box::new(e)))?;
        assert_eq!(id.as_u32() as usize, i, "helpers are numbered by position");
    }
    let mut context = FunctionBuilderContext::new();
    let mut out = Vec::new();
    for (i, kernel) in kernels.iter().enumerate() {
        check_names(kernel)?;
        let mut pieces = Vec::new();
        for (j, segment) in segments(kernel).iter().enumerate() {
            // Kernels of different functions may share a name.
            let name = format!("{i}.{j}.{}", kernel.name);
            pieces.push(define_piece(module, &mut context, &name, segment)?);
        }
        out.push(pieces);
    }
    Ok(out)
}

fn define_piece(
    module: &mut JITModule,
    context: &mut FunctionBuilderContext,
    name: &str,
    kernel: &Kernel,
) -> Result<Piece, CodegenError> {
    let failed = |source| CodegenError::Compile {
        kernel: kernel.name.clone(),
        source: Box::new(source),
    };
    let signature = emit::signature(module.isa());
    let id = module
        .declare_function(name, Linkage::Local, &signature)
        .map_err(failed)?;
    let mut ctx = module.make_context();
    ctx.func.name = UserFuncName::user(0, id.as_u32());
    let optimized = opt::optimize(kernel);
    emit::emit(&optimized, module.isa(), &mut ctx.func, context)?;
    module.define_function(id, &mut ctx).map_err(failed)?;
    let code_bytes = ctx
        .compiled_code()
        .map_or(0, |code| code.code_buffer().len());
    Ok(Piece {
        id,
        parallel: parallel_loop(kernel).map(|(_, extent)| extent),
        code_bytes,
    })
}

/// Every variable and array that a kernel names is one of its own: after that their types can be asked for.
fn check_names(kernel: &Kernel) -> Result<(), CodegenError> {
    let mut vars: Vec<VarId> = kernel.scalars.iter().map(|(var, _)| *var).collect();
    let mut arrays = vec![];
    for stmt in &kernel.body {
        stmt.walk(&mut |stmt| match stmt {
            Stmt::Let(var, _) | Stmt::For { var, .. } => vars.push(*var),
            Stmt::Store { array, .. } => arrays.push(*array),
            Stmt::If { .. } | Stmt::While { .. } | Stmt::Barrier => {}
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
        emit::emit(&opt::optimize(&segment), isa, &mut func, &mut context)?;
        text.push_str(&func.display().to_string());
    }
    Ok(text)
}
