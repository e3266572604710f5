//! Scalar replacement: arrays in registers whose every index is a constant become named variables.

use std::collections::HashMap;

use crate::kernel::{ArrayId, Expr, Kernel, Space};
use crate::support::SideTable;

/// More variables than this are worse than an array.
const MOST_VARIABLES: i64 = 1024;

/// How an array in registers is kept.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) enum LocalForm {
    /// As an array.
    #[default]
    Array,
    /// As variables of this many lanes each, which hold neighbouring elements.
    Variables(u16),
}

/// Decides the form of every local array.
pub(super) fn local_forms(kernel: &Kernel) -> SideTable<ArrayId, LocalForm> {
    let mut accesses: HashMap<ArrayId, Vec<(Option<i64>, u16)>> = HashMap::new();
    kernel.walk_accesses(&mut |array, index, lanes| {
        let found = accesses.entry(array).or_default();
        found.push((constant(index), lanes));
    });
    let mut forms = SideTable::new();
    for (id, array) in kernel
        .arrays
        .iter()
        .filter(|(_, a)| a.space == Space::Local)
    {
        let accesses = accesses.get(&id).map_or(&[][..], Vec::as_slice);
        let small = array
            .len
            .as_const()
            .is_some_and(|len| len <= MOST_VARIABLES);
        if small && accesses.iter().all(|(index, _)| index.is_some()) {
            *forms.entry(id) = LocalForm::Variables(width(accesses));
        }
    }
    forms
}

/// The widest access, if every access lies within one group of that width; else 1.
fn width(accesses: &[(Option<i64>, u16)]) -> u16 {
    let widest = accesses.iter().map(|(_, lanes)| *lanes).max().unwrap_or(1);
    let fits = |(index, lanes): &(Option<i64>, u16)| {
        let (index, lanes, widest) = (index.unwrap_or(0), i64::from(*lanes), i64::from(widest));
        index % widest + lanes <= widest && (lanes == 1 || lanes == widest)
    };
    if matches!(widest, 2 | 4) && accesses.iter().all(fits) {
        widest
    } else {
        1
    }
}

fn constant(e: &Expr) -> Option<i64> {
    if let Expr::Int(v, _) = e {
        Some(*v)
    } else {
        None
    }
}
