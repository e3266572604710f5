//! Colours for TVMScript on a terminal: keywords, decorators, names that are defined, types, functions of the dialects, numbers,
//! texts and comments.

use anstyle::{AnsiColor, Style};

/// Python's keywords that programs here have.
const KEYWORDS: [&str; 20] = [
    "and", "as", "assert", "break", "class", "continue", "def", "elif", "else", "for", "from",
    "if", "import", "in", "lambda", "not", "or", "return", "while", "with",
];

/// Names of Python's own values.
const VALUES: [&str; 3] = ["False", "None", "True"];

/// What a piece of the text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Plain,
    Keyword,
    Decorator,
    Definition,
    Dialect,
    Value,
    Number,
    Text,
    Comment,
}

impl Kind {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| colour.on_default();
        match self {
            Self::Plain => Style::new(),
            Self::Keyword => colour(AnsiColor::Magenta),
            Self::Decorator => colour(AnsiColor::Yellow),
            Self::Definition => colour(AnsiColor::Blue).bold(),
            Self::Dialect => colour(AnsiColor::Cyan),
            Self::Value | Self::Number => colour(AnsiColor::Red),
            Self::Text => colour(AnsiColor::Green),
            Self::Comment => colour(AnsiColor::BrightBlack).italic(),
        }
    }
}

/// The text with the escapes of ANSI terminals for its colours. Without the escapes it is the text.
pub fn highlight(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for (kind, piece) in pieces(text) {
        let style = kind.style();
        if style == Style::new() {
            out.push_str(piece);
        } else {
            out.push_str(&format!(
                "{}{piece}{}",
                style.render(),
                style.render_reset()
            ));
        }
    }
    out
}

/// The text cut into pieces of one kind, in order.
fn pieces(text: &str) -> Vec<(Kind, &str)> {
    let mut pieces: Vec<(Kind, &str)> = Vec::new();
    let mut rest = text;
    let mut defines = false;
    while let Some(first) = rest.chars().next() {
        let (mut kind, len) = piece(first, rest);
        let (piece, after) = rest.split_at(len);
        let blank = piece.trim().is_empty();
        if kind == Kind::Plain && !blank && defines && is_word(first) {
            kind = Kind::Definition;
        }
        if !blank {
            defines = matches!(piece, "def" | "class");
        }
        pieces.push((kind, piece));
        rest = after;
    }
    pieces
}

/// What the text starts with, and how many bytes of it.
fn piece(first: char, text: &str) -> (Kind, usize) {
    let while_ = |keep: &dyn Fn(char) -> bool| text.find(|c| !keep(c)).unwrap_or(text.len());
    match first {
        '#' => (Kind::Comment, while_(&|c| c != '\n')),
        '"' | '\'' => (Kind::Text, string_end(first, text)),
        '@' => (
            Kind::Decorator,
            while_(&|c| c == '@' || c == '.' || is_word(c)),
        ),
        c if c.is_ascii_digit() => (Kind::Number, while_(&|c| c == '.' || is_word(c))),
        c if is_word(c) => {
            let len = while_(&is_word);
            let word = &text[..len];
            let dialect = matches!(word, "T" | "R" | "I") && text[len..].starts_with('.');
            match word {
                _ if dialect => (Kind::Dialect, while_(&|c| c == '.' || is_word(c))),
                _ if KEYWORDS.contains(&word) => (Kind::Keyword, len),
                _ if VALUES.contains(&word) => (Kind::Value, len),
                _ => (Kind::Plain, len),
            }
        }
        c => (Kind::Plain, c.len_utf8()),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where the string ends that the text starts with, in bytes.
fn string_end(quote: char, text: &str) -> usize {
    let triple = [quote; 3].iter().collect::<String>();
    let closing = if text.starts_with(&triple) {
        triple.as_str()
    } else {
        &triple[..1]
    };
    let mut at = closing.len();
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(closing) {
            return at + closing.len();
        }
        let escaped = rest.starts_with('\\');
        let mut chars = rest.chars();
        at += chars.next().map_or(0, char::len_utf8);
        if escaped {
            at += chars.next().map_or(0, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_program_has_its_kind() {
        let text = "@T.prim_func\ndef f(A: T.Buffer((4,), \"float32\")):\n    # x \"\n    for i in range(4):\n        A[i] = T.float32(1.5) if True else R_1\n";
        let kinds: Vec<(Kind, &str)> = pieces(text)
            .into_iter()
            .filter(|(kind, _)| *kind != Kind::Plain)
            .collect();
        let expected = [
            (Kind::Decorator, "@T.prim_func"),
            (Kind::Keyword, "def"),
            (Kind::Definition, "f"),
            (Kind::Dialect, "T.Buffer"),
            (Kind::Number, "4"),
            (Kind::Text, "\"float32\""),
            (Kind::Comment, "# x \""),
            (Kind::Keyword, "for"),
            (Kind::Keyword, "in"),
            (Kind::Number, "4"),
            (Kind::Dialect, "T.float32"),
            (Kind::Number, "1.5"),
            (Kind::Keyword, "if"),
            (Kind::Value, "True"),
            (Kind::Keyword, "else"),
        ];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn the_text_is_kept_between_the_escapes() {
        for text in [
            "",
            "x = 'a\\'b' + \"\"\"c\n\"d\"\"\" # ü\n\"open",
            "é_1 = 2.0e-5\n\\",
        ] {
            let whole: String = pieces(text).into_iter().map(|(_, piece)| piece).collect();
            assert_eq!(whole, text);
            let coloured = highlight(text);
            let mut plain = String::new();
            let mut escape = false;
            for c in coloured.chars() {
                match c {
                    '\u{1b}' => escape = true,
                    'm' if escape => escape = false,
                    c if !escape => plain.push(c),
                    _ => {}
                }
            }
            assert_eq!(plain, text);
        }
    }
}
