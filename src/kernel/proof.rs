//! What is shown of a kernel, so that a back end may leave out checks.

use super::{Kernel, Stmt};

/// What the compiler has shown of a kernel. A shader may run without any of the driver's checks only if both hold: without them
/// drivers may take a loop that never ends for unreachable code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proof {
    /// Every access is within its array.
    pub accesses: bool,
    /// Every loop ends.
    pub loops: bool,
}

impl Proof {
    /// Nothing is shown.
    pub const NONE: Self = Self {
        accesses: false,
        loops: false,
    };

    /// Whether no check is needed.
    pub fn is_complete(self) -> bool {
        self.accesses && self.loops
    }
}

impl Kernel {
    /// What is shown of the kernel. A `for` ends: its extent is evaluated once, before its first iteration. Nothing bounds a
    /// `while`.
    pub fn proof(&self) -> Proof {
        let mut loops = true;
        for stmt in &self.body {
            stmt.walk(&mut |stmt| loops &= !matches!(stmt, Stmt::While { .. }));
        }
        Proof {
            accesses: self.in_bounds,
            loops,
        }
    }
}
