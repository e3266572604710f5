//! Writes at indices which are tensors.
//!
//! Several updates may go to one element: then they count in their order, so one thread makes them all. What a thread does not
//! need to share with others (a line of `scatter_elements`) is done by as many threads as there are lines.

use crate::ir::{Buffer, Expr, PrimFuncBuilder, Scope, Var};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// What becomes of an element that is updated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Update {
    /// The update.
    Replace,
    /// Both combined.
    Combine(BinOp),
    /// The mean of both, again for each update.
    Mean,
}

impl Update {
    fn of(self, old: Expr, new: Expr) -> Expr {
        match self {
            Self::Replace => new,
            Self::Combine(op) => Expr::binary(op, old, new),
            Self::Mean => {
                let two = Expr::constant(2, old.dtype());
                (old + new) / two
            }
        }
    }
}

fn exprs(vars: &[Var]) -> Vec<Expr> {
    vars.iter().map(Var::expr).collect()
}

fn loops(extents: &[Expr]) -> Vec<(String, Expr)> {
    let extents = extents.iter().enumerate();
    extents
        .map(|(at, extent)| (format!("j{at}"), extent.clone()))
        .collect()
}

/// One update of the element at `place`; none if that is outside.
fn scatter(b: &mut PrimFuncBuilder, out: &Buffer, new: Expr, place: Vec<Expr>, update: Update) {
    let inside = place.iter().zip(out.shape());
    let inside = te::all(inside.map(|(at, extent)| {
        let zero = Expr::constant(0, at.dtype());
        at.ge(zero).and(at.lt(extent.cast(at.dtype())))
    }));
    b.if_(inside, |b| {
        let old = Expr::load(out, place.clone());
        b.store(out, place, update.of(old, new));
    });
}

/// `data` updated at `indices` along the axis: ONNX's `ScatterElements`.
pub fn scatter_elements(
    name: &str,
    data: &Tensor,
    indices: &Tensor,
    updates: &Tensor,
    axis: usize,
    update: Update,
) -> Tensor {
    let mut outer = data.shape().to_vec();
    outer.remove(axis);
    let write = move |b: &mut PrimFuncBuilder, line: &[Var], given: &[Buffer], out: &[Buffer]| {
        let ([data, indices, updates], [out]) = (given, out) else {
            unreachable!("three inputs, one output")
        };
        let at = |k: Expr| {
            let mut index = exprs(line);
            index.insert(axis, k);
            index
        };
        b.grid([("k", data.shape()[axis].clone())], |b, k| {
            let index = at(k[0].expr());
            b.store(out, index.clone(), Expr::load(data, index));
        });
        // The indices may have fewer lines than the data.
        let fewer = (data.shape().iter().zip(indices.shape()).enumerate())
            .filter(|(at, (all, own))| *at != axis && all != own)
            .map(|(at, (_, own))| line[at - usize::from(at > axis)].expr().lt(own));
        let exists = te::all(fewer);
        let all = |b: &mut PrimFuncBuilder| {
            b.grid([("j", indices.shape()[axis].clone())], |b, j| {
                let from = at(j[0].expr());
                let index = Expr::load(indices, from.clone());
                let index = super::from_start(&index, &data.shape()[axis]);
                let new = Expr::load(updates, from);
                scatter(b, out, new, at(index), update);
            });
        };
        match exists.as_bool() {
            Some(true) => all(b),
            _ => b.if_(exists, all),
        }
    };
    let inputs = [data.clone(), indices.clone(), updates.clone()];
    let result = vec![(data.shape().to_vec(), data.dtype())];
    te::extern_each(name, outer, &inputs, result, write).remove(0)
}

/// `data` updated at slices: the last dimension of `indices` is the first part of an index in `data`, ONNX's `ScatterND`.
pub fn scatter_nd(
    name: &str,
    data: &Tensor,
    indices: &Tensor,
    updates: &Tensor,
    depth: usize,
    update: Update,
) -> Tensor {
    let places = indices.ndim() - 1;
    in_order(
        name,
        data,
        std::slice::from_ref(indices),
        updates,
        update,
        {
            move |data, updates, indices| {
                let shape = updates.shape().to_vec();
                let (data, indices) = (data.clone(), indices[0].clone());
                let place = move |j: &[Expr]| {
                    let coordinate = |k: usize| {
                        let at = j[..places].iter().cloned().chain([Expr::i64(k as i64)]);
                        let at = Expr::load(&indices, at.collect());
                        super::from_start(&at, &data.shape()[k])
                    };
                    let index = (0..depth).map(coordinate);
                    index.chain(j[places..].iter().cloned()).collect()
                };
                (shape, Box::new(place))
            }
        },
    )
}

/// `data` updated at the slices that broadcast `indices` select, one tensor for each of the first dimensions. Updates are
/// broadcast to the slices.
pub fn index_put(
    name: &str,
    data: &Tensor,
    indices: &[Tensor],
    updates: &Tensor,
    update: Update,
) -> Tensor {
    in_order(name, data, indices, updates, update, |data, _, indices| {
        let shapes: Vec<&[Expr]> = indices.iter().map(Buffer::shape).collect();
        let mut shape = super::broadcast::broadcast_extents(&shapes);
        let places = shape.len();
        shape.extend_from_slice(&data.shape()[indices.len()..]);
        let (data, indices) = (data.clone(), indices.to_vec());
        let place = move |j: &[Expr]| {
            let index = indices.iter().zip(data.shape()).map(|(at, extent)| {
                let at = Expr::load(at, broadcast_index(at, &j[..places]));
                super::from_start(&at, extent)
            });
            index.chain(j[places..].iter().cloned()).collect()
        };
        (shape, Box::new(place))
    })
}

/// The index in a buffer that is broadcast to a larger shape.
fn broadcast_index(buffer: &Buffer, index: &[Expr]) -> Vec<Expr> {
    let skipped = index.len() - buffer.ndim();
    let index = index[skipped..].iter().zip(buffer.shape());
    let at = index.map(|(at, extent)| match extent.is_one() {
        true => Expr::i64(0),
        false => at.clone(),
    });
    at.collect()
}

/// The shape of all updates, and the index in the data of each of them.
type Places = (Vec<Expr>, Box<dyn Fn(&[Expr]) -> Vec<Expr>>);

/// A copy of `data`, and then one update after the other. `places` gets the data, the updates and the indices.
fn in_order(
    name: &str,
    data: &Tensor,
    indices: &[Tensor],
    updates: &Tensor,
    update: Update,
    places: impl Fn(&Buffer, &Buffer, &[Buffer]) -> Places + Send + Sync + 'static,
) -> Tensor {
    let inputs: Vec<Tensor> = [data, updates]
        .into_iter()
        .chain(indices)
        .cloned()
        .collect();
    let result = vec![(data.shape().to_vec(), data.dtype())];
    let write = move |b: &mut PrimFuncBuilder, given: &[Buffer], out: &[Buffer]| {
        let ([data, updates, indices @ ..], [out]) = (given, out) else {
            unreachable!("data and updates, one output")
        };
        copy(b, data, out);
        let (shape, place) = places(data, updates, indices);
        b.grid(loops(&shape), |b, j| {
            let j = exprs(j);
            let new = Expr::load(updates, broadcast_index(updates, &j));
            scatter(b, out, new, place(&j), update);
        });
    };
    te::extern_(name, &inputs, result, write).remove(0)
}

fn copy(b: &mut PrimFuncBuilder, from: &Buffer, to: &Buffer) {
    b.grid(loops(from.shape()), |b, i| {
        let i = exprs(i);
        b.store(to, i.clone(), Expr::load(from, i));
    });
}

/// `data` where the mask is false, and where it is true the next element of `source`, in row-major order.
pub fn masked_scatter(name: &str, data: &Tensor, mask: &Tensor, source: &Tensor) -> Tensor {
    let inputs = [data.clone(), mask.clone(), source.clone()];
    let result = vec![(data.shape().to_vec(), data.dtype())];
    let write = |b: &mut PrimFuncBuilder, given: &[Buffer], out: &[Buffer]| {
        let ([data, mask, source], [out]) = (given, out) else {
            unreachable!("three inputs, one output")
        };
        let zero = vec![Expr::i64(0)];
        let next = b.alloc("next", [1i64], DType::I32, Scope::Local);
        b.store(&next, zero.clone(), Expr::i32(0));
        b.grid(loops(data.shape()), |b, i| {
            let i = exprs(i);
            let chosen = Expr::load(mask, broadcast_index(mask, &i));
            let count = Expr::load(&next, zero.clone());
            let from = super::clipped(&count, &super::volume(source.shape()));
            b.if_else(
                chosen,
                |b| {
                    let new = Expr::load(source, super::unravel(&from, source.shape()));
                    b.store(out, i.clone(), new);
                    b.store(&next, zero.clone(), count.clone() + 1);
                },
                |b| b.store(out, i.clone(), Expr::load(data, i.clone())),
            );
        });
    };
    te::extern_(name, &inputs, result, write).remove(0)
}
