//! `annotate_tir_op_pattern`: how each loop program reads what it computes from (Relax: `AnnotateTIROpPattern`).

use std::collections::HashSet;

use crate::ir::{
    AttrValue, BlockId, Buffer, Expr, ExprKind, Func, IterKind, Module, Param, Place, PrimFunc,
    Stmt, Var,
};
use crate::ops::Pattern;
use crate::tensor::scalar::BinOp;

/// The attribute that keeps the pattern of a loop program, by TVM's numbers.
pub(super) const OP_PATTERN: &str = "op_pattern";

/// The module with the pattern of each loop program in its attribute `op_pattern`, where it is not said yet.
pub(super) fn annotate_tir_op_pattern(module: &Module) -> Module {
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        if let Func::Prim(func) = func
            && !func.attrs.contains_key(OP_PATTERN)
        {
            let number = number(op_pattern(func));
            func.attrs
                .insert(OP_PATTERN.to_owned(), AttrValue::Int(number));
        }
    }
    out
}

/// The pattern that the loop program says it has; without a word it is opaque.
pub(super) fn stated(func: &PrimFunc) -> Pattern {
    let stated = func.attrs.get(OP_PATTERN).and_then(AttrValue::as_int);
    let all = [
        Pattern::ElemWise,
        Pattern::Broadcast,
        Pattern::Injective,
        Pattern::CommReduce,
        Pattern::OutEWiseFusable,
        Pattern::Tuple,
    ];
    let found = all.into_iter().find(|p| Some(number(*p)) == stated);
    found.unwrap_or(Pattern::Opaque)
}

/// TVM's number.
pub(super) fn number(pattern: Pattern) -> i64 {
    match pattern {
        Pattern::ElemWise => 0,
        Pattern::Broadcast => 1,
        Pattern::Injective => 2,
        Pattern::CommReduce => 3,
        Pattern::OutEWiseFusable => 4,
        Pattern::Tuple => 7,
        Pattern::Opaque => 8,
    }
}

/// The pattern of a loop program, found block by block: the loosest of its blocks decides. Blocks that reduce count as
/// `OutEWiseFusable` if they multiply and add, or take windows; a reduction followed by an elementwise output, as in softmax, too.
pub(super) fn op_pattern(func: &PrimFunc) -> Pattern {
    // What is one program or another is fused as neither of them.
    let body = func.tree.body(func.root);
    let is_choice = |stmt: &Stmt| matches!(stmt, Stmt::If { .. }) && !stmt.places().is_empty();
    if body.iter().any(is_choice) {
        return Pattern::Opaque;
    }
    let params: HashSet<&Buffer> = func.buffer_params().collect();
    let sizes = sizes(func);
    let mut pattern = Pattern::ElemWise;
    let mut result: Option<Buffer> = None;
    for block in func.blocks_under(Place::Block(func.root)) {
        if block == func.root {
            continue;
        }
        let Some(access) = Accesses::of(func, block) else {
            return Pattern::Opaque;
        };
        let node = &func.blocks[block];
        if params.contains(&access.buffer) {
            let first = result.get_or_insert_with(|| access.buffer.clone());
            // Results of different shapes are not elementwise in one operand.
            if first.shape() != access.buffer.shape() {
                pattern = pattern.max(Pattern::Injective);
            }
        }
        let reads = access.read_pattern(&sizes);
        pattern = match reads {
            Pattern::Opaque => {
                let reduced: Vec<&Var> = node
                    .iters
                    .iter()
                    .filter(|iter| iter.kind == IterKind::Reduce)
                    .map(|iter| &iter.var)
                    .collect();
                if reduced.is_empty() {
                    return Pattern::Opaque;
                }
                let windows = access
                    .loads
                    .iter()
                    .any(|(_, indices)| !is_pure(indices, &reduced));
                let block = if access.multiplies_and_adds() || windows {
                    Pattern::OutEWiseFusable
                } else {
                    Pattern::CommReduce
                };
                pattern.max(block)
            }
            // The end of a softmax.
            _ if pattern == Pattern::CommReduce && params.contains(&access.buffer) => {
                Pattern::OutEWiseFusable
            }
            reads => pattern.max(reads),
        };
    }
    pattern
}

/// The variables that are the same wherever the program uses them: sizes of its tensors and scalars that it takes.
fn sizes(func: &PrimFunc) -> HashSet<Var> {
    let mut sizes = HashSet::new();
    for param in &func.params {
        match param {
            Param::Scalar(var) => sizes.extend([var.clone()]),
            Param::Buffer { handle: _, buffer } => {
                sizes.extend(buffer.shape().iter().flat_map(Expr::free_vars));
            }
        }
    }
    sizes
}

/// Whether the reduce variables are indices by themselves, as in `B[i, j]`, not in `B[i, j + k]`.
fn is_pure(indices: &[Expr], reduced: &[&Var]) -> bool {
    indices.iter().all(|index| {
        let inside = reduced.iter().any(|var| index.uses(var));
        !inside || index.as_var().is_some_and(|var| reduced.contains(&var))
    })
}

/// What the body of a block loads, and the one place where it stores.
struct Accesses {
    buffer: Buffer,
    indices: Vec<Expr>,
    value: Expr,
    loads: Vec<(Buffer, Vec<Expr>)>,
}

impl Accesses {
    /// `None` if the block stores nothing, or at several places, or does anything but store and name what it stores.
    fn of(func: &PrimFunc, block: BlockId) -> Option<Self> {
        let mut found: Option<Self> = None;
        let mut named = vec![];
        let mut plain = true;
        let mut stack: Vec<&Stmt> = func.tree.body(block).iter().collect();
        while let Some(stmt) = stack.pop() {
            match stmt {
                Stmt::Loop(id) => stack.extend(func.tree.body(*id)),
                Stmt::Block(id) => stack.extend(func.tree.body(*id)),
                Stmt::Store {
                    buffer,
                    indices,
                    value,
                } => match &mut found {
                    None => {
                        found = Some(Self {
                            buffer: buffer.clone(),
                            indices: indices.clone(),
                            value: value.clone(),
                            loads: loads(value),
                        });
                    }
                    Some(access) if access.indices == *indices => access.loads.extend(loads(value)),
                    Some(_) => plain = false,
                },
                Stmt::Let {
                    var: _,
                    value,
                    body,
                } => {
                    named.extend(loads(value));
                    stack.extend(body);
                }
                Stmt::If {
                    cond,
                    then: _,
                    otherwise: _,
                } => {
                    plain &= loads(cond).is_empty();
                    stack.extend(stmt.nested().into_iter().flatten());
                }
                _ => plain = false,
            }
        }
        let mut found = found.filter(|_| plain)?;
        found.loads.extend(named);
        Some(found)
    }

    /// The loosest relation between what is loaded and what is stored.
    fn read_pattern(&self, sizes: &HashSet<Var>) -> Pattern {
        let mut loosest = Pattern::ElemWise;
        let mut has_elementwise = false;
        for (buffer, indices) in &self.loads {
            let relation = if self.is_same_place(buffer, indices) {
                has_elementwise = true;
                Pattern::ElemWise
            } else if self.broadcasts(buffer, indices) {
                Pattern::Broadcast
            } else if self.permutes(indices, sizes) {
                Pattern::Injective
            } else {
                return Pattern::Opaque;
            };
            loosest = loosest.max(relation);
        }
        match loosest {
            Pattern::Broadcast if has_elementwise => Pattern::ElemWise,
            other => other,
        }
    }

    /// Whether a load is at the indices of the store; 0 is the only index of an axis of extent 1.
    fn is_same_place(&self, buffer: &Buffer, indices: &[Expr]) -> bool {
        let only = |at: usize| {
            let unit = |buffer: &Buffer| buffer.shape()[at].is_one();
            indices[at].is_zero() && unit(buffer) && unit(&self.buffer)
        };
        indices.len() == self.indices.len()
            && (0..indices.len()).all(|at| indices[at] == self.indices[at] || only(at))
    }

    /// Whether the indices of a load are some of those of the store, in order; axes of extent 1 do not count.
    fn broadcasts(&self, buffer: &Buffer, indices: &[Expr]) -> bool {
        let mut stored = self.indices.iter();
        buffer.shape().iter().zip(indices).all(|(extent, index)| {
            (extent.is_one() && index.is_zero()) || stored.any(|s| s == index)
        })
    }

    /// Whether a load has no variables but sizes and those that the store has as indices.
    fn permutes(&self, indices: &[Expr], sizes: &HashSet<Var>) -> bool {
        let vars: Option<HashSet<&Var>> = self.indices.iter().map(Expr::as_var).collect();
        vars.is_some_and(|vars| {
            let mut used = indices.iter().flat_map(Expr::free_vars);
            used.all(|var| vars.contains(&var) || sizes.contains(&var))
                && indices.iter().all(|index| loads(index).is_empty())
        })
    }

    /// Whether the block is `C[i, j] = C[i, j] + A[i, k] * B[j, k]`, where both factors are used again for other elements.
    fn multiplies_and_adds(&self) -> bool {
        let Some((sum, product)) = without_cast(&self.value).as_binary(BinOp::Add) else {
            return false;
        };
        let is_sum = matches!(
            without_cast(sum).kind(),
            ExprKind::Load(buffer, indices) if *buffer == self.buffer && *indices == self.indices
        );
        let Some((a, b)) = without_cast(product).as_binary(BinOp::Mul) else {
            return false;
        };
        let reused = |factor: &Expr| match without_cast(factor).kind() {
            ExprKind::Load(_, indices) => {
                let mut stored = self.indices.iter().filter_map(Expr::as_var);
                stored.any(|var| !indices.iter().any(|index| index.uses(var)))
            }
            _ => false,
        };
        let direct = self.indices.iter().all(|index| index.as_var().is_some());
        is_sum && direct && reused(a) && reused(b)
    }
}

fn without_cast(e: &Expr) -> &Expr {
    match e.kind() {
        ExprKind::Cast(inner) => without_cast(inner),
        _ => e,
    }
}

/// All loads in an expression, those in indices too.
pub(super) fn loads(e: &Expr) -> Vec<(Buffer, Vec<Expr>)> {
    let mut out = vec![];
    e.walk(&mut |node| {
        if let ExprKind::Load(buffer, indices) = node.kind() {
            out.push((buffer.clone(), indices.clone()));
        }
        true
    });
    out
}
