//! Local arrays that live in registers: those that are only accessed at constant positions.
//!
//! Cranelift does not move memory into registers, so accumulators must be values from the start (scalar replacement of
//! aggregates). Such an array becomes variables, each of one lane, or of one register where every vector access is aligned to
//! registers. All other local arrays are on the stack.

use std::collections::BTreeMap;

use cranelift_codegen::ir::InstBuilder;
use cranelift_frontend::Variable;

use super::CodegenError;
use super::emit::Emitter;
use super::value::{Val, lane_type, lanes_of, register};
use crate::kernel::{ArrayId, Expr, Space, Ty};
use crate::tensor::ScalarType;

/// More variables than this would only be spilled.
const MOST_VARIABLES: usize = 128;

/// The local arrays that live in registers.
#[derive(Default)]
pub(super) struct Locals(BTreeMap<ArrayId, LocalArray>);

struct LocalArray {
    dtype: ScalarType,
    /// Lanes of each variable.
    chunk: usize,
    variables: Vec<Variable>,
}

/// One access: first lane and number of lanes; `None` if the position is not constant.
type Accesses = BTreeMap<ArrayId, Vec<Option<(usize, usize)>>>;

impl Emitter<'_, '_> {
    /// Declares variables for the local arrays that can live in registers. They start as zeros.
    pub(super) fn declare_locals(&mut self) {
        let accesses = self.accesses();
        for (id, array) in self.kernel.arrays.iter() {
            let (Space::Local, Some(len)) = (&array.space, array.len.as_const()) else {
                continue;
            };
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            let none = vec![];
            let Some(chunk) = chunk_of(array.dtype, len, accesses.get(&id).unwrap_or(&none)) else {
                continue;
            };
            let lane = lane_type(array.dtype);
            let ty = if chunk == 1 { lane } else { register(lane) };
            let zero = if array.dtype.is_float() {
                self.float_const(ty, 0.0)
            } else {
                self.int_const(ty, 0)
            };
            let variables = (0..len.div_ceil(chunk))
                .map(|_| {
                    let variable = self.b.declare_var(ty);
                    self.b.def_var(variable, zero);
                    variable
                })
                .collect();
            self.locals.0.insert(
                id,
                LocalArray {
                    dtype: array.dtype,
                    chunk,
                    variables,
                },
            );
        }
    }

    /// Whether the array lives in registers.
    pub(super) fn in_registers(&self, array: ArrayId) -> bool {
        self.locals.0.contains_key(&array)
    }

    fn accesses(&self) -> Accesses {
        let mut accesses = Accesses::new();
        self.kernel
            .walk_accesses(&mut |array, index, lanes, active| {
                let at = self.scope.poly(self.kernel, index).as_constant();
                let at = at.filter(|_| active.is_none());
                let at = at.and_then(|at| usize::try_from(at).ok());
                let access = at.map(|at| (at, usize::from(lanes)));
                accesses.entry(array).or_default().push(access);
            });
        accesses
    }

    /// A load from an array in registers; `None` if the array is in memory.
    pub(super) fn load_local(&mut self, array: ArrayId, index: &Expr, lanes: u16) -> Option<Val> {
        let at = self.scope.poly(self.kernel, index).as_constant()? as usize;
        let local = self.locals.0.get(&array)?;
        let (dtype, chunk) = (local.dtype, local.chunk);
        let lane = lane_type(dtype);
        let ty = Ty {
            scalar: dtype,
            lanes,
        };
        if chunk == 1 {
            let variables = local.variables[at..at + usize::from(lanes)].to_vec();
            let values: Vec<_> = variables.into_iter().map(|v| self.b.use_var(v)).collect();
            return Some(self.pack_lanes(dtype, &values));
        }
        let first = at / chunk;
        if lanes == 1 {
            let part = self.b.use_var(local.variables[first]);
            let value = self.b.ins().extractlane(part, (at % chunk) as u8);
            return Some(Val::scalar(dtype, value));
        }
        let variables = local.variables[first..first + usize::from(lanes) / chunk].to_vec();
        let parts = variables.into_iter().map(|v| self.b.use_var(v)).collect();
        Some(Val { ty, lane, parts })
    }

    /// A store to an array in registers; false if the array is in memory.
    pub(super) fn store_local(
        &mut self,
        array: ArrayId,
        index: &Expr,
        value: &Val,
    ) -> Result<bool, CodegenError> {
        let Some(at) = self.scope.poly(self.kernel, index).as_constant() else {
            return Ok(false);
        };
        let Some(local) = self.locals.0.get(&array) else {
            return Ok(false);
        };
        let at = at as usize;
        let chunk = local.chunk;
        let expected = Ty {
            scalar: local.dtype,
            lanes: value.ty.lanes,
        };
        self.expect_type("a store", expected, value.ty)?;
        let local = &self.locals.0[&array];
        let first = at / chunk;
        if chunk == 1 {
            let variables = local.variables[at..at + usize::from(value.ty.lanes)].to_vec();
            for (i, variable) in variables.into_iter().enumerate() {
                let lane = self.lane(value, i);
                self.b.def_var(variable, lane);
            }
        } else if value.is_vector() {
            let variables = local.variables[first..first + value.parts.len()].to_vec();
            for (variable, &part) in variables.into_iter().zip(&value.parts) {
                self.b.def_var(variable, part);
            }
        } else {
            let variable = local.variables[first];
            let part = self.b.use_var(variable);
            let part = self
                .b
                .ins()
                .insertlane(part, value.parts[0], (at % chunk) as u8);
            self.b.def_var(variable, part);
        }
        Ok(true)
    }
}

/// Lanes of the variables of an array with these accesses; `None` if it must be in memory.
fn chunk_of(dtype: ScalarType, len: usize, accesses: &[Option<(usize, usize)>]) -> Option<usize> {
    let width = lanes_of(lane_type(dtype));
    let mut by_register = dtype != ScalarType::Bool;
    let mut vectors = false;
    for access in accesses {
        let (at, lanes) = (*access)?;
        if at.checked_add(lanes)? > len {
            return None;
        }
        if lanes > 1 {
            vectors = true;
            by_register &= at % width == 0 && lanes % width == 0;
        }
    }
    let chunk = if vectors && by_register { width } else { 1 };
    (len.div_ceil(chunk) <= MOST_VARIABLES).then_some(chunk)
}
