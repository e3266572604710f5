//! Attributes of a node, by name and type. An attribute that no import asks for is a problem of the model: what it means would be
//! lost.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::error::Fault;
use super::proto::{AttributeProto, GraphProto, TensorProto};

/// A kind of attribute: its number in `AttributeProto.AttributeType`, and words for it.
type Kind = (i32, &'static str);

const FLOAT: Kind = (1, "a number");
const INT: Kind = (2, "an integer");
const STRING: Kind = (3, "text");
const TENSOR: Kind = (4, "a tensor");
const GRAPH: Kind = (5, "a graph");
const FLOATS: Kind = (6, "numbers");
const INTS: Kind = (7, "integers");
const STRINGS: Kind = (8, "texts");

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
        // Some writers leave out what is 0.
        self.typed(name, INT, |a| Some(a.i.unwrap_or(0)))
    }

    pub(super) fn int_or(&self, name: &str, default: i64) -> Result<i64, Fault> {
        Ok(self.int(name)?.unwrap_or(default))
    }

    /// An integer that is 0 or 1. Runtimes disagree on what other integers mean, and the standard gives them no meaning.
    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool, Fault> {
        Ok(self.int_within(name, default.into(), 0..=1)? == 1)
    }

    /// An integer of a range.
    pub(super) fn int_within(
        &self,
        name: &str,
        default: i64,
        range: RangeInclusive<i64>,
    ) -> Result<i64, Fault> {
        let given = self.int_or(name, default)?;
        if range.contains(&given) {
            return Ok(given);
        }
        let (first, last) = range.into_inner();
        Err(Fault::Attribute {
            name: name.to_owned(),
            given: given.to_string(),
            expected: match last {
                i64::MAX => format!("at least {first}"),
                _ if last == first + 1 => format!("{first} or {last}"),
                _ => format!("{first} to {last}"),
            },
        })
    }

    /// A number, which is finite.
    pub(super) fn float(&self, name: &str) -> Result<Option<f64>, Fault> {
        match self.any_float(name)? {
            Some(value) if !value.is_finite() => Err(Fault::Attribute {
                name: name.to_owned(),
                given: value.to_string(),
                expected: "a finite number".to_owned(),
            }),
            value => Ok(value),
        }
    }

    /// A number, which may be infinite.
    pub(super) fn any_float(&self, name: &str) -> Result<Option<f64>, Fault> {
        self.typed(name, FLOAT, |a| Some(f64::from(a.f.unwrap_or(0.0))))
    }

    pub(super) fn float_or(&self, name: &str, default: f64) -> Result<f64, Fault> {
        Ok(self.float(name)?.unwrap_or(default))
    }

    /// A finite number that is at least 0.
    pub(super) fn nonnegative_float(&self, name: &str, default: f64) -> Result<f64, Fault> {
        match self.float_or(name, default)? {
            given if given >= 0.0 => Ok(given),
            given => Err(Fault::Attribute {
                name: name.to_owned(),
                given: given.to_string(),
                expected: "at least 0".to_owned(),
            }),
        }
    }

    pub(super) fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, Fault> {
        self.typed(name, INTS, |a| Some(a.ints.clone()))
    }

    /// So many integers, each the default if the attribute is left out.
    pub(super) fn ints_of(
        &self,
        name: &str,
        default: i64,
        count: usize,
    ) -> Result<Vec<i64>, Fault> {
        match self.ints(name)? {
            None => Ok(vec![default; count]),
            Some(list) if list.len() == count => Ok(list),
            Some(list) => Err(Fault::Attribute {
                name: name.to_owned(),
                given: format!("{list:?}"),
                expected: format!("{count} numbers"),
            }),
        }
    }

    pub(super) fn floats(&self, name: &str) -> Result<Option<Vec<f64>>, Fault> {
        let wide = |floats: &[f32]| floats.iter().map(|&v| v.into()).collect();
        self.typed(name, FLOATS, |a| Some(wide(&a.floats)))
    }

    pub(super) fn str(&self, name: &str) -> Result<Option<&'m str>, Fault> {
        self.typed(name, STRING, |a| {
            a.s.as_ref().and_then(|s| std::str::from_utf8(s).ok())
        })
    }

    pub(super) fn str_or(&self, name: &str, default: &'static str) -> Result<&'m str, Fault> {
        Ok(self.str(name)?.unwrap_or(default))
    }

    pub(super) fn strs(&self, name: &str) -> Result<Option<Vec<&'m str>>, Fault> {
        self.typed(name, STRINGS, |a| {
            let texts = a.strings.iter().map(|s| std::str::from_utf8(s).ok());
            texts.collect()
        })
    }

    pub(super) fn tensor(&self, name: &str) -> Result<Option<&'m TensorProto>, Fault> {
        self.typed(name, TENSOR, |a| a.t.as_deref())
    }

    pub(super) fn required_int(&self, name: &str) -> Result<i64, Fault> {
        let int = self.int(name)?;
        int.ok_or_else(|| Fault::NoAttribute(name.to_owned()))
    }

    pub(super) fn graph(&self, name: &str) -> Result<&'m GraphProto, Fault> {
        let graph = self.typed(name, GRAPH, |a| a.g.as_deref())?;
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
        (kind, expected): Kind,
        value: impl Fn(&'m AttributeProto) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let Some(attribute) = self.find(name) else {
            return Ok(None);
        };
        // Old files do not say of what kind an attribute is.
        let fits = matches!(attribute.kind, None | Some(0)) || attribute.kind == Some(kind);
        let found = if fits { value(attribute) } else { None };
        found.map(Some).ok_or_else(|| Fault::Attribute {
            name: name.to_owned(),
            given: "of another type".to_owned(),
            expected: expected.to_owned(),
        })
    }
}
