//! Element types: a scalar type and a number of lanes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::SmallType;

/// Type of one element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it: kind and number of bits")]
pub enum ScalarType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
    /// A type of at most eight bits that only storage has.
    Small(SmallType),
}

impl ScalarType {
    /// All types that devices compute with, in declaration order; [`SmallType::ALL`] has the others.
    pub const ALL: [Self; 13] = [
        Self::Bool,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
    ];

    /// TVM's name, as in `"float32"`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::U8 => "uint8",
            Self::U16 => "uint16",
            Self::U32 => "uint32",
            Self::U64 => "uint64",
            Self::F16 => "float16",
            Self::BF16 => "bfloat16",
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::Small(small) => small.name(),
        }
    }

    /// Bytes of one element in host memory.
    pub fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 | Self::Small(_) => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Bits of one element that carry its value.
    pub fn bits(self) -> u32 {
        match self {
            Self::Small(small) => small.bits(),
            whole => 8 * whole.bytes() as u32,
        }
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        match self {
            Self::F16 | Self::BF16 | Self::F32 | Self::F64 => true,
            Self::Small(small) => small.is_float(),
            _ => false,
        }
    }

    /// Whether it is a signed integer.
    pub fn is_signed_int(self) -> bool {
        match self {
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => true,
            Self::Small(small) => small.is_signed_int(),
            _ => false,
        }
    }

    /// Whether it is an unsigned integer; `bool` is not.
    pub fn is_unsigned_int(self) -> bool {
        match self {
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => true,
            Self::Small(small) => small.is_unsigned_int(),
            _ => false,
        }
    }

    /// Whether it is an integer, signed or not; `bool` is not.
    pub fn is_int(self) -> bool {
        self.is_signed_int() || self.is_unsigned_int()
    }

    /// Greatest finite value of a float type; 0 for other types.
    pub fn max_finite(self) -> f64 {
        match self {
            Self::F16 => half::f16::MAX.to_f64(),
            Self::BF16 => half::bf16::MAX.to_f64(),
            Self::F32 => f32::MAX.into(),
            Self::F64 => f64::MAX,
            Self::Small(small) => small.max_finite(),
            _ => 0.0,
        }
    }

    /// Least and greatest value of an integer type (or of `bool`), as far as `i64` can say them.
    pub fn int_range(self) -> Option<(i64, i64)> {
        Some(match self {
            Self::Bool => (0, 1),
            Self::I8 => (i8::MIN.into(), i8::MAX.into()),
            Self::I16 => (i16::MIN.into(), i16::MAX.into()),
            Self::I32 => (i32::MIN.into(), i32::MAX.into()),
            Self::I64 => (i64::MIN, i64::MAX),
            Self::U8 => (0, u8::MAX.into()),
            Self::U16 => (0, u16::MAX.into()),
            Self::U32 => (0, u32::MAX.into()),
            Self::U64 => (0, i64::MAX),
            Self::Small(small) => return small.int_range(),
            Self::F16 | Self::BF16 | Self::F32 | Self::F64 => return None,
        })
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Type of a value: a scalar, or a vector of `lanes` scalars. Prints as TVM does: `float32`, `float32x4`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct DType {
    /// Type of each lane.
    pub scalar: ScalarType,
    /// Number of lanes; 1 for a scalar. For a vector whose length the hardware chooses, as [`scalable`](Self::scalable) makes it.
    pub lanes: u16,
}

/// The bit of [`DType::lanes`] that marks a vector whose length the hardware chooses.
const SCALABLE: u16 = 1 << 15;

#[expect(missing_docs, reason = "the names say it: kind and number of bits")]
impl DType {
    pub const BOOL: Self = Self::of(ScalarType::Bool);
    pub const I8: Self = Self::of(ScalarType::I8);
    pub const I16: Self = Self::of(ScalarType::I16);
    pub const I32: Self = Self::of(ScalarType::I32);
    pub const I64: Self = Self::of(ScalarType::I64);
    pub const U8: Self = Self::of(ScalarType::U8);
    pub const U16: Self = Self::of(ScalarType::U16);
    pub const U32: Self = Self::of(ScalarType::U32);
    pub const U64: Self = Self::of(ScalarType::U64);
    pub const F16: Self = Self::of(ScalarType::F16);
    pub const BF16: Self = Self::of(ScalarType::BF16);
    pub const F32: Self = Self::of(ScalarType::F32);
    pub const F64: Self = Self::of(ScalarType::F64);
}

impl DType {
    /// The scalar type with one lane.
    pub const fn of(scalar: ScalarType) -> Self {
        Self { scalar, lanes: 1 }
    }

    /// The same scalar type with this many lanes.
    pub const fn with_lanes(self, lanes: u16) -> Self {
        Self {
            scalar: self.scalar,
            lanes,
        }
    }

    /// The lanes of a vector that has `lanes` times as many lanes as the hardware chooses (TVM: `lanes * vscale`). Programs
    /// keep and print such vectors; nothing computes with them.
    pub const fn scalable(lanes: u16) -> u16 {
        lanes | SCALABLE
    }

    /// The multiple of `vscale` that the vector has as lanes, if the hardware chooses its length.
    pub fn vscale_factor(self) -> Option<u16> {
        (self.lanes & SCALABLE != 0).then_some(self.lanes & !SCALABLE)
    }

    /// Whether it has more than one lane.
    pub fn is_vector(self) -> bool {
        self.lanes > 1
    }

    /// Bytes of one value in host memory.
    pub fn bytes(self) -> usize {
        self.scalar.bytes() * usize::from(self.lanes)
    }

    /// Whether the lanes are floats.
    pub fn is_float(self) -> bool {
        self.scalar.is_float()
    }

    /// Whether the lanes are integers; `bool` is not.
    pub fn is_int(self) -> bool {
        self.scalar.is_int()
    }

    /// Whether the lanes are `bool`.
    pub fn is_bool(self) -> bool {
        self.scalar == ScalarType::Bool
    }
}

impl From<ScalarType> for DType {
    fn from(scalar: ScalarType) -> Self {
        Self::of(scalar)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scalar.name())?;
        if let Some(factor) = self.vscale_factor() {
            write!(f, "xvscalex{factor}")
        } else if self.is_vector() {
            write!(f, "x{}", self.lanes)
        } else {
            Ok(())
        }
    }
}

/// A name that is no element type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown dtype `{0}`")]
pub struct ParseDTypeError(pub String);

impl FromStr for DType {
    type Err = ParseDTypeError;

    /// Reads TVM's names (`float32`, `int8x4`) and numpy's short ones (`f32`, `i64`, `boolean`).
    fn from_str(text: &str) -> Result<Self, ParseDTypeError> {
        let unknown = || ParseDTypeError(text.to_owned());
        let (name, lanes) = match text.rsplit_once('x') {
            Some((name, lanes)) if lanes.starts_with(|c: char| c.is_ascii_digit()) => (
                name,
                lanes
                    .parse::<u16>()
                    .ok()
                    .filter(|&n| n > 0 && n & SCALABLE == 0)
                    .ok_or_else(unknown)?,
            ),
            _ => (text, 1),
        };
        let (name, lanes) = match name.strip_suffix("xvscale") {
            Some(name) => (name, Self::scalable(lanes)),
            None => (name, lanes),
        };
        let scalar = match name {
            "boolean" => ScalarType::Bool,
            "bf16" => ScalarType::BF16,
            short if let Some(scalar) = short_name(short) => scalar,
            long => {
                let small = SmallType::ALL.into_iter().map(ScalarType::Small);
                let mut all = ScalarType::ALL.into_iter().chain(small);
                all.find(|s| s.name() == long).ok_or_else(unknown)?
            }
        };
        Ok(Self { scalar, lanes })
    }
}

fn short_name(name: &str) -> Option<ScalarType> {
    Some(match name {
        "f16" => ScalarType::F16,
        "f32" => ScalarType::F32,
        "f64" => ScalarType::F64,
        "i8" => ScalarType::I8,
        "i16" => ScalarType::I16,
        "i32" => ScalarType::I32,
        "i64" => ScalarType::I64,
        "u8" => ScalarType::U8,
        "u16" => ScalarType::U16,
        "u32" => ScalarType::U32,
        "u64" => ScalarType::U64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        let small = SmallType::ALL.into_iter().map(ScalarType::Small);
        for scalar in ScalarType::ALL.into_iter().chain(small) {
            for lanes in [1, 4, DType::scalable(4)] {
                let dtype = DType { scalar, lanes };
                assert_eq!(dtype.to_string().parse(), Ok(dtype));
            }
        }
        assert_eq!(
            "float7".parse::<DType>(),
            Err(ParseDTypeError("float7".into()))
        );
        assert!("float32x0".parse::<DType>().is_err());
        assert!("float32x32768".parse::<DType>().is_err());
        let scalable = DType::F32.with_lanes(DType::scalable(4));
        assert_eq!(scalable.to_string(), "float32xvscalex4");
        assert_eq!(scalable.vscale_factor(), Some(4));
    }
}
