//! The dataflow pattern language (Relax: `relax.dpl`): patterns over values of a graph function.
//!
//! A [`DfPattern`] matches an argument by how it is computed. Names for other arguments are looked through. A clone of a pattern
//! is the same pattern: all places where a pattern occurs match the same argument. [`Matches`] gives the argument that a pattern
//! matched. Names are those of `relax.dpl`.
//!
//! ```
//! use weftile::ir::graph::pattern::{is_op, wildcard};
//! use weftile::ir::graph::{Arg, Globals, Scope};
//! use weftile::{ops, script};
//!
//! let module = script::parse("main.py", r#"
//! @I.ir_module
//! class Module:
//!     @R.function
//!     def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 4), "float32"), b: R.Tensor((4,), "float32")):
//!         y = R.matmul(x, w)
//!         z = R.add(b, y)
//!         return z
//! "#)?;
//! let [x, w, bias] = [wildcard(), wildcard(), wildcard()];
//! let product = is_op(ops::op("matmul"), [&x, &w]);
//! // The operands of `add` and `multiply` match in either order.
//! let pattern = is_op(ops::op("add"), [&product, &bias]);
//!
//! let main = module.function("main").expect("as written");
//! let globals = Globals::of(&module);
//! let scope = Scope { globals: &globals, frames: vec![&main.values] };
//! let matches = pattern.matches(&main.body.result, &scope).expect("a product with a bias");
//! assert_eq!(matches[&w], Arg::Value(main.params[1]));
//! assert_eq!(matches[&bias], Arg::Value(main.params[2]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod context;
mod matcher;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::{BitAnd, BitOr, Not};
use std::sync::Arc;

pub use context::PatternContext;
pub use matcher::Matches;

use super::Op;
use crate::ir::{Attrs, Expr, StructInfo};
use crate::tensor::DType;

/// A pattern (Relax: `DFPattern`). Equal to its clones only.
#[derive(Clone)]
pub struct DfPattern(Arc<Kind>);

/// What a pattern matches.
#[derive(Debug)]
enum Kind {
    Wildcard,
    Var(String),
    Const,
    Shape(Vec<Expr>),
    Tuple(Vec<DfPattern>),
    UnorderedTuple(Vec<DfPattern>),
    TupleItem(DfPattern, Option<usize>),
    Call(Called, Args),
    Attrs(DfPattern, Attrs),
    DType(DfPattern, DType),
    HasShape(DfPattern, Vec<Expr>),
    HasInfo(DfPattern, StructInfo),
    SameShape(DfPattern, DfPattern),
    Or(DfPattern, DfPattern),
    And(DfPattern, DfPattern),
    Not(DfPattern),
}

/// What a call that matches calls. Names match every name that they are a part of.
#[derive(Debug)]
enum Called {
    Op(Op),
    /// A function of the module.
    Global(String),
    /// `R.call_packed` and `R.call_pure_packed`.
    Packed(String),
    /// `R.call_tir`, not in place.
    Tir(String),
    /// `R.call_dps_packed`.
    DpsPacked(String),
}

/// The arguments of a call that matches.
#[derive(Debug)]
enum Args {
    /// These.
    All(Vec<DfPattern>),
    /// These, and any others after them.
    First(Vec<DfPattern>),
}

impl DfPattern {
    fn new(kind: Kind) -> Self {
        Self(Arc::new(kind))
    }

    /// Matches what this pattern matches where the call has these attributes. Attributes of calls are complete, with defaults
    /// filled in.
    #[must_use]
    pub fn has_attr(&self, attrs: Attrs) -> Self {
        Self::new(Kind::Attrs(self.clone(), attrs))
    }

    /// Matches what this pattern matches where it is a tensor of such elements.
    #[must_use]
    pub fn has_dtype(&self, dtype: DType) -> Self {
        Self::new(Kind::DType(self.clone(), dtype))
    }

    /// Matches what this pattern matches where it is a tensor of these extents.
    #[must_use]
    pub fn has_shape(&self, dims: Vec<Expr>) -> Self {
        Self::new(Kind::HasShape(self.clone(), dims))
    }

    /// Matches what this pattern matches where it is known to be `sinfo` (Relax: `has_ty`).
    #[must_use]
    pub fn has_struct_info(&self, sinfo: StructInfo) -> Self {
        Self::new(Kind::HasInfo(self.clone(), sinfo))
    }

    /// Matches what this pattern matches where it has the shape of what `other` matches. `other` must match in another place of the
    /// same pattern.
    #[must_use]
    pub fn same_shape_as(&self, other: &Self) -> Self {
        Self::new(Kind::SameShape(self.clone(), other.clone()))
    }

    /// Whether a match says that the value is computed by this: a call, or an item of a tuple.
    fn computes(&self) -> bool {
        matches!(*self.0, Kind::Call(_, _) | Kind::TupleItem(_, _))
    }
}

impl PartialEq for DfPattern {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for DfPattern {}

impl fmt::Debug for DfPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Matches what one of both matches; the left one is tried first.
impl BitOr for &DfPattern {
    type Output = DfPattern;

    fn bitor(self, other: Self) -> DfPattern {
        DfPattern::new(Kind::Or(self.clone(), other.clone()))
    }
}

/// Matches what both match.
impl BitAnd for &DfPattern {
    type Output = DfPattern;

    fn bitand(self, other: Self) -> DfPattern {
        DfPattern::new(Kind::And(self.clone(), other.clone()))
    }
}

/// Matches what the pattern does not match (Relax: `~`).
impl Not for &DfPattern {
    type Output = DfPattern;

    fn not(self) -> DfPattern {
        DfPattern::new(Kind::Not(self.clone()))
    }
}

/// Matches anything.
pub fn wildcard() -> DfPattern {
    DfPattern::new(Kind::Wildcard)
}

/// Matches a parameter with this name, or a value with this name that is computed elsewhere. An empty name stands for all.
pub fn is_var(name: &str) -> DfPattern {
    DfPattern::new(Kind::Var(name.to_owned()))
}

/// Matches a tensor constant.
pub fn is_const() -> DfPattern {
    DfPattern::new(Kind::Const)
}

/// Matches `R.shape` of these extents.
pub fn is_shape(dims: Vec<Expr>) -> DfPattern {
    DfPattern::new(Kind::Shape(dims))
}

/// Matches a tuple of such items.
pub fn is_tuple<'p>(items: impl IntoIterator<Item = &'p DfPattern>) -> DfPattern {
    DfPattern::new(Kind::Tuple(items.into_iter().cloned().collect()))
}

/// Matches a tuple of such items in any order (Relax: `is_tuple` with `unordered`).
pub fn is_unordered_tuple<'p>(items: impl IntoIterator<Item = &'p DfPattern>) -> DfPattern {
    DfPattern::new(Kind::UnorderedTuple(items.into_iter().cloned().collect()))
}

/// Matches an item of such a tuple; any item without an index.
pub fn is_tuple_get_item(tuple: &DfPattern, index: Option<usize>) -> DfPattern {
    DfPattern::new(Kind::TupleItem(tuple.clone(), index))
}

/// Matches a call of the operator with these operands.
pub fn is_op<'p>(op: Op, args: impl IntoIterator<Item = &'p DfPattern>) -> DfPattern {
    call(Called::Op(op), args)
}

/// Matches a call of the operator with these operands and any others after them (Relax: `varg_default_wildcard`).
pub fn is_op_with_first<'p>(op: Op, args: impl IntoIterator<Item = &'p DfPattern>) -> DfPattern {
    call_with_first(Called::Op(op), args)
}

/// Matches `R.call_tir` of a loop program with these arguments. The name matches every name that it is a part of.
pub fn is_call_tir<'p>(name: &str, args: impl IntoIterator<Item = &'p DfPattern>) -> DfPattern {
    call(Called::Tir(name.to_owned()), args)
}

/// Matches `R.call_tir` of a loop program with any arguments.
pub fn is_any_call_tir(name: &str) -> DfPattern {
    call_with_first(Called::Tir(name.to_owned()), [])
}

/// Matches `R.call_dps_packed` with these arguments. The name matches every name that it is a part of.
pub fn is_call_dps_packed<'p>(
    name: &str,
    args: impl IntoIterator<Item = &'p DfPattern>,
) -> DfPattern {
    call(Called::DpsPacked(name.to_owned()), args)
}

/// Matches `R.call_packed` or `R.call_pure_packed` with these arguments. The name matches every name that it is a part of.
pub fn is_call_packed<'p>(name: &str, args: impl IntoIterator<Item = &'p DfPattern>) -> DfPattern {
    call(Called::Packed(name.to_owned()), args)
}

/// Matches a call of a function of the module with these arguments (Relax: `GlobalVarPattern`). The name matches every name that it
/// is a part of.
pub fn is_call_global<'p>(name: &str, args: impl IntoIterator<Item = &'p DfPattern>) -> DfPattern {
    call(Called::Global(name.to_owned()), args)
}

fn call<'p>(called: Called, args: impl IntoIterator<Item = &'p DfPattern>) -> DfPattern {
    let args = args.into_iter().cloned().collect();
    DfPattern::new(Kind::Call(called, Args::All(args)))
}

fn call_with_first<'p>(called: Called, args: impl IntoIterator<Item = &'p DfPattern>) -> DfPattern {
    let args = args.into_iter().cloned().collect();
    DfPattern::new(Kind::Call(called, Args::First(args)))
}
