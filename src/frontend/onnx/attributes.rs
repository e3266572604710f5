//! Attributes of a node, by name and type. Which ones were asked for is remembered: one that nobody asked for is a problem of the
//! model, not something to pass over.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::error::Fault;
use super::proto::{AttributeProto, GraphProto, TensorProto};

/// The attributes of a node.
pub(super) struct Attributes<'m> {
    /// By name in the node; the value may be an attribute of a function around it.
    all: Vec<(&'m str, &'m AttributeProto)>,
    read: RefCell<BTreeSet<String>>,
}

impl<'m> Attributes<'m> {
    pub(super) fn of(all: Vec<(&'m str, &'m AttributeProto)>) -> Self {
        Self {
            all,
            read: RefCell::default(),
        }
    }

    /// The attribute, if it is there.
    pub(super) fn find(&self, name: &str) -> Option<&'m AttributeProto> {
        self.read.borrow_mut().insert(name.to_owned());
        let found = self.all.iter().find(|(known, _)| *known == name);
        found.map(|(_, attribute)| *attribute)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    pub(super) fn int(&self, name: &str) -> Result<Option<i64>, Fault> {
        self.typed(name, "an integer", |a| a.i)
    }

    pub(super) fn int_or(&self, name: &str, default: i64) -> Result<i64, Fault> {
        Ok(self.int(name)?.unwrap_or(default))
    }

    /// An integer that is 0 or 1.
    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool, Fault> {
        Ok(self.int_or(name, default.into())? != 0)
    }

    pub(super) fn float(&self, name: &str) -> Result<Option<f64>, Fault> {
        self.typed(name, "a number", |a| a.f.map(f64::from))
    }

    pub(super) fn float_or(&self, name: &str, default: f64) -> Result<f64, Fault> {
        Ok(self.float(name)?.unwrap_or(default))
    }

    pub(super) fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, Fault> {
        Ok(self.find(name).map(|a| a.ints.clone()))
    }

    pub(super) fn floats(&self, name: &str) -> Result<Option<Vec<f64>>, Fault> {
        let floats = self.find(name).map(|a| &a.floats);
        Ok(floats.map(|floats| floats.iter().map(|&v| v.into()).collect()))
    }

    pub(super) fn str(&self, name: &str) -> Result<Option<&'m str>, Fault> {
        self.typed(name, "text", |a| {
            a.s.as_ref().and_then(|s| std::str::from_utf8(s).ok())
        })
    }

    pub(super) fn str_or(&self, name: &str, default: &'static str) -> Result<&'m str, Fault> {
        Ok(self.str(name)?.unwrap_or(default))
    }

    pub(super) fn strs(&self, name: &str) -> Result<Option<Vec<&'m str>>, Fault> {
        self.typed(name, "texts", |a| {
            let texts = a.strings.iter().map(|s| std::str::from_utf8(s).ok());
            texts.collect()
        })
    }

    pub(super) fn tensor(&self, name: &str) -> Result<Option<&'m TensorProto>, Fault> {
        self.typed(name, "a tensor", |a| a.t.as_deref())
    }

    pub(super) fn graph(&self, name: &str) -> Result<&'m GraphProto, Fault> {
        let graph = self.typed(name, "a graph", |a| a.g.as_deref())?;
        graph.ok_or_else(|| Fault::NoAttribute(name.to_owned()))
    }

    /// One of these texts.
    pub(super) fn one_of(
        &self,
        name: &str,
        default: &'static str,
        known: &[&str],
    ) -> Result<&'m str, Fault> {
        let given = self.str_or(name, default)?;
        match known.contains(&given) {
            true => Ok(given),
            false => Err(Fault::Attribute {
                name: name.to_owned(),
                given: format!("\"{given}\""),
                expected: format!("one of {}", known.join(", ")),
            }),
        }
    }

    /// Refuses any value but one: what others mean is not supported.
    pub(super) fn only(&self, name: &str, value: i64) -> Result<(), Fault> {
        match self.int_or(name, value)? {
            given if given == value => Ok(()),
            given => Err(Fault::Attribute {
                name: name.to_owned(),
                given: given.to_string(),
                expected: value.to_string(),
            }),
        }
    }

    /// Says that an attribute means nothing for the result.
    pub(super) fn ignore(&self, name: &str) {
        self.find(name);
    }

    /// The attributes that nobody asked for.
    pub(super) fn unread(&self) -> Vec<String> {
        let read = self.read.borrow();
        let names = self.all.iter().map(|(name, _)| (*name).to_owned());
        names.filter(|name| !read.contains(name)).collect()
    }

    fn typed<T>(
        &self,
        name: &str,
        expected: &str,
        value: impl Fn(&'m AttributeProto) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let Some(attribute) = self.find(name) else {
            return Ok(None);
        };
        let found = value(attribute);
        found.map(Some).ok_or_else(|| Fault::Attribute {
            name: name.to_owned(),
            given: "of another type".to_owned(),
            expected: expected.to_owned(),
        })
    }
}
