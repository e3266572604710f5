//! How the two sides of a difference are written: as the text of a program has them, or what they are.

use crate::ir::graph::{Arg, Callee, Def, DpsCallee, ValueId};
use crate::ir::{
    AttrValue, Buffer, BufferRegion, Expr, IterKind, LoopKind, Param, Scope, ShapeInfo, Stmt,
    StructInfo, VDevice, Var,
};
use crate::tensor::{DType, Tensor};

/// Something that a difference can be about.
pub(super) trait Shown {
    fn shown(&self) -> String;
}

macro_rules! displayed {
    ($($ty:ty),*) => { $(
        impl Shown for $ty {
            fn shown(&self) -> String {
                self.to_string()
            }
        }
    )* };
}
displayed!(
    usize,
    i64,
    &str,
    String,
    DType,
    ValueId,
    StructInfo,
    AttrValue,
    BufferRegion
);

impl Shown for bool {
    fn shown(&self) -> String {
        if *self { "True" } else { "False" }.to_owned()
    }
}

impl<T: Shown> Shown for Option<T> {
    fn shown(&self) -> String {
        self.as_ref().map_or("nothing".to_owned(), Shown::shown)
    }
}

impl<T: Shown> Shown for [T] {
    fn shown(&self) -> String {
        let items: Vec<_> = self.iter().map(Shown::shown).collect();
        format!("[{}]", items.join(", "))
    }
}

impl<T: Shown> Shown for Vec<T> {
    fn shown(&self) -> String {
        self.as_slice().shown()
    }
}

impl Shown for Expr {
    fn shown(&self) -> String {
        format!("{self:#}")
    }
}

impl Shown for Var {
    fn shown(&self) -> String {
        self.name().to_owned()
    }
}

impl Shown for Buffer {
    fn shown(&self) -> String {
        self.name().to_owned()
    }
}

impl Shown for Param {
    fn shown(&self) -> String {
        match self {
            Self::Buffer { handle: _, buffer } => format!("buffer {}", buffer.name()),
            Self::Scalar(var) => format!("scalar {}", var.name()),
        }
    }
}

impl Shown for Scope {
    fn shown(&self) -> String {
        format!("\"{}\"", self.name())
    }
}

impl Shown for VDevice {
    fn shown(&self) -> String {
        format!("{}:{}:{}", self.target, self.index, self.scope)
    }
}

impl Shown for LoopKind {
    fn shown(&self) -> String {
        match self {
            Self::Serial => "serial".to_owned(),
            Self::Parallel => "parallel".to_owned(),
            Self::Vectorized => "vectorized".to_owned(),
            Self::Unrolled => "unrolled".to_owned(),
            Self::ThreadBinding(axis) => format!("bound to {}", axis.name()),
        }
    }
}

impl Shown for IterKind {
    fn shown(&self) -> String {
        let kind = match self {
            Self::Spatial => "spatial",
            Self::Reduce => "reduce",
            Self::Scan => "scan",
            Self::Opaque => "opaque",
        };
        kind.to_owned()
    }
}

impl Shown for Stmt {
    fn shown(&self) -> String {
        let what = match self {
            Self::Loop(_) => "a loop",
            Self::Block(_) => "a block",
            Self::Store { buffer, .. } => return format!("a store to {}", buffer.name()),
            Self::Let { .. } => "a let",
            Self::If { .. } => "an if",
            Self::While { .. } => "a while",
            Self::Assert { .. } => "an assert",
            Self::Evaluate(e) => return format!("an evaluation of {e:#}"),
            Self::Tile(op) => return op.to_string(),
            Self::View { .. } => "a view",
            Self::Attr { .. } => "a remark",
            Self::Break => "a break",
            Self::Continue => "a continue",
            Self::Return(_) => "a return",
        };
        what.to_owned()
    }
}

impl Shown for ShapeInfo {
    fn shown(&self) -> String {
        StructInfo::Shape(self.clone()).to_string()
    }
}

impl Shown for Tensor {
    fn shown(&self) -> String {
        format!(
            "a {} tensor of shape {}",
            self.dtype(),
            self.shape().shown()
        )
    }
}

impl Shown for Callee {
    fn shown(&self) -> String {
        match self {
            Self::Op(op) => op.to_string(),
            Self::Global(name) => format!("cls.{name}"),
            Self::Packed(name) | Self::PurePacked(name) => format!("\"{name}\""),
            Self::Value(id) => id.to_string(),
        }
    }
}

impl Shown for DpsCallee {
    fn shown(&self) -> String {
        match self {
            Self::Prim(name) => format!("cls.{name}"),
            Self::Packed(name) => format!("\"{name}\""),
        }
    }
}

impl Shown for Arg {
    fn shown(&self) -> String {
        match self {
            Self::Value(id) => id.to_string(),
            Self::Captured { depth, value } => format!("{value} of {depth} functions out"),
            Self::Const(tensor) => tensor.shown(),
            Self::Omitted(index) => format!("constant {index}"),
            Self::Tuple(items) => format!("a tuple of {}", items.shown()),
            Self::Shape(dims) => format!("R.shape({})", dims.shown()),
            Self::Prim(e) => format!("R.prim_value({e:#})"),
            Self::Str(text) => format!("\"{text}\""),
            Self::DType(dtype) => format!("R.dtype(\"{dtype}\")"),
            Self::Global(name) => format!("cls.{name}"),
            Self::Extern(name) => format!("R.ExternFunc(\"{name}\")"),
        }
    }
}

impl Shown for Def {
    fn shown(&self) -> String {
        match self {
            Self::Param => "a parameter".to_owned(),
            Self::Arg(arg) => arg.shown(),
            Self::TupleItem(tuple, index) => format!("item {index} of {}", tuple.shown()),
            Self::CallDps { callee, .. } => {
                format!("a call of {} into its outputs", callee.shown())
            }
            Self::Call { callee, .. } => format!("a call of {}", callee.shown()),
            Self::MatchCast(_, sinfo) => format!("a match_cast to {sinfo}"),
            Self::If { .. } => "an if".to_owned(),
            Self::Function(inner) => format!("function {}", inner.name),
        }
    }
}
