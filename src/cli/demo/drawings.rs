//! The demo without data: drawings of garments, shown as characters with what the network takes them for.

use serde::Serialize;

use super::silhouettes::{SILHOUETTES, Silhouette};
use super::{Kernels, Ready, prediction};
use crate::cli::error::CliError;
use crate::cli::fashion::{CLASSES, SIDE};
use crate::cli::terminal::{Terminal, milliseconds};
use crate::tensor::Tensor;

/// From dark to light.
const SHADES: &[u8] = b" .:-=+*#%@";
/// Columns between drawings.
const GAP: usize = 4;
/// Warm calls, of which the fastest is told.
const WARM: usize = 20;

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    device: String,
    reason: String,
    functions: Vec<Kernels>,
    compile_ms: f64,
    first_call_ms: f64,
    warm_call_ms: f64,
    correct: usize,
    total: usize,
    drawings: Vec<Judged>,
}

/// A drawing and what the network says.
#[derive(Serialize)]
struct Judged {
    drawn: &'static str,
    predicted: &'static str,
    probability: f32,
}

pub(super) fn run(ready: &mut Ready, json: bool, terminal: &mut Terminal) -> Result<(), CliError> {
    let pixels: Vec<Vec<u8>> = SILHOUETTES.iter().map(Silhouette::pixels).collect();
    let batch = batch(&pixels)?;
    let (logits, first) = ready.classify(batch.clone())?;
    let mut warm = first;
    for _ in 0..WARM {
        warm = warm.min(ready.classify(batch.clone())?.1);
    }
    let drawings: Vec<Judged> = SILHOUETTES
        .iter()
        .zip(logits.chunks_exact(CLASSES.len()))
        .map(|(drawn, logits)| {
            let (class, probability) = prediction(logits);
            Judged {
                drawn: drawn.name(),
                predicted: CLASSES[class],
                probability,
            }
        })
        .collect();
    let report = Report {
        device: ready.chosen.name.clone(),
        reason: ready.chosen.reason.clone(),
        functions: ready.functions.clone(),
        compile_ms: ready.compile_ms(),
        first_call_ms: milliseconds(first),
        warm_call_ms: milliseconds(warm),
        correct: drawings.iter().filter(|d| d.drawn == d.predicted).count(),
        total: drawings.len(),
        drawings,
    };
    if json {
        terminal.json(&report)?;
        return Ok(());
    }
    show(&report.drawings, &pixels, terminal)?;
    terminal.line(format!(
        "{} of {} drawings recognised. Compiled in {:.1} ms, first call {:.2} ms, warm call {:.3} ms ({} images).",
        report.correct, report.total, report.compile_ms, report.first_call_ms, report.warm_call_ms, report.total
    ))?;
    Ok(())
}

fn batch(pixels: &[Vec<u8>]) -> Result<Tensor, CliError> {
    let values: Vec<f32> = pixels
        .iter()
        .flatten()
        .map(|&p| f32::from(p) / 255.0)
        .collect();
    Ok(Tensor::from_slice(&[pixels.len(), SIDE * SIDE], &values)?)
}

/// As many drawings beside each other as the terminal is wide.
fn show(drawings: &[Judged], pixels: &[Vec<u8>], terminal: &mut Terminal) -> Result<(), CliError> {
    let columns = ((terminal.width() + GAP) / (SIDE + GAP)).max(1);
    let all: Vec<(&Judged, &Vec<u8>)> = drawings.iter().zip(pixels).collect();
    for row in all.chunks(columns) {
        for line in 0..SIDE / 2 {
            let cells: Vec<String> = row
                .iter()
                .map(|(_, pixels)| characters(pixels, line))
                .collect();
            terminal.line(cells.join(&" ".repeat(GAP)).trim_end())?;
        }
        let mut captions = String::new();
        for (judged, _) in row {
            let text = format!("{} ({:.0} %)", judged.predicted, 100.0 * judged.probability);
            let gap = " ".repeat((SIDE + GAP).saturating_sub(text.len()));
            captions.push_str(&if judged.drawn == judged.predicted {
                terminal.good(&text)
            } else {
                terminal.bad(&text)
            });
            captions.push_str(&gap);
        }
        terminal.line(captions.trim_end())?;
        terminal.line("")?;
    }
    Ok(())
}

/// Two rows of pixels as one line: characters are about twice as high as wide.
fn characters(pixels: &[u8], line: usize) -> String {
    let at = |row: usize, column: usize| usize::from(pixels[row * SIDE + column]);
    (0..SIDE)
        .map(|column| {
            let mean = (at(2 * line, column) + at(2 * line + 1, column)) / 2;
            char::from(SHADES[mean * SHADES.len() / 256])
        })
        .collect()
}
