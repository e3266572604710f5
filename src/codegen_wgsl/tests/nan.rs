//! What is emitted for NaN does not rest on what WGSL leaves to drivers. The text is parsed and evaluated as a driver may do it.

use naga::{
    BinaryOperator, Expression, Handle, Literal, MathFunction, ScalarKind, Statement, UnaryOperator,
};

use super::*;
use crate::tensor::scalar::{Scalar, eval_binary};

/// What a driver makes of a comparison with NaN.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Driver {
    /// False, as IEEE 754 has it.
    Ieee,
    /// The same, but `select(a, b, a < b)` and its like are the device's `min` or `max`, which give the number.
    Fusing,
    /// Any answer: a bit of this for each comparison.
    Arbitrary(u32),
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Float(f32),
    Signed(i32),
    Word(u32),
    Bool(bool),
}

impl Value {
    fn bits(self) -> u32 {
        match self {
            Self::Float(v) => v.to_bits(),
            Self::Signed(v) => v as u32,
            Self::Word(v) => v,
            Self::Bool(v) => v.into(),
        }
    }
}

/// Evaluates expressions of one lane: every operation is one of all lanes alike.
struct Evaluation<'m> {
    module: &'m naga::Module,
    a: f32,
    b: f32,
    driver: Driver,
}

impl Evaluation<'_> {
    fn expressions(&self) -> &naga::Arena<Expression> {
        &self.module.entry_points[0].function.expressions
    }

    fn value(&self, handle: Handle<Expression>) -> Value {
        match &self.expressions()[handle] {
            Expression::Literal(Literal::F32(v)) => Value::Float(*v),
            Expression::Literal(Literal::F16(v)) => Value::Float(v.to_f32()),
            Expression::Literal(Literal::I32(v)) => Value::Signed(*v),
            Expression::Literal(Literal::U32(v)) => Value::Word(*v),
            Expression::Splat { value, .. } => self.value(*value),
            Expression::Compose { components, .. } => self.value(components[0]),
            Expression::Load { pointer } => Value::Float(self.element(*pointer)),
            Expression::Unary {
                op: UnaryOperator::LogicalNot,
                expr,
            } => Value::Bool(self.value(*expr).bits() == 0),
            Expression::Binary { op, left, right } => self.binary(handle, *op, *left, *right),
            Expression::Select {
                condition,
                accept,
                reject,
            } => match self.fused(*condition, *accept, *reject) {
                Some(number) => number,
                None if self.value(*condition).bits() != 0 => self.value(*accept),
                None => self.value(*reject),
            },
            Expression::Math {
                fun: MathFunction::Max,
                arg,
                arg1: Some(other),
                ..
            } => match (self.value(*arg), self.value(*other)) {
                (Value::Word(a), Value::Word(b)) => Value::Word(a.max(b)),
                other => panic!("max of {other:?}"),
            },
            Expression::As {
                expr,
                kind,
                convert: None,
            } => {
                let bits = self.value(*expr).bits();
                match kind {
                    ScalarKind::Float => Value::Float(f32::from_bits(bits)),
                    ScalarKind::Sint => Value::Signed(bits as i32),
                    _ => Value::Word(bits),
                }
            }
            // From and to half precision, which has all of these numbers.
            Expression::As { expr, .. } => self.value(*expr),
            other => panic!("{other:?}"),
        }
    }

    fn element(&self, pointer: Handle<Expression>) -> f32 {
        match &self.expressions()[pointer] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
                self.element(*base)
            }
            Expression::GlobalVariable(array) => {
                match self.module.global_variables[*array].name.as_deref() {
                    Some("A") => self.a,
                    Some("B") => self.b,
                    other => panic!("{other:?}"),
                }
            }
            other => panic!("{other:?}"),
        }
    }

    fn binary(
        &self,
        handle: Handle<Expression>,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Value {
        use BinaryOperator as Op;
        let values = (self.value(left), self.value(right));
        let order = match values {
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(&b),
            (Value::Signed(a), Value::Signed(b)) => Some(a.cmp(&b)),
            (Value::Word(a), Value::Word(b)) if op == Op::And => return Value::Word(a & b),
            (Value::Word(a), Value::Word(b)) => Some(a.cmp(&b)),
            other => panic!("{op:?} of {other:?}"),
        };
        let Some(order) = order else {
            return Value::Bool(match self.driver {
                Driver::Arbitrary(answers) => answers >> (handle.index() % 32) & 1 != 0,
                Driver::Ieee | Driver::Fusing => false,
            });
        };
        Value::Bool(match op {
            Op::Less => order.is_lt(),
            Op::LessEqual => order.is_le(),
            Op::Greater => order.is_gt(),
            Op::GreaterEqual => order.is_ge(),
            Op::Equal => order.is_eq(),
            other => panic!("{other:?}"),
        })
    }

    /// The number of the two that a choice between the operands of a comparison gives if the other one is NaN.
    fn fused(
        &self,
        condition: Handle<Expression>,
        accept: Handle<Expression>,
        reject: Handle<Expression>,
    ) -> Option<Value> {
        let Expression::Binary { op, left, right } = &self.expressions()[condition] else {
            return None;
        };
        if self.driver != Driver::Fusing || *op == BinaryOperator::Equal {
            return None;
        }
        let (Value::Float(left), Value::Float(right)) = (self.value(*left), self.value(*right))
        else {
            return None;
        };
        let (Value::Float(accept), Value::Float(reject)) = (self.value(accept), self.value(reject))
        else {
            return None;
        };
        let mut sides = [left, right].map(f32::to_bits);
        let mut chosen = [accept, reject].map(f32::to_bits);
        sides.sort_unstable();
        chosen.sort_unstable();
        let is_choice = sides == chosen && left.is_nan() != right.is_nan();
        is_choice.then(|| Value::Float(if left.is_nan() { right } else { left }))
    }
}

/// NaN of both signs, zeros, infinities, and numbers on both sides of the bounds.
const FLOATS: [f32; 11] = [
    f32::NAN,
    -f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    0.0,
    -0.0,
    1.0,
    -1.0,
    7.0,
    -7.0,
    6.0,
];

/// The value that the kernel `C = value` stores, of all pairs of floats, as each of the drivers computes it.
fn agrees(
    what: &str,
    dtype: ScalarType,
    lanes: u16,
    drivers: &[Driver],
    value: impl Fn(Expr, Expr) -> Expr,
    expected: &dyn Fn(f32, f32) -> f32,
) {
    let arrays = ["A", "B"].into_iter().enumerate();
    let inputs = arrays.map(|(at, name)| array(name, dtype, global(at, Access::Read), 64, lanes));
    let output = array("C", dtype, global(2, Access::Write), 64, lanes);
    let kernel = kernel(inputs.chain([output]).collect(), one(), |_, ids| {
        vec![Stmt::Store {
            array: ids[2],
            index: int(0),
            value: value(load(ids[0], int(0), lanes), load(ids[1], int(0), lanes)),
            active: None,
        }]
    });
    let target = GpuTarget {
        f16: true,
        ..GpuTarget::default()
    };
    let shader = check(&kernel, &target);
    let (module, _) = validate(&shader).expect("it is valid");
    let stored = stored(&module);
    for &driver in drivers {
        for (a, b) in FLOATS.into_iter().flat_map(|a| FLOATS.map(|b| (a, b))) {
            let evaluation = Evaluation {
                module: &module,
                a,
                b,
                driver,
            };
            let got = match evaluation.value(stored) {
                Value::Float(v) => v,
                other => panic!("{other:?}"),
            };
            let expected = expected(a, b);
            assert!(
                got == expected || got.is_nan() && expected.is_nan(),
                "{what} of {a:e}, {b:e}, {driver:?}: {got:e} for {expected:e}\n{}",
                shader.text
            );
        }
    }
}

/// The one value that the shader stores.
fn stored(module: &naga::Module) -> Handle<Expression> {
    let mut all = vec![];
    stores(&module.entry_points[0].function.body, &mut all);
    match all[..] {
        [stored] => stored,
        _ => panic!("{all:?}"),
    }
}

fn stores(block: &naga::Block, all: &mut Vec<Handle<Expression>>) {
    for statement in block {
        match statement {
            Statement::Store { value, .. } => all.push(*value),
            Statement::Block(inner) => stores(inner, all),
            Statement::If { accept, .. } => stores(accept, all),
            _ => {}
        }
    }
}

/// What it is, the value of `a` and `b`, and what the interpreter makes of it.
type Case<'a> = (&'a str, &'a dyn Fn(Expr, Expr) -> Expr, fn(f32, f32) -> f32);

fn every_driver() -> Vec<Driver> {
    let answers = [0, 1, 2, 3, 5, 9, 17].map(|seed: u32| seed.wrapping_mul(0x9e37_79b9));
    let arbitrary = answers.into_iter().flat_map(|bits| [bits, !bits]);
    let arbitrary = arbitrary.map(Driver::Arbitrary);
    arbitrary.chain([Driver::Ieee, Driver::Fusing]).collect()
}

/// `f` of every type of floats that shaders have, and of vectors of them.
fn each_type(f: impl Fn(ScalarType, u16, &dyn Fn(f64) -> Expr)) {
    for dtype in [ScalarType::F32, ScalarType::F16] {
        for lanes in [1, 4] {
            let number = |v| match lanes {
                1 => Expr::Float(v, dtype),
                _ => Expr::Splat(Box::new(Expr::Float(v, dtype)), lanes),
            };
            f(dtype, lanes, &number);
        }
    }
}

fn min(a: f32, b: f32) -> f32 {
    extreme(BinOp::Min, a, b)
}

fn max(a: f32, b: f32) -> f32 {
    extreme(BinOp::Max, a, b)
}

/// The interpreter's answer.
fn extreme(op: BinOp, a: f32, b: f32) -> f32 {
    let [a, b] = [a, b].map(|v| Scalar::Float(v.into()));
    let value = eval_binary(op, ScalarType::F32, a, b).expect("defined");
    value.as_float() as f32
}

#[test]
fn min_and_max_keep_nan_whatever_comparisons_with_it_give() {
    use BinOp::{Max, Min};
    each_type(|dtype, lanes, number| {
        let cases: &[Case] = &[
            ("max(a, b)", &|a, b| binary(Max, a, b), max),
            ("min(a, b)", &|a, b| binary(Min, a, b), min),
            ("relu", &|a, _| binary(Max, a, number(0.0)), |a, _| {
                max(a, 0.0)
            }),
            ("max(0, a)", &|a, _| binary(Max, number(0.0), a), |a, _| {
                max(a, 0.0)
            }),
            ("min(a, 0)", &|a, _| binary(Min, a, number(0.0)), |a, _| {
                min(a, 0.0)
            }),
            (
                "relu6",
                &|a, _| binary(Min, binary(Max, a, number(0.0)), number(6.0)),
                |a, _| min(max(a, 0.0), 6.0),
            ),
            (
                "clip",
                &|a, _| binary(Max, number(-6.0), binary(Min, number(6.0), a)),
                |a, _| max(min(a, 6.0), -6.0),
            ),
            (
                "max(max(a, b), 0)",
                &|a, b| binary(Max, binary(Max, a, b), number(0.0)),
                |a, b| max(max(a, b), 0.0),
            ),
            (
                "min(min(a, b), min(b, a))",
                &|a, b| binary(Min, binary(Min, a.clone(), b.clone()), binary(Min, b, a)),
                min,
            ),
            (
                "max(max(a, b), min(a, b))",
                &|a, b| binary(Max, binary(Max, a.clone(), b.clone()), binary(Min, a, b)),
                max,
            ),
            (
                "max(max(a, 0), max(b, 6))",
                &|a, b| {
                    binary(
                        Max,
                        binary(Max, a, number(0.0)),
                        binary(Max, b, number(6.0)),
                    )
                },
                |a, b| max(max(a, 0.0), max(b, 6.0)),
            ),
        ];
        for (what, value, expected) in cases {
            agrees(what, dtype, lanes, &every_driver(), value, expected);
        }
    });
}

fn choice(cond: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr::Select(Box::new(cond), Box::new(then), Box::new(otherwise))
}

/// A min or max that a program spells out gives the operand that its comparison leaves, NaN or not.
#[test]
fn choices_between_compared_floats_are_those_of_the_comparison() {
    use BinOp::{Ge, Gt, Lt};
    each_type(|dtype, lanes, number| {
        let zero = || number(0.0);
        let less = |a: &Expr, b: &Expr| binary(Lt, a.clone(), b.clone());
        let cases: &[Case] = &[
            (
                "b if a < b else a",
                &|a, b| choice(less(&a, &b), b, a),
                |a, b| if a < b { b } else { a },
            ),
            (
                "a if a < b else b",
                &|a, b| choice(less(&a, &b), a, b),
                |a, b| if a < b { a } else { b },
            ),
            (
                "0 if a < 0 else a",
                &|a, _| choice(less(&a, &zero()), zero(), a),
                |a, _| if a < 0.0 { 0.0 } else { a },
            ),
            (
                "a if a > 0 else 0",
                &|a, _| choice(binary(Gt, a.clone(), zero()), a, zero()),
                |a, _| if a > 0.0 { a } else { 0.0 },
            ),
            (
                "0 if not a >= 0 else a",
                &|a, _| {
                    choice(
                        Expr::Not(Box::new(binary(Ge, a.clone(), zero()))),
                        zero(),
                        a,
                    )
                },
                |a, _| if a >= 0.0 { a } else { 0.0 },
            ),
        ];
        for (what, value, expected) in cases {
            let drivers = [Driver::Ieee, Driver::Fusing];
            agrees(what, dtype, lanes, &drivers, value, expected);
        }
    });
}

#[test]
fn a_float_that_is_not_itself_is_nan_on_every_driver() {
    each_type(|dtype, lanes, number| {
        for (op, of_nan) in [(BinOp::Ne, 1.0), (BinOp::Eq, 0.0)] {
            let value = |a: Expr, _| choice(binary(op, a.clone(), a), number(1.0), number(0.0));
            let expected = |a: f32, _| if a.is_nan() { of_nan } else { 1.0 - of_nan };
            let what = format!("{op:?}");
            agrees(&what, dtype, lanes, &every_driver(), value, &expected);
        }
    });
}

/// The drivers here do lose the NaN of a plain choice, which is what was emitted once.
#[test]
fn a_plain_choice_loses_nan() {
    let text = "
        @group(0) @binding(0) var<storage, read> A: array<f32>;
        @group(0) @binding(1) var<storage, read_write> C: array<f32>;
        @compute @workgroup_size(1) fn main() {
            C[0] = select(A[0], 0.0f, A[0] < 0.0f);
        }";
    let module = naga::front::wgsl::parse_str(text).expect("it is well formed");
    let lost = every_driver().into_iter().filter(|&driver| {
        let evaluation = Evaluation {
            module: &module,
            a: f32::NAN,
            b: 0.0,
            driver,
        };
        matches!(evaluation.value(stored(&module)), Value::Float(v) if !v.is_nan())
    });
    let lost: Vec<Driver> = lost.collect();
    assert!(lost.contains(&Driver::Fusing), "{lost:?}");
    assert!(
        lost.iter()
            .any(|driver| matches!(driver, Driver::Arbitrary(_))),
        "{lost:?}"
    );
    assert!(!lost.contains(&Driver::Ieee), "{lost:?}");
}
