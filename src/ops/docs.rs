//! The table of operators as a document, for `docs/operators.md`.

use std::fmt::Write;

use super::{Compute, DTypes, FAMILIES, OpDef};
use crate::ir::graph::{AttrDefault, AttrSpec};

/// The operators as a Markdown document.
pub fn markdown() -> String {
    let mut out = String::from(HEAD);
    let computed = |def: &&OpDef| !matches!(def.compute, Compute::Nothing(_));
    let all = || FAMILIES.iter().flat_map(|family| family.ops);
    let total = all().count();
    let running = all().filter(computed).count();
    writeln!(
        out,
        "{total} operators, of which {running} run; {} have a text and a type only.\n",
        total - running
    )
    .expect(WRITES);
    out.push_str("| element types | operators that run |\n| --- | --- |\n");
    for (name, dtypes) in [
        ("float", DTypes::Float),
        ("int", DTypes::Int),
        ("bool", DTypes::Bool),
    ] {
        let takes = |def: &&OpDef| computed(def) && takes(def.dtypes, dtypes);
        writeln!(out, "| {name} | {} |", all().filter(takes).count()).expect(WRITES);
    }
    for family in FAMILIES {
        writeln!(out, "\n## {}\n", capitalised(family.name)).expect(WRITES);
        out.push_str(
            "| operator | operands | attributes | element types | what it gives | runs on |\n",
        );
        out.push_str("| --- | --- | --- | --- | --- | --- |\n");
        for def in family.ops {
            row(&mut out, def);
        }
    }
    out
}

const WRITES: &str = "a String takes all text";

const HEAD: &str = "# Operators

Every operator that text, builders and importers may call, generated from the table in `src/ops`. Operands after `?` may be left
out. Attributes stand with their defaults; one without a default must be given. Element types are those of the first operand:
`float` is float16, bfloat16, float32 and float64; `int` is signed and unsigned integers of 8 to 64 bits. What the elements of a GPU
may be, the README says.

";

/// Whether an operator of types `a` takes those of `b`.
fn takes(a: DTypes, b: DTypes) -> bool {
    match (a, b) {
        (DTypes::All, _) => true,
        (DTypes::Numeric, b) => b != DTypes::Bool,
        (DTypes::IntOrBool, b) => b != DTypes::Float,
        (a, b) => a == b,
    }
}

fn row(out: &mut String, def: &OpDef) {
    let schema = &def.schema;
    let operands = schema.operands.iter().map(|operand| {
        let mark = if operand.optional { "?" } else { "" };
        format!("{}{mark}", operand.name)
    });
    let mut operands: Vec<String> = operands.collect();
    if schema.variadic {
        operands.push("…".to_owned());
    }
    let attrs: Vec<String> = schema.attrs.iter().map(attribute).collect();
    let dtypes = match def.dtypes {
        DTypes::All => "all",
        DTypes::Numeric => "float, int",
        DTypes::Float => "float",
        DTypes::Int => "int",
        DTypes::IntOrBool => "int, bool",
        DTypes::Bool => "bool",
    };
    let runs = match def.compute {
        Compute::Kernel(_) => "CPU, GPU",
        Compute::Machine(_) => "machine",
        Compute::Host(_) => "host",
        Compute::Nothing(why) => why,
    };
    let name = schema.name;
    let (operands, attrs) = (operands.join(", "), attrs.join(", "));
    let doc = def.doc.replace('|', "\\|");
    writeln!(
        out,
        "| `{name}` | {operands} | {attrs} | {dtypes} | {doc} | {runs} |"
    )
    .expect(WRITES);
}

fn attribute(spec: &AttrSpec) -> String {
    let name = spec.name;
    match spec.default {
        AttrDefault::Required => format!("`{name}`"),
        AttrDefault::None => format!("`{name}=None`"),
        AttrDefault::Int(v) => format!("`{name}={v}`"),
        AttrDefault::Float(v) => format!("`{name}={v:?}`"),
        AttrDefault::Bool(v) => format!("`{name}={}`", if v { "True" } else { "False" }),
        AttrDefault::Str(v) => format!("`{name}=\"{v}\"`"),
        AttrDefault::Ints(v) => format!("`{name}={v:?}`"),
    }
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_document_is_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operators.md");
        let expected = super::markdown();
        if std::env::var_os("WEFTILE_BLESS").is_some() {
            std::fs::write(path, &expected).expect("docs/ is there");
        }
        let got = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            got == expected,
            "docs/operators.md is not what the table says; WEFTILE_BLESS=1 writes it"
        );
    }
}
