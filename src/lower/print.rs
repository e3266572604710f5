//! Nests as text, for dumps and tests. It is not parsed back.

use std::fmt::Write as _;

use super::nests::RootNest;
use super::node::{Barrier, FragmentKind, Node, TileOf};
use super::storage::{Memory, MemoryPlan};
use crate::ir::{Buffer, Expr, LoopKind};
use crate::kernel::Shuffle;

/// A nest: the axes of its launch, its arrays, and its statements.
pub(super) fn root_nest(root: &RootNest) -> String {
    let mut out = format!("nest  # {}\n", root.blocks.join(", "));
    let mut line = |text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {text}");
    };
    for (name, axis) in &root.nest.axes {
        line(format!(
            "axis {} = {}: {:#}",
            axis.var.name(),
            name.name(),
            axis.extent
        ));
    }
    for array in &root.arrays {
        let loops: Vec<&str> = array.loops.iter().map(|var| var.name()).collect();
        let fresh = match loops.as_slice() {
            [] => String::new(),
            loops => format!(", new in each iteration of {}", loops.join(", ")),
        };
        line(format!("array {}{fresh}", buffer(&array.buffer)));
    }
    if root.arrays.is_empty() {
        for (array, memory) in &root.nest.added {
            line(format!("added {}, {}", buffer(array), memory_name(*memory)));
        }
    }
    nodes(&root.nest.body, 1, &mut out);
    out
}

/// Where the buffers of a function are.
pub(super) fn memory_plan(plan: &MemoryPlan) -> String {
    let placed = plan.placed().into_iter();
    let line = |(array, memory)| format!("# {}, {}\n", buffer(array), memory_name(memory));
    placed.map(line).collect()
}

fn memory_name(memory: Memory) -> &'static str {
    match memory {
        Memory::Device => "of the device",
        Memory::Shared => "of the workgroup",
        Memory::Local => "of the thread",
    }
}

fn buffer(buffer: &Buffer) -> String {
    let list = |exprs: &[Expr]| -> Vec<String> { exprs.iter().map(|e| format!("{e:#}")).collect() };
    let mut text = format!(
        "{}: {}[{}]",
        buffer.name(),
        buffer.dtype(),
        list(buffer.shape()).join(", ")
    );
    if !buffer.node().strides.is_empty() {
        text += &format!(", strides {}", list(&buffer.node().strides).join(", "));
    }
    text
}

fn nodes(body: &[Node], depth: usize, out: &mut String) {
    for node in body {
        self::node(node, depth, out);
    }
}

fn node(node: &Node, depth: usize, out: &mut String) {
    let mut line = |text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}{text}", "  ".repeat(depth));
    };
    match node {
        Node::For {
            var,
            min,
            extent,
            kind,
            body,
        } => {
            let kind = match kind {
                LoopKind::Serial => "for".to_owned(),
                LoopKind::Parallel => "parallel for".to_owned(),
                LoopKind::Vectorized => "vectorized for".to_owned(),
                LoopKind::Unrolled => "unrolled for".to_owned(),
                LoopKind::ThreadBinding(axis) => format!("for each {}", axis.name()),
            };
            let name = var.name();
            line(match min.is_zero() {
                true => format!("{kind} {name} in 0 .. {extent:#}"),
                false => format!("{kind} {name} in {min:#} .. +{extent:#}"),
            });
            nodes(body, depth + 1, out);
        }
        Node::Store {
            buffer,
            indices,
            value,
            shuffle,
            axes: _,
        } => {
            let value = match shuffle {
                None => format!("{value:#}"),
                Some(Shuffle::Down(by)) => format!("shuffle_down({value:#}, {by})"),
                Some(Shuffle::Xor(by)) => format!("shuffle_xor({value:#}, {by})"),
                Some(Shuffle::First) => format!("shuffle_first({value:#})"),
            };
            let indices: Vec<String> = indices.iter().map(|e| format!("{e:#}")).collect();
            line(format!(
                "{}[{}] = {value}",
                buffer.name(),
                indices.join(", ")
            ));
        }
        Node::Let { var, value, body } => {
            line(format!("let {} = {value:#}", var.name()));
            nodes(body, depth, out);
        }
        Node::If {
            cond,
            then,
            otherwise,
        } => {
            line(format!("if {cond:#}"));
            nodes(then, depth + 1, out);
            if !otherwise.is_empty() {
                let _ = writeln!(out, "{}else", "  ".repeat(depth));
                nodes(otherwise, depth + 1, out);
            }
        }
        Node::While { cond, body } => {
            line(format!("while {cond:#}"));
            nodes(body, depth + 1, out);
        }
        Node::Fragment(node) => {
            let tile = |tile: &TileOf| {
                let indices: Vec<String> = tile.indices.iter().map(|e| format!("{e:#}")).collect();
                format!("{}[{}]", tile.buffer.name(), indices.join(", "))
            };
            let tiles: Vec<String> = node.tiles.iter().map(tile).collect();
            line(match node.kind {
                FragmentKind::Clear => format!("tile {} = 0", tiles[0]),
                FragmentKind::Load | FragmentKind::Store => {
                    format!("tile {} = {}", tiles[0], tiles[1])
                }
                FragmentKind::MultiplyAdd => {
                    format!("tile {} += {} * {}", tiles[0], tiles[1], tiles[2])
                }
            });
        }
        Node::Barrier(Barrier::Written(_)) => line("barrier".to_owned()),
        Node::Barrier(Barrier::Implied(buffer)) => {
            line(format!("barrier  # for {}", buffer.name()))
        }
    }
}
