//! `fuse_reductions`: reductions, and what is computed with their results in the same rows, become functions of their own. The rows of a
//! sum over columns are its elements.
//!
//! TVM's `FuseOps` starts no group at a reduction, so a softmax or a normalisation that is written with primitive operators, as
//! importers write them, becomes a loop program for every reduction and one for what is between two. Here all of it is one.

use std::collections::{HashMap, HashSet};

use super::fuse_ops::pattern;
use super::groups::{Constants, Groups, is_whole};
use super::op_pattern::loads;
use crate::ir::graph::{Arg, BindingBlock, Def, DpsCallee, Function, ValueId};
use crate::ir::{
    Attrs, Block, Buffer, Expr, Func, IterKind, IterVar, Module, Place, PrimFunc, Stmt, Var,
};
use crate::ops::Pattern;

/// Calls that are joined at most.
const MAX_CALLS: usize = 64;

/// The module where chains of calls in dataflow blocks are calls of functions, as `fuse_ops` makes them. A chain has one result;
/// each of its calls computes rows of it from the same rows of what the others compute, and one reduces; or it computes elements of
/// what is reduced, each of which is needed once. What only prepares
/// the result of a convolution or product is left to `fuse_ops`, which joins it to that.
///
/// ```text
/// with R.dataflow():                                       with R.dataflow():
///     m = R.call_tir(cls.max, (x,), …)                →        y = cls.fused_max_subtract_exp_sum_divide(x)
///     s = R.call_tir(cls.subtract, (x, m), …)                  R.output(y)
///     e = R.call_tir(cls.exp, (s,), …)
///     t = R.call_tir(cls.sum, (e,), …)
///     y = R.call_tir(cls.divide, (e, t), …)
///     R.output(y)
/// ```
pub(super) fn fuse_reductions(module: &Module) -> Module {
    let mut out = module.clone();
    for (name, function) in module.functions().filter(|(_, f)| !is_whole(f)) {
        let mut groups = Groups::new(function);
        for block in function.blocks() {
            let calls = Calls::of(module, function, block);
            for members in calls.chains() {
                groups.add(block, members, Attrs::new(), Constants::Passed);
            }
        }
        if !groups.is_empty() {
            let new = groups.replaced(&mut out);
            out.funcs.insert(name.to_owned(), Func::Graph(new));
        }
    }
    out
}

/// The calls of a dataflow block that compute a tensor by a loop program of plain blocks.
struct Calls<'m> {
    /// In the order of the block.
    all: Vec<Call<'m>>,
    by_value: HashMap<ValueId, usize>,
    /// Values that convolutions, products and the like compute.
    anchors: HashSet<ValueId>,
}

struct Call<'m> {
    value: ValueId,
    program: &'m PrimFunc,
    args: &'m [Arg],
    /// Extents of the result.
    dims: &'m [Expr],
    /// Positions of its users, each once; nothing if anybody else uses it.
    users: Option<Vec<usize>>,
}

/// Dimensions that count rows: the first of the results of all calls of a chain.
type Rows<'m> = &'m [Expr];

impl<'m> Calls<'m> {
    fn of(module: &'m Module, function: &'m Function, block: &'m BindingBlock) -> Self {
        let mut calls = Self {
            all: vec![],
            by_value: HashMap::new(),
            anchors: HashSet::new(),
        };
        let Some(outputs) = &block.dataflow else {
            return calls;
        };
        for &value in &block.bindings {
            let found = pattern(module, function, value);
            if found == Pattern::OutEWiseFusable {
                calls.anchors.insert(value);
            }
            if let Def::CallDps {
                callee: DpsCallee::Prim(name),
                args,
                tir_vars: _,
                inplace: None,
                out,
            } = &function.values[value].def
                && found != Pattern::Opaque
                && let Some(program) = module.prim_func(name)
                && let Some(dims) = out.as_tensor().and_then(|info| info.shape.dims())
            {
                calls.by_value.insert(value, calls.all.len());
                calls.all.push(Call {
                    value,
                    program,
                    args,
                    dims,
                    users: (!outputs.contains(&value)).then(Vec::new),
                });
            }
        }
        for &user in &block.bindings {
            let at = calls.by_value.get(&user).copied();
            for used in function.values[user].def.used_values() {
                let Some(&producer) = calls.by_value.get(&used) else {
                    continue;
                };
                let users = &mut calls.all[producer].users;
                match (at, users.as_mut()) {
                    (Some(at), Some(users)) if !users.contains(&at) => users.push(at),
                    (None, _) => *users = None,
                    _ => {}
                }
            }
        }
        calls
    }

    /// The chains, each in the order of the block. The last call is looked at first, so that a chain is as long as it can be.
    fn chains(&self) -> Vec<Vec<ValueId>> {
        let (mut chains, mut taken) = (vec![], HashSet::new());
        for end in (0..self.all.len()).rev() {
            if taken.contains(&end) {
                continue;
            }
            if let Some(chain) = self.chain(end, &taken) {
                taken.extend(&chain);
                let values = chain.iter().map(|&at| self.all[at].value);
                chains.push(values.collect());
            }
        }
        chains
    }

    /// The chain that ends with a call.
    fn chain(&self, end: usize, taken: &HashSet<usize>) -> Option<Vec<usize>> {
        // The rows are those of the reduction that is nearest to the end.
        let any = self.grown(end, taken, &|_, _| true);
        let rows = any.iter().rev().find_map(|&at| self.rows(at))?;
        let last = &self.all[end];
        Computed::of(last.program, rows.len()).filter(|_| last.dims.starts_with(rows))?;
        let mut chain = self.grown(end, taken, &|producer, user| {
            self.in_same_rows(producer, user, rows) || self.is_inlined(producer, user)
        });
        self.leave_to_anchors(&mut chain);
        let reduces = |at: &usize| self.rows(*at).is_some();
        let after = self.depending(&chain, &|at| reduces(&at));
        let epilogue = chain
            .iter()
            .any(|at| after.contains(at) && !reduces(at) || self.uses_any(*at, &after));
        (chain.len() > 1 && epilogue).then_some(chain)
    }

    /// The calls that nothing but the end and others of them use, as far as `joins` a producer to each of its users.
    fn grown(
        &self,
        end: usize,
        taken: &HashSet<usize>,
        joins: &dyn Fn(usize, usize) -> bool,
    ) -> Vec<usize> {
        let mut found = vec![end];
        for at in (0..end).rev() {
            let users = self.all[at].users.as_deref().unwrap_or_default();
            let all = users
                .iter()
                .all(|user| found.contains(user) && joins(at, *user));
            if found.len() < MAX_CALLS && !users.is_empty() && all && !taken.contains(&at) {
                found.push(at);
            }
        }
        found.reverse();
        found
    }

    /// The extents that count the rows that a call reduces, if it does and there may be several.
    fn rows(&self, at: usize) -> Option<Rows<'m>> {
        let Call { program, dims, .. } = &self.all[at];
        let blocks = program.blocks.iter().map(|(_, block)| block);
        let reduction = blocks.into_iter().find(|block| is_reduction(block))?;
        let spatial = reduction.iters.iter();
        let spatial = spatial.take_while(|iter| iter.kind == IterKind::Spatial);
        let extents: Vec<&Expr> = spatial.map(|iter| &iter.dom.extent).collect();
        let count = extents.iter().rposition(|extent| !extent.is_one())? + 1;
        let rows = dims.get(..count)?;
        Computed::of(program, count)?;
        Some(rows)
    }

    /// Whether rows of what a user computes need the same rows of what a producer computes, and no others.
    fn in_same_rows(&self, producer: usize, user: usize, rows: Rows<'_>) -> bool {
        let (producer, user) = (&self.all[producer], &self.all[user]);
        let reads = Computed::of(user.program, rows.len());
        let same = |computed: Computed| {
            let args = user.args.iter().enumerate();
            let mut uses = args.filter(|(_, arg)| **arg == Arg::Value(producer.value));
            uses.all(|(param, _)| computed.reads_rows.get(param).copied().unwrap_or(false))
        };
        producer.dims.starts_with(rows)
            && user.dims.starts_with(rows)
            && Computed::of(producer.program, rows.len()).is_some()
            && reads.is_some_and(same)
    }

    /// Whether each element that a producer computes is read for one element of its user, so that it can be computed there.
    fn is_inlined(&self, producer: usize, user: usize) -> bool {
        let (value, computes) = (self.all[producer].value, self.all[producer].program);
        let Call {
            program,
            args,
            dims,
            ..
        } = &self.all[user];
        let reduces = |program: &PrimFunc| program.blocks.iter().any(|(_, b)| is_reduction(b));
        if reduces(computes) {
            return false;
        }
        if !reduces(program) {
            return self.in_same_rows(producer, user, dims) && self.all[producer].dims == *dims;
        }
        let params: Vec<&Buffer> = program.buffer_params().collect();
        let passed = |buffer: &Buffer| {
            let at = params.iter().position(|param| *param == buffer);
            at.and_then(|at| args.get(at)) == Some(&Arg::Value(value))
        };
        program.child_blocks(program.root.into()).iter().all(|&id| {
            let block = &program.blocks[id];
            let accesses = Accesses::of(program.tree.body(Place::Block(id)));
            accesses.is_some_and(|accesses| {
                let mut reads = accesses.loads.iter();
                reads.all(|(buffer, at)| {
                    !passed(buffer) || is_reduction(block) && reads_once(block, at)
                })
            })
        })
    }

    /// Takes calls out of the chain that come before its reductions and use what an anchor computes, directly or not.
    fn leave_to_anchors(&self, chain: &mut Vec<usize>) {
        let reduced = self.depending(chain, &|at| self.rows(at).is_some());
        let mut left: HashSet<usize> = HashSet::new();
        for &at in chain.iter().filter(|at| !reduced.contains(at)) {
            let uses = |arg: &Arg| match arg {
                Arg::Value(value) => {
                    let inside = self.by_value.get(value).filter(|at| chain.contains(at));
                    match inside {
                        Some(at) => left.contains(at),
                        None => self.anchors.contains(value),
                    }
                }
                _ => false,
            };
            if self.all[at].args.iter().any(uses) {
                left.insert(at);
            }
        }
        // What those use would be computed twice: it leaves with them.
        for &at in chain.iter().rev() {
            let users = self.all[at].users.as_deref().unwrap_or_default();
            if users.iter().any(|user| left.contains(user)) {
                left.insert(at);
            }
        }
        chain.retain(|at| !left.contains(at));
    }

    /// Those of the calls for which `from` holds, or that use what such calls compute, directly or not.
    fn depending(&self, calls: &[usize], from: &dyn Fn(usize) -> bool) -> HashSet<usize> {
        let mut found = HashSet::new();
        for &at in calls {
            if from(at) || self.uses_any(at, &found) {
                found.insert(at);
            }
        }
        found
    }

    fn uses_any(&self, at: usize, calls: &HashSet<usize>) -> bool {
        let mut args = self.all[at].args.iter();
        args.any(|arg| match arg {
            Arg::Value(value) => self
                .by_value
                .get(value)
                .is_some_and(|at| calls.contains(at)),
            _ => false,
        })
    }
}

/// A loop program whose blocks compute rows of their results from the same rows of what other blocks compute.
struct Computed {
    /// Of each parameter, whether it too is read in these rows alone.
    reads_rows: Vec<bool>,
}

impl Computed {
    /// `None` if the first dimensions do not count such rows.
    fn of(program: &PrimFunc, rows: usize) -> Option<Self> {
        let blocks = program.child_blocks(Place::Block(program.root));
        let inside = program.blocks_under(Place::Block(program.root));
        if inside
            .iter()
            .any(|b| *b != program.root && !blocks.contains(b))
        {
            return None;
        }
        let params: Vec<&Buffer> = program.buffer_params().collect();
        let mut reads_rows = vec![true; params.len()];
        for id in blocks {
            let block = &program.blocks[id];
            let Accesses { stores, loads } = Accesses::of(program.tree.body(Place::Block(id)))?;
            let vars = row_vars(block, rows)?;
            let in_rows = |(buffer, indices): &(&Buffer, &[Expr])| at_rows(buffer, indices, &vars);
            if !stores.iter().all(in_rows) || block.predicate.as_int() != Some(1) {
                return None;
            }
            let reduction = is_reduction(block);
            for (loaded, indices) in loads {
                let same = at_rows(&loaded, &indices, &vars);
                let own = stores.iter().any(|(stored, _)| loaded == **stored);
                if reduction && !own && !reads_once(block, &indices) {
                    return None;
                }
                match params.iter().position(|param| **param == loaded) {
                    Some(param) => reads_rows[param] &= same,
                    None if !same => return None,
                    None => {}
                }
            }
        }
        Some(Self { reads_rows })
    }
}

/// What a block stores and loads.
struct Accesses<'b> {
    stores: Vec<(&'b Buffer, &'b [Expr])>,
    loads: Vec<(Buffer, Vec<Expr>)>,
}

impl<'b> Accesses<'b> {
    /// `None` if the block does more than to name values and to store.
    fn of(body: &'b [Stmt]) -> Option<Self> {
        let mut all = Self {
            stores: vec![],
            loads: vec![],
        };
        all.add(body)?;
        (!all.stores.is_empty()).then_some(all)
    }

    fn add(&mut self, body: &'b [Stmt]) -> Option<()> {
        for stmt in body {
            match stmt {
                Stmt::Store {
                    buffer,
                    indices,
                    value,
                } => {
                    self.stores.push((buffer, indices));
                    self.loads.extend(loads(value));
                }
                Stmt::Let {
                    var: _,
                    value,
                    body,
                } => {
                    self.loads.extend(loads(value));
                    self.add(body)?;
                }
                _ => return None,
            }
        }
        Some(())
    }
}

fn is_reduction(block: &Block) -> bool {
    block.iters.iter().any(|iter| iter.kind == IterKind::Reduce)
}

/// The iter variables that count rows: the first ones. A reduction has no others that are spatial, but of extent 1.
fn row_vars(block: &Block, rows: usize) -> Option<Vec<&Var>> {
    let (first, others) = block.iters.split_at_checked(rows)?;
    let reduction = is_reduction(block);
    let fits = others.iter().all(|iter| match iter.kind {
        IterKind::Spatial => !reduction || iter.dom.extent.is_one(),
        IterKind::Reduce => true,
        IterKind::Scan | IterKind::Opaque => false,
    });
    let spatial = first.iter().all(|iter| iter.kind == IterKind::Spatial);
    (fits && spatial).then(|| first.iter().map(|iter| &iter.var).collect())
}

/// Whether the first indices are these variables; 0 is the only index of an extent of 1.
fn at_rows(buffer: &Buffer, indices: &[Expr], vars: &[&Var]) -> bool {
    indices.len() >= vars.len()
        && vars.iter().enumerate().all(|(at, var)| {
            let only = indices[at].is_zero() && buffer.shape()[at].is_one();
            indices[at].as_var() == Some(var) || only
        })
}

/// Whether a reduction reads each element of a tensor for one result: no windows, no operand of a product of matrices.
fn reads_once(block: &Block, indices: &[Expr]) -> bool {
    let of_kind = |kind| block.iters.iter().filter(move |iter| iter.kind == kind);
    let used = |iter: &IterVar| indices.iter().any(|e| e.uses(&iter.var));
    let alone = |e: &Expr| e.as_var().is_some() || e.as_int().is_some();
    indices.iter().all(alone)
        && (!of_kind(IterKind::Reduce).any(used)
            || of_kind(IterKind::Spatial).all(|iter| iter.dom.extent.is_one() || used(iter)))
}
