//! Layer 4: the operators of graph functions, one definition each.
//!
//! A definition is a row of its family's table: operands, attributes with their defaults, the type of the result, how it is
//! computed, how it fuses, and what becomes of it when layouts change. Parser, printer, verifier, legalizer, the table in
//! `docs/operators.md` and importers read this table; nothing asks for an operator by its name in a string.
//!
//! Names and attributes are those of Relax (`relax.op`). Where ONNX needs more than Relax has, the operator does what ONNX
//! says; where an operator has no counterpart in Relax, its name follows Relax's style.

mod arrange;
mod binary;
mod broadcast;
mod create;
mod def;
mod described;
mod docs;
mod einsum;
mod image;
mod index;
mod inspect;
mod layout_transform;
mod legalize;
mod linalg;
mod manipulate;
pub mod nn;
mod quantize;
mod reduce;
pub(crate) mod rules;
mod scatter;
mod select;
mod shape;
mod shape_heap;
mod slice;
mod sort;
mod system;
#[cfg(test)]
mod tests;
mod unary;
mod vision;

use std::collections::HashMap;
use std::sync::OnceLock;

pub use crate::topi::{Threads, Workgroups};
pub use broadcast::Broadcasting;
pub use def::{
    Compute, Computed, DTypes, HOST_DEVICE, HostCall, Layout, MachineOp, OpDef, Pattern, Precision,
};
pub use docs::markdown;
pub(crate) use layout_transform::inverse as inverse_layout;
pub use legalize::{
    ComputeCall, Kernel, Legalization, LegalizeError, Legalized, Operand, kernel, kernel_by,
};

pub use shape_heap::{ALLOC_SHAPE_HEAP, CodeError, MakeDim, MatchDim, ShapeBuiltin};

use crate::ir::graph::Op;

/// The families, in the order of the documentation.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "unary",
        ops: unary::OPS,
    },
    Family {
        name: "binary",
        ops: binary::OPS,
    },
    Family {
        name: "create",
        ops: create::OPS,
    },
    Family {
        name: "manipulate",
        ops: manipulate::OPS,
    },
    Family {
        name: "rearrange",
        ops: arrange::OPS,
    },
    Family {
        name: "slice",
        ops: slice::OPS,
    },
    Family {
        name: "index",
        ops: index::OPS,
    },
    Family {
        name: "scatter",
        ops: scatter::OPS,
    },
    Family {
        name: "scan and sort",
        ops: sort::OPS,
    },
    Family {
        name: "quantize",
        ops: quantize::OPS,
    },
    Family {
        name: "reduce",
        ops: reduce::OPS,
    },
    Family {
        name: "linalg",
        ops: linalg::OPS,
    },
    Family {
        name: "nn activation",
        ops: nn::activation::OPS,
    },
    Family {
        name: "nn convolution",
        ops: nn::conv::OPS,
    },
    Family {
        name: "nn pooling",
        ops: nn::pool::OPS,
    },
    Family {
        name: "nn normalisation",
        ops: nn::norm::OPS,
    },
    Family {
        name: "shape",
        ops: shape::OPS,
    },
    Family {
        name: "select",
        ops: select::OPS,
    },
    Family {
        name: "nn moving elements",
        ops: nn::spatial::OPS,
    },
    Family {
        name: "nn losses",
        ops: nn::loss::OPS,
    },
    Family {
        name: "nn attention",
        ops: nn::attention::OPS,
    },
    Family {
        name: "nn recurrent layers",
        ops: nn::recurrent::OPS,
    },
    Family {
        name: "image",
        ops: image::OPS,
    },
    Family {
        name: "vision",
        ops: vision::OPS,
    },
    Family {
        name: "inspect",
        ops: inspect::OPS,
    },
    Family {
        name: "system",
        ops: system::OPS,
    },
    Family {
        name: "described only",
        ops: described::OPS,
    },
];

/// Operators that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// What they have in common.
    pub name: &'static str,
    /// The operators.
    pub ops: &'static [OpDef],
}

/// All operators.
pub fn all() -> impl Iterator<Item = &'static OpDef> {
    FAMILIES.iter().flat_map(|family| family.ops)
}

/// The definition of the operator with this name, without `R.`.
pub fn find(name: &str) -> Option<&'static OpDef> {
    static BY_NAME: OnceLock<HashMap<&str, &OpDef>> = OnceLock::new();
    let table = BY_NAME.get_or_init(|| all().map(|def| (def.schema.name, def)).collect());
    table.get(name).copied()
}

/// The definition of an operator.
///
/// # Panics
/// If the operator is none of this table.
pub fn def(op: Op) -> &'static OpDef {
    find(op.name()).expect("operators are made from rows of the table")
}

/// The operator with this name, for names written in code: a constant of it compiles only if there is one.
///
/// # Panics
/// If there is none.
pub const fn op(name: &str) -> Op {
    let mut family = 0;
    while family < FAMILIES.len() {
        let ops = FAMILIES[family].ops;
        let mut at = 0;
        while at < ops.len() {
            if is_same(ops[at].schema.name, name) {
                return ops[at].op();
            }
            at += 1;
        }
        family += 1;
    }
    panic!("there is no operator of this name")
}

/// `==` of texts, which constants cannot use.
const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
