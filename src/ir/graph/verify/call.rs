//! What the verifier asks of branches and calls: conditions, outputs, inputs that are overwritten, side effects.

use std::collections::HashSet;

use super::{GraphErrorKind, Part, Site, Verifier};
use crate::ir::StructInfo;
use crate::ir::graph::dims::{Proof, is_base_of};
use crate::ir::graph::{Arg, Callee, ValueId};
use crate::tensor::DType;

impl<'a> Verifier<'a> {
    pub(super) fn condition(&mut self, id: ValueId, cond: &Arg) {
        let got = self.scope().arg(cond);
        let good = match &got {
            StructInfo::Object => true,
            StructInfo::Tensor(info) => {
                info.dtype.is_none_or(|d| d == DType::BOOL)
                    && info.shape.ndim().is_none_or(|n| n == 0)
            }
            StructInfo::Prim { dtype, value: _ } => *dtype == DType::BOOL,
            StructInfo::Shape(_)
            | StructInfo::Tuple(_)
            | StructInfo::Callable {
                params: _,
                ret: _,
                pure: _,
            } => false,
        };
        if !good {
            let got = Box::new(got);
            let cond = Site::from(id).part(Part::Argument(0));
            self.report(cond, GraphErrorKind::Condition { got });
        }
    }

    /// The outputs of a call in destination-passing style, which are allocated before it.
    pub(super) fn outputs(&mut self, id: ValueId, out: &StructInfo) {
        let is_known = |out: &StructInfo| match out {
            StructInfo::Tensor(info) => info.shape.dims().is_some() && info.dtype.is_some(),
            _ => false,
        };
        let good = match out {
            StructInfo::Tuple(items) => items.iter().all(is_known),
            single => is_known(single),
        };
        if !good {
            let out = Box::new(out.clone());
            self.report(id, GraphErrorKind::Output { out });
        }
    }

    pub(super) fn inplace(
        &mut self,
        id: ValueId,
        args: &[Arg],
        inplace: &[Option<usize>],
        out: &StructInfo,
    ) {
        let outs = match out {
            StructInfo::Tuple(items) => items.as_slice(),
            single => std::slice::from_ref(single),
        };
        let mut used = HashSet::new();
        let good = inplace.len() == outs.len()
            && inplace.iter().any(Option::is_some)
            && inplace
                .iter()
                .flatten()
                .all(|&index| index < args.len() && used.insert(index));
        if !good {
            self.report(id, GraphErrorKind::InplaceIndices);
            return;
        }
        for (out, index) in outs.iter().zip(inplace) {
            let Some(index) = index else { continue };
            let input = self.scope().arg(&args[*index]);
            if is_base_of(out, &input) == Proof::No {
                let (out, input) = (Box::new(out.clone()), Box::new(input));
                self.report(id, GraphErrorKind::InplaceType { out, input });
            }
        }
    }

    pub(super) fn callee(&mut self, id: ValueId, callee: &'a Callee, dataflow: bool) {
        let name = match callee {
            Callee::Op(op) => op.to_string(),
            Callee::Packed(name) => format!("\"{name}\""),
            Callee::PurePacked(name) | Callee::Global(name) => name.clone(),
            Callee::Value(callee) => {
                self.leaves(id.into(), &Arg::Value(*callee));
                match self.values().get(*callee) {
                    Some(value) => value.name.clone(),
                    None => return,
                }
            }
        };
        let pure = callee.is_pure(self.globals, self.values());
        let func = self.frame().func;
        let forced = func.attrs.get("relax.force_pure");
        if pure || forced.is_some_and(|v| v.as_int() == Some(1)) {
            return;
        }
        if dataflow {
            self.report(id, GraphErrorKind::ImpureInDataflow { callee: name });
        } else if func.pure {
            self.report(id, GraphErrorKind::ImpureInPure { callee: name });
        }
    }
}
