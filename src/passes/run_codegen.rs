//! `run_codegen`: functions for external code generators become packed functions (Relax: `RunCodegen`).

use std::fmt;

use indexmap::{IndexMap, IndexSet};

use super::composite::called;
use super::dead_code_elimination::dead_code_elimination;
use super::groups::CODEGEN;
use super::obligations::{check, obligations};
use super::{Pass, PassError};
use crate::ir::graph::{Become, Def, DpsCallee, Function, Globals, rewrite};
use crate::ir::{AttrValue, Func, Module, StructInfo};

/// What compiles a function: it gives the name of a packed function in destination-passing style, or says why it cannot.
type Compile = dyn Fn(&Function) -> Result<String, String> + Send + Sync;

/// External code generators by name.
///
/// A code generator gets a function with the attribute `Codegen`, its name. The function holds closures with the attribute
/// `Composite`, and calls them. The packed function that the code generator names takes the parameters of the function and then
/// its outputs, which are allocated by the caller. Whoever runs the module registers it with the machine.
#[derive(Default)]
pub struct Codegens(IndexMap<String, Box<Compile>>);

impl Codegens {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// With this code generator, in the place of one of the same name.
    #[must_use]
    pub fn with(
        mut self,
        name: impl Into<String>,
        compile: impl Fn(&Function) -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        self.0.insert(name.into(), Box::new(compile));
        self
    }

    /// The pass that hands functions to these code generators.
    pub fn pass(self) -> Pass {
        Pass::new("run_codegen", 0, move |module, cx| {
            run_codegen(module, &self, &cx.entries_of(module))
        })
    }

    fn compile(&self, function: &Function, codegen: &str) -> Result<String, PassError> {
        let compile = self.0.get(codegen).ok_or_else(|| PassError::NoCodegen {
            func: function.name.clone(),
            codegen: codegen.to_owned(),
            known: self.0.keys().cloned().collect(),
        })?;
        compile(function).map_err(|reason| PassError::Codegen {
            func: function.name.clone(),
            codegen: codegen.to_owned(),
            reason,
        })
    }
}

impl fmt::Debug for Codegens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

/// The module where calls of functions with the attribute `Codegen` are calls of packed functions, and these functions are gone.
/// What their operators ask of symbolic extents is checked before the call (`R.match_cast`), as `legalize_ops` does.
///
/// ```text
/// y = cls.fused_relax_matmul_gemm(x, w)    →    y = R.call_dps_packed("fused_relax_matmul_gemm", (x, w), …)
/// ```
fn run_codegen(
    module: &Module,
    codegens: &Codegens,
    entries: &IndexSet<String>,
) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    let mut packed: IndexMap<String, String> = IndexMap::new();
    for (name, function) in module.functions() {
        if codegen(function).is_some() {
            continue;
        }
        let new = rewrite(function, &globals, &mut |rewriter, old| {
            let callee = called(old.def).and_then(|(name, args)| {
                let function = module.function(name)?;
                Some((name, args, function, codegen(function)?))
            });
            let Some((name, args, function, codegen)) = callee else {
                return Ok(Become::Kept);
            };
            let symbol = match packed.get(name) {
                Some(symbol) => symbol.clone(),
                None => codegens.compile(function, codegen)?,
            };
            if !is_allocated(&old.value.sinfo) {
                return Err(PassError::NotAllocated {
                    func: name.to_owned(),
                    sinfo: Box::new(old.value.sinfo.clone()),
                });
            }
            packed.insert(name.to_owned(), symbol.clone());
            let scope = rewriter.scope();
            let given: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
            let failed = |error| PassError::Type {
                func: name.to_owned(),
                value: old.value.name.clone(),
                error: Box::new(error),
            };
            for asked in obligations(function, &given, &globals).map_err(failed)? {
                let builder = rewriter.builder();
                let own = builder.set_origin(asked.origin);
                check(builder, asked.op, &asked.obligation).map_err(failed)?;
                builder.set_origin(own);
            }
            Ok(Become::Def(Def::CallDps {
                callee: DpsCallee::Packed(symbol),
                args: args.to_vec(),
                tir_vars: vec![],
                inplace: None,
                out: old.value.sinfo.clone(),
            }))
        })?;
        out.funcs.insert(name.to_owned(), Func::Graph(new));
    }
    let left = |name: &String| !packed.contains_key(name);
    let mut entries = entries.clone();
    entries.retain(left);
    for name in packed.keys() {
        out.funcs.shift_remove(name);
    }
    Ok(dead_code_elimination(&out, &entries))
}

/// The code generator that the function is for.
fn codegen(function: &Function) -> Option<&str> {
    function.attrs.get(CODEGEN).and_then(AttrValue::as_str)
}

/// Whether memory can be allocated for the value before it is computed.
fn is_allocated(sinfo: &StructInfo) -> bool {
    match sinfo {
        StructInfo::Tensor(info) => info.shape.dims().is_some() && info.dtype.is_some(),
        StructInfo::Tuple(items) => !items.is_empty() && items.iter().all(is_allocated),
        _ => false,
    }
}
