//! `PrimFunc`: a loop program (TensorIR). Loops and blocks are entities named by handles; a clone keeps all handles valid.
//!
//! The root block holds everything: its allocated buffers are the temporaries of the function. Statements that are neither
//! loops nor blocks are plain trees between them.

use std::collections::HashSet;

use super::{
    AttrValue, Attrs, Buffer, BufferRegion, Expr, LoopTree, Origin, Place, Range, TileOp, Var,
};
use crate::id_type;
use crate::support::Arena;
use crate::tensor::DType;

id_type!(
    /// A loop of one function; prints as `L2`.
    pub LoopId,
    "L"
);
id_type!(
    /// A block of one function; prints as `B1`.
    pub BlockId,
    "B"
);

/// Dimension of the launch that a loop is bound to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "TVM's names without the dot")]
pub enum ThreadAxis {
    BlockIdxX,
    BlockIdxY,
    BlockIdxZ,
    ThreadIdxX,
    ThreadIdxY,
    ThreadIdxZ,
    VThread,
    VThreadX,
    VThreadY,
    VThreadZ,
}

impl ThreadAxis {
    /// All axes.
    pub const ALL: [Self; 10] = [
        Self::BlockIdxX,
        Self::BlockIdxY,
        Self::BlockIdxZ,
        Self::ThreadIdxX,
        Self::ThreadIdxY,
        Self::ThreadIdxZ,
        Self::VThread,
        Self::VThreadX,
        Self::VThreadY,
        Self::VThreadZ,
    ];

    /// TVM's name, as in `"threadIdx.x"`.
    pub fn name(self) -> &'static str {
        match self {
            Self::BlockIdxX => "blockIdx.x",
            Self::BlockIdxY => "blockIdx.y",
            Self::BlockIdxZ => "blockIdx.z",
            Self::ThreadIdxX => "threadIdx.x",
            Self::ThreadIdxY => "threadIdx.y",
            Self::ThreadIdxZ => "threadIdx.z",
            Self::VThread => "vthread",
            Self::VThreadX => "vthread.x",
            Self::VThreadY => "vthread.y",
            Self::VThreadZ => "vthread.z",
        }
    }

    /// The axis with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|axis| axis.name() == name)
    }

    /// Whether it is a `threadIdx`.
    pub fn is_thread(self) -> bool {
        matches!(self, Self::ThreadIdxX | Self::ThreadIdxY | Self::ThreadIdxZ)
    }

    /// Whether it is a `blockIdx`.
    pub fn is_block(self) -> bool {
        matches!(self, Self::BlockIdxX | Self::BlockIdxY | Self::BlockIdxZ)
    }
}

/// How the iterations of a loop run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LoopKind {
    /// One after the other.
    Serial,
    /// On the threads of the CPU.
    Parallel,
    /// In the lanes of a vector.
    Vectorized,
    /// Written out one after the other.
    Unrolled,
    /// Each on a thread or workgroup of the launch.
    ThreadBinding(ThreadAxis),
}

impl LoopKind {
    /// Whether the iterations are threads or workgroups of a launch; virtual threads are not.
    pub fn is_of_launch(self) -> bool {
        matches!(self, Self::ThreadBinding(axis) if axis.is_block() || axis.is_thread())
    }
}

/// A loop over `min .. min + extent`.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its variable.
    pub var: Var,
    /// First value.
    pub min: Expr,
    /// Number of iterations.
    pub extent: Expr,
    /// How they run.
    pub kind: LoopKind,
    /// Annotations, as pragmas.
    pub annotations: Attrs,
}

impl Loop {
    /// A serial loop with a new variable.
    pub fn serial(name: impl Into<String>, range: Range) -> Self {
        Self {
            var: Var::new(name, range.extent.dtype()),
            min: range.min,
            extent: range.extent,
            kind: LoopKind::Serial,
            annotations: Attrs::new(),
        }
    }
}

/// What the values of a block iter variable mean to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IterKind {
    /// Independent (TVM: data parallel).
    Spatial,
    /// Combined into the same output by a commutative reduction.
    Reduce,
    /// In order.
    Scan,
    /// Unknown.
    Opaque,
}

impl IterKind {
    /// The letter of `T.axis.remap`, if it has one.
    pub fn letter(self) -> Option<char> {
        match self {
            Self::Spatial => Some('S'),
            Self::Reduce => Some('R'),
            Self::Scan | Self::Opaque => None,
        }
    }
}

/// A block iter variable and its domain.
#[derive(Clone, Debug)]
pub struct IterVar {
    /// The variable.
    pub var: Var,
    /// Its values.
    pub dom: Range,
    /// What they mean to each other.
    pub kind: IterKind,
}

/// A view of a buffer region under a name of its own (`T.match_buffer` inside a block).
#[derive(Clone, Debug)]
pub struct MatchBuffer {
    /// The view.
    pub buffer: Buffer,
    /// What it views.
    pub source: BufferRegion,
}

/// A unit of computation: iter variables, bound by expressions of the loops around it, and what the body reads and writes.
#[derive(Clone, Debug)]
pub struct Block {
    /// Name, unique in the function where a schedule is to find it.
    pub name: String,
    /// Iter variables.
    pub iters: Vec<IterVar>,
    /// Value of each iter variable in terms of the loops (TVM: `BlockRealize.iter_values`).
    pub bindings: Vec<Expr>,
    /// Instances for which this is false do not run (`T.where`).
    pub predicate: Expr,
    /// What the body reads.
    pub reads: Vec<BufferRegion>,
    /// What the body writes.
    pub writes: Vec<BufferRegion>,
    /// Runs before the first value of the reduce iter variables (`T.init`), also if there is none. Loops and blocks in it, as `blockize` makes them,
    /// have no parent in the [`LoopTree`].
    pub init: Option<Vec<Stmt>>,
    /// Buffers that live while the block runs.
    pub alloc_buffers: Vec<Buffer>,
    /// Views.
    pub match_buffers: Vec<MatchBuffer>,
    /// Annotations (`T.block_attr`).
    pub annotations: Attrs,
}

impl Block {
    /// A block without iter variables that always runs, and of which nothing but the name is said.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            iters: vec![],
            bindings: vec![],
            predicate: Expr::bool(true),
            reads: vec![],
            writes: vec![],
            init: None,
            alloc_buffers: vec![],
            match_buffers: vec![],
            annotations: Attrs::new(),
        }
    }

    /// The binding of an iter variable of the block.
    pub fn binding_of(&self, var: &Var) -> Option<&Expr> {
        let at = self.iters.iter().position(|iter| iter.var == *var)?;
        self.bindings.get(at)
    }
}

/// One item of a body.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// A loop, whose body the [`LoopTree`] holds.
    Loop(LoopId),
    /// A block, whose body the [`LoopTree`] holds.
    Block(BlockId),
    /// `buffer[indices] = value`; with a vector as last index, as many elements as it has lanes.
    Store {
        /// Written buffer.
        buffer: Buffer,
        /// One index for each dimension.
        indices: Vec<Expr>,
        /// Written value.
        value: Expr,
    },
    /// `value` named `var` inside `body`.
    Let {
        /// The name.
        var: Var,
        /// What it stands for.
        value: Expr,
        /// Where it does.
        body: Vec<Stmt>,
    },
    /// `if cond`
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
    /// `assert cond, message`
    Assert {
        /// Must be true.
        cond: Expr,
        /// Said if it is not.
        message: String,
    },
    /// An expression evaluated for nothing (`T.evaluate`).
    Evaluate(Expr),
    /// A second way to index memory inside `body` (`T.decl_buffer`): the elements of `buffer` lie at its strides and offset from
    /// an address, which is that of another buffer (`A.data`) or a parameter.
    View {
        /// The view.
        buffer: Buffer,
        /// Address of its memory.
        memory: Expr,
        /// Where it can be used.
        body: Vec<Stmt>,
    },
    /// A remark on `body` (`T.attr`). It changes nothing of what the program computes.
    Attr {
        /// What the remark is about: a variable, a buffer, a reducer.
        node: AttrValue,
        /// What is remarked.
        key: String,
        /// Its value.
        value: AttrValue,
        /// What it holds for.
        body: Vec<Stmt>,
    },
    /// An operation on tiles, which no back end gives a meaning.
    Tile(Box<TileOp>),
    /// Ends the innermost loop.
    Break,
    /// Ends this iteration of the innermost loop.
    Continue,
    /// Ends the function, with its result if it has one; in a loop that is bound to the launch, the work of the thread.
    Return(Option<Expr>),
}

impl Stmt {
    /// The loops and blocks that the statement is or holds, without those inside of these.
    pub fn places(&self) -> Vec<Place> {
        match self {
            Self::Loop(id) => vec![Place::Loop(*id)],
            Self::Block(id) => vec![Place::Block(*id)],
            other => other
                .nested()
                .into_iter()
                .flatten()
                .flat_map(Self::places)
                .collect(),
        }
    }

    /// The statement lists directly inside, not through loops and blocks.
    pub fn nested(&self) -> Vec<&Vec<Stmt>> {
        match self {
            Self::Loop(_)
            | Self::Block(_)
            | Self::Store {
                buffer: _,
                indices: _,
                value: _,
            } => vec![],
            Self::Assert {
                cond: _,
                message: _,
            }
            | Self::Evaluate(_)
            | Self::Tile(_)
            | Self::Break
            | Self::Continue
            | Self::Return(_) => vec![],
            Self::Let {
                var: _,
                value: _,
                body,
            }
            | Self::View {
                buffer: _,
                memory: _,
                body,
            }
            | Self::Attr {
                node: _,
                key: _,
                value: _,
                body,
            }
            | Self::While { cond: _, body } => vec![body],
            Self::If {
                cond: _,
                then,
                otherwise,
            } => vec![then, otherwise],
        }
    }

    /// The statement lists directly inside, to be changed.
    pub fn nested_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Self::Loop(_)
            | Self::Block(_)
            | Self::Store {
                buffer: _,
                indices: _,
                value: _,
            } => vec![],
            Self::Assert {
                cond: _,
                message: _,
            }
            | Self::Evaluate(_)
            | Self::Tile(_)
            | Self::Break
            | Self::Continue
            | Self::Return(_) => vec![],
            Self::Let {
                var: _,
                value: _,
                body,
            }
            | Self::View {
                buffer: _,
                memory: _,
                body,
            }
            | Self::Attr {
                node: _,
                key: _,
                value: _,
                body,
            }
            | Self::While { cond: _, body } => vec![body],
            Self::If {
                cond: _,
                then,
                otherwise,
            } => vec![then, otherwise],
        }
    }

    /// The expressions of this statement itself, not of statements inside.
    pub fn exprs(&self) -> Vec<&Expr> {
        match self {
            Self::Loop(_)
            | Self::Block(_)
            | Self::Attr {
                node: _,
                key: _,
                value: _,
                body: _,
            }
            | Self::Break
            | Self::Continue
            | Self::Return(None) => vec![],
            Self::Tile(op) => op.operands().flat_map(AttrValue::exprs).collect(),
            Self::Store {
                buffer: _,
                indices,
                value,
            } => indices.iter().chain([value]).collect(),
            Self::Let {
                var: _,
                value: e,
                body: _,
            }
            | Self::If {
                cond: e,
                then: _,
                otherwise: _,
            }
            | Self::While { cond: e, body: _ }
            | Self::View {
                buffer: _,
                memory: e,
                body: _,
            }
            | Self::Assert {
                cond: e,
                message: _,
            }
            | Self::Evaluate(e)
            | Self::Return(Some(e)) => vec![e],
        }
    }
}

/// A parameter of a [`PrimFunc`].
#[derive(Clone, Debug)]
pub enum Param {
    /// A tensor, seen as a buffer. Symbolic extents that first occur here are defined by the tensor's shape.
    Buffer {
        /// The handle (`T.handle`), whose name is that of the parameter.
        handle: Var,
        /// The buffer matched to it.
        buffer: Buffer,
    },
    /// A scalar.
    Scalar(Var),
}

impl Param {
    /// A tensor parameter with a new handle.
    pub fn of_buffer(buffer: &Buffer) -> Self {
        Self::Buffer {
            handle: Var::new(buffer.name(), DType::U64),
            buffer: buffer.clone(),
        }
    }
}

/// A loop program. Outputs are the last parameters (destination passing).
#[derive(Clone, Debug)]
pub struct PrimFunc {
    /// Its name in the module.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Type of the scalar that it returns, if it does: every way through it ends in [`Stmt::Return`] with one.
    pub ret: Option<DType>,
    /// Attributes (`T.func_attr`).
    pub attrs: Attrs,
    /// Whether only this module calls it.
    pub private: bool,
    /// The loops.
    pub loops: Arena<LoopId, Loop>,
    /// The blocks.
    pub blocks: Arena<BlockId, Block>,
    /// How they nest.
    pub tree: LoopTree,
    /// The block that holds everything. It has no iter variables, and reads and writes nothing of its own.
    pub root: BlockId,
    /// Where it comes from.
    pub origin: Origin,
}

impl PrimFunc {
    /// The scalar that it returns as an expression of its parameters, if it takes scalars and does nothing else.
    pub fn as_scalar(&self) -> Option<&Expr> {
        let scalars = self
            .params
            .iter()
            .all(|param| matches!(param, Param::Scalar(_)));
        match self.tree.body(self.root) {
            [Stmt::Return(Some(e))] if scalars => Some(e),
            _ => None,
        }
    }

    /// A function with an empty root block.
    pub fn new(name: impl Into<String>, params: Vec<Param>) -> Self {
        let mut blocks = Arena::new();
        let root = blocks.push(Block::named("root"));
        Self {
            name: name.into(),
            params,
            ret: None,
            attrs: Attrs::new(),
            private: false,
            loops: Arena::new(),
            blocks,
            tree: LoopTree::default(),
            root,
            origin: Origin::Unknown,
        }
    }

    /// The buffers among the parameters, in order.
    pub fn buffer_params(&self) -> impl Iterator<Item = &Buffer> {
        self.params.iter().filter_map(|p| {
            if let Param::Buffer { handle: _, buffer } = p {
                Some(buffer)
            } else {
                None
            }
        })
    }

    /// The buffers that blocks allocate, in program order.
    pub fn allocated(&self) -> impl Iterator<Item = &Buffer> {
        let blocks = self.blocks_under(Place::Block(self.root)).into_iter();
        blocks.flat_map(|id| &self.blocks[id].alloc_buffers)
    }

    /// The loops around a loop or block up to the nearest block, outermost first (the item itself not among them).
    pub fn loops_above(&self, item: Place) -> Vec<LoopId> {
        let mut loops = Vec::new();
        let mut at = self.tree.parent(item);
        while let Some(Place::Loop(id)) = at {
            loops.push(id);
            at = self.tree.parent(Place::Loop(id));
        }
        loops.reverse();
        loops
    }

    /// The nearest block above a loop or block.
    pub fn scope_block(&self, item: Place) -> Option<BlockId> {
        let mut at = self.tree.parent(item);
        loop {
            match at? {
                Place::Block(id) => return Some(id),
                loop_ @ Place::Loop(_) => at = self.tree.parent(loop_),
            }
        }
    }

    /// All living blocks below and including `item`, in program order.
    pub fn blocks_under(&self, item: Place) -> Vec<BlockId> {
        let mut out = Vec::new();
        self.tree.walk(item, &mut |place| {
            if let Place::Block(id) = place {
                out.push(id);
            }
        });
        out
    }

    /// As [`blocks_under`](Self::blocks_under), and those in the inits of these blocks.
    pub fn blocks_within(&self, item: Place) -> Vec<BlockId> {
        let mut out = Vec::new();
        for id in self.blocks_under(item) {
            out.push(id);
            let init = self.blocks[id].init.iter().flatten();
            for place in init.flat_map(Stmt::places) {
                out.extend(self.blocks_within(place));
            }
        }
        out
    }

    /// The direct child blocks of `item`: those with no other block in between, in program order.
    pub fn child_blocks(&self, item: Place) -> Vec<BlockId> {
        let mut out = Vec::new();
        let mut stack: Vec<_> = self.tree.children(item).into_iter().rev().collect();
        while let Some(place) = stack.pop() {
            match place {
                Place::Block(id) => out.push(id),
                Place::Loop(_) => stack.extend(self.tree.children(place).into_iter().rev()),
            }
        }
        out
    }
}

/// The name, with a number if it is taken; it is taken then.
pub fn unique_name(name: &str, taken: &mut HashSet<String>) -> String {
    let mut unique = name.to_owned();
    let mut count = 0;
    while !taken.insert(unique.clone()) {
        count += 1;
        unique = format!("{name}_{count}");
    }
    unique
}
