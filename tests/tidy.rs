//! Proves what the compiler does not: rooms import only rooms below them, every file says what it is, nothing is left undone.
//!
//! A room is a folder (or file) directly under `src`. [`ROOMS`] is the layering table of ARCHITECTURE.md: what each room
//! may use, and through it whatever that room may use. Paths are found in the code itself (`crate::x`, and `super` up to
//! the root), with comments and strings taken out; unit tests may use anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each room with the rooms it may use directly. Layer 0 may be used by all.
const ROOMS: &[(&str, &[&str])] = &[
    ("support", &[]),
    ("tensor", &[]),
    ("ir", &[]),
    ("kernel", &[]),
    ("artifact", &["kernel"]),
    ("script", &["ir"]),
    ("arith", &["ir"]),
    ("te", &["ir", "arith"]),
    ("interp", &["ir"]),
    ("ops", &["te", "arith"]),
    ("sched", &["ir", "arith", "script", "kernel"]),
    ("passes", &["ops", "sched", "interp", "ir", "arith"]),
    ("lower", &["ir", "arith", "kernel"]),
    ("codegen_wgsl", &["kernel"]),
    ("codegen_cpu", &["kernel"]),
    ("codegen_vm", &["ir", "artifact", "script"]),
    ("runtime_gpu", &["kernel"]),
    ("runtime", &["runtime_gpu"]),
    ("runtime_cpu", &["kernel", "codegen_cpu"]),
    ("vm", &["artifact", "runtime", "runtime_gpu", "runtime_cpu"]),
    ("frontend", &["ir", "ops"]),
    (
        "tune",
        &[
            "sched",
            "lower",
            "codegen_wgsl",
            "codegen_cpu",
            "codegen_vm",
            "runtime_gpu",
            "runtime_cpu",
        ],
    ),
    (
        "pipeline",
        &[
            "vm",
            "frontend",
            "passes",
            "lower",
            "codegen_wgsl",
            "codegen_cpu",
            "codegen_vm",
            "tune",
        ],
    ),
    ("cli", &["pipeline"]),
    ("main", &["cli"]),
];

/// Rooms of layer 0.
const GROUND: &[&str] = &["support", "tensor"];

#[test]
fn rooms_import_only_rooms_below() {
    let allowed = closure();
    let macros = exported_macros();
    let mut faults = Vec::new();
    for file in sources(Path::new("src")) {
        let room = room_of(&file);
        if room == "lib" {
            continue;
        }
        let Some(allowed) = allowed.get(room.as_str()) else {
            faults.push(format!(
                "{}: room `{room}` is not in the table",
                file.display()
            ));
            continue;
        };
        for (line, name) in root_names(&file) {
            let known = macros.contains(&name) || allowed.contains(name.as_str()) || name == room;
            if !known && ROOMS.iter().any(|(r, _)| *r == name) {
                faults.push(format!(
                    "{}:{line}: `{room}` may not use `{name}`",
                    file.display()
                ));
            } else if !known {
                faults.push(format!(
                    "{}:{line}: `crate::{name}` hides which room it is from",
                    file.display()
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_file_says_what_it_is() {
    let faults: Vec<String> = all_sources()
        .into_iter()
        .filter(|file| {
            let text = read(file);
            !text
                .lines()
                .find(|line| !line.trim().is_empty())
                .is_some_and(|line| line.starts_with("//!"))
        })
        .map(|file| file.display().to_string())
        .collect();
    assert!(
        faults.is_empty(),
        "no //! at the top of\n{}",
        faults.join("\n")
    );
}

#[test]
fn nothing_is_left_undone() {
    // In two halves, so that this file does not find itself.
    let marks = [["TO", "DO"].concat(), ["FIX", "ME"].concat()];
    let mut faults = Vec::new();
    for file in all_sources() {
        for (number, line) in read(&file).lines().enumerate() {
            if marks.iter().any(|mark| line.contains(mark.as_str())) {
                faults.push(format!(
                    "{}:{}: {}",
                    file.display(),
                    number + 1,
                    line.trim()
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn nothing_is_exported_by_glob() {
    let mut faults = Vec::new();
    for file in sources(Path::new("src")) {
        let code = strip(&read(&file));
        for (number, line) in code.lines().enumerate() {
            let line = line.trim();
            if line.starts_with("pub") && line.contains(" use ") && line.contains('*') {
                faults.push(format!("{}:{}: {line}", file.display(), number + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_table_points_down() {
    // A room uses only rooms that stand before it, so the table has no cycle.
    for (position, (room, uses)) in ROOMS.iter().enumerate() {
        for used in *uses {
            assert!(
                ROOMS[..position].iter().any(|(before, _)| before == used),
                "`{room}` uses `{used}`, which does not stand before it"
            );
        }
    }
}

#[test]
fn comments_and_strings_are_no_code() {
    let code = r####"
        use crate::{tensor::DType, ir::{self, Expr}}; // crate::no
        /* crate::no /* crate::no */ */
        let c = '"'; let s = "crate::no \" crate::no"; let r = r#"crate::no"#; let l: &'static str = s;
        crate::arith::simplify(x); $crate::id_type!();
        #[cfg(test)]
        mod tests { use crate::no; }
    "####;
    let names: Vec<String> = names_of(&without_tests(&strip(code)), 1)
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    assert_eq!(names, ["ir", "tensor", "arith", "id_type"]);
    assert_eq!(
        names_of("use super::super::ir::X;", 2),
        [(1, "ir".to_owned())]
    );
    assert_eq!(names_of("use super::ir::X;", 2), []);
}

/// The table with what is reached through other rooms.
fn closure() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (room, uses) in ROOMS {
        let mut reach: BTreeSet<&str> = GROUND.iter().copied().filter(|g| g != room).collect();
        for used in *uses {
            reach.insert(used);
            reach.extend(all[used].iter().filter(|r| *r != room));
        }
        all.insert(room, reach);
    }
    all
}

fn room_of(file: &Path) -> String {
    let first = file
        .components()
        .nth(1)
        .expect("sources lie under src")
        .as_os_str();
    first.to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// The names directly under the crate's root that a file uses outside its tests, with line numbers.
fn root_names(file: &Path) -> Vec<(usize, String)> {
    if file.file_name().is_some_and(|name| name == "tests.rs") {
        return Vec::new();
    }
    let parts = file.components().count() - 1;
    let depth = if file.file_name().is_some_and(|name| name == "mod.rs") {
        parts - 1
    } else {
        parts
    };
    names_of(&without_tests(&strip(&read(file))), depth)
}

/// What follows `crate::`, or as many `super::` as lead from a module `depth` below the root to it.
fn names_of(code: &str, depth: usize) -> Vec<(usize, String)> {
    let mut prefixes = vec!["crate::".to_owned(), "weftile::".to_owned()];
    prefixes.push("super::".repeat(depth));
    let mut found = Vec::new();
    for prefix in prefixes {
        for (start, _) in code.match_indices(&prefix) {
            let before = code[..start].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            for (offset, name) in first_names(&code[start + prefix.len()..]) {
                let line = code[..start + prefix.len() + offset].matches('\n').count() + 1;
                found.push((line, name));
            }
        }
    }
    found.sort();
    found
}

/// `a` of `a::b`, or `a` and `c` of `{a::b, c}`.
fn first_names(text: &str) -> Vec<(usize, String)> {
    let name_at = |start: usize| {
        let name: String = text[start..]
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        (name != "super" && name != "self" && !name.is_empty()).then_some((start, name))
    };
    if !text.starts_with('{') {
        return name_at(0).into_iter().collect();
    }
    let (mut depth, mut names, mut fresh) = (0, Vec::new(), false);
    for (at, c) in text.char_indices() {
        match c {
            '{' => (depth, fresh) = (depth + 1, depth == 0),
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' => fresh = depth == 1,
            _ if fresh && (c.is_alphanumeric() || c == '_') => {
                names.extend(name_at(at));
                fresh = false;
            }
            _ => {}
        }
    }
    names
}

/// Code without comments, strings and character literals; lines keep their numbers.
fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = literal_len(rest, out.chars().next_back());
        if skipped == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            out.extend(rest[..skipped].chars().filter(|c| *c == '\n'));
            out.push(' ');
            rest = &rest[skipped..];
        }
    }
    out
}

/// Bytes of the comment or literal that the text starts with; 0 if it starts with code.
fn literal_len(text: &str, before: Option<char>) -> usize {
    let until = |end: &str, from: usize| {
        text[from..]
            .find(end)
            .map_or(text.len(), |at| from + at + end.len())
    };
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment_len(text);
    }
    if text.starts_with('"') {
        return quoted_len(text, '"');
    }
    if !in_word && text.starts_with("b\"") {
        return 1 + quoted_len(&text[1..], '"');
    }
    if !in_word && let Some(raw) = text.strip_prefix("br").or_else(|| text.strip_prefix('r')) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let open = text.len() - raw.len() + hashes + 1;
            return until(&format!("\"{}", "#".repeat(hashes)), open);
        }
    }
    let mut chars = text.chars();
    if chars.next() == Some('\'') {
        let (first, second) = (chars.next(), chars.next());
        // A lifetime has no closing quote.
        if first == Some('\\') || second == Some('\'') {
            return quoted_len(text, '\'');
        }
    }
    0
}

fn quoted_len(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

fn block_comment_len(text: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if text[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Code without inline modules under `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    let mut out = code.to_owned();
    while let Some(start) = out.find("#[cfg(test)]") {
        let rest = &out[start..];
        let end = match (rest.find('{'), rest.find(';')) {
            (Some(open), semicolon) if semicolon.is_none_or(|s| open < s) => {
                start + block_len(rest, open)
            }
            (_, Some(semicolon)) => start + semicolon + 1,
            _ => out.len(),
        };
        let lines = out[start..end].matches('\n').count();
        out.replace_range(start..end, &"\n".repeat(lines));
    }
    out
}

/// Bytes up to the end of the block that opens at `open`.
fn block_len(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, c) in code[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + at + 1;
        }
    }
    code.len()
}

/// Names of macros that stand at the root of the crate whichever room declares them.
fn exported_macros() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in sources(Path::new("src")) {
        let code = strip(&read(&file));
        for (at, mark) in code.match_indices("#[macro_export]") {
            if let Some((_, rest)) = code[at + mark.len()..].split_once("macro_rules!") {
                names.extend(
                    first_names(rest.trim_start())
                        .into_iter()
                        .map(|(_, name)| name),
                );
            }
        }
    }
    names
}

fn all_sources() -> Vec<PathBuf> {
    ["src", "tests", "benches", "examples", "xtask/src"]
        .iter()
        .flat_map(|folder| sources(Path::new(folder)))
        .collect()
}

/// Rust files under a folder, in order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return found;
    };
    for entry in entries {
        let path = entry.expect("readable folder").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).expect("readable file")
}
