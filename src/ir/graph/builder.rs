//! `GraphBuilder`: makes a graph function binding by binding, in A-normal form by construction.

use super::dims::named;
use super::infer::{Globals, InferError, Scope, infer};
use super::{Arg, BindingBlock, Body, Def, Function, Value, ValueId};
use crate::ir::{Attrs, Expr, Origin, StructInfo};
use crate::support::Arena;

/// Makes one [`Function`]. Bindings go to the innermost open body: the function's own, or a branch between
/// [`GraphBuilder::begin_branch`] and [`GraphBuilder::end_branch`].
///
/// ```
/// use weftile::ir::graph::{Arg, GraphBuilder};
/// use weftile::ir::{Attrs, Expr, StructInfo};
/// use weftile::tensor::DType;
///
/// let mut b = GraphBuilder::new("main");
/// let x = b.param("x", StructInfo::tensor(vec![Expr::i64(4)], DType::F32));
/// b.begin_dataflow();
/// let sum = weftile::ops::op("add");
/// let y = b.op("y", sum, vec![Arg::Value(x), Arg::Value(x)], Attrs::new())?;
/// b.end_dataflow(vec![y]);
/// let main = b.finish(Arg::Value(y));
/// assert_eq!(main.ret, StructInfo::tensor(vec![Expr::i64(4)], DType::F32));
/// # Ok::<(), weftile::ir::graph::InferError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    func: Function,
    open: Vec<OpenBody>,
    globals: Globals,
    around: Vec<Arena<ValueId, Value>>,
    origin: Origin,
}

/// A body to which bindings are being added.
#[derive(Clone, Debug, Default)]
struct OpenBody {
    blocks: Vec<BindingBlock>,
    in_dataflow: bool,
    /// The bindings that are a `match_cast`, each with the block that it is in.
    casts: Vec<(usize, ValueId)>,
}

impl GraphBuilder {
    /// A function without parameters and bindings, in a module of which nothing is known.
    pub fn new(name: impl Into<String>) -> Self {
        Self::in_module(name, Globals::default())
    }

    /// A function that may call others of its module.
    pub fn in_module(name: impl Into<String>, globals: Globals) -> Self {
        Self {
            func: Function {
                name: name.into(),
                params: vec![],
                values: Arena::new(),
                body: Body {
                    blocks: vec![],
                    result: Arg::Tuple(vec![]),
                },
                ret: StructInfo::Object,
                attrs: Attrs::new(),
                pure: true,
                private: false,
            },
            open: vec![OpenBody::default()],
            globals,
            around: vec![],
            origin: Origin::Unknown,
        }
    }

    /// A function nested in the one that this builder makes; it sees a copy of the values made so far.
    pub fn nested(&self, name: impl Into<String>) -> Self {
        let mut inner = Self::in_module(name, self.globals.clone());
        inner.around.clone_from(&self.around);
        inner.around.push(self.func.values.clone());
        inner
    }

    /// Says what the nested function under construction will be, so that it can call itself: the next value of the function
    /// around it.
    pub fn announce(&mut self, name: impl Into<String>, sinfo: StructInfo) {
        if let Some(outer) = self.around.last_mut() {
            outer.push(Value {
                name: name.into(),
                sinfo,
                def: Def::Param,
                origin: Origin::Unknown,
            });
        }
    }

    /// Adds a parameter.
    pub fn param(&mut self, name: impl Into<String>, sinfo: StructInfo) -> ValueId {
        let id = self.func.values.push(Value {
            name: name.into(),
            sinfo,
            def: Def::Param,
            origin: self.origin.clone(),
        });
        self.func.params.push(id);
        id
    }

    /// Says where the values that follow come from; gives what was said before.
    pub fn set_origin(&mut self, origin: Origin) -> Origin {
        std::mem::replace(&mut self.origin, origin)
    }

    /// Attributes of the function, to be changed.
    pub fn attrs(&mut self) -> &mut Attrs {
        &mut self.func.attrs
    }

    /// Says whether the function has no side effect; without this call it has none.
    pub fn set_pure(&mut self, pure: bool) {
        self.func.pure = pure;
    }

    /// Says whether only the module calls the function; without this call others may.
    pub fn set_private(&mut self, private: bool) {
        self.func.private = private;
    }

    /// The name of the function.
    pub fn name(&self) -> &str {
        &self.func.name
    }

    /// The values made so far.
    pub fn values(&self) -> &Arena<ValueId, Value> {
        &self.func.values
    }

    /// The id that the next value will get: a closure that calls itself needs it early.
    pub fn next_id(&self) -> ValueId {
        crate::support::Id::from_index(self.func.values.bound())
    }

    /// Where arguments get their meaning, for [`infer`].
    pub fn scope(&self) -> Scope<'_> {
        let mut frames: Vec<_> = self.around.iter().collect();
        frames.push(&self.func.values);
        Scope {
            globals: &self.globals,
            frames,
        }
    }

    /// What is known of a definition that has not been bound.
    ///
    /// # Errors
    /// If the arguments do not fit.
    pub fn infer(&self, def: &Def) -> Result<StructInfo, InferError> {
        infer(def, &self.scope())
    }

    /// Binds a value of which more is known, or it is known from elsewhere.
    pub fn bind_as(&mut self, name: impl Into<String>, def: Def, sinfo: StructInfo) -> ValueId {
        let is_cast = matches!(def, Def::MatchCast(_, _));
        let id = self.func.values.push(Value {
            name: name.into(),
            sinfo,
            def,
            origin: self.origin.clone(),
        });
        let body = self.body();
        match body.blocks.last_mut() {
            Some(block) if body.in_dataflow || block.dataflow.is_none() => block.bindings.push(id),
            _ => body.blocks.push(BindingBlock {
                dataflow: None,
                bindings: vec![id],
            }),
        }
        if is_cast {
            body.casts.push((body.blocks.len() - 1, id));
        }
        id
    }

    /// Binds a value; what is known of it is inferred.
    ///
    /// # Errors
    /// If the arguments do not fit; nothing is bound then.
    pub fn bind(&mut self, name: impl Into<String>, def: Def) -> Result<ValueId, InferError> {
        let sinfo = self.infer(&def)?;
        Ok(self.bind_as(name, def, sinfo))
    }

    /// Binds a call of an operator; attributes that are not given have their defaults.
    ///
    /// # Errors
    /// If the arguments or attributes do not fit.
    pub fn op(
        &mut self,
        name: impl Into<String>,
        op: super::Op,
        args: Vec<Arg>,
        attrs: Attrs,
    ) -> Result<ValueId, InferError> {
        let def = Def::Call {
            callee: super::Callee::Op(op),
            args,
            attrs: op.complete(attrs)?,
            sinfo_args: vec![],
        };
        self.bind(name, def)
    }

    /// Binds a `call_tir` or `call_dps_packed` with outputs of these types.
    pub fn call_dps(
        &mut self,
        name: impl Into<String>,
        callee: super::DpsCallee,
        args: Vec<Arg>,
        out: StructInfo,
    ) -> ValueId {
        let def = Def::CallDps {
            callee,
            args,
            tir_vars: vec![],
            inplace: None,
            out: out.clone(),
        };
        self.bind_as(name, def, out)
    }

    fn body(&mut self) -> &mut OpenBody {
        self.open.last_mut().expect("the function's body is open")
    }

    /// Opens a dataflow block; the bindings that follow belong to it. Right after another one it goes on with that: two dataflow
    /// blocks without anything between them are one.
    pub fn begin_dataflow(&mut self) {
        let body = self.body();
        body.in_dataflow = true;
        if body
            .blocks
            .last()
            .is_some_and(|block| block.dataflow.is_some())
        {
            return;
        }
        body.blocks.push(BindingBlock {
            dataflow: Some(vec![]),
            bindings: vec![],
        });
    }

    /// Closes the dataflow block, which passes these values out.
    pub fn end_dataflow(&mut self, outputs: Vec<ValueId>) {
        let body = self.body();
        body.in_dataflow = false;
        if let Some(block) = body.blocks.last_mut() {
            let all = block.dataflow.get_or_insert_default();
            all.extend(outputs);
        }
    }

    /// What the last block of the innermost body binds.
    pub(super) fn bound_here(&self) -> &[ValueId] {
        let block = self.open.last().and_then(|body| body.blocks.last());
        block.map_or(&[], |block| &block.bindings)
    }

    /// Whether a dataflow block is open in the innermost body.
    pub fn in_dataflow(&self) -> bool {
        self.open.last().is_some_and(|body| body.in_dataflow)
    }

    /// Whether a `match_cast` of this scalar stands already where every binding that follows comes after it.
    pub fn has_cast(&self, scalar: &Expr, sinfo: &StructInfo) -> bool {
        let mut casts = self.open.iter().flat_map(|body| &body.casts);
        casts.any(|(_, id)| match &self.func.values[*id].def {
            Def::MatchCast(Arg::Prim(known), to) => known == scalar && to == sinfo,
            _ => false,
        })
    }

    /// The value of a `match_cast` of this argument that a binding in this place may use, if it says all extents.
    pub fn cast_of(&self, arg: &Arg) -> Option<ValueId> {
        let visible = self.open.iter().flat_map(|body| {
            let is_visible = |block: usize| {
                let last = block + 1 == body.blocks.len();
                body.blocks[block].dataflow.is_none() || (last && body.in_dataflow)
            };
            let casts = body
                .casts
                .iter()
                .filter(move |(block, _)| is_visible(*block));
            casts.map(|(_, id)| *id)
        });
        visible
            .into_iter()
            .find(|&id| match &self.func.values[id].def {
                Def::MatchCast(known, to) => known == arg && named(to).is_none(),
                _ => false,
            })
    }

    /// Opens a branch; bindings go there.
    pub fn begin_branch(&mut self) {
        self.open.push(OpenBody::default());
    }

    /// Closes the innermost branch, which ends in `result`.
    ///
    /// # Panics
    /// If no branch is open.
    pub fn end_branch(&mut self, result: Arg) -> Body {
        assert!(self.open.len() > 1, "a branch was opened");
        let blocks = self.open.pop().expect("as asserted").blocks;
        Body { blocks, result }
    }

    /// The finished function; what is known of its result follows from `result`.
    pub fn finish(self, result: Arg) -> Function {
        let ret = self.scope().arg(&result);
        self.finish_as(result, ret)
    }

    /// The finished function with a declared type of its result.
    pub fn finish_as(mut self, result: Arg, ret: StructInfo) -> Function {
        let blocks = self.open.pop().expect("the function's body is open").blocks;
        self.func.body = Body { blocks, result };
        self.func.ret = ret;
        self.func
    }
}
