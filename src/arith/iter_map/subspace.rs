//! Subspace division: indices over outer and inner iterators as `outer · inner_extent + inner`, where `outer` uses outer
//! iterators only and `inner` inner ones only. This is how a block is cut in two, one around the inner loops and one in them.
//!
//! ```text
//! i0 in 0..4 outer, i1 in 0..16 inner:   i0 * 16 + i1 = outer i0, of extent 4; inner i1, of extent 16
//! ```
//!
//! Reference: TVM's `SubspaceDivide`.

use super::{
    IterMap, IterMapLevel, IterMark, IterSplit, IterSum, MarkId, MarkSource, UnitIters,
    detect_iter_map, to_expr,
};
use crate::arith::Analyzer;
use crate::ir::{Expr, Range, Var};

/// Values `0 .. extent`, or `base .. base + extent` for an inner part.
#[derive(Clone, Debug)]
pub struct SubspacePart {
    /// The value, in terms of the iterators of one side.
    pub value: Expr,
    /// Number of values.
    pub extent: Expr,
}

/// One index: `outer.value · inner.extent + inner.value`.
#[derive(Clone, Debug)]
pub struct Division {
    /// The part of the outer iterators.
    pub outer: SubspacePart,
    /// The part of the inner iterators and of what uses none, the base.
    pub inner: SubspacePart,
    /// The first value of the inner part.
    pub base: Expr,
}

/// Divides indices; `None` if they are no affine iteration map, or one mixes both sides in another way. Bounds of the predicate
/// that hold for both sides together have no division.
pub fn subspace_divide(
    facts: &Analyzer,
    indices: &[Expr],
    inputs: &[(Var, Range)],
    inner: &[Var],
    predicate: &Expr,
    units: UnitIters,
) -> Option<Vec<Division>> {
    let level = IterMapLevel::Surjective;
    let map = detect_iter_map(facts, indices, inputs, predicate, level, units).ok()?;
    let mut divider = Divider::new(facts, inner, map);
    let sums = divider.indices.clone();
    sums.iter().map(|sum| divider.index(sum)).collect()
}

/// Which iterators a part of an index uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Outer,
    Inner,
    Both,
}

/// `outer · inner_extent + inner`
#[derive(Clone)]
struct Divided {
    outer: IterSum,
    outer_extent: Expr,
    inner: IterSum,
    inner_extent: Expr,
    side: Side,
}

struct Divider<'a> {
    facts: &'a Analyzer,
    inner: &'a [Var],
    marks: Vec<IterMark>,
    indices: Vec<IterSum>,
    /// The splits of each mark that indices use, scales left aside.
    splits: Vec<(MarkId, Vec<IterSplit>)>,
    divided: Vec<(IterSplit, Divided)>,
}

impl<'a> Divider<'a> {
    fn new(facts: &'a Analyzer, inner: &'a [Var], map: IterMap) -> Self {
        let mut this = Self {
            facts,
            inner,
            marks: map.marks,
            indices: map.indices,
            splits: vec![],
            divided: vec![],
        };
        for sum in this.indices.clone() {
            this.collect(&sum);
        }
        this
    }

    fn collect(&mut self, sum: &IterSum) {
        for arg in &sum.args {
            let arg = unscaled(arg);
            match self.splits.iter_mut().find(|(mark, _)| *mark == arg.mark) {
                Some((_, known)) if known.contains(&arg) => {}
                Some((_, known)) => known.push(arg),
                None => {
                    let mark = arg.mark;
                    self.splits.push((mark, vec![arg]));
                    if let MarkSource::Sum(source) = self.marks[mark.0].source.clone() {
                        self.collect(&source);
                    }
                }
            }
        }
    }

    fn index(&mut self, sum: &IterSum) -> Option<Division> {
        let base = sum.base.clone();
        let found = self.sum(sum, None)?;
        let part = |sum: &IterSum, extent: &Expr| SubspacePart {
            value: to_expr(self.facts, &self.marks, sum),
            extent: extent.clone(),
        };
        Some(Division {
            outer: part(&found.outer, &found.outer_extent),
            inner: part(&found.inner, &found.inner_extent),
            base,
        })
    }

    /// Divides a sum; `extent` is that of the mark it is the source of.
    fn sum(&mut self, sum: &IterSum, extent: Option<&Expr>) -> Option<Divided> {
        let dtype = sum.base.dtype();
        let constant = |base: Expr| IterSum { args: vec![], base };
        let (zero, one) = (Expr::int(0, dtype), Expr::int(1, dtype));
        if sum.args.is_empty() {
            return Some(Divided {
                outer: constant(zero),
                outer_extent: one.clone(),
                inner: constant(sum.base.clone()),
                inner_extent: one,
                side: Side::Both,
            });
        }
        if let [arg] = &sum.args[..] {
            if !arg.scale.is_one() {
                return None;
            }
            let mut found = self.split(arg)?;
            found.inner.base = self.facts.simplify(&(found.inner.base + &sum.base));
            if let Some(extent) = extent {
                match found.side {
                    Side::Outer => found.outer_extent = extent.clone(),
                    Side::Inner => found.inner_extent = extent.clone(),
                    Side::Both => {}
                }
            }
            // A base is a part of the inner side.
            if found.side == Side::Outer && !found.inner.base.is_zero() {
                found.side = Side::Both;
            }
            return Some(found);
        }
        // Outer splits, then inner ones: looked at from the innermost out.
        let (mut outer, mut inner) = (Vec::new(), Vec::new());
        let mut product = one.clone();
        for arg in sum.args.iter().rev() {
            let found = self.split(arg)?;
            let part = match found.side {
                Side::Inner if outer.is_empty() => {
                    let part = self.as_split(found.inner, found.inner_extent);
                    inner.push(part.clone());
                    part
                }
                Side::Outer => {
                    let part = self.as_split(found.outer, found.outer_extent);
                    outer.push(part.clone());
                    part
                }
                Side::Inner | Side::Both => return None,
            };
            product = self.facts.simplify(&(product * &part.extent));
        }
        if !sum.args.iter().any(|arg| arg.scale.is_one()) {
            return None;
        }
        let is_outer = inner.is_empty();
        let is_inner = outer.is_empty();
        let (outer, outer_extent) = self.fused(outer, zero.clone());
        let (inner, inner_extent) = self.fused(inner, sum.base.clone());
        match extent.filter(|extent| !self.facts.can_prove_equal(&product, extent)) {
            None => Some(Divided {
                outer,
                outer_extent,
                inner,
                inner_extent,
                side: Side::Both,
            }),
            // A bound of the predicate narrows the sum, which is of one side then.
            Some(extent) if is_outer && sum.base.is_zero() => Some(Divided {
                outer,
                outer_extent: extent.clone(),
                inner: constant(zero),
                inner_extent: one,
                side: Side::Outer,
            }),
            Some(extent) if is_inner && sum.base.is_zero() => Some(Divided {
                outer: constant(zero),
                outer_extent: one,
                inner,
                inner_extent: extent.clone(),
                side: Side::Inner,
            }),
            Some(_) => None,
        }
    }

    /// Divides a split, and with it all others of its mark.
    fn split(&mut self, split: &IterSplit) -> Option<Divided> {
        let split = unscaled(split);
        if let Some((_, found)) = self.divided.iter().find(|(known, _)| *known == split) {
            return Some(found.clone());
        }
        let of_mark = self.splits.iter().find(|(mark, _)| *mark == split.mark);
        let splits = of_mark.map(|(_, splits)| splits.clone())?;
        let mark = self.marks[split.mark.0].clone();
        match &mark.source {
            MarkSource::Input(input) => {
                let is_inner = input.free_vars().iter().any(|var| self.inner.contains(var));
                let side = if is_inner { Side::Inner } else { Side::Outer };
                for split in splits {
                    let part = one_sided(&split, side);
                    self.divided.push((split, part));
                }
            }
            MarkSource::Sum(sum) => {
                let whole = self.sum(sum, Some(&mark.extent))?;
                let all = |s: &IterSplit| {
                    s.lower_factor.is_one() && self.facts.can_prove_equal(&s.extent, &mark.extent)
                };
                if let [only] = &splits[..]
                    && all(only)
                {
                    return Some(whole);
                }
                self.cut(whole, splits)?;
            }
        }
        let found = self.divided.iter().find(|(known, _)| *known == split);
        found.map(|(_, part)| part.clone())
    }

    /// Gives each split of a mark its side: from the innermost out, up to the extent of the inner part they are inner.
    fn cut(&mut self, whole: Divided, mut left: Vec<IterSplit>) -> Option<()> {
        if whole.side != Side::Inner && !whole.inner.base.is_zero() {
            return None;
        }
        let dtype = whole.inner_extent.dtype();
        let mut reached = Expr::int(1, dtype);
        let mut in_outer = whole.side == Side::Outer;
        let (mut inner, mut outer) = (Vec::new(), Vec::new());
        while !left.is_empty() {
            let next = |s: &IterSplit| self.facts.can_prove_equal(&s.lower_factor, &reached);
            let split = left.remove(left.iter().position(next)?);
            reached = self.facts.simplify(&(&reached * &split.extent));
            if in_outer {
                outer.push(split);
            } else {
                inner.push(split);
            }
            in_outer |= self.facts.can_prove_equal(&reached, &whole.inner_extent);
        }
        if !in_outer {
            return None;
        }
        let inner_mark = self.mark_of(whole.inner, whole.inner_extent);
        let outer_mark = self.mark_of(whole.outer, whole.outer_extent);
        for split in inner {
            let mark = inner_mark;
            let part = one_sided(
                &IterSplit {
                    mark,
                    ..split.clone()
                },
                Side::Inner,
            );
            self.divided.push((split, part));
        }
        let first = outer.first().map(|split| split.lower_factor.clone());
        for split in outer {
            let below = first.as_ref().unwrap_or(&split.lower_factor);
            let part = IterSplit {
                mark: outer_mark,
                lower_factor: self.facts.simplify(&split.lower_factor.floor_div(below)),
                ..split.clone()
            };
            self.divided.push((split, one_sided(&part, Side::Outer)));
        }
        Some(())
    }

    fn mark_of(&mut self, sum: IterSum, extent: Expr) -> MarkId {
        self.marks.push(IterMark {
            source: MarkSource::Sum(sum),
            extent,
        });
        MarkId(self.marks.len() - 1)
    }

    /// A part of one side as one split.
    fn as_split(&mut self, sum: IterSum, extent: Expr) -> IterSplit {
        if let [split] = &sum.args[..]
            && sum.base.is_zero()
            && self.facts.can_prove_equal(&split.extent, &extent)
        {
            return split.clone();
        }
        let one = Expr::int(1, extent.dtype());
        IterSplit {
            mark: self.mark_of(sum, extent.clone()),
            lower_factor: one.clone(),
            extent,
            scale: one,
        }
    }

    /// Splits, the innermost first, as one sum without gaps, and its extent.
    fn fused(&self, mut splits: Vec<IterSplit>, base: Expr) -> (IterSum, Expr) {
        let mut extent = Expr::int(1, base.dtype());
        for split in &mut splits {
            split.scale = extent.clone();
            extent = self.facts.simplify(&(&extent * &split.extent));
        }
        splits.reverse();
        (IterSum { args: splits, base }, extent)
    }
}

fn unscaled(split: &IterSplit) -> IterSplit {
    IterSplit {
        scale: Expr::int(1, split.scale.dtype()),
        ..split.clone()
    }
}

/// A split that is wholly of one side.
fn one_sided(split: &IterSplit, side: Side) -> Divided {
    let dtype = split.extent.dtype();
    let own = IterSum {
        args: vec![unscaled(split)],
        base: Expr::int(0, dtype),
    };
    let none = IterSum {
        args: vec![],
        base: Expr::int(0, dtype),
    };
    let (extent, one) = (split.extent.clone(), Expr::int(1, dtype));
    match side {
        Side::Inner | Side::Both => Divided {
            outer: none,
            outer_extent: one,
            inner: own,
            inner_extent: extent,
            side: Side::Inner,
        },
        Side::Outer => Divided {
            outer: own,
            outer_extent: extent,
            inner: none,
            inner_extent: one,
            side: Side::Outer,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::subspace_divide;
    use crate::arith::Analyzer;
    use crate::arith::iter_map::UnitIters;
    use crate::ir::{Expr, Range, Var};
    use crate::tensor::DType;

    fn divided(
        index: impl Fn(Expr, Expr) -> Expr,
        extents: (i32, i32),
        predicate: impl Fn(Expr, Expr) -> Expr,
    ) -> Option<[String; 4]> {
        let (i, j) = (Var::new("i", DType::I32), Var::new("j", DType::I32));
        let inputs = [
            (i.clone(), Range::to(Expr::i32(extents.0))),
            (j.clone(), Range::to(Expr::i32(extents.1))),
        ];
        let facts = Analyzer::new();
        let indices = [index(i.expr(), j.expr())];
        let cond = predicate(i.expr(), j.expr());
        let found = subspace_divide(&facts, &indices, &inputs, &[j], &cond, UnitIters::Preserve)?;
        let parts = [&found[0].outer, &found[0].inner];
        let [outer, inner] = parts.map(|part| (part.value.clone(), part.extent.clone()));
        Some([outer.0, outer.1, inner.0, inner.1].map(|e| format!("{:#}", facts.simplify(&e))))
    }

    fn always(_: Expr, _: Expr) -> Expr {
        Expr::bool(true)
    }

    #[test]
    fn a_tile_is_divided_where_its_inner_loop_starts() {
        let found = divided(|i, j| i * 16 + j, (4, 16), always);
        assert_eq!(found, Some(["i", "4", "j", "16"].map(String::from)));
    }

    #[test]
    fn an_index_with_the_inner_iterator_outside_is_not_divided() {
        assert_eq!(divided(|i, j| j * 4 + i, (4, 16), always), None);
    }

    #[test]
    fn a_bound_of_one_side_is_its_extent() {
        let found = divided(|i, j| i * 10 + j, (4, 16), |_, j| j.lt(10));
        assert_eq!(found, Some(["i", "4", "j", "10"].map(String::from)));
    }

    #[test]
    fn a_bound_over_both_sides_is_not_divided() {
        let found = divided(|i, j| i * 16 + j, (4, 16), |i, j| (i * 16 + j).lt(50));
        assert_eq!(found, None);
    }

    #[test]
    fn part_of_a_fused_loop_that_leaves_the_rest_out_is_not_divided() {
        assert_eq!(divided(|_, j| j.floor_div(4), (4, 14), always), None);
    }
}
