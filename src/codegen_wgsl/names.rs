//! Names in the emitted text: legal, no word of WGSL, and unique. One namer gives out all names of a shader: first those that
//! every shader has, then those of the entry point, the bindings, the variables and the helper functions.

use std::collections::HashSet;

use naga::keywords::wgsl::{BUILTIN_IDENTIFIERS, RESERVED};

/// Names that every shader may declare, so that they are the same in all.
const OWN: &[&str] = &[
    "Args",
    "args",
    "block_idx",
    "thread_idx",
    "num_groups",
    "group",
    "grid_x",
    "grid_y",
    "grid_z",
    "bx",
    "by",
    "bz",
    "tx",
    "ty",
    "tz",
];

/// Words that naga's lists lack: directives and address spaces that shaders contain, types of its extensions, and predeclared
/// short names of types.
const MORE: &[&str] = &[
    "immediate",
    "global",
    "i64",
    "u64",
    "f64",
    "vec2i",
    "vec3i",
    "vec4i",
    "vec2u",
    "vec3u",
    "vec4u",
    "vec2f",
    "vec3f",
    "vec4f",
    "vec2h",
    "vec3h",
    "vec4h",
    "subgroupBarrier",
];

/// What the extension of fragments declares, and names that its shaders may declare.
pub(super) const FRAGMENT_WORDS: &[&str] = &[
    "A",
    "B",
    "C",
    "coopLoad",
    "coopLoadT",
    "coopStore",
    "coopStoreT",
    "coopMultiplyAdd",
    "subgroup",
    "lane",
];

/// Gives out names.
pub(super) struct Namer {
    used: HashSet<String>,
}

impl Namer {
    pub(super) fn new() -> Self {
        let words = [RESERVED, BUILTIN_IDENTIFIERS, MORE, OWN]
            .into_iter()
            .flatten();
        Self {
            used: words.map(|&word| word.to_owned()).collect(),
        }
    }

    /// Keeps words for others.
    pub(super) fn reserve(&mut self, words: &[&str]) {
        self.used.extend(words.iter().map(|&word| word.to_owned()));
    }

    /// A legal name like `wanted`, unlike all given out before.
    pub(super) fn name(&mut self, wanted: &str) -> String {
        let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let all: String = wanted.chars().map(legal).collect();
        // A name must not start with a digit, be `_`, or start with two underscores.
        let mut base = all.trim_start_matches('_').to_owned();
        if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert(0, 'v');
        }
        let mut name = base.clone();
        let mut count = 1;
        while !self.used.insert(name.clone()) {
            name = format!("{base}_{count}");
            count += 1;
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_and_unique() {
        let mut namer = Namer::new();
        let names: Vec<_> = ["A", "A", "max", "__x", "0", "lv.0", "", "A_1", "args"]
            .iter()
            .map(|n| namer.name(n))
            .collect();
        assert_eq!(
            names,
            [
                "A", "A_1", "max_1", "x", "v0", "lv_0", "v", "A_1_1", "args_1"
            ]
        );
    }
}
