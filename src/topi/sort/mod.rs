//! Sorted lines, and the first elements of them.
//!
//! NaN is greater than every number. Equal elements keep their order, in both directions.
//!
//! | lines | machine | algorithm |
//! |---|---|---|
//! | of at most 64 elements | few threads | places are counted (`ranks`) |
//! | of which up to 64 elements are wanted | few threads | the first ones so far in a sorted list (`select`) |
//! | long ones, of which few elements are wanted | any | the groups of the first delegates (`delegates`), sorted in turn |
//! | others | few threads | digits of keys (`radix`) |
//! | that fit shared memory, or whose delegates and what these leave do | workgroups | a network of comparisons (`network`) |
//! | others | workgroups | runs are merged (`merge`) |
//!
//! All but `merge` of whole lines sort keys, integers in the order of the elements (`key`).

mod delegates;
mod key;
mod lines;
mod local;
mod merge;
mod network;
mod radix;
mod ranks;
mod select;

use self::delegates::Groups;
use self::lines::{Elements, Found, Lines};
use self::merge::{Merge, Plan};
use super::extent::clamped;
use super::{Threads, volume};
use crate::ir::Expr;
use crate::te::{self, Tensor};
use crate::tensor::DType;

pub use merge::first_positions;

/// Lines up to this length are short: all pairs of their elements are compared.
const SHORT: i64 = 64;
/// So many first elements are kept in a sorted list.
const FEW: i64 = 64;
/// Up to this length lines are gone through for a few first elements as they are.
const PLAIN: i64 = 1024;
/// So many elements for each wanted one make delegates worth it.
const WORTH: i64 = 16;
/// Up to so many elements, kernels that merge take no longer than their start.
const SMALL: i64 = 1 << 14;
/// So many elements for each core of a GPU take as long to merge as several kernels to start.
const CROWDED: i64 = 1 << 12;
/// From so many elements on, workgroups go through a line once to be left with few.
const LONG: i64 = 4096;
/// Elements of a group of a line of unknown length.
const OPEN_WIDTH: i64 = 64;

/// Which element comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The smallest.
    Ascending,
    /// The greatest.
    Descending,
}

/// Lines in sorted order.
#[derive(Clone, Debug)]
pub struct Sorted {
    /// The elements.
    pub values: Tensor,
    /// Where each of them was in its line, as `int32`.
    pub positions: Tensor,
}

/// A sort of lines along an axis.
#[derive(Clone, Copy, Debug)]
pub struct Sort<'a> {
    /// The name of what comes out.
    pub name: &'a str,
    /// The dimension that lines are along.
    pub axis: usize,
    /// Which element comes first.
    pub order: Order,
    /// How many elements of each line are wanted, at most its extent.
    pub count: &'a Expr,
    /// Those of the machine.
    pub threads: Threads,
}

impl Sort<'_> {
    /// The first elements of each line in sorted order, without their positions.
    pub fn values(&self, x: &Tensor) -> Tensor {
        match self.ranked(x, Elements::Wanted) {
            Some(ranked) => self.at_positions(x, &ranked),
            None => self.merge(x.shape()).values(x),
        }
    }

    /// The first elements of each line in sorted order.
    pub fn both(&self, x: &Tensor) -> Sorted {
        match self.ranked(x, Elements::Wanted) {
            Some(ranked) => Sorted {
                values: self.at_positions(x, &ranked),
                positions: self.along(x, &ranked),
            },
            None => self.merge(x.shape()).both(x),
        }
    }

    /// Where the first elements of each line are, in sorted order, as `int32`.
    pub fn positions(&self, x: &Tensor) -> Tensor {
        match self.ranked(x, Elements::Unused) {
            Some(ranked) => self.along(x, &ranked),
            None => self.merge(x.shape()).positions(x),
        }
    }

    /// The merge of elements of this shape.
    fn merge(&self, shape: &[Expr]) -> Merge<'_> {
        let fast = matches!(self.threads, Threads::Many(workgroups) if workgroups.fast_shared);
        let is_small = volume(shape).as_int().is_some_and(|n| n <= SMALL);
        Merge {
            name: self.name,
            axis: self.axis,
            order: self.order,
            count: self.count,
            plan: if fast && is_small {
                Plan::WIDE
            } else {
                Plan::NARROW
            },
        }
    }

    /// The first elements, unless all are merged.
    fn ranked(&self, x: &Tensor, wanted: Elements) -> Option<Found> {
        let lines = Lines::of(x, self.axis, self.order, wanted);
        let is_part = *lines.extent() != *self.count;
        let count = self.count.as_int().filter(|_| is_part);
        match (self.threads, count) {
            (Threads::Few, Some(count)) => Some(first(self.name, &lines, count).into()),
            (Threads::Few, None) => Some(all(self.name, &lines).into()),
            (Threads::Many(workgroups), _) => {
                let count = count.or(lines.extent().as_int())?;
                let network = network::most(workgroups)
                    .filter(|_| lines.key.dtype == DType::I32)
                    .and_then(|most| self.in_workgroups(&lines, count, most));
                network.or_else(|| self.first_by_merging(&lines, count).map(Found::from))
            }
        }
    }

    /// The first elements of lines that workgroups sort, each so many elements, if that is faster than to merge.
    fn in_workgroups(&self, lines: &Lines, count: i64, most: i64) -> Option<Found> {
        let extent = lines.extent().as_int()?;
        if extent <= most {
            return (extent > network::FEWEST)
                .then(|| network::sort(self.name, lines, extent, count));
        }
        if extent < WORTH * count {
            return None;
        }
        let mut widths = (3..32).map(|bits| 1i64 << bits);
        let groups = Groups {
            lines,
            width: widths.find(|width| extent / width <= most)?,
            count,
        };
        if groups.left() <= most {
            return Some(network::first(self.name, &groups, &groups.delegates()));
        }
        if count > network::FEWEST || self.merges_fast(extent) {
            return None;
        }
        let count_expr = Expr::i64(count);
        let first = |lines: &Lines| {
            let network = self.in_workgroups(lines, count, most);
            let merge = || {
                self.merge_lines(lines, &count_expr)
                    .positions(&lines.tensor())
            };
            network.map_or_else(merge, |found| found.positions)
        };
        let in_order = |numbers: &Tensor| self.numbers_in_order(numbers, &count_expr);
        Some(groups.first(self.name, first, Some(&in_order)).into())
    }

    /// So many numbers of each line in ascending order.
    fn numbers_in_order(&self, numbers: &Tensor, count: &Expr) -> Tensor {
        let lines = Lines::of(
            numbers,
            numbers.ndim() - 1,
            Order::Ascending,
            Elements::Unused,
        );
        self.merge_lines(&lines, count).values(numbers)
    }

    /// The merge of the first keys of lines.
    fn merge_lines<'a>(&'a self, lines: &Lines, count: &'a Expr) -> Merge<'a> {
        Merge {
            axis: lines.shape.len() - 1,
            order: Order::Ascending,
            count,
            ..self.merge(&lines.shape)
        }
    }

    /// Whether the cores merge a whole line faster than they start the kernels that leave few of it.
    fn merges_fast(&self, extent: i64) -> bool {
        let cores = match self.threads {
            Threads::Many(workgroups) if workgroups.fast_shared => workgroups.cores,
            Threads::Many(_) | Threads::Few => 0,
        };
        extent < CROWDED * cores
    }

    /// The first elements of long lines, if that is faster than to sort all of them.
    fn first_by_merging(&self, lines: &Lines, count: i64) -> Option<Tensor> {
        let extent = lines.extent().as_int()?;
        if extent < LONG || extent < WORTH * count || self.merges_fast(extent) {
            return None;
        }
        let groups = Groups {
            lines,
            width: width(extent, count),
            count,
        };
        let count = Expr::i64(count);
        let first = |lines: &Lines| self.merge_lines(lines, &count).positions(&lines.tensor());
        let in_order = |numbers: &Tensor| self.numbers_in_order(numbers, &count);
        Some(groups.first(self.name, first, Some(&in_order)))
    }

    /// The shape of the result.
    fn shape(&self, x: &Tensor) -> Vec<Expr> {
        let mut shape = x.shape().to_vec();
        shape[self.axis] = self.count.clone();
        shape
    }

    /// The index of lines along the last dimension.
    fn index(&self, i: &[Expr]) -> Vec<Expr> {
        let mut index = i.to_vec();
        let along = index.remove(self.axis);
        if index.is_empty() {
            index.push(Expr::i64(0));
        }
        index.push(along);
        index
    }

    /// The positions along the axis.
    fn along(&self, x: &Tensor, ranked: &Found) -> Tensor {
        let ranked = &ranked.positions;
        let shape = self.shape(x);
        if *ranked.shape() == shape && self.axis + 1 == shape.len() {
            return ranked.clone();
        }
        te::compute("sorted_positions", shape, |i| ranked.at(self.index(i)))
    }

    /// The elements there.
    fn at_positions(&self, x: &Tensor, found: &Found) -> Tensor {
        // Lines are the last dimension of what was found.
        let in_place = self.axis + 1 == x.ndim();
        let known = found.values.as_ref().filter(|_| in_place);
        if let Some(values) = known.filter(|values| values.shape() == self.shape(x)) {
            return values.clone();
        }
        let ranked = &found.positions;
        let extent = &x.shape()[self.axis];
        te::compute("sorted_values", self.shape(x), |i| {
            let position = ranked.at(self.index(i)).cast(DType::I64);
            let mut index = i.to_vec();
            index[self.axis] = clamped(&position, extent);
            x.at(index)
        })
    }
}

/// The positions of all elements of lines in the order of their keys.
fn all(name: &str, lines: &Lines) -> Tensor {
    match lines.extent().as_int() {
        Some(..=SHORT) => ranks::sort(name, lines),
        _ => radix::sort(name, lines),
    }
}

/// The positions of the first elements of lines, and maybe of more.
fn first(name: &str, lines: &Lines, count: i64) -> Tensor {
    let width = match lines.extent().as_int() {
        Some(..=SHORT) => return all(name, lines),
        Some(n) if count <= FEW && n <= PLAIN => return select::select(name, lines, count),
        Some(n) if n < WORTH * count => return all(name, lines),
        Some(n) => width(n, count),
        None => OPEN_WIDTH,
    };
    let groups = Groups {
        lines,
        width,
        count,
    };
    let first = |lines: &Lines| match count {
        ..=FEW => select::select(name, lines, count),
        _ => all(name, lines),
    };
    groups.first(name, first, None)
}

/// The elements of a group: there are about as many delegates as elements in the groups of the first ones.
fn width(extent: i64, count: i64) -> i64 {
    let log = ((extent / count) as f64).log2() / 2.0;
    1 << (log.round() as i64).max(3)
}
