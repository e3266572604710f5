//! Expressions of operators that are bound when somebody needs them, each once.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::ir::graph::{Arg, Callee, Def, GraphBuilder, InferError};
use crate::ir::{AttrValue, Attrs, Expr, StructInfo};
use crate::ops;
use crate::passes::decompose_ops::number;
use crate::tensor::DType;

/// A value, or a call that is not bound yet. A clone is the same call.
#[derive(Clone)]
pub(super) enum Tree {
    Arg(Arg),
    Call(Rc<Call>),
}

/// A call of an operator.
pub(super) struct Call {
    op: &'static str,
    args: Vec<Tree>,
    attrs: Attrs,
    bound: OnceCell<Arg>,
}

impl Tree {
    /// A call of the operator without attributes.
    pub(super) fn of(op: &'static str, args: &[&Tree]) -> Self {
        Self::with(op, args, [])
    }

    /// A call of the operator.
    pub(super) fn with<const N: usize>(
        op: &'static str,
        args: &[&Tree],
        attrs: [(&str, AttrValue); N],
    ) -> Self {
        let attrs = attrs.into_iter();
        Self::Call(Rc::new(Call {
            op,
            args: args.iter().map(|&arg| arg.clone()).collect(),
            attrs: attrs
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            bound: OnceCell::new(),
        }))
    }

    /// A scalar constant.
    pub(super) fn number(value: f64, dtype: DType) -> Option<Self> {
        number(value, dtype).map(Self::Arg)
    }

    /// A shape.
    pub(super) fn shape(dims: &[Expr]) -> Self {
        Self::Arg(Arg::Shape(dims.to_vec()))
    }

    /// The call with bound operands, or what is bound to the value.
    pub(super) fn def(&self, builder: &mut GraphBuilder) -> Result<Def, InferError> {
        match self {
            Self::Arg(arg) => Ok(Def::Arg(arg.clone())),
            Self::Call(call) => match call.bound.get() {
                Some(arg) => Ok(Def::Arg(arg.clone())),
                None => {
                    let args = call.args.iter().map(|arg| arg.bind(builder));
                    let op = ops::op(call.op);
                    Ok(Def::Call {
                        callee: Callee::Op(op),
                        args: args.collect::<Result<_, _>>()?,
                        attrs: op.complete(call.attrs.clone())?,
                        sinfo_args: vec![],
                    })
                }
            },
        }
    }

    /// The value of the expression, which is bound if it was not.
    pub(super) fn bind(&self, builder: &mut GraphBuilder) -> Result<Arg, InferError> {
        match self.def(builder)? {
            Def::Arg(arg) => Ok(arg),
            def => {
                let arg = Arg::Value(builder.bind("lv", def)?);
                if let Self::Call(call) = self {
                    call.bound.get_or_init(|| arg.clone());
                }
                Ok(arg)
            }
        }
    }

    /// What is known of the value; operands of a call are bound.
    pub(super) fn info(&self, builder: &mut GraphBuilder) -> Result<StructInfo, InferError> {
        let def = self.def(builder)?;
        builder.infer(&def)
    }
}
