//! `Origin`: where a value or a loop program comes from, in the words of its author. It goes through all passes, so that an error
//! of lowering or of a launch can name the line of text or the node of the model.

use std::fmt;
use std::sync::Arc;

/// Where something comes from.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Origin {
    /// Nobody said.
    #[default]
    Unknown,
    /// A line of a text, from 1 on, and what stands there.
    Line(usize, Arc<str>),
    /// A place in a model, as `graph / node "conv1" (Conv)`.
    Node(Arc<str>),
    /// Several places, of which one thing was made.
    Several(Arc<[Origin]>),
}

/// Most places that are written out.
const SHOWN: usize = 3;

impl Origin {
    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }

    /// The end of a message, on a line of its own: nothing, if nothing is known.
    pub fn from(&self) -> String {
        match self {
            Self::Unknown => String::new(),
            known => format!("\n  from {known}"),
        }
    }

    /// The origin of what is made of several things: each of theirs once, in order.
    pub fn of_all<'a>(origins: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all: Vec<Self> = vec![];
        for origin in origins {
            let parts = match origin {
                Self::Several(parts) => &parts[..],
                Self::Unknown => &[],
                Self::Line(..) | Self::Node(_) => std::slice::from_ref(origin),
            };
            for part in parts {
                if !all.contains(part) {
                    all.push(part.clone());
                }
            }
        }
        match all.len() {
            0 => Self::Unknown,
            1 => all.swap_remove(0),
            _ => Self::Several(all.into()),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => write!(f, "an unknown place"),
            Self::Line(line, text) => write!(f, "line {line}: `{text}`"),
            Self::Node(path) => write!(f, "{path}"),
            Self::Several(parts) => {
                for (at, part) in parts.iter().take(SHOWN).enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}{part}")?;
                }
                match parts.len().saturating_sub(SHOWN) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_joined_without_repeats() {
        let line = |n| Origin::Line(n, format!("x{n} = R.abs(x)").into());
        let node = Origin::Node("graph / node \"conv1\" (Conv)".into());
        let pair = Origin::of_all([&line(1), &Origin::Unknown, &node]);
        assert_eq!(Origin::of_all([&pair, &line(1)]), pair);
        assert_eq!(Origin::of_all([&Origin::Unknown, &node]), node);
        let all = Origin::of_all([&pair, &line(2), &line(3)]);
        let text = "line 1: `x1 = R.abs(x)`, graph / node \"conv1\" (Conv), line 2: `x2 = R.abs(x)` and 1 more";
        assert_eq!(all.to_string(), text);
    }
}
