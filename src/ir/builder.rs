//! `PrimFuncBuilder`: writes loop programs as they nest.
//!
//! The closures of [`grid`](PrimFuncBuilder::grid), [`block`](PrimFuncBuilder::block) and the others nest as the loops do, and
//! statements go where the innermost open closure is. What belongs to a block (allocated buffers, predicate, init, regions)
//! goes to the innermost open block, which is the root block outside of all others.
//!
//! ```
//! use weftile::arith::access_regions;
//! use weftile::ir::{Axis, Expr, PrimFuncBuilder, Var};
//! use weftile::tensor::DType;
//!
//! let n = Var::new("n", DType::I64);
//! let mut b = PrimFuncBuilder::new("row_sum");
//! let x = b.param("X", [n.expr(), Expr::i64(64)], DType::F32);
//! let y = b.param("Y", [n.expr()], DType::F32);
//! b.nest("Y", [Axis::spatial("i", &n), Axis::reduce("k", 64i64)], |b, v| {
//!     b.init(|b| b.store(&y, [&v[0]], Expr::float(0.0, DType::F32)));
//!     let sum = Expr::load(&y, vec![v[0].expr()]) + Expr::load(&x, vec![v[0].expr(), v[1].expr()]);
//!     b.store(&y, [&v[0]], sum);
//! });
//! let func = b.finish(access_regions).expect("well formed");
//! assert_eq!(func.blocks.iter().count(), 2); // the root block and "Y"
//! ```

use std::collections::HashSet;

use super::prim_func::{Block, IterKind, IterVar, Loop, MatchBuffer, Param, Stmt, unique_name};
use super::verify::{self, PrimFuncError};
use super::{Access, AttrValue, BlockId, Buffer, BufferRegion, Expr, PrimFunc, Range, Scope, Var};
use crate::tensor::DType;

/// An iter variable to be made: its name, its domain, its kind, and, where the block is not the whole of a nest, its binding.
#[derive(Clone, Debug)]
pub struct Axis {
    name: String,
    dom: Range,
    kind: IterKind,
    binding: Option<Expr>,
}

impl Axis {
    /// An axis over `0 .. extent`.
    pub fn new(kind: IterKind, name: impl Into<String>, extent: impl Into<Expr>) -> Self {
        Self {
            name: name.into(),
            dom: Range::to(extent.into()),
            kind,
            binding: None,
        }
    }

    /// A spatial axis over `0 .. extent`.
    pub fn spatial(name: impl Into<String>, extent: impl Into<Expr>) -> Self {
        Self::new(IterKind::Spatial, name, extent)
    }

    /// A reduction axis over `0 .. extent`.
    pub fn reduce(name: impl Into<String>, extent: impl Into<Expr>) -> Self {
        Self::new(IterKind::Reduce, name, extent)
    }

    /// The axis over `min .. min + extent`.
    #[must_use]
    pub fn starting_at(mut self, min: impl Into<Expr>) -> Self {
        self.dom.min = min.into().cast(self.dom.extent.dtype());
        self
    }

    /// The axis with this value in terms of the loops around its block.
    #[must_use]
    pub fn bound_to(mut self, value: impl Into<Expr>) -> Self {
        self.binding = Some(value.into());
        self
    }
}

/// A block that is being written.
struct OpenBlock {
    id: BlockId,
    reads: Option<Vec<BufferRegion>>,
    writes: Option<Vec<BufferRegion>>,
}

/// A closed block of which some regions were not given.
struct Unstated {
    id: BlockId,
    reads: bool,
    writes: bool,
}

/// Writes one loop program.
pub struct PrimFuncBuilder {
    func: PrimFunc,
    /// Statements of the places that are open, outermost first. The first belongs to the root block.
    bodies: Vec<Vec<Stmt>>,
    /// Blocks that are open, outermost first. The first is the root block.
    blocks: Vec<OpenBlock>,
    /// Blocks whose regions are to be found, inner before outer.
    unstated: Vec<Unstated>,
    names: HashSet<String>,
}

impl PrimFuncBuilder {
    /// A function without parameters and statements.
    pub fn new(name: impl Into<String>) -> Self {
        let func = PrimFunc::new(name, vec![]);
        let root = OpenBlock {
            id: func.root,
            reads: None,
            writes: None,
        };
        Self {
            names: HashSet::from([func.blocks[func.root].name.clone()]),
            func,
            bodies: vec![vec![]],
            blocks: vec![root],
            unstated: vec![],
        }
    }

    /// Adds a parameter: a tensor, seen as a dense buffer. Symbolic extents that stand alone are defined by its shape.
    pub fn param<E: Into<Expr>>(
        &mut self,
        name: &str,
        shape: impl IntoIterator<Item = E>,
        dtype: DType,
    ) -> Buffer {
        let shape = shape.into_iter().map(Into::into).collect();
        let buffer = Buffer::new(name, shape, dtype);
        self.buffer_param(&buffer);
        buffer
    }

    /// Adds a parameter: a tensor, seen as this buffer.
    pub fn buffer_param(&mut self, buffer: &Buffer) {
        self.func.params.push(Param::of_buffer(buffer));
    }

    /// Adds a scalar parameter.
    pub fn scalar_param(&mut self, var: &Var) {
        self.func.params.push(Param::Scalar(var.clone()));
    }

    /// Sets an attribute of the function.
    pub fn func_attr(&mut self, name: impl Into<String>, value: AttrValue) {
        self.func.attrs.insert(name.into(), value);
    }

    /// Hides the function from other modules.
    pub fn private(&mut self) {
        self.func.private = true;
    }

    /// Allocates a dense buffer in the innermost open block.
    pub fn alloc<E: Into<Expr>>(
        &mut self,
        name: &str,
        shape: impl IntoIterator<Item = E>,
        dtype: DType,
        scope: Scope,
    ) -> Buffer {
        let shape = shape.into_iter().map(Into::into).collect();
        let buffer = Buffer::with_scope(name, shape, dtype, scope);
        self.alloc_buffer(&buffer);
        buffer
    }

    /// Allocates this buffer in the innermost open block.
    pub fn alloc_buffer(&mut self, buffer: &Buffer) {
        self.open().alloc_buffers.push(buffer.clone());
    }

    /// Loops over `0 .. extent` inside each other, outermost first; `body` gets their variables.
    pub fn grid<R, S: Into<String>, E: Into<Expr>>(
        &mut self,
        loops: impl IntoIterator<Item = (S, E)>,
        body: impl FnOnce(&mut Self, &[Var]) -> R,
    ) -> R {
        let serial = |(name, extent): (S, E)| Loop::serial(name, Range::to(extent.into()));
        self.loops(loops.into_iter().map(serial).collect(), body)
    }

    /// Loops inside each other, outermost first; `body` gets their variables.
    pub fn loops<R>(&mut self, loops: Vec<Loop>, body: impl FnOnce(&mut Self, &[Var]) -> R) -> R {
        let vars: Vec<Var> = loops.iter().map(|l| l.var.clone()).collect();
        let (mut stmts, result) = self.inside(|b| body(b, &vars));
        for l in loops.into_iter().rev() {
            let id = self.func.loops.push(l);
            self.func.tree.set_body(id, stmts);
            stmts = vec![Stmt::Loop(id)];
        }
        self.add(stmts);
        result
    }

    /// A block; `body` gets its iter variables. A name that another block has gets a number.
    ///
    /// # Panics
    /// If an axis is not bound.
    pub fn block<R>(
        &mut self,
        name: impl Into<String>,
        axes: impl IntoIterator<Item = Axis>,
        body: impl FnOnce(&mut Self, &[Var]) -> R,
    ) -> R {
        let (mut iters, mut bindings) = (vec![], vec![]);
        for axis in axes {
            bindings.push(axis.binding.expect("the axes of a block are bound"));
            iters.push(IterVar {
                var: Var::new(axis.name, axis.dom.extent.dtype()),
                dom: axis.dom,
                kind: axis.kind,
            });
        }
        let vars: Vec<Var> = iters.iter().map(|iter| iter.var.clone()).collect();
        let name = unique_name(&name.into(), &mut self.names);
        let id = self.func.blocks.push(Block {
            iters,
            bindings,
            ..Block::named(name)
        });
        self.blocks.push(OpenBlock {
            id,
            reads: None,
            writes: None,
        });
        let (stmts, result) = self.inside(|b| body(b, &vars));
        self.func.tree.set_body(id, stmts);
        self.close_block();
        self.stmt(Stmt::Block(id));
        result
    }

    /// A nest: a loop for each axis, and a block in them whose iter variables are those loops. A loop has the name of the axis,
    /// its iter variable that name after `v_`. Where an axis is bound, there is no loop for it.
    pub fn nest<R>(
        &mut self,
        name: impl Into<String>,
        axes: impl IntoIterator<Item = Axis>,
        body: impl FnOnce(&mut Self, &[Var]) -> R,
    ) -> R {
        let mut axes: Vec<Axis> = axes.into_iter().collect();
        let mut loops = vec![];
        for axis in &mut axes {
            if axis.binding.is_none() {
                let l = Loop::serial(axis.name.clone(), axis.dom.clone());
                axis.binding = Some(l.var.expr());
                loops.push(l);
            }
            axis.name.insert_str(0, "v_");
        }
        self.loops(loops, |b, _| b.block(name, axes, body))
    }

    /// Adds a condition under which the innermost open block runs.
    pub fn predicate(&mut self, cond: impl Into<Expr>) {
        let block = self.open();
        block.predicate = block.predicate.and(cond);
    }

    /// What the innermost open block reads; found at the end where it is not given.
    pub fn reads(&mut self, regions: impl IntoIterator<Item = BufferRegion>) {
        self.innermost().reads = Some(regions.into_iter().collect());
    }

    /// What the innermost open block writes; found at the end where it is not given.
    pub fn writes(&mut self, regions: impl IntoIterator<Item = BufferRegion>) {
        self.innermost().writes = Some(regions.into_iter().collect());
    }

    /// Sees a region as a buffer of its own in the innermost open block.
    pub fn match_buffer(&mut self, buffer: &Buffer, source: BufferRegion) {
        self.open().match_buffers.push(MatchBuffer {
            buffer: buffer.clone(),
            source,
        });
    }

    /// Annotates the innermost open block.
    pub fn annotate(&mut self, name: impl Into<String>, value: AttrValue) {
        self.open().annotations.insert(name.into(), value);
    }

    /// What the innermost open block runs before the first value of its reduction axes.
    pub fn init<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> R {
        let (stmts, result) = self.inside(body);
        self.open().init.get_or_insert_default().extend(stmts);
        result
    }

    /// `buffer[indices] = value`
    pub fn store<E: Into<Expr>>(
        &mut self,
        buffer: &Buffer,
        indices: impl IntoIterator<Item = E>,
        value: impl Into<Expr>,
    ) {
        self.stmt(Stmt::Store {
            buffer: buffer.clone(),
            indices: indices.into_iter().map(Into::into).collect(),
            value: value.into(),
        });
    }

    /// `if cond`
    pub fn if_<R>(&mut self, cond: impl Into<Expr>, then: impl FnOnce(&mut Self) -> R) -> R {
        self.if_else(cond, then, |_| ()).0
    }

    /// `if cond`, `else`
    pub fn if_else<R, S>(
        &mut self,
        cond: impl Into<Expr>,
        then: impl FnOnce(&mut Self) -> R,
        otherwise: impl FnOnce(&mut Self) -> S,
    ) -> (R, S) {
        let (then, first) = self.inside(then);
        let (otherwise, second) = self.inside(otherwise);
        self.stmt(Stmt::If {
            cond: cond.into(),
            then,
            otherwise,
        });
        (first, second)
    }

    /// `while cond`
    pub fn while_<R>(&mut self, cond: impl Into<Expr>, body: impl FnOnce(&mut Self) -> R) -> R {
        let (body, result) = self.inside(body);
        let cond = cond.into();
        self.stmt(Stmt::While { cond, body });
        result
    }

    /// `value` under a name in `body`, which gets the variable.
    pub fn let_<R>(
        &mut self,
        name: &str,
        value: impl Into<Expr>,
        body: impl FnOnce(&mut Self, &Var) -> R,
    ) -> R {
        let value = value.into();
        let var = Var::of(name, &value);
        let (body, result) = self.inside(|b| body(b, &var));
        self.stmt(Stmt::Let { var, value, body });
        result
    }

    /// `assert cond, message`
    pub fn assert(&mut self, cond: impl Into<Expr>, message: impl Into<String>) {
        self.stmt(Stmt::Assert {
            cond: cond.into(),
            message: message.into(),
        });
    }

    /// An expression evaluated for nothing.
    pub fn evaluate(&mut self, value: impl Into<Expr>) {
        self.stmt(Stmt::Evaluate(value.into()));
    }

    /// Any other statement. Loops and blocks in it are detached ones of this function.
    pub fn stmt(&mut self, stmt: Stmt) {
        self.add([stmt]);
    }

    /// The function. `regions` finds what a block reads and writes where that was not given.
    ///
    /// # Errors
    /// What the verifier finds.
    pub fn finish(
        mut self,
        regions: impl Fn(&PrimFunc, BlockId) -> Access,
    ) -> Result<PrimFunc, Vec<PrimFuncError>> {
        let body = self.bodies.pop().expect("the body of the root block");
        let mut func = self.func;
        func.tree.set_body(func.root, body);
        for unstated in self.unstated {
            let found = regions(&func, unstated.id);
            let block = &mut func.blocks[unstated.id];
            if unstated.reads {
                block.reads = found.reads;
            }
            if unstated.writes {
                block.writes = found.writes;
            }
        }
        verify::prim_func(&func)?;
        Ok(func)
    }

    /// The statements that `f` adds, which go nowhere else, and its result. A [`Self::stmt`] holds them in the end.
    pub(crate) fn inside<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> (Vec<Stmt>, R) {
        self.bodies.push(vec![]);
        let result = f(self);
        let stmts = self.bodies.pop().expect("opened here");
        (stmts, result)
    }

    fn add(&mut self, stmts: impl IntoIterator<Item = Stmt>) {
        let body = self.bodies.last_mut().expect("the root block is open");
        body.extend(stmts);
    }

    fn innermost(&mut self) -> &mut OpenBlock {
        self.blocks.last_mut().expect("the root block is open")
    }

    fn open(&mut self) -> &mut Block {
        let id = self.innermost().id;
        &mut self.func.blocks[id]
    }

    fn close_block(&mut self) {
        let OpenBlock { id, reads, writes } = self.blocks.pop().expect("opened before");
        if reads.is_none() || writes.is_none() {
            self.unstated.push(Unstated {
                id,
                reads: reads.is_none(),
                writes: writes.is_none(),
            });
        }
        let block = &mut self.func.blocks[id];
        (block.reads, block.writes) = (reads.unwrap_or_default(), writes.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::access_regions;
    use crate::ir::alpha_eq;
    use crate::script;

    fn parsed(text: &str) -> PrimFunc {
        let text = format!("@I.ir_module\nclass Module:\n{text}");
        let module = script::parse("test.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let (_, func) = module.prim_funcs().next().expect("one function");
        func.clone()
    }

    fn same(built: &PrimFunc, text: &str) {
        let expected = parsed(text);
        if alpha_eq::prim_func(&expected, built).is_err() {
            panic!("{}", script::print_prim_func(built).text);
        }
    }

    #[test]
    fn a_nest_is_loops_around_a_block() {
        let (n, m) = (Var::new("n", DType::I64), Var::new("m", DType::I64));
        let mut b = PrimFuncBuilder::new("matmul");
        let x = b.param("X", [n.expr(), m.expr()], DType::F32);
        let w = b.param("W", [m.expr(), Expr::i64(8)], DType::F32);
        let y = b.param("Y", [n.expr(), Expr::i64(8)], DType::F32);
        let t = b.alloc("T", [n.expr(), Expr::i64(8)], DType::F32, Scope::Global);
        let axes = [
            Axis::spatial("i", &n),
            Axis::spatial("j", 8i64),
            Axis::reduce("k", &m),
        ];
        b.nest("T", axes, |b, v| {
            b.init(|b| b.store(&t, &v[..2], Expr::float(0.0, DType::F32)));
            let [i, j, k] = [0, 1, 2].map(|at: usize| v[at].expr());
            let product =
                Expr::load(&x, vec![i.clone(), k.clone()]) * Expr::load(&w, vec![k, j.clone()]);
            b.store(&t, &v[..2], Expr::load(&t, vec![i, j]) + product);
        });
        // The second block is written out: two loops in one, and the same name.
        b.grid([("f", n.expr() * 8)], |b, loops| {
            let f = loops[0].expr();
            let axes = [
                Axis::spatial("vi", &n).bound_to(f.floor_div(8)),
                Axis::spatial("vj", 8i64).bound_to(f.floor_mod(8)),
            ];
            b.block("T", axes, |b, v| {
                b.predicate(f.lt(n.expr() * 8 - 1));
                let indices: Vec<Expr> = v.iter().map(Var::expr).collect();
                b.store(&y, v, Expr::load(&t, indices));
            });
        });
        let func = b.finish(access_regions).expect("well formed");
        same(
            &func,
            r#"
    @T.prim_func
    def matmul(x: T.handle, w: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        W = T.match_buffer(w, (m, T.int64(8)), "float32")
        Y = T.match_buffer(y, (n, T.int64(8)), "float32")
        U = T.alloc_buffer((n, T.int64(8)), "float32")
        for i, j, k in T.grid(n, T.int64(8), m):
            with T.block("T"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    U[vi, vj] = T.float32(0)
                U[vi, vj] = U[vi, vj] + X[vi, vk] * W[vk, vj]
        for f in range(n * T.int64(8)):
            with T.block("T_1"):
                vi = T.axis.spatial(n, f // T.int64(8))
                vj = T.axis.spatial(T.int64(8), f % T.int64(8))
                T.where(f < n * T.int64(8) - T.int64(1))
                Y[vi, vj] = U[vi, vj]
"#,
        );
    }

    #[test]
    fn statements_stand_where_their_closure_is() {
        let mut b = PrimFuncBuilder::new("main");
        let x = b.param("X", [16i64], DType::I32);
        let y = b.param("Y", [16i64], DType::I32);
        let at = |e: i64| vec![Expr::i64(e)];
        b.block("all", [], |b, _| {
            b.reads([BufferRegion::full(&x)]);
            b.assert(Expr::load(&x, at(0)).ge(0), "no negative");
            b.let_("first", Expr::load(&x, at(0)), |b, first| {
                b.if_else(
                    first.expr().lt(4),
                    |b| {
                        b.grid([("i", 16i64)], |b, i| {
                            b.store(&y, i, Expr::load(&x, vec![i[0].expr()]));
                        });
                    },
                    |b| b.store(&y, at(1), first),
                );
            });
            b.while_(Expr::load(&y, at(2)).lt(9), |b| {
                b.store(&y, at(2), Expr::load(&y, at(2)) + 1);
            });
        });
        let func = b.finish(access_regions).expect("well formed");
        same(
            &func,
            r#"
    @T.prim_func
    def main(X: T.Buffer((T.int64(16),), "int32"), Y: T.Buffer((T.int64(16),), "int32")):
        with T.block("all"):
            T.reads(X[T.int64(0):T.int64(16)])
            T.writes(Y[T.int64(0):T.int64(16)])
            assert X[T.int64(0)] >= 0, "no negative"
            with T.LetStmt(X[T.int64(0)]) as first:
                if first < 4:
                    for i in range(T.int64(16)):
                        Y[i] = X[i]
                else:
                    Y[T.int64(1)] = first
            while Y[T.int64(2)] < 9:
                Y[T.int64(2)] = Y[T.int64(2)] + 1
"#,
        );
    }

    #[test]
    fn the_verifier_has_the_last_word() {
        let mut b = PrimFuncBuilder::new("main");
        let x = b.param("X", [16i64], DType::F32);
        b.store(
            &x,
            [Expr::i64(0), Expr::i64(0)],
            Expr::float(0.0, DType::F32),
        );
        assert_eq!(b.finish(access_regions).expect_err("two indices").len(), 1);
    }
}
