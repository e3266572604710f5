//! How each array of a kernel is declared.
//!
//! # Elements narrower than a word
//! WGSL has no types of 8 and 16 bits in memory, so that global arrays of `bool`, `int8`, `uint8`, `int16` and `uint16` are
//! arrays of words, whose elements lie as on the host. A thread that stores whole words writes them like any other value. All
//! other stores change a part of a word, while other threads may change other parts: the words are then atomic, and a store is
//! an `atomicAnd`, which clears the bits of its elements alone, and an `atomicOr`, which sets them. Neither touches a bit of
//! another element, in whatever order the operations of several threads on a word run, so that no element is lost. Threads that
//! store the same value to one element agree: after both have cleared it, both set the same bits. A store needs no loop, so that
//! the proof that all loops end stays true.
//!
//! Arrays of registers and workgroups, which no host reads, hold each element in a word of its own.

use std::collections::HashMap;

use super::names::Namer;
use crate::kernel::{ArrayId, Expr, Kernel, Space, Stmt};
use crate::support::SideTable;
use crate::tensor::ScalarType;

/// More variables than this are worse than an array.
const MOST_VARIABLES: i64 = 1024;

/// How an array is declared.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum ArrayForm {
    /// As an array of elements, or of vectors of this many.
    Elements(u16),
    /// As variables of `width` lanes each, which hold neighbouring elements (scalar replacement).
    Variables { width: u16, names: Vec<String> },
    /// As an array of words that several elements share.
    Words(Words),
}

/// How the words of an array of narrow elements are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Words {
    /// Never, or whole.
    Plain,
    /// In parts.
    Atomic,
}

impl Default for ArrayForm {
    fn default() -> Self {
        Self::Elements(1)
    }
}

/// Decides the form of every array. `arrays` are their names.
pub(super) fn array_forms(
    kernel: &Kernel,
    arrays: &SideTable<ArrayId, String>,
    namer: &mut Namer,
) -> SideTable<ArrayId, ArrayForm> {
    let mut accesses: HashMap<ArrayId, Vec<(Option<i64>, u16)>> = HashMap::new();
    kernel.walk_accesses(&mut |array, index, lanes, _| {
        let found = accesses.entry(array).or_default();
        found.push((constant(index), lanes));
    });
    let mut forms = SideTable::new();
    for (id, array) in kernel.arrays.iter() {
        let accesses = accesses.get(&id).map_or(&[][..], Vec::as_slice);
        *forms.entry(id) = match array.space {
            Space::Global { .. } if is_packed(array.dtype) => ArrayForm::Words(words(kernel, id)),
            Space::Global { .. } | Space::Shared if matches!(array.vector, 2 | 4) => {
                ArrayForm::Elements(array.vector)
            }
            Space::Global { .. } | Space::Shared => ArrayForm::Elements(1),
            Space::Local => match array.len.as_const() {
                Some(len)
                    if len <= MOST_VARIABLES
                        && accesses.iter().all(|(index, _)| index.is_some()) =>
                {
                    let width = width(accesses);
                    let count = (len.max(0) as u64).div_ceil(width.into());
                    let name = |part| namer.name(&format!("{}_{part}", arrays[id]));
                    let names = (0..count).map(name).collect();
                    ArrayForm::Variables { width, names }
                }
                _ => ArrayForm::Elements(1),
            },
        };
    }
    forms
}

/// Whether several elements of a global array share a word.
pub(super) fn is_packed(dtype: ScalarType) -> bool {
    match dtype {
        ScalarType::Bool | ScalarType::I8 | ScalarType::U8 | ScalarType::I16 | ScalarType::U16 => {
            true
        }
        ScalarType::I32
        | ScalarType::I64
        | ScalarType::U32
        | ScalarType::U64
        | ScalarType::F16
        | ScalarType::BF16
        | ScalarType::F32
        | ScalarType::F64
        | ScalarType::Small(_) => false,
    }
}

fn words(kernel: &Kernel, id: ArrayId) -> Words {
    let mut form = Words::Plain;
    for stmt in &kernel.body {
        stmt.walk(&mut |stmt| {
            if let Stmt::Store {
                array,
                index: _,
                value,
                active: _,
            } = stmt
                && *array == id
                && !is_whole(kernel, id, kernel.ty(value).lanes)
            {
                form = Words::Atomic;
            }
        });
    }
    form
}

/// Whether an access of so many lanes is one of whole words.
pub(super) fn is_whole(kernel: &Kernel, id: ArrayId, lanes: u16) -> bool {
    let array = &kernel.arrays[id];
    array.vector == lanes && (usize::from(lanes) * array.dtype.bytes()).is_multiple_of(4)
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
