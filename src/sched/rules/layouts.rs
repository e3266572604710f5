//! Layouts that default schedules want for weights, which are rewritten once (TVM: `layout_free_buffers`).
//!
//! A rule that copies an operand to another layout inside of its kernel does so in each run. Where the operand is a weight, its
//! layout can be chosen instead: [`wanted`] says which, a pass rewrites weight and program, and the rule finds the operand as it
//! wants it. An argument of a call keeps its layout; [`reads_along_sums`] says whether a transpose of it is of use at all.

use super::{cpu, gpu};
use crate::arith::{Analyzer, access_regions};
use crate::ir::{Buffer, Expr, ExprKind, Param, Place, PrimFunc, Rewrite};
use crate::kernel::Target;
use crate::tensor::DType;

/// A parameter of a loop program, and the layout that the program would be faster with.
#[derive(Clone, PartialEq, Debug)]
pub struct Wanted {
    /// Which parameter.
    pub param: usize,
    /// The layout.
    pub layout: Layout,
}

/// A layout of a tensor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// In panels.
    Panels(Panels),
    /// With its dimensions in another order: dimension `i` is the dimension `from[i]` of the tensor.
    Permuted(Vec<usize>),
}

impl Layout {
    /// Its name, as that of a program that makes it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Panels(_) => "panels",
            Self::Permuted(_) => "permuted",
        }
    }

    /// The extents in this layout of a tensor with these extents: `int64`, as those of graph values are.
    pub fn shape(&self, shape: &[Expr]) -> Vec<Expr> {
        let shape: Vec<Expr> = shape.iter().map(|extent| extent.cast(DType::I64)).collect();
        match self {
            Self::Panels(panels) => panels.shape(&shape),
            Self::Permuted(from) => permuted(&shape, from),
        }
    }

    /// Where an element lies.
    pub fn place(&self, indices: &[Expr]) -> Vec<Expr> {
        match self {
            Self::Panels(panels) => panels.place(indices),
            Self::Permuted(from) => permuted(indices, from),
        }
    }

    /// Which element lies there.
    pub fn element(&self, place: &[Expr]) -> Vec<Expr> {
        match self {
            Self::Panels(panels) => panels.element(place),
            Self::Permuted(from) => {
                let at = |dim| from.iter().position(|own| *own == dim);
                let places = (0..from.len()).map(|dim| at(dim).expect("an order of all"));
                places.map(|at| place[at].clone()).collect()
            }
        }
    }

    /// The dimension of the tensor beyond whose end there are places without an element.
    pub fn filled_up(&self) -> Option<usize> {
        match self {
            Self::Panels(panels) => Some(panels.axis),
            Self::Permuted(_) => None,
        }
    }
}

fn permuted(all: &[Expr], from: &[usize]) -> Vec<Expr> {
    from.iter().map(|&at| all[at].clone()).collect()
}

/// A matrix, or several behind each other, in panels: `W[batch.., k.., n]` with `n` anywhere becomes
/// `P[batch.., n // width, k.., n % width]`. The last panel is filled up with zeros.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Panels {
    /// Leading dimensions that stay.
    pub batch: usize,
    /// The dimension that is cut.
    pub axis: usize,
    /// Elements of a row of a panel.
    pub width: i64,
}

impl Panels {
    fn shape(&self, shape: &[Expr]) -> Vec<Expr> {
        let count = (shape[self.axis].clone() + (self.width - 1)).floor_div(self.width);
        let count = Analyzer::new().simplify(&count);
        self.placed(shape, count, Expr::i64(self.width))
    }

    fn place(&self, indices: &[Expr]) -> Vec<Expr> {
        let at = &indices[self.axis];
        let width = || Expr::int(self.width, at.dtype());
        self.placed(indices, at.floor_div(width()), at.floor_mod(width()))
    }

    /// Which element lies there; beyond the end of the axis it is none.
    fn element(&self, place: &[Expr]) -> Vec<Expr> {
        let mut indices = place.to_vec();
        let within = indices.pop().expect("panels have rows");
        let panel = indices.remove(self.batch);
        indices.insert(self.axis, panel * self.width + within);
        indices
    }

    fn placed(&self, all: &[Expr], panel: Expr, within: Expr) -> Vec<Expr> {
        let mut placed = all.to_vec();
        placed.remove(self.axis);
        placed.insert(self.batch, panel);
        placed.push(within);
        placed
    }
}

/// The layouts that the default schedule of a program wants for its parameters.
pub fn wanted(func: &PrimFunc, target: &Target) -> Vec<Wanted> {
    if super::is_scheduled(func) {
        return vec![];
    }
    // Blocks in blocks too: those of the steps of a recurrence.
    let blocks = func.blocks_under(Place::Block(func.root)).into_iter();
    let wanted = blocks
        .filter(|&block| block != func.root)
        .filter_map(|block| {
            let (buffer, layout) = match target {
                Target::Cpu(_) => {
                    let (buffer, panels) = cpu::panels_for(func, block)?;
                    (buffer, Layout::Panels(panels))
                }
                Target::Gpu(gpu) => {
                    let (buffer, from) = gpu::order_of_weights(func, block, gpu)?;
                    (buffer, Layout::Permuted(from))
                }
            };
            let param = func.params.iter().position(|param| match param {
                Param::Buffer {
                    handle: _,
                    buffer: b,
                } => *b == buffer,
                Param::Scalar(_) => false,
            })?;
            let free = is_plain(&buffer) && readers(func, &buffer) == 1;
            free.then_some(Wanted { param, layout })
        });
    wanted.collect()
}

/// Whether a buffer lies dense and in rows from its start.
fn is_plain(buffer: &Buffer) -> bool {
    let node = buffer.node();
    node.strides.is_empty() && node.elem_offset.is_none() && node.layout.is_none()
}

/// Loads of the buffer, and regions of it that are given to others.
fn readers(func: &PrimFunc, buffer: &Buffer) -> usize {
    struct Count<'b>(&'b Buffer, usize);
    impl Rewrite for Count<'_> {
        fn expr(&mut self, e: &Expr) -> Expr {
            e.walk(&mut |e| {
                if let ExprKind::Load(buffer, _) | ExprKind::Data(buffer) = e.kind()
                    && buffer == self.0
                {
                    self.1 += 1;
                }
                true
            });
            e.clone()
        }
    }
    let mut count = Count(buffer, 0);
    func.map(&mut count);
    count.1
}

/// The program with a parameter in another layout.
pub fn with_layout(func: &PrimFunc, wanted: &Wanted) -> PrimFunc {
    let Wanted { param, layout } = wanted;
    let shape = |shape: &[Expr]| layout.shape(shape);
    relaid(func, *param, &shape, &|indices| layout.place(indices))
}

/// The program with a parameter as it was before a transpose: its dimension `i` there is the dimension `from[i]`.
pub fn before_transpose(func: &PrimFunc, param: usize, from: &[usize]) -> PrimFunc {
    let moved = |all: &[Expr]| permuted(all, from);
    relaid(func, param, &moved, &moved)
}

/// Whether the default schedule reads this operand of a product along the sums, where it lies. A product of few rows does: it uses each
/// element of the matrix too seldom to move it first.
pub fn reads_along_sums(func: &PrimFunc, param: usize, target: &Target) -> bool {
    let Some(Param::Buffer { handle: _, buffer }) = func.params.get(param) else {
        return false;
    };
    if super::is_scheduled(func) || !is_plain(buffer) || readers(func, buffer) != 1 {
        return false;
    }
    let blocks = func.child_blocks(Place::Block(func.root)).into_iter();
    blocks.into_iter().any(|block| {
        let reads = &func.blocks[block].reads;
        reads.iter().any(|read| read.buffer == *buffer)
            && match target {
                Target::Cpu(_) => cpu::reads_along_sums(func, block, buffer),
                Target::Gpu(_) => gpu::reads_along_sums(func, block, buffer),
            }
    })
}

/// Indices, or extents, in another layout.
type Moved<'m> = &'m dyn Fn(&[Expr]) -> Vec<Expr>;

/// The program with a parameter in another layout, of these extents, where an element lies at the place of its indices.
fn relaid(func: &PrimFunc, param: usize, shape: Moved<'_>, place: Moved<'_>) -> PrimFunc {
    struct Relaid<'p> {
        old: Buffer,
        new: Buffer,
        place: Moved<'p>,
    }
    impl Rewrite for Relaid<'_> {
        fn expr(&mut self, e: &Expr) -> Expr {
            e.rewrite_bottom_up(&mut |e| match e.kind() {
                ExprKind::Load(buffer, indices) if *buffer == self.old => {
                    Expr::load(&self.new, (self.place)(indices))
                }
                _ => e.clone(),
            })
        }

        fn buffer(&mut self, buffer: &Buffer) -> Buffer {
            if *buffer == self.old {
                &self.new
            } else {
                buffer
            }
            .clone()
        }
    }
    let Param::Buffer {
        handle: _,
        buffer: old,
    } = &func.params[param]
    else {
        return func.clone();
    };
    let new = Buffer::new(old.name(), shape(old.shape()), old.dtype());
    let mut moved = Relaid {
        old: old.clone(),
        new: new.clone(),
        place,
    };
    let mut func = func.map(&mut moved);
    // From the innermost, whose regions those of the blocks around them are made of.
    let blocks = func.blocks_under(func.root.into());
    for block in blocks.into_iter().rev() {
        let reads = &func.blocks[block].reads;
        if reads.iter().any(|read| read.buffer == new) {
            let reads = access_regions(&func, block).reads;
            func.blocks[block].reads = reads;
        }
    }
    func
}
