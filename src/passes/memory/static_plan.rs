//! `static_plan_block_memory`: which tensors share memory is decided at compile time (Relax: `StaticPlanBlockMemory`).
//!
//! Tensors that are not needed together may share storage, if it is allocated wherever one of them is: before it in the same
//! body, or in a body around. Where sizes are open, the lives of tensors are known all the same: the function asks where they lie
//! when it is called (`weftile.pack_memory`), once for each signature. What a function gives back has memory of its size, so that
//! a caller gets no more than it asked for; others may be in it before.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::rc::Rc;

use super::liveness::Liveness;
use super::size::{Size, bounds};
use super::storages::{Packed, Sharing, Tensor, Turns, best};
use super::{alloc_storage, alloc_tensor_in};
use crate::arith::Analyzer;
use crate::ir::graph::{
    Arg, Become, Body, Callee, Def, Function, Globals, GraphBuilder, ValueId, rewrite,
};
use crate::ir::{AttrValue, Attrs, Expr, Func, Module, ShapeInfo, StructInfo, Var};
use crate::kernel::Target;
use crate::ops::{self, Compute, MachineOp};
use crate::passes::PassError;
use crate::tensor::pack::{Packing, memory_of};
use crate::tensor::{DType, PACK_MEMORY};

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
        let mut made: HashMap<usize, Memory> = HashMap::new();
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
            let address = std::ptr::from_ref(old.value) as usize;
            let Some(Placed { shared, at }) = plans.get(&address) else {
                return Ok(Become::Kept);
            };
            let alloc = Alloc::of(old.def).expect("only allocations are planned");
            let key = Rc::as_ptr(shared) as usize;
            let memory = made
                .entry(key)
                .or_insert_with(|| Memory::of(shared, rewriter.builder(), &alloc));
            let (storage, offset) = memory.place(*at);
            let def = alloc_tensor_in(storage, &offset, alloc.shape, alloc.dtype, alloc.device);
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
    /// What it shares with others.
    shared: Rc<Shared>,
    /// Which of the tensors there it is: the tenants, then their hosts.
    at: usize,
}

/// Memory that several tensors share.
enum Shared {
    /// One storage for one after the other.
    Turns(Expr),
    /// An arena of so many bytes, and storages of so many for results: in which of them each tensor is, and where.
    Fixed {
        sizes: Vec<Expr>,
        places: Vec<(usize, usize)>,
    },
    /// The same for sizes that are known when the function is called: what is asked then, and of which sizes.
    Open {
        numbers: Vec<i64>,
        sizes: Vec<Size>,
        hosts: Vec<Size>,
        /// By tensor: how many of the results are made after it. It is in the memory of none of the others.
        hosts_after: Vec<usize>,
    },
}

impl Shared {
    fn of(packed: &Packed<'_>) -> Self {
        let hosts = || packed.hosts.iter().map(|host| host.size.clone());
        if !packed.is_fixed() {
            let mut sizes = vec![];
            return Self::Open {
                numbers: packed.numbers(&mut sizes),
                sizes,
                hosts: hosts().collect(),
                hosts_after: packed.hosts_after(),
            };
        }
        let Packing { arena, starts } = packed.places(&|size| size.factor);
        let memories = [arena].into_iter().chain(hosts().map(|host| host.factor));
        let memories: Vec<i64> = memories.collect();
        let place = |(start, tenant): (i64, &&Tensor)| {
            let bytes = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
            let end = bytes(start.saturating_add(tenant.size.factor));
            let sizes = memories.iter().map(|size| bytes(*size));
            let found = memory_of(sizes, bytes(start), end);
            found.expect("what is packed lies in one of the memories")
        };
        let starts = starts.into_iter().zip(&packed.tenants);
        let own = (1..memories.len()).map(|host| (host, 0));
        Self::Fixed {
            places: starts.map(place).chain(own).collect(),
            sizes: memories.into_iter().map(Expr::i64).collect(),
        }
    }
}

/// Shared memory as the function has it: storages, and in which of them and where each tensor starts.
enum Memory {
    Turns(Arg),
    Fixed(Vec<Option<Arg>>, Vec<(usize, usize)>),
    Open {
        arena: Vec<Arg>,
        /// By tensor: where it starts, and in how many of the storages it may be.
        places: Vec<(Expr, usize)>,
    },
}

impl Memory {
    /// Allocates the memory. An arena in which nothing is takes no storage.
    fn of(shared: &Shared, builder: &mut GraphBuilder, alloc: &Alloc<'_>) -> Self {
        let storage = |builder: &mut GraphBuilder, size: &Expr| {
            let (def, info) = alloc_storage(size, alloc.device, alloc.scope, alloc.dtype);
            Arg::Value(builder.bind_as("storage", def, info))
        };
        match shared {
            Shared::Turns(size) => Self::Turns(storage(builder, size)),
            Shared::Fixed { sizes, places } => {
                let used = |at: usize| places.iter().any(|(memory, _)| *memory == at);
                let storages = sizes.iter().enumerate();
                let storages = storages.map(|(at, size)| used(at).then(|| storage(builder, size)));
                Self::Fixed(storages.collect(), places.clone())
            }
            Shared::Open {
                numbers,
                sizes,
                hosts,
                hosts_after,
            } => {
                let (bytes, offsets) = packing(builder, numbers, sizes, hosts_after.len());
                let mut arena = vec![storage(builder, &bytes)];
                arena.extend(hosts.iter().map(|host| storage(builder, &host.expr())));
                let places = offsets.into_iter().zip(hosts_after);
                let places = places.map(|(offset, hosts)| (offset, 1 + hosts)).collect();
                Self::Open { arena, places }
            }
        }
    }

    /// The storage of a tensor, and where it starts there.
    fn place(&self, at: usize) -> (Arg, Expr) {
        match self {
            Self::Turns(storage) => (storage.clone(), Expr::i64(0)),
            Self::Fixed(storages, places) => {
                let (memory, start) = places[at];
                let storage = storages[memory].clone();
                let storage = storage.expect("storages in which tensors are, are made");
                // Not more than the bytes of an arena, which are an `i64`.
                (storage, Expr::i64(start as i64))
            }
            Self::Open { arena, places } => match places.get(at) {
                Some((offset, 1)) => (arena[0].clone(), offset.clone()),
                Some((offset, storages)) => {
                    (Arg::Tuple(arena[..*storages].to_vec()), offset.clone())
                }
                None => (arena[1 + at - places.len()].clone(), Expr::i64(0)),
            },
        }
    }
}

/// Asks the host how to pack tensors of these sizes: the bytes of the arena and the start of each tensor, as variables.
fn packing(
    builder: &mut GraphBuilder,
    numbers: &[i64],
    sizes: &[Size],
    tenants: usize,
) -> (Expr, Vec<Expr>) {
    let numbers = numbers.iter().map(|number| Expr::i64(*number)).collect();
    let sizes = sizes.iter().map(Size::expr).collect();
    let ndim = ShapeInfo::Ndim(tenants + 1);
    let def = Def::Call {
        callee: Callee::Packed(PACK_MEMORY.to_owned()),
        args: vec![Arg::Shape(numbers), Arg::Shape(sizes)],
        attrs: Attrs::new(),
        sinfo_args: vec![StructInfo::Shape(ndim.clone())],
    };
    let packed = builder.bind_as("packing", def, StructInfo::Shape(ndim));
    let bytes = Var::new("arena_bytes", DType::I64).expr();
    let offsets = (0..tenants).map(|at| Var::new(format!("offset_{at}"), DType::I64).expr());
    let offsets: Vec<Expr> = offsets.collect();
    let dims = [vec![bytes.clone()], offsets.clone()].concat();
    let named = StructInfo::Shape(ShapeInfo::Known(dims));
    let cast = Def::MatchCast(Arg::Value(packed), named.clone());
    builder.bind_as("packed", cast, named);
    (bytes, offsets)
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
        let mut groups: Vec<Vec<&Tensor>> = vec![];
        for tensor in &tensors {
            let group = groups.iter_mut().find(|group| group[0].may_share(tensor));
            match group {
                Some(group) => group.push(tensor),
                None => groups.push(vec![tensor]),
            }
        }
        let mut put = |shared: Shared, tensors: &mut dyn Iterator<Item = &Tensor>| {
            let shared = Rc::new(shared);
            for (at, tensor) in tensors.enumerate() {
                let value = &function.values[tensor.value];
                let shared = shared.clone();
                out.insert(std::ptr::from_ref(value) as usize, Placed { shared, at });
            }
        };
        for group in &groups {
            let Sharing { turns, packed } = best(group, self.target);
            for Turns { size, tensors } in turns {
                put(Shared::Turns(size.expr()), &mut tensors.into_iter());
            }
            if let Some(packed) = packed {
                let tensors = packed.tenants.iter().chain(&packed.hosts);
                put(Shared::of(&packed), &mut tensors.copied());
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
        let unbounded = Analyzer::new();
        let params = function.params.iter();
        let known: HashSet<Var> = params
            .flat_map(|param| function.values[*param].sinfo.free_vars())
            .collect();
        let mut out = vec![];
        visit(function, &function.body, &mut vec![], &mut |value, path| {
            let Some(alloc) = Alloc::of(&function.values[value].def) else {
                return;
            };
            let given = live.is_result(value) && !results;
            // What is given back is no larger than it must be, whatever the bounds say.
            let bounds = if given { &unbounded } else { &self.bounds };
            let size = Size::of(alloc.shape, alloc.dtype, bounds);
            let vars = size.symbols.iter().flat_map(Expr::free_vars);
            out.push(Tensor {
                value,
                known: vars.into_iter().all(|var| known.contains(&var)),
                size,
                device: alloc.device,
                scope: alloc.scope.to_owned(),
                from: live.position(value),
                to: live.last_use(value),
                path: path.to_vec(),
                private: !live.is_result(value) && !seen.contains(&value),
                given,
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
