//! Arrays in memory: addresses, loads and stores.
//!
//! Each array is an alias region of its own: the launch checks that no array that is written overlaps another one. Kernels that
//! are `in_bounds` are trusted. In all others an element outside its array reads as zero and is not written.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AliasRegion, AliasRegionData, Block, InstBuilder, MemFlagsData, StackSlot, StackSlotData,
    StackSlotKind, Type, Value, types,
};

use super::CodegenError;
use super::emit::Emitter;
use super::value::{Val, is_half, lane_type, lanes_of, register};
use crate::codegen_common::KernelArgs;
use crate::kernel::poly::{Atom, Factor, Term};
use crate::kernel::{Array, ArrayId, Expr, MOST_LANES, MOST_STACK, Space, Ty};
use crate::tensor::ScalarType;

/// Bytes of the largest element.
const MOST_BYTES: u32 = 8;

/// Where an array is in memory.
#[derive(Clone, Debug)]
pub(super) struct ArrayAddress {
    base: Value,
    /// Number of elements, if accesses are checked against it.
    len: Option<Value>,
    region: AliasRegion,
}

/// Memory on the stack for checked accesses outside their arrays: one place of each kind for all of them, because no value
/// stays there from one access to the next.
#[derive(Clone, Copy)]
pub(super) struct Spare {
    /// A zero, which is only read.
    zero: StackSlot,
    /// Written and never read.
    sink: StackSlot,
    /// The lanes of a vector that are partly outside, read at once.
    lanes: StackSlot,
}

impl Emitter<'_, '_> {
    /// Loads the base of each global array and makes room for the local ones.
    pub(super) fn place_arrays(&mut self, args: Value) -> Result<(), CodegenError> {
        self.declare_locals();
        let pointer = self.isa.pointer_type();
        let flags = MemFlagsData::trusted();
        let buffers = std::mem::offset_of!(KernelArgs, buffers) as i32;
        let buffers = self.b.ins().load(pointer, flags, args, buffers);
        let lens = std::mem::offset_of!(KernelArgs, lens) as i32;
        let lens = self.b.ins().load(pointer, flags, args, lens);
        let mut binding = 0;
        let mut stack = 0;
        let kernel = self.kernel;
        if !kernel.in_bounds {
            self.place_spare();
        }
        for (id, array) in kernel.arrays.iter() {
            let region = self.b.func.dfg.alias_regions.insert(AliasRegionData {
                user_id: crate::support::Id::index(id) as u32,
                description: array.name.clone().into(),
            });
            let (base, len) = match array.space {
                Space::Global {
                    buffer: _,
                    access: _,
                } => {
                    let offset = 8 * binding;
                    binding += 1;
                    let base = self.b.ins().load(pointer, flags, buffers, offset);
                    let len = (!kernel.in_bounds)
                        .then(|| self.b.ins().load(types::I64, flags, lens, offset));
                    (base, len)
                }
                Space::Shared => {
                    return Err(CodegenError::NotForCpu {
                        kernel: kernel.name.clone(),
                        what: "workgroup memory",
                    });
                }
                Space::Local if self.in_registers(id) => continue,
                Space::Local => self.place_local(array, &mut stack)?,
            };
            *self.places.entry(id) = Some(ArrayAddress { base, len, region });
        }
        Ok(())
    }

    fn place_local(
        &mut self,
        array: &Array,
        stack: &mut i64,
    ) -> Result<(Value, Option<Value>), CodegenError> {
        let too_large = || CodegenError::LocalSize {
            kernel: self.kernel.name.clone(),
            array: array.name.clone(),
        };
        let len = array
            .len
            .as_const()
            .filter(|&len| len >= 0)
            .ok_or_else(too_large)?;
        let bytes = len
            .checked_mul(array.dtype.bytes() as i64)
            .filter(|&bytes| bytes <= MOST_STACK - *stack)
            .ok_or_else(too_large)?;
        *stack += bytes;
        let slot = self.stack_slot(bytes as u32);
        let base = self.slot_address(slot);
        let len = (!self.kernel.in_bounds).then(|| self.b.ins().iconst(types::I64, len));
        Ok((base, len))
    }

    fn place_spare(&mut self) {
        let lanes = u32::from(MOST_LANES) * MOST_BYTES;
        let [zero, sink, lanes] = [MOST_BYTES, MOST_BYTES, lanes].map(|n| self.stack_slot(n));
        let address = self.slot_address(zero);
        let nothing = self.b.ins().iconst(types::I64, 0);
        let flags = MemFlagsData::trusted();
        self.b.ins().store(flags, nothing, address, 0);
        self.spare = Some(Spare { zero, sink, lanes });
    }

    /// New memory on the stack.
    fn stack_slot(&mut self, bytes: u32) -> StackSlot {
        const ALIGN_SHIFT: u8 = 4;
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, ALIGN_SHIFT);
        self.b.create_sized_stack_slot(data)
    }

    fn slot_address(&mut self, slot: StackSlot) -> Value {
        let pointer = self.isa.pointer_type();
        self.b.ins().stack_addr(pointer, slot, 0)
    }

    fn spare(&self) -> Spare {
        self.spare
            .expect("arrays have a length to check only where there is spare memory")
    }

    fn array(&self, id: ArrayId) -> Result<(&Array, ArrayAddress), CodegenError> {
        match (self.kernel.arrays.get(id), &self.places[id]) {
            (Some(array), Some(place)) => Ok((array, place.clone())),
            _ => Err(CodegenError::UnknownArray {
                kernel: self.kernel.name.clone(),
                array: id,
            }),
        }
    }

    pub(super) fn load(
        &mut self,
        id: ArrayId,
        index: &Expr,
        lanes: u16,
    ) -> Result<Val, CodegenError> {
        self.check_lanes(lanes)?;
        if let Some(value) = self.load_local(id, index, lanes) {
            return Ok(value);
        }
        let (array, place) = self.array(id)?;
        let scalar = array.dtype;
        let (address, offset) = self.address(&place, scalar, index, lanes, Fallback::Zeros)?;
        let from = Pointer {
            address,
            offset,
            flags: flags(&place),
        };
        if lanes == 1 {
            let value = self.load_scalar(scalar, from);
            return Ok(Val::scalar(scalar, value));
        }
        if scalar == ScalarType::Bool {
            let bytes = self.load_registers(types::I8, from, lanes.into());
            let zero = self.int_const(types::I8X16, 0);
            let parts = bytes.into_iter();
            let parts = parts
                .map(|part| self.b.ins().icmp(IntCC::NotEqual, part, zero))
                .collect();
            return Ok(Val {
                ty: Ty { scalar, lanes },
                lane: types::I8,
                parts,
            });
        }
        if is_half(scalar) && lanes.is_multiple_of(4) {
            let parts = (0..i32::from(lanes / 4))
                .map(|i| {
                    let at = from.at(8 * i);
                    let bits = self.b.ins().uload16x4(at.flags, at.address, at.offset);
                    self.half_value(scalar, bits)
                })
                .collect();
            return Ok(Val {
                ty: Ty { scalar, lanes },
                lane: types::F32,
                parts,
            });
        }
        if is_half(scalar) {
            let step = scalar.bytes() as i32;
            let values: Vec<Value> = (0..i32::from(lanes))
                .map(|i| self.load_scalar(scalar, from.at(step * i)))
                .collect();
            return Ok(self.pack_lanes(scalar, &values));
        }
        let lane = lane_type(scalar);
        let parts = self.load_registers(lane, from, lanes.into());
        Ok(Val {
            ty: Ty { scalar, lanes },
            lane,
            parts,
        })
    }

    fn load_scalar(&mut self, scalar: ScalarType, from: Pointer) -> Value {
        let Pointer {
            address,
            offset,
            flags,
        } = from;
        if is_half(scalar) {
            let bits = self.b.ins().uload16(types::I32, flags, address, offset);
            return self.half_value(scalar, bits);
        }
        let value = self.b.ins().load(lane_type(scalar), flags, address, offset);
        if scalar == ScalarType::Bool {
            let zero = self.int_const(types::I8, 0);
            return self.b.ins().icmp(IntCC::NotEqual, value, zero);
        }
        value
    }

    /// The registers of a vector whose lanes are in memory as they are in registers.
    fn load_registers(&mut self, lane: Type, from: Pointer, lanes: usize) -> Vec<Value> {
        let size = lane.bytes() as usize;
        let ty = register(lane);
        let whole = lanes / lanes_of(lane);
        let mut parts: Vec<Value> = (0..whole)
            .map(|i| {
                let at = from.at(16 * i as i32);
                self.b.ins().load(ty, at.flags, at.address, at.offset)
            })
            .collect();
        let rest = lanes % lanes_of(lane);
        if rest == 0 {
            return parts;
        }
        let start = 16 * whole as i32;
        let at = from.at(start);
        let part = match rest * size {
            bytes @ (4 | 8) => {
                let piece = if bytes == 4 { types::I32 } else { types::I64 };
                let bits = self.b.ins().load(piece, at.flags, at.address, at.offset);
                let bits = self.b.ins().scalar_to_vector(register(piece), bits);
                self.cast_bits(ty, bits)
            }
            _ => {
                let first = self.b.ins().load(lane, at.flags, at.address, at.offset);
                let first = self.b.ins().splat(ty, first);
                (1..rest).fold(first, |part, i| {
                    let at = from.at(start + (i * size) as i32);
                    let value = self.b.ins().load(lane, at.flags, at.address, at.offset);
                    self.b.ins().insertlane(part, value, i as u8)
                })
            }
        };
        parts.push(part);
        parts
    }

    pub(super) fn store(
        &mut self,
        id: ArrayId,
        index: &Expr,
        value: &Val,
    ) -> Result<(), CodegenError> {
        if self.store_local(id, index, value)? {
            return Ok(());
        }
        let (array, place) = self.array(id)?;
        let scalar = array.dtype;
        let lanes = value.ty.lanes;
        self.expect_type("a store", Ty { scalar, lanes }, value.ty)?;
        if let (Some(len), true) = (place.len, lanes > 1) {
            return self.store_checked(&place, len, scalar, index, value);
        }
        let (address, offset) = self.address(&place, scalar, index, lanes, Fallback::Nowhere)?;
        let to = Pointer {
            address,
            offset,
            flags: flags(&place),
        };
        self.store_at(scalar, value, to);
        Ok(())
    }

    /// Stores a vector whole if all its lanes are inside the array, else the lanes that are.
    fn store_checked(
        &mut self,
        place: &ArrayAddress,
        len: Value,
        scalar: ScalarType,
        index: &Expr,
        value: &Val,
    ) -> Result<(), CodegenError> {
        let lanes = value.ty.lanes;
        let bytes = scalar.bytes() as i64;
        let index = self.integer(index)?;
        let index = self.widen(&index);
        let inside = self.is_inside(len, index, lanes);
        let [whole, partly, after] = [(); 3].map(|()| self.b.create_block());
        self.b.set_cold_block(partly);
        self.b.ins().brif(inside, whole, &[], partly, &[]);
        self.enter(whole);
        let flags = flags(place);
        let to = |address| Pointer {
            address,
            offset: 0,
            flags,
        };
        let address = self.element(place.base, index, bytes);
        self.store_at(scalar, value, to(address));
        self.b.ins().jump(after, &[]);
        self.enter(partly);
        for i in 0..usize::from(lanes) {
            let lane = self.lane(value, i);
            let index = self.b.ins().iadd_imm_s(index, i as i64);
            let address = self.checked_address(place.base, len, index, bytes, Fallback::Nowhere);
            self.store_scalar(scalar, lane, to(address));
        }
        self.b.ins().jump(after, &[]);
        self.enter(after);
        Ok(())
    }

    /// Goes on in a block that is jumped to from what was emitted so far alone.
    fn enter(&mut self, block: Block) {
        self.b.switch_to_block(block);
        self.b.seal_block(block);
    }

    fn store_at(&mut self, scalar: ScalarType, value: &Val, to: Pointer) {
        let lanes = value.ty.lanes;
        if lanes == 1 {
            self.store_scalar(scalar, value.parts[0], to);
        } else if scalar == ScalarType::Bool {
            let mask = self.mask_as(value, types::I8);
            let one = self.int_const(types::I8X16, 1);
            let parts: Vec<Value> = mask
                .parts
                .iter()
                .map(|&part| self.b.ins().band(part, one))
                .collect();
            self.store_registers(types::I8, &parts, to, lanes.into());
        } else if is_half(scalar) && lanes.is_multiple_of(4) {
            for (i, &part) in value.parts.iter().enumerate() {
                let bits = self.half_bits(scalar, part);
                let narrow = self.b.ins().unarrow(bits, bits);
                self.store_registers(types::I16, &[narrow], to.at(8 * i as i32), 4);
            }
        } else if is_half(scalar) {
            for i in 0..usize::from(lanes) {
                let lane = self.lane(value, i);
                self.store_scalar(scalar, lane, to.at(2 * i as i32));
            }
        } else {
            self.store_registers(value.lane, &value.parts, to, lanes.into());
        }
    }

    fn store_scalar(&mut self, scalar: ScalarType, value: Value, to: Pointer) {
        let Pointer {
            address,
            offset,
            flags,
        } = to;
        if is_half(scalar) {
            let bits = self.half_bits(scalar, value);
            self.b.ins().istore16(flags, bits, address, offset);
        } else {
            self.b.ins().store(flags, value, address, offset);
        }
    }

    fn store_registers(&mut self, lane: Type, parts: &[Value], to: Pointer, lanes: usize) {
        let size = lane.bytes() as usize;
        let per_part = lanes_of(lane);
        for (i, &part) in parts.iter().enumerate() {
            let at = to.at(16 * i as i32);
            let used = (lanes - i * per_part).min(per_part);
            match used * size {
                16 => {
                    self.b.ins().store(at.flags, part, at.address, at.offset);
                }
                bytes @ (4 | 8) => {
                    let piece = if bytes == 4 { types::I32 } else { types::I64 };
                    let bits = self.cast_bits(register(piece), part);
                    let bits = self.b.ins().extractlane(bits, 0);
                    self.b.ins().store(at.flags, bits, at.address, at.offset);
                }
                _ => {
                    for j in 0..used {
                        let value = self.b.ins().extractlane(part, j as u8);
                        let at = at.at((j * size) as i32);
                        self.b.ins().store(at.flags, value, at.address, at.offset);
                    }
                }
            }
        }
    }

    /// Address of an element, and a constant offset to add to it.
    fn address(
        &mut self,
        place: &ArrayAddress,
        scalar: ScalarType,
        index: &Expr,
        lanes: u16,
        fallback: Fallback,
    ) -> Result<(Value, i32), CodegenError> {
        let bytes = scalar.bytes() as i64;
        if let Some(len) = place.len {
            let index = self.integer(index)?;
            let index = self.widen(&index);
            let address = match lanes {
                1 => self.checked_address(place.base, len, index, bytes, fallback),
                _ => self.checked_load(place.base, len, index, bytes, lanes),
            };
            return Ok((address, 0));
        }
        let mut poly = self.scope.poly(self.kernel, index);
        let offset = poly.constant.wrapping_mul(bytes);
        poly.terms.sort_by_key(Term::depth);
        let mut address = place.base;
        let (offset, rest) = match i32::try_from(offset) {
            // Room for the registers and lanes that follow.
            Ok(small) if small.unsigned_abs() < 1 << 30 => (small, 0),
            _ => (0, offset),
        };
        if rest != 0 {
            let rest = self.b.ins().iconst(types::I64, rest);
            address = self.b.ins().iadd(address, rest);
        }
        let groups: Vec<&[Term]> = poly.terms.chunk_by(|a, b| a.depth() == b.depth()).collect();
        for group in groups {
            let mut sum = None;
            for term in group {
                let value = self.term(term, bytes)?;
                sum = Some(match sum {
                    None => value,
                    Some(sum) => self.b.ins().iadd(sum, value),
                });
            }
            let sum = sum.expect("groups are not empty");
            address = self.b.ins().iadd(address, sum);
        }
        Ok((address, offset))
    }

    /// `coefficient * bytes * factors` as 64 bits, the constant first so that it is hoisted with the outer factors.
    fn term(&mut self, term: &Term, bytes: i64) -> Result<Value, CodegenError> {
        let scale = term.coefficient.wrapping_mul(bytes);
        let mut factors = Vec::new();
        for Factor { atom, depth: _ } in &term.factors {
            let value = match atom {
                Atom::Var(var) => self.var(*var)?,
                Atom::Other(e) => self.integer(e)?,
            };
            if value.is_vector() || !value.ty.scalar.is_int() {
                return Err(self.mismatch("an index", Ty::scalar(ScalarType::I64), value.ty));
            }
            let depth = match atom {
                Atom::Var(var) => self.scope.depths[*var],
                Atom::Other(_) => term.depth(),
            };
            factors.push((depth, self.widen(&value)));
        }
        factors.sort_by_key(|(depth, _)| *depth);
        let mut factors = factors.into_iter().map(|(_, value)| value);
        let first = factors.next().expect("a term has factors");
        let scaled = match scale {
            1 => first,
            scale if scale.count_ones() == 1 && scale > 0 => self
                .b
                .ins()
                .ishl_imm_u(first, i64::from(scale.trailing_zeros())),
            scale => self.b.ins().imul_imm_s(first, scale),
        };
        Ok(factors.fold(scaled, |product, factor| self.b.ins().imul(product, factor)))
    }

    /// The address of an element if it is inside the array; else that of memory which does no harm.
    fn checked_address(
        &mut self,
        base: Value,
        len: Value,
        index: Value,
        bytes: i64,
        fallback: Fallback,
    ) -> Value {
        let spare = match fallback {
            Fallback::Zeros => self.spare().zero,
            Fallback::Nowhere => self.spare().sink,
        };
        let spare = self.slot_address(spare);
        let inside = self.is_inside(len, index, 1);
        let address = self.element(base, index, bytes);
        self.b.ins().select(inside, address, spare)
    }

    /// The address of a vector that is wholly inside the array; else that of a copy of the lanes that are, the others zero.
    fn checked_load(
        &mut self,
        base: Value,
        len: Value,
        index: Value,
        bytes: i64,
        lanes: u16,
    ) -> Value {
        let inside = self.is_inside(len, index, lanes);
        let address = self.element(base, index, bytes);
        let [partly, after] = [(); 2].map(|()| self.b.create_block());
        let found = self.b.append_block_param(after, types::I64);
        self.b.set_cold_block(partly);
        let whole = [address.into()];
        self.b.ins().brif(inside, after, &whole, partly, &[]);
        self.enter(partly);
        let copy = self.slot_address(self.spare().lanes);
        let element = match bytes {
            1 => types::I8,
            2 => types::I16,
            4 => types::I32,
            _ => types::I64,
        };
        let flags = MemFlagsData::new().with_notrap();
        for i in 0..i64::from(lanes) {
            let index = self.b.ins().iadd_imm_s(index, i);
            let from = self.checked_address(base, len, index, bytes, Fallback::Zeros);
            let value = self.b.ins().load(element, flags, from, 0);
            self.b.ins().store(flags, value, copy, (i * bytes) as i32);
        }
        self.b.ins().jump(after, &[copy.into()]);
        self.enter(after);
        found
    }

    /// Whether so many elements from the index on are inside an array, whose length is not negative.
    fn is_inside(&mut self, len: Value, index: Value, lanes: u16) -> Value {
        let beyond = self.b.ins().iadd_imm_s(len, 1 - i64::from(lanes));
        let fits = self.b.ins().icmp(IntCC::SignedLessThan, index, beyond);
        let zero = self.b.ins().iconst(types::I64, 0);
        let at_least = IntCC::SignedGreaterThanOrEqual;
        let positive = self.b.ins().icmp(at_least, index, zero);
        self.b.ins().band(fits, positive)
    }

    fn element(&mut self, base: Value, index: Value, bytes: i64) -> Value {
        let offset = self.b.ins().imul_imm_s(index, bytes);
        self.b.ins().iadd(base, offset)
    }
}

/// What an access outside its array does instead.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fallback {
    /// A load gives zeros.
    Zeros,
    /// A store goes to memory that nobody reads.
    Nowhere,
}

#[derive(Clone, Copy)]
struct Pointer {
    address: Value,
    offset: i32,
    flags: MemFlagsData,
}

impl Pointer {
    fn at(self, offset: i32) -> Self {
        Self {
            offset: self.offset + offset,
            ..self
        }
    }
}

/// A checked access may go to memory apart from its array, so it is in no region.
fn flags(place: &ArrayAddress) -> MemFlagsData {
    let region = place.len.is_none().then_some(place.region);
    MemFlagsData::new().with_notrap().with_alias_region(region)
}
