//! Prints definitions and arguments.

use std::ops::Range;

use super::Printer;
use super::sinfo::tuple;
use crate::ir::graph::{Arg, AttrKind, Callee, Def, DpsCallee};
use crate::ir::{AttrValue, Attrs, Expr, StructInfo, VDevice};
use crate::script::constant::scalar_of;
use crate::script::print::{expr, value};
use crate::tensor::scalar::Scalar;
use crate::tensor::{DType, Tensor};

/// The text of a definition, and where its arguments are in it.
#[derive(Default)]
pub(super) struct Defined {
    pub(super) text: String,
    pub(super) args: Vec<Range<usize>>,
}

impl Defined {
    /// Adds arguments with commas between.
    fn push_args(&mut self, args: &[String]) {
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                self.text.push_str(", ");
            }
            let start = self.text.len();
            self.text.push_str(arg);
            self.args.push(start..self.text.len());
        }
    }
}

impl Printer<'_, '_> {
    /// An argument.
    pub(super) fn arg(&mut self, arg: &Arg) -> String {
        match arg {
            Arg::Value(id) => self.name(0, *id),
            Arg::Captured { depth, value } => self.name(*depth, *value),
            Arg::Const(tensor) => match scalar(tensor) {
                Some(text) => format!("R.const({text}, \"{}\")", tensor.dtype()),
                None => self.constants.entry(tensor),
            },
            Arg::Omitted(index) => super::reference(*index),
            Arg::Tuple(items) if items.is_empty() => "R.tuple()".to_owned(),
            Arg::Tuple(items) => tuple(&self.args(items)),
            Arg::Shape(dims) => {
                let dims: Vec<_> = dims.iter().map(|d| self.dim(d)).collect();
                format!("R.shape([{}])", dims.join(", "))
            }
            Arg::Prim(e) => format!("R.prim_value({})", self.prim(e)),
            Arg::Str(text) => format!("R.str({})", value::string(text)),
            Arg::DType(dtype) => format!("R.dtype(\"{dtype}\")"),
            Arg::Global(name) => format!("cls.{name}"),
            Arg::Extern(name) => format!("R.ExternFunc({})", value::string(name)),
        }
    }

    /// A scalar: integers without a type are `int64` here, so others say theirs.
    fn prim(&mut self, e: &Expr) -> String {
        match e.dtype() {
            DType::I64 | DType::I32 => self.dim(e),
            _ => expr::expr(&mut self.namer, e),
        }
    }

    fn args(&mut self, args: &[Arg]) -> Vec<String> {
        args.iter().map(|arg| self.arg(arg)).collect()
    }

    /// What computes a value; branches and functions are printed as statements.
    pub(super) fn def(&mut self, def: &Def) -> Defined {
        let mut out = Defined::default();
        match def {
            Def::Arg(arg) => out.push_args(&[self.arg(arg)]),
            Def::TupleItem(arg, index) => {
                out.push_args(&[self.arg(arg)]);
                out.text.push_str(&format!("[{index}]"));
            }
            Def::MatchCast(arg, sinfo) => {
                out.text.push_str("R.match_cast(");
                out.push_args(&[self.arg(arg)]);
                out.text.push_str(&format!(", {})", self.plain(sinfo)));
            }
            Def::CallDps {
                callee,
                args,
                tir_vars,
                inplace,
                out,
            } => return self.call_dps(callee, args, tir_vars, inplace.as_deref(), out),
            Def::Call {
                callee,
                args,
                attrs,
                sinfo_args,
            } => return self.call(callee, args, attrs, sinfo_args),
            Def::Param
            | Def::If {
                cond: _,
                then: _,
                otherwise: _,
            }
            | Def::Function(_) => {}
        }
        out
    }

    fn call_dps(
        &mut self,
        callee: &DpsCallee,
        args: &[Arg],
        tir_vars: &[Expr],
        inplace: Option<&[Option<usize>]>,
        out: &StructInfo,
    ) -> Defined {
        let (function, callee) = match callee {
            DpsCallee::Prim(name) if inplace.is_some() => {
                ("call_tir_inplace", format!("cls.{name}"))
            }
            DpsCallee::Prim(name) => ("call_tir", format!("cls.{name}")),
            DpsCallee::Packed(name) => ("call_dps_packed", value::string(name)),
        };
        let mut call = Defined {
            text: format!("R.{function}({callee}, ("),
            args: vec![],
        };
        call.push_args(&self.args(args));
        let out = match out {
            StructInfo::Tuple(items) => {
                let items: Vec<_> = items.iter().map(|i| self.plain(i)).collect();
                format!("[{}]", items.join(", "))
            }
            single => self.plain(single),
        };
        let text = &mut call.text;
        let comma = if args.len() == 1 { "," } else { "" };
        text.push_str(&format!("{comma}), out_sinfo={out}"));
        if let Some(inplace) = inplace {
            let index = |i: &Option<usize>| i.map_or("-1".to_owned(), |i| i.to_string());
            let indices: Vec<_> = inplace.iter().map(index).collect();
            text.push_str(&format!(", inplace_indices=[{}]", indices.join(", ")));
        }
        if !tir_vars.is_empty() {
            let vars: Vec<_> = tir_vars.iter().map(|e| self.dim(e)).collect();
            text.push_str(&format!(", tir_vars=R.shape([{}])", vars.join(", ")));
        }
        text.push(')');
        call
    }

    fn call(
        &mut self,
        callee: &Callee,
        args: &[Arg],
        attrs: &Attrs,
        sinfo_args: &[StructInfo],
    ) -> Defined {
        let (function, packed) = match callee {
            Callee::Op(op) => (op.to_string(), None),
            Callee::Global(name) => (format!("cls.{name}"), None),
            Callee::Value(id) => (self.name(0, *id), None),
            Callee::Packed(name) => ("R.call_packed".to_owned(), Some(name)),
            Callee::PurePacked(name) => ("R.call_pure_packed".to_owned(), Some(name)),
        };
        let mut call = Defined {
            text: format!("{function}("),
            args: vec![],
        };
        if let Some(name) = packed {
            call.text.push_str(&value::string(name));
            call.text.push_str(if args.is_empty() { "" } else { ", " });
        }
        call.push_args(&self.args(args));
        let mut rest = vec![];
        let schema = match callee {
            Callee::Op(op) => op.schema().attrs,
            _ => &[],
        };
        for (name, attr) in attrs {
            let spec = schema.iter().find(|spec| spec.name == name);
            let text = match spec.map(|spec| spec.kind) {
                Some(AttrKind::VDevice) => self.device_text(attr),
                _ => self.attr(attr),
            };
            rest.push(format!("{name}={text}"));
        }
        if !sinfo_args.is_empty() {
            let infos: Vec<_> = sinfo_args.iter().map(|i| self.plain(i)).collect();
            rest.push(format!("sinfo_args={}", tuple(&infos)));
        }
        if !rest.is_empty() && (packed.is_some() || !args.is_empty()) {
            call.text.push_str(", ");
        }
        call.text.push_str(&rest.join(", "));
        call.text.push(')');
        call
    }

    /// A device, as texts of the module name it.
    fn device_text(&mut self, attr: &AttrValue) -> String {
        match attr.as_str().and_then(VDevice::parse) {
            Some(device) => value::string(&device.named_in(self.devices).to_string()),
            None => self.attr(attr),
        }
    }

    fn attr(&mut self, attr: &AttrValue) -> String {
        match attr {
            AttrValue::DType(dtype) => format!("R.dtype(\"{dtype}\")"),
            AttrValue::Expr(e) => self.prim(e),
            AttrValue::Dict(items)
                if items.keys().eq(["device_type", "index"])
                    && items.values().all(|v| matches!(v, AttrValue::Int(_))) =>
            {
                let items: Vec<_> = items
                    .iter()
                    .map(|(name, v)| format!("{name}={}", self.attr(v)))
                    .collect();
                format!("R.device({})", items.join(", "))
            }
            other => value::value(&mut self.namer, other),
        }
    }
}

/// A tensor without dimensions as a number, if Python has a literal for it.
fn scalar(tensor: &Tensor) -> Option<String> {
    match scalar_of(tensor)? {
        Scalar::Int(v) if tensor.dtype().is_bool() => {
            Some(if v == 0 { "False" } else { "True" }.to_owned())
        }
        Scalar::Int(v) if tensor.dtype() == DType::U64 && v < 0 => None,
        Scalar::Int(v) => Some(v.to_string()),
        // Parsed as `f64` and rounded, the shortest text of the `f64` value gives back every narrower float.
        Scalar::Float(v) if v.is_finite() && tensor.dtype() == DType::F32 => {
            Some(format!("{:?}", v as f32))
        }
        Scalar::Float(v) if v.is_finite() => Some(format!("{v:?}")),
        Scalar::Float(v) if v.is_infinite() => {
            Some(if v > 0.0 { "\"inf\"" } else { "\"-inf\"" }.to_owned())
        }
        // The text does not say which NaN it is.
        Scalar::Float(_) => None,
    }
}
