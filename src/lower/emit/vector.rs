//! Vectorized loops: contiguous accesses become vector loads and stores, conditions that all lanes share stay branches.
//! On the CPU a condition `base + lane < n` says which lanes are active. What does not vectorize is written out lane by lane,
//! which means the same.

use std::cell::Cell;

use super::{Emit, flat, push_branch};
use crate::ir::{Buffer, Expr, ExprKind, Var};
use crate::kernel::{self, ArrayId, Stmt, Ty};
use crate::lower::LowerError;
use crate::lower::node::{Node, walk_nodes};
use crate::lower::partition::Tails;
use crate::lower::speculate::may_fail;
use crate::lower::widen::{is_index, is_narrow_cast};
use crate::lower::wrapping_sum::WrappingSum;
use crate::lower::write_out::WriteOut;
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin, wrap_int};

/// The variable of a vectorized loop, from 0, and its number of lanes.
struct Lanes<'v> {
    var: &'v Var,
    count: u16,
    /// Those that are active, if not all.
    active: Option<Active>,
    /// Names of values that differ from lane to lane: variables of the kernel that are vectors.
    named: Vec<Var>,
}

/// The first lanes, under a condition that only they fulfil.
struct Active {
    /// How many: any integer, as accesses of kernel IR have it.
    count: kernel::Expr,
    /// Whether something was met that cannot be done for active lanes alone.
    failed: Cell<bool>,
}

impl Lanes<'_> {
    /// The expression in one lane.
    fn at(&self, e: &Expr, lane: u16) -> Expr {
        let value = Expr::int(lane.into(), self.var.dtype());
        e.substitute(&|v| (v == self.var).then(|| value.clone()))
    }

    /// The number of active lanes, if they are not all.
    fn active(&self) -> Option<&kernel::Expr> {
        self.active.as_ref().map(|active| &active.count)
    }

    /// Whether all that was met can be done for active lanes alone.
    fn is_done(&self) -> bool {
        self.active
            .as_ref()
            .is_none_or(|active| !active.failed.get())
    }

    fn vary(&self, e: &Expr) -> bool {
        e.uses(self.var) || self.names(e)
    }

    /// Whether the expression is made of a named value that differs from lane to lane: it is no sum of the lane and a base.
    fn names(&self, e: &Expr) -> bool {
        self.named.iter().any(|named| e.uses(named))
    }

    /// `base`, if the expression is `base + lane` with a base that is a multiple of the number of lanes.
    fn aligned_base(&self, e: &Expr) -> Option<Expr> {
        if self.names(e) {
            return None;
        }
        let (stride, base) = WrappingSum::of(e).join_div_mod().split(self.var)?;
        (stride.as_const() == Some(1) && base.is_multiple_of(self.count.into()))
            .then(|| base.to_expr(e.dtype(), &|_| false))
    }
}

impl Emit<'_> {
    /// A vectorized loop of constant extent.
    pub(super) fn vectorized(
        &mut self,
        var: &Var,
        min: &Expr,
        extent: i64,
        body: &[Node],
        out: &mut Vec<Stmt>,
    ) -> Result<(), LowerError> {
        let widths: &[i64] = if self.gpu { &[4, 2] } else { &[16, 8, 4, 2] };
        let width = widths
            .iter()
            .copied()
            .find(|w| extent % w == 0 && !(self.gpu && has_wide(body)))
            .unwrap_or(1);
        for chunk in 0..extent / width {
            let start = self
                .facts
                .analyzer
                .simplify(&(min + Expr::int(chunk * width, min.dtype())));
            if width == 1 {
                self.lane_alone(body, var, &start, out)?;
                continue;
            }
            let lane = var.renamed(var.name());
            let nodes = self.copies.with(body, var, &(start + &lane))?;
            let lanes = Lanes {
                var: &lane,
                count: width as u16,
                active: None,
                named: vec![],
            };
            if let Some(stmts) = self.try_vector(&nodes, &lanes)? {
                for stmt in stmts {
                    match stmt {
                        Stmt::If {
                            cond,
                            then,
                            otherwise,
                        } => push_branch(out, cond, then, otherwise),
                        other => out.push(other),
                    }
                }
                continue;
            }
            for i in 0..width {
                let value = Expr::int(i, lane.dtype());
                self.lane_alone(&nodes, &lane, &value, out)?;
            }
        }
        Ok(())
    }

    /// The statements in one lane, as scalars.
    fn lane_alone(
        &mut self,
        body: &[Node],
        lane: &Var,
        value: &Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<(), LowerError> {
        let mut write_out = WriteOut {
            facts: &mut self.facts,
            dims: self.dims,
            tails: Tails::of(self.gpu),
            stored: &self.stored,
            copies: &mut self.copies,
            parts: vec![],
        };
        let nodes = write_out.copy(body, lane, value)?;
        for (whole, part) in write_out.parts {
            self.annotated.is_part(&whole, &part);
        }
        self.nodes(&nodes, out)
    }

    /// The statements as vectors, or nothing if some would have to run lane by lane.
    fn try_vector(
        &mut self,
        nodes: &[Node],
        lanes: &Lanes<'_>,
    ) -> Result<Option<Vec<Stmt>>, LowerError> {
        self.facts.enter();
        let zero = Expr::int(0, lanes.var.dtype());
        let count = Expr::int(lanes.count.into(), lanes.var.dtype());
        self.facts.bind(lanes.var, &zero, &count);
        let before = (self.in_bounds, self.widths.clone());
        let result = self.vector_nodes(nodes, lanes);
        self.facts.leave();
        if !matches!(result, Ok(Some(_))) {
            (self.in_bounds, self.widths) = before;
        }
        result
    }

    fn vector_nodes(
        &mut self,
        nodes: &[Node],
        lanes: &Lanes<'_>,
    ) -> Result<Option<Vec<Stmt>>, LowerError> {
        let mut out = Vec::new();
        for node in nodes {
            match node {
                Node::Store {
                    buffer,
                    indices,
                    value,
                    shuffle: _,
                    axes: _,
                } => {
                    let indices: Vec<Expr> =
                        indices.iter().map(|i| self.aligned_min(i, lanes)).collect();
                    if indices.iter().any(|index| lanes.names(index)) {
                        return Ok(None);
                    }
                    let Some((stride, base)) = flat(buffer, &indices).split(lanes.var) else {
                        return Ok(None);
                    };
                    if stride.as_const() != Some(1) {
                        if lanes.active.is_some() {
                            return Ok(None);
                        }
                        let Some(stmts) = self.scattered(buffer, &indices, value, lanes)? else {
                            return Ok(None);
                        };
                        out.extend(stmts);
                        continue;
                    }
                    let value = self.vector(value, lanes)?;
                    self.check_range(buffer, &indices);
                    let array = self.array_id(buffer);
                    self.note_width(array, &base, lanes.count);
                    let index = self.index_poly(&base)?;
                    out.push(Stmt::Store {
                        array,
                        index,
                        value,
                        active: lanes.active().cloned(),
                    });
                }
                Node::If {
                    cond,
                    then,
                    otherwise,
                } if otherwise.is_empty() => {
                    let shared = self
                        .shared_condition(cond, lanes)
                        .or_else(|| self.padded_condition(cond, then, lanes));
                    let Some(shared) = shared else {
                        let Some(active) = self.under_mask(cond, then, lanes)? else {
                            return Ok(None);
                        };
                        out.extend(active);
                        continue;
                    };
                    let test = self.value(&shared)?;
                    self.facts.enter();
                    self.facts.learn(cond, &self.stored);
                    self.facts.learn(&shared, &self.stored);
                    let inner = self.vector_nodes(then, lanes)?;
                    self.facts.leave();
                    let Some(inner) = inner else {
                        return Ok(None);
                    };
                    push_branch(&mut out, test, inner, vec![]);
                }
                Node::Let { var, value, body } if !self.gpu => {
                    let Some(inner) = self.named(var, value, body, lanes)? else {
                        return Ok(None);
                    };
                    out.extend(inner);
                }
                Node::Let { .. }
                | Node::If { .. }
                | Node::For { .. }
                | Node::While { .. }
                | Node::Fragment(_)
                | Node::Barrier(_) => return Ok(None),
            }
        }
        Ok(Some(out))
    }

    /// A name for a value, and the statements that use it.
    fn named(
        &mut self,
        var: &Var,
        value: &Expr,
        body: &[Node],
        lanes: &Lanes<'_>,
    ) -> Result<Option<Vec<Stmt>>, LowerError> {
        let varies = lanes.vary(value);
        let (ty, value) = match varies {
            true => {
                let ty = Ty {
                    scalar: self.value_type(value)?,
                    lanes: lanes.count,
                };
                (ty, self.vector(value, lanes)?)
            }
            false => self.let_value(value)?,
        };
        let id = self.new_var(var.name(), ty);
        self.var_of.insert(var.clone(), kernel::Expr::Var(id));
        let active = lanes.active.as_ref();
        let mut lanes = Lanes {
            active: active.map(|active| Active {
                count: active.count.clone(),
                failed: active.failed.clone(),
            }),
            named: lanes.named.clone(),
            ..*lanes
        };
        lanes.named.extend(varies.then(|| var.clone()));
        let inner = self.vector_nodes(body, &lanes)?;
        let inner = inner.filter(|_| lanes.is_done());
        Ok(inner.map(|inner| [vec![Stmt::Let(id, value)], inner].concat()))
    }

    /// The branch for its active lanes, if that is what its condition says.
    fn under_mask(
        &mut self,
        cond: &Expr,
        then: &[Node],
        lanes: &Lanes<'_>,
    ) -> Result<Option<Vec<Stmt>>, LowerError> {
        let Some((shared, count)) = self.active_lanes(cond, lanes) else {
            return Ok(None);
        };
        let shared = self.facts.analyzer.simplify(&shared);
        let test = match shared.as_bool() {
            Some(true) => None,
            _ => Some(self.value(&shared)?),
        };
        self.facts.enter();
        self.facts.learn(&shared, &self.stored);
        let inner = self.nodes_under_mask(cond, &count, then, lanes);
        self.facts.leave();
        let Some(inner) = inner? else {
            return Ok(None);
        };
        Ok(Some(match test {
            None => inner,
            Some(test) => {
                let mut out = Vec::new();
                push_branch(&mut out, test, inner, vec![]);
                out
            }
        }))
    }

    /// Statements for the lanes that fulfil the condition, which are so many.
    fn nodes_under_mask(
        &mut self,
        cond: &Expr,
        count: &Expr,
        then: &[Node],
        lanes: &Lanes<'_>,
    ) -> Result<Option<Vec<Stmt>>, LowerError> {
        let mut same_everywhere = true;
        walk_nodes(then, &mut |node| {
            let exprs = node.exprs();
            same_everywhere &= exprs.into_iter().all(|e| self.loads_anyway(e, lanes));
        });
        if !same_everywhere {
            return Ok(None);
        }
        let lanes = self.masked(lanes, count)?;
        self.facts.enter();
        self.facts.learn(cond, &self.stored);
        let inner = self.vector_nodes(then, &lanes);
        self.facts.leave();
        Ok(inner?.filter(|_| lanes.is_done()))
    }

    /// Whether what an expression loads for all lanes together is in range although no lane may be active, and stays so whatever
    /// the condition of active lanes makes of it.
    fn loads_anyway(&self, e: &Expr, lanes: &Lanes<'_>) -> bool {
        let is_plain = |index: &Expr| {
            let mut plain = true;
            index.walk(&mut |e| {
                plain &= !matches!(
                    e.kind(),
                    ExprKind::Binary(BinOp::Min | BinOp::Max, ..)
                        | ExprKind::Select(..)
                        | ExprKind::IfThenElse(..)
                );
                plain
            });
            plain
        };
        let mut fine = true;
        e.walk(&mut |e| {
            if let ExprKind::Load(buffer, indices) = e.kind() {
                let together = !lanes.vary(e);
                fine &= !together || self.in_range(buffer, indices) && indices.iter().all(is_plain);
            }
            fine
        });
        fine
    }

    /// The same lanes, of which at most so many are active.
    fn masked<'v>(&mut self, lanes: &Lanes<'v>, count: &Expr) -> Result<Lanes<'v>, LowerError> {
        let mut count = self.exact_index(count)?;
        if let Some(outer) = &lanes.active {
            let both = Box::new(outer.count.clone());
            count = kernel::Expr::Binary(BinOp::Min, both, Box::new(count));
        }
        Ok(Lanes {
            var: lanes.var,
            count: lanes.count,
            active: Some(Active {
                count,
                failed: Cell::new(false),
            }),
            named: lanes.named.clone(),
        })
    }

    /// What a condition asks of all lanes together, and the number of first lanes that fulfil the rest: for `base + lane < n` it is
    /// `n - base`.
    fn active_lanes(&self, cond: &Expr, lanes: &Lanes<'_>) -> Option<(Expr, Expr)> {
        if self.gpu {
            return None;
        }
        let mut shared = Expr::bool(true);
        let mut count: Option<Expr> = None;
        for c in cond.conjuncts() {
            if !lanes.vary(&c) {
                shared = shared.and(c);
                continue;
            }
            let (index, end) = c.as_binary(BinOp::Lt)?;
            if lanes.names(&c) {
                return None;
            }
            let difference = WrappingSum::of(end).plus(&WrappingSum::of(index).join_div_mod(), -1);
            let (stride, rest) = difference.split(lanes.var)?;
            if stride.as_const() != Some(-1) {
                return None;
            }
            let own = rest.to_expr(index.dtype(), &|_| false);
            let own = self.facts.analyzer.simplify(&own);
            // Data may change under the branch, and their differences may wrap.
            let mut data = false;
            own.walk(&mut |e| {
                data |= matches!(e.kind(), ExprKind::Load(..));
                !data
            });
            if data {
                return None;
            }
            count = Some(count.map_or(own.clone(), |count| count.min(own)));
        }
        Some((shared, count?))
    }

    /// A store of neighbours in memory to places apart, as a copy that transposes makes: one load of a vector, and a store for
    /// each lane. Only for GPUs, whose threads would else load each lane with gaps between them.
    fn scattered(
        &mut self,
        buffer: &Buffer,
        indices: &[Expr],
        value: &Expr,
        lanes: &Lanes<'_>,
    ) -> Result<Option<Vec<Stmt>>, LowerError> {
        let loaded = match value.kind() {
            ExprKind::IfThenElse(_, then, otherwise) if !lanes.vary(otherwise) => then,
            _ => value,
        };
        let ExprKind::Load(source, at) = loaded.kind() else {
            return Ok(None);
        };
        let stride = flat(source, at).split(lanes.var).map(|(stride, _)| stride);
        if !self.gpu || stride.and_then(|stride| stride.as_const()) != Some(1) {
            return Ok(None);
        }
        let value = self.vector(value, lanes)?;
        let loaded = match &value {
            kernel::Expr::Select(_, then, _) => then,
            value => value,
        };
        if !matches!(loaded, kernel::Expr::Load { .. }) {
            return Ok(None);
        }
        let ty = Ty {
            scalar: buffer.dtype().scalar,
            lanes: lanes.count,
        };
        let vector = self.new_var("lanes", ty);
        let mut stmts = vec![Stmt::Let(vector, value)];
        self.check_range(buffer, indices);
        let array = self.array_id(buffer);
        self.widths.entry(array).or_default().push(1);
        for lane in 0..lanes.count {
            let at: Vec<Expr> = indices.iter().map(|index| lanes.at(index, lane)).collect();
            let index = self.index_poly(&flat(buffer, &at))?;
            let value = kernel::Expr::Lane(Box::new(kernel::Expr::Var(vector)), lane);
            stmts.push(Stmt::Store {
                array,
                index,
                value,
                active: None,
            });
        }
        Ok(Some(stmts))
    }

    /// The condition without the lane, if it is the same in all lanes.
    fn shared_condition(&self, cond: &Expr, lanes: &Lanes<'_>) -> Option<Expr> {
        let mut all = Expr::bool(true);
        for c in cond.conjuncts() {
            if !lanes.vary(&c) {
                all = all.and(c);
                continue;
            }
            let (a, b) = c.as_binary(BinOp::Lt)?;
            let base = lanes.aligned_base(a)?;
            if lanes.vary(b) || !WrappingSum::of(b).is_multiple_of(lanes.count.into()) {
                return None;
            }
            all = all.and(base.lt(b));
        }
        Some(all)
    }

    /// The condition in the first lane, if the others may run past the end: `index < n` where every array is accessed at
    /// `index` and has `n` elements, so that what is read and written too much is the padding of [`kernel::GLOBAL_ALIGN`].
    fn padded_condition(&self, cond: &Expr, then: &[Node], lanes: &Lanes<'_>) -> Option<Expr> {
        let mut first = Expr::bool(true);
        let mut end = None;
        for c in cond.conjuncts() {
            if !lanes.vary(&c) {
                first = first.and(c);
                continue;
            }
            let (index, len) = c.as_binary(BinOp::Lt)?;
            let base = lanes.aligned_base(index)?;
            if end.is_some() || lanes.vary(len) {
                return None;
            }
            first = first.and(base.lt(len));
            end = Some((WrappingSum::of(index).join_div_mod(), WrappingSum::of(len)));
        }
        let (index, len) = end?;
        let same = |a: &WrappingSum, b: &WrappingSum| a.clone().plus(b, -1).as_const() == Some(0);
        let at_index = |buffer: &Buffer, indices: &[Expr]| {
            self.is_padded(self.array_id(buffer), lanes.count)
                && same(&flat(buffer, indices), &index)
                && same(&super::elements(buffer), &len)
        };
        let fits = then.iter().all(|node| match node {
            Node::Store {
                buffer,
                indices,
                value,
                shuffle: _,
                axes: _,
            } => {
                let mut fits = at_index(buffer, indices) && !may_fail(value, &self.facts.analyzer);
                value.walk(&mut |e| {
                    if let ExprKind::Load(buffer, indices) = e.kind() {
                        fits &= !lanes.vary(e) || at_index(buffer, indices);
                    }
                    fits
                });
                fits
            }
            Node::For { .. }
            | Node::Let { .. }
            | Node::If { .. }
            | Node::While { .. }
            | Node::Fragment(_)
            | Node::Barrier(_) => false,
        });
        fits.then_some(first)
    }

    /// The index with `min(base + lane, n - 1)` written as `min(base, n - lanes) + lane` where base and `n` are multiples
    /// of the number of lanes.
    fn aligned_min(&self, index: &Expr, lanes: &Lanes<'_>) -> Expr {
        // Inside a main loop or a branch, what is known may make the minimum needless.
        let index = self.facts.analyzer.simplify(index);
        index.rewrite_bottom_up(&mut |e| {
            let Some((a, b)) = e.as_binary(BinOp::Min) else {
                return e.clone();
            };
            let extent = WrappingSum::of(&(b + 1));
            match lanes.aligned_base(a) {
                Some(base) if !lanes.vary(b) && extent.is_multiple_of(lanes.count.into()) => {
                    let last = extent.to_expr(b.dtype(), &|_| false) - i64::from(lanes.count);
                    let last = self.facts.analyzer.simplify(&last);
                    base.min(last) + lanes.var
                }
                _ => e.clone(),
            }
        })
    }

    fn note_width(&mut self, array: ArrayId, base: &WrappingSum, lanes: u16) {
        let aligned = base.is_multiple_of(lanes.into());
        let width = if aligned { lanes } else { 0 };
        self.widths.entry(array).or_default().push(width);
    }

    /// The expression in all lanes, as a vector.
    fn vector(&mut self, e: &Expr, lanes: &Lanes<'_>) -> Result<kernel::Expr, LowerError> {
        let count = lanes.count;
        if !lanes.vary(e) {
            return Ok(kernel::Expr::Splat(Box::new(self.value(e)?), count));
        }
        if e.dtype().is_int() || e.dtype().is_vector() {
            // Integer arithmetic on the lane number: the loads in it still are vectors where the whole value is a load.
            if let ExprKind::Load(buffer, indices) = e.kind() {
                return self.vector_load(buffer, indices, lanes);
            }
        }
        if let ExprKind::Var(var) = e.kind()
            && lanes.named.contains(var)
        {
            return Ok(self.var_of[var].clone());
        }
        if is_index(e) {
            return match self.counted(e, lanes)? {
                Some(numbers) => Ok(numbers),
                None => self.lane_by_lane(e, lanes),
            };
        }
        self.value_type(e)?;
        let boxed = |e: Result<kernel::Expr, LowerError>| e.map(Box::new);
        Ok(match e.kind() {
            ExprKind::Load(buffer, indices) => self.vector_load(buffer, indices, lanes)?,
            ExprKind::Cast(a) if !is_index(a) => {
                let ty = Ty {
                    scalar: e.dtype().scalar,
                    lanes: count,
                };
                kernel::Expr::Cast(ty, boxed(self.vector(a, lanes))?)
            }
            ExprKind::Binary(op, a, b) if !(is_index(a) && is_index(b)) => {
                let (a, b) = (self.vector(a, lanes)?, self.vector(b, lanes)?);
                kernel::Expr::Binary(*op, Box::new(a), Box::new(b))
            }
            ExprKind::Not(a) => kernel::Expr::Not(boxed(self.vector(a, lanes))?),
            ExprKind::Select(c, a, b) => kernel::Expr::Select(
                boxed(self.vector(c, lanes))?,
                boxed(self.vector(a, lanes))?,
                boxed(self.vector(b, lanes))?,
            ),
            ExprKind::IfThenElse(c, a, b) => {
                if let Some(value) = self.value_under_mask(c, a, b, lanes)? {
                    return Ok(value);
                }
                let (a, b) = (self.safe(a), self.safe(b));
                let cond = match self.shared_condition(c, lanes) {
                    Some(shared) => kernel::Expr::Splat(Box::new(self.value(&shared)?), count),
                    None => self.vector(c, lanes)?,
                };
                kernel::Expr::Select(
                    Box::new(cond),
                    boxed(self.vector(&a, lanes))?,
                    boxed(self.vector(&b, lanes))?,
                )
            }
            ExprKind::Call(Intrin::QMultiplyShift, _) | ExprKind::Reinterpret(_) => {
                self.lane_by_lane(e, lanes)?
            }
            ExprKind::Call(intrin, args) => {
                let args: Result<Vec<_>, _> = args.iter().map(|a| self.vector(a, lanes)).collect();
                kernel::Expr::Call(*intrin, args?)
            }
            ExprKind::Let { var, value, body } => {
                let body = body.substitute(&|v| (v == var).then(|| value.clone()));
                self.vector(&body, lanes)?
            }
            _ => self.lane_by_lane(e, lanes)?,
        })
    }

    /// `if_then_else(base + lane < n, a, b)` with loads of `a` in the active lanes alone.
    fn value_under_mask(
        &mut self,
        cond: &Expr,
        then: &Expr,
        otherwise: &Expr,
        lanes: &Lanes<'_>,
    ) -> Result<Option<kernel::Expr>, LowerError> {
        let simplified = self.facts.analyzer.simplify(cond);
        if simplified.as_bool() == Some(true) {
            return self.vector(then, lanes).map(Some);
        }
        // What holds for all lanes or for none no longer counts them once it is simplified.
        let counted = [cond, &simplified].into_iter().find_map(|cond| {
            let (shared, count) = self.active_lanes(cond, lanes)?;
            Some((cond, shared, count))
        });
        let Some((cond, shared, count)) = counted else {
            return Ok(None);
        };
        if self.facts.analyzer.simplify(&shared).as_bool() != Some(true) {
            return Ok(None);
        }
        if !self.loads_anyway(then, lanes) {
            return Ok(None);
        }
        let before = (self.in_bounds, self.widths.clone());
        let masked = self.masked(lanes, &count)?;
        self.facts.enter();
        self.facts.learn(cond, &self.stored);
        let value = self.vector(then, &masked);
        self.facts.leave();
        let value = value?;
        if !masked.is_done() {
            (self.in_bounds, self.widths) = before;
            return Ok(None);
        }
        // Lanes that are not active are loaded as 0.
        if matches!(value, kernel::Expr::Load { .. }) && is_zero(otherwise) {
            return Ok(Some(value));
        }
        let Some(active) = &masked.active else {
            return Ok(None);
        };
        let otherwise = self.vector(&self.safe(otherwise), lanes)?;
        let mask = mask(&active.count, lanes.count);
        let [mask, value, otherwise] = [mask, value, otherwise].map(Box::new);
        Ok(Some(kernel::Expr::Select(mask, value, otherwise)))
    }

    /// An index whose neighbours in the lanes are so far apart as the others, `base + lane * stride`.
    fn counted(&mut self, e: &Expr, lanes: &Lanes<'_>) -> Result<Option<kernel::Expr>, LowerError> {
        if self.gpu || lanes.names(e) {
            return Ok(None);
        }
        // What is cut off in the end may be cut off before numbers are added.
        let index = match e.kind() {
            ExprKind::Cast(index) if is_index(index) => index,
            _ => e,
        };
        let Some((stride, base)) = WrappingSum::of(index).join_div_mod().split(lanes.var) else {
            return Ok(None);
        };
        let Some(stride) = stride.as_const() else {
            return Ok(None);
        };
        let base = base.to_expr(index.dtype(), &|_| false).cast(e.dtype());
        let base = self.facts.analyzer.simplify(&base);
        let stride = kernel::Expr::Int(wrap_int(stride, e.dtype().scalar), e.dtype().scalar);
        let (base, stride) = (Box::new(self.value(&base)?), Box::new(stride));
        Ok(Some(kernel::Expr::Ramp(base, stride, lanes.count)))
    }

    fn lane_by_lane(&mut self, e: &Expr, lanes: &Lanes<'_>) -> Result<kernel::Expr, LowerError> {
        if let Some(active) = &lanes.active {
            let mut loads = false;
            e.walk(&mut |e| {
                loads |= matches!(e.kind(), ExprKind::Load(..)) && lanes.vary(e);
                !loads
            });
            active.failed.set(active.failed.get() || loads);
        }
        let named = lanes.named.iter().filter(|named| e.uses(named));
        let named: Vec<(&Var, kernel::Expr)> =
            named.map(|var| (var, self.var_of[var].clone())).collect();
        let mut values = vec![];
        for lane in 0..lanes.count {
            for (var, vector) in &named {
                let own = kernel::Expr::Lane(Box::new(vector.clone()), lane);
                self.var_of.insert((*var).clone(), own);
            }
            let e = self.facts.analyzer.simplify(&lanes.at(e, lane));
            values.push(self.value(&e));
        }
        for (var, vector) in named {
            self.var_of.insert(var.clone(), vector);
        }
        let values: Result<Vec<_>, _> = values.into_iter().collect();
        Ok(kernel::Expr::Pack(values?))
    }

    fn vector_load(
        &mut self,
        buffer: &Buffer,
        indices: &[Expr],
        lanes: &Lanes<'_>,
    ) -> Result<kernel::Expr, LowerError> {
        let indices: Vec<Expr> = indices.iter().map(|i| self.aligned_min(i, lanes)).collect();
        let named = indices.iter().any(|index| lanes.names(index));
        let split = flat(buffer, &indices).split(lanes.var);
        match split.filter(|_| !named) {
            Some((stride, base)) if stride.as_const() == Some(1) => {
                self.check_range(buffer, &indices);
                let array = self.array_id(buffer);
                self.note_width(array, &base, lanes.count);
                Ok(kernel::Expr::Load {
                    array,
                    index: Box::new(self.index_poly(&base)?),
                    lanes: lanes.count,
                    active: lanes.active().cloned().map(Box::new),
                })
            }
            _ => self.lane_by_lane(&Expr::load(buffer, indices), lanes),
        }
    }

    /// A vector that the program itself wrote with `T.Ramp` and `T.Broadcast`, lane by lane.
    pub(super) fn vector_value(&mut self, e: &Expr) -> Result<kernel::Expr, LowerError> {
        if let ExprKind::Broadcast(a, lanes) = e.kind() {
            return Ok(kernel::Expr::Splat(Box::new(self.value(a)?), *lanes));
        }
        let values: Result<Vec<_>, _> = (0..e.dtype().lanes)
            .map(|lane| self.value(&lane_of(e, lane)))
            .collect();
        Ok(kernel::Expr::Pack(values?))
    }
}

/// Whether statements access neighbours in memory alone where the variable counts lanes, so that any number of first lanes may be
/// active.
pub(in crate::lower) fn is_contiguous(nodes: &[Node], lane: &Var) -> bool {
    let contiguous = |buffer: &Buffer, indices: &[Expr]| {
        let stride = flat(buffer, indices).split(lane).map(|(stride, _)| stride);
        stride.and_then(|stride| stride.as_const()) == Some(1)
    };
    let (mut all, mut named) = (true, Vec::new());
    walk_nodes(nodes, &mut |node| {
        all &= match node {
            Node::Store {
                buffer, indices, ..
            } => contiguous(buffer, indices),
            Node::If { otherwise, .. } => otherwise.is_empty(),
            Node::Let { var, .. } => {
                named.push(var.clone());
                true
            }
            Node::For { .. } | Node::While { .. } | Node::Fragment(_) | Node::Barrier(_) => false,
        };
        let by_name = |e: &Expr| named.iter().any(|var| e.uses(var));
        for e in node.exprs() {
            e.walk(&mut |e| {
                if let ExprKind::Load(buffer, indices) = e.kind() {
                    all &= !e.uses(lane) || contiguous(buffer, indices);
                    all &= !indices.iter().any(by_name);
                }
                all
            });
        }
        if let Node::Store { indices, .. } = node {
            all &= !indices.iter().any(by_name);
        }
    });
    all
}

/// Whether the value is a 0 whose bits are zeros.
fn is_zero(e: &Expr) -> bool {
    match e.kind() {
        ExprKind::Float(value) => value.to_bits() == 0,
        _ => e.as_int() == Some(0),
    }
}

/// A vector of so many lanes that says which of them are active.
fn mask(active: &kernel::Expr, lanes: u16) -> kernel::Expr {
    let int = |value| kernel::Expr::Int(value, ScalarType::I32);
    let numbers = kernel::Expr::Ramp(Box::new(int(0)), Box::new(int(1)), lanes);
    // A number that fits, whatever its type was.
    let most = kernel::Expr::Int(lanes.into(), ScalarType::I64);
    let least = kernel::Expr::Int(0, ScalarType::I64);
    let count = kernel::Expr::Binary(BinOp::Min, Box::new(active.clone()), Box::new(most));
    let count = kernel::Expr::Binary(BinOp::Max, Box::new(count), Box::new(least));
    let count = kernel::Expr::Cast(Ty::scalar(ScalarType::I32), Box::new(count));
    let count = kernel::Expr::Splat(Box::new(count), lanes);
    kernel::Expr::Binary(BinOp::Lt, Box::new(numbers), Box::new(count))
}

/// Whether statements compute with integers of 64 bits that are no indices: a GPU holds each in two words, and has no vectors
/// of such.
fn has_wide(nodes: &[Node]) -> bool {
    let is_wide = |e: &Expr| {
        let mut wide = false;
        e.walk(&mut |e| {
            let data = !is_index(e) || is_narrow_cast(e);
            wide |= e.dtype().is_int() && e.dtype().scalar.bytes() == 8 && data;
            // Indices are scalars, whatever is loaded.
            !wide && !matches!(e.kind(), ExprKind::Load(..))
        });
        wide
    };
    let mut found = false;
    walk_nodes(nodes, &mut |node| {
        found |= match node {
            Node::Store {
                buffer,
                indices: _,
                value,
                shuffle: _,
                axes: _,
            } => buffer.dtype().scalar.bytes() == 8 || is_wide(value),
            Node::For { .. }
            | Node::Let { .. }
            | Node::If { .. }
            | Node::While { .. }
            | Node::Fragment(_)
            | Node::Barrier(_) => node.exprs().into_iter().any(is_wide),
        };
    });
    found
}

/// One lane of a vector expression.
fn lane_of(e: &Expr, lane: u16) -> Expr {
    if !e.dtype().is_vector() {
        return e.clone();
    }
    let scalar = e.dtype().with_lanes(1);
    match e.kind() {
        ExprKind::Ramp {
            base,
            stride,
            lanes: _,
        } => base + stride * i64::from(lane),
        ExprKind::Broadcast(a, _) => a.clone(),
        ExprKind::Load(buffer, indices) => {
            let indices = indices.iter().map(|i| lane_of(i, lane)).collect();
            Expr::load(buffer, indices)
        }
        _ => {
            let below = e.map_children(&mut |child| lane_of(child, lane));
            Expr::new(below.kind().clone(), scalar)
        }
    }
}
