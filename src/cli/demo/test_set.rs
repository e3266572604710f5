//! The demo on real data: the FashionMNIST test set, in batches of several sizes through one executable.

use serde::Serialize;

use super::dataset::TestSet;
use super::{Kernels, Ready, prediction};
use crate::cli::error::CliError;
use crate::cli::fashion::CLASSES;
use crate::cli::terminal::{Terminal, milliseconds};

/// Sizes of batches besides the whole set. The executable is compiled once: the size is a symbolic dimension.
const SIZES: [usize; 3] = [1, 7, 256];
/// Calls for each size, at most.
const CALLS: usize = 1000;

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    device: String,
    reason: String,
    correct: usize,
    total: usize,
    accuracy: f64,
    functions: Vec<Kernels>,
    compile_ms: f64,
    batches: Vec<Batches>,
    per_class: Vec<Class>,
}

/// Calls with one size of batch.
#[derive(Serialize)]
struct Batches {
    size: usize,
    images: usize,
    correct: usize,
    /// How many images got another class than in the batch of all.
    other: usize,
    first_ms: f64,
    mean_ms: f64,
    images_per_s: f64,
}

#[derive(Serialize)]
struct Class {
    name: &'static str,
    correct: usize,
    total: usize,
}

pub(super) fn run(
    ready: &mut Ready,
    data: &TestSet,
    json: bool,
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    let total = data.labels.len();
    let mut whole = Vec::new();
    let last = classify(ready, data, total, &mut whole)?;
    let mut batches = Vec::new();
    for size in SIZES.into_iter().filter(|&size| size < total) {
        let mut predictions = Vec::new();
        let mut entry = classify(ready, data, size, &mut predictions)?;
        entry.other = predictions
            .iter()
            .zip(&whole)
            .filter(|(a, b)| a != b)
            .count();
        batches.push(entry);
    }
    let correct = last.correct;
    batches.push(last);
    let report = Report {
        device: ready.chosen.name.clone(),
        reason: ready.chosen.reason.clone(),
        correct,
        total,
        accuracy: correct as f64 / total.max(1) as f64,
        functions: ready.functions.clone(),
        compile_ms: ready.compile_ms(),
        batches,
        per_class: per_class(data, &whole),
    };
    if json {
        terminal.json(&report)?;
        return Ok(());
    }
    print(terminal, &report)
}

/// Classifies images in order in batches of this size, as many as the number of calls allows.
fn classify(
    ready: &mut Ready,
    data: &TestSet,
    size: usize,
    predictions: &mut Vec<usize>,
) -> Result<Batches, CliError> {
    let images = data.labels.len().min(size.saturating_mul(CALLS));
    let mut times = Vec::new();
    let mut start = 0;
    while start < images {
        let count = size.min(images - start);
        let (logits, elapsed) = ready.classify(data.batch(start, count)?)?;
        predictions.extend(
            logits
                .chunks_exact(CLASSES.len())
                .map(|row| prediction(row).0),
        );
        times.push(milliseconds(elapsed));
        start += count;
    }
    let sum: f64 = times.iter().sum();
    let correct = predictions
        .iter()
        .zip(&data.labels)
        .filter(|(p, l)| **p == usize::from(**l))
        .count();
    let entry = Batches {
        size,
        images,
        correct,
        other: 0,
        first_ms: times.first().copied().unwrap_or(0.0),
        mean_ms: sum / times.len().max(1) as f64,
        images_per_s: images as f64 / (sum * 1e-3).max(1e-9),
    };
    Ok(entry)
}

fn per_class(data: &TestSet, predictions: &[usize]) -> Vec<Class> {
    let of = |class: usize| {
        data.labels
            .iter()
            .zip(predictions)
            .filter(move |(l, _)| usize::from(**l) == class)
    };
    CLASSES
        .iter()
        .enumerate()
        .map(|(class, name)| Class {
            name,
            correct: of(class).filter(|(_, p)| **p == class).count(),
            total: of(class).count(),
        })
        .collect()
}

fn print(terminal: &mut Terminal, report: &Report) -> Result<(), CliError> {
    let rows: Vec<Vec<String>> = report
        .per_class
        .iter()
        .map(|class| {
            vec![
                class.name.to_owned(),
                format!("{} of {}", class.correct, class.total),
            ]
        })
        .collect();
    terminal.table(&["class", "correct"], &rows)?;
    terminal.line("")?;
    let rows: Vec<Vec<String>> = report
        .batches
        .iter()
        .map(|b| {
            vec![
                b.size.to_string(),
                format!("{} of {}", b.correct, b.images),
                b.other.to_string(),
                format!("{:.3}", b.first_ms),
                format!("{:.3}", b.mean_ms),
                format!("{:.0}", b.images_per_s),
            ]
        })
        .collect();
    let header = [
        "batch",
        "correct",
        "judged otherwise",
        "first ms",
        "mean ms",
        "images/s",
    ];
    terminal.table(&header, &rows)?;
    terminal.line("")?;
    let result = format!("{} of {} correct", report.correct, report.total);
    terminal.line(format!(
        "{} ({:.2} %) on {}. Compiled once, in {:.1} ms, for all sizes of batches.",
        terminal.bold(&result),
        100.0 * report.accuracy,
        report.device,
        report.compile_ms
    ))?;
    Ok(())
}
