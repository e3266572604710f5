//! Scalar expressions: `index` in the index type, `value` in the type that the program gave.

use super::Emit;
use crate::ir::{Buffer, Expr, ExprKind};
use crate::kernel::{self, Ty};
use crate::lower::widen::{is_coordinate, is_index, is_narrow_cast};
use crate::lower::wrapping_sum::WrappingSum;
use crate::lower::{LowerError, LowerProblem};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin, Scalar, decode, encode};

/// Indices that are computed in floats are cut to this distance from 0: no array of a GPU has as many elements. The sum of two of them
/// and a small constant fits an `int32`.
const FARTHEST: i64 = (1 << 30) - (1 << 16);

impl Emit<'_> {
    /// The type of values, if the target computes with it.
    pub(super) fn value_type(&self, e: &Expr) -> Result<ScalarType, LowerError> {
        let ty = e.dtype().scalar;
        if matches!(ty, ScalarType::Small(_)) || e.dtype().vscale_factor().is_some() {
            return Err(LowerProblem::DType {
                what: format!("{e:#}"),
                dtype: e.dtype(),
            }
            .into());
        }
        let lacking = match ty {
            ScalarType::F64 | ScalarType::BF16 => self.gpu,
            ScalarType::F16 => !self.half,
            _ => false,
        };
        if lacking {
            let mut source = None;
            e.walk(&mut |part| {
                if let ExprKind::Load(buffer, _) = part.kind()
                    && buffer.dtype() == e.dtype()
                {
                    source.get_or_insert_with(|| buffer.name().to_owned());
                }
                source.is_none()
            });
            let what = match &source {
                Some(buffer) => format!("buffer `{buffer}`"),
                None => format!("`{e:#}`"),
            };
            return Err(LowerProblem::WideType {
                what,
                buffer: source,
                dtype: e.dtype(),
            }
            .into());
        }
        Ok(ty)
    }

    /// The sum as an index.
    pub(super) fn index_poly(&mut self, p: &WrappingSum) -> Result<kernel::Expr, LowerError> {
        let dims = self.dims;
        let is_dim = |e: &Expr| e.as_var().is_some_and(|v| dims.index(v).is_some());
        let e = p.to_expr(crate::tensor::DType::I64, &is_dim);
        self.index(&e)
    }

    /// An integer expression in the index type.
    pub(super) fn index(&mut self, e: &Expr) -> Result<kernel::Expr, LowerError> {
        if let Some(v) = e.as_int() {
            return Ok(kernel::Expr::Int(v, self.index));
        }
        if let Some(scalar) = self.host_scalar(e) {
            return Ok(scalar);
        }
        Ok(match e.kind() {
            ExprKind::Var(v) if self.var_of.contains_key(v) => {
                let value = self.var_of[v].clone();
                self.as_index(value, e.dtype().scalar, is_index(e))
            }
            ExprKind::Var(v) => {
                let var = v.name().to_owned();
                return Err(LowerProblem::Undefined { var }.into());
            }
            ExprKind::Binary(op, a, b) if is_index(e) && !op.is_comparison() => {
                let (a, b) = (a.clone(), b.clone());
                self.index_binary(*op, &a, &b)?
            }
            ExprKind::Cast(a) if is_index(e) && is_index(a) => self.index(a)?,
            ExprKind::Cast(a) if is_index(e) => {
                let value = self.value(a)?;
                kernel::Expr::Cast(Ty::scalar(self.index), Box::new(value))
            }
            ExprKind::Select(c, a, b) | ExprKind::IfThenElse(c, a, b) if is_index(e) => {
                let (c, a, b) = (c.clone(), a.clone(), b.clone());
                kernel::Expr::Select(
                    Box::new(self.value(&c)?),
                    Box::new(self.index(&a)?),
                    Box::new(self.index(&b)?),
                )
            }
            _ => {
                let value = self.value(e)?;
                let from = e.dtype().scalar;
                if from == self.index {
                    value
                } else {
                    kernel::Expr::Cast(Ty::scalar(self.index), Box::new(value))
                }
            }
        })
    }

    /// An operand of a sum or product of indices. A coordinate is kept so far from the ends of `int32` that a step to its
    /// neighbour does not wrap: what clamps the sum, or guards the access, must see on which side it is.
    fn term(&mut self, e: &Expr) -> Result<kernel::Expr, LowerError> {
        let value = self.index(e)?;
        if self.index != ScalarType::I32 || !is_coordinate(e) {
            return Ok(value);
        }
        let end = |value: i64| Box::new(kernel::Expr::Int(value, ScalarType::I32));
        let most = kernel::Expr::Binary(BinOp::Min, Box::new(value), end(FARTHEST));
        Ok(kernel::Expr::Binary(
            BinOp::Max,
            Box::new(most),
            end(-FARTHEST),
        ))
    }

    /// The same where the value itself counts, not the element that it names: it must not wrap.
    pub(super) fn exact_index(&mut self, e: &Expr) -> Result<kernel::Expr, LowerError> {
        let value = self.index(e)?;
        let narrowed = self.index == ScalarType::I32;
        if narrowed && !self.exact.contains(&value) && !self.fits_index(e) {
            self.exact.push(value.clone());
        }
        match e.as_int() {
            Some(v) if narrowed && i32::try_from(v).is_err() => Err(LowerProblem::TooWide {
                expr: v.to_string(),
                value: Some(v),
            }
            .into()),
            _ => Ok(value),
        }
    }

    /// Whether the value of an index surely fits `int32`.
    fn fits_index(&self, e: &Expr) -> bool {
        let atom = matches!(e.kind(), ExprKind::Int(_) | ExprKind::Var(_)) || is_narrow_cast(e);
        // Data are computed in their own type, whatever it is.
        let own = e.dtype().scalar.int_range().filter(|_| !is_index(e));
        let fits = |(low, high)| low >= i64::from(i32::MIN) && high <= i64::from(i32::MAX);
        if atom || own.is_some_and(fits) {
            return true;
        }
        let bound = self.facts.analyzer.bound(e);
        bound.min >= i64::from(i32::MIN) && bound.max <= i64::from(i32::MAX)
    }

    /// A variable's value as an index: loop variables already have the index type, `let` variables their own.
    fn as_index(&self, value: kernel::Expr, ty: ScalarType, is_loop: bool) -> kernel::Expr {
        let own = match &value {
            kernel::Expr::Var(id) => self.vars[*id].ty.scalar,
            kernel::Expr::BlockIdx(_) | kernel::Expr::ThreadIdx(_) => {
                return if self.gpu || ty == self.index && is_loop {
                    value
                } else {
                    kernel::Expr::Cast(Ty::scalar(self.index), Box::new(value))
                };
            }
            _ => ty,
        };
        if own == self.index {
            value
        } else {
            kernel::Expr::Cast(Ty::scalar(self.index), Box::new(value))
        }
    }

    /// A scalar that the host computes: a dim, or a division and the like of dims alone. It does so before the loops and
    /// branches around the expression are known to run, so the divisor must not be a dim, which may be 0.
    fn host_scalar(&mut self, e: &Expr) -> Option<kernel::Expr> {
        let worth = match e.kind() {
            ExprKind::Var(v) => self.dims.index(v).is_some(),
            ExprKind::Binary(op, _, _) => matches!(
                op,
                BinOp::FloorDiv
                    | BinOp::FloorMod
                    | BinOp::Div
                    | BinOp::Mod
                    | BinOp::Min
                    | BinOp::Max
            ),
            _ => false,
        };
        if !worth || !e.dtype().is_int() {
            return None;
        }
        let host = self.dims.always_host(e)?;
        if let Some(v) = host.as_const() {
            return Some(kernel::Expr::Int(v, self.index));
        }
        if let Some((id, _)) = self.scalars.iter().find(|(_, known)| *known == host) {
            return Some(kernel::Expr::Var(*id));
        }
        let name = e.as_var().map_or("size", |v| v.name()).to_owned();
        let id = self.new_var(&name, Ty::scalar(self.index));
        self.scalars.push((id, host));
        Some(kernel::Expr::Var(id))
    }

    fn index_binary(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Result<kernel::Expr, LowerError> {
        let ty = self.index;
        let low_bits = b.as_int().is_some_and(|b| b > 0 && b.count_ones() == 1);
        let wraps = match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul => true,
            // The low bits of what wrapped are right.
            BinOp::FloorMod => low_bits,
            _ => false,
        };
        let (x, y) = if wraps {
            (self.term(a)?, self.term(b)?)
        } else {
            (self.exact_index(a)?, self.exact_index(b)?)
        };
        let (x, y) = (Box::new(x), Box::new(y));
        let power = b.as_int().filter(|b| b.count_ones() == 1 && *b > 0);
        let nonnegative =
            |e: &Expr| self.facts.analyzer.bound(e).min >= 0 || self.facts.nonnegative(e);
        let op = match op {
            BinOp::FloorDiv if power.is_some() => {
                let shift = power.map_or(0, i64::trailing_zeros);
                let shift = kernel::Expr::Int(shift.into(), ty);
                return Ok(kernel::Expr::Binary(BinOp::Shr, x, Box::new(shift)));
            }
            BinOp::FloorMod if power.is_some() => {
                let mask = kernel::Expr::Int(power.map_or(0, |p| p - 1), ty);
                return Ok(kernel::Expr::Binary(BinOp::BitAnd, x, Box::new(mask)));
            }
            BinOp::FloorDiv | BinOp::FloorMod | BinOp::Div | BinOp::Mod
                if nonnegative(a) && nonnegative(b) =>
            {
                let op = if matches!(op, BinOp::FloorDiv | BinOp::Div) {
                    BinOp::Div
                } else {
                    BinOp::Mod
                };
                if !self.gpu {
                    return Ok(kernel::Expr::Binary(op, x, y));
                }
                // Unsigned division is several times faster on GPUs.
                let unsigned = |e| Box::new(kernel::Expr::Cast(Ty::scalar(ScalarType::U32), e));
                let value = kernel::Expr::Binary(op, unsigned(x), unsigned(y));
                return Ok(kernel::Expr::Cast(Ty::scalar(ty), Box::new(value)));
            }
            op => op,
        };
        Ok(kernel::Expr::Binary(op, x, y))
    }

    /// An expression of scalar type in that type.
    pub(super) fn value(&mut self, e: &Expr) -> Result<kernel::Expr, LowerError> {
        if e.dtype().is_vector() {
            return self.vector_value(e);
        }
        let ty = self.value_type(e)?;
        if let ExprKind::Var(v) = e.kind()
            && let Some(kernel::Expr::Var(id)) = self.var_of.get(v)
            && self.vars[*id].ty.scalar == ty
        {
            return Ok(kernel::Expr::Var(*id));
        }
        let widens = ty.bytes() > self.index.bytes();
        if e.as_int().is_none()
            && self.is_counted(e)
            && e.dtype().is_int()
            && (!widens || self.fits_index(e))
        {
            let value = self.index(e)?;
            return Ok(if ty == self.index {
                value
            } else {
                kernel::Expr::Cast(Ty::scalar(ty), Box::new(value))
            });
        }
        Ok(match e.kind() {
            ExprKind::Int(v) => kernel::Expr::Int(*v, ty),
            ExprKind::Float(v) => kernel::Expr::Float(*v, ty),
            ExprKind::Var(v) => match self.var_of.get(v) {
                Some(value) => value.clone(),
                None => {
                    let var = v.name().to_owned();
                    return Err(LowerProblem::Undefined { var }.into());
                }
            },
            ExprKind::Cast(a) => {
                let a = if self.is_counted(a) && a.dtype().is_int() {
                    self.exact_index(a)?
                } else {
                    self.value(a)?
                };
                kernel::Expr::Cast(Ty::scalar(ty), Box::new(a))
            }
            ExprKind::Binary(op, a, b) => {
                let both_index = a.dtype().is_int() && self.is_counted(a) && self.is_counted(b);
                let (a, b) = if op.is_comparison() && both_index {
                    (self.exact_index(a)?, self.exact_index(b)?)
                } else {
                    (self.value(a)?, self.value(b)?)
                };
                kernel::Expr::Binary(*op, Box::new(a), Box::new(b))
            }
            ExprKind::Not(a) => kernel::Expr::Not(Box::new(self.value(a)?)),
            ExprKind::Select(c, a, b) => kernel::Expr::Select(
                Box::new(self.value(c)?),
                Box::new(self.value(a)?),
                Box::new(self.value(b)?),
            ),
            ExprKind::IfThenElse(c, a, b) => {
                let (a, b) = (self.safe(a), self.safe(b));
                kernel::Expr::Select(
                    Box::new(self.value(c)?),
                    Box::new(self.value(&a)?),
                    Box::new(self.value(&b)?),
                )
            }
            ExprKind::Load(buffer, indices) => self.load(buffer, indices)?,
            ExprKind::Call(Intrin::QMultiplyShift, args) => {
                let args: Result<Vec<_>, _> = args.iter().map(|a| self.value(a)).collect();
                fixed_point(&args?)
            }
            ExprKind::Call(intrin, args) => {
                let args: Result<Vec<_>, _> = args.iter().map(|a| self.value(a)).collect();
                kernel::Expr::Call(*intrin, args?)
            }
            ExprKind::Let { var, value, body } => {
                let body = body.substitute(&|v| (v == var).then(|| value.clone()));
                self.value(&body)?
            }
            ExprKind::Ramp {
                base: _,
                stride: _,
                lanes: _,
            }
            | ExprKind::Broadcast(_, _) => return self.vector_value(e),
            ExprKind::Reinterpret(a) => self.reinterpreted(e, a)?,
            ExprKind::External(external, args) => {
                return Err(LowerProblem::external(*external, args).into());
            }
            ExprKind::Str(text) => {
                let text = text.to_string();
                return Err(LowerProblem::Text { text }.into());
            }
            ExprKind::Data(buffer) => {
                let buffer = buffer.name().to_owned();
                return Err(LowerProblem::Address { buffer }.into());
            }
        })
    }

    /// The bits of a scalar as those of another type.
    fn reinterpreted(&mut self, e: &Expr, a: &Expr) -> Result<kernel::Expr, LowerError> {
        let (from, to) = (a.dtype(), e.dtype());
        if from.is_vector() || to.is_vector() || from.bytes() != to.bytes() {
            return Err(LowerProblem::Reinterpret { dtype: to }.into());
        }
        let scalar = self.value_type(a)?;
        let known = match a.kind() {
            ExprKind::Int(v) => Some(Scalar::Int(*v)),
            ExprKind::Float(v) => Some(Scalar::Float(*v)),
            _ => None,
        };
        let Some(known) = known else {
            return Ok(kernel::Expr::Bits(to.scalar, Box::new(self.value(a)?)));
        };
        let mut bytes = vec![0; from.bytes()];
        encode(known, scalar, &mut bytes);
        Ok(match decode(&bytes, to.scalar) {
            Scalar::Int(v) => kernel::Expr::Int(v, to.scalar),
            Scalar::Float(v) => kernel::Expr::Float(v, to.scalar),
        })
    }

    /// Whether a value may be computed in the index type. On the GPU that is narrower than `int64`: arithmetic on data that was
    /// widened is not bounded by any dim, and stays in the type that it was given, as a constant does that no index is. So does
    /// what is narrowed afterwards, unless that takes no more than the low bits of sums and products.
    fn is_counted(&self, e: &Expr) -> bool {
        let wide = |e: &Expr| e.dtype().scalar.bytes() > self.index.bytes();
        let mut wide_data = wide(e) && self.has_data(e);
        e.walk(&mut |e| {
            wide_data |= match e.kind() {
                ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, _, _) => false,
                ExprKind::Binary(_, a, b) => {
                    let fit = self.fits_index(a) && self.fits_index(b);
                    wide(e) && !fit && self.has_data(e)
                }
                _ => false,
            };
            !wide_data
        });
        is_index(e) && !wide_data
    }

    /// Whether there are numbers in an expression that are no index: data, and constants that the index type does not have.
    fn has_data(&self, e: &Expr) -> bool {
        let index = self.index.int_range();
        let outside = |v: i64| index.is_some_and(|(low, high)| !(low..=high).contains(&v));
        let mut data = false;
        e.walk(&mut |e| {
            data |= is_narrow_cast(e) || e.as_int().is_some_and(outside);
            !data
        });
        data
    }

    /// A value for a `let` with its type: loop-like integers stay in the index type.
    pub(super) fn let_value(&mut self, e: &Expr) -> Result<(Ty, kernel::Expr), LowerError> {
        if e.dtype().is_int() && !e.dtype().is_vector() && self.is_counted(e) {
            let value = self.exact_index(e)?;
            return Ok((Ty::scalar(self.index), value));
        }
        let ty = Ty {
            scalar: self.value_type(e)?,
            lanes: e.dtype().lanes,
        };
        Ok((ty, self.value(e)?))
    }

    pub(super) fn load(
        &mut self,
        buffer: &Buffer,
        indices: &[Expr],
    ) -> Result<kernel::Expr, LowerError> {
        self.check_range(buffer, indices);
        let flat = super::flat(buffer, indices);
        Ok(kernel::Expr::Load {
            array: self.array_id(buffer),
            index: Box::new(self.index_poly(&flat)?),
            lanes: 1,
            active: None,
        })
    }

    /// One side of `T.if_then_else`, fit to be evaluated always: loads are clamped, divisors kept from 0.
    pub(super) fn safe(&self, e: &Expr) -> Expr {
        e.rewrite_bottom_up(&mut |e| match e.kind() {
            ExprKind::Load(buffer, indices) if !self.in_range(buffer, indices) => {
                let clamp = |(i, n): (&Expr, &Expr)| {
                    let i = if self.facts.below(i, n) {
                        i.clone()
                    } else {
                        i.min(n - 1)
                    };
                    if self.facts.nonnegative(&i) {
                        i
                    } else {
                        i.max(0)
                    }
                };
                let clamped = indices.iter().zip(buffer.shape()).map(clamp).collect();
                Expr::load(buffer, clamped)
            }
            ExprKind::Binary(op, a, b)
                if matches!(
                    op,
                    BinOp::Div | BinOp::Mod | BinOp::FloorDiv | BinOp::FloorMod
                ) && !e.dtype().is_float()
                    && b.as_int().is_none() =>
            {
                let one = Expr::constant(1, b.dtype());
                let zero = Expr::constant(0, b.dtype());
                let b = Expr::select(b.equals(zero), one, b.clone());
                Expr::binary(*op, a.clone(), b)
            }
            _ => e.clone(),
        })
    }
}

/// `x * y * 2^(s - q)` in 64 bits, rounded with ties up.
fn fixed_point(args: &[kernel::Expr]) -> kernel::Expr {
    let [x, y, q, s] = args else {
        unreachable!("its arity is 4");
    };
    let int = |v, ty| kernel::Expr::Int(v, ty);
    let binary = |op, a, b| kernel::Expr::Binary(op, Box::new(a), Box::new(b));
    let wide = |e| kernel::Expr::Cast(Ty::scalar(ScalarType::I64), Box::new(e));
    let zero = || int(0, ScalarType::I32);
    let left = binary(BinOp::Max, s.clone(), zero());
    let opposite = binary(BinOp::Sub, zero(), s.clone());
    let right = binary(BinOp::Add, q.clone(), binary(BinOp::Max, opposite, zero()));
    let before = binary(BinOp::Sub, right.clone(), int(1, ScalarType::I32));
    let half = binary(BinOp::Shl, int(1, ScalarType::I64), wide(before));
    let product = binary(
        BinOp::Mul,
        binary(BinOp::Shl, wide(x.clone()), wide(left)),
        wide(y.clone()),
    );
    let rounded = binary(BinOp::Shr, binary(BinOp::Add, product, half), wide(right));
    kernel::Expr::Cast(Ty::scalar(ScalarType::I32), Box::new(rounded))
}
