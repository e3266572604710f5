//! Layouts that default schedules want for weights, which are rewritten once (TVM: `layout_free_buffers`).
//!
//! A rule that copies an operand to another layout inside of its kernel does so in each run. Where the operand is a weight, its
//! layout can be chosen instead: [`wanted`] says which, a pass rewrites weight and program, and the rule finds the operand as it
//! wants it.

use super::cpu;
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
    pub panels: Panels,
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
    /// The extents in panels of a tensor with these extents: `int64`, as those of graph values are.
    pub fn shape(&self, shape: &[Expr]) -> Vec<Expr> {
        let shape: Vec<Expr> = shape.iter().map(|extent| extent.cast(DType::I64)).collect();
        let count = (shape[self.axis].clone() + (self.width - 1)).floor_div(self.width);
        let count = Analyzer::new().simplify(&count);
        self.placed(&shape, count, Expr::i64(self.width))
    }

    /// Where an element lies.
    pub fn place(&self, indices: &[Expr]) -> Vec<Expr> {
        let at = &indices[self.axis];
        let width = || Expr::int(self.width, at.dtype());
        self.placed(indices, at.floor_div(width()), at.floor_mod(width()))
    }

    /// Which element lies there; beyond the end of the axis it is none.
    pub fn element(&self, place: &[Expr]) -> Vec<Expr> {
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
    let Target::Cpu(_) = target else {
        return vec![];
    };
    if super::is_scheduled(func) {
        return vec![];
    }
    let blocks = func.child_blocks(Place::Block(func.root)).into_iter();
    let wanted = blocks.filter_map(|block| {
        let (buffer, panels) = cpu::panels_for(func, block)?;
        let param = func.params.iter().position(|param| match param {
            Param::Buffer {
                handle: _,
                buffer: b,
            } => *b == buffer,
            Param::Scalar(_) => false,
        })?;
        (readers(func, &buffer) == 1).then_some(Wanted { param, panels })
    });
    wanted.collect()
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

/// The program with a parameter in panels.
pub fn with_panels(func: &PrimFunc, wanted: &Wanted) -> PrimFunc {
    struct Place<'p> {
        old: Buffer,
        new: Buffer,
        panels: &'p Panels,
    }
    impl Rewrite for Place<'_> {
        fn expr(&mut self, e: &Expr) -> Expr {
            e.rewrite_bottom_up(&mut |e| match e.kind() {
                ExprKind::Load(buffer, indices) if *buffer == self.old => {
                    Expr::load(&self.new, self.panels.place(indices))
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
    } = &func.params[wanted.param]
    else {
        return func.clone();
    };
    let new = Buffer::new(old.name(), wanted.panels.shape(old.shape()), old.dtype());
    let mut place = Place {
        old: old.clone(),
        new: new.clone(),
        panels: &wanted.panels,
    };
    let mut func = func.map(&mut place);
    let blocks = func.blocks_under(func.root.into());
    for block in blocks {
        let reads = &func.blocks[block].reads;
        if reads.iter().any(|read| read.buffer == new) {
            let reads = access_regions(&func, block).reads;
            func.blocks[block].reads = reads;
        }
    }
    func
}
