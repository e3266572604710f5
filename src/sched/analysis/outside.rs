//! Statements outside blocks. Primitives see blocks and loops alone: what stands between them has no signature, no iter
//! variables, and no predicate that could keep it from running.

use crate::ir::{Expr, Place, PrimFunc, Stmt};
use crate::sched::{Reason, Refusal};

/// Refuses a place below which anything but loops stands around the next blocks: stores, `let`, `if`, `while`. An assertion of sizes
/// holds for a launch as a whole, wherever blocks move.
///
/// # Errors
/// TVM: `NotStagePipelineError`, for a statement that is not schedulable.
pub fn check_only_blocks(func: &PrimFunc, place: Place) -> Result<(), Refusal> {
    for stmt in func.tree.body(place) {
        let statement = match stmt {
            Stmt::Loop(id) => {
                check_only_blocks(func, Place::Loop(*id))?;
                continue;
            }
            Stmt::Block(_) => continue,
            Stmt::Assert { cond, message: _ } if is_of_sizes(func, place, cond) => continue,
            Stmt::Store {
                buffer: _,
                indices: _,
                value: _,
            } => "a store",
            Stmt::Let {
                var: _,
                value: _,
                body: _,
            } => "a `let`",
            Stmt::If {
                cond: _,
                then: _,
                otherwise: _,
            } => "an `if`",
            Stmt::While { cond: _, body: _ } => "a `while`",
            Stmt::Assert {
                cond: _,
                message: _,
            } => "an `assert`",
            Stmt::Evaluate(_) => "an evaluated expression",
            Stmt::View {
                buffer: _,
                memory: _,
                body: _,
            } => "a view",
            Stmt::Attr {
                node: _,
                key: _,
                value: _,
                body: _,
            } => "a remark",
            Stmt::Tile(_) => "a tile operation",
            Stmt::Break => "`break`",
            Stmt::Continue => "`continue`",
            Stmt::Return(_) => "`return`",
        };
        return Err(Reason::StatementOutsideBlocks { statement }.at([place]));
    }
    Ok(())
}

/// Whether a condition at the root reads no memory.
fn is_of_sizes(func: &PrimFunc, place: Place, cond: &Expr) -> bool {
    place == func.root.into() && !cond.is_data()
}
