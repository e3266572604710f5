//! Numbers of one thread.

use crate::ir::{Buffer, Expr, PrimFuncBuilder, Scope};
use crate::tensor::DType;

/// Some numbers of one thread.
pub(super) struct Local {
    memory: Buffer,
}

impl Local {
    pub(super) fn new(b: &mut PrimFuncBuilder, name: &str, count: i64, dtype: DType) -> Self {
        Self {
            memory: b.alloc(name, [count], dtype, Scope::Local),
        }
    }

    pub(super) fn at(&self, index: &Expr) -> Expr {
        Expr::load(&self.memory, vec![index.clone()])
    }

    pub(super) fn set(&self, b: &mut PrimFuncBuilder, index: &Expr, value: Expr) {
        b.store(&self.memory, [index.clone()], value);
    }

    /// Adds to a number.
    pub(super) fn add(&self, b: &mut PrimFuncBuilder, index: &Expr, by: impl Into<Expr>) {
        self.set(b, index, self.at(index) + by.into());
    }

    /// Sets all numbers to this one.
    pub(super) fn fill(&self, b: &mut PrimFuncBuilder, value: &Expr) {
        let count = self.memory.shape()[0].clone();
        b.grid([("at", count)], |b, at| {
            self.set(b, &at[0].expr(), value.clone())
        });
    }
}
