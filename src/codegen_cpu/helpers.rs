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
use super::isa::call_conv;
use crate::codegen_common::math::{MATH, math_table, pow_i64};
use crate::tensor::scalar::Intrin;

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
        let mut signature = Signature::new(call_conv(isa));
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
