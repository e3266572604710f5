//! The loop programs of all filetests, by the default rules, with code by every back end of the CPU that this machine runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use weftile::ir::{PrimFunc, verify};
use weftile::script;

use crate::runs::{self, Skipped};

/// All filetests below a folder.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "py") {
            files.push(path);
        }
    }
}

/// The texts of a filetest: what it begins with, and what it expects.
fn texts(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("a filetest is text");
    let parts = text.split("\n# expect:\n");
    parts.map(str::to_owned).collect()
}

/// The well-formed loop programs of all filetests. Equal ones stand once.
fn programs() -> Vec<PrimFunc> {
    let mut files = vec![];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    collect(&root, &mut files);
    files.sort();
    let mut seen = BTreeSet::new();
    let mut programs = vec![];
    for text in files.iter().flat_map(|file| texts(file)) {
        let Ok(module) = script::parse("case.py", &text) else {
            continue;
        };
        for (_, func) in module.prim_funcs() {
            let mut func = func.clone();
            "program".clone_into(&mut func.name);
            let text = script::print_prim_func(&func).text;
            if verify::prim_func(&func).is_ok() && seen.insert(text) {
                programs.push(func);
            }
        }
    }
    programs
}

/// Whether a loop of the program goes on until a condition fails, which it may never do with other numbers.
fn may_not_end(func: &PrimFunc) -> bool {
    let text = script::print_prim_func(func).text;
    text.lines()
        .any(|line| line.trim_start().starts_with("while "))
}

#[test]
#[expect(
    clippy::print_stderr,
    reason = "skipped programs are counted where somebody reads it"
)]
fn programs_of_filetests_agree_on_every_back_end() {
    let (endless, programs): (Vec<_>, Vec<_>) = programs().into_iter().partition(may_not_end);
    let mut skipped: BTreeMap<Skipped, usize> = BTreeMap::new();
    let ran = runs::all_agree_on_back_ends(programs.into_iter(), &mut |_, reason| {
        *skipped.entry(reason).or_default() += 1;
    });
    eprintln!(
        "{ran} programs ran; of the others {} may not end",
        endless.len()
    );
    for (reason, times) in &skipped {
        eprintln!("{times:>5} {reason:?}");
    }
    assert!(ran >= 420, "only {ran} programs ran: {skipped:?}");
}
