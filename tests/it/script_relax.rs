//! The graph dialect on recorded programs: the lesson's modules print as the document shows them, and the programs of the graph
//! corpus are read, checked and printed.

use std::io::Read as _;

use indexmap::IndexMap;
use serde_json::{Value, json};
use weftile::codegen_cpu;
use weftile::ir::{Module, alpha_eq};
use weftile::kernel::Target;
use weftile::passes::bind_params;
use weftile::pipeline::{CompileOptions, compile};
use weftile::script;
use weftile::tensor::{DType, Tensor};

use crate::data::data_dir;
use crate::script::{programs_in, report, round_trip};

/// The text of a lesson, by the first letters of its name.
fn lesson(test: &str, prefix: &str) -> Option<String> {
    let seeds = data_dir(test)?.join("../seeds");
    let entries = std::fs::read_dir(seeds).expect("the lessons are beside the data");
    let path = entries
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .expect("the lesson is there")
        .path();
    Some(std::fs::read_to_string(path).expect("text"))
}

fn parse(text: &str) -> Module {
    match script::parse("lesson.py", text) {
        Ok(module) => module,
        Err(errors) => panic!("{errors}"),
    }
}

/// The fenced blocks of a document that show a printed module.
fn printed_modules(text: &str) -> Vec<String> {
    let blocks = text.split("```").skip(1).step_by(2);
    blocks
        .filter(|block| block.contains("@I.ir_module"))
        .map(|block| block.trim().to_owned() + "\n")
        .collect()
}

fn module_named(text: &str, name: &str) -> Module {
    let programs = programs_in(text);
    let class = format!("class {name}:");
    let program = programs.iter().find(|p| p.contains(&class));
    parse(program.expect("the document has the module"))
}

#[track_caller]
fn assert_same_text(expected: &str, got: &str) {
    let diff = similar::TextDiff::from_lines(expected, got);
    assert!(
        expected == got,
        "{}",
        diff.unified_diff().header("document", "printed")
    );
}

#[test]
fn modules_print_as_the_lesson_shows_them() {
    let Some(text) = lesson("printed modules", "004") else {
        return;
    };
    let shown = printed_modules(&text);
    assert_eq!(shown.len(), 2);
    let my_module = module_named(&text, "MyModule");
    assert_same_text(&shown[0], &script::print(&my_module));

    let params = [
        ("w0", &[128, 784][..]),
        ("b0", &[128]),
        ("w1", &[10, 128]),
        ("b1", &[10]),
    ];
    let params: IndexMap<_, _> = params
        .into_iter()
        .map(|(name, shape)| {
            let zeros = Tensor::zeros(DType::F32, shape).expect("small");
            (name.to_owned(), zeros)
        })
        .collect();
    let mixture = module_named(&text, "MyModuleMixture");
    let bound = bind_params(&mixture, "main", &params).expect("the weights fit");
    assert_same_text(&shown[1], &script::print(&bound));
    // The document leaves the constants out. What is read of it prints the same, and says so when it is to run.
    let omitted = parse(&shown[1]);
    assert_same_text(&shown[1], &script::print(&omitted));
    let target = Target::Cpu(codegen_cpu::host_target(1));
    let error = compile(&omitted, &CompileOptions::new(target)).expect_err("no data");
    let told = "the text leaves out constant 0: print the module with show_meta";
    assert!(error.to_string().contains(told), "{error}");
    round_trip(
        "with params",
        &script::print_with(&bound, &script::PrintOptions { show_meta: true }),
    )
    .expect("constants and all");
}

#[test]
fn a_lesson_with_gaps_is_refused_at_the_gap() {
    let Some(text) = lesson("gaps", "002") else {
        return;
    };
    let programs = programs_in(&text);
    let gaps = programs
        .iter()
        .find(|p| p.contains("MyModuleWithExternCall"));
    let errors = script::parse("gaps.py", gaps.expect("it is there")).expect_err("`...`");
    assert!(
        errors.to_string().contains("`...` cannot be used here"),
        "{errors}"
    );
    // Without the gaps it is a program.
    let whole = gaps.expect("it is there").replace(
        "            ...\n        return ...",
        "            R.output(lv0)\n        return lv0",
    );
    round_trip("filled.py", &whole).expect("a complete program");
}

/// The cases of the graph corpus.
fn corpus(test: &str) -> Option<Vec<Value>> {
    let dir = data_dir(test)?;
    let file = std::fs::File::open(dir.join("tvm-relax-corpus/cases.jsonl.gz"))
        .expect("the corpus is there");
    let mut lines = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut lines)
        .expect("gzip");
    let case = |line| serde_json::from_str(line).expect("json");
    Some(lines.lines().map(case).collect())
}

/// The text with the constants that it refers to.
fn with_constants(text: &str, constants: &Value) -> String {
    let mut lists: IndexMap<String, Vec<Value>> = IndexMap::new();
    for constant in constants.as_array().into_iter().flatten() {
        let key = constant["key"].as_str().unwrap_or("ir.GenericConst");
        // Infinities are no JSON numbers; the corpus has none.
        lists.entry(key.to_owned()).or_default().push(json!({
            "dtype": constant["dtype"],
            "shape": constant["shape"],
            "data": flat(&constant["data"]),
        }));
    }
    format!(
        "metadata = tvm.ir.load_json(\"\"\"{}\"\"\")\n{text}",
        json!(lists)
    )
}

fn flat(data: &Value) -> Vec<Value> {
    match data {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        number => vec![number.clone()],
    }
}

#[test]
fn programs_of_the_graph_corpus_round_trip() {
    let Some(cases) = corpus("graph corpus") else {
        return;
    };
    let mut failures = vec![];
    let mut count = 0;
    for case in cases.iter().filter(|case| case["kind"] == "pass") {
        let id = case["id"].as_str().unwrap_or("?");
        for (field, constants) in [
            ("source", "no constants"),
            ("before", "before_constants"),
            ("after", "after_constants"),
        ] {
            let Some(text) = case[field].as_str() else {
                continue;
            };
            count += 1;
            let text = with_constants(text, &case[constants]);
            failures.extend(round_trip(&format!("{id}/{field}.py"), &text).err());
        }
        // What was written and what TVM printed of it are one program, but for attributes and devices that TVM fills in.
        if id.starts_with("vdevice") {
            continue;
        }
        if let (Some(source), Some(before)) = (case["source"].as_str(), case["before"].as_str()) {
            let before = with_constants(before, &case["before_constants"]);
            if let (Ok(a), Ok(b)) = (
                script::parse("source.py", source),
                script::parse("before.py", &before),
            ) && let Err(difference) = alpha_eq::module(&a, &b)
                && difference
                    .path
                    .last()
                    .is_some_and(|step| step != "attributes")
            {
                failures.push(format!("{id}: {difference}"));
            }
        }
    }
    assert!(count > 300, "only {count} programs");
    report(&failures, count);
}

/// Modules that TVM accepts and that are refused here, because the declared result contradicts the body.
const STRICTER: [&str; 1] = ["return_type_mismatch"];

#[test]
fn well_formedness_agrees_with_tvm() {
    let Some(cases) = corpus("well-formedness") else {
        return;
    };
    let mut failures = vec![];
    let mut count = 0;
    for case in cases.iter().filter(|case| case["kind"] == "well_formed") {
        let (Some(text), Some(name)) = (case["source"].as_str(), case["module"].as_str()) else {
            continue;
        };
        count += 1;
        let expected = case["outcome"] == "well-formed" && !STRICTER.contains(&name);
        let result = script::parse(name, text);
        if result.is_ok() != expected {
            let got = result
                .err()
                .map_or("accepted".to_owned(), |e| e.to_string());
            failures.push(format!("{name}: {got}"));
        }
    }
    assert_eq!(count, 11);
    report(&failures, count);
}

#[test]
fn the_longest_chain_of_branches_round_trips() {
    let arm = |head: &str| format!("    {head} c:\n        y = R.add(x, x)\n");
    let text = format!(
        r#"@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
{}{}    else:
        y = x
    return y
"#,
        arm("if"),
        arm("elif").repeat(79)
    );
    round_trip("branches.py", &text).expect("as deep as may be");
}
