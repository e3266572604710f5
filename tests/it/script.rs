//! TVMScript: every recorded program is read, and its print is read back as the same program.

use std::io::Read as _;

use arbitrary::Unstructured;
use weftile::ir::{Buffer, Expr, Param, PrimFunc, Stmt, Var, alpha_eq};
use weftile::script;
use weftile::tensor::DType;
use weftile::tensor::scalar::BinOp;

use crate::data::data_dir;
use crate::generated;

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

/// Programs that the documents give only in part: `...` for what the reader is to write.
pub(crate) fn is_partial(program: &str) -> bool {
    program.lines().any(|line| line.trim() == "...")
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

/// A program with most constructs of the loop dialect.
const PROGRAM: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def main(a: T.handle, B: T.Buffer((16, 8), "float32"), n: T.int32):
        m = T.int64()
        A = T.match_buffer(a, (m, 8), "float32")
        C = T.alloc_buffer((16,), "int32", scope="shared")
        for i, j in T.grid(16, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SR", [i, j])
                T.where(i * 8 + j < n)
                T.reads(A[vi, 0:8])
                T.writes(B[vi, vj])
                with T.init():
                    B[vi, vj] = T.float32(0)
                v: T.float32 = T.if_then_else(vi < 3 and not vj == 2, A[vi, vj], T.exp(B[vi, vj]))
                B[vi, vj] += v * T.Cast("float32", vi // 2 % 3)
        for k in T.thread_binding(16, thread="threadIdx.x", annotations={"note": [1, "x"]}):
            C[k] = T.Select(k > 4, k, -k)

    @R.function
    def graph(x: R.Tensor(("n", 8), "float32")):
        with R.dataflow():
            y = R.add(x, R.const(1.5, "float32"))
            R.output(y)
        return y
"#;

/// Damaged programs give errors, never a panic.
#[test]
fn damaged_programs_do_not_panic() {
    let pieces = [
        "(",
        ")",
        "[",
        "]",
        "\"",
        ":",
        ",",
        "\n",
        "    ",
        "T.",
        "R.",
        "for ",
        "with ",
        "-",
        "9999999999",
        "é",
        "\\",
        "#",
        "None",
        "n",
    ];
    generated::holds(1500, |u| {
        let mut text: Vec<char> = PROGRAM.chars().collect();
        for _ in 0..u.int_in_range(1..=6)? {
            let at = u.choose_index(text.len())?;
            match u.int_in_range(0..=3)? {
                0 => drop(text.drain(at..(at + u.int_in_range(1..=30)?).min(text.len()))),
                1 => drop(text.splice(at..at, u.choose(&pieces)?.chars())),
                2 => text[at] = *u.choose(&['0', 'x', '(', ' ', '\n', '"', '\u{0}', '😀'])?,
                _ => {
                    let to = u.choose_index(text.len())?;
                    let piece: Vec<char> =
                        text[at.min(to)..at.max(to).min(at.min(to) + 40)].to_vec();
                    let into = u.choose_index(text.len())?;
                    drop(text.splice(into..into, piece));
                }
            }
        }
        let text: String = text.into_iter().collect();
        match script::parse("damaged.py", &text) {
            Ok(module) => drop(script::print(&module)),
            Err(errors) => assert!(errors.to_string().contains("damaged.py:")),
        }
        Ok(())
    });
}

/// Printed arithmetic is read back as the same tree: no parenthesis is missing.
#[test]
fn generated_arithmetic_round_trips() {
    generated::holds(1500, |u| {
        let vars = ["i", "j", "k"].map(|name| Var::new(name, DType::I32));
        let value = int_expr(u, &vars, 5)?;
        let out = Buffer::new("A", vec![Expr::i32(4)], DType::I32);
        let mut params: Vec<Param> = vars.iter().cloned().map(Param::Scalar).collect();
        let handle = Var::new("A", DType::U64);
        params.push(Param::Buffer {
            handle,
            buffer: out.clone(),
        });
        let mut func = PrimFunc::new("main", params);
        let indices = vec![Expr::i32(0)];
        func.tree.set_body(
            func.root,
            vec![Stmt::Store {
                buffer: out,
                indices,
                value,
            }],
        );
        let text = script::print_prim_func(&func).text;
        let module = script::parse("generated.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let again = module.prim_func("main").expect("the function was printed");
        if let Err(difference) = alpha_eq::prim_func(&func, again) {
            panic!("{difference}\n{text}");
        }
        Ok(())
    });
}

fn int_expr(u: &mut Unstructured<'_>, vars: &[Var], depth: usize) -> arbitrary::Result<Expr> {
    use BinOp::{
        Add, BitAnd, BitOr, BitXor, Div, FloorDiv, FloorMod, Max, Min, Mod, Mul, Shl, Shr, Sub,
    };
    if depth == 0 || u.ratio(1, 5)? {
        return Ok(if u.arbitrary()? {
            u.choose(vars)?.expr()
        } else {
            Expr::i32(u.int_in_range(-9..=9)?)
        });
    }
    if u.ratio(1, 8)? {
        let cond = bool_expr(u, vars, depth - 1)?;
        let (a, b) = (int_expr(u, vars, depth - 1)?, int_expr(u, vars, depth - 1)?);
        return Ok(Expr::select(cond, a, b));
    }
    let ops = [
        Add, Sub, Mul, Div, Mod, FloorDiv, FloorMod, Min, Max, BitAnd, BitOr, BitXor, Shl, Shr,
    ];
    let op = *u.choose(&ops)?;
    let (a, b) = (int_expr(u, vars, depth - 1)?, int_expr(u, vars, depth - 1)?);
    Ok(Expr::binary(op, a, b))
}

fn bool_expr(u: &mut Unstructured<'_>, vars: &[Var], depth: usize) -> arbitrary::Result<Expr> {
    use BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    if depth == 0 {
        return Ok(Expr::bool(u.arbitrary()?));
    }
    Ok(match u.int_in_range(0..=3)? {
        0 => bool_expr(u, vars, depth - 1)?.not(),
        1 => {
            let op = if u.arbitrary()? { And } else { Or };
            let (a, b) = (
                bool_expr(u, vars, depth - 1)?,
                bool_expr(u, vars, depth - 1)?,
            );
            Expr::binary(op, a, b)
        }
        _ => {
            let op = *u.choose(&[Eq, Ne, Lt, Le, Gt, Ge])?;
            let (a, b) = (int_expr(u, vars, depth - 1)?, int_expr(u, vars, depth - 1)?);
            Expr::binary(op, a, b)
        }
    })
}

/// Every name is close to many others: to look for the closest one each time would take minutes.
#[test]
fn many_undefined_names_are_reported_in_time() {
    let mut text = "@R.function\ndef main(a: R.Tensor((4,), \"float32\")):\n".to_owned();
    for at in 0..10_000 {
        text += &format!("    v{at} = R.add(a, a)\n    w{at} = R.add(vv{at}, a)\n");
    }
    let errors = script::parse("many.py", &(text + "    return a\n")).expect_err("not defined");
    let shown = errors.to_string();
    assert!(shown.contains("did you mean `v0`?"), "{shown}");
}
