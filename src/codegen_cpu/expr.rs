//! Expressions.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::CodegenError;
use super::emit::Emitter;
use super::value::{Val, is_half, lane_type, lanes_of, mask_lane, register};
use crate::kernel::{Expr, MOST_LANES, Ty};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, round_float};

impl Emitter<'_, '_> {
    pub(super) fn expr(&mut self, e: &Expr) -> Result<Val, CodegenError> {
        match e {
            Expr::Int(value, scalar) => {
                if scalar.is_float() {
                    return Err(self.undefined("integer constant", *scalar));
                }
                let value = if *scalar == ScalarType::Bool {
                    i64::from(*value != 0)
                } else {
                    *value
                };
                let constant = self.int_const(lane_type(*scalar), value);
                Ok(Val::scalar(*scalar, constant))
            }
            Expr::Float(value, scalar) => {
                if !scalar.is_float() {
                    return Err(self.undefined("float constant", *scalar));
                }
                let rounded = round_float(*value, *scalar);
                let constant = self.float_const(lane_type(*scalar), rounded);
                Ok(Val::scalar(*scalar, constant))
            }
            Expr::Var(var) => self.var(*var),
            Expr::BlockIdx(_) | Expr::ThreadIdx(_) => Err(CodegenError::NotForCpu {
                kernel: self.kernel.name.clone(),
                what: "thread indices",
            }),
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
                Ok(self.any(&a))
            }
            Expr::Select(c, a, b) => {
                let (c, a, b) = (self.expr(c)?, self.expr(a)?, self.expr(b)?);
                self.select(&c, &a, &b)
            }
            Expr::Call(intrin, args) => {
                let args: Vec<Val> = args
                    .iter()
                    .map(|a| self.expr(a))
                    .collect::<Result<_, _>>()?;
                self.intrin(*intrin, &args)
            }
            Expr::Load {
                array,
                index,
                lanes,
                active: None,
            } => self.load(*array, index, *lanes),
            // Those of values are loops over lanes by now.
            Expr::Load { .. } => Err(CodegenError::NotForCpu {
                kernel: self.kernel.name.clone(),
                what: "active lanes of a load outside of a value",
            }),
            Expr::Splat(a, lanes) => {
                let a = self.expr(a)?;
                self.check_lanes(*lanes)?;
                if a.is_vector() {
                    return Err(self.mismatch("a splat", Ty::scalar(a.ty.scalar), a.ty));
                }
                Ok(self.splat(&a, *lanes))
            }
            Expr::Ramp(base, stride, lanes) => {
                let (base, stride) = (self.expr(base)?, self.expr(stride)?);
                self.ramp(&base, &stride, *lanes)
            }
            Expr::Lane(a, lane) => {
                let a = self.expr(a)?;
                if *lane >= a.ty.lanes {
                    return Err(self.count("a lane", a.ty.lanes.into(), (*lane).into()));
                }
                let value = self.lane(&a, (*lane).into());
                Ok(Val::scalar(a.ty.scalar, value))
            }
            Expr::Pack(lanes) => self.pack(lanes),
            Expr::Shuffle(..) => Err(CodegenError::NotForCpu {
                kernel: self.kernel.name.clone(),
                what: "a shuffle",
            }),
        }
    }

    pub(super) fn undefined(&self, op: impl Into<String>, ty: ScalarType) -> CodegenError {
        CodegenError::Undefined {
            kernel: self.kernel.name.clone(),
            op: op.into(),
            ty,
        }
    }

    /// A vector has at least one lane, and few enough to be held in registers.
    pub(super) fn check_lanes(&self, lanes: u16) -> Result<(), CodegenError> {
        if (1..=MOST_LANES).contains(&lanes) {
            Ok(())
        } else {
            Err(self.count("a vector", MOST_LANES.into(), lanes.into()))
        }
    }

    fn pack(&mut self, lanes: &[Expr]) -> Result<Val, CodegenError> {
        self.check_lanes(u16::try_from(lanes.len()).unwrap_or(u16::MAX))?;
        let mut values = Vec::with_capacity(lanes.len());
        let mut ty = None;
        for lane in lanes {
            let value = self.expr(lane)?;
            let expected = *ty.get_or_insert(Ty::scalar(value.ty.scalar));
            self.expect_type("a lane of a vector", expected, value.ty)?;
            values.push(value.parts[0]);
        }
        let scalar = ty.map_or(ScalarType::Bool, |ty| ty.scalar);
        Ok(self.pack_lanes(scalar, &values))
    }

    fn ramp(&mut self, base: &Val, stride: &Val, lanes: u16) -> Result<Val, CodegenError> {
        self.check_lanes(lanes)?;
        self.expect_type("the stride of a ramp", base.ty, stride.ty)?;
        if base.is_vector() || !base.ty.scalar.is_int() {
            return Err(self.mismatch("a ramp", Ty::scalar(ScalarType::I64), base.ty));
        }
        let mut at = base.parts[0];
        let mut values = vec![at];
        for _ in 1..lanes {
            at = self.b.ins().iadd(at, stride.parts[0]);
            values.push(at);
        }
        Ok(self.pack_lanes(base.ty.scalar, &values))
    }

    fn not(&mut self, a: &Val) -> Result<Val, CodegenError> {
        if a.ty.scalar != ScalarType::Bool {
            return Err(self.undefined("not", a.ty.scalar));
        }
        let parts = a
            .parts
            .iter()
            .map(|&part| {
                if a.is_vector() {
                    self.b.ins().bnot(part)
                } else {
                    self.b.ins().bxor_imm_u(part, 1)
                }
            })
            .collect();
        Ok(a.with_parts(parts))
    }

    /// Whether any lane is true.
    fn any(&mut self, mask: &Val) -> Val {
        let per_part = lanes_of(mask.lane);
        let full = usize::from(mask.ty.lanes) / per_part;
        let mut found: Vec<Value> = vec![];
        for (at, &part) in mask.parts.iter().enumerate() {
            if at < full {
                found.push(self.b.ins().vany_true(part));
                continue;
            }
            // What other lanes hold means nothing.
            for lane in 0..usize::from(mask.ty.lanes) % per_part {
                let lane = self.b.ins().extractlane(part, lane as u8);
                found.push(self.b.ins().icmp_imm_u(IntCC::NotEqual, lane, 0));
            }
        }
        let any = found.into_iter().reduce(|a, b| self.b.ins().bor(a, b));
        let any = any.unwrap_or_else(|| self.int_const(types::I8, 0));
        Val::scalar(ScalarType::Bool, any)
    }

    fn select(&mut self, c: &Val, a: &Val, b: &Val) -> Result<Val, CodegenError> {
        self.expect_type("the other side of a select", a.ty, b.ty)?;
        let bools = Ty {
            scalar: ScalarType::Bool,
            lanes: if c.is_vector() { a.ty.lanes } else { 1 },
        };
        self.expect_type("the condition of a select", bools, c.ty)?;
        let b = &self.mask_like(b, a);
        let mask = self.mask_as(c, mask_lane(a.lane));
        let parts = (0..a.parts.len())
            .map(|i| {
                let (x, y) = (a.parts[i], b.parts[i]);
                if c.is_vector() {
                    self.choose(mask.parts[i], x, y)
                } else {
                    self.b.ins().select(c.parts[0], x, y)
                }
            })
            .collect();
        Ok(a.with_parts(parts))
    }

    /// A mask with lanes as wide as those of the other mask; other values as they are.
    pub(super) fn mask_like(&mut self, value: &Val, other: &Val) -> Val {
        if value.ty.scalar == ScalarType::Bool {
            self.mask_as(value, other.lane)
        } else {
            value.clone()
        }
    }

    /// Rounds to the precision of `f16` or `bf16`; other types are kept.
    pub(super) fn rounded(&mut self, value: Val) -> Val {
        if !is_half(value.ty.scalar) {
            return value;
        }
        let scalar = value.ty.scalar;
        let parts = value
            .parts
            .iter()
            .map(|&part| {
                let bits = self.half_bits(scalar, part);
                self.half_value(scalar, bits)
            })
            .collect();
        value.with_parts(parts)
    }

    pub(super) fn cast(&mut self, a: &Val, to: Ty) -> Result<Val, CodegenError> {
        if to.lanes != a.ty.lanes {
            return Err(self.mismatch(
                "a cast",
                Ty {
                    lanes: a.ty.lanes,
                    ..to
                },
                to,
            ));
        }
        let (from, to) = (a.ty.scalar, to.scalar);
        if from == to {
            return Ok(a.clone());
        }
        if to == ScalarType::Bool {
            return self.not_zero(a);
        }
        if a.is_vector()
            && let Some(fast) = self.cast_vector(a, to)
        {
            return Ok(fast);
        }
        let lanes = self.lanewise(to, &[a], |this, lane| this.cast_scalar(lane[0], from, to));
        Ok(self.rounded(lanes))
    }

    fn not_zero(&mut self, a: &Val) -> Result<Val, CodegenError> {
        let lane = a.part_type();
        let zero = if a.ty.scalar.is_float() {
            self.float_const(lane, 0.0)
        } else {
            self.int_const(lane, 0)
        };
        let zeros = a.with_parts(vec![zero; a.parts.len()]);
        self.binary(BinOp::Ne, a, &zeros)
    }

    /// Conversions that have vector instructions.
    fn cast_vector(&mut self, a: &Val, to: ScalarType) -> Option<Val> {
        use ScalarType::{BF16, Bool, F16, F32, I8, I16, I32, U8, U16, U32};
        let from = a.ty.scalar;
        let ty = Ty {
            scalar: to,
            lanes: a.ty.lanes,
        };
        let convert = |this: &mut Self, from: &Val, f: &dyn Fn(&mut Self, _) -> _| {
            let parts = from.parts.iter().map(|&part| f(this, part)).collect();
            Val {
                ty,
                lane: lane_type(to),
                parts,
            }
        };
        match (from, to) {
            (F16 | BF16, F32) => Some(convert(self, a, &|_, part| part)),
            (F16 | BF16 | F32, F16 | BF16) => {
                let wide = convert(self, a, &|_, part| part);
                Some(self.rounded(wide))
            }
            (I32, F32) => Some(convert(self, a, &|this, part| {
                this.b.ins().fcvt_from_sint(types::F32X4, part)
            })),
            (U32, F32) => Some(convert(self, a, &|this, part| {
                this.b.ins().fcvt_from_uint(types::F32X4, part)
            })),
            (F32 | F16 | BF16, I32) => Some(convert(self, a, &|this, part| {
                this.b.ins().fcvt_to_sint_sat(types::I32X4, part)
            })),
            (I8 | I16 | U8 | U16, F32 | F16 | BF16) => {
                let wide = self.cast_vector(a, I32)?;
                let float = convert(self, &wide, &|this, part| {
                    this.b.ins().fcvt_from_sint(types::F32X4, part)
                });
                Some(self.rounded(float))
            }
            (Bool, to) if to != ScalarType::F64 => {
                let lane = lane_type(to);
                let mask = self.mask_as(a, mask_lane(lane));
                let one = if to.is_float() {
                    self.float_const(register(lane), 1.0)
                } else {
                    self.int_const(register(lane), 1)
                };
                Some(convert(self, &mask, &|this, part| {
                    let bits = this.cast_bits(register(lane), part);
                    this.b.ins().band(bits, one)
                }))
            }
            (I32, U32) | (U32, I32) | (I8, U8) | (U8, I8) | (I16, U16) | (U16, I16) => {
                Some(convert(self, a, &|_, part| part))
            }
            (I8 | U8, I16 | U16 | I32 | U32) | (I16 | U16, I32 | U32) => {
                Some(self.widen_ints(a, to))
            }
            _ => None,
        }
    }

    fn widen_ints(&mut self, a: &Val, to: ScalarType) -> Val {
        let signed = a.ty.scalar.is_signed_int();
        let mut lane = a.lane;
        let mut parts = a.parts.clone();
        while lane != lane_type(to) {
            lane = lane.double_width().expect("narrower than 32 bits");
            let mut wide = Vec::new();
            for part in parts {
                let pair = if signed {
                    let low = self.b.ins().swiden_low(part);
                    [low, self.b.ins().swiden_high(part)]
                } else {
                    let low = self.b.ins().uwiden_low(part);
                    [low, self.b.ins().uwiden_high(part)]
                };
                wide.extend(pair);
            }
            wide.truncate(usize::from(a.ty.lanes).div_ceil(lanes_of(lane)));
            parts = wide;
        }
        Val {
            ty: Ty {
                scalar: to,
                lanes: a.ty.lanes,
            },
            lane,
            parts,
        }
    }
}
