//! The graph dialect (`R`).

use ruff_python_ast as ast;

use super::context::{Context, Parse};
use crate::ir::{Module, graph};

/// Reads a graph function.
pub(super) fn function(
    cx: &mut Context<'_>,
    func: &ast::StmtFunctionDef,
    _decorator: Option<&ast::ExprCall>,
) -> Parse<graph::Function> {
    Err(cx.unsupported(&func.name, "a graph function", ""))
}

/// Reads `metadata = ...`, the constants that the functions refer to.
pub(super) fn metadata(cx: &mut Context<'_>, value: &ast::Expr) -> Parse<()> {
    Err(cx.unsupported(value, "metadata", ""))
}

/// Reads `I.module_global_infos({...})`, the devices of the module.
pub(super) fn global_infos(
    cx: &mut Context<'_>,
    call: &ast::ExprCall,
    _module: &mut Module,
) -> Parse<()> {
    Err(cx.unsupported(call, "`I.module_global_infos`", ""))
}
