//! `static_plan_block_memory`: which tensors share memory is decided at compile time (Relax: `StaticPlanBlockMemory`).
//!
//! A storage holds one tensor at a time. Tensors that are not needed together may share one, if the storage is allocated wherever
//! one of them is: before it in the same body, or in a body around. Sizes are compared where they are products of the same symbols,
//! `n * 512` and `n * 40`; a storage is as large as its largest tensor. What a function gives back has memory of its own, so
//! that a caller gets no more than it asked for.
//!
//! Storage is chosen best fit, as TVM does, in two orders: as the program runs, and large tensors first (Pisarchyk and Lee,
//! "Efficient Memory Management for Deep Neural Net Inference", 2020: greedy by size for shared objects). The order that
//! takes fewer bytes counts.

use std::collections::HashMap;
use std::convert::Infallible;

use super::liveness::Liveness;
use super::size::{Size, bounds};
use super::{alloc_storage, alloc_tensor_in};
use crate::arith::Analyzer;
use crate::ir::graph::{Arg, Become, Body, Callee, Def, Function, Globals, ValueId, rewrite};
use crate::ir::{AttrValue, Expr, Func, Module};
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
pub(in crate::passes) fn static_plan_block_memory(module: &Module) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        let Func::Graph(function) = func else {
            continue;
        };
        let mut plans = HashMap::new();
        plan(function, &bounds(function)?, &mut plans)?;
        let mut made: HashMap<(usize, usize), Arg> = HashMap::new();
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
            let address = std::ptr::from_ref(old.value) as usize;
            let Some(Placed {
                function,
                storage,
                size,
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
            let def = alloc_tensor_in(storage.clone(), alloc.shape, alloc.dtype, alloc.device);
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

/// The storage of a planned tensor.
struct Placed {
    /// Which function it is in, by its address, and which storage there.
    function: usize,
    storage: usize,
    /// Bytes of the storage.
    size: Expr,
}

/// Plans a function and those inside of it; by the addresses of the values.
fn plan(
    function: &Function,
    bounds: &Analyzer,
    out: &mut HashMap<usize, Placed>,
) -> Result<(), PassError> {
    let tensors = tensors(function, bounds);
    let address = std::ptr::from_ref(function) as usize;
    let mut groups: Vec<Vec<&Tensor>> = vec![];
    for tensor in &tensors {
        let group = groups.iter_mut().find(|group| group[0].may_share(tensor));
        match group {
            Some(group) => group.push(tensor),
            None => groups.push(vec![tensor]),
        }
    }
    let mut count = 0;
    for group in groups {
        let storages = best(&group);
        for storage in storages {
            for tensor in &storage.tensors {
                let value = &function.values[tensor.value];
                let size = Size {
                    factor: storage.factor,
                    symbols: tensor.size.symbols.clone(),
                };
                let placed = Placed {
                    function: address,
                    storage: count,
                    size: size.expr(),
                };
                out.insert(std::ptr::from_ref(value) as usize, placed);
            }
            count += 1;
        }
    }
    for (_, value) in function.values.iter() {
        if let Def::Function(inner) = &value.def {
            plan(inner, bounds, out)?;
        }
    }
    Ok(())
}

/// A tensor that needs memory for some time.
pub(super) struct Tensor {
    pub(super) value: ValueId,
    pub(super) size: Size,
    device: i64,
    scope: String,
    /// Positions of its first and last use.
    pub(super) from: usize,
    pub(super) to: usize,
    /// The bodies that it is in, from that of the function inwards, by their addresses.
    path: Vec<usize>,
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

/// The tensors of a function whose memory can be planned, in program order.
fn tensors(function: &Function, bounds: &Analyzer) -> Vec<Tensor> {
    let live = Liveness::of(function);
    let results = function.attrs.get(PLAN_RESULTS).and_then(AttrValue::as_int) == Some(1);
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
            size: Size::of(alloc.shape, alloc.dtype, bounds),
            device: alloc.device,
            scope: alloc.scope.to_owned(),
            from: live.position(value),
            to: live.last_use(value),
            path: path.to_vec(),
        });
    });
    out
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

/// Memory for one tensor at a time.
struct Storage<'a> {
    factor: i64,
    tensors: Vec<&'a Tensor>,
}

impl Storage<'_> {
    /// Whether no tensor of the storage is needed together with this one, and the first of them all is where the others are.
    fn takes(&self, tensor: &Tensor) -> bool {
        let all = || self.tensors.iter().copied().chain([tensor]);
        let first = all().min_by_key(|tensor| tensor.from);
        let reached = |first: &Tensor| all().all(|other| other.path.starts_with(&first.path));
        !self.tensors.iter().any(|other| other.meets(tensor)) && first.is_some_and(reached)
    }
}

/// Storages for tensors of comparable sizes.
fn best<'a>(tensors: &[&'a Tensor]) -> Vec<Storage<'a>> {
    let in_order = assign(tensors);
    let mut large_first = tensors.to_vec();
    large_first.sort_by_key(|tensor| -tensor.size.factor);
    let large_first = assign(&large_first);
    let bytes = |storages: &[Storage]| storages.iter().map(|s| i128::from(s.factor)).sum::<i128>();
    if bytes(&large_first) < bytes(&in_order) {
        large_first
    } else {
        in_order
    }
}

/// Storage for one tensor after the other: the smallest that is large enough, else the largest, which grows.
fn assign<'a>(tensors: &[&'a Tensor]) -> Vec<Storage<'a>> {
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
                storage.tensors.push(tensor);
            }
            None => storages.push(Storage {
                factor,
                tensors: vec![tensor],
            }),
        }
    }
    storages
}
