//! `pack_weights`: weights get the layouts that schedules want (TVM: `AttachAttrLayoutFreeBuffers`, `SplitLayoutRewritePreproc`).

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use super::{Cx, PassError};
use crate::ir::graph::{
    Arg, Become, Callee, Def, DpsCallee, Function, Globals, Rewriter, ValueId, rewrite,
};
use crate::ir::{AttrValue, Expr, Func, Module, Param, PrimFunc, StructInfo};
use crate::sched::rules::layouts::{Layout, Wanted, wanted, with_layout};
use crate::te;
use crate::tensor::DType;

/// Which weights are packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Weights {
    /// Constants, which `fold_constant` then packs.
    Constants,
    /// Also parameters after `num_input`, and what is made of these alone: `lift_transform_params` moves the packing out of the
    /// function. Without it, each call would pack.
    Parameters,
}

/// The module where a weight is rewritten by a call of its own to the layout that the default schedules of the loop programs want that
/// use it, and these read it so. A weight that not all of its users want so keeps its layout: there would be two of it. Only in dataflow
/// blocks.
///
/// ```text
///                                                  p = R.call_tir(cls.panels, (w,), R.Tensor((8, 784, 16), …))
/// y = R.call_tir(cls.matmul, (x, w), …)      →     y = R.call_tir(cls.matmul_packed, (x, p), …)
/// ```
pub(super) fn pack_weights(
    module: &Module,
    cx: &Cx,
    weights: Weights,
) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut packing = Packing {
        wanted: module
            .prim_funcs()
            .map(|(name, func)| (name.to_owned(), wanted(func, &cx.target)))
            .collect(),
        packed: HashMap::new(),
        out: module.clone(),
    };
    packing.wanted.retain(|_, wanted| !wanted.is_empty());
    if packing.wanted.is_empty() {
        return Ok(packing.out);
    }
    for (name, function) in module.functions() {
        let free = FreeLayouts::of(function, weights);
        let agreed = packing.agreed(function, &free);
        packing.packed.clear();
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
            let at = free.may_rewrite(old.id) && old.depth == 0;
            let own = function.values.get(old.id).filter(|_| at);
            Ok(match own {
                Some(own) => packing.call(free.block(old.id), &agreed, &own.def, rewriter, old.def),
                None => Become::Kept,
            })
        });
        packing.out.funcs.insert(name.to_owned(), Func::Graph(new));
    }
    Ok(packing.out)
}

struct Packing {
    /// By loop program.
    wanted: HashMap<String, Vec<Wanted>>,
    /// The weights of this function in other layouts that its blocks have so far.
    packed: HashMap<(Option<usize>, Leaf), Arg>,
    out: Module,
}

impl Packing {
    /// The layouts of weights that are wanted wherever these are used.
    fn agreed(&self, function: &Function, free: &FreeLayouts) -> HashMap<Leaf, Layout> {
        let mut wishes: HashMap<(Leaf, &Layout), usize> = HashMap::new();
        for call in free.calls.keys() {
            let Def::CallDps {
                callee: DpsCallee::Prim(name),
                args,
                ..
            } = &function.values[*call].def
            else {
                continue;
            };
            for Wanted { param, layout } in self.wanted.get(name).into_iter().flatten() {
                if let Some(leaf) = args.get(*param).and_then(Leaf::of) {
                    *wishes.entry((leaf, layout)).or_default() += 1;
                }
            }
        }
        let agreed = wishes
            .into_iter()
            .filter(|((leaf, _), count)| free.uses(leaf) == Some(*count));
        agreed
            .map(|((leaf, layout), _)| (leaf, layout.clone()))
            .collect()
    }

    /// What becomes of a call, with its arguments in the old function and in the new one.
    fn call(
        &mut self,
        block: Option<usize>,
        agreed: &HashMap<Leaf, Layout>,
        old: &Def,
        rewriter: &mut Rewriter<'_>,
        new: &Def,
    ) -> Become {
        let (
            Def::CallDps {
                callee: _,
                args: old_args,
                ..
            },
            Def::CallDps {
                callee: DpsCallee::Prim(name),
                args,
                tir_vars,
                inplace: None,
                out,
            },
        ) = (old, new)
        else {
            return Become::Kept;
        };
        let Some(program) = self.out.prim_func(name).cloned() else {
            return Become::Kept;
        };
        let wanted = self.wanted.get(name).cloned().unwrap_or_default();
        let (mut args, mut packed) = (args.clone(), program);
        let mut any = false;
        for wanted in wanted {
            let leaf = old_args.get(wanted.param).and_then(Leaf::of);
            let Some(leaf) = leaf.filter(|leaf| agreed.get(leaf) == Some(&wanted.layout)) else {
                continue;
            };
            let place = (block, leaf);
            let weight = match self.packed.get(&place) {
                Some(weight) => Some(weight.clone()),
                None => self.pack(&packed, &wanted, &args[wanted.param], rewriter),
            };
            let Some(weight) = weight else { continue };
            self.packed.insert(place, weight.clone());
            args[wanted.param] = weight;
            packed = with_layout(&packed, &wanted);
            any = true;
        }
        if !any {
            return Become::Kept;
        }
        Become::Def(Def::CallDps {
            callee: DpsCallee::Prim(self.out.add_prim_func(&format!("{name}_packed"), packed)),
            args,
            tir_vars: tir_vars.clone(),
            inplace: None,
            out: out.clone(),
        })
    }

    /// The weight in its layout.
    fn pack(
        &mut self,
        program: &PrimFunc,
        wanted: &Wanted,
        weight: &Arg,
        rewriter: &mut Rewriter<'_>,
    ) -> Option<Arg> {
        let Param::Buffer { handle: _, buffer } = &program.params[wanted.param] else {
            return None;
        };
        let shape = buffer.shape();
        let layout = &wanted.layout;
        let info = StructInfo::tensor(layout.shape(shape), buffer.dtype());
        let func = laid_out(layout, shape, buffer.dtype())?;
        let call = Def::CallDps {
            callee: DpsCallee::Prim(self.out.add_prim_func(layout.name(), func)),
            args: vec![weight.clone()],
            tir_vars: vec![],
            inplace: None,
            out: info.clone(),
        };
        Some(Arg::Value(rewriter.builder().bind_as("packed", call, info)))
    }
}

/// The program that writes a tensor in a layout.
fn laid_out(layout: &Layout, shape: &[Expr], dtype: DType) -> Option<PrimFunc> {
    let weight = te::placeholder("W", shape.to_vec(), dtype);
    let packed = te::compute("P", layout.shape(shape), |place| {
        let indices = layout.element(place);
        let element = weight.at(&indices);
        let Some(axis) = layout.filled_up() else {
            return element;
        };
        let extent = shape[axis].cast(indices[axis].dtype());
        let exists = indices[axis].lt(extent);
        te::if_then_else(exists, element, Expr::constant(0, dtype))
    });
    te::create_prim_func(layout.name(), &[weight, packed]).ok()
}

/// A tensor that an argument is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Leaf {
    Value(ValueId),
    /// Where its elements are, and which tensor of these they are: views share elements.
    Const(*const u8, DType, Vec<usize>),
}

impl Leaf {
    fn of(arg: &Arg) -> Option<Self> {
        match arg {
            Arg::Value(id) => Some(Self::Value(*id)),
            Arg::Const(tensor) => Some(Self::Const(
                tensor.bytes().as_ptr(),
                tensor.dtype(),
                tensor.shape().to_vec(),
            )),
            _ => None,
        }
    }
}

/// The weights of a function whose layout is its own affair, and the calls that may use them.
pub(super) struct FreeLayouts {
    /// Constants and values that are weights, and how often they are used.
    uses: HashMap<Leaf, usize>,
    /// Bindings of dataflow blocks, each with its block.
    calls: HashMap<ValueId, usize>,
}

impl FreeLayouts {
    pub(super) fn of(function: &Function, weights: Weights) -> Self {
        let mut values = HashSet::new();
        if weights == Weights::Parameters {
            let inputs = function.attrs.get("num_input").and_then(AttrValue::as_int);
            let inputs = inputs.map_or(usize::MAX, |n| n.max(0) as usize);
            values.extend(function.params.iter().skip(inputs));
        }
        let mut calls = HashMap::new();
        let blocks = function.body.blocks.iter().enumerate();
        for (at, block) in blocks.filter(|(_, block)| block.dataflow.is_some()) {
            for &id in &block.bindings {
                calls.insert(id, at);
                if of_weights(&function.values[id].def, &values) {
                    values.insert(id);
                }
            }
        }
        let mut uses = HashMap::new();
        for arg in function.args() {
            arg.walk(&mut |leaf| {
                if let Some(leaf) = Leaf::of(leaf) {
                    *uses.entry(leaf).or_insert(0) += 1;
                }
            });
        }
        uses.retain(|leaf, _| match leaf {
            Leaf::Value(id) => values.contains(id),
            Leaf::Const(..) => true,
        });
        Self { uses, calls }
    }

    /// Whether the value is a binding of a dataflow block.
    pub(super) fn may_rewrite(&self, id: ValueId) -> bool {
        self.calls.contains_key(&id)
    }

    /// Whether the argument is such a weight, and nothing else uses it.
    pub(super) fn is_free(&self, arg: &Arg) -> bool {
        Leaf::of(arg).is_some_and(|leaf| self.uses(&leaf) == Some(1))
    }

    /// The dataflow block of a binding.
    fn block(&self, id: ValueId) -> Option<usize> {
        self.calls.get(&id).copied()
    }

    /// How often a weight is used; `None` if it is no weight.
    fn uses(&self, leaf: &Leaf) -> Option<usize> {
        self.uses.get(leaf).copied()
    }
}

/// Whether the definition computes something of weights alone.
fn of_weights(def: &Def, weights: &HashSet<ValueId>) -> bool {
    let computes = matches!(
        def,
        Def::CallDps {
            callee: DpsCallee::Prim(_),
            inplace: None,
            ..
        } | Def::Call {
            callee: Callee::Op(_),
            ..
        } | Def::TupleItem(_, _)
            | Def::Arg(_)
    );
    let (mut all, mut any) = (true, false);
    for arg in def.args() {
        arg.walk(&mut |leaf| {
            if let Arg::Value(id) = leaf {
                all &= weights.contains(id);
                any = true;
            }
        });
    }
    computes && all && any
}
