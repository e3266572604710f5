//! Values of kernel IR as Cranelift values: a vector is split into registers of 128 bits.
//!
//! A register holds `16 / bytes` lanes; the last one of a vector may be partly used. `f16` and `bf16` are held as `f32`, always
//! rounded to their own precision. A scalar `bool` is an `i8` of 0 or 1; a `bool` vector is a mask of all-ones and zeros in
//! integer lanes as wide as those of the values that were compared.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};

use super::emit::Emitter;
use crate::kernel::Ty;
use crate::tensor::ScalarType;

/// A value: its type in kernel IR and the registers that hold it.
#[derive(Clone, Debug)]
pub(super) struct Val {
    pub(super) ty: Ty,
    /// Type of one lane in the register.
    pub(super) lane: Type,
    /// One scalar, or the registers of a vector.
    pub(super) parts: Vec<Value>,
}

/// Type in which a lane is computed.
pub(super) fn lane_type(scalar: ScalarType) -> Type {
    match scalar {
        // Kernels with small types are refused before anything is emitted.
        ScalarType::Bool | ScalarType::I8 | ScalarType::U8 | ScalarType::Small(_) => types::I8,
        ScalarType::I16 | ScalarType::U16 => types::I16,
        ScalarType::I32 | ScalarType::U32 => types::I32,
        ScalarType::I64 | ScalarType::U64 => types::I64,
        ScalarType::F16 | ScalarType::BF16 | ScalarType::F32 => types::F32,
        ScalarType::F64 => types::F64,
    }
}

/// Whether the type is computed in `f32` and rounded.
pub(super) fn is_half(scalar: ScalarType) -> bool {
    matches!(scalar, ScalarType::F16 | ScalarType::BF16)
}

/// The register type with lanes of this type.
pub(super) fn register(lane: Type) -> Type {
    lane.by(16 / lane.bytes())
        .expect("a register has 16 bytes of lanes")
}

/// Lanes of a register.
pub(super) fn lanes_of(lane: Type) -> usize {
    16 / lane.bytes() as usize
}

/// Integer type as wide as `lane`.
pub(super) fn mask_lane(lane: Type) -> Type {
    Type::int(lane.bits() as u16).expect("lanes have 8, 16, 32 or 64 bits")
}

impl Val {
    pub(super) fn scalar(scalar: ScalarType, value: Value) -> Self {
        Self {
            ty: Ty::scalar(scalar),
            lane: lane_type(scalar),
            parts: vec![value],
        }
    }

    pub(super) fn is_vector(&self) -> bool {
        self.ty.lanes > 1
    }

    /// Type of the registers.
    pub(super) fn part_type(&self) -> Type {
        if self.is_vector() {
            register(self.lane)
        } else {
            self.lane
        }
    }

    /// The same type, other registers.
    pub(super) fn with_parts(&self, parts: Vec<Value>) -> Self {
        Self {
            ty: self.ty,
            lane: self.lane,
            parts,
        }
    }
}

impl Emitter<'_, '_> {
    /// The same scalar in every lane.
    pub(super) fn splat(&mut self, value: &Val, lanes: u16) -> Val {
        let ty = Ty {
            scalar: value.ty.scalar,
            lanes,
        };
        if lanes == 1 {
            return value.clone();
        }
        let lane = value.lane;
        let mut scalar = value.parts[0];
        if ty.scalar == ScalarType::Bool {
            scalar = self.b.ins().ineg(scalar);
        }
        let part = self.b.ins().splat(register(lane), scalar);
        let parts = vec![part; usize::from(lanes).div_ceil(lanes_of(lane))];
        Val { ty, lane, parts }
    }

    /// One lane, as a scalar register.
    pub(super) fn lane(&mut self, value: &Val, index: usize) -> Value {
        if !value.is_vector() {
            return value.parts[0];
        }
        let per_part = lanes_of(value.lane);
        let part = value.parts[index / per_part];
        let lane = self.b.ins().extractlane(part, (index % per_part) as u8);
        if value.ty.scalar != ScalarType::Bool {
            return lane;
        }
        let byte = if value.lane == types::I8 {
            lane
        } else {
            self.b.ins().ireduce(types::I8, lane)
        };
        self.b.ins().band_imm_u(byte, 1)
    }

    /// A vector (or scalar, if there is one) of these lanes.
    pub(super) fn pack_lanes(&mut self, scalar: ScalarType, lanes: &[Value]) -> Val {
        let lane = lane_type(scalar);
        if let [value] = lanes {
            return Val::scalar(scalar, *value);
        }
        let parts = lanes
            .chunks(lanes_of(lane))
            .map(|chunk| {
                let mut part = None;
                for (i, &value) in chunk.iter().enumerate() {
                    let value = if scalar == ScalarType::Bool {
                        self.b.ins().ineg(value)
                    } else {
                        value
                    };
                    part = Some(match part {
                        None => self.b.ins().splat(register(lane), value),
                        Some(part) => self.b.ins().insertlane(part, value, i as u8),
                    });
                }
                part.expect("chunks are not empty")
            })
            .collect();
        Val {
            ty: Ty {
                scalar,
                lanes: lanes.len() as u16,
            },
            lane,
            parts,
        }
    }

    /// Applies `f` lane by lane: for what has no vector instruction.
    pub(super) fn lanewise(
        &mut self,
        scalar: ScalarType,
        args: &[&Val],
        mut f: impl FnMut(&mut Self, &[Value]) -> Value,
    ) -> Val {
        let lanes: Vec<Value> = (0..usize::from(args[0].ty.lanes))
            .map(|i| {
                let lanes: Vec<Value> = args.iter().map(|v| self.lane(v, i)).collect();
                f(self, &lanes)
            })
            .collect();
        self.pack_lanes(scalar, &lanes)
    }

    /// The mask with lanes of this integer type.
    pub(super) fn mask_as(&mut self, mask: &Val, lane: Type) -> Val {
        let mut mask = mask.clone();
        while mask.is_vector() && mask.lane != lane {
            mask = if mask.lane.bits() < lane.bits() {
                self.widen_mask(&mask)
            } else {
                self.narrow_mask(&mask)
            };
        }
        mask
    }

    fn widen_mask(&mut self, mask: &Val) -> Val {
        let lane = mask.lane.double_width().expect("masks have up to 64 bits");
        let wanted = usize::from(mask.ty.lanes).div_ceil(lanes_of(lane));
        let mut parts = Vec::new();
        for &part in &mask.parts {
            parts.push(self.b.ins().swiden_low(part));
            parts.push(self.b.ins().swiden_high(part));
        }
        parts.truncate(wanted);
        Val {
            ty: mask.ty,
            lane,
            parts,
        }
    }

    fn narrow_mask(&mut self, mask: &Val) -> Val {
        let lane = mask.lane.half_width().expect("masks have at least 8 bits");
        let parts = mask
            .parts
            .chunks(2)
            .map(|pair| {
                let (low, high) = (pair[0], *pair.last().expect("chunks are not empty"));
                if mask.lane == types::I64 {
                    // There is no narrowing of 64-bit lanes: take the low halves.
                    let low = self.cast_bits(types::I32X4, low);
                    let high = self.cast_bits(types::I32X4, high);
                    let bytes: Vec<u8> =
                        [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27].into();
                    let low = self.cast_bits(types::I8X16, low);
                    let high = self.cast_bits(types::I8X16, high);
                    let order = self.b.func.dfg.immediates.push(bytes.into());
                    let both = self.b.ins().shuffle(low, high, order);
                    self.cast_bits(types::I32X4, both)
                } else {
                    self.b.ins().snarrow(low, high)
                }
            })
            .collect();
        Val {
            ty: mask.ty,
            lane,
            parts,
        }
    }

    /// The same bits as another type of the same size.
    pub(super) fn cast_bits(&mut self, ty: Type, value: Value) -> Value {
        if self.b.func.dfg.value_type(value) == ty {
            return value;
        }
        let flags = MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little);
        self.b.ins().bitcast(ty, flags, value)
    }

    /// An integer constant, in every lane if `ty` is a vector type.
    pub(super) fn int_const(&mut self, ty: Type, value: i64) -> Value {
        let lane = ty.lane_type();
        let bits = lane.bits();
        let value = if bits == 64 {
            value
        } else {
            value & ((1 << bits) - 1)
        };
        let scalar = self.b.ins().iconst(lane, value);
        if ty.is_vector() {
            self.b.ins().splat(ty, scalar)
        } else {
            scalar
        }
    }

    /// A float constant, in every lane if `ty` is a vector type.
    pub(super) fn float_const(&mut self, ty: Type, value: f64) -> Value {
        let scalar = if ty.lane_type() == types::F64 {
            self.b.ins().f64const(value)
        } else {
            self.b.ins().f32const(value as f32)
        };
        if ty.is_vector() {
            self.b.ins().splat(ty, scalar)
        } else {
            scalar
        }
    }

    /// `mask ? a : b` of registers, where the mask came from a comparison of registers of the same shape.
    pub(super) fn choose(&mut self, mask: Value, a: Value, b: Value) -> Value {
        let ty = self.b.func.dfg.value_type(a);
        if ty.is_vector() {
            let mask = self.cast_bits(ty, mask);
            self.b.ins().bitselect(mask, a, b)
        } else {
            self.b.ins().select(mask, a, b)
        }
    }
}
