//! Whether a loop program has side effects.

use super::{Block, Expr, ExprKind, External, Place, PrimFunc, Stmt};

impl PrimFunc {
    /// Whether a call changes nothing but the memory that the program allocates itself (TVM: `IsPureFunction`).
    pub fn is_pure(&self) -> bool {
        let mut pure = true;
        self.tree.walk(self.root.into(), &mut |place| {
            pure &= match place {
                Place::Block(id) => self.is_pure_block(&self.blocks[id]),
                Place::Loop(id) => [&self.loops[id].min, &self.loops[id].extent]
                    .into_iter()
                    .all(is_pure_expr),
            };
            pure &= self.tree.body(place).iter().all(|s| self.is_pure_stmt(s));
        });
        pure
    }

    fn is_pure_block(&self, block: &Block) -> bool {
        let mut init = block.init.iter().flatten();
        init.all(|stmt| self.is_pure_stmt(stmt))
            && block.bindings.iter().all(is_pure_expr)
            && is_pure_expr(&block.predicate)
    }

    fn is_pure_stmt(&self, stmt: &Stmt) -> bool {
        let own = match stmt {
            Stmt::Store { buffer, .. } => self.allocated().any(|own| own == buffer),
            Stmt::Tile(_) => false,
            _ => true,
        };
        own && stmt.exprs().into_iter().all(is_pure_expr)
            && stmt
                .nested()
                .into_iter()
                .flatten()
                .all(|s| self.is_pure_stmt(s))
    }
}

fn is_pure_expr(e: &Expr) -> bool {
    let mut pure = true;
    e.walk(&mut |part| {
        if let ExprKind::External(external, _) = part.kind() {
            pure &= external.is_pure();
        }
        pure
    });
    pure
}

impl External {
    /// Whether the call reads at most.
    pub fn is_pure(self) -> bool {
        match self {
            Self::CallPureExtern
            | Self::AddressOf
            | Self::AccessPtr
            | Self::TypeAnnotation
            | Self::StructGet
            | Self::StaticHandle
            | Self::Undef
            | Self::Assume
            | Self::NextAfter
            | Self::VScale
            | Self::ThreadInvariant => true,
            _ => self.is_launch_place(),
        }
    }
}
