//! Intrinsic functions.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::CodegenError;
use super::emit::Emitter;
use super::helpers::Helper;
use super::value::{Val, mask_lane};
use crate::kernel::Ty;
use crate::tensor::ScalarType;
use crate::tensor::scalar::Intrin;

impl Emitter<'_, '_> {
    pub(super) fn intrin(&mut self, intrin: Intrin, args: &[Val]) -> Result<Val, CodegenError> {
        if args.len() != intrin.arity() {
            return Err(self.count(intrin.name(), intrin.arity(), args.len()));
        }
        for arg in args {
            self.expect_type("an argument of an intrinsic", args[0].ty, arg.ty)?;
        }
        if !args[0].ty.scalar.is_float() {
            return self.int_intrin(intrin, args);
        }
        if intrin.is_predicate() {
            return Ok(self.float_test(intrin, &args[0]));
        }
        let value = self.float_intrin(intrin, args)?;
        Ok(self.rounded(value))
    }

    pub(super) fn float_intrin(
        &mut self,
        intrin: Intrin,
        args: &[Val],
    ) -> Result<Val, CodegenError> {
        let x = &args[0];
        let value = match intrin {
            Intrin::Sqrt => self.each_part(x, |this, v| this.b.ins().sqrt(v)),
            Intrin::Rsqrt => self.each_part(x, |this, v| {
                let root = this.b.ins().sqrt(v);
                let ty = this.b.func.dfg.value_type(v);
                let one = this.float_const(ty, 1.0);
                this.b.ins().fdiv(one, root)
            }),
            Intrin::Abs => self.each_part(x, |this, v| this.b.ins().fabs(v)),
            Intrin::Fma => self.fused(x, &args[1], &args[2]),
            Intrin::Floor if self.isa.has_round() => {
                self.each_part(x, |this, v| this.b.ins().floor(v))
            }
            Intrin::Ceil if self.isa.has_round() => {
                self.each_part(x, |this, v| this.b.ins().ceil(v))
            }
            Intrin::Trunc if self.isa.has_round() => {
                self.each_part(x, |this, v| this.b.ins().trunc(v))
            }
            Intrin::Round if self.isa.has_round() => {
                self.each_part(x, |this, v| this.b.ins().nearest(v))
            }
            _ => {
                let Some(helper) = Helper::math(intrin, x.lane) else {
                    return Err(self.undefined(intrin.name(), x.ty.scalar));
                };
                let args: Vec<&Val> = args.iter().collect();
                self.lanewise(x.ty.scalar, &args, |this, lanes| this.call(helper, lanes))
            }
        };
        Ok(value)
    }

    /// Rounds down a scalar `f64`.
    pub(super) fn floor(&mut self, x: Value) -> Value {
        match Helper::math(Intrin::Floor, types::F64) {
            Some(helper) if !self.isa.has_round() => self.call(helper, &[x]),
            _ => self.b.ins().floor(x),
        }
    }

    fn each_part(&mut self, x: &Val, mut f: impl FnMut(&mut Self, Value) -> Value) -> Val {
        let parts = x.parts.iter().map(|&part| f(self, part)).collect();
        x.with_parts(parts)
    }

    /// `x * y + z`: rounded once where the machine can, else twice (Cranelift would call a function for each lane).
    fn fused(&mut self, x: &Val, y: &Val, z: &Val) -> Val {
        let parts = (0..x.parts.len())
            .map(|i| self.mul_add(x.parts[i], y.parts[i], z.parts[i]))
            .collect();
        x.with_parts(parts)
    }

    /// `x * y + z`, rounded once where the machine can.
    fn mul_add(&mut self, x: Value, y: Value, z: Value) -> Value {
        if self.isa.has_native_fma() {
            return self.b.ins().fma(x, y, z);
        }
        let product = self.b.ins().fmul(x, y);
        self.b.ins().fadd(product, z)
    }

    fn float_test(&mut self, intrin: Intrin, x: &Val) -> Val {
        let parts = x
            .parts
            .iter()
            .map(|&v| {
                let infinity = self.float_const(x.part_type(), f64::INFINITY);
                let (cc, a, b) = match intrin {
                    Intrin::IsNan => (FloatCC::Unordered, v, v),
                    Intrin::IsInf => (FloatCC::Equal, self.b.ins().fabs(v), infinity),
                    _ => (FloatCC::LessThan, self.b.ins().fabs(v), infinity),
                };
                self.b.ins().fcmp(cc, a, b)
            })
            .collect();
        Val {
            ty: Ty {
                scalar: ScalarType::Bool,
                lanes: x.ty.lanes,
            },
            lane: if x.is_vector() {
                mask_lane(x.lane)
            } else {
                types::I8
            },
            parts,
        }
    }

    fn int_intrin(&mut self, intrin: Intrin, args: &[Val]) -> Result<Val, CodegenError> {
        let x = &args[0];
        let scalar = x.ty.scalar;
        if intrin.is_predicate() {
            let value = i64::from(intrin == Intrin::IsFinite);
            let value = self.int_const(types::I8, value);
            let value = Val::scalar(ScalarType::Bool, value);
            return Ok(self.splat(&value, x.ty.lanes));
        }
        let lanes: Vec<&Val> = args.iter().collect();
        let signed = scalar.is_signed_int();
        let is_bool = scalar == ScalarType::Bool;
        let value = match intrin {
            Intrin::Floor | Intrin::Ceil | Intrin::Trunc | Intrin::Round => x.clone(),
            Intrin::Abs if !signed => x.clone(),
            Intrin::Abs => self.lanewise(scalar, &lanes, |this, v| this.b.ins().iabs(v[0])),
            Intrin::Popcount => self.lanewise(scalar, &lanes, |this, v| this.b.ins().popcnt(v[0])),
            // Of the 8 bits of a `bool`, as of those of `uint8`, and then cut to "not zero".
            Intrin::Clz => self.lanewise(scalar, &lanes, |this, v| {
                let zeros = this.b.ins().clz(v[0]);
                this.normalized(is_bool, zeros)
            }),
            Intrin::BitNot => self.lanewise(scalar, &lanes, |this, v| {
                let inverted = this.b.ins().bnot(v[0]);
                this.normalized(is_bool, inverted)
            }),
            Intrin::Fma => self.lanewise(scalar, &lanes, |this, v| {
                let product = this.b.ins().imul(v[0], v[1]);
                let sum = this.b.ins().iadd(product, v[2]);
                this.normalized(is_bool, sum)
            }),
            Intrin::Dp4aU8S8 if scalar == ScalarType::I32 => {
                self.lanewise(scalar, &lanes, |this, v| this.dot_of_words(v))
            }
            Intrin::Pow => self.lanewise(scalar, &lanes, |this, v| {
                let wide = [v[0], v[1]].map(|v| this.cast_scalar(v, scalar, ScalarType::I64));
                let power = this.call(Helper::PowI64, &wide);
                let power = this.cast_scalar(power, ScalarType::I64, scalar);
                this.normalized(is_bool, power)
            }),
            _ => return Err(self.undefined(intrin.name(), scalar)),
        };
        Ok(value)
    }

    /// `[a, b, sum]`: the sum and the products of the bytes of `a`, unsigned, by those of `b`, signed.
    fn dot_of_words(&mut self, v: &[Value]) -> Value {
        (0..4).fold(v[2], |sum, byte| {
            let unsigned = self.b.ins().ushr_imm_u(v[0], 8 * byte);
            let unsigned = self.b.ins().band_imm_u(unsigned, 0xff);
            let signed = self.b.ins().ishl_imm_u(v[1], 24 - 8 * byte);
            let signed = self.b.ins().sshr_imm_u(signed, 24);
            let product = self.b.ins().imul(unsigned, signed);
            self.b.ins().iadd(sum, product)
        })
    }

    /// A `bool` as 0 or 1; other integers as they are.
    fn normalized(&mut self, is_bool: bool, value: Value) -> Value {
        if !is_bool {
            return value;
        }
        let zero = self.int_const(types::I8, 0);
        self.b.ins().icmp(
            cranelift_codegen::ir::condcodes::IntCC::NotEqual,
            value,
            zero,
        )
    }
}
