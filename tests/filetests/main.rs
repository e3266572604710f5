//! Filetests: one case a file, `tests/filetests/<area>/<case>.py`, each a test of its own.
//!
//! A case is TVMScript with its commands in comments at the top; what is expected follows in the same file:
//!
//! * `# test: parse`: the text parses, or fails with the message below `# expect-error:`.
//! * `# test: print`: the text is canonical, or its canonical form stands below `# expect:`.
//! * `# test: sched`: the lines `# run: l0, l1 = split(loop("B", 0), [None, 32])` are applied to the function `before`. The
//!   result is, up to names, the function `after` below `# expect:`; or a step is refused with the message below
//!   `# expect-error:`.
//! * `# test: pass`: the passes that the lines `# run: specialize, dead_code_elimination` name make the module below `# expect:`
//!   of this one, or one refuses it with the message below `# expect-error:`. A line `# run: name {"option": value}` is one
//!   pass with its options. Functions compute the same before and after, by the interpreter.
//! * `# test: lower`: lowering for the device of the line `# target: gpu` (or `cpu`, `software`, `lavapipe`) makes of the function the
//!   kernel IR below `# expect-listing:`, or refuses it with the message below `# expect-error:`. With `# run: default rules`
//!   the function is scheduled first. With `# run: until compact` (and others after a comma) what that pass
//!   of lowering made stands below `# expect-listing:`.
//! * `# test: clif`: the same for the native code that is made of the kernel IR.
//! * `# test: asm`: the same for its instructions on vectors of the target, avx2, avx512 or avx512vnni.
//! * `# test: wgsl`: the shaders of the function, scheduled by the default rules, stand below `# expect-listing:`.
//!
//! What is expected is the last part of a file, so rewriting it moves no line that a message names. A mismatch fails with a
//! diff; `WEFTILE_BLESS=1` rewrites what is expected and says so.

mod case;
mod code;
mod numbers;
mod parse;
mod pass;
mod print;
mod sched;
mod wgsl;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use case::Case;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let mut files = vec![];
    collect(&root, &mut files);
    files.sort();
    let trials = files.into_iter().map(|file| {
        let name = file
            .strip_prefix(&root)
            .unwrap_or(&file)
            .display()
            .to_string();
        Trial::test(name, move || run(&file))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// All cases below a folder.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "py") {
            files.push(path);
        }
    }
}

fn run(file: &Path) -> Result<(), Failed> {
    let case = Case::read(file)?;
    match case.test.as_str() {
        #[cfg(feature = "cpu")]
        "clif" => code::clif(&case),
        #[cfg(feature = "cpu")]
        "asm" => code::asm(&case),
        #[cfg(not(feature = "cpu"))]
        "clif" | "asm" => Ok(()),
        "lower" => code::lower(&case),
        "parse" => parse::run(&case),
        "pass" => pass::run(&case),
        "print" => print::run(&case),
        "sched" => sched::run(&case),
        "wgsl" => wgsl::run(&case),
        other => Err(format!(
            "unknown test `{other}`: there are asm, clif, lower, parse, pass, print, sched and wgsl"
        )
        .into()),
    }
}
