//! Expressions.

use super::WgslError;
use super::emit::Emitter;
use super::helper::Helper;
use super::text::{Level, Text, lane_name};
use super::wide::{self, is_wide};
use crate::kernel::{Expr, Shuffle, Ty};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, wrap_int};

impl Emitter<'_> {
    /// An expression; may write lines before, for values that are used twice.
    pub(super) fn expr(&mut self, e: &Expr) -> Result<Text, WgslError> {
        if let Some(constant) = self.constant(e) {
            return self.expr(&constant);
        }
        match e {
            Expr::Int(value, ty) => self.int(*value, *ty),
            Expr::Float(value, ty) => self.float(*value, *ty),
            Expr::Var(var) => Ok(Text::fixed(self.vars[*var].clone())),
            Expr::BlockIdx(dim) => Ok(Text::fixed(format!("b{}", lane_name((*dim).into())))),
            Expr::ThreadIdx(dim) => Ok(Text::fixed(format!("t{}", lane_name((*dim).into())))),
            Expr::Cast(to, a) => self.cast(*to, a),
            Expr::Bits(to, a) => self.bits(*to, a),
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Not(a) => Ok(negated(&self.expr(a)?)),
            Expr::Select(cond, a, b) => self.select(cond, a, b),
            Expr::Call(intrin, args) => self.call(*intrin, args),
            Expr::Load {
                array,
                index,
                lanes,
                active: _,
            } => self.load(*array, index, *lanes),
            Expr::Splat(a, lanes) => {
                let scalar = self.kernel.ty(a).scalar;
                let ty = self.ty(Ty {
                    scalar,
                    lanes: *lanes,
                })?;
                Ok(Text::call(&ty, &[self.expr(a)?]))
            }
            Expr::Ramp(base, stride, lanes) => self.ramp(base, stride, *lanes),
            Expr::Lane(a, lane) => Ok(self.expr(a)?.lane((*lane).into())),
            Expr::Pack(items) => {
                let ty = self.ty(self.kernel.ty(e))?;
                let items: Result<Vec<_>, _> = items.iter().map(|i| self.expr(i)).collect();
                Ok(Text::call(&ty, &items?))
            }
            Expr::Any(a) => Ok(Text::call("any", &[self.expr(a)?])),
            Expr::Shuffle(from, a) => {
                let a = self.expr(a)?;
                Ok(match from {
                    Shuffle::Down(by) => {
                        Text::call("subgroupShuffleDown", &[a, Text::fixed(format!("{by}u"))])
                    }
                    Shuffle::Xor(by) => {
                        Text::call("subgroupShuffleXor", &[a, Text::fixed(format!("{by}u"))])
                    }
                    Shuffle::First => Text::call("subgroupBroadcastFirst", &[a]),
                })
            }
        }
    }

    /// A call of a helper function.
    pub(super) fn helper(&mut self, helper: Helper, args: &[Text]) -> Text {
        let name = self.helpers.name(helper, &mut self.namer);
        Text::call(&name, args)
    }

    /// Gives an expression a name, unless it may be written twice as it is.
    pub(super) fn bind(&mut self, text: Text) -> Text {
        if text.is_free() {
            return text;
        }
        let name = self.namer.name("t");
        self.line(&format!("let {name} = {text};"));
        Text::fixed(name)
    }

    /// A constant, wrapped in its width as what is computed with it.
    fn int(&self, value: i64, ty: ScalarType) -> Result<Text, WgslError> {
        let value = wrap_int(value, ty);
        Ok(match ty {
            ScalarType::Bool => Text::fixed((value != 0).to_string()),
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 if value == i64::from(i32::MIN) => {
                Text::fixed("(-2147483647i - 1i)")
            }
            // With its type: nothing converts a negative literal that has none to another one.
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 if value < 0 => {
                number(format!("{value}i"))
            }
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 => number(value.to_string()),
            ScalarType::U8 | ScalarType::U16 | ScalarType::U32 => Text::fixed(format!("{value}u")),
            ScalarType::I64 | ScalarType::U64 => wide::constant(value),
            other => return Err(self.unsupported("a constant", other)),
        })
    }

    fn float(&mut self, value: f64, ty: ScalarType) -> Result<Text, WgslError> {
        match ty {
            ScalarType::F32 if value.is_finite() => {
                let text = format!("{:?}", value as f32);
                Ok(number(if text.contains(['.', 'e']) {
                    text + "f"
                } else {
                    text + ".0f"
                }))
            }
            ScalarType::F16 if value.is_finite() => {
                Ok(Text::primary(format!("{}({value:?})", self.half())))
            }
            ScalarType::F32 | ScalarType::F16 => {
                let bits = Text::fixed(format!("{:#x}u", (value as f32).to_bits()));
                let float = self.helper(Helper::F32FromBits, &[bits]);
                Ok(if ty == ScalarType::F16 {
                    Text::call(self.half(), &[float])
                } else {
                    float
                })
            }
            other => Err(self.unsupported("a constant", other)),
        }
    }

    fn cast(&mut self, to: Ty, a: &Expr) -> Result<Text, WgslError> {
        let from = self.kernel.ty(a);
        let text = self.expr(a)?;
        let target = self.ty(to)?;
        if to.lanes == 1 {
            return self.cast_scalar(from.scalar, to.scalar, text);
        }
        if from.scalar.is_float() && to.scalar.is_int() {
            let value = self.bind(text);
            let lanes = (0..to.lanes)
                .map(|lane| self.cast_scalar(from.scalar, to.scalar, value.lane(lane.into())));
            let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
            return Ok(Text::call(&target, &lanes));
        }
        Ok(if to.scalar == ScalarType::Bool && from.scalar.is_float() {
            self.is_nonzero(from, &text)?
        } else if to.scalar == ScalarType::Bool {
            let zero = self.ty(from)?;
            Text::primary(format!("({} != {zero}())", text.operand()))
        } else {
            wrap(Text::call(&target, &[text]), to)
        })
    }

    /// The bits of each lane as a value of another type that has as many.
    fn bits(&mut self, to: ScalarType, a: &Expr) -> Result<Text, WgslError> {
        let Ty {
            scalar: from,
            lanes,
        } = self.kernel.ty(a);
        let text = self.expr(a)?;
        if from.bytes() != to.bytes() || lanes > 1 && from.bytes() != 4 {
            return Err(self.unsupported("the bits of a value", to));
        }
        let target = self.ty(Ty { scalar: to, lanes })?;
        Ok(match (from, to) {
            _ if is_wide(from) && is_wide(to) => text,
            (ScalarType::F16, ScalarType::F16) => text,
            (ScalarType::F16, _) => {
                let word = format!("pack2x16float(vec2<f32>(f32({text}), 0.0)) & 0xffffu");
                wrap(Text::primary(format!("{target}({word})")), Ty::scalar(to))
            }
            (_, ScalarType::F16) => {
                let halves = format!("unpack2x16float(u32({text}) & 0xffffu)");
                Text::primary(format!("f16({halves}.x)"))
            }
            _ if from.bytes() == 4 => Text::call(&format!("bitcast<{target}>"), &[text]),
            _ => self.cast_scalar(from, to, text)?,
        })
    }

    pub(super) fn cast_scalar(
        &mut self,
        from: ScalarType,
        to: ScalarType,
        text: Text,
    ) -> Result<Text, WgslError> {
        if is_wide(from) || is_wide(to) {
            return self.wide_cast(from, to, text);
        }
        let target = self.ty(Ty::scalar(to))?;
        Ok(match (from.is_float(), to) {
            (true, ScalarType::Bool) => self.is_nonzero(Ty::scalar(from), &text)?,
            (_, ScalarType::Bool) => Text::call("bool", &[text]),
            (true, to) if to.is_int() => {
                let helper = if to.is_unsigned_int() {
                    Helper::F32ToU32
                } else {
                    Helper::F32ToI32
                };
                let float = if from == ScalarType::F16 {
                    Text::call("f32", &[text])
                } else {
                    text
                };
                let word = self.helper(helper, &[float]);
                match to.int_range() {
                    Some((low, high)) if to.bytes() < 4 => {
                        Text::call("clamp", &[word, self.int(low, to)?, self.int(high, to)?])
                    }
                    _ => word,
                }
            }
            _ => wrap(Text::call(&target, &[text]), Ty::scalar(to)),
        })
    }

    fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Result<Text, WgslError> {
        let ty = self.kernel.ty(a);
        if is_wide(ty.scalar) && ty.lanes == 1 {
            let (a, b) = (self.expr(a)?, self.expr(b)?);
            return self.wide_binary(op, ty.scalar, a, b);
        }
        if let Some(text) = self.binary_call(op, ty, a, b)? {
            return Ok(text);
        }
        if let BinOp::Eq | BinOp::Ne = op
            && ty.scalar.is_float()
            && a == b
        {
            // Drivers may take `x == x` for true, NaN or not.
            let x = self.expr(a)?;
            let nan = self.is_nan(ty, &x)?;
            return Ok(if op == BinOp::Ne { nan } else { negated(&nan) });
        }
        if op == BinOp::Ne && ty.scalar.is_float() {
            // Shaders have no comparison that is true of NaN: naga writes an ordered `!=`.
            return Ok(negated(&self.binary(BinOp::Eq, a, b)?));
        }
        let bool = ty.scalar == ScalarType::Bool;
        let symbol = match op {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::Mod => "%",
            BinOp::Eq => "==",
            BinOp::Ne => "!=",
            BinOp::Lt => "<",
            BinOp::Le => "<=",
            BinOp::Gt => ">",
            BinOp::Ge => ">=",
            BinOp::And if ty.lanes == 1 => "&&",
            BinOp::Or if ty.lanes == 1 => "||",
            BinOp::And | BinOp::BitAnd => "&",
            BinOp::Or | BinOp::BitOr => "|",
            BinOp::BitXor if bool => "!=",
            BinOp::BitXor => "^",
            BinOp::Shl => "<<",
            BinOp::Shr => ">>",
            // Of `bool` alone; the others are calls.
            BinOp::Min | BinOp::FloorDiv | BinOp::FloorMod => "&",
            BinOp::Max => "|",
        };
        let left = self.expr(a)?;
        let mut right = self.expr(b)?;
        let bits = 8 * ty.scalar.bytes() as i64;
        if let (BinOp::Shl | BinOp::Shr, Expr::Int(count, _)) = (op, b)
            && ty.lanes == 1
        {
            right = Text::fixed(format!("{}u", count.rem_euclid(bits)));
        } else if matches!(op, BinOp::Shl | BinOp::Shr) {
            let count = self.ty(Ty {
                scalar: ScalarType::U32,
                lanes: ty.lanes,
            })?;
            right = Text::primary(format!("({count}({right}) & {count}({}u))", bits - 1));
        }
        let text = Text::infix(op, symbol, &left, &right);
        let narrow = ty.scalar.is_int() && ty.scalar.bytes() < 4 && !op.is_comparison();
        Ok(if narrow { wrap(text, ty) } else { text })
    }

    /// Operators that are written as calls.
    fn binary_call(
        &mut self,
        op: BinOp,
        ty: Ty,
        a: &Expr,
        b: &Expr,
    ) -> Result<Option<Text>, WgslError> {
        let float = ty.scalar.is_float();
        let helper = match op {
            _ if ty.scalar == ScalarType::Bool => return Ok(None),
            BinOp::Min | BinOp::Max if float => return self.float_min_max(op, a, b).map(Some),
            BinOp::Min | BinOp::Max => {
                let name = if op == BinOp::Min { "min" } else { "max" };
                return Ok(Some(Text::call(name, &[self.expr(a)?, self.expr(b)?])));
            }
            BinOp::Mod if float => Helper::Remainder,
            BinOp::FloorDiv if float => Helper::FloorQuotient,
            BinOp::FloorMod if float => Helper::FloorRemainder,
            BinOp::FloorDiv | BinOp::FloorMod if ty.scalar.is_unsigned_int() => {
                let (op, symbol) = if op == BinOp::FloorDiv {
                    (BinOp::Div, "/")
                } else {
                    (BinOp::Mod, "%")
                };
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                return Ok(Some(Text::infix(op, symbol, &a, &b).closed()));
            }
            BinOp::FloorDiv => Helper::FloorDiv,
            BinOp::FloorMod => Helper::FloorMod,
            _ => return Ok(None),
        };
        let args = [self.expr(a)?, self.expr(b)?];
        if float {
            return self.f32_helper(helper, ty, &args).map(Some);
        }
        let text = self.per_lane(ty, &args, |emitter, args| emitter.helper(helper, args))?;
        Ok(Some(wrap(text, ty)))
    }

    /// Applies a scalar function to each lane.
    pub(super) fn per_lane(
        &mut self,
        ty: Ty,
        args: &[Text],
        mut f: impl FnMut(&mut Self, &[Text]) -> Text,
    ) -> Result<Text, WgslError> {
        if ty.lanes == 1 {
            return Ok(f(self, args));
        }
        let args: Vec<_> = args.iter().map(|a| self.bind(a.clone())).collect();
        let lane = |lane: u16| {
            let items: Vec<_> = args.iter().map(|a| a.lane(lane.into())).collect();
            f(self, &items)
        };
        let lanes: Vec<_> = (0..ty.lanes).map(lane).collect();
        Ok(Text::call(&self.ty(ty)?, &lanes))
    }

    fn ramp(&mut self, base: &Expr, stride: &Expr, lanes: u16) -> Result<Text, WgslError> {
        let scalar = self.kernel.ty(base).scalar;
        let ty = self.ty(Ty { scalar, lanes })?;
        let steps: Result<Vec<_>, _> = (0..lanes).map(|i| self.int(i.into(), scalar)).collect();
        let steps = Text::call(&ty, &steps?);
        let (base, stride) = (self.expr(base)?, self.expr(stride)?);
        Ok(Text::primary(format!(
            "({ty}({base}) + {steps} * {ty}({stride}))"
        )))
    }
}

/// `!text`
pub(super) fn negated(text: &Text) -> Text {
    Text::new(format!("!{}", text.operand()), Level::Unary)
}

/// A literal, which may have a sign.
fn number(text: String) -> Text {
    let level = if text.starts_with('-') {
        Level::Unary
    } else {
        Level::Fixed
    };
    Text::new(text, level)
}

/// Brings a word, or each of a vector, into the width of a narrow integer type.
pub(super) fn wrap(text: Text, ty: Ty) -> Text {
    let word = |value: &str| match ty.lanes {
        1 => value.to_owned(),
        lanes => format!("vec{lanes}<u32>({value})"),
    };
    let value = text.operand();
    let shifted = |by: &str| Text::primary(format!("(({value} << {by}) >> {by})"));
    match ty.scalar {
        ScalarType::I8 => shifted(&word("24u")),
        ScalarType::I16 => shifted(&word("16u")),
        ScalarType::U8 => Text::primary(format!("({value} & {})", word("0xffu"))),
        ScalarType::U16 => Text::primary(format!("({value} & {})", word("0xffffu"))),
        _ => text,
    }
}
