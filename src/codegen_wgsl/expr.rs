//! Expressions.

use super::WgslError;
use super::emit::Emitter;
use super::intrin::Helper;
use super::locals::LocalForm;
use super::stmt::{lane_name, offset};
use crate::kernel::{ArrayId, Expr, Space, Ty};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, wrap_int};

impl Emitter<'_> {
    /// An expression; may write lines before, for values that are used twice.
    pub(super) fn expr(&mut self, e: &Expr) -> Result<String, WgslError> {
        match e {
            Expr::Int(value, ty) => self.int(*value, *ty),
            Expr::Float(value, ty) => self.float(*value, *ty),
            Expr::Var(var) => Ok(self.vars[*var].clone()),
            Expr::BlockIdx(dim) => Ok(format!("b{}", lane_name((*dim).into()))),
            Expr::ThreadIdx(dim) => Ok(format!("t{}", lane_name((*dim).into()))),
            Expr::Cast(to, a) => self.cast(*to, a),
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Not(a) => Ok(format!("!{}", self.operand(a)?)),
            Expr::Select(cond, a, b) => {
                let (cond, a, b) = (self.expr(cond)?, self.expr(a)?, self.expr(b)?);
                Ok(format!("select({b}, {a}, {cond})"))
            }
            Expr::Call(intrin, args) => self.call(*intrin, args),
            Expr::Load {
                array,
                index,
                lanes,
            } => self.load(*array, index, *lanes),
            Expr::Splat(a, lanes) => {
                let ty = self.ty(Ty {
                    scalar: self.kernel.ty(a).scalar,
                    lanes: *lanes,
                })?;
                Ok(format!("{ty}({})", self.expr(a)?))
            }
            Expr::Ramp(base, stride, lanes) => self.ramp(base, stride, *lanes),
            Expr::Lane(a, lane) => Ok(format!(
                "{}.{}",
                self.operand(a)?,
                lane_name((*lane).into())
            )),
            Expr::Pack(items) => {
                let ty = self.ty(self.kernel.ty(e))?;
                let items = items
                    .iter()
                    .map(|i| self.expr(i))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(format!("{ty}({})", items.join(", ")))
            }
        }
    }

    /// An expression that can stand beside any operator.
    pub(super) fn operand(&mut self, e: &Expr) -> Result<String, WgslError> {
        let text = self.expr(e)?;
        let infix = matches!(e, Expr::Binary(op, ..) if is_infix(*op, self.kernel.ty(e)));
        Ok(if infix || text.starts_with('-') || text.starts_with('!') {
            format!("({text})")
        } else {
            text
        })
    }

    /// A constant, wrapped in its width as what is computed with it.
    fn int(&self, value: i64, ty: ScalarType) -> Result<String, WgslError> {
        let value = wrap_int(value, ty);
        Ok(match ty {
            ScalarType::Bool => (value != 0).to_string(),
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 if value == i64::from(i32::MIN) => {
                "(-2147483647i - 1i)".to_owned()
            }
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 => value.to_string(),
            ScalarType::U8 | ScalarType::U16 | ScalarType::U32 => format!("{value}u"),
            other => return Err(self.unsupported("a constant", other)),
        })
    }

    fn float(&mut self, value: f64, ty: ScalarType) -> Result<String, WgslError> {
        match ty {
            ScalarType::F32 if value.is_finite() => {
                let text = format!("{:?}", value as f32);
                Ok(if text.contains(['.', 'e']) {
                    text + "f"
                } else {
                    text + ".0f"
                })
            }
            ScalarType::F16 if value.is_finite() => Ok(format!("f16({:?})", value)),
            ScalarType::F32 | ScalarType::F16 => {
                self.helpers.insert(Helper::F32FromBits);
                let bits = (value as f32).to_bits();
                let text = format!("f32_from_bits({bits:#x}u)");
                Ok(if ty == ScalarType::F16 {
                    format!("f16({text})")
                } else {
                    text
                })
            }
            other => Err(self.unsupported("a constant", other)),
        }
    }

    fn cast(&mut self, to: Ty, a: &Expr) -> Result<String, WgslError> {
        let from = self.kernel.ty(a);
        let text = self.expr(a)?;
        let target = self.ty(to)?;
        if to.lanes > 1 && from.scalar.is_float() && !to.scalar.is_float() {
            let value = self.bind(&text);
            let lanes = (0..to.lanes).map(|lane| {
                let item = format!("{value}.{}", lane_name(lane.into()));
                self.cast_scalar(from.scalar, to.scalar, &item)
            });
            let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
            return Ok(format!("{target}({})", lanes.join(", ")));
        }
        if to.lanes > 1 {
            return Ok(if to.scalar == ScalarType::Bool {
                let zero = self.ty(from)?;
                format!("({text} != {zero}())")
            } else {
                wrap(format!("{target}({text})"), to)
            });
        }
        self.cast_scalar(from.scalar, to.scalar, &text)
    }

    fn cast_scalar(
        &mut self,
        from: ScalarType,
        to: ScalarType,
        text: &str,
    ) -> Result<String, WgslError> {
        let target = self.ty(Ty::scalar(to))?;
        Ok(match (from.is_float(), to) {
            (_, ScalarType::Bool) => format!("bool({text})"),
            (true, to) if to.is_int() => {
                let (helper, name) = if to.is_unsigned_int() {
                    (Helper::F32ToU32, "f32_to_u32")
                } else {
                    (Helper::F32ToI32, "f32_to_i32")
                };
                self.helpers.insert(helper);
                let text = if from == ScalarType::F16 {
                    format!("f32({text})")
                } else {
                    text.to_owned()
                };
                match to.int_range() {
                    Some((low, high)) if to.bytes() < 4 => {
                        let (low, high) = (self.int(low, to)?, self.int(high, to)?);
                        format!("clamp({name}({text}), {low}, {high})")
                    }
                    _ => format!("{name}({text})"),
                }
            }
            _ => wrap(format!("{target}({text})"), Ty::scalar(to)),
        })
    }

    fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Result<String, WgslError> {
        let ty = self.kernel.ty(a);
        if let Some(text) = self.binary_call(op, ty, a, b)? {
            return Ok(wrap(text, ty));
        }
        if op == BinOp::Ne && ty.scalar.is_float() {
            // Drivers take `x != x` for false, NaN or not; `!(x == x)` they compute.
            return Ok(format!("!({})", self.binary(BinOp::Eq, a, b)?));
        }
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
            BinOp::BitXor => "^",
            BinOp::Shl => "<<",
            BinOp::Shr => ">>",
            BinOp::FloorDiv | BinOp::FloorMod | BinOp::Min | BinOp::Max => "",
        };
        let left = self.side(op, a, Side::Left)?;
        let mut right = self.side(op, b, Side::Right)?;
        let bits = 8 * ty.scalar.bytes() as i64;
        if let (BinOp::Shl | BinOp::Shr, Expr::Int(count, _)) = (op, b)
            && ty.lanes == 1
        {
            right = format!("{}u", count.rem_euclid(bits));
        } else if matches!(op, BinOp::Shl | BinOp::Shr) {
            let count = self.ty(Ty {
                scalar: ScalarType::U32,
                lanes: ty.lanes,
            })?;
            right = format!("({count}({right}) & {count}({}u))", bits - 1);
        }
        let text = format!("{left} {symbol} {right}");
        let narrow = ty.scalar.is_int() && ty.scalar.bytes() < 4 && !op.is_comparison();
        Ok(if narrow {
            wrap(format!("({text})"), ty)
        } else {
            text
        })
    }

    /// Operators that are written as calls.
    fn binary_call(
        &mut self,
        op: BinOp,
        ty: Ty,
        a: &Expr,
        b: &Expr,
    ) -> Result<Option<String>, WgslError> {
        let float = ty.scalar.is_float();
        match op {
            BinOp::Min | BinOp::Max if float => self.float_min_max(op, a, b).map(Some),
            BinOp::Min | BinOp::Max => {
                let name = if op == BinOp::Min { "min" } else { "max" };
                Ok(Some(format!(
                    "{name}({}, {})",
                    self.expr(a)?,
                    self.expr(b)?
                )))
            }
            BinOp::FloorDiv if float => Ok(Some(format!(
                "floor({} / {})",
                self.operand(a)?,
                self.operand(b)?
            ))),
            BinOp::FloorMod if float => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                let (a, b) = (self.bind(&a), self.bind(&b));
                Ok(Some(format!("({a} - floor({a} / {b}) * {b})")))
            }
            BinOp::FloorDiv | BinOp::FloorMod if ty.scalar.is_unsigned_int() => {
                let symbol = if op == BinOp::FloorDiv { '/' } else { '%' };
                Ok(Some(format!(
                    "({} {symbol} {})",
                    self.operand(a)?,
                    self.operand(b)?
                )))
            }
            BinOp::FloorDiv | BinOp::FloorMod => {
                let (helper, name) = if op == BinOp::FloorDiv {
                    (Helper::FloorDiv, "floor_div")
                } else {
                    (Helper::FloorMod, "floor_mod")
                };
                self.helpers.insert(helper);
                let (left, right) = (self.expr(a)?, self.expr(b)?);
                self.per_lane(ty, &[left, right], |args| {
                    format!("{name}({})", args.join(", "))
                })
                .map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The smaller or greater one, NaN if either is NaN: WGSL leaves NaN open, so it is said by comparisons, which are false.
    fn float_min_max(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Result<String, WgslError> {
        let symbol = if op == BinOp::Min { ">" } else { "<" };
        // The side that is surely a number goes right: `select(a, b, a < b)` keeps a NaN in `a`.
        let (a, b) = if is_number(a) && !is_number(b) {
            (b, a)
        } else {
            (a, b)
        };
        let ty = self.kernel.ty(a);
        let (left, right) = (self.expr(a)?, self.expr(b)?);
        let left = self.bind(&left);
        if is_number(b) {
            return Ok(format!("select({left}, {right}, {left} {symbol} {right})"));
        }
        let right = self.bind(&right);
        let nan = self.is_nan(ty, &right)?;
        Ok(format!(
            "select(select({left}, {right}, {left} {symbol} {right}), {right}, {nan})"
        ))
    }

    /// An operand of an infix operator, in parentheses where the grammar or the meaning needs them.
    fn side(&mut self, op: BinOp, e: &Expr, side: Side) -> Result<String, WgslError> {
        let text = self.expr(e)?;
        let Expr::Binary(inner, ..) = e else {
            return Ok(if text.starts_with('-') || text.starts_with('!') {
                format!("({text})")
            } else {
                text
            });
        };
        if !is_infix(*inner, self.kernel.ty(e)) {
            return Ok(text);
        }
        let (outer, inner_level) = (level(op), level(*inner));
        let plain = match (outer, inner_level) {
            (Some(o), Some(i)) => i > o || (i == o && side == Side::Left && o >= 2),
            _ => false,
        };
        Ok(if plain { text } else { format!("({text})") })
    }

    /// Applies a scalar function to each lane.
    pub(super) fn per_lane(
        &mut self,
        ty: Ty,
        args: &[String],
        f: impl Fn(&[String]) -> String,
    ) -> Result<String, WgslError> {
        if ty.lanes == 1 {
            return Ok(f(args));
        }
        let names: Vec<_> = args.iter().map(|a| self.bind(a)).collect();
        let lane = |lane: u16| {
            let items: Vec<_> = names
                .iter()
                .map(|n| format!("{n}.{}", lane_name(lane.into())))
                .collect();
            f(&items)
        };
        let lanes: Vec<_> = (0..ty.lanes).map(lane).collect();
        Ok(format!("{}({})", self.ty(ty)?, lanes.join(", ")))
    }

    fn ramp(&mut self, base: &Expr, stride: &Expr, lanes: u16) -> Result<String, WgslError> {
        let scalar = self.kernel.ty(base).scalar;
        let ty = self.ty(Ty { scalar, lanes })?;
        let steps: Vec<_> = (0..lanes)
            .map(|i| self.int(i.into(), scalar))
            .collect::<Result<_, _>>()?;
        let (base, stride) = (self.expr(base)?, self.expr(stride)?);
        Ok(format!(
            "({ty}({base}) + {ty}({}) * {ty}({stride}))",
            steps.join(", ")
        ))
    }

    fn load(&mut self, array: ArrayId, index: &Expr, lanes: u16) -> Result<String, WgslError> {
        let name = self.arrays[array].clone();
        let width = self.width(array);
        if self.is_packed(array) {
            return self.load_packed(array, index, lanes);
        }
        let constant = if let Expr::Int(v, _) = index {
            Some(*v as u64)
        } else {
            None
        };
        let is_vars = self.kernel.arrays[array].space == Space::Local
            && matches!(self.forms[array], LocalForm::Variables(_));
        if let (true, Some(at)) = (is_vars, constant) {
            let w = u64::from(width);
            return Ok(match lanes {
                _ if lanes == width => format!("{name}_{}", at / w),
                1 => format!("{name}_{}.{}", at / w, lane_name(at % w)),
                _ => {
                    let items: Vec<_> = (0..u64::from(lanes))
                        .map(|l| format!("{name}_{}", at + l))
                        .collect();
                    let ty = self.ty(Ty {
                        scalar: self.kernel.arrays[array].dtype,
                        lanes,
                    })?;
                    format!("{ty}({})", items.join(", "))
                }
            });
        }
        if lanes == width {
            return Ok(format!("{name}[{}]", self.group_index(index, width)?));
        }
        if lanes == 1 {
            let (place, component) = self.element_index(index, width)?;
            return Ok(format!("{name}[{place}]{component}"));
        }
        let mut items = Vec::new();
        if width == 1 && constant.is_none() {
            // Neighbours that need not start at a multiple of their number: the first index is computed once.
            let first = self.expr(index)?;
            let first = self.bind(&first);
            items.push(format!("{name}[{first}]"));
            items.extend((1..lanes).map(|lane| format!("{name}[{first} + {lane}]")));
        } else {
            for lane in 0..i64::from(lanes) {
                let (place, component) = self.element_index(&offset(index, lane), width)?;
                items.push(format!("{name}[{place}]{component}"));
            }
        }
        let ty = self.ty(Ty {
            scalar: self.kernel.arrays[array].dtype,
            lanes,
        })?;
        Ok(format!("{ty}({})", items.join(", ")))
    }

    /// Elements of which four share a word.
    fn load_packed(
        &mut self,
        array: ArrayId,
        index: &Expr,
        lanes: u16,
    ) -> Result<String, WgslError> {
        let (name, dtype) = (self.arrays[array].clone(), self.kernel.arrays[array].dtype);
        let mut items = Vec::new();
        for lane in 0..i64::from(lanes) {
            let at = self.expr(&offset(index, lane))?;
            let at = self.bind(&at);
            let word = format!("{name}[u32({at}) / 4u]");
            let shift = format!("8u * (u32({at}) % 4u)");
            items.push(match dtype {
                ScalarType::I8 => format!("extractBits(bitcast<i32>({word}), {shift}, 8u)"),
                ScalarType::Bool => format!("(extractBits({word}, {shift}, 8u) != 0u)"),
                _ => format!("extractBits({word}, {shift}, 8u)"),
            });
        }
        if lanes == 1 {
            return Ok(items.remove(0));
        }
        Ok(format!(
            "{}({})",
            self.ty(Ty {
                scalar: dtype,
                lanes
            })?,
            items.join(", ")
        ))
    }

    /// Where the group of `width` elements is that starts at `index`, a multiple of `width`.
    pub(super) fn group_index(&mut self, index: &Expr, width: u16) -> Result<String, WgslError> {
        if width == 1 {
            return self.expr(index);
        }
        if let Some(quotient) = exact_quotient(index, i64::from(width)) {
            return self.expr(&quotient);
        }
        Ok(format!("u32({}) / {width}u", self.expr(index)?))
    }

    /// The group that holds an element, and the component in it.
    pub(super) fn element_index(
        &mut self,
        index: &Expr,
        width: u16,
    ) -> Result<(String, String), WgslError> {
        if width == 1 {
            return Ok((self.expr(index)?, String::new()));
        }
        if let Expr::Int(v, _) = index {
            let w = i64::from(width);
            return Ok((
                (v / w).to_string(),
                format!(".{}", lane_name((v % w) as u64)),
            ));
        }
        if let Some((group, component)) = split_remainder(index, i64::from(width)) {
            let component = lane_name(component as u64);
            return Ok((self.expr(&group)?, format!(".{component}")));
        }
        let at = self.expr(index)?;
        let at = self.bind(&at);
        Ok((
            format!("u32({at}) / {width}u"),
            format!("[u32({at}) % {width}u]"),
        ))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

/// `(index / width, index % width)` where every term but a constant is a multiple of the width.
fn split_remainder(index: &Expr, width: i64) -> Option<(Expr, i64)> {
    let (terms, constant) = match index {
        Expr::Binary(BinOp::Add, a, b) => match &**b {
            Expr::Int(v, _) => (&**a, *v),
            _ => (index, 0),
        },
        Expr::Binary(BinOp::Sub, a, b) => match &**b {
            Expr::Int(v, _) => (&**a, -v),
            _ => (index, 0),
        },
        _ => (index, 0),
    };
    let group = exact_quotient(terms, width)?;
    let more = constant.div_euclid(width);
    let group = match more {
        0 => group,
        _ => Expr::Binary(
            BinOp::Add,
            Box::new(group),
            Box::new(Expr::Int(more, ScalarType::I32)),
        ),
    };
    Some((group, constant.rem_euclid(width)))
}

/// `index / width` where every term is a multiple of it, so that no division is left.
fn exact_quotient(index: &Expr, width: i64) -> Option<Expr> {
    match index {
        Expr::Int(v, ty) => (v % width == 0).then(|| Expr::Int(v / width, *ty)),
        Expr::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
            let (a, b) = (exact_quotient(a, width)?, exact_quotient(b, width)?);
            Some(match (&a, &b) {
                (_, Expr::Int(0, _)) => a,
                (Expr::Int(0, _), _) if *op == BinOp::Add => b,
                _ => Expr::Binary(*op, Box::new(a), Box::new(b)),
            })
        }
        Expr::Binary(BinOp::Mul, a, b) => {
            let (factor, other) = match (&**a, &**b) {
                (_, Expr::Int(..)) => (b, a),
                (Expr::Int(..), _) => (a, b),
                _ => {
                    return exact_quotient(b, width)
                        .map(|q| Expr::Binary(BinOp::Mul, a.clone(), Box::new(q)))
                        .or_else(|| {
                            exact_quotient(a, width)
                                .map(|q| Expr::Binary(BinOp::Mul, Box::new(q), b.clone()))
                        });
                }
            };
            if let Some(Expr::Int(q, ty)) = exact_quotient(factor, width) {
                return Some(if q == 1 {
                    (**other).clone()
                } else {
                    Expr::Binary(BinOp::Mul, other.clone(), Box::new(Expr::Int(q, ty)))
                });
            }
            exact_quotient(other, width)
                .map(|q| Expr::Binary(BinOp::Mul, Box::new(q), factor.clone()))
        }
        _ => None,
    }
}

/// Precedence of the operators that WGSL lets stand together without parentheses.
fn level(op: BinOp) -> Option<u8> {
    match op {
        BinOp::Mul | BinOp::Div | BinOp::Mod => Some(3),
        BinOp::Add | BinOp::Sub => Some(2),
        _ if op.is_comparison() => Some(1),
        _ => None,
    }
}

/// Whether the operator is written between its operands.
fn is_infix(op: BinOp, ty: Ty) -> bool {
    let narrow = ty.scalar.is_int() && ty.scalar.bytes() < 4;
    !matches!(
        op,
        BinOp::Min | BinOp::Max | BinOp::FloorDiv | BinOp::FloorMod
    ) && !narrow
}

/// Whether a float expression is surely not NaN.
fn is_number(e: &Expr) -> bool {
    match e {
        Expr::Float(v, _) => !v.is_nan(),
        Expr::Splat(a, _) => is_number(a),
        _ => false,
    }
}

/// Brings a word, or each of a vector, into the width of a narrow integer type.
pub(super) fn wrap(text: String, ty: Ty) -> String {
    let word = |value: &str| match ty.lanes {
        1 => value.to_owned(),
        lanes => format!("vec{lanes}<u32>({value})"),
    };
    let shifted = |by: &str| format!("(({text} << {by}) >> {by})");
    match ty.scalar {
        ScalarType::I8 => shifted(&word("24u")),
        ScalarType::I16 => shifted(&word("16u")),
        ScalarType::U8 => format!("({text} & {})", word("0xffu")),
        ScalarType::U16 => format!("({text} & {})", word("0xffffu")),
        _ => text,
    }
}
