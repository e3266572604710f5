//! Operations on tiles by the threads of a scope together, after TVM's `TilePrimitiveCall`.
//!
//! What such an operation computes depends on the layouts of its operands and on the hardware. It is kept and printed; the
//! interpreter and the lowering refuse the first [`Tiled`] part of a program.

use std::fmt;

use super::{AttrValue, Attrs, Buffer, Layout, Place, PrimFunc, Stmt};

/// The threads that run a tile operation together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TileScope {
    /// One thread.
    Thread,
    /// The threads of a warp.
    Warp,
    /// The threads of four warps.
    Warpgroup,
    /// The threads of a workgroup.
    Cta,
    /// The threads of neighbouring workgroups.
    Cluster,
}

impl TileScope {
    const ALL: [Self; 5] = [
        Self::Thread,
        Self::Warp,
        Self::Warpgroup,
        Self::Cta,
        Self::Cluster,
    ];

    /// TVM's name, as in `T.cta.copy`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Thread => "tile",
            Self::Warp => "warp",
            Self::Warpgroup => "wg",
            Self::Cta => "cta",
            Self::Cluster => "cluster",
        }
    }

    /// The scope with this name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "thread" => Some(Self::Thread),
            "warpgroup" => Some(Self::Warpgroup),
            _ => Self::ALL.into_iter().find(|scope| scope.name() == name),
        }
    }
}

/// Names of the operations.
const OPS: [&str; 30] = [
    "zero",
    "sqrt",
    "exp",
    "exp2",
    "log2",
    "add",
    "sub",
    "mul",
    "fdiv",
    "minimum",
    "maximum",
    "copy",
    "fill",
    "gemm",
    "reciprocal",
    "sum",
    "max",
    "min",
    "memset",
    "reduce_negate",
    "binary_reduce",
    "unary_reduce",
    "binary_chain",
    "select",
    "cast",
    "fma",
    "silu",
    "permute_layout",
    "copy_async",
    "gemm_async",
];

/// An operation on tiles: `T.cta.copy(A[0:64], B[0:64], dispatch="tma")`.
#[derive(Clone, Debug)]
pub struct TileOp {
    /// The threads that run it together.
    pub scope: TileScope,
    /// TVM's name of it.
    pub name: &'static str,
    /// Regions of buffers, numbers and functions of indices.
    pub args: Vec<AttrValue>,
    /// Keyword arguments.
    pub attrs: Attrs,
}

impl TileOp {
    /// The scope and the operation that `cta.copy` names.
    pub fn parse(path: &str) -> Option<(TileScope, &'static str)> {
        let (scope, name) = path.split_once('.')?;
        let scope = TileScope::parse(scope)?;
        Some((scope, OPS.into_iter().find(|known| *known == name)?))
    }

    /// Its positional and keyword arguments.
    pub fn operands(&self) -> impl Iterator<Item = &AttrValue> {
        self.args.iter().chain(self.attrs.values())
    }
}

impl fmt::Display for TileOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T.{}.{}", self.scope.name(), self.name)
    }
}

/// A part of a program that only a compiler for tiles gives a meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tiled {
    /// A buffer with a layout over memory and threads.
    Layout {
        /// Its name.
        buffer: String,
    },
    /// A buffer at a fixed address.
    Address {
        /// Its name.
        buffer: String,
    },
    /// A tile operation.
    Op {
        /// Its name, as `T.cta.copy`.
        name: String,
    },
}

impl fmt::Display for Tiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout { buffer } => write!(f, "the layout of buffer `{buffer}`"),
            Self::Address { buffer } => write!(f, "the address of buffer `{buffer}`"),
            Self::Op { name } => write!(f, "`{name}`"),
        }
    }
}

impl Tiled {
    fn of_buffer(buffer: &Buffer) -> Option<Self> {
        let name = || buffer.name().to_owned();
        match buffer.node().layout.as_deref() {
            Some(Layout::Tile(_) | Layout::Swizzle(_)) => Some(Self::Layout { buffer: name() }),
            Some(Layout::Strided) | None if buffer.node().address.is_empty() => None,
            Some(Layout::Strided) | None => Some(Self::Address { buffer: name() }),
        }
    }

    fn in_stmt(stmt: &Stmt) -> Option<Self> {
        let own = match stmt {
            Stmt::Tile(op) => Some(Self::Op {
                name: op.to_string(),
            }),
            Stmt::View { buffer, .. } => Self::of_buffer(buffer),
            _ => None,
        };
        own.or_else(|| stmt.nested().into_iter().flatten().find_map(Self::in_stmt))
    }
}

impl PrimFunc {
    /// The first part that only a compiler for tiles gives a meaning.
    pub fn first_tiled(&self) -> Option<Tiled> {
        let of_params = self.buffer_params().find_map(Tiled::of_buffer);
        of_params.or_else(|| {
            let mut found = None;
            self.tree.walk(self.root.into(), &mut |place| {
                if found.is_none() {
                    found = self.tiled_in(place);
                }
            });
            found
        })
    }

    fn tiled_in(&self, place: Place) -> Option<Tiled> {
        let mut found = None;
        if let Place::Block(id) = place {
            let block = &self.blocks[id];
            let views = block.match_buffers.iter().map(|view| &view.buffer);
            let mut buffers = block.alloc_buffers.iter().chain(views);
            let init = block.init.iter().flatten();
            found = buffers
                .find_map(Tiled::of_buffer)
                .or_else(|| init.clone().find_map(Tiled::in_stmt));
        }
        found.or_else(|| self.tree.body(place).iter().find_map(Tiled::in_stmt))
    }
}
