//! The static memory plan: which tensors share storage.
//!
//! A storage holds one tensor at a time. When a tensor has been used for the last time its storage is free, and a later tensor
//! takes the free storage that fits best: sizes are compared where they are products of the same symbols, `n * 512` and
//! `n * 40`. A storage taken by a larger tensor grows. Results have storage of their own, so that a caller gets no more memory
//! than it asked for. A storage made in a branch is free only in that branch.

use crate::artifact::{MemorySpace, Reg};
use crate::ir::{Expr, ExprKind};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// A number of bytes: a constant times symbols.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Size {
    pub(super) factor: i64,
    pub(super) symbols: Vec<Expr>,
}

impl Size {
    pub(super) fn of(shape: &[Expr], dtype: DType) -> Self {
        let mut size = Self {
            factor: dtype.bytes() as i64,
            symbols: vec![],
        };
        shape.iter().for_each(|dim| size.multiply(dim));
        size
    }

    fn multiply(&mut self, e: &Expr) {
        match e.kind() {
            ExprKind::Int(value) => self.factor = self.factor.saturating_mul(*value),
            ExprKind::Binary(BinOp::Mul, a, b) => {
                self.multiply(a);
                self.multiply(b);
            }
            _ => {
                // A fixed order makes products of the same symbols equal.
                let text = e.to_string();
                let at = self.symbols.partition_point(|s| s.to_string() < text);
                self.symbols.insert(at, e.clone());
            }
        }
    }

    /// The size as an expression.
    pub(super) fn expr(&self) -> Expr {
        let product = |a: Expr, b: &Expr| Expr::binary(BinOp::Mul, a, b.cast(DType::I64));
        if self.symbols.is_empty() || self.factor == 0 {
            return Expr::i64(self.factor);
        }
        self.symbols.iter().fold(Expr::i64(self.factor), product)
    }
}

/// Memory for one tensor at a time.
pub(super) struct Storage {
    pub(super) size: Size,
    pub(super) place: MemorySpace,
    /// Its register.
    pub(super) reg: Reg,
    /// Depth of the branch it was made in.
    depth: usize,
    free: bool,
    /// The branch it was made in is over: on the other side it does not exist.
    ended: bool,
}

/// All storages of one function.
#[derive(Default)]
pub(super) struct StoragePlan {
    pub(super) all: Vec<Storage>,
    depth: usize,
}

impl StoragePlan {
    /// Storage for a tensor, and whether it is new. `reg` gives a new register.
    pub(super) fn take(
        &mut self,
        size: Size,
        place: MemorySpace,
        shared: Shared,
        reg: impl FnOnce() -> Reg,
    ) -> (usize, bool) {
        let fits =
            |s: &Storage| s.free && !s.ended && s.place == place && s.size.symbols == size.symbols;
        let candidates = (0..self.all.len()).filter(|&i| fits(&self.all[i]));
        // The smallest that is large enough, else the largest.
        let best = candidates.min_by_key(|&i| {
            let have = self.all[i].size.factor;
            if have >= size.factor {
                (0, have)
            } else {
                (1, -have)
            }
        });
        if let (Some(index), Shared::Yes) = (best, shared) {
            let storage = &mut self.all[index];
            storage.free = false;
            storage.size.factor = storage.size.factor.max(size.factor);
            return (index, false);
        }
        self.all.push(Storage {
            size,
            place,
            reg: reg(),
            depth: self.depth,
            free: false,
            ended: false,
        });
        (self.all.len() - 1, true)
    }

    pub(super) fn release(&mut self, index: usize) {
        self.all[index].free = true;
    }

    /// What is made from now on is made in a branch.
    pub(super) fn enter(&mut self) {
        self.depth += 1;
    }

    /// The branch ends: its storages are not used after it.
    pub(super) fn leave(&mut self) {
        for storage in &mut self.all {
            if storage.depth == self.depth {
                storage.ended = true;
            }
        }
        self.depth -= 1;
    }
}

/// Whether a storage may have held another tensor before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shared {
    Yes,
    No,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Var;
    use crate::support::Id;

    #[test]
    fn sizes_of_the_same_symbols_share_storage() {
        let n = Var::new("n", DType::I64).expr();
        let m = Var::new("m", DType::I64).expr();
        let size = |dims: &[Expr]| Size::of(dims, DType::F32);
        let mut plan = StoragePlan::default();
        let mut regs = 0;
        let mut take = |plan: &mut StoragePlan, size: Size| {
            regs += 1;
            plan.take(size, MemorySpace::Device, Shared::Yes, || {
                Reg::from_index(regs)
            })
        };
        let (small, _) = take(&mut plan, size(&[n.clone(), Expr::i64(10)]));
        plan.release(small);
        assert_eq!(take(&mut plan, size(&[m.clone(), n.clone()])), (1, true));
        assert_eq!(
            take(&mut plan, size(&[Expr::i64(128), n.clone()])),
            (small, false)
        );
        assert_eq!(plan.all[small].size.factor, 512, "it has grown");
        plan.release(1);
        assert_eq!(
            take(&mut plan, size(&[n.clone(), m])),
            (1, false),
            "in any order"
        );
        plan.enter();
        let (inner, new) = take(&mut plan, size(std::slice::from_ref(&n)));
        assert!(new);
        plan.leave();
        plan.release(inner);
        assert_eq!(
            take(&mut plan, size(&[n])),
            (3, true),
            "the result of a branch may die after it"
        );
    }
}
