//! `weftile report`: what the page says, and that a browser shows it.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::{MODULE, json, refused, stdout, weftile};

/// A field of a message of protobuf: a number.
fn number(field: u8, value: u8) -> Vec<u8> {
    assert!(value < 128, "one byte");
    vec![field << 3, value]
}

/// A field of a message of protobuf: bytes, a text or a message.
fn bytes(field: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let (low, high) = (content.len() % 128, content.len() / 128);
    let length = [low as u8 | 128, u8::try_from(high).expect("short")];
    [&[(field << 3) | 2], &length[..], content].concat()
}

/// A chain of elementwise ONNX nodes with these names.
fn chain(names: &[&str]) -> Vec<u8> {
    let tensor = |name: &str| {
        let shape = bytes(2, [bytes(1, number(1, 2)), bytes(1, number(1, 8))].concat());
        let tensor = bytes(1, [number(1, 1), shape].concat());
        [bytes(1, name), bytes(2, tensor)].concat()
    };
    let mut graph = vec![];
    for (at, name) in names.iter().enumerate() {
        let operator = ["Relu", "Tanh", "Neg"][at % 3];
        let node = [
            bytes(1, format!("v{at}")),
            bytes(2, format!("v{}", at + 1)),
            bytes(3, name),
            bytes(4, operator),
        ];
        graph.extend(bytes(1, node.concat()));
    }
    graph.extend(bytes(2, "chain"));
    graph.extend(bytes(11, tensor("v0")));
    graph.extend(bytes(12, tensor(&format!("v{}", names.len()))));
    let opset = bytes(8, [bytes(1, ""), number(2, 17)].concat());
    [number(1, 8), bytes(7, graph), opset].concat()
}

/// Names that a page must not take for markup.
const HOSTILE: [&str; 4] = [
    "</script><script>document.title = 'broken'</script>",
    "<img src=x onerror=\"document.title = 'broken'\">",
    "<!-- {{script}} ]]> & \u{2028} '",
    "relu_4",
];

/// Writes the page of a model of four nodes with such names.
fn hostile_page(folder: &Path, device: &str) -> PathBuf {
    let (model, page) = (folder.join("<b>model.onnx"), folder.join("page.html"));
    std::fs::write(&model, chain(&HOSTILE)).expect("writable");
    let paths = [&model, &page].map(|path| path.to_str().expect("text"));
    let said = stdout(&weftile(&[
        "report", paths[0], "-o", paths[1], "--device", device,
    ]));
    assert!(said.contains("4 nodes"), "{said}");
    page
}

#[test]
fn a_report_says_what_a_call_does_and_what_it_was_made_of() {
    let args = ["report", MODULE, "--device", "cpu", "--json"];
    let shapes = [
        "--shape",
        "x=8x784",
        "--shape",
        "w0=128x784",
        "--shape",
        "w1=10x128",
    ];
    let report = json(&[&args[..], &shapes[..]].concat());
    let list = |name: &str| report[name].as_array().expect("a list").clone();
    let nodes = |name: &str| report[name]["nodes"].as_array().expect("a list").clone();
    let (programs, steps) = (list("programs"), list("steps"));
    assert_eq!(report["model"], "mlp.py");
    assert_eq!(report["inputs"][0]["shape"], serde_json::json!([8, 784]));

    // Every kernel that ran is a box, whose program has code; what it was made of are boxes of the other graph.
    let kernels: Vec<&Value> = steps.iter().filter(|s| s["kind"] == "kernel").collect();
    assert!(!kernels.is_empty());
    for step in &kernels {
        let at =
            |list: &[Value], index: &Value| list[index.as_u64().expect("known") as usize].clone();
        let program = at(&programs, &step["program"]);
        assert_eq!(program["kernels"][0]["language"], "clif");
        let node = at(&nodes("kernel_graph"), &step["node"]);
        assert_eq!(node["program"], step["program"]);
        for source in node["sources"].as_array().expect("a list") {
            let place = &at(&nodes("model_graph"), source)["places"][0];
            assert!(
                place.as_str().is_some_and(|p| p.starts_with("line ")),
                "{place}"
            );
        }
    }
    // Two multiply-adds in each of two products, two sums with a bias.
    let flops: u64 = kernels.iter().filter_map(|s| s["flops"].as_u64()).sum();
    let products = 2 * 8 * (784 * 128 + 128 * 10);
    let biases = 8 * (128 + 10);
    assert!(
        (products + biases..=products + 2 * biases).contains(&flops),
        "{flops}"
    );

    let memory = &report["memory"];
    let sum = |name: &str, of: &str| -> u64 {
        let items = memory[name].as_array().expect("a list").iter();
        items
            .filter_map(|i| {
                if of.is_empty() {
                    i.as_u64()
                } else {
                    i[of].as_u64()
                }
            })
            .sum()
    };
    assert_eq!(memory["naive"].as_u64(), Some(sum("tensors", "bytes")));
    assert_eq!(memory["planned"].as_u64(), Some(sum("storages", "")));
    assert!(memory["live"].as_u64() <= memory["planned"].as_u64());
    assert!(report["peaks"]["flops_per_s"].as_f64() > Some(1e6));
    assert!(report["peaks"]["bytes_per_s"].as_f64() > Some(1e6));
}

#[test]
fn a_fused_kernel_opens_to_the_nodes_of_the_model() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let model = folder.path().join("chain.onnx");
    std::fs::write(&model, chain(&["a", "b", "c"])).expect("writable");
    let model = model.to_str().expect("text");
    let report = json(&["report", model, "--device", "cpu", "--json"]);
    let nodes = report["kernel_graph"]["nodes"].as_array().expect("a list");
    let fused = nodes
        .iter()
        .find(|node| !node["program"].is_null())
        .expect("a kernel");
    let inside = &fused["inside"];
    let texts = |of: &str| -> Vec<&str> {
        let inside = inside["nodes"].as_array().expect("a list").iter();
        inside.filter_map(|node| node[of].as_str()).collect()
    };
    assert_eq!(texts("title"), ["Relu", "Tanh", "Neg"]);
    assert_eq!(texts("subtitle"), ["a", "b", "c"]);
    assert_eq!(inside["links"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_interpreter_has_no_kernels_to_report() {
    let said = refused(&["report", MODULE, "--device", "interp"], 1);
    assert!(said.contains("the interpreter compiles nothing"), "{said}");
}

/// A browser, or nothing where there is none and none is required (`WEFTILE_REQUIRE_BROWSER=1`).
fn browser(test: &str) -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .filter(|file| file.is_file());
    let found = found.next();
    if found.is_none() {
        assert!(
            std::env::var("WEFTILE_REQUIRE_BROWSER").as_deref() != Ok("1"),
            "no browser: none of {names:?} is on the path"
        );
        #[expect(clippy::print_stderr, reason = "a skipped test must say so")]
        {
            eprintln!("{test}: skipped: no browser");
        }
    }
    found
}

/// How long a browser may take for a page that it shows in two seconds.
const PATIENCE: Duration = Duration::from_secs(90);

/// What a browser makes of a page once its script has run.
fn shown(browser: &Path, page: &Path) -> String {
    let profile = tempfile::tempdir().expect("scratch folder");
    let mut browser = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .args([
            "--virtual-time-budget=8000",
            "--window-size=1280,800",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", page.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the browser starts");
    let mut stdout = browser.stdout.take().expect("piped");
    let reader = std::thread::spawn(move || {
        let mut dom = vec![];
        stdout.read_to_end(&mut dom).map(|_| dom)
    });
    let start = Instant::now();
    while browser.try_wait().expect("it can be asked").is_none() {
        if start.elapsed() > PATIENCE {
            browser.kill().expect("it can be stopped");
            panic!("the script of the page does not end");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let dom = reader.join().expect("no panic").expect("readable");
    String::from_utf8_lossy(&dom).into_owned()
}

/// Does what a user does, and leaves what it saw in the page.
const VISIT: &str = r##"
<script>
  const seen = {};
  const boxes = () => [...document.querySelectorAll("#canvas .box.program, #canvas .box.operator")];
  seen.title = document.title.startsWith("<b>model.onnx on cpu");
  seen.images = document.images.length;
  seen.kernels = boxes().length;
  boxes()[0].dispatchEvent(new MouseEvent("click", { bubbles: true }));
  seen.inside = document.querySelectorAll(".opened .box").length;
  seen.code = document.querySelector("#details pre").textContent.length > 100;
  document.querySelector("[data-graph=model_graph]").click();
  seen.model = boxes().length;
  const field = document.getElementById("search");
  field.value = "RELU_4";
  field.dispatchEvent(new Event("input"));
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  seen.found = document.getElementById("found").textContent;
  seen.selected = document.querySelector(".box.selected .subtitle").textContent;
  const before = canvas.view;
  const at = { clientX: 300, clientY: 300, bubbles: true };
  canvas.element.dispatchEvent(new WheelEvent("wheel", { deltaY: -400, ...at }));
  seen.zoomed = canvas.view.scale > before.scale;
  for (const tab of document.querySelectorAll("#tabs button")) tab.click();
  seen.charts = document.querySelectorAll(".chart").length;
  seen.rows = document.querySelectorAll("#kernels tbody tr").length;
  seen.bars = document.querySelectorAll("#timeline .mark").length;
  const note = document.createElement("output");
  note.id = "seen";
  note.textContent = JSON.stringify(seen);
  document.body.append(note);
</script>
"##;

#[test]
fn a_browser_shows_the_page_whatever_nodes_are_called() {
    let test = "a_browser_shows_the_page_whatever_nodes_are_called";
    let Some(browser) = browser(test) else { return };
    let folder = tempfile::tempdir().expect("scratch folder");
    let page = hostile_page(folder.path(), "cpu");
    let text = std::fs::read_to_string(&page).expect("written");
    let links = text.matches("://").count();
    assert_eq!(links, 1, "the namespace of SVG, which nobody fetches");
    std::fs::write(&page, text + VISIT).expect("writable");
    let dom = shown(&browser, &page);
    let (_, note) = dom
        .split_once("<output id=\"seen\">")
        .unwrap_or_else(|| panic!("no note in:\n{dom}"));
    let note = note.split('<').next().expect("a first part");
    let seen: Value = serde_json::from_str(note).expect("JSON");
    assert_eq!(seen["title"], true);
    assert_eq!(seen["images"], 0);
    assert_eq!(seen["kernels"], 1, "{seen}");
    assert_eq!(seen["inside"], 4);
    assert_eq!(seen["code"], true);
    assert_eq!(seen["model"], 4);
    assert_eq!(seen["found"], "1 of 1");
    assert_eq!(seen["selected"], "relu_4");
    assert_eq!(seen["zoomed"], true);
    assert_eq!(seen["charts"], 3, "{seen}");
    assert_eq!(seen["rows"], 1);
    assert_eq!(seen["bars"], 1);
}
