//! `fuse_transpose_matmul`: a product reads an operand as it lies, instead of a transpose of it (Relax: `FuseTransposeMatmul`).

use std::collections::HashMap;
use std::convert::Infallible;

use super::Cx;
use super::dead_code_elimination::without_unused;
use super::groups::is_whole;
use crate::ir::graph::{Arg, Become, Def, DpsCallee, Function, Globals, ValueId, rewrite};
use crate::ir::{ExprKind, Func, IterKind, Module, Place, PrimFunc, Stmt};
use crate::sched::rules::layouts::{before_transpose, reads_along_sums};

/// The module where products whose default schedules read an operand along the sums take what a transpose takes, if nothing else uses the
/// transpose. Only in dataflow blocks. Weights are rewritten before, by `pack_weights`.
///
/// ```text
/// t = R.call_tir(cls.transpose, (w,), R.Tensor((784, 128)))
/// y = R.call_tir(cls.matmul, (x, t), …)                        →    y = R.call_tir(cls.matmul_transposed, (x, w), …)
/// ```
pub(super) fn fuse_transpose_matmul(module: &Module, cx: &Cx) -> Module {
    let mut out = module.clone();
    let transposes: HashMap<&str, Vec<usize>> = module
        .prim_funcs()
        .filter_map(|(name, func)| Some((name, transposed_from(func)?)))
        .collect();
    if transposes.is_empty() {
        return out;
    }
    let globals = Globals::of(module);
    for (name, function) in module.functions().filter(|(_, f)| !is_whole(f)) {
        let found = Transposes::of(function, &transposes);
        let mut changed = false;
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
            let call = found.blocks.get(&old.id).filter(|_| old.depth == 0);
            let own = call.map(|_| &function.values[old.id].def);
            let (
                Some(Def::CallDps { args: old_args, .. }),
                Def::CallDps {
                    callee: DpsCallee::Prim(callee),
                    args,
                    tir_vars,
                    inplace: None,
                    out: result,
                },
            ) = (own, old.def)
            else {
                return Ok(Become::Kept);
            };
            let Some(mut program) = out.prim_func(callee).cloned() else {
                return Ok(Become::Kept);
            };
            let (mut args, mut fused) = (args.clone(), false);
            for (param, arg) in old_args.iter().enumerate() {
                let Some((source, from)) = found.source(arg, old.id) else {
                    continue;
                };
                let moved = before_transpose(&program, param, from);
                if reads_along_sums(&moved, param, &cx.target) {
                    program = moved;
                    args[param] = rewriter.arg(source);
                    fused = true;
                }
            }
            if !fused {
                return Ok(Become::Kept);
            }
            changed = true;
            let name = out.add_prim_func(&format!("{callee}_transposed"), program);
            Ok(Become::Def(Def::CallDps {
                callee: DpsCallee::Prim(name),
                args,
                tir_vars: tir_vars.clone(),
                inplace: None,
                out: result.clone(),
            }))
        });
        if changed {
            let new = without_unused(&new, &globals);
            out.funcs.insert(name.to_owned(), Func::Graph(new));
        }
    }
    out
}

/// The transposes of a function that are used once.
struct Transposes<'f> {
    /// The dataflow block of each binding of one.
    blocks: HashMap<ValueId, usize>,
    /// What a transpose takes, and from which dimension of the result each dimension of that comes.
    sources: HashMap<ValueId, (&'f Arg, &'f [usize])>,
}

impl<'f> Transposes<'f> {
    fn of(function: &'f Function, transposes: &'f HashMap<&str, Vec<usize>>) -> Self {
        let mut found = Self {
            blocks: HashMap::new(),
            sources: HashMap::new(),
        };
        let blocks = function.body.blocks.iter().enumerate();
        for (at, block) in blocks.filter(|(_, block)| block.dataflow.is_some()) {
            for &id in &block.bindings {
                found.blocks.insert(id, at);
                if let Def::CallDps {
                    callee: DpsCallee::Prim(name),
                    args,
                    inplace: None,
                    ..
                } = &function.values[id].def
                    && let [source] = args.as_slice()
                    && let Some(from) = transposes.get(name.as_str())
                {
                    found.sources.insert(id, (source, from));
                }
            }
        }
        let mut uses: HashMap<ValueId, usize> = HashMap::new();
        for arg in function.args() {
            arg.walk(&mut |leaf| {
                if let Arg::Value(id) = leaf {
                    *uses.entry(*id).or_default() += 1;
                }
            });
        }
        found.sources.retain(|id, _| uses.get(id) == Some(&1));
        found
    }

    /// The same of an argument that such a transpose computes in the block of its user.
    fn source(&self, arg: &Arg, user: ValueId) -> Option<(&'f Arg, &'f [usize])> {
        let Arg::Value(id) = arg else {
            return None;
        };
        let same_block = self.blocks.get(id) == self.blocks.get(&user);
        self.sources.get(id).copied().filter(|_| same_block)
    }
}

/// From which dimension of the result each dimension of the operand comes, if that is all that a program does.
fn transposed_from(func: &PrimFunc) -> Option<Vec<usize>> {
    let [block] = func.child_blocks(Place::Block(func.root))[..] else {
        return None;
    };
    let params: Vec<_> = func.buffer_params().collect();
    let ([source, result], 2) = (&params[..], func.params.len()) else {
        return None;
    };
    let info = &func.blocks[block];
    let spatial = info.iters.iter().all(|iter| iter.kind == IterKind::Spatial);
    let [
        Stmt::Store {
            buffer,
            indices,
            value,
        },
    ] = func.tree.body(Place::Block(block))
    else {
        return None;
    };
    let ExprKind::Load(loaded, read) = value.kind() else {
        return None;
    };
    let plain = spatial && info.predicate.is_one() && buffer == *result && loaded == *source;
    let dense = [source, result].iter().all(|b| b.node().strides.is_empty());
    if !plain || !dense || indices.len() != read.len() || indices.len() != info.iters.len() {
        return None;
    }
    let from = |index| {
        indices
            .iter()
            .position(|at| at.as_var().is_some() && at == index)
    };
    let from: Vec<usize> = read.iter().map(from).collect::<Option<_>>()?;
    let all = (0..from.len()).all(|at| from.contains(&at));
    all.then_some(from)
}
