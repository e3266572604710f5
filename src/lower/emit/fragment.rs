//! Calls on fragments: each tile of a buffer of fragments is a variable, each tile of memory a first element and a stride.

use super::{Emit, flat};
use crate::ir::{Buffer, Expr, ExprKind, FragmentRole};
use crate::kernel::{ArrayTile, FRAGMENT_ALIGN, Fragment, FragmentId, FragmentOp, Role, Stmt};
use crate::lower::LowerError;
use crate::lower::error::fragment_tile as refused;
use crate::lower::nest::Nest;
use crate::lower::node::{FragmentKind, FragmentNode, Node, TileOf, walk_nodes};

impl Emit<'_> {
    /// The operation on fragments.
    pub(super) fn fragment(&mut self, node: &FragmentNode) -> Result<Stmt, LowerError> {
        let tiles = &node.tiles;
        Ok(Stmt::Fragment(match node.kind {
            FragmentKind::Clear => FragmentOp::Clear(self.held(node, &tiles[0])?),
            FragmentKind::Load => {
                let held = self.held(node, &tiles[0])?;
                FragmentOp::Load(held, self.memory(node, &tiles[1])?)
            }
            FragmentKind::MultiplyAdd => FragmentOp::MultiplyAdd {
                sum: self.held(node, &tiles[0])?,
                a: self.held(node, &tiles[1])?,
                b: self.held(node, &tiles[2])?,
            },
            FragmentKind::Store => {
                let held = self.held(node, &tiles[1])?;
                FragmentOp::Store(held, self.memory(node, &tiles[0])?)
            }
        }))
    }

    /// The variable of a tile, whose place must be constant: loops over fragments are unrolled.
    fn held(&mut self, node: &FragmentNode, tile: &TileOf) -> Result<FragmentId, LowerError> {
        let first = self.element(node, tile, 0, 0);
        let first: Option<Vec<i64>> = first.iter().map(Expr::as_int).collect();
        let whole = |first: &Vec<i64>| {
            let mut place = first.iter().rev().take(2);
            place.all(|i| i % node.extent == 0)
        };
        let problem = "is not known by a number; are all loops over it unrolled?";
        let first = first.filter(whole);
        let first = first.ok_or_else(|| refused(&tile.buffer, problem))?;
        let key = (tile.buffer.clone(), first);
        if let Some(known) = self.fragment_of.get(&key) {
            return match i64::from(self.fragments[*known].extent) == node.extent {
                true => Ok(*known),
                false => Err(refused(&tile.buffer, "has several extents")),
            };
        }
        let role = match tile.buffer.scope().fragment() {
            Some(FragmentRole::MatrixA) => Role::A,
            Some(FragmentRole::MatrixB) => Role::B,
            Some(FragmentRole::Accumulator) | None => Role::C,
        };
        let of_buffer = self.fragment_of.keys();
        let number = of_buffer
            .filter(|(buffer, _)| *buffer == tile.buffer)
            .count();
        let id = self.fragments.push(Fragment {
            name: format!("{}_{number}", tile.buffer.name()),
            role,
            extent: u32::try_from(node.extent)
                .map_err(|_| refused(&tile.buffer, "has no such extent"))?,
            dtype: tile.buffer.dtype().scalar,
        });
        self.fragment_of.insert(key, id);
        Ok(id)
    }

    /// A tile of memory, all of which is shown to be inside.
    fn memory(&mut self, node: &FragmentNode, tile: &TileOf) -> Result<ArrayTile, LowerError> {
        let last = node.extent - 1;
        let (first, end) = (
            self.element(node, tile, 0, 0),
            self.element(node, tile, last, last),
        );
        if !self.in_range(&tile.buffer, &first) || !self.in_range(&tile.buffer, &end) {
            return Err(refused(&tile.buffer, "is not shown to be inside"));
        }
        let base = flat(&tile.buffer, &first);
        let apart = |row, column| {
            let other = self.element(node, tile, row, column);
            flat(&tile.buffer, &other)
                .plus(&base, -1)
                .join_div_mod()
                .as_const()
        };
        let stride = (apart(1, 0), apart(0, 1), apart(last, last));
        let stride = match stride {
            (Some(row), Some(1), Some(end)) if end == last * row + last => u32::try_from(row).ok(),
            _ => None,
        };
        let stride = stride.ok_or_else(|| refused(&tile.buffer, "does not lie row by row"))?;
        let align = i64::from(FRAGMENT_ALIGN) / tile.buffer.dtype().bytes() as i64;
        if i64::from(stride) % align != 0 || !base.is_multiple_of(align) {
            return Err(refused(&tile.buffer, "has rows at no multiple of 16 bytes"));
        }
        let array = self.array_id(&tile.buffer);
        if self.tiles_of_scalars {
            self.widths.entry(array).or_default().push(0);
        }
        Ok(ArrayTile {
            array,
            index: self.index_poly(&base)?,
            stride,
        })
    }

    /// The indices of an element of a tile.
    fn element(&self, node: &FragmentNode, tile: &TileOf, row: i64, column: i64) -> Vec<Expr> {
        let place = |index: &Expr| {
            let index = index.substitute(&|var| {
                let at = [(&node.row, row), (&node.column, column)];
                let at = at.into_iter().find(|(of, _)| *of == var);
                at.map(|(_, value)| Expr::i64(value))
            });
            self.facts.analyzer.simplify(&index)
        };
        tile.indices.iter().map(place).collect()
    }
}

/// Refuses what loads or stores single elements of fragments.
pub(super) fn whole_tiles_only(nest: &Nest) -> Result<(), LowerError> {
    let mut found: Option<Buffer> = None;
    let mut note = |buffer: &Buffer| {
        if buffer.scope().fragment().is_some() {
            found.get_or_insert_with(|| buffer.clone());
        }
    };
    walk_nodes(&nest.body, &mut |node| {
        if let Node::Store { buffer, .. } = node {
            note(buffer);
        }
        for e in node.exprs() {
            e.walk(&mut |e| {
                if let ExprKind::Load(buffer, _) = e.kind() {
                    note(buffer);
                }
                true
            });
        }
    });
    match found {
        Some(buffer) => Err(refused(&buffer, "is used element by element")),
        None => Ok(()),
    }
}
