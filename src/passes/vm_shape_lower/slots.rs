//! `Slots`: where the shape heap of a function holds its symbolic dimensions, and which of them have values.

use std::collections::{BTreeSet, HashSet};

use indexmap::IndexSet;

use crate::arith::access_regions;
use crate::ir::graph::{Arg, Callee, Def, Function, ValueId};
use crate::ir::{
    AttrValue, Buffer, Expr, Module, Param, PrimFunc, PrimFuncBuilder, StructInfo, Var,
};
use crate::ops::{self, Compute, MachineOp, MakeDim, MatchDim};
use crate::passes::bind_target::HOST;
use crate::tensor::DType;

/// Slots of one function.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// The dimensions, by the numbers of their slots.
    exprs: IndexSet<Expr>,
    /// Slots that hold a value where the pass is.
    filled: BTreeSet<usize>,
    /// Variables that the function itself gives values.
    defined: HashSet<Var>,
}

impl Slots {
    /// Slots for everything that a function checks or makes: parameters first, then bindings in their order. `around` are the
    /// variables of the functions around.
    pub(super) fn of(function: &Function, around: &[Var], module: &Module) -> Self {
        let mut slots = Self::default();
        for var in around {
            slots.define(var);
        }
        for &param in &function.params {
            let info = &function.values[param].sinfo;
            info.defined_vars().iter().for_each(|var| {
                slots.defined.insert(var.clone());
            });
            slots.add_info(info);
        }
        function.for_each_binding(&mut |id, value| match &value.def {
            Def::MatchCast(arg, info) => {
                slots.defined.extend(info.defined_vars());
                slots.add_arg(arg);
                slots.add_info(info);
            }
            Def::Function(inner) => {
                let vars = slots.captured(inner);
                vars.iter().for_each(|var| slots.add(&var.expr()));
            }
            def => match stands_for(function, id, module) {
                Some(arg) => slots.add_arg(&arg),
                None => {
                    let shape = whole_shape(function, id);
                    shape.iter().flatten().for_each(|dim| slots.add(dim));
                    def.args().into_iter().for_each(|arg| slots.add_arg(arg));
                    let branches = def.bodies().into_iter();
                    branches.for_each(|body| slots.add_arg(&body.result));
                }
            },
        });
        slots.add_arg(&function.body.result);
        slots
    }

    /// A slot for a variable that gets its value at the start.
    fn define(&mut self, var: &Var) {
        self.defined.insert(var.clone());
        self.add(&var.expr());
    }

    /// Slots for what a result is checked against.
    pub(super) fn add_info(&mut self, info: &StructInfo) {
        match info {
            // What a callable says of its parameters is its own.
            StructInfo::Callable {
                params: _,
                ret: _,
                pure: _,
            } => {}
            StructInfo::Tuple(items) => items.iter().for_each(|item| self.add_info(item)),
            info => info.exprs().into_iter().for_each(|e| self.add(e)),
        }
    }

    fn add_arg(&mut self, arg: &Arg) {
        arg.exprs().into_iter().for_each(|e| self.add(e));
    }

    pub(super) fn add(&mut self, e: &Expr) {
        if is_constant(e) {
            return;
        }
        self.exprs.insert(e.clone());
        for var in e.free_vars() {
            self.exprs.insert(var.expr());
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.exprs.len()
    }

    /// The variables of this function that a function inside uses and does not define itself.
    fn captured(&self, inner: &Function) -> Vec<Var> {
        let mut vars = inner.symbolic_vars();
        vars.retain(|var| self.defined.contains(var));
        vars
    }

    /// Those of them that have values.
    pub(super) fn captured_here(&self, inner: &Function) -> Vec<Var> {
        let mut vars = self.captured(inner);
        vars.retain(|var| self.slot(&var.expr()).is_some());
        vars
    }

    /// The slot of a dimension that has a value.
    fn slot(&self, e: &Expr) -> Option<usize> {
        let slot = self.exprs.get_index_of(e)?;
        self.filled.contains(&slot).then_some(slot)
    }

    /// How a dimension is matched now: what has no value and is no variable is left out.
    pub(super) fn match_dim(&mut self, e: &Expr) -> MatchDim {
        if let Some(value) = e.as_int() {
            return MatchDim::Equal(value);
        }
        if let Some(slot) = self.slot(e) {
            return MatchDim::EqualSlot(slot);
        }
        match self.exprs.get_index_of(e) {
            Some(slot) if e.as_var().is_some() => {
                self.filled.insert(slot);
                MatchDim::Store(slot)
            }
            _ => MatchDim::Skip,
        }
    }

    /// How a dimension is made, if it has a value.
    pub(super) fn make_dim(&self, e: &Expr) -> Option<MakeDim> {
        match e.as_int() {
            Some(value) => Some(MakeDim::Imm(value)),
            None => self.slot(e).map(MakeDim::Slot),
        }
    }

    /// Which slots have values, to be given back to [`restore`](Self::restore) where these are again.
    pub(super) fn save(&self) -> BTreeSet<usize> {
        self.filled.clone()
    }

    /// Forgets the values of slots that others have filled.
    pub(super) fn restore(&mut self, filled: BTreeSet<usize>) {
        self.filled = filled;
    }

    /// A program that computes every dimension whose variables have values; nothing if there is none that has no value yet.
    pub(super) fn compute(&mut self) -> Option<PrimFunc> {
        let is_ready = |e: &Expr| {
            let mut vars = e.free_vars().into_iter();
            e.as_var().is_none() && vars.all(|var| self.slot(&var.expr()).is_some())
        };
        let ready: Vec<usize> = (0..self.count())
            .filter(|slot| !self.filled.contains(slot) && is_ready(&self.exprs[*slot]))
            .collect();
        if ready.is_empty() {
            return None;
        }
        let mut b = PrimFuncBuilder::new("shape_func");
        b.private();
        b.func_attr(HOST, AttrValue::Bool(true));
        let heap = b.param("H", [Expr::i64(self.count() as i64)], DType::I64);
        for &slot in &ready {
            let loaded = |var: &Var| self.load(&heap, var);
            let value = self.exprs[slot].substitute(&loaded).cast(DType::I64);
            b.store(&heap, [Expr::i64(slot as i64)], value);
        }
        self.filled.extend(ready);
        let func = b.finish(access_regions);
        Some(func.expect("stores into slots of a heap that has them"))
    }

    fn load(&self, heap: &Buffer, var: &Var) -> Option<Expr> {
        let slot = self.exprs.get_index_of(&var.expr())?;
        let value = Expr::load(heap, vec![Expr::i64(slot as i64)]);
        Some(value.cast(var.dtype()))
    }
}

/// Whether a scalar is an operand as it is.
pub(super) fn is_constant(e: &Expr) -> bool {
    e.as_int().is_some() || e.as_float().is_some()
}

/// The scalar that a call computes, where that is known: of a program that only computes a scalar of sizes, and of a tensor whose
/// value the type of the result says.
pub(super) fn stands_for(function: &Function, id: ValueId, module: &Module) -> Option<Arg> {
    let value = &function.values[id];
    let Def::Call { callee, args, .. } = &value.def else {
        return None;
    };
    match callee {
        Callee::Op(op) => match (ops::def(*op).compute, &value.sinfo) {
            (
                Compute::Machine(MachineOp::Scalar),
                StructInfo::Prim {
                    dtype: _,
                    value: Some(scalar),
                },
            ) => Some(Arg::Prim(scalar.clone())),
            _ => None,
        },
        Callee::Global(name) => {
            let program = module.prim_func(name)?;
            let scalar = program.as_scalar()?;
            let known = |arg: &Arg| match arg {
                Arg::Prim(e) => Some(e.clone()),
                Arg::Value(id) => match &function.values[*id].sinfo {
                    StructInfo::Prim { dtype: _, value } => value.clone(),
                    _ => None,
                },
                _ => None,
            };
            let given: Vec<Expr> = args.iter().map(known).collect::<Option<_>>()?;
            let scalar = scalar.substitute(&|var| {
                let is_var = |param: &Param| matches!(param, Param::Scalar(own) if own == var);
                let at = program.params.iter().position(is_var)?;
                given.get(at).cloned()
            });
            Some(Arg::Prim(scalar))
        }
        Callee::Packed(_) | Callee::PurePacked(_) | Callee::Value(_) => None,
    }
}

/// The shape of the result of a reshape whose operand leaves extents open (-1, or 0 for that of the tensor).
pub(super) fn whole_shape(function: &Function, id: ValueId) -> Option<Vec<Expr>> {
    let value = &function.values[id];
    let Def::Call {
        callee: Callee::Op(op),
        args,
        ..
    } = &value.def
    else {
        return None;
    };
    let (Compute::View(_), Some(shape)) = (ops::def(*op).compute, args.get(1)) else {
        return None;
    };
    let dims = match shape {
        Arg::Shape(dims) => dims.as_slice(),
        Arg::Value(shape) => match &function.values[*shape].sinfo {
            StructInfo::Shape(shape) => shape.dims()?,
            _ => return None,
        },
        _ => return None,
    };
    let is_open = |dim: &Expr| dim.as_int().is_some_and(|dim| dim <= 0);
    if !dims.iter().any(is_open) {
        return None;
    }
    let result = value.sinfo.as_tensor()?;
    result.shape.dims().map(<[Expr]>::to_vec)
}
