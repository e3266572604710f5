//! Index narrowing: indices are `int64` in programs and `int32` on the GPU.
//!
//! Sums, differences and products may wrap on the way to an index that fits. What wraps must not be divided, compared or made a
//! number of another type: for the operands of these the values are bounded in terms of the dims, and the bound is checked,
//! here if it is a constant, else before each launch.

use super::ranges::Ranges;
use super::{LowerError, LowerProblem};
use crate::kernel::{Expr, HostExpr, Kernel, Requirement};
use crate::tensor::scalar::BinOp;

/// Records that expressions of a kernel must fit `int32`.
pub(super) fn require(
    kernel: &Kernel,
    exact: &[Expr],
    requires: &mut Vec<Requirement>,
) -> Result<(), LowerError> {
    let Some(launch) = &kernel.launch else {
        return Ok(());
    };
    let mut ranges = Ranges::new(&kernel.scalars, launch);
    ranges.learn_kernel(kernel);
    for e in exact {
        let too_wide = |value: Option<i64>| LowerProblem::TooWide {
            expr: kernel.expr_text(e),
            value,
        };
        let (low, high) = ranges.range(e).ok_or_else(|| too_wide(None))?;
        // -1 - low is at most the greatest int32 where low is at least the least one.
        let below = HostExpr::binary(BinOp::Sub, HostExpr::Const(-1), low);
        for value in [high, below] {
            let limit = i64::from(i32::MAX);
            match value.as_const() {
                Some(n) if n <= limit => {}
                Some(n) => return Err(too_wide(Some(n)).into()),
                None if requires.iter().any(|known| known.value == value) => {}
                None => requires.push(Requirement {
                    value,
                    limit,
                    what: format!(
                        "`{}` in int32, in which GPUs compute indices",
                        kernel.expr_text(e)
                    ),
                }),
            }
        }
    }
    Ok(())
}
