//! `static_plan_block_memory`: which tensors share memory is decided at compile time (Relax: `StaticPlanBlockMemory`).
//!
//! Tensors that are not needed together may share storage, if it is allocated wherever one of them is: before it in the same
//! body, or in a body around. Sizes are compared where they are products of the same symbols, `n * 512` and `n * 40`. What a
//! function gives back has memory of its own, so that a caller gets no more than it asked for.
//!
//! There are two ways to share (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020). A storage
//! may hold one tensor at a time and be as large as its largest: the best fit, as TVM chooses it in the order of the program,
//! or large tensors first. Or it is an arena that holds tensors side by side, large ones placed first: only where none but loop
//! programs see them, since others may keep a tensor longer than is planned. The way that takes fewest bytes counts, in this
//! order. On a GPU an arena must save a sixteenth: kernels that use one buffer wait for each other there, also where one needs
//! nothing of the other, while those with buffers of their own may overlap.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use super::liveness::Liveness;
use super::size::{Size, bounds};
use super::{alloc_storage, alloc_tensor_in};
use crate::arith::Analyzer;
use crate::ir::graph::{Arg, Become, Body, Callee, Def, Function, Globals, ValueId, rewrite};
use crate::ir::{AttrValue, Expr, Func, Module};
use crate::kernel::{PART_ALIGN, Target};
use crate::ops::{self, Compute, MachineOp};
use crate::passes::PassError;
use crate::tensor::DType;

/// Asks for storage of the largest size also for what the function gives back.
const PLAN_RESULTS: &str = "relax.memory_plan_dynamic_func_output";

/// The module in which tensors that do not leave their function are in planned memory. Attributes of a function may bound symbolic
/// extents of its signature (`tir_var_upper_bound`, `tir_var_lower_bound`): memory is that of the largest then.
///
/// ```text
///                                    storage = R.memory.alloc_storage(R.shape([64]), …)
/// a = R.builtin.alloc_tensor(…)      a = R.memory.alloc_tensor(storage, 0, …)
/// exp(x, a)                          exp(x, a)
/// b = R.builtin.alloc_tensor(…)      storage1 = R.memory.alloc_storage(R.shape([64]), …)
/// exp(a, b)                    →     b = R.memory.alloc_tensor(storage1, 0, …)
/// c = R.builtin.alloc_tensor(…)      exp(a, b)
/// exp(b, c)                          c = R.memory.alloc_tensor(storage, 0, …)
///                                    exp(b, c)
/// ```
///
/// # Errors
/// [`PassError::Bound`] if a bound is none.
pub(in crate::passes) fn static_plan_block_memory(
    module: &Module,
    target: &Target,
) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        let Func::Graph(function) = func else {
            continue;
        };
        let mut plans = HashMap::new();
        let planner = Planner {
            module,
            bounds: bounds(function)?,
            target,
        };
        planner.plan(function, &mut plans);
        let mut made: HashMap<(usize, usize), Arg> = HashMap::new();
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
            let address = std::ptr::from_ref(old.value) as usize;
            let Some(Placed {
                function,
                storage,
                size,
                offset,
            }) = plans.get(&address)
            else {
                return Ok(Become::Kept);
            };
            let alloc = Alloc::of(old.def).expect("only allocations are planned");
            let builder = rewriter.builder();
            let storage = made.entry((*function, *storage)).or_insert_with(|| {
                let (def, info) = alloc_storage(size, alloc.device, alloc.scope, alloc.dtype);
                Arg::Value(builder.bind_as("storage", def, info))
            });
            let storage = storage.clone();
            let def = alloc_tensor_in(storage, offset, alloc.shape, alloc.dtype, alloc.device);
            Ok(Become::Def(def))
        });
        *function = new;
        function.attrs.shift_remove(PLAN_RESULTS);
    }
    Ok(out)
}

/// The parts of an `R.builtin.alloc_tensor`.
pub(super) struct Alloc<'a> {
    pub(super) shape: &'a [Expr],
    pub(super) dtype: DType,
    pub(super) device: i64,
    pub(super) scope: &'a str,
}

impl<'a> Alloc<'a> {
    pub(super) fn of(def: &'a Def) -> Option<Self> {
        let Def::Call {
            callee: Callee::Op(op),
            args,
            ..
        } = def
        else {
            return None;
        };
        let [
            Arg::Shape(shape),
            Arg::DType(dtype),
            Arg::Prim(device),
            Arg::Str(scope),
        ] = args.as_slice()
        else {
            return None;
        };
        matches!(ops::def(*op).compute, Compute::Machine(MachineOp::Alloc)).then_some(Self {
            shape,
            dtype: *dtype,
            device: device.as_int()?,
            scope,
        })
    }
}

/// The place of a planned tensor.
struct Placed {
    /// Which function it is in, by its address, and which storage there.
    function: usize,
    storage: usize,
    /// Bytes of the storage.
    size: Expr,
    /// Where in the storage it starts.
    offset: Expr,
}

/// What planning knows besides the function.
struct Planner<'a> {
    module: &'a Module,
    bounds: Analyzer,
    target: &'a Target,
}

impl Planner<'_> {
    /// Plans a function and those inside of it; by the addresses of the values.
    fn plan(&self, function: &Function, out: &mut HashMap<usize, Placed>) {
        let tensors = self.tensors(function);
        let address = std::ptr::from_ref(function) as usize;
        let mut groups: Vec<Vec<&Tensor>> = vec![];
        for tensor in &tensors {
            let group = groups.iter_mut().find(|group| group[0].may_share(tensor));
            match group {
                Some(group) => group.push(tensor),
                None => groups.push(vec![tensor]),
            }
        }
        let storages = groups.iter().flat_map(|group| best(group, self.target));
        for (index, storage) in storages.enumerate() {
            let size = storage.size();
            for at in &storage.tensors {
                let placed = Placed {
                    function: address,
                    storage: index,
                    size: size.clone(),
                    offset: at.offset(storage.align),
                };
                let value = &function.values[at.tensor.value];
                out.insert(std::ptr::from_ref(value) as usize, placed);
            }
        }
        for (_, value) in function.values.iter() {
            if let Def::Function(inner) = &value.def {
                self.plan(inner, out);
            }
        }
    }

    /// The tensors of a function whose memory can be planned, in program order.
    fn tensors(&self, function: &Function) -> Vec<Tensor> {
        let live = Liveness::of(function);
        let results = function.attrs.get(PLAN_RESULTS).and_then(AttrValue::as_int) == Some(1);
        let seen = self.seen_by_others(function);
        let mut out = vec![];
        visit(function, &function.body, &mut vec![], &mut |value, path| {
            let Some(alloc) = Alloc::of(&function.values[value].def) else {
                return;
            };
            if live.is_result(value) && !results {
                return;
            }
            out.push(Tensor {
                value,
                size: Size::of(alloc.shape, alloc.dtype, &self.bounds),
                device: alloc.device,
                scope: alloc.scope.to_owned(),
                from: live.position(value),
                to: live.last_use(value),
                path: path.to_vec(),
                private: !live.is_result(value) && !seen.contains(&value),
            });
        });
        out
    }

    /// The values whose memory others than loop programs see, and may keep: under a name of their own, or as parts of another
    /// value.
    fn seen_by_others(&self, function: &Function) -> HashSet<ValueId> {
        let mut seen = HashSet::new();
        let mut bindings = vec![];
        visit(function, &function.body, &mut vec![], &mut |value, _| {
            bindings.push(value);
        });
        for value in bindings.into_iter().rev() {
            let def = &function.values[value].def;
            let passes_on = match def {
                Def::Arg(_) | Def::TupleItem(_, _) | Def::MatchCast(_, _) => seen.contains(&value),
                Def::Call {
                    callee: Callee::Global(name),
                    ..
                } => self.module.prim_func(name).is_none(),
                Def::Call {
                    callee: Callee::Op(op),
                    ..
                } => match ops::def(*op).compute {
                    Compute::View(_) | Compute::Machine(MachineOp::Forward) => {
                        seen.contains(&value)
                    }
                    Compute::Machine(
                        MachineOp::CallProgram | MachineOp::Kill | MachineOp::ShapeOf,
                    ) => false,
                    _ => true,
                },
                Def::If { .. } => {
                    // What branches give is passed on. The host reads the condition.
                    let given = def
                        .bodies()
                        .into_iter()
                        .flat_map(|body| body.result.values());
                    seen.extend(given);
                    true
                }
                _ => true,
            };
            if passes_on {
                seen.extend(def.used_values());
            }
        }
        seen
    }
}

/// A tensor that needs memory for some time.
struct Tensor {
    value: ValueId,
    size: Size,
    device: i64,
    scope: String,
    /// Positions of its first and last use.
    from: usize,
    to: usize,
    /// The bodies that it is in, from that of the function inwards, by their addresses.
    path: Vec<usize>,
    /// Only loop programs see it, and it may lie in an arena.
    private: bool,
}

impl Tensor {
    /// Whether sizes can be compared, and the memory is of the same kind.
    fn may_share(&self, other: &Self) -> bool {
        (self.device, &self.scope, &self.size.symbols)
            == (other.device, &other.scope, &other.size.symbols)
    }

    /// Whether both are needed together.
    fn meets(&self, other: &Self) -> bool {
        self.from <= other.to && other.from <= self.to
    }
}

/// Visits the bindings of a body and of its branches in program order.
fn visit(
    function: &Function,
    body: &Body,
    path: &mut Vec<usize>,
    f: &mut dyn FnMut(ValueId, &[usize]),
) {
    path.push(std::ptr::from_ref(body) as usize);
    for &value in body.blocks.iter().flat_map(|block| &block.bindings) {
        for branch in function.values[value].def.bodies() {
            visit(function, branch, path, f);
        }
        f(value, path);
    }
    path.pop();
}

/// Memory for tensors.
struct Storage<'a> {
    factor: i64,
    tensors: Vec<At<'a>>,
    /// Where tensors side by side may start: at multiples of so many bytes.
    align: i64,
}

/// A tensor in a storage.
struct At<'a> {
    tensor: &'a Tensor,
    /// Where it starts, in the unit of its size.
    from: i64,
    /// How many tensors lie below it at most that are needed together.
    level: i64,
}

impl<'a> At<'a> {
    fn first(tensor: &'a Tensor) -> Self {
        Self {
            tensor,
            from: 0,
            level: 0,
        }
    }

    fn end(&self) -> i64 {
        self.from.saturating_add(self.tensor.size.factor)
    }

    /// Where it starts in the storage. Where that depends on symbols, it is rounded up, and each tensor below adds what rounding
    /// took at most.
    fn offset(&self, align: i64) -> Expr {
        let from = self.tensor.size.times(self.from);
        if self.tensor.size.symbols.is_empty() || self.level == 0 {
            return from;
        }
        let rounded = (from + Expr::i64(align - 1)).floor_div(Expr::i64(align));
        (rounded + Expr::i64(self.level)) * Expr::i64(align)
    }
}

impl Storage<'_> {
    /// Its bytes.
    fn size(&self) -> Expr {
        let Some(first) = self.tensors.first() else {
            return Expr::i64(0);
        };
        let (size, level) = (&first.tensor.size, self.tensors.iter().map(|at| at.level));
        let all = size.times(self.factor);
        match level.max() {
            Some(level @ 1..) if !size.symbols.is_empty() => {
                let rounded = self.align.saturating_mul(level.saturating_add(1));
                all + Expr::i64(rounded)
            }
            _ => all,
        }
    }

    /// Whether no tensor of the storage is needed together with this one, and the first of them all is where the others are.
    fn takes(&self, tensor: &Tensor) -> bool {
        let all = || self.tensors.iter().map(|at| at.tensor).chain([tensor]);
        let first = all().min_by_key(|tensor| tensor.from);
        let reached = |first: &Tensor| all().all(|other| other.path.starts_with(&first.path));
        !self.tensors.iter().any(|at| at.tensor.meets(tensor)) && first.is_some_and(reached)
    }
}

/// Storages for tensors of comparable sizes: those of the way that takes fewest bytes, the first one of equals.
fn best<'a>(tensors: &[&'a Tensor], target: &Target) -> Vec<Storage<'a>> {
    let bytes = |storages: &Vec<Storage>| {
        let factors = storages.iter().map(|storage| i128::from(storage.factor));
        factors.sum::<i128>()
    };
    let mut large_first = tensors.to_vec();
    large_first.sort_by_key(|tensor| -tensor.size.factor);
    let in_turns = [one_at_a_time(tensors), one_at_a_time(&large_first)];
    let in_turns = in_turns.into_iter().min_by_key(bytes).unwrap_or_default();
    let arena = side_by_side(&large_first, align(target));
    let saved = bytes(&in_turns) - bytes(&arena);
    let worth = match target {
        Target::Cpu(_) => saved > 0,
        Target::Gpu(_) => saved > bytes(&in_turns) / 16,
    };
    if worth { arena } else { in_turns }
}

/// Bytes that tensors side by side start at multiples of: a line of the cache, or what a GPU binds.
fn align(target: &Target) -> i64 {
    match target {
        Target::Cpu(_) => 64,
        Target::Gpu(_) => PART_ALIGN as i64,
    }
}

/// Storage for one tensor after the other: the smallest that is large enough, else the largest, which grows.
fn one_at_a_time<'a>(tensors: &[&'a Tensor]) -> Vec<Storage<'a>> {
    let mut storages: Vec<Storage> = vec![];
    for &tensor in tensors {
        let factor = tensor.size.factor;
        let free = storages.iter_mut().filter(|storage| storage.takes(tensor));
        let best = free.min_by_key(|storage| match storage.factor >= factor {
            true => (0, storage.factor),
            false => (1, -storage.factor),
        });
        match best {
            Some(storage) => {
                storage.factor = storage.factor.max(factor);
                storage.tensors.push(At::first(tensor));
            }
            None => storages.push(Storage {
                factor,
                tensors: vec![At::first(tensor)],
                align: 1,
            }),
        }
    }
    storages
}

/// An arena for the tensors that may lie in one, and storages for the others. Large tensors are placed first; while the arena is
/// larger than what is needed together, the tensor that ends it is placed before all others.
fn side_by_side<'a>(tensors: &[&'a Tensor], align: i64) -> Vec<Storage<'a>> {
    const ROUNDS: usize = 64;
    let private = || tensors.iter().filter(|tensor| tensor.private);
    let Some(first) = private().min_by_key(|tensor| tensor.from) else {
        return one_at_a_time(tensors);
    };
    let lies_in_arena = |tensor: &&Tensor| tensor.private && tensor.path.starts_with(&first.path);
    let (mut order, others): (Vec<&Tensor>, Vec<&Tensor>) =
        tensors.iter().copied().partition(lies_in_arena);
    let least = needed_together(&order);
    let mut best = arena(&order, align);
    for _ in 0..ROUNDS {
        if best.factor <= least {
            break;
        }
        let made = arena(&order, align);
        let last = made.tensors.iter().position(|at| at.end() == made.factor);
        if made.factor < best.factor {
            best = made;
        }
        // The tensors of an arena are in the order in which they were placed.
        if let Some(last) = last {
            order[..=last].rotate_right(1);
        }
    }
    level(&mut best.tensors);
    let mut storages = one_at_a_time(&others);
    storages.insert(0, best);
    storages
}

/// The tensors, placed in this order, each in the smallest gap that is large enough.
fn arena<'a>(order: &[&'a Tensor], align: i64) -> Storage<'a> {
    let mut arena = Storage {
        factor: 0,
        tensors: vec![],
        align,
    };
    for &tensor in order {
        // Sizes with symbols are rounded where the symbols are known.
        let aligned = |bytes: i64| match tensor.size.symbols.is_empty() {
            true => bytes.saturating_add(align - 1) / align * align,
            false => bytes,
        };
        let size = tensor.size.factor;
        let placed = arena.tensors.iter().filter(|at| at.tensor.meets(tensor));
        let mut taken: Vec<(i64, i64)> = placed.map(|at| (at.from, aligned(at.end()))).collect();
        taken.sort_unstable();
        let (mut end, mut gaps) = (0, vec![]);
        for (from, to) in taken {
            if from.saturating_sub(end) >= size {
                gaps.push((from - end, end));
            }
            end = end.max(to);
        }
        let from = gaps.into_iter().min().map_or(end, |(_, at)| at);
        let at = At {
            tensor,
            from,
            level: 0,
        };
        arena.factor = arena.factor.max(at.end());
        arena.tensors.push(at);
    }
    arena
}

/// Counts the tensors below each other.
fn level(tensors: &mut [At]) {
    let mut upwards: Vec<usize> = (0..tensors.len()).collect();
    upwards.sort_by_key(|&index| tensors[index].from);
    for (count, &index) in upwards.iter().enumerate() {
        let upper = &tensors[index];
        let below = upwards[..count].iter().map(|&lower| &tensors[lower]);
        let below = below.filter(|lower| lower.tensor.meets(upper.tensor));
        tensors[index].level = below.map(|lower| lower.level + 1).max().unwrap_or(0);
    }
}

/// What tensors take at most that are needed together.
fn needed_together(tensors: &[&Tensor]) -> i64 {
    let at = |position| {
        let there = tensors
            .iter()
            .filter(|tensor| (tensor.from..=tensor.to).contains(&position));
        let sizes = there.map(|tensor| tensor.size.factor);
        sizes.fold(0, i64::saturating_add)
    };
    tensors
        .iter()
        .map(|tensor| at(tensor.from))
        .max()
        .unwrap_or(0)
}
