//! Expressions in all lanes of a vectorized loop, as vectors.

use super::lanes::{Lanes, mask};
use crate::ir::{Buffer, Expr, ExprKind, Var};
use crate::kernel::{self, ArrayId, Ty};
use crate::lower::LowerError;
use crate::lower::emit::{Emit, flat};
use crate::lower::widen::is_index;
use crate::lower::wrapping_sum::WrappingSum;
use crate::tensor::scalar::{BinOp, Intrin, wrap_int};
use crate::tensor::{DType, ScalarType};

/// No lanes that are compared are so far apart.
const FAR: i64 = 1 << 16;

/// Whether a lane of a vector has as many bits as the scalar: elements of 32 bits, on all devices.
fn has_whole_lanes(e: &Expr) -> bool {
    !e.dtype().is_vector() && !e.dtype().is_bool() && e.dtype().bytes() == 4
}

impl Emit<'_> {
    /// The expression in all lanes, as a vector.
    pub(super) fn vector(
        &mut self,
        e: &Expr,
        lanes: &Lanes<'_>,
    ) -> Result<kernel::Expr, LowerError> {
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
            ExprKind::Binary(op, a, b) if op.is_comparison() => {
                match self.compared(*op, a, b, lanes)? {
                    Some(compared) => compared,
                    None => self.lane_by_lane(e, lanes)?,
                }
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
            ExprKind::Reinterpret(a) if has_whole_lanes(a) && has_whole_lanes(e) => {
                kernel::Expr::Bits(e.dtype().scalar, boxed(self.vector(a, lanes))?)
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
    pub(super) fn value_under_mask(
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
    pub(super) fn counted(
        &mut self,
        e: &Expr,
        lanes: &Lanes<'_>,
    ) -> Result<Option<kernel::Expr>, LowerError> {
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

    /// A comparison of two indices that differ by `base + lane * stride`: that of numbers of 32 bits, which the lanes are.
    fn compared(
        &mut self,
        op: BinOp,
        a: &Expr,
        b: &Expr,
        lanes: &Lanes<'_>,
    ) -> Result<Option<kernel::Expr>, LowerError> {
        if self.gpu || lanes.names(a) || lanes.names(b) {
            return Ok(None);
        }
        let difference = WrappingSum::of(b)
            .plus(&WrappingSum::of(a), -1)
            .join_div_mod();
        let Some((stride, base)) = difference.split(lanes.var) else {
            return Ok(None);
        };
        let base = base.to_expr(a.dtype(), &|_| false).cast(DType::I64);
        let base = self.facts.analyzer.simplify(&base);
        let Some(stride) = stride.as_const().filter(|stride| stride.abs() < FAR) else {
            return Ok(None);
        };
        // Lanes that are known are constants. Differences of data may wrap.
        if base.as_int().is_some() || base.loads() {
            return Ok(None);
        }
        // a < b where lane * -stride < base. Further out than all lanes one base is as good as another.
        let far = FAR * i64::from(lanes.count);
        let base = self.exact_index(&base.min(far).max(-far))?;
        let int = |value| kernel::Expr::Int(value, ScalarType::I32);
        let numbers = kernel::Expr::Ramp(Box::new(int(0)), Box::new(int(-stride)), lanes.count);
        let base = kernel::Expr::Cast(Ty::scalar(ScalarType::I32), Box::new(base));
        let base = kernel::Expr::Splat(Box::new(base), lanes.count);
        let (numbers, base) = (Box::new(numbers), Box::new(base));
        Ok(Some(kernel::Expr::Binary(op, numbers, base)))
    }

    pub(super) fn lane_by_lane(
        &mut self,
        e: &Expr,
        lanes: &Lanes<'_>,
    ) -> Result<kernel::Expr, LowerError> {
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

    pub(super) fn vector_load(
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
    pub(in crate::lower::emit) fn vector_value(
        &mut self,
        e: &Expr,
    ) -> Result<kernel::Expr, LowerError> {
        if let ExprKind::Broadcast(a, lanes) = e.kind() {
            return Ok(kernel::Expr::Splat(Box::new(self.value(a)?), *lanes));
        }
        let values: Result<Vec<_>, _> = (0..e.dtype().lanes)
            .map(|lane| self.value(&lane_of(e, lane)))
            .collect();
        Ok(kernel::Expr::Pack(values?))
    }

    pub(super) fn note_width(&mut self, array: ArrayId, base: &WrappingSum, lanes: u16) {
        let aligned = base.is_multiple_of(lanes.into());
        let width = if aligned { lanes } else { 0 };
        self.widths.entry(array).or_default().push(width);
    }
}

/// Whether the value is a 0 whose bits are zeros.
fn is_zero(e: &Expr) -> bool {
    match e.kind() {
        ExprKind::Float(value) => value.to_bits() == 0,
        _ => e.as_int() == Some(0),
    }
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
