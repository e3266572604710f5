//! The table of operators as a document, for `docs/operators.md`.

use std::fmt::Write;

use super::{Compute, DTypes, FAMILIES, OpDef};
use crate::ir::graph::{AttrDefault, AttrSpec};
use crate::tensor::{DType, ScalarType};

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
    out.push_str("| element type | operators on the CPU | on a GPU |\n| --- | --- | --- |\n");
    for &(name, scalar) in ELEMENTS {
        let dtype = DType::of(scalar);
        let takes = |def: &&OpDef| computed(def) && def.dtypes.contains(dtype);
        let on_cpu = all().filter(takes).count();
        let on_gpu = match ONLY_ON_CPUS.contains(&scalar) {
            true => 0,
            false => on_cpu,
        };
        writeln!(out, "| {name} | {on_cpu} | {on_gpu} |").expect(WRITES);
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

/// Element types by their short names.
const ELEMENTS: &[(&str, ScalarType)] = &[
    ("f16", ScalarType::F16),
    ("bf16", ScalarType::BF16),
    ("f32", ScalarType::F32),
    ("f64", ScalarType::F64),
    ("i8", ScalarType::I8),
    ("i16", ScalarType::I16),
    ("i32", ScalarType::I32),
    ("i64", ScalarType::I64),
    ("u8", ScalarType::U8),
    ("u16", ScalarType::U16),
    ("u32", ScalarType::U32),
    ("u64", ScalarType::U64),
    ("bool", ScalarType::Bool),
];

/// Element types that shaders do not have.
const ONLY_ON_CPUS: &[ScalarType] = &[ScalarType::F64, ScalarType::BF16];

const HEAD: &str = "# Operators

Every operator that text, builders and importers may call, generated from the table in `src/ops`. Operands after `?` may be left
out. Attributes stand with their defaults; one without a default must be given. Element types are those of the first operand, by
the first letter of their names: `f16` is float16, `u8` is uint8; `all` is every type of the table below. GPUs have no float64
and no bfloat16. What `machine` and `host` run is done without a kernel, whatever the device.

Every operator that loops compute is tested with every type of its row on the CPU, and on GPUs but for int16 and unsigned integers of 16 to
64 bits, of which each is tested with a quarter of the operators there (`tests/ops/catalog.rs`). No operator draws random numbers: what
is drawn is an operand, as in `multinomial_from_uniform`; with uniform numbers `u`, `R.less(u, p)` is what ONNX calls Bernoulli.

Layouts of convolutions, poolings and resizes may have blocks of channels: `NCHW4c`, `OIHW4i16o4i`.

";

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
    let taken = ELEMENTS.iter();
    let taken = taken.filter(|(_, scalar)| def.dtypes.contains(DType::of(*scalar)));
    let taken: Vec<&str> = taken.map(|(name, _)| *name).collect();
    let dtypes = match def.dtypes {
        DTypes::All => "all".to_owned(),
        _ => taken.join(" "),
    };
    let runs = match def.compute {
        Compute::Kernel(_) => "CPU, GPU",
        Compute::Machine(_) | Compute::View(_) => "machine",
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
        AttrDefault::Floats(v) => format!("`{name}={v:?}`"),
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
