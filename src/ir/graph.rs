//! Graph functions (Relax): SSA values in binding blocks and dataflow blocks, in A-normal form.
//!
//! Values live in one append-only arena per function, in topological order. A nested function (closure) is a value whose
//! definition holds a [`Function`] of its own; it sees the values of the functions around it as captured arguments.

mod attr;
mod builder;
mod call;
pub mod dims;
mod infer;
mod op;
pub mod pattern;
mod rewrite;
pub(crate) mod text;
mod verify;
mod walk;

pub use attr::{AttrDefault, AttrError, AttrKind, AttrSpec, complete};
pub use builder::GraphBuilder;
pub use call::{Obligation, Obligations, OpCall};
pub use infer::{
    Globals, InferError, Scope, common, erase, infer, infer_return, open_vars_erased,
    prim_func_signature,
};
pub use op::{Infer, Op, OpSchema, Operand, OperandKind};
pub use rewrite::{Become, Old, Rewriter, Rule, rewrite};
pub use verify::{GraphError, GraphErrorKind, Part, verify, verify_function};

use super::{Attrs, Expr, Origin, StructInfo};
use crate::id_type;
use crate::support::Arena;
use crate::tensor::{DType, Tensor};

id_type!(
    /// A value of one graph function; prints as `%7`.
    pub ValueId,
    "%"
);

/// An argument: something that needs no computation (Relax: a leaf expression). Equal as it is written.
#[derive(Clone, PartialEq, Debug)]
pub enum Arg {
    /// A value of this function.
    Value(ValueId),
    /// A value of the function around this closure, `depth` functions out (1 is the next).
    Captured {
        /// How many functions out.
        depth: usize,
        /// The value there.
        value: ValueId,
    },
    /// A tensor constant.
    Const(Tensor),
    /// A tensor constant that the text of the module leaves out, by its number there: text printed without `show_meta` does.
    /// Such a function can be checked and printed, not run.
    Omitted(usize),
    /// A tuple of arguments.
    Tuple(Vec<Arg>),
    /// A shape (`R.shape`).
    Shape(Vec<Expr>),
    /// A scalar (`R.prim_value`).
    Prim(Expr),
    /// Text (`R.str`).
    Str(String),
    /// An element type (`R.dtype`).
    DType(DType),
    /// A function of the module.
    Global(String),
    /// A packed function, by its registered name.
    Extern(String),
}

/// What a call calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    /// An operator.
    Op(Op),
    /// A function of the module.
    Global(String),
    /// A packed function (`R.call_packed`), by its registered name: may have side effects.
    Packed(String),
    /// A packed function without side effects (`R.call_pure_packed`).
    PurePacked(String),
    /// A closure.
    Value(ValueId),
}

/// What `call_tir` and its kin call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DpsCallee {
    /// A loop program of the module (`R.call_tir`, `R.call_tir_inplace`).
    Prim(String),
    /// A packed function by name, or a loop program of the module with that name (`R.call_dps_packed`).
    Packed(String),
}

/// How a value is computed.
#[derive(Clone, Debug)]
pub enum Def {
    /// A parameter of the function.
    Param,
    /// A name for an argument.
    Arg(Arg),
    /// An element of a tuple.
    TupleItem(Arg, usize),
    /// A call in destination-passing style: allocates the outputs (`out`: a tensor, or a tuple of them) and passes them last.
    CallDps {
        /// What is called.
        callee: DpsCallee,
        /// Inputs.
        args: Vec<Arg>,
        /// Scalars passed after the tensors (`tir_vars`).
        tir_vars: Vec<Expr>,
        /// For `R.call_tir_inplace`: for each output the input it overwrites, or `None` for a fresh one.
        inplace: Option<Vec<Option<usize>>>,
        /// Types of the outputs.
        out: StructInfo,
    },
    /// Any other call.
    Call {
        /// What is called.
        callee: Callee,
        /// Positional arguments.
        args: Vec<Arg>,
        /// Keyword arguments.
        attrs: Attrs,
        /// Type of the result where it is written down (`sinfo_args`).
        sinfo_args: Vec<StructInfo>,
    },
    /// A check of a value against more precise information, which binds new symbolic dimensions (`R.match_cast`).
    MatchCast(Arg, StructInfo),
    /// A branch; each side ends in the value of the whole.
    If {
        /// A scalar `bool` tensor.
        cond: Arg,
        /// If true.
        then: Body,
        /// If false.
        otherwise: Body,
    },
    /// A closure.
    Function(Box<Function>),
}

/// A value: its name, what is known of it, and how it is computed.
#[derive(Clone, Debug)]
pub struct Value {
    /// Name in the text.
    pub name: String,
    /// What is known of it.
    pub sinfo: StructInfo,
    /// How it is computed.
    pub def: Def,
    /// Where it comes from.
    pub origin: Origin,
}

/// A sequence of bindings: a dataflow block (pure, no control flow) or a plain one.
#[derive(Clone, Debug)]
pub struct BindingBlock {
    /// `Some` for a dataflow block: the values it passes out (`R.output`).
    pub dataflow: Option<Vec<ValueId>>,
    /// Values in order.
    pub bindings: Vec<ValueId>,
}

/// Blocks of bindings and the result (Relax: `SeqExpr`).
#[derive(Clone, Debug)]
pub struct Body {
    /// Blocks in order.
    pub blocks: Vec<BindingBlock>,
    /// The result.
    pub result: Arg,
}

/// The name of the attribute of a graph function that lists its author's names of the parameters, if those are no identifiers.
/// Parameters after them have the names that the function gives them.
pub const INPUT_NAMES: &str = "input_names";

/// The same for the results.
pub const OUTPUT_NAMES: &str = "output_names";

/// A graph function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name in the module.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<ValueId>,
    /// All values.
    pub values: Arena<ValueId, Value>,
    /// What it computes.
    pub body: Body,
    /// Type of the result.
    pub ret: StructInfo,
    /// Attributes (`R.func_attr`).
    pub attrs: Attrs,
    /// Whether it has no side effect.
    pub pure: bool,
    /// Whether only this module calls it.
    pub private: bool,
}
