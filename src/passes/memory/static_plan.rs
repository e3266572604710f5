//! `static_plan_block_memory`: which tensors share memory is decided at compile time (Relax: `StaticPlanBlockMemory`).
//!
//! Tensors that are not needed together may share storage, if it is allocated wherever one of them is: before it in the same
//! body, or in a body around. Where sizes are open, the lives of tensors are known all the same: the function asks where they lie
//! when it is called (`weftile.pack_memory`, which remembers its last answers). What a function gives back has memory of its size, so that
//! a caller gets no more than it asked for; others may be in it before.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::rc::Rc;

use super::alloc_tensor_in;
use super::liveness::Liveness;
use super::shared::{Memory, Shared};
use super::size::{Size, bounds};
use super::storages::{Sharing, Tensor, Turns, best};
use crate::arith::Analyzer;
use crate::ir::graph::{Arg, Become, Body, Callee, Def, Function, Globals, ValueId, rewrite};
use crate::ir::{AttrValue, Expr, Func, Module, Var};
use crate::kernel::Target;
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
            .flat_map(|param| function.values[*param].sinfo.defined_vars())
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
