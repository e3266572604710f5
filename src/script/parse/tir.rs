//! The loop dialect (`T`).

use ruff_python_ast as ast;

use super::context::{Context, Parse};
use crate::ir::PrimFunc;

/// Reads a loop program.
pub(super) fn prim_func(
    cx: &mut Context<'_>,
    func: &ast::StmtFunctionDef,
    _decorator: Option<&ast::ExprCall>,
) -> Parse<PrimFunc> {
    Err(cx.unsupported(&func.name, "a loop program", ""))
}
