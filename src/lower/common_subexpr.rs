//! Common subexpressions: what straight-line statements compute several times gets a name before it is used first, so that the text
//! of a shader, and the time that a driver takes to compile it, grow with what is computed and not with how often it is written.
//!
//! ```text
//! y[i] = f(g(x[i])) + h(g(x[i]))     =>     t = g(x[i])
//!                                           y[i] = f(t) + h(t)
//! ```
//!
//! Branches that do nothing but store count as straight-line: what the pieces of a tile compute, each under a condition of its own,
//! is computed before the first of them. (On a GPU no division traps.) A value is named only if that makes the text shorter by
//! [`LEAST_SAVED`] nodes. A load that stands behind `and` or `or`, or in a branch, may be guarded by what stands before it, so it
//! is not made earlier: what a branch computes of it several times is named in there. Expressions are compared by value numbers
//! (Click, "Global code motion / global value numbering", PLDI 1995, section 3); a store gives the loads of its array new numbers.

use std::collections::{HashMap, HashSet};

use crate::kernel::{Array, ArrayId, Expr, Kernel, Space, Stmt, VarId, VarInfo};
use crate::tensor::scalar::BinOp;

/// Nodes of the smallest expression that gets a name.
const LEAST_NODES: usize = 10;
/// Nodes that a name has to save.
const LEAST_SAVED: usize = 24;
/// Nodes that a load of a tensor counts as: drivers cannot tell that what is stored in between leaves it as it is.
const LOAD: usize = LEAST_SAVED;

/// Names the common subexpressions of the kernel's body.
pub(super) fn name_common(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = list(kernel, body);
}

/// A list of statements; loops and branches with more than stores end a stretch of it, and their bodies are lists of their own. Branches
/// that only store are lists of their own too. They are named last, after the list around them. One that uses shared memory stays as it
/// is, since barriers may have to part it.
fn list(kernel: &mut Kernel, body: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = vec![];
    let mut stretch = vec![];
    for mut stmt in body {
        let ends = !is_straight(&stmt);
        if ends {
            stmt.map_nested(&mut |body| list(kernel, body));
        }
        stretch.push(stmt);
        if ends {
            out.extend(named(kernel, std::mem::take(&mut stretch)));
        }
    }
    out.extend(named(kernel, stretch));
    for stmt in &mut out {
        let is_shared = |array: ArrayId| kernel.arrays[array].space == Space::Shared;
        if is_straight(stmt) && !uses(stmt, &is_shared) {
            stmt.map_nested(&mut |body| list(kernel, body));
        }
    }
    out
}

/// Whether the statement loads from or stores to such an array.
fn uses(stmt: &Stmt, is_one: &dyn Fn(ArrayId) -> bool) -> bool {
    let mut found = false;
    stmt.walk(&mut |stmt| found |= stmt.written().is_some_and(is_one));
    stmt.walk_exprs(&mut |e| {
        e.walk(&mut |e| found |= matches!(e, Expr::Load { array, .. } if is_one(*array)));
    });
    found
}

/// Whether what is named in the statement may be named before it.
fn is_straight(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Let(..) | Stmt::Store { .. } => true,
        Stmt::If {
            then, otherwise, ..
        } => {
            let stores = |stmt: &Stmt| !matches!(stmt, Stmt::Let(..)) && is_straight(stmt);
            then.iter().chain(otherwise).all(stores)
        }
        Stmt::For { .. } | Stmt::While { .. } | Stmt::Barrier | Stmt::Fragment(_) => false,
    }
}

/// A stretch of statements, the last of which may be a loop or branch: only what is computed before it is looked at.
fn named(kernel: &mut Kernel, mut stretch: Vec<Stmt>) -> Vec<Stmt> {
    let is_tensor = |array: &Array| matches!(array.space, Space::Global { .. });
    let tensors = kernel.arrays.iter().filter(|(_, array)| is_tensor(array));
    let mut numbers = Numbers {
        tensors: tensors.map(|(array, _)| array).collect(),
        ..Numbers::default()
    };
    let mut trees = vec![];
    for stmt in &mut stretch {
        each_piece(kernel, stmt, Guard::None, &mut |_, piece, _| match piece {
            Piece::Computed(e) => {
                let tree = numbers.tree(e);
                numbers.count(e, &tree);
                trees.push(tree);
            }
            Piece::Stored(array) => *numbers.stores.entry(array).or_default() += 1,
        });
    }
    let chosen = numbers.chosen();
    if chosen.is_empty() {
        return stretch;
    }
    let mut names = Names {
        chosen,
        vars: HashMap::new(),
        lets: vec![],
    };
    let mut trees = trees.iter();
    let mut out = vec![];
    for mut stmt in stretch {
        each_piece(
            kernel,
            &mut stmt,
            Guard::None,
            &mut |kernel, piece, guard| {
                if let Piece::Computed(e) = piece {
                    let tree = trees.next().expect("every expression has one");
                    *e = names.expr(kernel, e, tree, guard);
                }
            },
        );
        out.append(&mut names.lets);
        out.push(stmt);
    }
    out
}

/// What happens in a statement.
enum Piece<'a> {
    /// An expression that is computed once, before anything inside of the statement, but for indices of vectors.
    Computed(&'a mut Expr),
    /// The array is another one from here on.
    Stored(ArrayId),
}

/// Visits what happens in the statement, in order; of loops, and of branches that do more than store, what is computed before them.
fn each_piece(
    kernel: &mut Kernel,
    stmt: &mut Stmt,
    guard: Guard,
    visit: &mut dyn FnMut(&mut Kernel, Piece<'_>, Guard),
) {
    let straight = is_straight(stmt);
    match stmt {
        Stmt::While { cond: _, body: _ } => {}
        Stmt::If {
            cond,
            then,
            otherwise,
        } => {
            visit(kernel, Piece::Computed(cond), guard);
            if straight {
                for stmt in then.iter_mut().chain(otherwise) {
                    each_piece(kernel, stmt, Guard::Perhaps, visit);
                }
            }
        }
        Stmt::Store { array, value, .. } => {
            let (array, lanes) = (*array, kernel.ty(value).lanes);
            let exprs = stmt.exprs_mut().into_iter();
            for e in exprs.skip(usize::from(lanes > 1)) {
                visit(kernel, Piece::Computed(e), guard);
            }
            visit(kernel, Piece::Stored(array), guard);
        }
        // Code generators divide its index, as one of vectors.
        Stmt::Fragment(_) => {
            if let Some(array) = stmt.written() {
                visit(kernel, Piece::Stored(array), guard);
            }
        }
        Stmt::Let(..) | Stmt::For { .. } | Stmt::Barrier => {
            for e in stmt.exprs_mut() {
                visit(kernel, Piece::Computed(e), guard);
            }
        }
    }
}

/// How many of the first operands are indices of vectors: code generators divide those by the number of lanes, term by term, which a
/// name would hide from them.
fn indices_of_vectors(e: &Expr) -> usize {
    match e {
        Expr::Load { lanes, .. } if *lanes > 1 => 1,
        _ => 0,
    }
}

/// Whether an expression stands behind `and` or `or`, or in a branch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guard {
    None,
    Perhaps,
}

impl Guard {
    /// The guard of an operand.
    fn of_operand(self, e: &Expr, operand: usize) -> Self {
        match e {
            Expr::Binary(BinOp::And | BinOp::Or, _, _) if operand > 0 => Self::Perhaps,
            _ => self,
        }
    }
}

/// The numbers of an expression and of what is below it.
struct Tree {
    number: usize,
    below: Vec<Tree>,
}

/// A node as text, without its operands, and their numbers.
type Key = (String, Vec<usize>);

/// What is known of the expressions with one number.
struct Value {
    nodes: usize,
    /// How often the statements compute the value; what is below a value that repeats counts once.
    uses: usize,
}

/// Value numbers.
#[derive(Default)]
struct Numbers {
    numbers: HashMap<Key, usize>,
    values: Vec<Value>,
    /// How many stores to an array came before.
    stores: HashMap<ArrayId, usize>,
    /// The arrays in the memory of the device.
    tensors: HashSet<ArrayId>,
}

impl Numbers {
    fn tree(&mut self, e: &Expr) -> Tree {
        let below: Vec<Tree> = e.children().into_iter().map(|e| self.tree(e)).collect();
        let numbers: Vec<usize> = below.iter().map(|tree| tree.number).collect();
        let nodes = numbers.iter().map(|number| self.values[*number].nodes);
        let (own, stores) = match e {
            Expr::Load { array, .. } => {
                let own = if self.tensors.contains(array) {
                    LOAD
                } else {
                    1
                };
                (own, self.stores.get(array).copied().unwrap_or(0))
            }
            _ => (1, 0),
        };
        let nodes = nodes.fold(own, usize::saturating_add);
        let operand = Expr::BlockIdx(0);
        let node = e.map_children(&mut |_| operand.clone());
        let next = self.values.len();
        let key = (format!("{node:?} {stores}"), numbers);
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.values.push(Value { nodes, uses: 0 });
        }
        Tree { number, below }
    }

    fn count(&mut self, e: &Expr, tree: &Tree) {
        let value = &mut self.values[tree.number];
        value.uses += 1;
        if value.uses > 1 {
            return;
        }
        let below = e.children().into_iter().zip(&tree.below);
        for (child, tree) in below.skip(indices_of_vectors(e)) {
            self.count(child, tree);
        }
    }

    /// The values that get a name.
    fn chosen(&self) -> HashSet<usize> {
        let pays = |value: &Value| {
            let saved = value.uses.saturating_sub(1).saturating_mul(value.nodes);
            value.nodes >= LEAST_NODES && saved >= LEAST_SAVED
        };
        let values = self.values.iter().enumerate();
        let chosen = values.filter(|(_, value)| pays(value));
        chosen.map(|(number, _)| number).collect()
    }
}

/// The names made so far.
struct Names {
    chosen: HashSet<usize>,
    vars: HashMap<usize, VarId>,
    /// Definitions that come before the statement at hand.
    lets: Vec<Stmt>,
}

impl Names {
    fn expr(&mut self, kernel: &mut Kernel, e: &Expr, tree: &Tree, guard: Guard) -> Expr {
        if let Some(var) = self.vars.get(&tree.number) {
            return Expr::Var(*var);
        }
        let mut below = tree.below.iter().enumerate();
        let new = e.map_children(&mut |child| {
            let (at, tree) = below.next().expect("a tree has what its expression has");
            match at < indices_of_vectors(e) {
                true => child.clone(),
                false => self.expr(kernel, child, tree, guard.of_operand(e, at)),
            }
        });
        let is_guarded = guard == Guard::Perhaps && new.loads();
        if is_guarded || !self.chosen.contains(&tree.number) {
            return new;
        }
        let ty = kernel.ty(&new);
        let name = "common".to_owned();
        let var = kernel.vars.push(VarInfo { name, ty });
        self.vars.insert(tree.number, var);
        self.lets.push(Stmt::Let(var, new));
        Expr::Var(var)
    }
}
