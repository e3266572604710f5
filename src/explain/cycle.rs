//! Workgroups whose work repeats: where loops end depends on a digit of the number of a workgroup, as on the block of queries of a head
//! where workgroups are numbered by heads and blocks.

use super::lanes::Workgroup;
use crate::kernel::{Expr, Kernel, Stmt};
use crate::tensor::scalar::BinOp;

/// After how many workgroups in a direction the loops of a kernel end as before, if that is known; `group` has the scalars.
pub(super) fn of_work(kernel: &Kernel, group: &Workgroup<'_>, direction: u8) -> Option<i64> {
    let mut found = None;
    let mut see = |e: &Expr| {
        if let Expr::Binary(op, a, b) = e
            && is_number(a, direction)
            && let Some(b) = group.eval(b).at(0)
        {
            let length = match op {
                BinOp::Mod | BinOp::FloorMod => Some(b),
                BinOp::BitAnd if (b + 1) & b == 0 => Some(b + 1),
                _ => None,
            };
            found = found.max(length);
        }
    };
    for stmt in &kernel.body {
        stmt.walk(&mut |stmt| {
            if let Stmt::For { min, extent, .. } = stmt {
                min.walk(&mut see);
                extent.walk(&mut see);
            }
        });
    }
    found
}

/// Some of so many workgroups, each with how many it stands for: of cycles, and of the workgroups of each, those that `of` takes of as many.
pub(super) fn samples(
    count: i64,
    length: Option<i64>,
    of: fn(i64) -> Vec<(i64, f64)>,
) -> Vec<(i64, f64)> {
    let Some(length) = length.filter(|n| (2..count).contains(n) && count % n == 0) else {
        return of(count);
    };
    let cycles = of(count / length);
    let within = of(length);
    let all = cycles.into_iter().flat_map(|(cycle, times)| {
        let at = within.iter();
        at.map(move |(at, each)| (cycle * length + at, times * each))
    });
    all.collect()
}

/// Whether the expression is the number of the workgroup.
fn is_number(e: &Expr, direction: u8) -> bool {
    match e {
        Expr::BlockIdx(d) => *d == direction,
        Expr::Cast(_, e) => is_number(e, direction),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_cycles_stand_for_all() {
        let of = |count: i64| vec![(0, 1.0), (count - 1, (count - 1) as f64)];
        assert_eq!(samples(12, None, of), [(0, 1.0), (11, 11.0)]);
        assert_eq!(
            samples(12, Some(4), of),
            [(0, 1.0), (3, 3.0), (8, 2.0), (11, 6.0)]
        );
        assert_eq!(samples(12, Some(5), of), [(0, 1.0), (11, 11.0)]);
    }
}
