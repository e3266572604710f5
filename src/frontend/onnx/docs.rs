//! The table of operators as a document, for `docs/onnx.md`.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::operators::{self, Operator};

const WRITES: &str = "a String takes all text";

const HEAD: &str = "# ONNX operators

What `weftile run MODEL.onnx` and `weftile::frontend::onnx` import. This page is written from the importer's own table
(`src/frontend/onnx/operators`): `WEFTILE_BLESS=1 cargo test --lib onnx::docs` writes it. The versions are those of the operator set
in which an operator came or changed; models of operator sets 7 to 28 of `ai.onnx` and up to 5 of `ai.onnx.ml` are taken, and older
ones of operators that were the same then: what newer ones change is not known. Tensors have at most 64 dimensions. Attributes and
element types that are not supported are refused while the model is imported, with the node.

Element types: float16, bfloat16, float32, float64, int8 to int64, uint8 to uint64, bool. Not: strings, complex numbers, floats of
eight bits and less, integers of four bits and less but for weights that `DequantizeLinear` takes. Operators that need axes, steps or paddings to know the types of their
results take them as constants, or as arithmetic on shapes; sizes may be computed. Extents broadcast by the numbers that they are in
a call, whatever their symbols are. Inputs that have initializers are weights: a call gives no others. A linear `Resize` of integers
is exact where sizes are given for up to three dimensions; by scales, or along more dimensions, it is computed in float32, cut off
at the point, and may be one less or more. By scales and with `align_corners`, the last corner is that of the length times the scale, as in the
reference of ONNX, also where this is no whole number; onnxruntime takes the rounded length. Weights of a `Conv` may be inputs, if the extents of the kernel and
the length of the bias are known.

";

/// The operators as a Markdown document.
pub fn markdown() -> String {
    let mut out = HEAD.to_owned();
    let mut domains: BTreeMap<&str, Vec<&Operator>> = BTreeMap::new();
    for operator in operators::all() {
        domains.entry(operator.domain).or_default().push(operator);
    }
    for (domain, mut operators) in domains {
        let name = if domain.is_empty() { "ai.onnx" } else { domain };
        operators.sort_by_key(|operator| operator.name);
        writeln!(out, "## {name}\n\n{} operators.\n", operators.len()).expect(WRITES);
        out.push_str("| operator | versions | notes |\n| --- | --- | --- |\n");
        for operator in operators {
            let versions: Vec<String> = operator.versions.iter().map(i64::to_string).collect();
            let (name, notes) = (operator.name, operator.notes);
            writeln!(out, "| `{name}` | {} | {notes} |", versions.join(", ")).expect(WRITES);
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_document_is_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/onnx.md");
        let expected = super::markdown();
        if std::env::var_os("WEFTILE_BLESS").is_some() {
            std::fs::write(path, &expected).expect("docs/ is there");
        }
        let got = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            got == expected,
            "docs/onnx.md is not what the table says; WEFTILE_BLESS=1 writes it"
        );
    }
}
