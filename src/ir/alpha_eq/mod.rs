//! `alpha_eq`: equality up to the names of variables, buffers and graph values, for tests.
//!
//! Variables and buffers correspond one to one, from the first time they meet. Everything else is compared as written: order,
//! names of blocks and functions, attributes, types. Only the integer constants of buffer shapes count by their value alone,
//! for the text does not say their type. The first difference is told, with where it is.

mod expr;
mod graph;
mod layout;
mod prim_func;
mod shown;
mod sinfo;

use std::collections::HashMap;

use super::{Buffer, Expr, Func, Module, PrimFunc, Var};
use shown::Shown;

/// The first difference between two programs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {left} is not {right}", path.join(", "))]
pub struct Difference {
    /// Where, from the outermost part in.
    pub path: Vec<String>,
    /// What is there in the first one.
    pub left: String,
    /// What is there in the second one.
    pub right: String,
}

/// Whether both hold, or how they differ first.
pub type AlphaEq = Result<(), Difference>;

/// Whether two modules are equal up to renaming. The order of functions does not matter.
///
/// # Errors
/// The first difference.
pub fn module(a: &Module, b: &Module) -> AlphaEq {
    let names = |m: &Module| {
        let mut names: Vec<String> = m.funcs.keys().cloned().collect();
        names.sort_unstable();
        names
    };
    let mut alpha = Alpha::default();
    alpha.same("functions", &names(a), &names(b))?;
    alpha.attrs(&a.attrs, &b.attrs)?;
    alpha.same("devices", &a.vdevices, &b.vdevices)?;
    externs(&mut alpha, a, b)?;
    for (name, func) in &a.funcs {
        match (func, &b.funcs[name]) {
            (Func::Prim(a), Func::Prim(b)) => prim_func(a, b)?,
            (Func::Graph(a), Func::Graph(b)) => function(a, b)?,
            (Func::Prim(_), Func::Graph(_)) | (Func::Graph(_), Func::Prim(_)) => {
                return alpha.fail(
                    &format!("function {name}"),
                    &"of one level",
                    &"of the other",
                );
            }
        }
    }
    Ok(())
}

fn externs(alpha: &mut Alpha, a: &Module, b: &Module) -> AlphaEq {
    let names = |m: &Module| {
        let mut names: Vec<String> = m.externs.keys().cloned().collect();
        names.sort_unstable();
        names
    };
    alpha.same("functions of the environment", &names(a), &names(b))?;
    for (name, a) in &a.externs {
        let b = &b.externs[name];
        alpha.same(&format!("symbol of {name}"), &a.symbol, &b.symbol)?;
        alpha.sinfo(&format!("type of {name}"), &a.sinfo, &b.sinfo)?;
    }
    Ok(())
}

/// Whether two loop programs are equal up to renaming, their own names aside.
///
/// # Errors
/// The first difference.
pub fn prim_func(a: &PrimFunc, b: &PrimFunc) -> AlphaEq {
    prim_func::compare(a, b)
}

/// Whether two graph functions are equal up to renaming, their own names aside.
///
/// # Errors
/// The first difference.
pub fn function(a: &super::graph::Function, b: &super::graph::Function) -> AlphaEq {
    graph::compare(a, b)
}

/// Whether two expressions are equal up to renaming of their variables and buffers.
///
/// # Errors
/// The first difference.
pub fn expr(a: &Expr, b: &Expr) -> AlphaEq {
    Alpha::default().expr("expression", a, b)
}

/// What corresponds to what so far, and where the comparison is.
#[derive(Default)]
struct Alpha {
    vars: HashMap<Var, Var>,
    vars_back: HashMap<Var, Var>,
    buffers: HashMap<Buffer, Buffer>,
    buffers_back: HashMap<Buffer, Buffer>,
    path: Vec<String>,
}

impl Alpha {
    fn fail<S: Shown + ?Sized, T>(&self, what: &str, left: &S, right: &S) -> Result<T, Difference> {
        let mut path = self.path.clone();
        path.push(what.to_owned());
        Err(Difference {
            path,
            left: left.shown(),
            right: right.shown(),
        })
    }

    fn same<T: PartialEq + Shown>(&self, what: &str, a: &T, b: &T) -> AlphaEq {
        if a == b {
            Ok(())
        } else {
            self.fail(what, a, b)
        }
    }

    /// Runs `f` with one more step on the path.
    fn within(&mut self, step: String, f: impl FnOnce(&mut Self) -> AlphaEq) -> AlphaEq {
        self.path.push(step);
        f(self)?;
        self.path.pop();
        Ok(())
    }

    /// Both variables are defined here: from now on they correspond.
    fn define(&mut self, what: &str, a: &Var, b: &Var) -> AlphaEq {
        self.same(
            &format!("type of {what} `{}`", a.name()),
            &a.dtype(),
            &b.dtype(),
        )?;
        self.vars.insert(a.clone(), b.clone());
        self.vars_back.insert(b.clone(), a.clone());
        Ok(())
    }

    fn var(&mut self, a: &Var, b: &Var) -> AlphaEq {
        match (self.vars.get(a), self.vars_back.get(b)) {
            (None, None) => self.define("variable", a, b),
            (Some(x), Some(y)) if x == b && y == a => Ok(()),
            _ => self.fail("variable", a, b),
        }
    }

    fn buffer(&mut self, a: &Buffer, b: &Buffer) -> AlphaEq {
        match (self.buffers.get(a), self.buffers_back.get(b)) {
            (Some(x), Some(y)) if x == b && y == a => return Ok(()),
            (None, None) => {}
            _ => return self.fail("buffer", a, b),
        }
        self.buffers.insert(a.clone(), b.clone());
        self.buffers_back.insert(b.clone(), a.clone());
        let (a, b) = (a.node(), b.node());
        self.within(format!("buffer `{}`", a.name), |alpha| {
            alpha.same("dtype", &a.dtype, &b.dtype)?;
            alpha.same("scope", &a.scope, &b.scope)?;
            alpha.same("alignment", &a.hints.align, &b.hints.align)?;
            let factor = (a.hints.offset_factor, b.hints.offset_factor);
            alpha.same("offset_factor", &factor.0, &factor.1)?;
            let separators = (&a.hints.axis_separators, &b.hints.axis_separators);
            alpha.same("axis_separators", separators.0, separators.1)?;
            alpha.attrs(&a.hints.annotations, &b.hints.annotations)?;
            alpha.dims("shape", &a.shape, &b.shape)?;
            alpha.dims("strides", &a.strides, &b.strides)?;
            alpha.layout(a.layout.as_deref(), b.layout.as_deref())?;
            alpha.dims("address", &a.address, &b.address)?;
            match (&a.elem_offset, &b.elem_offset) {
                (Some(a), Some(b)) => alpha.dim("elem_offset", a, b),
                (None, None) => Ok(()),
                (a, b) => alpha.fail("elem_offset", a, b),
            }
        })
    }

    fn dims(&mut self, what: &str, a: &[Expr], b: &[Expr]) -> AlphaEq {
        if a.len() != b.len() {
            return self.fail(what, a, b);
        }
        a.iter().zip(b).try_for_each(|(a, b)| self.dim(what, a, b))
    }

    /// An extent of a buffer: integer constants count by their value.
    fn dim(&mut self, what: &str, a: &Expr, b: &Expr) -> AlphaEq {
        match (a.as_int(), b.as_int()) {
            (Some(x), Some(y)) if x == y => Ok(()),
            _ => self.expr(what, a, b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;

    #[test]
    fn names_do_not_matter_but_structure_does() {
        let var = |name: &str| Var::new(name, DType::I32).expr();
        let (i, j, k, l) = (var("i"), var("j"), var("k"), var("l"));
        assert_eq!(expr(&(i.clone() * 4 + &j), &(k.clone() * 4 + &l)), Ok(()));
        assert!(expr(&(i.clone() + &j), &(i.clone() + &i)).is_err());
        assert!(expr(&(i.clone() + &i), &(i.clone() + &j)).is_err());
        let difference = expr(&(i.clone() * 4), &(k.clone() * 5)).expect_err("4 is not 5");
        assert_eq!(difference.to_string(), "expression: 4 is not 5");
        assert!(expr(&i.equals(0), &i.lt(0)).is_err());
        assert!(expr(&i, &Var::new("i", DType::I64).expr()).is_err());
    }
}
