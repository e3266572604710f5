//! Loop programs for known sizes.

use super::Analyzer;
use crate::ir::{Definitions, Expr, PrimFunc, Substitution, Var};

/// A copy of the loop program with sizes replaced by their values (TVM: `PrimFunc.specialize`).
pub fn specialized(func: &PrimFunc, sizes: &[(Var, i64)]) -> PrimFunc {
    let analyzer = Analyzer::new();
    let mut values = Substitution::new(Definitions::Kept).then(|e| analyzer.simplify(e));
    for (var, value) in sizes {
        values.set_var(var, Expr::int(*value, var.dtype()));
    }
    func.map(&mut values)
}
