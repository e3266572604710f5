//! Expressions and statements of kernel IR: a plain owned tree.

use serde::{Deserialize, Serialize};

use super::{Access, BufferRef, FragmentOp, HostExpr};
use crate::id_type;
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};

id_type!(
    /// An array of one kernel.
    pub ArrayId,
    "a"
);
id_type!(
    /// A local variable of one kernel.
    pub VarId,
    "v"
);

/// Type of a value: a scalar, or a vector of 2, 4, 8 … lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Ty {
    /// Type of each lane.
    pub scalar: ScalarType,
    /// Number of lanes; 1 for a scalar.
    pub lanes: u16,
}

impl Ty {
    /// A scalar type.
    pub const fn scalar(scalar: ScalarType) -> Self {
        Self { scalar, lanes: 1 }
    }
}

/// Where an array lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Space {
    /// A tensor.
    Global {
        /// Which one.
        buffer: BufferRef,
        /// How it is used.
        access: Access,
    },
    /// Memory of the workgroup.
    Shared,
    /// Registers or stack of the thread.
    Local,
}

/// A flat array.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Array {
    /// Name in the text.
    pub name: String,
    /// Element type.
    pub dtype: ScalarType,
    /// Number of elements; a constant for `Shared` and `Local`.
    pub len: HostExpr,
    /// Where it lives.
    pub space: Space,
    /// Lanes of the widest access, if all accesses are aligned to their width: the element width to declare. 1 otherwise.
    pub vector: u16,
}

/// A local variable: of a loop, a `let`, or a scalar that the kernel takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VarInfo {
    /// Name in the text; names need not be unique.
    pub name: String,
    /// Type.
    pub ty: Ty,
}

/// An expression.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub enum Expr {
    /// Integer or `bool` constant.
    Int(i64, ScalarType),
    /// Float constant.
    Float(f64, ScalarType),
    /// A local variable.
    Var(VarId),
    /// `workgroup_id`, dimension 0 to 2, as `i32`.
    BlockIdx(u8),
    /// `local_invocation_id`, dimension 0 to 2, as `i32`.
    ThreadIdx(u8),
    /// Conversion of each lane.
    Cast(Ty, Box<Expr>),
    /// The bits of each lane as a value of another type that has as many.
    Bits(ScalarType, Box<Expr>),
    /// A binary operator on values of the same type. `Div` and `Mod` of integers round towards zero; `FloorDiv` and
    /// `FloorMod` only reach kernels where a negative dividend cannot be excluded.
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// Logical negation.
    Not(Box<Expr>),
    /// Both sides are evaluated.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// An intrinsic function.
    Call(Intrin, Vec<Expr>),
    /// `lanes` neighbouring elements from `index` on.
    Load {
        /// The array.
        array: ArrayId,
        /// Index of the first element.
        index: Box<Expr>,
        /// How many.
        lanes: u16,
        /// How many of the first lanes are read, if not all: the others are 0 and touch no memory. Any integer, of the type of
        /// indices; less than 0 is none, more than `lanes` is all.
        active: Option<Box<Expr>>,
    },
    /// The same value in every lane.
    Splat(Box<Expr>, u16),
    /// `base, base + stride, …`
    Ramp(Box<Expr>, Box<Expr>, u16),
    /// One lane of a vector.
    Lane(Box<Expr>, u16),
    /// A vector of these lanes.
    Pack(Vec<Expr>),
    /// What another thread of the subgroup computes for a scalar of 32 bits. All threads of the workgroup are here at once.
    Shuffle(Shuffle, Box<Expr>),
    /// Whether any lane of a vector of `bool` is true.
    Any(Box<Expr>),
}

/// Which thread of a subgroup a value is taken from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Shuffle {
    /// The one that comes so many later: 1, 2, 4 … What the last ones get means nothing.
    Down(u32),
    /// The first one.
    First,
    /// The one whose number differs in one bit: 1, 2, 4 …
    Xor(u32),
}

/// How the iterations of a loop run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ForKind {
    /// One after the other.
    Serial,
    /// On the threads of the CPU; only outermost in a CPU kernel counts, inner ones run serially.
    Parallel,
    /// Terms may be combined in any order (OpenMP: `simd reduction`). Code for the CPU runs the loop on vectors; lowering for the CPU
    /// makes a serial loop of one that has another form than the code generators expand. GPUs combine terms one after the other.
    SimdReduction,
}

/// A statement.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub enum Stmt {
    /// `var = value`, never assigned again.
    Let(VarId, Expr),
    /// Neighbouring elements from `index` on, as many as `value` has lanes.
    Store {
        /// The array.
        array: ArrayId,
        /// Index of the first element.
        index: Expr,
        /// What is written.
        value: Expr,
        /// How many of the first lanes are written, if not all; as in a load.
        active: Option<Expr>,
    },
    /// A loop over `min .. min + extent`; unrolled loops are already written out.
    For {
        /// Its variable.
        var: VarId,
        /// First value.
        min: Expr,
        /// Number of iterations.
        extent: Expr,
        /// How they run.
        kind: ForKind,
        /// What each does.
        body: Vec<Stmt>,
    },
    /// A branch.
    If {
        /// Condition.
        cond: Expr,
        /// If true.
        then: Vec<Stmt>,
        /// If false.
        otherwise: Vec<Stmt>,
    },
    /// `while cond`
    While {
        /// Condition.
        cond: Expr,
        /// While it is true.
        body: Vec<Stmt>,
    },
    /// All threads of the workgroup wait, and see each other's stores to shared memory.
    Barrier,
    /// An operation on fragments. All threads of the workgroup are here at once.
    Fragment(FragmentOp),
}

crate::bounded_nesting!(Expr, Stmt);
