//! What convolution a loop program computes, in any layout.

use super::algorithm::{Nested, TAPS};
use crate::arith::Analyzer;
use crate::ir::{
    Block, BlockId, Buffer, BufferRegion, Expr, ExprKind, IterKind, LoopKind, Param, Place,
    PrimFunc, Range, Stmt, StructInfo, Var,
};
use crate::sched::rules::pattern::{Matmul, Pattern, classify};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// A convolution of `float32` by filters of 3 by 3 taps, one apart, that all channels share.
#[derive(Clone, Debug)]
pub(super) struct Convolution {
    /// Which parameters are the image, the weight and the result.
    pub(super) params: Params,
    pub(super) batch: Expr,
    pub(super) inputs: i64,
    pub(super) outputs: i64,
    /// Rows and columns of the result.
    pub(super) pixels: [i64; 2],
    pub(super) image: Image,
    pub(super) weight_shape: Vec<Expr>,
    /// Dimensions of the weight: outputs, inputs, taps down, taps across.
    weight_dims: [usize; 4],
    pub(super) result_shape: Vec<Expr>,
    /// Dimensions of the result: images, rows, columns, channels.
    result_dims: [usize; 4],
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Params {
    pub(super) image: usize,
    pub(super) weight: usize,
    pub(super) result: usize,
}

/// The image that is filtered.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pub(super) shape: Vec<Expr>,
    /// Its dimensions: images, rows, columns, channels.
    dims: [usize; 4],
    /// Its rows and columns.
    pub(super) extents: [i64; 2],
    /// Rows and columns of zeros before it.
    pub(super) pad: [i64; 2],
}

impl Image {
    /// Where it has an element, given images, row, column, channel.
    pub(super) fn place(&self, at: &[Expr]) -> Vec<Expr> {
        placed(&self.dims, at)
    }

    /// Whether channels are neighbours.
    pub(super) fn has_channels_last(&self) -> bool {
        self.dims == [0, 1, 2, 3]
    }
}

impl Convolution {
    /// The convolution that a program with one result computes, perhaps of an image that it pads.
    pub(super) fn of(func: &PrimFunc) -> Option<Self> {
        let [
            Param::Buffer { .. },
            Param::Buffer { .. },
            Param::Buffer { .. },
        ] = func.params[..]
        else {
            return None;
        };
        let param = |buffer: &Buffer| func.buffer_params().position(|b| b == buffer);
        let blocks = func.child_blocks(Place::Block(func.root));
        let (&block, before) = blocks.split_last()?;
        let alone = func.tree.body(func.root).len() == blocks.len();
        if !alone || !blocks.iter().all(|&block| is_whole_nest(func, block)) {
            return None;
        }
        if !starts_with_zero(func, block) {
            return None;
        }
        let Pattern::Matmul(matmul) = classify(func, block) else {
            return None;
        };
        let roles = Roles::of(func, block, &matmul)?;
        let info = &func.blocks[block];
        let extent = |at: usize| info.iters[at].dom.extent.as_int();
        let written = &info.writes[0].buffer;
        let (source, pad) = match before {
            [] => (roles.image.clone(), [0; 4]),
            [padding] => padded(func, *padding, &roles.image)?,
            _ => return None,
        };
        let params = Params {
            image: param(&source)?,
            weight: param(&roles.weight)?,
            result: param(written)?,
        };
        let [image_batch, _, _, image_channels] = roles.image_dims;
        let whole = [
            (&source, image_batch, roles.batch),
            (&source, image_channels, roles.inputs),
            (&roles.weight, roles.weight_dims[0], roles.outputs),
            (&roles.weight, roles.weight_dims[1], roles.inputs),
            (&roles.weight, roles.weight_dims[2], roles.tap_rows),
            (&roles.weight, roles.weight_dims[3], roles.tap_columns),
            (written, roles.result_dims[0], roles.batch),
            (written, roles.result_dims[1], roles.rows),
            (written, roles.result_dims[2], roles.columns),
            (written, roles.result_dims[3], roles.outputs),
        ];
        let whole = whole
            .into_iter()
            .all(|(buffer, dim, at)| buffer.shape()[dim] == info.iters[at].dom.extent);
        if !whole || pad[image_batch] != 0 || pad[image_channels] != 0 {
            return None;
        }
        let of_f32 = [&source, &roles.weight, written]
            .iter()
            .all(|buffer| buffer.dtype() == DType::F32);
        let unit = [roles.tap_rows, roles.tap_columns];
        if !of_f32 || unit.iter().any(|&at| extent(at) != Some(TAPS as i64)) {
            return None;
        }
        let none = (0..info.iters.len()).any(|at| extent(at) == Some(0));
        let batch = &info.iters[roles.batch].dom.extent;
        if none || (batch.as_int().is_none() && batch.as_var().is_none()) {
            return None;
        }
        let dims = roles.image_dims;
        let shape = source.shape().to_vec();
        Some(Self {
            params,
            batch: batch.cast(DType::I64),
            inputs: extent(roles.inputs)?,
            outputs: extent(roles.outputs)?,
            pixels: [extent(roles.rows)?, extent(roles.columns)?],
            image: Image {
                extents: [shape[dims[1]].as_int()?, shape[dims[2]].as_int()?],
                pad: [pad[dims[1]], pad[dims[2]]],
                shape,
                dims,
            },
            weight_shape: roles.weight.shape().to_vec(),
            weight_dims: roles.weight_dims,
            result_shape: written.shape().to_vec(),
            result_dims: roles.result_dims,
        })
    }

    /// Where a weight is.
    pub(super) fn weight_at(&self, output: &Expr, input: &Expr, taps: &[Expr; 2]) -> Vec<Expr> {
        let [down, across] = taps;
        placed(
            &self.weight_dims,
            &[output.clone(), input.clone(), down.clone(), across.clone()],
        )
    }

    /// Images, row, column and channel of an element of the result.
    pub(super) fn result_places(&self, at: &[Expr]) -> [Expr; 4] {
        self.result_dims.map(|dim| at[dim].clone())
    }

    /// The number of images as the graph has it, given what the call returns.
    pub(super) fn batch_of(&self, result: &StructInfo) -> Option<Expr> {
        let shape = result.as_tensor()?.shape.dims()?;
        shape.get(self.result_dims[0]).cloned()
    }

    /// Rows and columns of tiles.
    pub(super) fn tiles(&self, filtering: Nested) -> [i64; 2] {
        [0, 1].map(|d| {
            let size = filtering[d].results() as i64;
            (self.pixels[d] + size - 1) / size
        })
    }

    /// Whether channels of the result are neighbours and its rows and columns whole tiles.
    pub(super) fn results_are_in_place(&self, filtering: Nested) -> bool {
        let mut sizes = self.pixels.iter().zip(filtering);
        let whole = sizes.all(|(pixels, f)| pixels % f.results() as i64 == 0);
        self.result_dims == [0, 1, 2, 3] && whole
    }
}

/// Whether the block runs once for each value of its iter variables, from 0 on, in loops of its own.
fn is_whole_nest(func: &PrimFunc, block: BlockId) -> bool {
    let info = &func.blocks[block];
    let loops = func.loops_above(block.into());
    let each = info.iters.iter().zip(&info.bindings).zip(&loops);
    let mut each = each.map(|((iter, binding), l)| {
        let l = &func.loops[*l];
        l.kind == LoopKind::Serial
            && l.min.is_zero()
            && iter.dom.min.is_zero()
            && l.extent == iter.dom.extent
            && binding.as_var() == Some(&l.var)
    });
    loops.len() == info.iters.len()
        && each.all(|whole| whole)
        && info.predicate.as_bool() == Some(true)
}

/// Whether sums start with 0.
fn starts_with_zero(func: &PrimFunc, block: BlockId) -> bool {
    let Some([Stmt::Store { value, .. }]) = func.blocks[block].init.as_deref() else {
        return false;
    };
    value.as_float() == Some(0.0)
}

/// These values in the order of dimensions.
fn placed(dims: &[usize; 4], values: &[Expr]) -> Vec<Expr> {
    let mut placed = values.to_vec();
    for (dim, value) in dims.iter().zip(values) {
        placed[*dim] = value.clone();
    }
    placed
}

/// What the iter variables of the block are, by position, and the dimensions of buffers that they count.
struct Roles {
    image: Buffer,
    weight: Buffer,
    batch: usize,
    rows: usize,
    columns: usize,
    outputs: usize,
    inputs: usize,
    tap_rows: usize,
    tap_columns: usize,
    image_dims: [usize; 4],
    weight_dims: [usize; 4],
    result_dims: [usize; 4],
}

impl Roles {
    fn of(func: &PrimFunc, block: BlockId, matmul: &Matmul) -> Option<Self> {
        let info = &func.blocks[block];
        let [a, b] = [&matmul.a, &matmul.b].map(|operand| &info.reads[operand.read_index]);
        let roles = Self::with(info, a, b).or_else(|| Self::with(info, b, a));
        roles.filter(|roles| roles.are_apart(info.iters.len()))
    }

    fn with(info: &Block, image: &BufferRegion, weight: &BufferRegion) -> Option<Self> {
        let [written] = info.writes.as_slice() else {
            return None;
        };
        let [of_weight, of_result] = [lone_each(info, weight)?, lone_each(info, written)?];
        if image.region.len() != 4 {
            return None;
        }
        let mut slides = vec![];
        let (mut batch, mut inputs) = (None, None);
        for (dim, range) in image.region.iter().enumerate() {
            match lone(info, range) {
                Some(at) if info.iters[at].kind == IterKind::Reduce => inputs = Some((dim, at)),
                Some(at) => batch = Some((dim, at)),
                None => slides.push((dim, sliding(info, range)?)),
            }
        }
        let [
            (row_dim, (rows, tap_rows)),
            (column_dim, (columns, tap_columns)),
        ] = slides[..]
        else {
            return None;
        };
        let ((batch_dim, batch), (input_dim, inputs)) = (batch?, inputs?);
        let mut of_weights = of_weight.iter().copied();
        let outputs = of_weights.find(|&at| info.iters[at].kind == IterKind::Spatial)?;
        Some(Self {
            image: image.buffer.clone(),
            weight: weight.buffer.clone(),
            weight_dims: dims(&of_weight, [outputs, inputs, tap_rows, tap_columns])?,
            result_dims: dims(&of_result, [batch, rows, columns, outputs])?,
            image_dims: [batch_dim, row_dim, column_dim, input_dim],
            batch,
            rows,
            columns,
            outputs,
            inputs,
            tap_rows,
            tap_columns,
        })
    }

    /// Whether each iter variable of a block of so many has one role.
    fn are_apart(&self, iters: usize) -> bool {
        let mut all = [
            self.batch,
            self.rows,
            self.columns,
            self.outputs,
            self.inputs,
            self.tap_rows,
            self.tap_columns,
        ];
        all.sort_unstable();
        all.into_iter().eq(0..iters)
    }
}

/// Which dimension each of the wanted iter variables counts, given which one each of four dimensions has.
fn dims(of: &[usize; 4], wanted: [usize; 4]) -> Option<[usize; 4]> {
    let dims = wanted.map(|at| of.iter().position(|found| *found == at));
    let [Some(a), Some(b), Some(c), Some(d)] = dims else {
        return None;
    };
    Some([a, b, c, d])
}

/// The iter variables that the four indices of an access are.
fn lone_each(info: &Block, access: &BufferRegion) -> Option<[usize; 4]> {
    let all = access.region.iter().map(|range| lone(info, range));
    all.collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// The iter variable that an index is.
fn lone(info: &Block, range: &Range) -> Option<usize> {
    let var = range.min.as_var().filter(|_| range.extent.is_one())?;
    info.iters.iter().position(|iter| iter.var == *var)
}

/// The iter variables of the result and of the filter whose sum an index is.
fn sliding(info: &Block, range: &Range) -> Option<(usize, usize)> {
    let (a, b) = range.min.as_binary(BinOp::Add)?;
    let position = |e: &Expr| {
        let var = e.as_var()?;
        info.iters.iter().position(|iter| iter.var == *var)
    };
    let (a, b) = (position(a)?, position(b)?);
    match (info.iters[a].kind, info.iters[b].kind) {
        (IterKind::Spatial, IterKind::Reduce) => Some((a, b)),
        (IterKind::Reduce, IterKind::Spatial) => Some((b, a)),
        _ => None,
    }
}

/// The buffer that the block pads with zeros, and the zeros before it in each dimension; `None` if the block does anything else.
fn padded(func: &PrimFunc, block: BlockId, image: &Buffer) -> Option<(Buffer, [i64; 4])> {
    let [
        Stmt::Store {
            buffer,
            indices,
            value,
        },
    ] = func.tree.body(Place::Block(block))
    else {
        return None;
    };
    let iters = &func.blocks[block].iters;
    let own: Vec<Expr> = iters.iter().map(|iter| iter.var.expr()).collect();
    if buffer != image || *indices != own || !matches!(classify(func, block), Pattern::Injective) {
        return None;
    }
    let ExprKind::IfThenElse(cond, then, otherwise) = value.kind() else {
        return None;
    };
    let ExprKind::Load(source, places) = then.kind() else {
        return None;
    };
    if otherwise.as_float() != Some(0.0) || places.len() != own.len() {
        return None;
    }
    let simplified = |e: Expr| Analyzer::new().simplify(&e).as_int();
    let pads = own.iter().zip(places).map(|(at, place)| {
        let (at, place) = (at.cast(DType::I64), place.cast(DType::I64));
        simplified(at - place).filter(|pad| *pad >= 0)
    });
    let pads: [i64; 4] = pads.collect::<Option<Vec<_>>>()?.try_into().ok()?;
    let bounds = Bounds::of(cond)?;
    for (dim, iter) in iters.iter().enumerate() {
        let inner = &source.shape()[dim];
        let outer = &image.shape()[dim];
        if pads[dim] == 0 && inner == outer {
            continue;
        }
        let (inner, outer) = (inner.as_int()?, outer.as_int()?);
        let from = bounds.lowest(&iter.var).unwrap_or(0).max(0);
        let to = bounds
            .highest(&iter.var)
            .unwrap_or(outer - 1)
            .min(outer - 1);
        if (from, to) != (pads[dim], pads[dim] + inner - 1) {
            return None;
        }
    }
    let bounded = bounds.0.iter().all(|(var, _, _)| {
        let dim = iters.iter().position(|iter| iter.var == *var);
        dim.is_some_and(|dim| pads[dim] != 0 || source.shape()[dim] != image.shape()[dim])
    });
    bounded.then(|| (source.clone(), pads))
}

/// Variables and the values that they may have, from and to.
struct Bounds(Vec<(Var, Option<i64>, Option<i64>)>);

impl Bounds {
    /// Those of a conjunction of comparisons with constants; `None` if it is something else.
    fn of(cond: &Expr) -> Option<Self> {
        if let Some((a, b)) = cond.as_binary(BinOp::And) {
            let (mut a, b) = (Self::of(a)?, Self::of(b)?);
            a.0.extend(b.0);
            return Some(a);
        }
        let compared = |op: BinOp| cond.as_binary(op).map(|(a, b)| (a.clone(), b.clone()));
        // `low <= high`, or `low < high`.
        let (low, high, less) = None
            .or_else(|| compared(BinOp::Le).map(|(a, b)| (a, b, 0)))
            .or_else(|| compared(BinOp::Ge).map(|(a, b)| (b, a, 0)))
            .or_else(|| compared(BinOp::Lt).map(|(a, b)| (a, b, 1)))
            .or_else(|| compared(BinOp::Gt).map(|(a, b)| (b, a, 1)))?;
        let bound = match (low.as_int(), low.as_var(), high.as_int(), high.as_var()) {
            (Some(low), _, _, Some(var)) => (var.clone(), Some(low + less), None),
            (_, Some(var), Some(high), _) => (var.clone(), None, Some(high - less)),
            _ => return None,
        };
        Some(Self(vec![bound]))
    }

    fn lowest(&self, var: &Var) -> Option<i64> {
        let own = self.0.iter().filter(|(v, _, _)| v == var);
        own.filter_map(|(_, low, _)| *low).max()
    }

    fn highest(&self, var: &Var) -> Option<i64> {
        let own = self.0.iter().filter(|(v, _, _)| v == var);
        own.filter_map(|(_, _, high)| *high).min()
    }
}
