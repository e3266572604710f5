//! The page: a frame, a style, a script and the data, in one file that loads nothing else.

use super::data::Report;

const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of a report.
pub(super) fn page(report: &Report) -> Result<String, serde_json::Error> {
    let data = in_script(&serde_json::to_string(report)?);
    // The data come last: they may hold the name of a slot.
    let slots = [
        ("{{style}}", STYLE),
        ("{{script}}", SCRIPT),
        ("{{data}}", &data),
    ];
    let page = slots
        .into_iter()
        .fold(FRAME.to_owned(), |page, (slot, content)| {
            page.replacen(slot, content, 1)
        });
    Ok(page)
}

/// JSON that may stand in a `<script>`: nothing in it ends the element or begins a comment. Names in a model are anybody's.
fn in_script(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // These stand in strings only, where JSON lets them be written so.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_ends_the_element_that_holds_the_data() {
        let name = "</script><!-- & <script>\u{2028}{{script}}";
        let json = serde_json::to_string(name).expect("text");
        let written = in_script(&json);
        assert!(!written.contains(['<', '>', '&', '\u{2028}']), "{written}");
        let read: String = serde_json::from_str(&written).expect("still JSON");
        assert_eq!(read, name);
    }
}
