//! Functions of the host that generated code calls: those of the math library.
//!
//! They are declared in the module in a fixed order before any kernel, so a helper's position in the table is its number in
//! the code too.

use std::collections::BTreeMap;

use cranelift_codegen::ir::{
    AbiParam, ExtFuncData, ExternalName, FuncRef, InstBuilder, Signature, Type, UserExternalName,
    Value, types,
};
use cranelift_codegen::isa::TargetIsa;

use super::emit::Emitter;
use crate::tensor::ScalarType;
use crate::tensor::scalar::{Intrin, Scalar, eval_intrin, wrapping_pow};

/// A function of the host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Helper {
    /// An intrinsic function of `f32`.
    F32(usize),
    /// An intrinsic function of `f64`.
    F64(usize),
    /// Power of `i64`; an exponent that is negative counts as the unsigned number with its bits.
    PowI64,
}

/// Declares, for each math function, a form for `f32` and one for `f64`.
macro_rules! math {
    ($($intrin:ident, $f32:ident, $f64:ident, ($($arg:ident),*), $single:expr, $double:expr;)*) => {
        $(
            extern "C" fn $f32($($arg: f32),*) -> f32 { $single }
            extern "C" fn $f64($($arg: f64),*) -> f64 { $double }
        )*
        /// Intrinsic, address of the `f32` form, address of the `f64` form.
        fn math_table() -> Vec<(Intrin, *const u8, *const u8)> {
            vec![$((Intrin::$intrin, $f32 as *const u8, $f64 as *const u8)),*]
        }
        /// The intrinsics of the table, in order.
        const MATH: &[Intrin] = &[$(Intrin::$intrin),*];
    };
}

math! {
    Exp, exp_f32, exp_f64, (x), x.exp(), x.exp();
    Exp2, exp2_f32, exp2_f64, (x), x.exp2(), x.exp2();
    Exp10, exp10_f32, exp10_f64, (x), libm::exp10f(x), libm::exp10(x);
    Log, log_f32, log_f64, (x), x.ln(), x.ln();
    Log2, log2_f32, log2_f64, (x), x.log2(), x.log2();
    Log10, log10_f32, log10_f64, (x), x.log10(), x.log10();
    Log1p, log1p_f32, log1p_f64, (x), x.ln_1p(), x.ln_1p();
    Expm1, expm1_f32, expm1_f64, (x), in_double(Intrin::Expm1, x), x.exp_m1();
    Sin, sin_f32, sin_f64, (x), x.sin(), x.sin();
    Cos, cos_f32, cos_f64, (x), x.cos(), x.cos();
    Tan, tan_f32, tan_f64, (x), x.tan(), x.tan();
    Sinh, sinh_f32, sinh_f64, (x), x.sinh(), x.sinh();
    Cosh, cosh_f32, cosh_f64, (x), x.cosh(), x.cosh();
    Tanh, tanh_f32, tanh_f64, (x), x.tanh(), x.tanh();
    Asin, asin_f32, asin_f64, (x), x.asin(), x.asin();
    Acos, acos_f32, acos_f64, (x), x.acos(), x.acos();
    Atan, atan_f32, atan_f64, (x), x.atan(), x.atan();
    Asinh, asinh_f32, asinh_f64, (x), in_double(Intrin::Asinh, x), x.asinh();
    Acosh, acosh_f32, acosh_f64, (x), in_double(Intrin::Acosh, x), x.acosh();
    Atanh, atanh_f32, atanh_f64, (x), in_double(Intrin::Atanh, x), x.atanh();
    Atan2, atan2_f32, atan2_f64, (y, x), y.atan2(x), y.atan2(x);
    Erf, erf_f32, erf_f64, (x), libm::erff(x), libm::erf(x);
    Sigmoid, sigmoid_f32, sigmoid_f64, (x), 1.0 / (1.0 + (-x).exp()), 1.0 / (1.0 + (-x).exp());
    Pow, pow_f32, pow_f64, (x, y), x.powf(y), x.powf(y);
    Fmod, fmod_f32, fmod_f64, (x, y), x % y, x % y;
    Floor, floor_f32, floor_f64, (x), x.floor(), x.floor();
    Ceil, ceil_f32, ceil_f64, (x), x.ceil(), x.ceil();
    Trunc, trunc_f32, trunc_f64, (x), x.trunc(), x.trunc();
    Round, round_f32, round_f64, (x), x.round_ties_even(), x.round_ties_even();
}

/// Functions whose `f32` form in the standard library loses digits.
fn in_double(intrin: Intrin, x: f32) -> f32 {
    eval_intrin(intrin, ScalarType::F32, &[Scalar::Float(x.into())])
        .map_or(f32::NAN, |value| value.as_float() as f32)
}

extern "C" fn pow_i64(x: i64, y: i64) -> i64 {
    wrapping_pow(x, y as u64)
}

impl Helper {
    /// The math function for lanes of this type, if it is a call.
    pub(super) fn math(intrin: Intrin, lane: Type) -> Option<Self> {
        let index = MATH.iter().position(|&m| m == intrin)?;
        Some(if lane == types::F64 {
            Self::F64(index)
        } else {
            Self::F32(index)
        })
    }

    /// Position in the table.
    fn index(self) -> usize {
        match self {
            Self::F32(i) => 2 * i,
            Self::F64(i) => 2 * i + 1,
            Self::PowI64 => 2 * MATH.len(),
        }
    }

    fn signature(self, isa: &dyn TargetIsa) -> Signature {
        let (ty, arity) = match self {
            Self::F32(i) => (types::F32, MATH[i].arity()),
            Self::F64(i) => (types::F64, MATH[i].arity()),
            Self::PowI64 => (types::I64, 2),
        };
        let mut signature = Signature::new(isa.default_call_conv());
        signature.params.resize(arity, AbiParam::new(ty));
        signature.returns.push(AbiParam::new(ty));
        signature
    }
}

/// One entry of the table of helpers.
pub(super) struct Symbol {
    pub(super) name: String,
    pub(super) address: *const u8,
    pub(super) signature: Signature,
}

/// All helpers, each at its position.
pub(super) fn symbols(isa: &dyn TargetIsa) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    let mut add = |helper: Helper, name: String, address| {
        symbols.push(Symbol {
            name: format!("weftile_{name}"),
            address,
            signature: helper.signature(isa),
        });
    };
    for (i, (intrin, single, double)) in math_table().into_iter().enumerate() {
        add(Helper::F32(i), format!("{}_f32", intrin.name()), single);
        add(Helper::F64(i), format!("{}_f64", intrin.name()), double);
    }
    add(Helper::PowI64, "pow_i64".into(), pow_i64 as *const u8);
    symbols
}

/// The helpers that the current function has imported.
#[derive(Default)]
pub(super) struct HelperRefs(BTreeMap<Helper, FuncRef>);

impl Emitter<'_, '_> {
    pub(super) fn call(&mut self, helper: Helper, args: &[Value]) -> Value {
        let func = match self.helpers.0.get(&helper) {
            Some(&func) => func,
            None => self.import(helper),
        };
        let call = self.b.ins().call(func, args);
        self.b.inst_results(call)[0]
    }

    fn import(&mut self, helper: Helper) -> FuncRef {
        let signature = self.b.import_signature(helper.signature(self.isa));
        let index = helper.index() as u32;
        let name = self
            .b
            .func
            .declare_imported_user_function(UserExternalName::new(0, index));
        let func = self.b.import_function(ExtFuncData {
            name: ExternalName::user(name),
            signature,
            colocated: false,
            patchable: false,
        });
        self.helpers.0.insert(helper, func);
        func
    }
}
