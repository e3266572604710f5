//! Writes the picture as SVG, with nothing outside of the file needed to show it.

use std::fmt::Write as _;

use super::layered::{DrawError, Rect};
use super::{Kind, Picture};

/// Around everything.
const MARGIN: f64 = 28.0;
/// Height of the title above and of the legend below.
const BAND: f64 = 40.0;

pub(super) fn write(picture: &Picture) -> Result<String, DrawError> {
    let layout = picture.lay_out()?;
    let legend = legend(picture);
    let legend_width: f64 = legend.iter().map(|(_, width)| width).sum();
    let width = layout.width.max(legend_width) + 2.0 * MARGIN;
    let height = layout.height + 2.0 * (MARGIN + BAND);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\">"
    );
    out.push_str(STYLE);
    let name = escape(&picture.name);
    let _ = writeln!(out, "<title>{name}</title>");
    let _ = writeln!(
        out,
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    );
    let _ = writeln!(
        out,
        "<text x=\"{MARGIN}\" y=\"{:.0}\" font-size=\"16\" font-weight=\"bold\" fill=\"#0f172a\">{name}</text>",
        MARGIN + 12.0
    );
    let dx = (width - layout.width) / 2.0;
    let dy = MARGIN + BAND;
    let _ = writeln!(out, "<g transform=\"translate({dx:.1} {dy:.1})\">");
    for (frame, rect) in picture.frames.iter().zip(&layout.frames) {
        if let Some(rect) = rect {
            framed(&mut out, &frame.name, rect);
        }
    }
    for route in &layout.links {
        let path = route.path();
        let _ = writeln!(
            out,
            "<path class=\"e\" marker-end=\"url(#a)\" d=\"{path}\"/>"
        );
    }
    for (node, rect) in picture.nodes.iter().zip(&layout.nodes) {
        let (fill, border) = node.kind.colours();
        let Rect {
            x,
            y,
            width,
            height,
        } = *rect;
        let middle = x + width / 2.0;
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"7\" fill=\"{fill}\" \
             stroke=\"{border}\" stroke-width=\"1.4\"/>\n\
             <text class=\"t\" x=\"{middle:.1}\" y=\"{:.1}\">{}</text>\n\
             <text class=\"s\" x=\"{middle:.1}\" y=\"{:.1}\">{}</text>",
            y + 18.0,
            escape(&node.title),
            y + 34.0,
            escape(&node.subtitle),
        );
    }
    for (edge, route) in picture.edges.iter().zip(&layout.links) {
        if let Some((x, y)) = route.label {
            let (y, text) = (y + 3.5, escape(&edge.label));
            let _ = writeln!(
                out,
                "<text class=\"l\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
            );
        }
    }
    out.push_str("</g>\n");
    let mut x = MARGIN;
    for (kind, width) in legend {
        let (fill, border) = kind.colours();
        let y = height - MARGIN - 12.0;
        let _ = writeln!(
            out,
            "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"14\" height=\"12\" rx=\"3\" fill=\"{fill}\" stroke=\"{border}\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\" font-size=\"11\" fill=\"#475569\">{}</text>",
            x + 20.0,
            y + 10.0,
            kind.legend(),
        );
        x += width;
    }
    out.push_str("</svg>\n");
    Ok(out)
}

const STYLE: &str = "<style>
.t{font-size:12px;font-weight:bold;text-anchor:middle;fill:#0f172a}
.s{font-size:11px;text-anchor:middle;fill:#475569}
.e{fill:none;stroke:#64748b;stroke-width:1.3}
.l{font-size:10px;text-anchor:middle;fill:#334155;stroke:#ffffff;stroke-width:8px;paint-order:stroke}
</style>
<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
<path d=\"M0 0L8 4L0 8z\" fill=\"#64748b\"/></marker></defs>
";

/// The kinds that occur, with the width of their entries.
fn legend(picture: &Picture) -> Vec<(Kind, f64)> {
    let occurs = |kind: &Kind| picture.nodes.iter().any(|node| node.kind == *kind);
    let width = |kind: Kind| (kind, kind.legend().len() as f64 * 6.7 + 44.0);
    Kind::ALL.into_iter().filter(occurs).map(width).collect()
}

fn framed(out: &mut String, name: &str, rect: &Rect) {
    let Rect {
        x,
        y,
        width,
        height,
    } = *rect;
    let _ = writeln!(
        out,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"10\" fill=\"#f8fafc\" \
         stroke=\"#94a3b8\" stroke-dasharray=\"5 4\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" fill=\"#64748b\">{}</text>",
        x + 9.0,
        y + height - 8.0,
        escape(name),
    );
}

/// Text for XML. Characters that XML cannot hold are replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{dot, svg};
    use crate::script::parse;

    const TEXT: &str = r#"
@R.function
def main(x: R.Tensor((1, "n"), "float32"), c: R.Tensor((), "bool")):
    with R.dataflow():
        a = R.call_dps_packed("<env>&\"f\"", (x,), R.Tensor((1, n), "float32"))
        b = R.add(a, R.const([[1.0]], "float32"))
        R.output(b)
    if c:
        d = R.exp(b)
        r = R.tanh(d)
    else:
        r = R.add(b, x)
    return r
"#;

    fn module() -> crate::ir::Module {
        parse(
            "test.py",
            &TEXT.replace(", n)", ", 4)").replace("\"n\"", "4"),
        )
        .expect("well-formed")
    }

    #[test]
    fn names_are_escaped_and_every_value_is_drawn() {
        let svg = svg(&module(), "main")
            .expect("it can be drawn")
            .expect("it has main");
        assert!(svg.contains("&lt;env&gt;&amp;&quot;f&quot;"), "{svg}");
        for text in [
            "dataflow",
            "r: then",
            "r: else",
            ">constant<",
            "d: (1, 4) float32",
        ] {
            assert!(svg.contains(text), "{text} is missing:\n{svg}");
        }
        assert_eq!(svg.matches("class=\"e\"").count(), 11);
    }

    #[test]
    fn graphviz_text_has_nodes_edges_and_clusters() {
        let dot = dot(&module(), "main").expect("it has main");
        assert!(dot.starts_with("digraph \"main\" {\n") && dot.ends_with("}\n"));
        assert_eq!(dot.matches("subgraph cluster_").count(), 3);
        assert!(
            dot.contains(r#"label="<env>&\"f\"\na: (1, 4) float32""#),
            "{dot}"
        );
        assert_eq!(dot.matches(" -> ").count(), 11);
    }
}
