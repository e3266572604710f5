//! TVMScript: every recorded program is read, and its print is read back as the same program.

use std::io::Read as _;

use weftile::ir::alpha_eq;
use weftile::script;

use crate::data::data_dir;

/// Parses, prints and parses again; gives what is wrong with it.
pub(crate) fn round_trip(name: &str, text: &str) -> Result<String, String> {
    let module = script::parse(name, text).map_err(|e| e.to_string())?;
    for (_, func) in module.prim_funcs() {
        weftile::ir::verify::prim_func(func).map_err(|e| format!("{name}: {}", e[0]))?;
    }
    let options = script::PrintOptions { show_meta: true };
    let printed = script::print_with(&module, &options);
    let again = script::parse("printed.py", &printed).map_err(|e| format!("{e}\n{printed}"))?;
    alpha_eq::module(&module, &again).map_err(|e| format!("{name}: {e}\n{printed}"))?;
    let twice = script::print_with(&again, &options);
    if twice == printed {
        Ok(printed)
    } else {
        Err(format!(
            "{name}: the second print differs:\n{printed}\n{twice}"
        ))
    }
}

pub(crate) fn report(failures: &[String], count: usize) {
    let shown: Vec<&str> = failures.iter().take(10).map(String::as_str).collect();
    assert!(
        failures.is_empty(),
        "{} of {count} fail:\n{}",
        failures.len(),
        shown.join("\n")
    );
}

#[test]
fn programs_of_the_schedule_corpus_round_trip() {
    let Some(dir) = data_dir("schedule corpus") else {
        return;
    };
    let file = std::fs::File::open(dir.join("tvm-schedule-corpus/cases.jsonl.gz"))
        .expect("the corpus is there");
    let mut lines = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut lines)
        .expect("gzip");
    let mut failures = vec![];
    let mut count = 0;
    for line in lines.lines() {
        let case: serde_json::Value = serde_json::from_str(line).expect("json");
        for field in ["before", "after"] {
            let Some(text) = case[field].as_str() else {
                continue;
            };
            count += 1;
            let name = format!("{}/{field}.py", case["id"].as_str().unwrap_or("?"));
            failures.extend(round_trip(&name, text).err());
        }
    }
    assert!(count > 2000, "only {count} programs");
    report(&failures, count);
}

/// The programs in a document of prose: from a decorator at the start of a line to the next line that is neither indented, blank
/// nor a continuation of the definition.
pub(crate) fn programs_in(text: &str) -> Vec<String> {
    let mut programs = vec![];
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if ![
            "@T.prim_func",
            "@R.function",
            "@tvm.script.ir_module",
            "@I.ir_module",
        ]
        .contains(&line.trim_end())
        {
            continue;
        }
        let mut program = vec![line];
        let belongs = |l: &&str| {
            let starts =
                l.starts_with([' ', '#']) || l.starts_with("def ") || l.starts_with("class ");
            (l.is_empty() || starts) && !l.trim_start().starts_with("```")
        };
        while let Some(next) = lines.next_if(belongs) {
            program.push(next);
        }
        programs.push(program.join("\n") + "\n");
    }
    programs
}

/// Programs that the documents give only in part: `...` for what the reader is to write, or constants left out.
pub(crate) fn is_partial(program: &str) -> bool {
    program.lines().any(|line| line.trim() == "...")
        || (program.contains("metadata[") && !program.contains("metadata ="))
}

#[test]
fn programs_of_the_lessons_round_trip() {
    let Some(data) = data_dir("lessons") else {
        return;
    };
    let seeds = data.join("../seeds");
    let mut counts = vec![];
    let mut failures = vec![];
    for prefix in ["000", "002", "004"] {
        let mut found = 0;
        for entry in std::fs::read_dir(&seeds)
            .expect("the lessons are beside the data")
            .flatten()
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with(prefix) {
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).expect("text");
            for (at, program) in programs_in(&text).iter().enumerate() {
                found += 1;
                if !is_partial(program) {
                    failures.extend(round_trip(&format!("{name}#{at}"), program).err());
                }
            }
        }
        counts.push(found);
    }
    assert_eq!(counts, [2, 4, 6], "programs found in each document");
    report(&failures, counts.iter().sum());
}
