//! Loop programs.

use super::{Alpha, AlphaEq};
use crate::ir::{Block, BufferRegion, Param, Place, PrimFunc, Stmt};

pub(super) fn compare(a: &PrimFunc, b: &PrimFunc) -> AlphaEq {
    let mut pair = Pair {
        alpha: Alpha::default(),
        a,
        b,
    };
    pair.alpha
        .same("number of parameters", &a.params.len(), &b.params.len())?;
    for (x, y) in a.params.iter().zip(&b.params) {
        match (x, y) {
            (
                Param::Buffer {
                    handle: _,
                    buffer: x,
                },
                Param::Buffer {
                    handle: _,
                    buffer: y,
                },
            ) => pair.alpha.buffer(x, y)?,
            (Param::Scalar(x), Param::Scalar(y)) => pair.alpha.var(x, y)?,
            _ => return pair.alpha.fail("parameter", x, y),
        }
    }
    pair.alpha.same("result type", &a.ret, &b.ret)?;
    pair.alpha.same("private", &a.private, &b.private)?;
    pair.alpha.attrs(&a.attrs, &b.attrs)?;
    pair.block(
        &a.blocks[a.root],
        &b.blocks[b.root],
        Place::Block(a.root),
        Place::Block(b.root),
    )
}

/// Two functions under comparison.
struct Pair<'f> {
    alpha: Alpha,
    a: &'f PrimFunc,
    b: &'f PrimFunc,
}

impl Pair<'_> {
    /// Runs `f` with one more step on the path.
    fn within(&mut self, step: String, f: impl FnOnce(&mut Self) -> AlphaEq) -> AlphaEq {
        self.alpha.path.push(step);
        f(self)?;
        self.alpha.path.pop();
        Ok(())
    }

    fn block(&mut self, x: &Block, y: &Block, place_x: Place, place_y: Place) -> AlphaEq {
        self.within(format!("block \"{}\"", x.name), |pair| {
            let alpha = &mut pair.alpha;
            alpha.same("name", &x.name, &y.name)?;
            alpha.exprs("bindings", &x.bindings, &y.bindings)?;
            alpha.expr("predicate", &x.predicate, &y.predicate)?;
            alpha.same("number of iter variables", &x.iters.len(), &y.iters.len())?;
            for (x, y) in x.iters.iter().zip(&y.iters) {
                alpha.same(&format!("kind of `{}`", x.var.name()), &x.kind, &y.kind)?;
                alpha.range(&format!("domain of `{}`", x.var.name()), &x.dom, &y.dom)?;
                alpha.define("iter variable", &x.var, &y.var)?;
            }
            alpha.same(
                "number of allocated buffers",
                &x.alloc_buffers.len(),
                &y.alloc_buffers.len(),
            )?;
            for (x, y) in x.alloc_buffers.iter().zip(&y.alloc_buffers) {
                alpha.buffer(x, y)?;
            }
            alpha.same(
                "number of views",
                &x.match_buffers.len(),
                &y.match_buffers.len(),
            )?;
            for (x, y) in x.match_buffers.iter().zip(&y.match_buffers) {
                alpha.region("view", &x.source, &y.source)?;
                alpha.buffer(&x.buffer, &y.buffer)?;
            }
            alpha.regions("reads", &x.reads, &y.reads)?;
            alpha.regions("writes", &x.writes, &y.writes)?;
            alpha.attrs(&x.annotations, &y.annotations)?;
            match (&x.init, &y.init) {
                (Some(x), Some(y)) => pair.stmts(x, y)?,
                (None, None) => {}
                (x, y) => return pair.alpha.fail("init", &x.is_some(), &y.is_some()),
            }
            pair.body(place_x, place_y)
        })
    }

    fn body(&mut self, x: Place, y: Place) -> AlphaEq {
        let (a, b) = (self.a, self.b);
        self.stmts(a.tree.body(x), b.tree.body(y))
    }

    fn stmts(&mut self, x: &[Stmt], y: &[Stmt]) -> AlphaEq {
        if x.len() != y.len() {
            return self.alpha.fail("number of statements", &x.len(), &y.len());
        }
        x.iter().zip(y).try_for_each(|(x, y)| self.stmt(x, y))
    }

    fn stmt(&mut self, x: &Stmt, y: &Stmt) -> AlphaEq {
        let (a, b) = (self.a, self.b);
        match (x, y) {
            (Stmt::Loop(id_x), Stmt::Loop(id_y)) => {
                let (x, y) = (&a.loops[*id_x], &b.loops[*id_y]);
                self.within(format!("loop `{}`", x.var.name()), |pair| {
                    pair.alpha.expr("first value", &x.min, &y.min)?;
                    pair.alpha.expr("extent", &x.extent, &y.extent)?;
                    pair.alpha.same("kind", &x.kind, &y.kind)?;
                    pair.alpha.attrs(&x.annotations, &y.annotations)?;
                    pair.alpha.define("loop variable", &x.var, &y.var)?;
                    pair.body(Place::Loop(*id_x), Place::Loop(*id_y))
                })
            }
            (Stmt::Block(id_x), Stmt::Block(id_y)) => {
                let places = (Place::Block(*id_x), Place::Block(*id_y));
                self.block(&a.blocks[*id_x], &b.blocks[*id_y], places.0, places.1)
            }
            (
                Stmt::Store {
                    buffer: bx,
                    indices: ix,
                    value: vx,
                },
                Stmt::Store {
                    buffer: by,
                    indices: iy,
                    value: vy,
                },
            ) => {
                self.alpha.buffer(bx, by)?;
                self.alpha.exprs("indices of a store", ix, iy)?;
                self.alpha.expr("stored value", vx, vy)
            }
            (
                Stmt::Let {
                    var: var_x,
                    value: vx,
                    body: body_x,
                },
                Stmt::Let {
                    var: var_y,
                    value: vy,
                    body: body_y,
                },
            ) => {
                self.alpha.expr("value of a let", vx, vy)?;
                self.alpha.define("variable", var_x, var_y)?;
                self.stmts(body_x, body_y)
            }
            (
                Stmt::If {
                    cond: cx,
                    then: tx,
                    otherwise: ox,
                },
                Stmt::If {
                    cond: cy,
                    then: ty,
                    otherwise: oy,
                },
            ) => {
                self.alpha.expr("condition", cx, cy)?;
                self.stmts(tx, ty)?;
                self.stmts(ox, oy)
            }
            (Stmt::While { cond: cx, body: bx }, Stmt::While { cond: cy, body: by }) => {
                self.alpha.expr("condition", cx, cy)?;
                self.stmts(bx, by)
            }
            (
                Stmt::Assert {
                    cond: cx,
                    message: mx,
                },
                Stmt::Assert {
                    cond: cy,
                    message: my,
                },
            ) => {
                self.alpha.expr("condition", cx, cy)?;
                self.alpha.same("message", mx, my)
            }
            (Stmt::Evaluate(x), Stmt::Evaluate(y)) => self.alpha.expr("evaluated expression", x, y),
            (
                Stmt::View {
                    buffer: bx,
                    memory: mx,
                    body: body_x,
                },
                Stmt::View {
                    buffer: by,
                    memory: my,
                    body: body_y,
                },
            ) => {
                self.alpha.expr("memory of a view", mx, my)?;
                self.alpha.buffer(bx, by)?;
                self.stmts(body_x, body_y)
            }
            (
                Stmt::Attr {
                    node: nx,
                    key: kx,
                    value: vx,
                    body: body_x,
                },
                Stmt::Attr {
                    node: ny,
                    key: ky,
                    value: vy,
                    body: body_y,
                },
            ) => {
                self.alpha.same("key of a remark", kx, ky)?;
                self.alpha.attr("subject of a remark", nx, ny)?;
                self.alpha.attr(kx, vx, vy)?;
                self.stmts(body_x, body_y)
            }
            (Stmt::Tile(x), Stmt::Tile(y)) => {
                self.alpha
                    .same("tile operation", &x.to_string(), &y.to_string())?;
                let count = (x.args.len(), y.args.len());
                self.alpha.same("number of operands", &count.0, &count.1)?;
                for (at, (x, y)) in x.args.iter().zip(&y.args).enumerate() {
                    self.alpha.attr(&format!("operand {at}"), x, y)?;
                }
                self.alpha.attrs(&x.attrs, &y.attrs)
            }
            (Stmt::Break, Stmt::Break)
            | (Stmt::Continue, Stmt::Continue)
            | (Stmt::Return(None), Stmt::Return(None)) => Ok(()),
            (Stmt::Return(Some(x)), Stmt::Return(Some(y))) => self.alpha.expr("result", x, y),
            _ => self.alpha.fail("statement", x, y),
        }
    }
}

impl Alpha {
    fn regions(&mut self, what: &str, a: &[BufferRegion], b: &[BufferRegion]) -> AlphaEq {
        if a.len() != b.len() {
            return self.fail(what, a, b);
        }
        a.iter()
            .zip(b)
            .try_for_each(|(a, b)| self.region(what, a, b))
    }

    pub(super) fn region(&mut self, what: &str, a: &BufferRegion, b: &BufferRegion) -> AlphaEq {
        self.buffer(&a.buffer, &b.buffer)?;
        if a.region.len() != b.region.len() {
            return self.fail(what, a, b);
        }
        a.region
            .iter()
            .zip(&b.region)
            .try_for_each(|(a, b)| self.range(what, a, b))
    }
}
