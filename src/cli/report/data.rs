//! What a report says: the JSON that `--json` prints and that the page shows.

use serde::Serialize;

use crate::cli::recognized::Site;
use crate::script::picture::Kind;
use crate::vm::{Clock, ProfileKind};

/// A model on a device.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) version: &'static str,
    /// Name of the file.
    pub(super) model: String,
    /// The function that is called.
    pub(super) func: String,
    pub(super) device: String,
    /// Why this device.
    pub(super) reason: String,
    /// Parameters that have no weights bound to them.
    pub(super) inputs: Vec<Input>,
    pub(super) times: Times,
    /// The nodes of the model, or the lines of a text.
    pub(super) model_graph: Drawing,
    /// The same as kernels.
    pub(super) kernel_graph: Drawing,
    /// The loop programs, with the code of their kernels.
    pub(super) programs: Vec<Program>,
    /// The steps of a call, in order.
    pub(super) steps: Vec<Step>,
    /// `None` where sizes depend on elements.
    pub(super) memory: Option<Memory>,
    /// Where the model writes an operator in primitives.
    pub(super) recognized: Vec<Site>,
    /// What the device can do at most.
    pub(super) peaks: Peaks,
}

/// A tensor that a call is given.
#[derive(Serialize)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) dtype: String,
    pub(super) shape: Vec<usize>,
}

/// Milliseconds.
#[derive(Serialize)]
pub(super) struct Times {
    pub(super) compile_ms: f64,
    pub(super) load_ms: f64,
    /// The median of calls that nobody watches.
    pub(super) call_ms: f64,
    pub(super) calls: usize,
    /// How many watched calls the times of the steps are medians of.
    pub(super) watched: usize,
}

/// A graph with the places of its boxes, in pixels from the top left.
#[derive(Serialize)]
pub(super) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
}

/// A box.
#[derive(Serialize)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) title: String,
    pub(super) subtitle: String,
    /// Where the author of the model finds it.
    pub(super) places: Vec<String>,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    /// The loop program that it calls.
    pub(super) program: Option<usize>,
    /// Of a kernel, the nodes of the model graph that it was made of; of one of those, its own place there.
    pub(super) sources: Vec<usize>,
    /// Of a kernel that was made of several nodes: these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inside: Option<Drawing>,
}

/// A line from one box to another.
#[derive(Serialize)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The `d` of an SVG path.
    pub(super) path: String,
    /// The shape that flows.
    pub(super) label: String,
    /// The centre of the label.
    pub(super) at: Option<(f64, f64)>,
}

/// A loop program.
#[derive(Serialize)]
pub(super) struct Program {
    pub(super) name: String,
    /// The schedule rule that took most of it.
    pub(super) class: String,
    /// All rules that took its blocks.
    pub(super) rules: String,
    /// How it was scheduled.
    pub(super) trace: String,
    pub(super) kernels: Vec<Code>,
}

/// The code of a kernel.
#[derive(Serialize)]
pub(super) struct Code {
    pub(super) name: String,
    /// `wgsl` or `clif`.
    pub(super) language: &'static str,
    pub(super) text: String,
}

/// A step of a call.
#[derive(Serialize)]
pub(super) struct Step {
    pub(super) name: String,
    pub(super) kind: ProfileKind,
    /// The loop program, if it is a kernel of one.
    pub(super) program: Option<usize>,
    /// The box in the graph of kernels, where that is known.
    pub(super) node: Option<usize>,
    /// Microseconds.
    pub(super) us: f64,
    pub(super) clock: Clock,
    pub(super) launches: u64,
    /// Bytes copied, or of the arrays that the kernel reads and writes.
    pub(super) bytes: u64,
    /// Floating-point operations, counted from the loop program.
    pub(super) flops: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
}

/// The memory of the tensors that a call makes.
#[derive(Serialize)]
pub(super) struct Memory {
    /// Bytes if each tensor had memory of its own.
    pub(super) naive: u64,
    /// Bytes of all storages.
    pub(super) planned: u64,
    /// Bytes that are needed at the same time: no plan takes less.
    pub(super) live: u64,
    /// Bytes of each storage.
    pub(super) storages: Vec<u64>,
    pub(super) tensors: Vec<PlannedTensor>,
    /// Names of what is called, in order: the time that tensors are placed in.
    pub(super) calls: Vec<String>,
}

/// A tensor in planned memory.
#[derive(Serialize)]
pub(super) struct PlannedTensor {
    pub(super) name: String,
    /// `None` if it is in memory that the caller gives.
    pub(super) storage: Option<usize>,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// The first call that it is there for.
    pub(super) from: usize,
    /// The last one.
    pub(super) to: usize,
    /// The function gives it back.
    pub(super) result: bool,
}

/// What the device can do, measured by two programs in the same run.
#[derive(Serialize)]
pub(super) struct Peaks {
    pub(super) bytes_per_s: f64,
    pub(super) flops_per_s: f64,
    /// How each was measured.
    pub(super) measured: Vec<String>,
    pub(super) clock: Clock,
}
