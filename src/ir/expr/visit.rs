//! Walking and rewriting of expressions.

use std::sync::Arc;

use super::{Expr, ExprKind, Node, Var};
use crate::tensor::scalar::BinOp;

impl Expr {
    /// The expressions directly below, in order of evaluation.
    pub fn children(&self) -> Vec<&Self> {
        match self.kind() {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Var(_)
            | ExprKind::Str(_)
            | ExprKind::Data(_) => vec![],
            ExprKind::Cast(a)
            | ExprKind::Not(a)
            | ExprKind::Reinterpret(a)
            | ExprKind::Broadcast(a, _) => vec![a],
            ExprKind::Binary(_, a, b)
            | ExprKind::Ramp {
                base: a,
                stride: b,
                lanes: _,
            } => vec![a, b],
            ExprKind::Let {
                var: _,
                value,
                body,
            } => vec![value, body],
            ExprKind::Select(a, b, c) | ExprKind::IfThenElse(a, b, c) => vec![a, b, c],
            ExprKind::Load(_, args) | ExprKind::Call(_, args) | ExprKind::External(_, args) => {
                args.iter().collect()
            }
        }
    }

    /// The node with `f` applied to each child; the same node if no child changed.
    pub fn map_children(&self, f: &mut dyn FnMut(&Self) -> Self) -> Self {
        let mut changed = false;
        let mut map = |child: &Self| {
            let new = f(child);
            changed |= !new.same_as(child);
            new
        };
        let kind = match self.kind() {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Var(_)
            | ExprKind::Str(_)
            | ExprKind::Data(_) => return self.clone(),
            ExprKind::Cast(a) => ExprKind::Cast(map(a)),
            ExprKind::Not(a) => ExprKind::Not(map(a)),
            ExprKind::Reinterpret(a) => ExprKind::Reinterpret(map(a)),
            ExprKind::Broadcast(a, lanes) => ExprKind::Broadcast(map(a), *lanes),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, map(a), map(b)),
            ExprKind::Ramp {
                base,
                stride,
                lanes,
            } => ExprKind::Ramp {
                base: map(base),
                stride: map(stride),
                lanes: *lanes,
            },
            ExprKind::Let { var, value, body } => ExprKind::Let {
                var: var.clone(),
                value: map(value),
                body: map(body),
            },
            ExprKind::Select(a, b, c) => ExprKind::Select(map(a), map(b), map(c)),
            ExprKind::IfThenElse(a, b, c) => ExprKind::IfThenElse(map(a), map(b), map(c)),
            ExprKind::Load(buffer, args) => {
                ExprKind::Load(buffer.clone(), args.iter().map(&mut map).collect())
            }
            ExprKind::Call(intrin, args) => {
                ExprKind::Call(*intrin, args.iter().map(&mut map).collect())
            }
            ExprKind::External(external, args) => {
                ExprKind::External(*external, args.iter().map(&mut map).collect())
            }
        };
        if changed {
            Self::new(kind, self.dtype())
        } else {
            self.clone()
        }
    }

    /// Calls `f` on every node, parents first. A `false` from `f` skips what is below the node.
    pub fn walk(&self, f: &mut dyn FnMut(&Self) -> bool) {
        if f(self) {
            for child in self.children() {
                child.walk(f);
            }
        }
    }

    /// Number of nodes as the expression is written, counted up to a limit: a subtree that is shared counts each time.
    pub(crate) fn nodes(&self, limit: usize) -> usize {
        let mut count = 1;
        for child in self.children() {
            if count >= limit {
                break;
            }
            count += child.nodes(limit - count);
        }
        count
    }

    /// Whether something is so of the expression or of a part of it.
    pub fn any(&self, is: impl Fn(&Self) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |e| {
            found |= is(e);
            !found
        });
        found
    }

    /// Whether the expression reads an element of a buffer.
    pub fn loads(&self) -> bool {
        self.any(|e| matches!(e.kind(), ExprKind::Load(..)))
    }

    /// The expression with `f` applied to every node, children first; shared subtrees are rewritten once.
    pub fn rewrite_bottom_up(&self, f: &mut dyn FnMut(&Self) -> Self) -> Self {
        let mut memo = std::collections::HashMap::new();
        self.rewrite_memo(f, &mut memo)
    }

    fn rewrite_memo(
        &self,
        f: &mut dyn FnMut(&Self) -> Self,
        memo: &mut std::collections::HashMap<*const Node, (Self, Self)>,
    ) -> Self {
        let key = Arc::as_ptr(&self.0);
        if let Some((_, done)) = memo.get(&key) {
            return done.clone();
        }
        let below = self.map_children(&mut |child| child.rewrite_memo(f, memo));
        let done = f(&below);
        // The original is kept beside the result so that its address cannot be reused while the memo lives.
        memo.insert(key, (self.clone(), done.clone()));
        done
    }

    /// The expression with variables replaced; `map` gives `None` for those that stay.
    pub fn substitute(&self, map: &dyn Fn(&Var) -> Option<Self>) -> Self {
        self.rewrite_bottom_up(&mut |e| match e.kind() {
            ExprKind::Var(var) => map(var).unwrap_or_else(|| e.clone()),
            _ => e.clone(),
        })
    }

    /// The variables that occur and are not bound by a `Let` inside, in order of first use.
    pub fn free_vars(&self) -> Vec<Var> {
        fn collect(e: &Expr, bound: &mut Vec<Var>, out: &mut Vec<Var>) {
            match e.kind() {
                ExprKind::Var(v) if !bound.contains(v) && !out.contains(v) => out.push(v.clone()),
                ExprKind::Let { var, value, body } => {
                    collect(value, bound, out);
                    bound.push(var.clone());
                    collect(body, bound, out);
                    bound.pop();
                }
                _ => e
                    .children()
                    .into_iter()
                    .for_each(|child| collect(child, bound, out)),
            }
        }
        let mut out = Vec::new();
        collect(self, &mut Vec::new(), &mut out);
        out
    }

    /// Whether the variable occurs anywhere.
    pub fn uses(&self, var: &Var) -> bool {
        let mut found = false;
        self.walk(&mut |e| {
            found |= e.as_var() == Some(var);
            !found
        });
        found
    }

    /// The conditions that a conjunction joins, from left to right; none if it is the constant `true`.
    pub fn conjuncts(&self) -> Vec<Self> {
        match self.as_binary(BinOp::And) {
            Some((a, b)) => [a.conjuncts(), b.conjuncts()].concat(),
            None if self.as_bool() == Some(true) => vec![],
            None => vec![self.clone()],
        }
    }

    /// The conjunction of conditions; `true` if there are none.
    pub fn all(conditions: impl IntoIterator<Item = Self>) -> Self {
        conditions
            .into_iter()
            .fold(Self::bool(true), |all, cond| all.and(cond))
    }
}
