//! The first elements of long lines: a line is cut into groups, of which each sends its first element, its delegate. The first `count`
//! elements are all in the groups of the first `count` delegates: before an element of another group come the delegates of
//! these. So few elements are left, and all but one pass over the line is for those.
//!
//! ```text
//! delegates[group] = min(keys[group])
//! groups = where the first count of delegates are, in the order in which they lie
//! result = the first count of keys[groups]
//! ```
//!
//! # References
//! A. Gaihre et al., "Dr. Top-k: Delegate-Centric Top-k on GPUs", SC 2021.

use super::lines::{Lines, line};
use super::local::Local;
use crate::ir::{Buffer, BufferRegion, Expr, PrimFuncBuilder, Var};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;
use crate::topi::extent::{clamped, quotient, remainder, scaled, shifted, sum};

/// Lines in groups of neighbours.
pub(super) struct Groups<'a> {
    pub(super) lines: &'a Lines,
    /// Elements of a group.
    pub(super) width: i64,
    /// Elements of each line that are wanted.
    pub(super) count: i64,
}

impl Groups<'_> {
    /// The positions of the first `count` elements of each line. `first` gives those of lines that are shorter, `in_order` numbers of each
    /// line in ascending order, unless a thread goes through all delegates for that.
    pub(super) fn first(
        &self,
        name: &str,
        first: impl Fn(&Lines) -> Tensor,
        in_order: Option<&dyn Fn(&Tensor) -> Tensor>,
    ) -> Tensor {
        let delegates = self.delegates();
        let of_delegates = first(&Lines::of_keys(&delegates, self.lines.key));
        let groups = match in_order {
            Some(in_order) => in_order(&of_delegates),
            None => self.groups(name, &delegates, &of_delegates),
        };
        let candidates = self.candidates(&groups);
        let of_candidates = first(&Lines::of_keys(&candidates, self.lines.key));
        let left = Expr::i64(self.left());
        te::compute(
            format!("{name}_positions"),
            of_candidates.shape().to_vec(),
            |i| {
                let (outer, _) = line(i);
                let candidate = clamped(&of_candidates.at(i.to_vec()).cast(DType::I64), &left);
                self.position(&groups, outer, &candidate).cast(DType::I32)
            },
        )
    }

    /// The extent of a line, if there are whole groups enough: what is behind the last one is small, and kept.
    fn whole(&self) -> Option<i64> {
        let extent = self.lines.extent().as_int()?;
        (extent / self.width >= self.count).then_some(extent)
    }

    /// Elements behind the last whole group.
    fn tail(&self) -> i64 {
        self.whole().map_or(0, |extent| extent % self.width)
    }

    /// Groups of a line: as many as elements are wanted, at least.
    fn number(&self) -> Expr {
        if let Some(extent) = self.whole() {
            return Expr::i64(extent / self.width);
        }
        let width = Expr::i64(self.width);
        quotient(&shifted(self.lines.extent(), self.width - 1), &width).max(self.count)
    }

    /// `[outer.., groups]`: the first key of each group.
    pub(super) fn delegates(&self) -> Tensor {
        let shape = self.lines.outer().iter().cloned().chain([self.number()]);
        let of_group = te::reduce_axis("of_group", self.width);
        te::compute("delegates", shape, |i| {
            let (outer, group) = line(i);
            let along = sum(&scaled(group, self.width), &of_group.expr());
            te::min(self.key(outer, &along), [&of_group])
        })
    }

    /// The key at a position, which may be behind the end unless all groups are whole.
    fn key(&self, outer: &[Expr], along: &Expr) -> Expr {
        if self.whole().is_some() {
            return self.lines.at(outer, along);
        }
        let extent = self.lines.extent();
        let key = self.lines.at(outer, &clamped(along, extent));
        te::if_then_else(along.lt(extent), key, self.lines.key.last())
    }

    /// `[outer.., count]`: the groups of the first delegates, in the order in which they lie.
    fn groups(&self, name: &str, delegates: &Tensor, first: &Tensor) -> Tensor {
        let count = self.count;
        let inputs = [delegates, first].map(Clone::clone);
        let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
            let index =
                |along: Expr| -> Vec<Expr> { at.iter().map(Var::expr).chain([along]).collect() };
            b.writes([BufferRegion::full(&to[0])]);
            let extent = line(from[0].shape()).1.clone();
            let last = Expr::load(&from[1], index(Expr::i64(count - 1)));
            let known = Local::new(b, "known", 1, DType::I32);
            known.fill(b, &Expr::i32(0));
            b.let_(
                "last",
                clamped(&last.cast(DType::I64), &extent),
                |b, last| {
                    let key = Expr::load(&from[0], index(last.expr()));
                    b.let_("last_key", key, |b, last_key| {
                        b.grid([("group", extent.clone())], |b, group| {
                            let group = group[0].expr();
                            let key = Expr::load(&from[0], index(group.clone()));
                            let tie = key.equals(last_key.expr());
                            let tie = Expr::binary(BinOp::And, tie, group.le(last.expr()));
                            let is_first = Expr::binary(BinOp::Or, key.lt(last_key.expr()), tie);
                            b.if_(is_first, |b| {
                                let zero = Expr::i64(0);
                                let there = known.at(&zero).cast(DType::I64);
                                let there = clamped(&there, &Expr::i64(count));
                                b.store(&to[0], index(there), group.cast(DType::I32));
                                known.add(b, &zero, Expr::i32(1));
                            });
                        });
                    });
                },
            );
        };
        let result = vec![(first.shape().to_vec(), DType::I32)];
        let name = format!("{name}_groups");
        te::extern_each(name, self.lines.outer().to_vec(), &inputs, result, write).remove(0)
    }

    /// Elements of a line that are left: those of the groups, and those behind the last whole one.
    pub(super) fn left(&self) -> i64 {
        self.count * self.width + self.tail()
    }

    /// The position of an element among those that are left.
    fn position(&self, groups: &Tensor, outer: &[Expr], candidate: &Expr) -> Expr {
        let width = Expr::i64(self.width);
        let (of_groups, extent) = (self.count * self.width, self.lines.extent());
        let in_groups = clamped(candidate, &Expr::i64(of_groups));
        let index = outer.iter().cloned().chain([quotient(&in_groups, &width)]);
        let group = groups.at(index.collect::<Vec<_>>()).cast(DType::I64);
        let group = clamped(&group, &self.number());
        let position = sum(&scaled(&group, self.width), &remainder(&in_groups, &width));
        match self.tail() {
            0 => position,
            tail => {
                let behind = candidate - of_groups + (extent - tail);
                Expr::select(candidate.lt(of_groups), position, behind)
            }
        }
    }

    /// `[outer.., left]`: the keys of the elements that are left.
    fn candidates(&self, groups: &Tensor) -> Tensor {
        let shape = self
            .lines
            .outer()
            .iter()
            .cloned()
            .chain([Expr::i64(self.left())]);
        te::compute("candidates", shape, |i| {
            let (outer, candidate) = line(i);
            let along = self.position(groups, outer, candidate);
            self.key(outer, &along)
        })
    }
}
