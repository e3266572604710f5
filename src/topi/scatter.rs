//! Writes at indices which are tensors.
//!
//! Several updates may go to one element: then they count in their order. So threads own elements, not updates. Each of a few threads
//! owns some rows of slices, goes through all updates, and makes those that are for its rows. Each of many threads owns one element: the
//! updates are sorted by the slice that they go to, and the element finds those that are for it. If there are few updates, each element
//! looks at all of them. Many lines of `scatter_elements` keep all threads busy: a thread has one.

use super::Scan;
use super::extent::{quotient, scaled, shifted};
use super::sort::{Order, Sort};
use crate::ir::{AttrValue, Axis, Buffer, Expr, IterKind, PrimFuncBuilder, Scope, Var, attrs};
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

/// The threads of a machine, where they decide by which algorithm something is computed on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threads {
    /// A few fast ones, as of a CPU.
    Few,
    /// Thousands, as of a GPU, in workgroups.
    Many(Workgroups),
}

/// The workgroups of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Workgroups {
    /// Most threads of a workgroup.
    pub threads: i64,
    /// Bytes of memory that they share.
    pub shared_bytes: i64,
    /// Whether that is faster than other memory.
    pub fast_shared: bool,
    /// Units that run workgroups.
    pub cores: i64,
    /// Threads that run in step: a workgroup of fewer leaves lanes idle.
    pub subgroup: i64,
    /// Multiplications and additions in the time of a byte of memory.
    pub operations_per_byte: i64,
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

/// Whether an index is one of a tensor with these extents.
fn is_inside(index: &[Expr], extents: &[Expr]) -> Expr {
    let index = index.iter().zip(extents);
    te::all(index.map(|(at, extent)| {
        let zero = Expr::constant(0, at.dtype());
        at.ge(zero).and(at.lt(extent.cast(at.dtype())))
    }))
}

/// One update of the element at `place`; none if that is outside.
fn scatter(b: &mut PrimFuncBuilder, out: &Buffer, new: Expr, place: Vec<Expr>, update: Update) {
    b.if_(is_inside(&place, out.shape()), |b| {
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
    threads: Threads,
) -> Tensor {
    let mut outer = data.shape().to_vec();
    outer.remove(axis);
    let lines = super::volume(&outer).as_int();
    let length = indices.shape()[axis].as_int();
    let few_lines = match threads {
        Threads::Few => 2,
        Threads::Many(_) => FEW_LINES,
    };
    if lines.is_some_and(|lines| lines < few_lines) && length.is_none_or(|n| n > FEW) {
        let slices = Slices::new(data, data.ndim(), indices.shape(), threads, |j, k| {
            match k == axis {
                true => indices.at(j),
                false => j[k].clone(),
            }
        });
        return slices.update(name, data, updates, update);
    }
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
    threads: Threads,
) -> Tensor {
    let places = &indices.shape()[..indices.ndim() - 1];
    let slices = Slices::new(data, depth, places, threads, |j, k| {
        let at = j.iter().cloned().chain([Expr::i64(k as i64)]);
        indices.at(at)
    });
    slices.update(name, data, updates, update)
}

/// `data` updated at the slices that broadcast `indices` select, one tensor for each of the first dimensions. Updates are
/// broadcast to the slices.
pub fn index_put(
    name: &str,
    data: &Tensor,
    indices: &[Tensor],
    updates: &Tensor,
    update: Update,
    threads: Threads,
) -> Tensor {
    let places = super::broadcast_shape(&indices.iter().collect::<Vec<_>>());
    let at = |j: &[Expr], k: usize| super::element(&indices[k], j);
    let slices = Slices::new(data, indices.len(), &places, threads, at);
    slices.update(name, data, updates, update)
}

/// Fewer lines than these do not keep many threads busy.
const FEW_LINES: i64 = 64;
/// Most updates that each element looks at.
const FEW: i64 = 32;

/// Parts of the data for a few threads: each goes through all updates.
const PARTS: i64 = 4;

/// Updates of one slice that an element looks at without asking whether there are more.
const PART: i64 = 64;

/// Slices of data that are updated.
#[derive(Clone, Debug)]
struct Slices {
    /// The shape of the updates' first dimensions.
    places: Vec<Expr>,
    /// How many of the first dimensions of the data select a slice.
    depth: usize,
    /// How many slices the data has.
    count: Expr,
    /// The number of the slice that each update goes to, in row-major order; [`Self::count`] for one outside.
    numbers: Tensor,
    threads: Threads,
}

impl Slices {
    /// `at` is coordinate `k` of the slice that the update at a place goes to; below 0 it counts from the end.
    fn new(
        data: &Tensor,
        depth: usize,
        places: &[Expr],
        threads: Threads,
        at: impl Fn(&[Expr], usize) -> Expr,
    ) -> Self {
        let extents = &data.shape()[..depth];
        let count = super::volume(extents);
        let dtype = match (count.as_int(), threads) {
            (Some(count), _) if count > i32::MAX.into() => DType::I64,
            (None, Threads::Few) => DType::I64,
            _ => DType::I32,
        };
        let numbers = te::compute("slices", [super::volume(places)], |i| {
            let place = super::unravel(&i[0], places);
            let coordinates = extents.iter().enumerate();
            let coordinates =
                coordinates.map(|(k, extent)| super::from_start(&at(&place, k), extent));
            let coordinates: Vec<Expr> = coordinates.collect();
            let inside = is_inside(&coordinates, extents);
            let index = coordinates.iter().zip(extents);
            let index = index.map(|(at, extent)| super::clipped(at, extent).cast(DType::I64));
            let number = super::ravel(&index.collect::<Vec<_>>(), extents);
            Expr::select(inside, number, count.clone()).cast(dtype)
        });
        Self {
            places: places.to_vec(),
            depth,
            count,
            numbers,
            threads,
        }
    }

    fn update(&self, name: &str, data: &Tensor, updates: &Tensor, update: Update) -> Tensor {
        let updates = &self.in_one_row(updates, data);
        let all = self.numbers.shape()[0].as_int();
        match (self.threads, all) {
            (Threads::Few, _) => self.in_parts(name, data, updates, update),
            (Threads::Many(_), Some(all)) if all <= FEW => {
                self.one_by_one(name, data, updates, update)
            }
            (Threads::Many(_), _) => self.in_groups(name, data, updates, update),
        }
    }

    /// Each part of the data is copied, and goes through all updates. Parts are ranges of the first dimension that has several indices,
    /// if that is one of those which select a slice.
    fn in_parts(&self, name: &str, data: &Tensor, updates: &Tensor, update: Update) -> Tensor {
        let several = |extents: &[Expr]| extents.iter().position(|n| !n.is_one());
        let depth = self.depth;
        let split = several(&data.shape()[..depth]);
        let inputs = [data, updates, &self.numbers].map(Clone::clone);
        let result = vec![(data.shape().to_vec(), data.dtype())];
        let of = self.clone();
        let write =
            move |b: &mut PrimFuncBuilder, part: &[Var], given: &[Buffer], out: &[Buffer]| {
                let ([data, updates, numbers], [out]) = (given, out) else {
                    unreachable!("three inputs, one output")
                };
                let (extents, inner) = data.shape().split_at(depth);
                // Rows of the part, which are slices next to each other.
                let rows = split.map_or(Expr::i64(1), |at| extents[at].clone());
                let per_row = split.map_or(Expr::i64(1), |at| super::volume(&extents[at + 1..]));
                let most = quotient(&shifted(&rows, PARTS - 1), &Expr::i64(PARTS));
                let first = part[0].expr() * &most;
                let axes = |extents: &[Expr]| {
                    let named = extents.iter().enumerate();
                    let axis =
                        |(at, extent): (_, &Expr)| Axis::spatial(format!("k{at}"), extent.clone());
                    named.map(axis).collect::<Vec<_>>()
                };
                let mut others = data.shape().to_vec();
                if let Some(at) = split {
                    others.remove(at);
                }
                b.grid([("row", most.clone())], |b, row| {
                    let row = row[0].expr();
                    b.if_((&first + &row).lt(&rows), |b| {
                        let row = Axis::spatial("row", most.clone()).bound_to(row);
                        let axes = [vec![row], axes(&others)].concat();
                        b.nest("copy", axes, |b, k| {
                            let row = &first + k[0].expr();
                            let mut index = exprs(&k[1..]);
                            if let Some(at) = split {
                                index.insert(at, row);
                            }
                            b.store(out, index.clone(), Expr::load(data, index));
                        });
                    });
                });
                let begin = &first * &per_row;
                let end = (&first + &most).min(rows) * &per_row;
                let number_of = |u: &Expr| Expr::load(numbers, vec![u.clone()]).cast(DType::I64);
                let count = numbers.shape()[0].clone();
                b.grid([("u", count.clone())], |b, u| {
                    let u = u[0].expr();
                    let number = number_of(&u);
                    b.if_(number.ge(&begin).and(number.lt(&end)), |b| {
                        // Two updates may go to the same slice; elements of one update are different.
                        let u = Axis::new(IterKind::Scan, "u", count).bound_to(u);
                        let axes = [vec![u], axes(inner)].concat();
                        b.nest("update", axes, |b, k| {
                            b.annotate(attrs::ANY_ORDER, AttrValue::Bool(true));
                            let u = k[0].expr();
                            let slice = super::unravel(&number_of(&u), extents);
                            let slice = slice.iter().zip(extents);
                            let slice = slice.map(|(at, n)| super::clipped(at, n));
                            let place = [slice.collect(), exprs(&k[1..])].concat();
                            let new = of.element(updates, &u, &place);
                            let old = Expr::load(out, place.clone());
                            b.store(out, place, update.of(old, new));
                        });
                    });
                });
            };
        te::extern_each(name, [PARTS], &inputs, result, write).remove(0)
    }

    /// The number of the slice that an element is in.
    fn slice_of(&self, index: &[Expr], data: &[Expr]) -> Expr {
        super::ravel(&index[..self.depth], &data[..self.depth])
    }

    /// The updates with their places in one dimension.
    fn in_one_row(&self, updates: &Tensor, data: &Tensor) -> Tensor {
        let inner = &data.shape()[self.depth..];
        if self.places.len() == 1 && updates.ndim() == 1 + inner.len() {
            return updates.clone();
        }
        let shape = [&[super::volume(&self.places)], inner].concat();
        te::compute("updates_in_row", shape, |i| {
            let mut index = super::unravel(&i[0], &self.places);
            index.extend_from_slice(&i[1..]);
            super::element(updates, &index)
        })
    }

    /// The element of an update for an element of its slice.
    fn element(&self, updates: &Buffer, which: &Expr, index: &[Expr]) -> Expr {
        let at = [std::slice::from_ref(which), &index[self.depth..]].concat();
        Expr::load(updates, broadcast_index(updates, &at))
    }

    /// Each element looks at every update.
    fn one_by_one(&self, name: &str, data: &Tensor, updates: &Tensor, update: Update) -> Tensor {
        let inputs = [data, updates, &self.numbers].map(Clone::clone);
        let of = self.clone();
        self.each_element(name, &inputs, move |b, given, index, keep| {
            let [data, updates, numbers] = given else {
                unreachable!("three inputs")
            };
            let own = of.slice_of(index, data.shape()).cast(numbers.dtype());
            b.grid([("u", numbers.shape()[0].clone())], |b, u| {
                let u = u[0].expr();
                b.if_(Expr::load(numbers, vec![u.clone()]).equals(&own), |b| {
                    keep.update(b, update, of.element(updates, &u, index));
                });
            });
        })
    }

    /// Each element looks at the updates of its slice.
    fn in_groups(&self, name: &str, data: &Tensor, updates: &Tensor, update: Update) -> Tensor {
        let all = &self.numbers.shape()[0];
        let sort = Sort {
            name: "by_slice",
            axis: 0,
            order: Order::Ascending,
            count: all,
            threads: self.threads,
        };
        let by_slice = sort.both(&self.numbers);
        let starts = super::first_positions("starts", &by_slice.values, &shifted(&self.count, 1));
        let inputs = [data, updates, &by_slice.positions, &starts].map(Clone::clone);
        let of = self.clone();
        self.each_element(name, &inputs, move |b, given, index, keep| {
            let [data, updates, order, starts] = given else {
                unreachable!("four inputs")
            };
            let slice = of.slice_of(index, data.shape());
            let all = &order.shape()[0];
            let start = |slice: Expr| Expr::load(starts, vec![slice]);
            let which = |at: Expr| {
                let at = Expr::load(order, vec![super::clipped(&at, all).cast(DType::I64)]);
                super::clipped(&at, all).cast(DType::I64)
            };
            let end = start(shifted(&slice, 1));
            if update == Update::Replace {
                // The last one counts.
                b.if_(start(slice).lt(&end), |b| {
                    let last = which(end.clone() - Expr::i32(1));
                    keep.update(b, update, of.element(updates, &last, index));
                });
                return;
            }
            // Loops whose counts no element decides: a few of the iterations have nothing to do.
            let parts = quotient(&shifted(all, PART - 1), &Expr::i64(PART));
            b.grid([("part", parts)], |b, part| {
                let first = start(slice) + scaled(&part[0].expr(), PART).cast(DType::I32);
                b.if_(first.lt(&end), |b| {
                    b.grid([("step", PART)], |b, step| {
                        let at = &first + step[0].expr().cast(DType::I32);
                        b.if_(at.lt(&end), |b| {
                            let new = of.element(updates, &which(at), index);
                            keep.update(b, update, new);
                        });
                    });
                });
            });
        })
    }

    /// The data, each element of which `write` updates.
    fn each_element(
        &self,
        name: &str,
        inputs: &[Tensor],
        write: impl Fn(&mut PrimFuncBuilder, &[Buffer], &[Expr], &Kept) + Send + Sync + 'static,
    ) -> Tensor {
        let (shape, dtype) = (inputs[0].shape().to_vec(), inputs[0].dtype());
        let result = vec![(shape.clone(), dtype)];
        let each = move |b: &mut PrimFuncBuilder, at: &[Var], given: &[Buffer], out: &[Buffer]| {
            let index = exprs(at);
            let keep = Kept(b.alloc("kept", [1i64], dtype, Scope::Local));
            b.store(
                &keep.0,
                [Expr::i64(0)],
                Expr::load(&given[0], index.clone()),
            );
            write(b, given, &index, &keep);
            b.store(&out[0], index, keep.value());
        };
        te::extern_each(name, shape, inputs, result, each).remove(0)
    }
}

/// An element while it is updated.
struct Kept(Buffer);

impl Kept {
    fn value(&self) -> Expr {
        Expr::load(&self.0, vec![Expr::i64(0)])
    }

    fn update(&self, b: &mut PrimFuncBuilder, update: Update, new: Expr) {
        b.store(&self.0, [Expr::i64(0)], update.of(self.value(), new));
    }
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

/// `data` where the mask is false, and where it is true the next element of `source`, in row-major order.
pub fn masked_scatter(
    name: &str,
    data: &Tensor,
    mask: &Tensor,
    source: &Tensor,
    threads: Threads,
) -> Tensor {
    let shape = data.shape();
    let chosen = te::compute("chosen", [super::volume(shape)], |i| {
        let chosen = super::element(mask, &super::unravel(&i[0], shape));
        Expr::select(chosen, Expr::i32(1), Expr::i32(0))
    });
    let before = Scan {
        exclusive: true,
        reverse: false,
    };
    let counts = super::cumulative(
        "counts",
        BinOp::Add,
        &chosen,
        0,
        before,
        DType::I32,
        threads,
    );
    te::compute(name, shape.to_vec(), |i| {
        let count = counts.at([super::ravel(i, shape)]);
        let from = super::clipped(&count, &super::volume(source.shape()));
        let new = source.at(super::unravel(&from.cast(DType::I64), source.shape()));
        te::if_then_else(super::element(mask, i), new, data.at(i))
    })
}
