//! Functions that the emitted text brings along: operations that WGSL lacks, and those whose accuracy it leaves open.
//!
//! The text of a helper writes `@name` for itself and for each helper that it calls; the namer gives the true names, so that a
//! program whose function or array is called like a helper is no trouble. No helper has a loop: lavapipe counts the passes of
//! all loops of a thread together.

mod float;
mod int;
mod power;
mod trig;
mod wide;

use std::collections::BTreeMap;

use super::names::Namer;

/// Lists the helpers once: variant, name in the text, and the file that has its text.
macro_rules! helpers {
    ($($variant:ident $name:literal $text:path,)*) => {
        /// A function in the emitted text.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub(super) enum Helper {
            $($variant,)*
        }

        impl Helper {
            /// All helpers.
            pub(super) const ALL: &[Self] = &[$(Self::$variant,)*];

            /// What it is called, unless the program has taken the name.
            pub(super) fn wanted(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}

helpers! {
    Acos "acos_f32" trig::ACOS,
    Acosh "acosh_f32" power::ACOSH,
    Asin "asin_f32" trig::ASIN,
    AsinSmall "asin_small" trig::ASIN_SMALL,
    Asinh "asinh_f32" power::ASINH,
    Atan "atan_f32" trig::ATAN,
    Atan2 "atan2_f32" trig::ATAN2,
    Atanh "atanh_f32" power::ATANH,
    Cos "cos_f32" trig::COS,
    Cosh "cosh_f32" power::COSH,
    Dp4aU8S8 "dp4a_u8s8s32" int::DP4A_U8S8,
    Eighth "eighth_f32" trig::EIGHTH,
    Erf "erf" float::ERF,
    Exp "exp_f32" power::EXP,
    Exp10 "exp10_f32" power::EXP10,
    ExpTail "exp_tail" power::EXP_TAIL,
    Expm1 "expm1_f32" power::EXPM1,
    F32FromBits "f32_from_bits" float::F32_FROM_BITS,
    F32ToI32 "f32_to_i32" float::F32_TO_I32,
    F32ToI64 "f32_to_i64" wide::F32_TO_I64,
    F32ToU32 "f32_to_u32" float::F32_TO_U32,
    F32ToU64 "f32_to_u64" wide::F32_TO_U64,
    FloorDiv "floor_div" int::FLOOR_DIV,
    FloorMod "floor_mod" int::FLOOR_MOD,
    FloorQuotient "floor_quotient_f32" float::FLOOR_QUOTIENT,
    FloorRemainder "floor_remainder_f32" float::FLOOR_REMAINDER,
    I64Abs "i64_abs" wide::I64_ABS,
    I64Div "i64_div" wide::I64_DIV,
    I64FloorDiv "i64_floor_div" wide::I64_FLOOR_DIV,
    I64FloorMod "i64_floor_mod" wide::I64_FLOOR_MOD,
    I64FromI32 "i64_from_i32" wide::I64_FROM_I32,
    I64Less "i64_less" wide::I64_LESS,
    I64Mod "i64_mod" wide::I64_MOD,
    I64Shr "i64_shr" wide::I64_SHR,
    I64ToF32 "i64_to_f32" wide::I64_TO_F32,
    Ln "ln_f32" power::LN,
    Log "log_f32" power::LOG,
    Log2 "log2_f32" power::LOG2,
    LastPlaces "last_places" float::LAST_PLACES,
    LogNearOne "log_near_one" power::LOG_NEAR_ONE,
    LogTail "log_tail" power::LOG_TAIL,
    Log1p "log1p_f32" power::LOG1P,
    Pow "pow_f32" power::POW,
    PowPositive "pow_positive" power::POW_POSITIVE,
    PowU32 "pow_u32" int::POW_U32,
    PowU32Digit "pow_u32_digit" int::POW_U32_DIGIT,
    PowU64 "pow_u64" wide::POW_U64,
    PowU64Digit "pow_u64_digit" wide::POW_U64_DIGIT,
    PowU64Bit "pow_u64_bit" wide::POW_U64_BIT,
    Quadrant "quadrant_f32" trig::QUADRANT,
    Ratio "ratio_f32" trig::RATIO,
    Remainder "remainder_f32" float::REMAINDER,
    RemainderPlaces "remainder_places" float::REMAINDER_PLACES,
    RemainderStep "remainder_step" float::REMAINDER_STEP,
    Scale "scale_f32" float::SCALE,
    Significand "significand" float::SIGNIFICAND,
    Sin "sin_f32" trig::SIN,
    Sinh "sinh_f32" power::SINH,
    Split "split_f32" power::SPLIT,
    Tan "tan_f32" trig::TAN,
    Tanh "tanh_f32" power::TANH,
    U32MulWide "u32_mul_wide" wide::U32_MUL_WIDE,
    U32ToF32 "u32_to_f32" wide::U32_TO_F32,
    U64Div "u64_div" wide::U64_DIV,
    U64DivNarrow "u64_div_narrow" wide::U64_DIV_NARROW,
    U64Less "u64_less" wide::U64_LESS,
    U64Mod "u64_mod" wide::U64_MOD,
    U64Shr "u64_shr" wide::U64_SHR,
    U64ToF32 "u64_to_f32" wide::U64_TO_F32,
    Upper "upper_f32" power::UPPER,
    WideAdd "wide_add" wide::ADD,
    WideDigit "wide_digit" wide::WIDE_DIGIT,
    WideMul "wide_mul" wide::MUL,
    WideNeg "wide_neg" wide::NEG,
    WideShl "wide_shl" wide::SHL,
    WideSub "wide_sub" wide::SUB,
}

/// The helpers of one shader, with their names.
#[derive(Default)]
pub(super) struct Helpers {
    names: BTreeMap<Helper, String>,
}

impl Helpers {
    /// The name of a helper, which the shader then has, with all that it calls.
    pub(super) fn name(&mut self, helper: Helper, namer: &mut Namer) -> String {
        if let Some(name) = self.names.get(&helper) {
            return name.clone();
        }
        let name = namer.name(helper.wanted());
        self.names.insert(helper, name.clone());
        for called in calls(helper.text()) {
            self.name(called, namer);
        }
        name
    }

    /// The text of all, each followed by an empty line.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for helper in self.names.keys() {
            let mut parts = helper.text().split('@');
            text.push_str(parts.next().unwrap_or(""));
            for part in parts {
                let (wanted, rest) = part.split_at(word(part));
                let name = find(wanted).and_then(|helper| self.names.get(&helper));
                text.push_str(name.map_or(wanted, String::as_str));
                text.push_str(rest);
            }
            text.push('\n');
        }
        text
    }
}

/// The helpers that a text names.
fn calls(text: &str) -> impl Iterator<Item = Helper> {
    text.split('@')
        .skip(1)
        .filter_map(|part| find(&part[..word(part)]))
}

/// Length of the name that a text begins with.
fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len())
}

fn find(wanted: &str) -> Option<Helper> {
    Helper::ALL
        .iter()
        .copied()
        .find(|helper| helper.wanted() == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_a_text_is_a_helper() {
        for helper in Helper::ALL {
            let named = helper.text().matches('@').count();
            assert_eq!(calls(helper.text()).count(), named, "{helper:?}");
            assert!(
                helper
                    .text()
                    .starts_with(&format!("fn @{}(", helper.wanted()))
            );
        }
    }
}
