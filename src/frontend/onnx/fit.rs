//! Whether the operands of a node have the extents that its operator takes, asked before the node becomes operators of the graph: an error
//! then names the operand of the node, not an operator that the model does not have. Symbolic extents that may be equal pass; a call checks them.

use std::fmt;

use super::call::{Call, shown, sinfo_of};
use super::error::Fault;
use super::proto::NodeProto;
use super::value::Value;
use crate::ir::Expr as Size;
use crate::relax::BuildError;

/// An extent that an operator takes.
pub(super) struct Extent<'a> {
    what: &'a str,
    rule: Rule<'a>,
}

enum Rule<'a> {
    Any,
    Exactly(&'a Size),
    /// The operand broadcasts.
    OneOr(&'a Size),
}

impl<'a> Extent<'a> {
    /// Any extent.
    pub(super) const fn any(what: &'a str) -> Self {
        let rule = Rule::Any;
        Self { what, rule }
    }

    /// This extent.
    pub(super) const fn of(what: &'a str, size: &'a Size) -> Self {
        let rule = Rule::Exactly(size);
        Self { what, rule }
    }

    /// This extent, or 1.
    pub(super) const fn one_or(what: &'a str, size: &'a Size) -> Self {
        let rule = Rule::OneOr(size);
        Self { what, rule }
    }

    /// Whether a tensor may have this extent.
    fn admits(&self, c: &Call<'_, '_>, given: &Size) -> bool {
        match self.rule {
            Rule::Any => true,
            Rule::Exactly(size) => !c.surely_differ(given, size),
            Rule::OneOr(size) => given.is_one() || !c.surely_differ(given, size),
        }
    }
}

impl fmt::Display for Extent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rule {
            Rule::Any => f.write_str(self.what),
            Rule::Exactly(size) => write!(f, "{} {size:#}", self.what),
            Rule::OneOr(size) => write!(f, "{} {size:#} or 1", self.what),
        }
    }
}

/// An extent of an operand, or one that follows from the operand.
pub(super) type Measured<'a> = (usize, &'a Size);

impl Call<'_, '_> {
    /// Whether two extents are different for all sizes.
    pub(super) fn surely_differ(&self, a: &Size, b: &Size) -> bool {
        let difference = self.importer.arith.simplify(&(a - b));
        difference
            .as_int()
            .is_some_and(|difference| difference != 0)
    }

    /// Refuses an operand that is given and does not have these extents.
    pub(super) fn expect_extents(&self, index: usize, extents: &[Extent<'_>]) -> Result<(), Fault> {
        if !self.has(index) {
            return Ok(());
        }
        let dims = self.dims(index)?;
        let mut pairs = extents.iter().zip(&dims);
        let fits = dims.len() == extents.len() && pairs.all(|(e, dim)| e.admits(self, dim));
        match fits {
            true => Ok(()),
            false => Err(self.bad(index, shown(&dims), listed(extents))),
        }
    }

    /// Refuses an operand that is given and does not broadcast to these extents: it has the last of them, or 1 in place of any.
    pub(super) fn expect_broadcast(&self, index: usize, to: &[(&str, &Size)]) -> Result<(), Fault> {
        if !self.has(index) {
            return Ok(());
        }
        let extents: Vec<Extent<'_>> = to.iter().map(|(what, n)| Extent::one_or(what, n)).collect();
        let dims = self.dims(index)?;
        let mut pairs = extents.iter().rev().zip(dims.iter().rev());
        let fits = dims.len() <= extents.len() && pairs.all(|(e, dim)| e.admits(self, dim));
        match fits {
            true => Ok(()),
            false => {
                let expected = format!("{}, or the last of these extents", listed(&extents));
                Err(self.bad(index, shown(&dims), expected))
            }
        }
    }

    /// Refuses two operands that are of different extents where they have to agree; the first is blamed.
    pub(super) fn expect_same(
        &self,
        what: &str,
        (own, given): Measured<'_>,
        (other, expected): Measured<'_>,
    ) -> Result<(), Fault> {
        if !self.surely_differ(given, expected) {
            return Ok(());
        }
        let given = format!("{} with {what} {given:#}", shown(&self.dims(own)?));
        let expected = format!("of {what} {expected:#}, as {} is", self.operand(other));
        Err(self.bad(own, given, expected))
    }

    /// Refuses one of two operands that are given together or not at all.
    pub(super) fn expect_both(&self, a: usize, b: usize) -> Result<(), Fault> {
        let (given, missing) = match (self.has(a), self.has(b)) {
            (true, false) => (a, b),
            (false, true) => (b, a),
            _ => return Ok(()),
        };
        let expected = format!("left out, as operand {missing} is, or given together with it");
        Err(self.bad(given, "given", expected))
    }

    /// An operand for a message.
    pub(super) fn operand(&self, index: usize) -> String {
        let name = self.node.input.get(index).map_or("", String::as_str);
        format!("operand {index} (`{name}`)")
    }
}

/// The fault with the operands of the node, if it is that of an operator that the node becomes.
pub(super) fn with_operands(fault: Fault, node: &NodeProto, operands: &[Value]) -> Fault {
    let source = match fault {
        Fault::Build(source @ BuildError::Infer(_)) => source,
        other => return other,
    };
    let given = node.input.iter().zip(operands);
    let operands = given.filter_map(|(name, value)| {
        let info = sinfo_of(value)?;
        let tensor = info.as_tensor()?;
        let shape = tensor.shape.dims().map_or("a tensor".to_owned(), shown);
        let dtype = tensor
            .dtype
            .map_or(String::new(), |dtype| format!(" in {dtype}"));
        Some(format!("`{name}`, {shape}{dtype}"))
    });
    Fault::Operands {
        operands: operands.collect::<Vec<_>>().join("; "),
        source,
    }
}

/// Extents for a message.
fn listed(extents: &[Extent<'_>]) -> String {
    let extents: Vec<String> = extents.iter().map(Extent::to_string).collect();
    format!("of shape ({})", extents.join(", "))
}
