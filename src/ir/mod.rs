//! The two levels of IR. Graph functions (Relax) call loop programs (TensorIR); both use one [`Expr`].
//!
//! Values are shared, places are named: `Expr`, `Var` and `Buffer` are immutable and shared; loops, blocks and graph values
//! are entities in an arena, named by handles.

pub mod alpha_eq;
pub mod attrs;
mod buffer;
mod builder;
pub(crate) mod defined;
mod expr;
mod external;
mod fragment;
pub mod graph;
mod init;
mod jump;
mod layout;
mod located;
mod module;
mod origin;
mod prim_func;
mod purity;
mod reduction;
mod rewrite;
mod struct_info;
pub(crate) mod sum;
pub(crate) mod text;
mod tile;
mod tree;
pub mod verify;

pub use attrs::{AttrValue, Attrs, Lambda, Reducer};
pub use buffer::{Access, Buffer, BufferHints, BufferNode, BufferRegion, Producer, Range, Scope};
pub use builder::{Axis, PrimFuncBuilder};
pub use expr::{Expr, ExprKind, Var};
pub use external::{External, ExternalType};
pub use fragment::{FragmentCall, FragmentExtents, FragmentRole, FragmentTile};
pub use init::InitNest;
pub use jump::Jump;
pub use layout::{Layout, Swizzle, TileAxis, TileIter, TileLayout};
pub use located::Located;
pub use module::{ExternFunc, Func, Module, VDevice};
pub use origin::Origin;
pub use prim_func::{
    Block, BlockId, IterKind, IterVar, Loop, LoopId, LoopKind, MatchBuffer, Param, PrimFunc, Stmt,
    ThreadAxis, unique_name,
};
pub use reduction::Reduction;
pub use rewrite::{Definitions, IdMap, Rewrite, Substitution};
pub use struct_info::{ShapeInfo, StructInfo, TensorInfo};
pub use tile::{TileOp, TileScope, Tiled};
pub use tree::{LoopTree, Place};
