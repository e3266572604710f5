//! Attributes of operators and options of passes: what they are called, what they take, and what they are where nobody says.

use crate::ir::{AttrValue, Attrs, VDevice};

/// What values an attribute takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum AttrKind {
    /// An integer.
    Int,
    /// A number.
    Float,
    /// `True` or `False`.
    Bool,
    /// One of these texts; any text if there are none.
    Str(&'static [&'static str]),
    /// An element type; `"void"` is the same as `None`.
    DType,
    /// A list of integers; one integer counts as a list.
    Ints,
    /// A list of numbers; one number counts as a list.
    Floats,
    /// A device, as `"vulkan:0"`.
    VDevice,
    /// Any plain value.
    Any,
}

/// What an attribute is where a call does not give it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum AttrDefault {
    /// A call must give it.
    Required,
    /// Absent.
    None,
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Str(&'static str),
    /// A list of integers.
    Ints(&'static [i64]),
    /// A list of numbers.
    Floats(&'static [f64]),
}

impl AttrDefault {
    /// The value; `None` if the attribute is then absent.
    pub fn value(self) -> Option<AttrValue> {
        Some(match self {
            Self::Required | Self::None => return None,
            Self::Int(v) => AttrValue::Int(v),
            Self::Float(v) => AttrValue::Float(v),
            Self::Bool(v) => AttrValue::Bool(v),
            Self::Str(v) => AttrValue::Str(v.to_owned()),
            Self::Ints(v) => AttrValue::List(v.iter().map(|&v| AttrValue::Int(v)).collect()),
            Self::Floats(v) => AttrValue::List(v.iter().map(|&v| AttrValue::Float(v)).collect()),
        })
    }
}

/// One attribute of an operator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AttrSpec {
    /// TVM's name.
    pub name: &'static str,
    /// The values it takes.
    pub kind: AttrKind,
    /// Its value where a call does not give it.
    pub default: AttrDefault,
}

impl AttrSpec {
    /// The value as the operator keeps it: a truth value for `0` and `1`, a list for a single number. `None` if the attribute
    /// does not take the value.
    fn normalize(&self, value: AttrValue) -> Option<AttrValue> {
        let is_number = |v: &AttrValue| {
            v.as_int().is_some() || matches!(v, AttrValue::Float(_) | AttrValue::Expr(_))
        };
        let one = |value: AttrValue| match value {
            list @ AttrValue::List(_) => list,
            single => AttrValue::List(vec![single]),
        };
        match self.kind {
            AttrKind::Any => Some(value),
            AttrKind::VDevice => {
                let device = VDevice::parse(value.as_str()?)?;
                Some(AttrValue::Str(device.to_string()))
            }
            AttrKind::Int => value.as_int().map(AttrValue::Int),
            AttrKind::Float => match value {
                AttrValue::Int(v) => Some(AttrValue::Float(v as f64)),
                AttrValue::Float(_) => Some(value),
                AttrValue::Expr(e) => e
                    .as_float()
                    .or(e.as_int().map(|v| v as f64))
                    .map(AttrValue::Float),
                AttrValue::Str(text) => text.parse().ok().map(AttrValue::Float),
                _ => None,
            },
            AttrKind::Bool => value
                .as_int()
                .filter(|v| matches!(v, 0 | 1))
                .map(|v| AttrValue::Bool(v == 1)),
            AttrKind::Str(allowed) => value
                .as_str()
                .filter(|text| allowed.is_empty() || allowed.contains(text))
                .map(|text| AttrValue::Str(text.to_owned())),
            AttrKind::DType => match value {
                AttrValue::DType(_) => Some(value),
                AttrValue::Str(text) => text.parse().ok().map(AttrValue::DType),
                _ => None,
            },
            AttrKind::Ints => match one(value) {
                AttrValue::List(items) => items
                    .iter()
                    .map(|item| match item {
                        AttrValue::Expr(e) if e.as_int().is_none() => Some(item.clone()),
                        _ => item.as_int().map(AttrValue::Int),
                    })
                    .collect::<Option<_>>()
                    .map(AttrValue::List),
                _ => None,
            },
            AttrKind::Floats => match one(value) {
                AttrValue::List(items) if items.iter().all(is_number) => {
                    Some(AttrValue::List(items.into_iter().map(constant).collect()))
                }
                _ => None,
            },
        }
    }

    /// Whether the value says that the attribute is absent.
    pub(super) fn is_absent(&self, value: &AttrValue) -> bool {
        match value {
            // Where the default is a number, `None` means something else, which the operator does not have.
            AttrValue::None => !matches!(
                self.default,
                AttrDefault::Int(_) | AttrDefault::Float(_) | AttrDefault::Bool(_)
            ),
            AttrValue::Str(text) => {
                (self.kind == AttrKind::DType && (text == "void" || text.is_empty()))
                    || (matches!(self.kind, AttrKind::Str(allowed) if !allowed.contains(&""))
                        && text.is_empty()
                        && (self.default == AttrDefault::None || self.kind != AttrKind::Str(&[])))
            }
            _ => false,
        }
    }
}

/// The number, as a float if it is a constant.
fn constant(number: AttrValue) -> AttrValue {
    let value = match &number {
        AttrValue::Int(v) => Some(*v as f64),
        AttrValue::Expr(e) => e.as_float().or(e.as_int().map(|v| v as f64)),
        _ => None,
    };
    value.map_or(number, AttrValue::Float)
}

/// Why named values do not fit what takes them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AttrError {
    /// It takes other values.
    #[error("`{name}` takes {expected}, not {got}")]
    Value {
        /// The name.
        name: &'static str,
        /// What it takes.
        expected: AttrKind,
        /// What is given.
        got: String,
    },
    /// It must be given.
    #[error("`{name}` must be given")]
    Missing {
        /// The name.
        name: &'static str,
    },
    /// There is none with this name.
    #[error("there is no `{name}`, only {}", names(known))]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: &'static [AttrSpec],
    },
}

fn names(specs: &[AttrSpec]) -> String {
    let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
    if names.is_empty() {
        "nothing".to_owned()
    } else {
        names.join(", ")
    }
}

/// The named values with defaults filled in, in the order of their specifications. What is `None` is absent.
///
/// # Errors
/// If a name is unknown, does not take its value, or is required and missing.
pub fn complete(specs: &'static [AttrSpec], mut given: Attrs) -> Result<Attrs, AttrError> {
    let mut attrs = Attrs::new();
    for spec in specs {
        let value = given.shift_remove(spec.name).filter(|v| !spec.is_absent(v));
        let value = match value {
            Some(value) => {
                let got = value.to_string();
                Some(spec.normalize(value).ok_or(AttrError::Value {
                    name: spec.name,
                    expected: spec.kind,
                    got,
                })?)
            }
            None if spec.default == AttrDefault::Required => {
                return Err(AttrError::Missing { name: spec.name });
            }
            None => spec.default.value(),
        };
        if let Some(value) = value {
            attrs.insert(spec.name.to_owned(), value);
        }
    }
    match given.into_iter().next() {
        Some((name, _)) => Err(AttrError::Unknown { name, known: specs }),
        None => Ok(attrs),
    }
}

impl std::fmt::Display for AttrKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int => f.write_str("an integer"),
            Self::Float => f.write_str("a number"),
            Self::Bool => f.write_str("True or False"),
            Self::Str([]) => f.write_str("a text"),
            Self::Str(allowed) => {
                let allowed: Vec<_> = allowed.iter().map(|text| format!("{text:?}")).collect();
                write!(f, "one of {}", allowed.join(", "))
            }
            Self::DType => f.write_str("an element type"),
            Self::Ints => f.write_str("a list of integers"),
            Self::Floats => f.write_str("a list of numbers"),
            Self::VDevice => f.write_str("a device, as \"vulkan:0\""),
            Self::Any => f.write_str("a value"),
        }
    }
}
