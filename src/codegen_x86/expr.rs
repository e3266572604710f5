//! Expressions.

use super::emit::Emitter;
use super::forms::Op;
use super::inst::{Arg, Condition, GENERAL, Kind, Lane};
use super::value::{Part, Val, float_bits, lane_of};
use super::{Refusal, refuse};
use crate::codegen_common::math::pow_i64;
use crate::kernel::{Expr, Ty};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin, round_float, wrap_int};

impl Emitter<'_> {
    pub(super) fn expr(&mut self, e: &Expr) -> Result<Val, Refusal> {
        match e {
            Expr::Int(value, scalar) => {
                if scalar.is_float() {
                    return refuse("an integer constant of a float type");
                }
                let value = wrap_int(*value, *scalar);
                Ok(Val::scalar(*scalar, Part::Int(value)))
            }
            Expr::Float(value, scalar) => {
                if !scalar.is_float() {
                    return refuse("a float constant of an integer type");
                }
                let bits = float_bits(lane_of(*scalar), round_float(*value, *scalar));
                Ok(Val::scalar(*scalar, Part::Same(bits)))
            }
            Expr::Var(var) => self.var(*var),
            Expr::BlockIdx(_) | Expr::ThreadIdx(_) => refuse("thread indices"),
            Expr::Cast(ty, a) => {
                let a = self.expr(a)?;
                self.cast(&a, *ty)
            }
            Expr::Bits(to, a) => {
                let a = self.expr(a)?;
                self.reinterpret(&a, *to)
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.binary(*op, &a, &b)
            }
            Expr::Not(a) => {
                let a = self.expr(a)?;
                self.not(&a)
            }
            Expr::Any(a) => {
                let a = self.expr(a)?;
                self.any(&a)
            }
            Expr::Select(c, a, b) => {
                let (c, a, b) = (self.expr(c)?, self.expr(a)?, self.expr(b)?);
                self.select(&c, &a, &b)
            }
            Expr::Call(intrin, args) => {
                let vals = args.iter().map(|a| self.expr(a));
                let vals = vals.collect::<Result<Vec<_>, _>>()?;
                self.intrin(*intrin, &vals)
            }
            Expr::Load {
                array,
                index,
                lanes,
                active: None,
            } => self.load(*array, index, *lanes),
            Expr::Load {
                array,
                index,
                lanes,
                active: Some(active),
            } => self.load_active(*array, index, *lanes, active),
            Expr::Splat(a, lanes) => {
                self.check_lanes(*lanes)?;
                if let Expr::Load {
                    array,
                    index,
                    lanes: 1,
                    active: None,
                } = &**a
                    && *lanes > 1
                    && let Some(value) = self.load_splat(*array, index, *lanes)?
                {
                    return Ok(value);
                }
                let a = self.expr(a)?;
                if a.is_vector() {
                    return refuse("a splat of a vector");
                }
                self.splat(&a, *lanes)
            }
            Expr::Ramp(base, stride, lanes) => {
                let (base, stride) = (self.expr(base)?, self.expr(stride)?);
                self.ramp(&base, &stride, *lanes)
            }
            Expr::Lane(a, lane) => {
                let a = self.expr(a)?;
                if *lane >= a.ty.lanes {
                    return refuse("a lane that is not there");
                }
                self.lane(&a, (*lane).into())
            }
            Expr::Pack(lanes) => {
                self.check_lanes(u16::try_from(lanes.len()).unwrap_or(u16::MAX))?;
                if let Some(value) = self.same_lane(lanes)? {
                    return Ok(value);
                }
                if let Some(value) = self.load_close(lanes)? {
                    return Ok(value);
                }
                let values = lanes.iter().map(|lane| self.expr(lane));
                let values = values.collect::<Result<Vec<_>, _>>()?;
                let ty = Ty::scalar(values[0].ty.scalar);
                if values.iter().any(|value| value.ty != ty) {
                    return refuse("a vector of different types");
                }
                self.pack(ty.scalar, &values)
            }
            Expr::Shuffle(..) => refuse("a shuffle"),
        }
    }

    pub(super) fn binary(&mut self, op: BinOp, a: &Val, b: &Val) -> Result<Val, Refusal> {
        if a.ty != b.ty {
            return refuse("operands of different types");
        }
        let b = &self.mask_like(b, a)?;
        match (op.is_comparison(), a.ty.scalar.is_float()) {
            (true, true) => self.float_compare(op, a, b),
            (true, false) => self.int_compare(op, a, b),
            (false, true) => self.float_binary(op, a, b),
            (false, false) => self.int_binary(op, a, b),
        }
    }

    fn not(&mut self, a: &Val) -> Result<Val, Refusal> {
        if !a.is_bool() {
            return refuse("`not` of a number");
        }
        if !a.is_vector() {
            let value = self.set_if(Condition::Equal, a.parts[0], Part::Int(0));
            return Ok(Val::scalar(ScalarType::Bool, value));
        }
        self.each(a, |this, width, part| {
            this.flipped(part, Part::Same(u64::MAX), a.lane, width)
        })
    }

    fn select(&mut self, c: &Val, a: &Val, b: &Val) -> Result<Val, Refusal> {
        let lanes = if c.is_vector() { a.ty.lanes } else { 1 };
        if a.ty != b.ty || !c.is_bool() || c.ty.lanes != lanes {
            return refuse("a select of different types");
        }
        if a.is_general() {
            let value = self.choose(c.parts[0], a.parts[0], b.parts[0]);
            return Ok(a.with_parts(vec![value]));
        }
        let b = &self.mask_like(b, a)?;
        let mask = if c.is_vector() {
            self.mask_as(c, a.lane.as_int())?
        } else {
            let bits = self.sub(Part::Int(0), c.parts[0]);
            let scalar = match a.lane.as_int() {
                Lane::I8 => ScalarType::I8,
                Lane::I16 => ScalarType::I16,
                Lane::I32 | Lane::F32 => ScalarType::I32,
                Lane::I64 | Lane::F64 => ScalarType::I64,
            };
            let bits = Val::scalar(scalar, bits);
            match a.is_vector() {
                true => self.splat(&bits, a.ty.lanes)?,
                false => {
                    let part = self.in_vector(bits.parts[0]);
                    a.with_parts(vec![part])
                }
            }
        };
        let mut masks = mask.parts.iter();
        self.each2(a, b, |this, width, x, y| match masks.next() {
            Some(&mask) => this.blend(a.lane, width, mask, x, y),
            None => refuse("a select of different shapes"),
        })
    }

    /// A mask with lanes as wide as those of the other mask; other values as they are.
    fn mask_like(&mut self, value: &Val, other: &Val) -> Result<Val, Refusal> {
        if value.is_bool() {
            self.mask_as(value, other.lane)
        } else {
            Ok(value.clone())
        }
    }

    fn intrin(&mut self, intrin: Intrin, args: &[Val]) -> Result<Val, Refusal> {
        if args.len() != intrin.arity() || args.iter().any(|arg| arg.ty != args[0].ty) {
            return refuse("an intrinsic function of other arguments");
        }
        if !args[0].ty.scalar.is_float() {
            return self.int_intrin(intrin, args);
        }
        if intrin.is_predicate() {
            return self.float_test(intrin, &args[0]);
        }
        let value = self.float_intrin(intrin, args)?;
        self.rounded(value)
    }

    fn int_intrin(&mut self, intrin: Intrin, args: &[Val]) -> Result<Val, Refusal> {
        let x = &args[0];
        let scalar = x.ty.scalar;
        if intrin.is_predicate() {
            let value = i64::from(intrin == Intrin::IsFinite);
            let value = Val::scalar(ScalarType::Bool, Part::Int(value));
            return self.splat(&value, x.ty.lanes);
        }
        let signed = scalar.is_signed_int();
        match intrin {
            Intrin::Floor | Intrin::Ceil | Intrin::Trunc | Intrin::Round => {
                return Ok(x.clone());
            }
            Intrin::Abs if !signed => return Ok(x.clone()),
            Intrin::Abs
            | Intrin::Popcount
            | Intrin::Clz
            | Intrin::BitNot
            | Intrin::Fma
            | Intrin::Pow => {}
            Intrin::Dp4aU8S8 if scalar == ScalarType::I32 => {}
            _ => return refuse("an intrinsic function of floats on integers"),
        }
        if intrin == Intrin::Abs && x.is_vector() && self.has(Op::Abs, x) {
            return self.each(x, |this, width, part| {
                this.vec1(Op::Abs, x.lane, width, part)
            });
        }
        if let (Intrin::Fma, [x, y, z]) = (intrin, args)
            && x.is_vector()
            && !x.is_bool()
        {
            let product = self.int_binary(BinOp::Mul, x, y)?;
            return self.int_binary(BinOp::Add, &product, z);
        }
        if let (Intrin::Dp4aU8S8, [a, b, sums]) = (intrin, args)
            && x.is_vector()
        {
            return self.dot_bytes(a, b, sums);
        }
        let args: Vec<&Val> = args.iter().collect();
        self.lanewise(&args, |this, v| {
            let part = this.scalar_intrin(intrin, scalar, v)?;
            Ok(Val::scalar(scalar, part))
        })
    }

    /// Whether there is a vector instruction.
    fn has(&self, op: Op, value: &Val) -> bool {
        let width = self.widths(value)[0];
        super::forms::form(self.isa, op, value.lane, width).is_some()
    }

    fn scalar_intrin(
        &mut self,
        intrin: Intrin,
        scalar: ScalarType,
        v: &[Val],
    ) -> Result<Part, Refusal> {
        use iced_x86::Code;
        let x = v[0].parts[0];
        let count = |this: &mut Self, code, x| {
            let args = vec![Arg::Reg(this.general(x))];
            Part::Reg(this.b.pure(Kind::Code(code), GENERAL, args))
        };
        let bits = 8 * scalar.bytes() as i64;
        let unsigned = |this: &mut Self, x| match scalar.bytes() {
            1 => this.extended(ScalarType::U8, x),
            2 => this.extended(ScalarType::U16, x),
            4 => this.extended(ScalarType::U32, x),
            _ => x,
        };
        let value = match intrin {
            Intrin::Abs => {
                let negated = self.sub(Part::Int(0), x);
                let negative = self.set_if(Condition::Less, x, Part::Int(0));
                self.choose(negative, negated, x)
            }
            Intrin::Popcount => {
                let x = unsigned(self, x);
                count(self, Code::Popcnt_r64_rm64, x)
            }
            Intrin::Clz => {
                let x = unsigned(self, x);
                let zeros = count(self, Code::Lzcnt_r64_rm64, x);
                self.add(zeros, Part::Int(bits - 64))
            }
            Intrin::BitNot => self.sub(Part::Int(-1), x),
            Intrin::Fma => {
                let product = self.mul(x, v[1].parts[0]);
                self.add(product, v[2].parts[0])
            }
            Intrin::Dp4aU8S8 => self.dot_of_words(v),
            _ => {
                let call = Kind::Call {
                    address: pow_i64 as *const u8 as u64,
                    class: GENERAL,
                };
                let args = [x, v[1].parts[0]].map(|part| Arg::Reg(self.general(part)));
                Part::Reg(self.b.pure(call, GENERAL, args.to_vec()))
            }
        };
        if scalar == ScalarType::Bool {
            return Ok(self.set_if(Condition::NotEqual, value, Part::Int(0)));
        }
        Ok(self.extended(scalar, value))
    }
}
