//! Weights that a graph unpacks for one product: numbers of a few bits, less a zero point, times a scale.
//!
//! On a GPU such a product reads the packed weight, which is a quarter to an eighth of the unpacked one, and unpacks it in registers or in shared
//! memory. So [`fold_constant`](super::fold_constant) leaves the unpacking in the graph, and [`fuse_ops`](super::fuse_ops) joins it to the
//! product. On lavapipe, two cores, one row by 4096 × 4096 of 4 bits takes 16 ms so (41 with an unpacked
//! constant), 64 rows 225 ms (312). On the CPU unpacked weights stay constants: one row takes 1.6 to 3.3 ms so, and 24 ms where a kernel unpacks
//! the weight at each call.
//!
//! Both passes ask here, with the limits of `fuse_ops`, so that what one leaves unpacked the other joins: a weight with which the product would
//! take more tensors than a kernel binds is a constant.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::fuse_ops::{self, Limits};
use super::op_pattern::op_pattern;
use crate::ir::graph::{Arg, Def, DpsCallee, Function, ValueId};
use crate::ir::{Buffer, Module, Param, Place, PrimFunc, ShapeInfo, StructInfo};
use crate::kernel::Target;
use crate::ops::Pattern;
use crate::sched::rules::pattern::{Pattern as OfBlock, classify};
use crate::sched::rules::reads_packed;
use crate::tensor::DType;

/// Bytes of a value below which it is no weight that is worth it.
const FEWEST_BYTES: i64 = 4096;

/// The values of a function that are made of packed weights for one product.
#[derive(Default)]
pub(super) struct UnpackedWeights {
    /// What is unpacked, and the steps to it.
    values: HashSet<ValueId>,
    /// All that is computed for the operand of a product alone, and that operand.
    parts: HashSet<ValueId>,
}

impl UnpackedWeights {
    /// Those of a function whose loop programs are in the module, where `fuse_ops` joins calls within these limits, if at all.
    pub(super) fn of(
        module: &Module,
        function: &Function,
        target: &Target,
        limits: Option<Limits>,
    ) -> Self {
        let Some(limits) = limits.filter(|_| reads_packed(target)) else {
            return Self::default();
        };
        let mut work = Work {
            module,
            function,
            made: HashMap::new(),
            injective: HashMap::new(),
        };
        work.find_made();
        work.unpacked(limits)
    }

    /// Whether the value is unpacked, or a step to that, and larger than what it is made of.
    pub(super) fn contains(&self, id: ValueId) -> bool {
        self.values.contains(&id)
    }

    /// Whether the value is the unpacked operand of a product, or computed for one alone.
    pub(super) fn is_part(&self, id: ValueId) -> bool {
        self.parts.contains(&id)
    }
}

/// Tensors that a value is made of: constants by their elements, and parameters, each with its bytes and element type.
#[derive(Clone, Default)]
struct Sources(IndexMap<Source, (i64, DType)>);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Source {
    Const(*const u8),
    Param(ValueId),
}

impl Sources {
    fn add(&mut self, source: Source, info: &StructInfo) {
        if let (Some(bytes), Some(dtype)) = (bytes(info), dtype(info)) {
            self.0.insert(source, (bytes, dtype));
        }
    }

    /// Bytes of all of them.
    fn bytes(&self) -> i64 {
        self.bytes_of(&|_| true)
    }

    /// Bytes of those of integers.
    fn integers(&self) -> i64 {
        self.bytes_of(&|dtype| dtype.is_int())
    }

    fn bytes_of(&self, counts: &dyn Fn(DType) -> bool) -> i64 {
        let all = self.0.values().filter(|(_, dtype)| counts(*dtype));
        all.fold(0, |sum, (bytes, _)| sum.saturating_add(*bytes))
    }
}

/// An operand of a product, and all that is computed for it alone, itself among that.
struct Weight {
    product: ValueId,
    parts: Vec<ValueId>,
}

/// What a product is joined with.
struct Room {
    /// Calls, that of the product among them.
    calls: usize,
    /// The tensors that it takes. Each constant is one of its own.
    inputs: Vec<Arg>,
}

impl Room {
    fn of(function: &Function, product: ValueId) -> Self {
        let mut room = Self {
            calls: 1,
            inputs: vec![],
        };
        room.add_inputs(function, product, &[]);
        room
    }

    /// Adds the tensors that a value is computed of, but for some values.
    fn add_inputs(&mut self, function: &Function, id: ValueId, without: &[ValueId]) {
        for arg in function.values[id].def.args() {
            arg.walk(&mut |leaf| match leaf {
                Arg::Value(value) if without.contains(value) => {}
                Arg::Value(_) if self.inputs.contains(leaf) => {}
                Arg::Value(_) | Arg::Const(_) => self.inputs.push(leaf.clone()),
                _ => {}
            });
        }
    }

    /// Puts the parts of an operand in its place, if a kernel takes them all. The product gives one tensor.
    fn takes(
        &mut self,
        function: &Function,
        operand: ValueId,
        parts: &[ValueId],
        limits: Limits,
    ) -> bool {
        let calls = self.calls + parts.len();
        let mut inputs = Self {
            calls,
            inputs: self.inputs.clone(),
        };
        inputs
            .inputs
            .retain(|input| !matches!(input, Arg::Value(id) if *id == operand));
        for &part in parts {
            inputs.add_inputs(function, part, parts);
        }
        let fits = calls <= limits.calls && inputs.inputs.len() < limits.arrays;
        if fits {
            *self = inputs;
        }
        fits
    }
}

struct Work<'a> {
    module: &'a Module,
    function: &'a Function,
    /// The bindings that are made of constants and parameters alone, element by element.
    made: HashMap<ValueId, Sources>,
    /// Whether a loop program is injective, by name.
    injective: HashMap<&'a str, bool>,
}

impl<'a> Work<'a> {
    fn find_made(&mut self) {
        let function = self.function;
        let blocks = function.blocks();
        for block in blocks.into_iter().filter(|block| block.dataflow.is_some()) {
            for &id in &block.bindings {
                let Def::CallDps {
                    callee: DpsCallee::Prim(name),
                    args,
                    inplace: None,
                    ..
                } = &function.values[id].def
                else {
                    continue;
                };
                if let Some(sources) = self.sources(args)
                    && self.is_injective(name)
                {
                    self.made.insert(id, sources);
                }
            }
        }
    }

    /// The sources of a call with these arguments, if nothing else is among them.
    fn sources(&self, args: &[Arg]) -> Option<Sources> {
        let mut all = Sources::default();
        for arg in args {
            // A name for a constant is one.
            let arg = match arg {
                Arg::Value(id) => match &self.function.values[*id].def {
                    Def::Arg(named @ Arg::Const(_)) => named,
                    _ => arg,
                },
                _ => arg,
            };
            match arg {
                Arg::Const(tensor) => {
                    let dims = tensor.shape().iter();
                    let dims = dims.map(|&dim| crate::ir::Expr::i64(dim as i64));
                    let info = StructInfo::tensor(dims.collect(), tensor.dtype());
                    all.add(Source::Const(tensor.bytes().as_ptr()), &info);
                }
                Arg::Value(id) if self.made.contains_key(id) => {
                    let of = self.made[id].0.iter();
                    all.0
                        .extend(of.map(|(source, info)| (source.clone(), *info)));
                }
                Arg::Value(id) if matches!(self.function.values[*id].def, Def::Param) => {
                    all.add(Source::Param(*id), &self.function.values[*id].sinfo);
                }
                _ => return None,
            }
        }
        Some(all)
    }

    fn is_injective(&mut self, name: &'a str) -> bool {
        let module = self.module;
        let found = self.injective.entry(name).or_insert_with(|| {
            let program = module.prim_func(name);
            program.is_some_and(|program| {
                op_pattern(program) <= Pattern::Injective && fuse_ops::is_plain(program)
            })
        });
        *found
    }

    /// Of these, those that are used once: by the next step, or at last by a product that has room for what they are made of.
    fn unpacked(&self, limits: Limits) -> UnpackedWeights {
        let weights = self.weights();
        let mut found = UnpackedWeights::default();
        let mut room: HashMap<ValueId, Room> = HashMap::new();
        for (operand, Weight { product, parts }) in weights {
            let sources = &self.made[&operand];
            if !self.grows(operand) || 2 * sources.integers() <= sources.bytes() {
                continue;
            }
            let room = room
                .entry(product)
                .or_insert_with(|| Room::of(self.function, product));
            if !room.takes(self.function, operand, &parts, limits) {
                log::debug!("a product has no room for what a weight is unpacked of");
                continue;
            }
            found
                .values
                .extend(parts.iter().filter(|id| self.grows(**id)));
            found.parts.extend(parts);
        }
        found
    }

    /// Whether a value is larger than what it is made of, among which are integers.
    fn grows(&self, id: ValueId) -> bool {
        let own = bytes(&self.function.values[id].sinfo).unwrap_or(0);
        let sources = &self.made[&id];
        own > sources.bytes().max(FEWEST_BYTES) && sources.integers() > 0
    }

    /// The operands of products that are made of constants and parameters, last ones first, with what is made for them alone.
    fn weights(&self) -> IndexMap<ValueId, Weight> {
        let mut users: HashMap<ValueId, Vec<ValueId>> = HashMap::new();
        let mut others: HashSet<ValueId> = self.function.body.result.values().into_iter().collect();
        for (id, value) in self.function.values.iter() {
            for used in value.def.used_values() {
                users.entry(used).or_default().push(id);
            }
        }
        let blocks = self.function.blocks();
        for block in &blocks {
            others.extend(block.dataflow.iter().flatten());
        }
        let mut weights: IndexMap<ValueId, Weight> = IndexMap::new();
        let mut operand_of: HashMap<ValueId, ValueId> = HashMap::new();
        for block in blocks.iter().rev() {
            for &id in block.bindings.iter().rev() {
                if !self.made.contains_key(&id) || others.contains(&id) {
                    continue;
                }
                let [user] = users.get(&id).map_or(&[][..], Vec::as_slice) else {
                    continue;
                };
                let operand = match operand_of.get(user) {
                    Some(operand) => *operand,
                    None if self.is_operand_of(id, *user) => id,
                    None => continue,
                };
                operand_of.insert(id, operand);
                let weight = weights.entry(operand).or_insert_with(|| Weight {
                    product: *user,
                    parts: vec![],
                });
                weight.parts.push(id);
            }
        }
        weights
    }

    /// Whether a value is an operand of the product that another one is.
    fn is_operand_of(&self, id: ValueId, user: ValueId) -> bool {
        let Def::CallDps {
            callee: DpsCallee::Prim(name),
            args,
            inplace: None,
            ..
        } = &self.function.values[user].def
        else {
            return false;
        };
        let Some(program) = self.module.prim_func(name) else {
            return false;
        };
        let is_it = |arg: &Arg| matches!(arg, Arg::Value(value) if *value == id);
        let at = args.iter().position(is_it);
        at.is_some_and(|at| is_factor(program, at))
    }
}

/// Whether a loop program multiplies the elements of this parameter, and does nothing else with them.
fn is_factor(program: &PrimFunc, param: usize) -> bool {
    let Some(Param::Buffer { handle: _, buffer }) = program.params.get(param) else {
        return false;
    };
    let blocks = program.child_blocks(Place::Block(program.root)).into_iter();
    let reads = |buffer: &Buffer, block| {
        let mut reads = program.blocks[block].reads.iter();
        reads.any(|read| read.buffer == *buffer)
    };
    let readers: Vec<_> = blocks.filter(|block| reads(buffer, *block)).collect();
    let [reader] = readers.as_slice() else {
        return false;
    };
    match classify(program, *reader) {
        OfBlock::Matmul(matmul) => (matmul.a.buffer == *buffer) != (matmul.b.buffer == *buffer),
        _ => false,
    }
}

fn dtype(info: &StructInfo) -> Option<DType> {
    info.as_tensor()?.dtype
}

/// Bytes of a tensor of known extents.
fn bytes(info: &StructInfo) -> Option<i64> {
    let tensor = info.as_tensor()?;
    let ShapeInfo::Known(dims) = &tensor.shape else {
        return None;
    };
    let width = tensor.dtype?.bytes() as i64;
    let mut dims = dims.iter();
    dims.try_fold(width, |all, dim| all.checked_mul(dim.as_int()?))
}

#[cfg(test)]
mod tests;
