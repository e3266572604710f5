//! Names in the emitted text: legal, unlike any keyword or builtin, and unique.

use std::collections::HashSet;

/// Words that a name must not be: keywords and reserved words of WGSL, types, and the builtin functions that kernels call.
const TAKEN: &[&str] = &[
    "alias",
    "array",
    "atomic",
    "bitcast",
    "bool",
    "break",
    "case",
    "const",
    "const_assert",
    "continue",
    "continuing",
    "default",
    "diagnostic",
    "discard",
    "else",
    "enable",
    "f16",
    "f32",
    "fallthrough",
    "false",
    "fn",
    "for",
    "function",
    "global",
    "i32",
    "if",
    "immediate",
    "let",
    "loop",
    "mat2x2",
    "mat3x3",
    "mat4x4",
    "override",
    "private",
    "ptr",
    "requires",
    "return",
    "select",
    "storage",
    "struct",
    "switch",
    "true",
    "u32",
    "uniform",
    "var",
    "vec2",
    "vec3",
    "vec4",
    "while",
    "workgroup",
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "clamp",
    "cos",
    "cosh",
    "countLeadingZeros",
    "countOneBits",
    "exp",
    "exp2",
    "floor",
    "fma",
    "inverseSqrt",
    "log",
    "log2",
    "max",
    "min",
    "pow",
    "round",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "workgroupBarrier",
    "args",
    "block_idx",
    "thread_idx",
    "num_groups",
    "bx",
    "by",
    "bz",
    "tx",
    "ty",
    "tz",
    "NULL",
    "Self",
    "abstract",
    "active",
    "alignas",
    "as",
    "asm",
    "async",
    "auto",
    "await",
    "become",
    "cast",
    "catch",
    "class",
    "do",
    "dynamic",
    "enum",
    "export",
    "extern",
    "filter",
    "final",
    "finally",
    "friend",
    "from",
    "get",
    "goto",
    "groupshared",
    "highp",
    "impl",
    "implements",
    "import",
    "in",
    "inline",
    "inout",
    "instanceof",
    "interface",
    "layout",
    "lowp",
    "macro",
    "match",
    "mediump",
    "meta",
    "mod",
    "module",
    "move",
    "mut",
    "namespace",
    "new",
    "nil",
    "of",
    "operator",
    "package",
    "packoffset",
    "pass",
    "patch",
    "pixelfragment",
    "precise",
    "precision",
    "premerge",
    "priv",
    "protected",
    "pub",
    "public",
    "readonly",
    "ref",
    "register",
    "resource",
    "restrict",
    "self",
    "set",
    "shared",
    "sizeof",
    "smooth",
    "snorm",
    "static",
    "std",
    "super",
    "target",
    "template",
    "this",
    "throw",
    "trait",
    "try",
    "type",
    "typedef",
    "typeof",
    "union",
    "unless",
    "unorm",
    "unsafe",
    "unsized",
    "use",
    "using",
    "varying",
    "virtual",
    "volatile",
    "wgsl",
    "where",
    "with",
    "writeonly",
    "yield",
];

/// Gives out names.
pub(super) struct Namer {
    used: HashSet<String>,
}

impl Namer {
    pub(super) fn new() -> Self {
        Self {
            used: TAKEN.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    /// A legal name like `wanted`, unlike all given out before.
    pub(super) fn name(&mut self, wanted: &str) -> String {
        let mut base: String = wanted
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '_' {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        // A name must not start with a digit, be `_`, or start with two underscores; a digit at the end could run into a suffix.
        base = base.trim_start_matches('_').to_owned();
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
        let names: Vec<_> = ["A", "A", "max", "__x", "0", "lv.0", "", "A_1"]
            .iter()
            .map(|n| namer.name(n))
            .collect();
        assert_eq!(
            names,
            ["A", "A_1", "max_1", "x", "v0", "lv_0", "v", "A_1_1"]
        );
    }
}
