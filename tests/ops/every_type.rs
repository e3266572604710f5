//! Every operator that loops compute, for every element type that it takes, on every device: what `docs/operators.md` says of
//! them is what runs here. The reference is the same call in `float64`, or of integers in `int64`, by the interpreter, rounded
//! once; that the interpreter computes what the operator means is what `closed_forms` shows of these calls, and the other tests.

use std::collections::BTreeSet;

use weftile::interp;
use weftile::ir::StructInfo;
use weftile::ops::{self, Compute};
use weftile::script;
use weftile::support::tolerance::{Tolerance, elements};
use weftile::tensor::scalar::{Scalar, encode, eval_cast};
use weftile::tensor::{DType, ScalarType, Tensor};

use super::Cases;
use super::catalog::{BINARY, CALLS, UNARY};

/// An operand of a call.
pub(super) struct Operand {
    letter: char,
    /// An `int32` operand is below this.
    below: i64,
    /// Extents; `None` for `n`.
    extents: Vec<Option<usize>>,
}

/// A call of an operator for all its element types.
pub(super) struct Row {
    pub(super) call: String,
    pub(super) operands: Vec<Operand>,
    roundings: usize,
}

impl Row {
    /// `x[n,3] i<5[2] | R.take(x, i) | 2`
    fn parse(line: &str) -> Self {
        let mut parts = line.split('|').map(str::trim);
        let operands = parts.next().expect("operands").split(' ').map(|text| {
            let (name, extents) = text.split_once('[').expect("extents");
            let (letter, below) = name.split_once('<').unwrap_or((name, "1"));
            let extents = extents.trim_end_matches(']').split(',');
            Operand {
                letter: letter.chars().next().expect("a letter"),
                below: below.parse().expect("a number"),
                extents: extents.map(|extent| extent.parse().ok()).collect(),
            }
        });
        Self {
            operands: operands.collect(),
            call: parts.next().expect("a call").to_owned(),
            roundings: parts.next().map_or(1, |n| n.parse().expect("a number")),
        }
    }

    /// The operator, without `R.`.
    pub(super) fn op(&self) -> &str {
        let call = self.call.strip_prefix("R.").expect("an operator");
        call.split('(').next().expect("a name")
    }

    /// Whether the operator takes the type. Where the operand that says so is no number of it, all do.
    pub(super) fn takes(&self, dtype: DType) -> bool {
        let dtypes = ops::find(self.op()).expect("an operator").dtypes;
        let is_fixed = |operand: &Operand| "ijkmf".contains(operand.letter);
        dtypes.contains(dtype) || self.operands.first().is_some_and(is_fixed)
    }

    fn is_symbolic(&self) -> bool {
        self.operands.iter().any(|o| o.extents.contains(&None))
    }

    /// Names and types of the operands as text.
    fn types(&self, dtype: DType) -> Vec<String> {
        let of = |operand: &Operand| {
            let extent = |d: &Option<usize>| d.map_or("\"n\", ".to_owned(), |d| format!("{d}, "));
            let dims: String = operand.extents.iter().map(extent).collect();
            format!("R.Tensor(({dims}), \"{}\")", operand.dtype(dtype))
        };
        self.operands.iter().map(of).collect()
    }

    fn text(&self, dtype: DType) -> String {
        self.call.replace("$T", &dtype.to_string())
    }

    /// The module of this call alone.
    pub(super) fn module(&self, dtype: DType) -> weftile::ir::Module {
        let types = self.types(dtype);
        let params = self.operands.iter().zip(&types);
        let params: Vec<String> = params
            .map(|(o, ty)| format!("{}: {ty}", o.letter))
            .collect();
        let n = if self.is_symbolic() {
            "    n = T.int64()\n"
        } else {
            ""
        };
        let (params, call) = (params.join(", "), self.text(dtype));
        let text = format!("@R.function\ndef main({params}):\n{n}    gv = {call}\n    return gv\n");
        script::parse("row.py", &text).unwrap_or_else(|e| panic!("{e}"))
    }
}

impl Operand {
    fn dtype(&self, dtype: DType) -> DType {
        match self.letter {
            'i' | 'j' | 'k' => DType::I32,
            'm' => DType::BOOL,
            'f' => DType::F32,
            _ => dtype,
        }
    }

    /// Numbers that every type of the kind of `like` has, in elements of `dtype`.
    pub(super) fn tensor(&self, like: ScalarType, dtype: DType, n: usize) -> Tensor {
        let shape: Vec<usize> = self.extents.iter().map(|d| d.unwrap_or(n)).collect();
        let own = self.dtype(dtype);
        let kind = if own == dtype { like } else { own.scalar };
        let mut bytes = vec![0; shape.iter().product::<usize>() * own.bytes()];
        for (at, out) in bytes.chunks_mut(own.bytes()).enumerate() {
            let value = self.value(kind, at as i64);
            encode(value, own.scalar, out);
        }
        Tensor::from_bytes(own, &shape, &bytes).expect("as many bytes")
    }

    fn value(&self, kind: ScalarType, at: i64) -> Scalar {
        let mixed = at * 37 + i64::from(self.letter as u32) * 11;
        let eighths = |v: i64| Scalar::Float(v as f64 / 8.0);
        if kind.is_float() {
            return match self.letter {
                'p' | 'q' | 'r' | 's' | 'f' => eighths(mixed % 15 + 1),
                't' => eighths(mixed % 15 - 7),
                'g' => eighths(mixed % 16 + 8),
                _ => eighths(mixed % 31 - 15),
            };
        }
        Scalar::Int(match self.letter {
            'i' | 'j' => mixed % self.below,
            'k' => at * 2,
            _ if kind == ScalarType::Bool => mixed % 2,
            'p' | 'q' | 'r' | 's' => mixed % 3 + 1,
            _ if kind.is_unsigned_int() => mixed % 7,
            _ => mixed % 7 - 3,
        })
    }
}

pub(super) fn rows() -> Vec<Row> {
    let unary = UNARY.iter().flat_map(|(x, names)| {
        let line = move |name: &str| format!("{x}[n] | R.{name}({x}) | {}", roundings(name));
        names.split_whitespace().map(line)
    });
    let binary = BINARY.iter().flat_map(|(x, y, names)| {
        let line =
            move |name: &str| format!("{x}[n] {y}[n] | R.{name}({x}, {y}) | {}", roundings(name));
        names.split_whitespace().map(line)
    });
    let calls = CALLS.lines().filter(|line| !line.is_empty());
    let lines = unary.chain(binary).chain(calls.map(str::to_owned));
    lines.map(|line| Row::parse(&line)).collect()
}

/// How often elementwise operators round on the way: those that are one function of the math library once.
fn roundings(name: &str) -> usize {
    match name {
        "nn.leakyrelu" => 2,
        "nn.celu" | "nn.elu" | "nn.selu" | "nn.hardsigmoid" | "nn.shrink" | "nn.softsign" => 3,
        "sigmoid" | "nn.silu" | "nn.softplus" | "log_add_exp" | "nn.hardswish" => 4,
        "nn.gelu" | "nn.gelu_tanh" | "nn.mish" => 8,
        _ => 1,
    }
}

/// What rounding to the type so often, in steps of `float32` or better, may change.
fn tolerance(ty: ScalarType, roundings: usize) -> Tolerance {
    match ty {
        ScalarType::F16 | ScalarType::BF16 => {
            let epsilon = match ty {
                ScalarType::F16 => half::f16::EPSILON.to_f64(),
                _ => half::bf16::EPSILON.to_f64(),
            };
            let rounded = epsilon / 2.0 * roundings as f64;
            Tolerance {
                relative: rounded + Tolerance::of(ScalarType::F32, 1).relative,
                of_largest: if roundings > 1 { rounded } else { 0.0 },
            }
        }
        _ => Tolerance::of(ty, roundings),
    }
}

/// The result of the call in the widest type of the kind, each tensor converted to the type that it has for `dtype`.
fn expected(row: &Row, dtype: DType, n: usize) -> Vec<Tensor> {
    let ret = row
        .module(dtype)
        .function("main")
        .expect("it is there")
        .ret
        .clone();
    let types = match &ret {
        StructInfo::Tuple(items) => items.clone(),
        single => vec![single.clone()],
    };
    let wide = match dtype.scalar {
        ScalarType::Bool => DType::BOOL,
        ty if ty.is_float() => DType::F64,
        _ => DType::I64,
    };
    let narrow = |(tensor, info): (Tensor, &StructInfo)| {
        let to = info
            .as_tensor()
            .and_then(|info| info.dtype)
            .expect("a tensor");
        let mut bytes = vec![0; tensor.len() * to.bytes()];
        for (value, out) in elements(&tensor).zip(bytes.chunks_mut(to.bytes())) {
            encode(
                eval_cast(value, tensor.dtype().scalar, to.scalar),
                to.scalar,
                out,
            );
        }
        Tensor::from_bytes(to, tensor.shape(), &bytes).expect("as many bytes")
    };
    let results = interpreted(row, dtype.scalar, wide, n).into_iter();
    results.zip(&types).map(narrow).collect()
}

/// What the interpreter gives for the call with operands of this type, of numbers that the type `like` has.
pub(super) fn interpreted(row: &Row, like: ScalarType, dtype: DType, n: usize) -> Vec<Tensor> {
    let of = |o: &Operand| interp::Value::Tensor(o.tensor(like, dtype, n));
    let args: Vec<_> = row.operands.iter().map(of).collect();
    let result = interp::run_module(&row.module(dtype), "main", &args, &Default::default());
    let results = match result {
        Ok(interp::Value::Tuple(items)) => items,
        Ok(single) => vec![single],
        Err(error) => panic!("{}: {error}", row.text(dtype)),
    };
    let tensor = |value: interp::Value| match value {
        interp::Value::Tensor(tensor) => tensor,
        _ => panic!("{}: no tensor", row.call),
    };
    results.into_iter().map(tensor).collect()
}

/// Whether row `at` runs on GPUs. Types that differ from another one in width or sign alone run a quarter of the rows there, each
/// another quarter.
fn on_gpus(ty: ScalarType, at: usize) -> bool {
    let quarters = [
        ScalarType::I16,
        ScalarType::U16,
        ScalarType::U32,
        ScalarType::U64,
    ];
    match quarters.iter().position(|other| *other == ty) {
        Some(quarter) => at % quarters.len() == quarter,
        None => !matches!(ty, ScalarType::F64 | ScalarType::BF16),
    }
}

/// Runs every call that takes the type.
fn run(ty: ScalarType) {
    let dtype = DType::of(ty);
    let mut cases = Cases::default();
    for (at, row) in rows().iter().enumerate() {
        if !row.takes(dtype) {
            continue;
        }
        let types = row.types(dtype);
        let types: Vec<&str> = types.iter().map(String::as_str).collect();
        // Calls of one program with other extents share its kernels.
        for &n in if row.is_symbolic() {
            &[7, 0, 1][..]
        } else {
            &[7]
        } {
            let names = row.operands.iter().map(|o| o.letter.to_string());
            let names: Vec<String> = names.collect();
            let tensors = row.operands.iter().map(|o| o.tensor(ty, dtype, n));
            let tensors: Vec<Tensor> = tensors.collect();
            let inputs = names.iter().map(String::as_str).zip(&tensors);
            let inputs: Vec<_> = inputs.collect();
            let expected = expected(row, dtype, n);
            let allowed = expected
                .iter()
                .map(|t| tolerance(t.dtype().scalar, row.roundings));
            let allowed = allowed.reduce(Tolerance::max).expect("a result");
            let case = cases.case_of(&row.text(dtype), &types, &inputs, &expected);
            case.within(allowed);
            if !on_gpus(ty, at) {
                case.not_on_gpus();
            }
        }
    }
    cases.run();
}

/// Operators whose results have extents that depend on the width of the type, so that no wider type says what they are:
/// `quantize::numbers_of_a_few_bits` calls them for all types.
const BY_WIDTH: &[&str] = &["unpack_bits"];

#[test]
fn all_operators_have_a_call() {
    let rows = rows();
    let called: BTreeSet<&str> = rows.iter().map(Row::op).collect();
    let missing = ops::all().filter(|def| {
        let by_loops = matches!(def.compute, Compute::Kernel(_) | Compute::View(_));
        let elsewhere = BY_WIDTH.contains(&def.schema.name);
        by_loops && !elsewhere && !called.contains(def.schema.name)
    });
    let missing: Vec<&str> = missing.map(|def| def.schema.name).collect();
    assert!(
        missing.is_empty(),
        "no call in tests/ops/catalog.rs: {missing:?}"
    );
}

macro_rules! types {
    ($($name:ident $ty:ident),*) => { $(
        #[test]
        fn $name() {
            run(ScalarType::$ty);
        }
    )* };
}
types!(
    float16 F16, bfloat16 BF16, float32 F32, float64 F64, int8 I8, int16 I16, int32 I32, int64 I64, uint8 U8, uint16 U16,
    uint32 U32, uint64 U64, boolean Bool
);
