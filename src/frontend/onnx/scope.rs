//! Scopes: the values of the names that nodes of a graph see.

use std::collections::HashMap;

use super::attributes::Attributes;
use super::proto::NodeProto;
use super::value::Value;

/// The names that nodes of a graph see.
pub(super) struct Scope<'s, 'm> {
    values: HashMap<&'m str, Value>,
    outer: Option<&'s Scope<'s, 'm>>,
    /// Attributes of the function around the graph.
    pub(super) bindings: Option<&'s Attributes<'m>>,
    /// Versions of operators, where a function says its own.
    pub(super) opsets: Option<&'s HashMap<&'m str, i64>>,
    /// Where the graph is, for messages: empty for the model's.
    pub(super) place: String,
}

impl<'s, 'm> Scope<'s, 'm> {
    /// The model's.
    pub(super) fn new(place: impl Into<String>) -> Self {
        Self {
            values: HashMap::new(),
            outer: None,
            bindings: None,
            opsets: None,
            place: place.into(),
        }
    }

    /// That of a graph in a node of this one.
    pub(super) fn inside(&'s self, place: String) -> Self {
        Self {
            values: HashMap::new(),
            outer: Some(self),
            bindings: self.bindings,
            opsets: self.opsets,
            place,
        }
    }

    /// That of a function, with the attributes that it is called with and the versions of operators that it says.
    pub(super) fn of_function(
        bindings: &'s Attributes<'m>,
        opsets: &'s HashMap<&'m str, i64>,
        place: &str,
    ) -> Self {
        Self {
            values: HashMap::new(),
            outer: None,
            bindings: Some(bindings),
            opsets: Some(opsets),
            place: place.to_owned(),
        }
    }

    /// One in which names get values of their own, in the same place.
    pub(super) fn beside(&'s self) -> Self {
        self.inside(self.place.clone())
    }

    /// Gives a name a value; the last one that it gets counts.
    pub(super) fn define(&mut self, name: &'m str, value: Value) {
        self.values.insert(name, value);
    }

    /// Whether the name has a value in this scope itself.
    pub(super) fn defines(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    pub(super) fn find(&self, name: &str) -> Option<&Value> {
        let here = self.values.get(name);
        here.or_else(|| self.outer.and_then(|outer| outer.find(name)))
    }

    /// Where a node of the graph is, for messages.
    pub(super) fn place_of(&self, node: &NodeProto) -> String {
        let op = node.op_type.as_deref().unwrap_or("?");
        let named = node.name.as_deref().filter(|name| !name.is_empty());
        let first = node.output.iter().find(|name| !name.is_empty());
        let place = match (named, first) {
            (Some(name), _) => format!("node `{name}` ({op})"),
            (None, Some(output)) => format!("the node that makes `{output}` ({op})"),
            (None, None) => format!("a node without a name ({op})"),
        };
        match self.place.as_str() {
            "" => place,
            outer => format!("{outer} / {place}"),
        }
    }
}
