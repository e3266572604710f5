//! Proves what the compiler does not: rooms import only rooms below them, every file says what it is, nothing is left undone.
//!
//! A room is a folder (or file) directly under `src`. [`ROOMS`] is the layering table of ARCHITECTURE.md: exactly what each room
//! uses. Paths are found in the code itself (`crate::x`, and `super` up to the root), with comments and strings taken out; unit
//! tests may use anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A room: a folder or file directly under `src`.
struct Room {
    name: &'static str,
    /// What it is for, as ARCHITECTURE.md says it.
    owns: &'static str,
    /// The rooms that it uses, besides those of [`GROUND`].
    uses: &'static [&'static str],
}

/// Rooms that all others may use.
const GROUND: &[&str] = &["support", "tensor"];

/// All rooms, each below those that use it.
const ROOMS: &[Room] = &[
    Room {
        name: "support",
        owns: "arenas, side tables, diagnostics, dumps, timing",
        uses: &[],
    },
    Room {
        name: "tensor",
        owns: "element types, the operations on elements, host tensors",
        uses: &[],
    },
    Room {
        name: "ir",
        owns: "`Expr`, sums of products, `Buffer`, `PrimFunc`, graph `Function`, `StructInfo`, `Module`, builders, rewrites, verifiers, `alpha_eq`",
        uses: &[],
    },
    Room {
        name: "kernel",
        owns: "kernel IR, its index arithmetic, launches, `Target`, numbers of devices, the time that a launch takes on one",
        uses: &[],
    },
    Room {
        name: "artifact",
        owns: "`Executable`: bytecode, kernels, constants as plain data; save, load",
        uses: &["kernel"],
    },
    Room {
        name: "arith",
        owns: "simplify, bounds, iter-map detection, regions of blocks",
        uses: &["ir"],
    },
    Room {
        name: "te",
        owns: "tensor expressions, `create_prim_func`",
        uses: &["ir", "arith"],
    },
    Room {
        name: "topi",
        owns: "tensor operators in tensor expressions",
        uses: &["ir", "te"],
    },
    Room {
        name: "ops",
        owns: "one definition per operator: operands, attributes, types, how it is computed, fused and laid out",
        uses: &["arith", "ir", "te", "topi"],
    },
    Room {
        name: "script",
        owns: "TVMScript: parse, print, ill-formed modules shown in print, graph picture",
        uses: &["ir", "arith", "ops"],
    },
    Room {
        name: "relax",
        owns: "`BlockBuilder`: graph functions built in Rust",
        uses: &["ir", "arith", "te", "ops", "script"],
    },
    Room {
        name: "interp",
        owns: "interpreter of modules and loop programs",
        uses: &["ir", "ops"],
    },
    Room {
        name: "sched",
        owns: "`Schedule`, one file a primitive, trace, default rules",
        uses: &["ir", "arith", "script", "kernel"],
    },
    Room {
        name: "passes",
        owns: "passes over modules, and how they are run",
        uses: &[
            "ir", "arith", "te", "ops", "script", "interp", "kernel", "sched",
        ],
    },
    Room {
        name: "lower",
        owns: "scheduled `PrimFunc` to kernel IR",
        uses: &["ir", "arith", "script", "kernel"],
    },
    Room {
        name: "codegen_wgsl",
        owns: "kernel IR to WGSL and SPIR-V",
        uses: &["kernel"],
    },
    Room {
        name: "explain",
        owns: "counts of what a kernel does on a GPU, read off its kernel IR",
        uses: &["kernel"],
    },
    Room {
        name: "codegen_common",
        owns: "what the code generators of the CPU share: expansion of kernels, segments",
        uses: &["kernel"],
    },
    Room {
        name: "codegen_x86",
        owns: "kernel IR to x86-64 code of 256 or 512 bits",
        uses: &["kernel", "codegen_common"],
    },
    Room {
        name: "codegen_cpu",
        owns: "native modules: which back end compiles a piece of a kernel; kernel IR to Cranelift",
        uses: &["kernel", "codegen_common", "codegen_x86"],
    },
    Room {
        name: "codegen_vm",
        owns: "graph functions to bytecode",
        uses: &["ir", "ops", "kernel", "artifact"],
    },
    Room {
        name: "runtime_gpu",
        owns: "wgpu: devices, buffers, pipelines",
        uses: &["kernel"],
    },
    Room {
        name: "runtime",
        owns: "devices, values, packed functions",
        uses: &["runtime_gpu"],
    },
    Room {
        name: "runtime_cpu",
        owns: "native code and threads",
        uses: &["kernel", "codegen_cpu"],
    },
    Room {
        name: "vm",
        owns: "the bytecode machine, what machines share, profile",
        uses: &[
            "artifact",
            "kernel",
            "codegen_cpu",
            "runtime",
            "runtime_gpu",
            "runtime_cpu",
        ],
    },
    Room {
        name: "frontend",
        owns: "files of weights and data; ONNX models as modules",
        uses: &["ir", "arith", "relax"],
    },
    Room {
        name: "pipeline",
        owns: "the lists of passes and stages",
        uses: &[
            "ir",
            "kernel",
            "artifact",
            "script",
            "interp",
            "sched",
            "passes",
            "lower",
            "codegen_wgsl",
            "explain",
            "codegen_cpu",
            "codegen_vm",
            "runtime",
            "vm",
        ],
    },
    Room {
        name: "session",
        owns: "a model ready to be called by the names of its inputs",
        uses: &[
            "ir",
            "kernel",
            "artifact",
            "passes",
            "codegen_cpu",
            "runtime_gpu",
            "runtime",
            "vm",
            "frontend",
            "pipeline",
        ],
    },
    Room {
        name: "cli",
        owns: "the command line",
        uses: &[
            "ir",
            "kernel",
            "artifact",
            "script",
            "interp",
            "passes",
            "codegen_wgsl",
            "explain",
            "codegen_cpu",
            "runtime_gpu",
            "runtime",
            "vm",
            "frontend",
            "pipeline",
            "session",
        ],
    },
    Room {
        name: "main",
        owns: "its entry",
        uses: &["cli"],
    },
];

/// What stands before and after the table in ARCHITECTURE.md.
const TABLE: [&str; 2] = ["| room | owns | uses |\n|---|---|---|\n", "\n\n"];

#[test]
fn rooms_use_what_the_table_names() {
    let macros = exported_macros();
    let mut faults = Vec::new();
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in sources(Path::new("src")) {
        let name = room_of(&file);
        if name == "lib" {
            continue;
        }
        let Some(room) = ROOMS.iter().find(|room| room.name == name) else {
            faults.push(format!(
                "{}: room `{name}` is not in the table",
                file.display()
            ));
            continue;
        };
        for (line, other) in root_names(&file) {
            let known = |r: &Room| r.name == other;
            let at = format!("{}:{line}", file.display());
            if other == name || macros.contains(&other) || GROUND.contains(&other.as_str()) {
                continue;
            }
            if !ROOMS.iter().any(known) {
                faults.push(format!(
                    "{at}: `crate::{other}` hides which room it is from"
                ));
            } else if !room.uses.contains(&other.as_str()) {
                faults.push(format!("{at}: `{name}` may not use `{other}`"));
            }
            used.entry(name.clone()).or_default().insert(other);
        }
    }
    for room in ROOMS {
        let used = used.get(room.name);
        let idle = |other: &&&str| !used.is_some_and(|used| used.contains(**other));
        for other in room.uses.iter().filter(idle) {
            faults.push(format!(
                "`{}` does not use `{other}`, as the table says",
                room.name
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_table_points_down() {
    for (position, room) in ROOMS.iter().enumerate() {
        for used in room.uses {
            assert!(
                ROOMS[..position].iter().any(|before| before.name == *used),
                "`{}` uses `{used}`, which does not stand before it",
                room.name
            );
        }
    }
}

#[test]
fn the_architecture_shows_the_table() {
    let row = |room: &Room| {
        let uses: Vec<String> = room.uses.iter().map(|used| format!("`{used}`")).collect();
        let uses = if uses.is_empty() {
            "–".into()
        } else {
            uses.join(", ")
        };
        format!("| `{}` | {} | {uses} |", room.name, room.owns)
    };
    let rows: Vec<String> = ROOMS.iter().map(row).collect();
    let file = Path::new("ARCHITECTURE.md");
    let text = read(file);
    let (before, rest) = text.split_once(TABLE[0]).expect("the head of the table");
    let (shown, after) = rest
        .split_once(TABLE[1])
        .expect("an empty line after the table");
    if std::env::var_os("WEFTILE_BLESS").is_some() {
        let text = [before, TABLE[0], &rows.join("\n"), TABLE[1], after].concat();
        fs::write(file, text).expect("writable file");
        return;
    }
    let help = "WEFTILE_BLESS=1 cargo test --test tidy rewrites the table";
    assert_eq!(shown, rows.join("\n"), "{help}");
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
