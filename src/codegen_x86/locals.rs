//! Local arrays that live in registers: those that are only accessed at constant positions.
//!
//! Such an array is split into cells, each of a register where every vector access is made of whole ones, else of a lane. The value
//! of a cell is an SSA value; it starts as zeros. All other local arrays are on the stack.

use std::collections::BTreeMap;

use regalloc2::{RegClass, VReg};

use super::emit::Emitter;
use super::inst::{GENERAL, Lane, VECTOR, Width};
use super::value::{Part, Val, lane_of, shape};
use super::{Isa, Refusal, refuse};
use crate::kernel::{ArrayId, Expr, Space, Stmt, Ty};
use crate::tensor::ScalarType;

/// More cells than this would only be spilled.
const MOST_CELLS: usize = 128;

/// A part of a local array, by its number.
pub(super) type Cell = (ArrayId, usize);

/// The local arrays that live in registers.
#[derive(Default)]
pub(super) struct Locals(BTreeMap<ArrayId, LocalArray>);

struct LocalArray {
    dtype: ScalarType,
    /// Lanes of each cell.
    chunk: usize,
    cells: Vec<Part>,
}

impl LocalArray {
    fn lane(&self) -> Lane {
        lane_of(self.dtype)
    }

    /// The register of a cell; `None` if it is a general one.
    fn width(&self) -> Option<Width> {
        if self.chunk == 1 {
            return self.dtype.is_float().then_some(Width::X);
        }
        let widths = [Width::Z, Width::Y];
        let bytes = self.chunk * self.lane().bytes();
        let fits = |width: &Width| width.bytes() == bytes;
        Some(widths.into_iter().find(fits).unwrap_or(Width::X))
    }
}

impl Locals {
    pub(super) fn value(&self, (array, at): Cell) -> Part {
        self.0[&array].cells[at]
    }

    pub(super) fn set(&mut self, (array, at): Cell, value: Part) {
        if let Some(array) = self.0.get_mut(&array) {
            array.cells[at] = value;
        }
    }

    pub(super) fn class(&self, (array, _): Cell) -> RegClass {
        match self.0[&array].width() {
            Some(_) => VECTOR,
            None => GENERAL,
        }
    }
}

/// One access: first lane and number of lanes; `None` if the position is not constant, or only some lanes are written.
type Accesses = BTreeMap<ArrayId, Vec<Option<(usize, usize)>>>;

impl Emitter<'_> {
    /// Finds the local arrays that can live in registers.
    pub(super) fn declare_locals(&mut self) {
        let accesses = self.accesses();
        for (id, array) in self.kernel.arrays.iter() {
            let (Space::Local, Some(len)) = (&array.space, array.len.as_const()) else {
                continue;
            };
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            let none = vec![];
            let found = accesses.get(&id).unwrap_or(&none);
            let Some(chunk) = chunk_of(self.isa, array.dtype, len, found) else {
                continue;
            };
            let zero = if chunk == 1 && !array.dtype.is_float() {
                Part::Int(0)
            } else {
                Part::Same(0)
            };
            let array = LocalArray {
                dtype: array.dtype,
                chunk,
                cells: vec![zero; len.div_ceil(chunk)],
            };
            self.locals.0.insert(id, array);
        }
    }

    fn accesses(&self) -> Accesses {
        let mut accesses = Accesses::new();
        self.kernel.walk_accesses(&mut |array, index, lanes, _| {
            let access = self.position(index).map(|at| (at, usize::from(lanes)));
            accesses.entry(array).or_default().push(access);
        });
        // Registers are written as a whole.
        for stmt in &self.kernel.body {
            stmt.walk(&mut |stmt| {
                if let Stmt::Store {
                    array,
                    active: Some(_),
                    ..
                } = stmt
                {
                    accesses.entry(*array).or_default().push(None);
                }
            });
        }
        accesses
    }

    /// The index, if it is a constant.
    fn position(&self, index: &Expr) -> Option<usize> {
        let at = self.scope.poly(self.kernel, index).as_constant()?;
        usize::try_from(at).ok()
    }

    /// Whether the array lives in registers.
    pub(super) fn in_registers(&self, array: ArrayId) -> bool {
        self.locals.0.contains_key(&array)
    }

    /// The value of a cell in a register.
    pub(super) fn cell_reg(&mut self, cell: Cell) -> VReg {
        let array = &self.locals.0[&cell.0];
        let (part, lane) = (array.cells[cell.1], array.lane());
        match array.width() {
            Some(width) => self.vector(part, lane, width),
            None => self.general(part),
        }
    }

    /// The cells that statements write.
    pub(super) fn cells_stored(&self, stmts: &[Stmt]) -> Vec<Cell> {
        let mut cells = std::collections::BTreeSet::new();
        for stmt in stmts {
            stmt.walk(&mut |stmt| {
                let Stmt::Store {
                    array,
                    index,
                    value,
                    active: _,
                } = stmt
                else {
                    return;
                };
                let (Some(local), Some(at)) = (self.locals.0.get(array), self.position(index))
                else {
                    return;
                };
                let lanes = usize::from(self.kernel.ty(value).lanes);
                let (from, to) = (at / local.chunk, (at + lanes - 1) / local.chunk);
                cells.extend((from..=to).map(|i| (*array, i)));
            });
        }
        cells.into_iter().collect()
    }

    /// A load from an array in registers; `None` if the array is in memory.
    pub(super) fn load_local(
        &mut self,
        array: ArrayId,
        index: &Expr,
        lanes: u16,
    ) -> Result<Option<Val>, Refusal> {
        let (Some(at), Some(local)) = (self.position(index), self.locals.0.get(&array)) else {
            return Ok(None);
        };
        let (dtype, chunk, lane) = (local.dtype, local.chunk, local.lane());
        let ty = Ty {
            scalar: dtype,
            lanes,
        };
        let count = usize::from(lanes);
        let parts = local.cells[at / chunk..(at + count).div_ceil(chunk)].to_vec();
        if chunk == 1 {
            let scalars = parts.into_iter().map(|part| Val::scalar(dtype, part));
            return self.pack(dtype, &scalars.collect::<Vec<_>>()).map(Some);
        }
        if lanes == 1 {
            let whole = Val {
                ty: Ty {
                    scalar: dtype,
                    lanes: chunk as u16,
                },
                lane,
                parts,
            };
            return self.lane(&whole, at % chunk).map(Some);
        }
        Ok(Some(Val { ty, lane, parts }))
    }

    /// A store to an array in registers; false if the array is in memory.
    pub(super) fn store_local(
        &mut self,
        array: ArrayId,
        index: &Expr,
        value: &Val,
    ) -> Result<bool, Refusal> {
        let (Some(at), Some(local)) = (self.position(index), self.locals.0.get(&array)) else {
            return Ok(false);
        };
        let (dtype, chunk, lane) = (local.dtype, local.chunk, local.lane());
        if value.ty.scalar != dtype {
            return refuse("a store of another type");
        }
        let mut parts = value.parts.clone();
        if chunk == 1 {
            let lanes = 0..usize::from(value.ty.lanes);
            let scalars = lanes.map(|i| Ok(self.lane(value, i)?.parts[0]));
            parts = scalars.collect::<Result<_, _>>()?;
        } else if !value.is_vector() {
            let ty = Ty {
                scalar: dtype,
                lanes: chunk as u16,
            };
            let parts_before = vec![self.locals.value((array, at / chunk))];
            let whole = Val {
                ty,
                lane,
                parts: parts_before,
            };
            let lanes = (0..chunk).map(|i| match i == at % chunk {
                true => Ok(value.clone()),
                false => self.lane(&whole, i),
            });
            let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
            parts = self.pack(dtype, &lanes)?.parts;
        }
        for (i, part) in parts.into_iter().enumerate() {
            self.locals.set((array, at / chunk + i), part);
        }
        Ok(true)
    }
}

/// Lanes of the cells of an array with these accesses; `None` if it must be in memory.
fn chunk_of(
    isa: Isa,
    dtype: ScalarType,
    len: usize,
    accesses: &[Option<(usize, usize)>],
) -> Option<usize> {
    let lane = lane_of(dtype);
    let mut inside = Vec::new();
    for access in accesses {
        let (at, lanes) = (*access)?;
        if at.checked_add(lanes)? > len {
            return None;
        }
        inside.push((at, lanes));
    }
    let vectors = || inside.iter().filter(|(_, lanes)| *lanes > 1);
    let whole = |width: &&Width| {
        let chunk = width.bytes() / lane.bytes();
        vectors().all(|&(at, lanes)| {
            let parts = shape(isa, lanes as u16, lane);
            at % chunk == 0 && lanes % chunk == 0 && parts.iter().all(|part| part == *width)
        })
    };
    let by_register = [Width::Z, Width::Y, Width::X]
        .iter()
        .filter(|width| **width <= isa.width())
        .find(whole)
        .filter(|_| dtype != ScalarType::Bool && vectors().next().is_some());
    let chunk = by_register.map_or(1, |width| width.bytes() / lane.bytes());
    (len.div_ceil(chunk) <= MOST_CELLS).then_some(chunk)
}
