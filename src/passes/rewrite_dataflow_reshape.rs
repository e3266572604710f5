//! `rewrite_dataflow_reshape`: calls of loop programs that only reshape become views (Relax: `RewriteDataflowReshape`).

use std::collections::HashSet;
use std::convert::Infallible;

use super::bodies::for_each_block;
use crate::arith::Analyzer;
use crate::arith::iter_map::{IterMapLevel, UnitIters, iter_map_simplify};
use crate::ir::graph::{Arg, Become, Callee, Def, DpsCallee, Function, Globals, Value, rewrite};
use crate::ir::{
    Attrs, Buffer, Expr, ExprKind, Func, IterKind, Module, Param, Place, PrimFunc, Stmt,
    StructInfo, Var,
};
use crate::ops;
use crate::tensor::DType;

/// Which calls become views.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Views {
    /// Those in dataflow blocks of which the block passes nothing out, as Relax does it.
    InDataflow,
    /// All.
    Everywhere,
}

/// The module where calls of loop programs that give their input in another shape are calls of `R.reshape`, which costs
/// nothing. `Views` says which calls: a view is a name for the memory of its operand, so a result that a caller gets may be memory
/// that the caller has already.
///
/// ```text
/// y = R.call_tir(cls.flatten, (x,), out_ty=R.Tensor((6,), "float32"))   →   y = R.reshape(x, R.shape([6]))
/// ```
pub(super) fn rewrite_dataflow_reshape(module: &Module, reach: Views) -> Module {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions() {
        let inside = inside_dataflow(function);
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |_, old| {
            if reach == Views::InDataflow && !inside.contains(&std::ptr::from_ref(old.value)) {
                return Ok(Become::Kept);
            }
            Ok(view(module, old.def).map_or(Become::Kept, Become::Def))
        });
        out.funcs.insert(name.to_owned(), Func::Graph(new));
    }
    out
}

/// The values of dataflow blocks that nothing outside of them uses.
fn inside_dataflow(function: &Function) -> HashSet<*const Value> {
    let mut inside = HashSet::new();
    for_each_block(function, &mut |function, block| {
        if let Some(outputs) = &block.dataflow {
            let bindings = block.bindings.iter().filter(|id| !outputs.contains(id));
            inside.extend(bindings.map(|&id| std::ptr::from_ref(&function.values[id])));
        }
    });
    inside
}

/// The call of `R.reshape` that does the same.
fn view(module: &Module, def: &Def) -> Option<Def> {
    let Def::CallDps {
        callee: DpsCallee::Prim(name),
        args,
        tir_vars: _,
        inplace: None,
        out: StructInfo::Tensor(out),
    } = def
    else {
        return None;
    };
    let [arg @ Arg::Value(_)] = args.as_slice() else {
        return None;
    };
    let program = module.prim_func(name)?;
    let dims = out.shape.dims()?.to_vec();
    let zero_sized = dims.iter().any(Expr::is_zero);
    (!zero_sized && is_reshape(program)).then(|| Def::Call {
        callee: Callee::Op(ops::op("reshape")),
        args: vec![arg.clone(), Arg::Shape(dims)],
        attrs: Attrs::new(),
        sinfo_args: vec![],
    })
}

/// Whether the program copies its first tensor to its last one, element by element in the order of memory.
fn is_reshape(program: &PrimFunc) -> bool {
    let buffers: Vec<&Buffer> = program.buffer_params().collect();
    let blocks = program.blocks_under(Place::Block(program.root));
    let blocks: Vec<_> = blocks
        .into_iter()
        .filter(|id| *id != program.root)
        .collect();
    let ([source, target], [block]) = (buffers.as_slice(), blocks.as_slice()) else {
        return false;
    };
    let node = &program.blocks[*block];
    let spatial = node.iters.iter().all(|iter| iter.kind == IterKind::Spatial);
    let always = node.predicate.as_bool() == Some(true);
    let [
        Stmt::Store {
            buffer,
            indices,
            value,
        },
    ] = program.tree.body(*block)
    else {
        return false;
    };
    let ExprKind::Load(loaded, loaded_at) = value.kind() else {
        return false;
    };
    if !spatial
        || !always
        || buffer != *target
        || loaded != *source
        || source.dtype() != target.dtype()
    {
        return false;
    }
    let mut facts = Analyzer::new();
    for param in &program.params {
        if let Param::Buffer { handle: _, buffer } = param {
            buffer
                .shape()
                .iter()
                .filter_map(Expr::as_var)
                .for_each(|var| facts.bind_shape_var(var));
        }
    }
    let inputs: Vec<(Var, _)> = node
        .iters
        .iter()
        .map(|iter| (iter.var.clone(), iter.dom.clone()))
        .collect();
    // The first elements of a tensor are not the tensor in another shape.
    let size = |buffer: &Buffer| {
        let extents = buffer.shape().iter();
        extents.fold(Expr::i64(1), |n, e| n * e.cast(DType::I64))
    };
    if !facts.can_prove_equal(&size(source), &size(target)) {
        return false;
    }
    // The block must write all elements, one after the other.
    let whole =
        indices.len() == node.iters.len()
            && indices.iter().zip(&node.iters).zip(target.shape()).all(
                |((index, iter), extent)| {
                    (index.as_var() == Some(&iter.var) || (extent.is_one() && index.is_zero()))
                        && iter.dom.min.is_zero()
                        && facts.can_prove_equal(&iter.dom.extent, extent)
                },
            );
    for (var, range) in &inputs {
        facts.bind_iteration(var, range);
    }
    let place = |buffer: &Buffer, indices: &[Expr]| {
        let dims = buffer.shape().iter().zip(indices);
        let flat = dims.fold(Expr::i64(0), |flat, (extent, index)| {
            flat * extent.cast(DType::I64) + index.cast(DType::I64)
        });
        facts.simplify(&flat)
    };
    let (from, to) = (place(loaded, loaded_at), place(buffer, indices));
    let simple = |e: &Expr| {
        let one = std::slice::from_ref(e);
        let always = Expr::bool(true);
        iter_map_simplify(
            &facts,
            one,
            &inputs,
            &always,
            IterMapLevel::Surjective,
            UnitIters::Simplify,
        )
        .pop()
        .unwrap_or_else(|| e.clone())
    };
    whole && (facts.can_prove_equal(&from, &to) || facts.can_prove_equal(&simple(&from), &to))
}
