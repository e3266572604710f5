//! Element types of at most eight bits that only storage has: floats of 8, 6 and 4 bits, integers of 4, 2 and 1.
//!
//! An element takes a byte in host memory: a float its bits as the low ones, an integer its value. Values are rounded to the nearest one, ties to the even one.
//! A value past the greatest one becomes an infinity where the type has one, else a NaN, else the greatest value.
//!
//! # References
//! OCP 8-bit Floating Point Specification 1.0; OCP Microscaling Formats Specification 1.0; the types `fnuz` are those of Noune et
//! al., "8-bit Numerical Formats for Deep Neural Networks".

use serde::{Deserialize, Serialize};

/// A type of small elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "TVM's names in another case")]
pub enum SmallType {
    I1,
    I2,
    I4,
    U1,
    U2,
    U4,
    F8E3M4,
    F8E4M3,
    F8E4M3B11Fnuz,
    F8E4M3Fn,
    F8E4M3Fnuz,
    F8E5M2,
    F8E5M2Fnuz,
    F8E8M0Fnu,
    F6E2M3Fn,
    F6E3M2Fn,
    F4E2M1Fn,
}

impl std::fmt::Display for SmallType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// How the bits of a small float are read.
#[derive(Clone, Copy)]
struct Format {
    /// Bits of the exponent.
    exponent: u32,
    /// Bits of the mantissa.
    mantissa: u32,
    /// What is subtracted from the exponent.
    bias: i32,
    /// Which codes are no numbers.
    special: Special,
}

/// Which codes of a small float are no numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// As in IEEE 754: the greatest exponent is for infinities and NaN.
    Ieee,
    /// All ones is NaN, of either sign.
    Ones,
    /// The code of -0 is NaN.
    NegativeZero,
    /// All ones is NaN; there is no sign, no zero, and no value with a smaller exponent.
    Unsigned,
    /// None.
    None,
}

impl SmallType {
    /// All types, in declaration order.
    pub const ALL: [Self; 17] = [
        Self::I1,
        Self::I2,
        Self::I4,
        Self::U1,
        Self::U2,
        Self::U4,
        Self::F8E3M4,
        Self::F8E4M3,
        Self::F8E4M3B11Fnuz,
        Self::F8E4M3Fn,
        Self::F8E4M3Fnuz,
        Self::F8E5M2,
        Self::F8E5M2Fnuz,
        Self::F8E8M0Fnu,
        Self::F6E2M3Fn,
        Self::F6E3M2Fn,
        Self::F4E2M1Fn,
    ];

    /// TVM's name, as in `"float8_e4m3fn"`.
    pub fn name(self) -> &'static str {
        match self {
            Self::I1 => "int1",
            Self::I2 => "int2",
            Self::I4 => "int4",
            Self::U1 => "uint1",
            Self::U2 => "uint2",
            Self::U4 => "uint4",
            Self::F8E3M4 => "float8_e3m4",
            Self::F8E4M3 => "float8_e4m3",
            Self::F8E4M3B11Fnuz => "float8_e4m3b11fnuz",
            Self::F8E4M3Fn => "float8_e4m3fn",
            Self::F8E4M3Fnuz => "float8_e4m3fnuz",
            Self::F8E5M2 => "float8_e5m2",
            Self::F8E5M2Fnuz => "float8_e5m2fnuz",
            Self::F8E8M0Fnu => "float8_e8m0fnu",
            Self::F6E2M3Fn => "float6_e2m3fn",
            Self::F6E3M2Fn => "float6_e3m2fn",
            Self::F4E2M1Fn => "float4_e2m1fn",
        }
    }

    /// Bits of an element.
    pub fn bits(self) -> u32 {
        match self {
            Self::I1 | Self::U1 => 1,
            Self::I2 | Self::U2 => 2,
            Self::I4 | Self::U4 | Self::F4E2M1Fn => 4,
            Self::F6E2M3Fn | Self::F6E3M2Fn => 6,
            Self::F8E3M4
            | Self::F8E4M3
            | Self::F8E4M3B11Fnuz
            | Self::F8E4M3Fn
            | Self::F8E4M3Fnuz
            | Self::F8E5M2
            | Self::F8E5M2Fnuz
            | Self::F8E8M0Fnu => 8,
        }
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        self.format().is_some()
    }

    /// Whether it is a signed integer.
    pub fn is_signed_int(self) -> bool {
        matches!(self, Self::I1 | Self::I2 | Self::I4)
    }

    /// Whether it is an unsigned integer.
    pub fn is_unsigned_int(self) -> bool {
        matches!(self, Self::U1 | Self::U2 | Self::U4)
    }

    /// Least and greatest value of an integer type.
    pub fn int_range(self) -> Option<(i64, i64)> {
        if self.is_float() {
            return None;
        }
        let count = 1 << self.bits();
        Some(if self.is_signed_int() {
            (-count / 2, count / 2 - 1)
        } else {
            (0, count - 1)
        })
    }

    /// An integer brought into the width of an integer type by dropping high bits.
    pub fn wrap_int(self, value: i64) -> i64 {
        let unused = 64 - self.bits();
        if self.is_signed_int() {
            value << unused >> unused
        } else {
            value & !(-1 << self.bits())
        }
    }

    /// Greatest finite value of a float type; 0 for an integer type.
    pub fn max_finite(self) -> f64 {
        self.format().map_or(0.0, Format::max_finite)
    }

    /// Distance from 1 to the next greater value of a float type; 0 for an integer type.
    pub fn epsilon(self) -> f64 {
        let format = self.format();
        format.map_or(0.0, |format| 2f64.powi(-(format.mantissa as i32)))
    }

    /// The value of a float type that is nearest to a number; an integer type has the number itself.
    pub fn round(self, value: f64) -> f64 {
        self.format().map_or(value, |format| format.round(value))
    }

    /// The float that this code stands for. Bits past those of the type are ignored.
    pub fn decode_float(self, code: u8) -> f64 {
        self.format().map_or(0.0, |format| format.decode(code))
    }

    /// The code of the float that is nearest to a number.
    pub fn encode_float(self, value: f64) -> u8 {
        self.format().map_or(0, |format| format.encode(value))
    }

    fn format(self) -> Option<Format> {
        let format = |exponent, mantissa, bias, special| Format {
            exponent,
            mantissa,
            bias,
            special,
        };
        Some(match self {
            Self::I1 | Self::I2 | Self::I4 | Self::U1 | Self::U2 | Self::U4 => return None,
            Self::F8E3M4 => format(3, 4, 3, Special::Ieee),
            Self::F8E4M3 => format(4, 3, 7, Special::Ieee),
            Self::F8E4M3B11Fnuz => format(4, 3, 11, Special::NegativeZero),
            Self::F8E4M3Fn => format(4, 3, 7, Special::Ones),
            Self::F8E4M3Fnuz => format(4, 3, 8, Special::NegativeZero),
            Self::F8E5M2 => format(5, 2, 15, Special::Ieee),
            Self::F8E5M2Fnuz => format(5, 2, 16, Special::NegativeZero),
            Self::F8E8M0Fnu => format(8, 0, 127, Special::Unsigned),
            Self::F6E2M3Fn => format(2, 3, 1, Special::None),
            Self::F6E3M2Fn => format(3, 2, 3, Special::None),
            Self::F4E2M1Fn => format(2, 1, 1, Special::None),
        })
    }
}

impl Format {
    /// The code of 1 as a sign: past all codes of numbers that are not negative.
    fn sign(self) -> u8 {
        1u8.checked_shl(self.exponent + self.mantissa).unwrap_or(0)
    }

    /// The exponent of the smallest values.
    fn least_exponent(self) -> i32 {
        match self.special {
            Special::Unsigned => -self.bias,
            Special::Ieee | Special::Ones | Special::NegativeZero | Special::None => 1 - self.bias,
        }
    }

    /// The code of the greatest finite value.
    fn greatest(self) -> u8 {
        let all = self.sign().wrapping_sub(1);
        match self.special {
            Special::Ieee => all - (1 << self.mantissa),
            Special::Ones | Special::Unsigned => all - 1,
            Special::NegativeZero | Special::None => all,
        }
    }

    fn max_finite(self) -> f64 {
        self.magnitude(self.greatest())
    }

    /// The number that a code without sign stands for, read as a finite one.
    fn magnitude(self, code: u8) -> f64 {
        let exponent = i32::from(code) >> self.mantissa;
        let mantissa = f64::from(i32::from(code) & ((1 << self.mantissa) - 1));
        let hidden = if exponent == 0 && self.special != Special::Unsigned {
            0.0
        } else {
            f64::from(1u32 << self.mantissa)
        };
        let scale = (exponent - self.bias).max(self.least_exponent()) - self.mantissa as i32;
        (hidden + mantissa) * 2f64.powi(scale)
    }

    fn decode(self, code: u8) -> f64 {
        let sign = self.sign();
        let all = sign.wrapping_sub(1);
        let (negative, code) = (code & sign != 0, code & all);
        let special = match self.special {
            Special::Ieee if code > self.greatest() + 1 => Some(f64::NAN),
            Special::Ieee if code > self.greatest() => Some(f64::INFINITY),
            Special::Ones | Special::Unsigned if code == all => Some(f64::NAN),
            Special::NegativeZero if negative && code == 0 => Some(f64::NAN),
            _ => None,
        };
        let magnitude = special.unwrap_or_else(|| self.magnitude(code));
        if negative { -magnitude } else { magnitude }
    }

    fn round(self, value: f64) -> f64 {
        let magnitude = value.abs();
        if self.special == Special::Unsigned && (value.is_sign_negative() || value == 0.0) {
            return f64::NAN;
        }
        if value.is_nan() {
            return match self.special {
                Special::None => -0.0,
                Special::Ieee | Special::Ones | Special::NegativeZero | Special::Unsigned => value,
            };
        }
        let max = self.max_finite();
        let rounded = if magnitude.is_infinite() {
            magnitude
        } else {
            let quantum = 2f64.powi(self.exponent_of(magnitude) - self.mantissa as i32);
            (magnitude / quantum).round_ties_even() * quantum
        };
        let rounded = match self.special {
            Special::Unsigned => rounded.max(self.magnitude(0)),
            _ => rounded,
        };
        let rounded = match self.special {
            _ if rounded <= max => rounded,
            Special::Ieee => f64::INFINITY,
            Special::Ones | Special::NegativeZero | Special::Unsigned => return f64::NAN,
            Special::None => max,
        };
        if rounded == 0.0 && self.special == Special::NegativeZero {
            return 0.0;
        }
        rounded.copysign(value)
    }

    /// The exponent of a finite number that is not negative, at least that of the smallest values.
    fn exponent_of(self, magnitude: f64) -> i32 {
        let bits = (magnitude.to_bits() >> 52) as i32 - 1023;
        bits.max(self.least_exponent())
    }

    fn encode(self, value: f64) -> u8 {
        let value = self.round(value);
        let (sign, all) = (self.sign(), self.sign().wrapping_sub(1));
        let negative = if value.is_sign_negative() { sign } else { 0 };
        let infinity = self.greatest().wrapping_add(1);
        if value.is_nan() {
            let quiet = (1u8 << self.mantissa) >> 1;
            return match self.special {
                // A quiet NaN has the first bit of its mantissa.
                Special::Ieee => negative | infinity | quiet,
                Special::Ones => negative | all,
                Special::Unsigned => all,
                Special::NegativeZero | Special::None => sign,
            };
        }
        if value.is_infinite() {
            return negative | infinity;
        }
        let magnitude = value.abs();
        let exponent = self.exponent_of(magnitude);
        let digits = magnitude / 2f64.powi(exponent - self.mantissa as i32);
        let hidden = match self.special {
            Special::Unsigned => 1,
            _ => i32::from(digits >= f64::from(1u32 << self.mantissa)),
        };
        // Where there is no hidden bit, the exponent is written as 0.
        let exponent = if hidden == 1 { exponent + self.bias } else { 0 };
        let mantissa = digits as i32 - (hidden << self.mantissa);
        negative | ((exponent << self.mantissa) + mantissa) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats() -> impl Iterator<Item = SmallType> {
        SmallType::ALL.into_iter().filter(|ty| ty.is_float())
    }

    /// Every code of a type.
    fn codes(ty: SmallType) -> impl Iterator<Item = u8> {
        (0..1u32 << ty.bits()).map(|code| code as u8)
    }

    #[test]
    fn codes_are_those_of_other_implementations() {
        use SmallType::*;
        // 1, -1.5, NaN, infinity, -0 and 1e30, as `ml_dtypes` encodes them.
        let expected = [
            (F8E3M4, [0x30, 0xb8, 0x78, 0x70, 0x80, 0x70]),
            (F8E4M3, [0x38, 0xbc, 0x7c, 0x78, 0x80, 0x78]),
            (F8E4M3B11Fnuz, [0x58, 0xdc, 0x80, 0x80, 0x00, 0x80]),
            (F8E4M3Fn, [0x38, 0xbc, 0x7f, 0x7f, 0x80, 0x7f]),
            (F8E4M3Fnuz, [0x40, 0xc4, 0x80, 0x80, 0x00, 0x80]),
            (F8E5M2, [0x3c, 0xbe, 0x7e, 0x7c, 0x80, 0x7c]),
            (F8E5M2Fnuz, [0x40, 0xc2, 0x80, 0x80, 0x00, 0x80]),
            (F8E8M0Fnu, [0x7f, 0xff, 0xff, 0xff, 0xff, 0xe3]),
            (F6E2M3Fn, [0x08, 0x2c, 0x20, 0x1f, 0x20, 0x1f]),
            (F6E3M2Fn, [0x0c, 0x2e, 0x20, 0x1f, 0x20, 0x1f]),
            (F4E2M1Fn, [0x02, 0x0b, 0x08, 0x07, 0x08, 0x07]),
        ];
        assert_eq!(expected.len(), floats().count());
        for (ty, codes) in expected {
            let got = [1.0, -1.5, f64::NAN, f64::INFINITY, -0.0, 1e30].map(|v| ty.encode_float(v));
            assert_eq!(got, codes, "{}", ty.name());
        }
        let greatest = [
            (F8E3M4, 15.5),
            (F8E4M3, 240.0),
            (F8E4M3B11Fnuz, 30.0),
            (F8E4M3Fn, 448.0),
            (F8E4M3Fnuz, 240.0),
            (F8E5M2, 57344.0),
            (F8E5M2Fnuz, 57344.0),
            (F8E8M0Fnu, 1.701_411_834_604_692_3e38),
            (F6E2M3Fn, 7.5),
            (F6E3M2Fn, 28.0),
            (F4E2M1Fn, 6.0),
        ];
        for (ty, value) in greatest {
            assert_eq!(ty.max_finite(), value, "{}", ty.name());
        }
    }

    #[test]
    fn codes_and_values_are_one_to_one() {
        for ty in floats() {
            for code in codes(ty) {
                let value = ty.decode_float(code);
                let back = ty.decode_float(ty.encode_float(value));
                assert!(value.to_bits() == back.to_bits() || value.is_nan() && back.is_nan());
                if !value.is_nan() {
                    assert_eq!(ty.encode_float(value), code, "{} {value}", ty.name());
                    assert_eq!(ty.round(value).to_bits(), value.to_bits(), "{}", ty.name());
                }
            }
        }
    }

    #[test]
    fn values_are_rounded_to_the_nearest_one() {
        for ty in floats() {
            let mut finite: Vec<f64> = codes(ty).map(|code| ty.decode_float(code)).collect();
            finite.retain(|value| value.is_finite() && value.is_sign_positive());
            finite.sort_by(f64::total_cmp);
            for pair in finite.windows(2) {
                let [low, high] = [pair[0], pair[1]];
                let middle = (low + high) / 2.0;
                assert_eq!(ty.round(middle.next_down()), low, "{} {middle}", ty.name());
                assert_eq!(ty.round(middle.next_up()), high, "{} {middle}", ty.name());
                let even = if ty.encode_float(low) & 1 == 0 {
                    low
                } else {
                    high
                };
                if ty != SmallType::F8E8M0Fnu {
                    assert_eq!(ty.round(middle), even, "{} {middle}", ty.name());
                }
            }
        }
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(
            [7, 8, -9, 100].map(|v| SmallType::I4.wrap_int(v)),
            [7, -8, 7, 4]
        );
        assert_eq!([15, 16, -1].map(|v| SmallType::U4.wrap_int(v)), [15, 0, 15]);
        assert_eq!([1, 0].map(|v| SmallType::I1.wrap_int(v)), [-1, 0]);
        assert_eq!(SmallType::I2.int_range(), Some((-2, 1)));
        assert_eq!(SmallType::U1.int_range(), Some((0, 1)));
    }
}
