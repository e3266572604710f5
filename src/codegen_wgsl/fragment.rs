//! Fragments: variables of the types `coop_mat8x8` and `coop_mat16x16`, and operations on them.
//!
//! The extension declares `A`, `B` and `C`, so that no other name of such a shader is one of them. Its workgroups have one dimension,
//! in which drivers promise whole subgroups: the place of a thread is that of its subgroup, and its own in the subgroup.

use super::WgslError;
use super::emit::Emitter;
use super::form::ArrayForm;
use crate::kernel::{ArrayTile, Fragment, FragmentOp, Role, Ty};

impl Emitter<'_> {
    /// The type of a fragment.
    fn fragment_type(&self, fragment: &Fragment) -> Result<String, WgslError> {
        let role = match fragment.role {
            Role::A => "A",
            Role::B => "B",
            Role::C => "C",
        };
        let element = self.ty(Ty::scalar(fragment.dtype))?;
        let extent = fragment.extent;
        Ok(format!("coop_mat{extent}x{extent}<{element}, {role}>"))
    }

    /// Variables for all fragments.
    pub(super) fn fragments(&mut self) -> Result<(), WgslError> {
        for (id, fragment) in self.kernel.fragments.iter() {
            let ty = self.fragment_type(fragment)?;
            self.line(&format!("var {}: {ty};", self.fragment_names[id]));
        }
        Ok(())
    }

    pub(super) fn fragment(&mut self, op: &FragmentOp) -> Result<(), WgslError> {
        let kernel = self.kernel;
        let line = match op {
            FragmentOp::Clear(id) => {
                let ty = self.fragment_type(&kernel.fragments[*id])?;
                format!("{} = {ty}();", self.fragment_names[*id])
            }
            FragmentOp::Load(id, tile) => {
                let ty = self.fragment_type(&kernel.fragments[*id])?;
                let (first, stride) = self.tile(tile)?;
                let name = &self.fragment_names[*id];
                format!("{name} = coopLoadT<{ty}>({first}, {stride}u);")
            }
            FragmentOp::MultiplyAdd { sum, a, b } => {
                let [sum, a, b] = [sum, a, b].map(|id| &self.fragment_names[*id]);
                format!("{sum} = coopMultiplyAdd({a}, {b}, {sum});")
            }
            FragmentOp::Store(id, tile) => {
                let (first, stride) = self.tile(tile)?;
                format!(
                    "coopStoreT({}, {first}, {stride}u);",
                    self.fragment_names[*id]
                )
            }
        };
        self.line(&line);
        Ok(())
    }

    /// Where a tile begins, and how far apart its rows are, counted in what the array is declared of.
    fn tile(&mut self, tile: &ArrayTile) -> Result<(String, u32), WgslError> {
        let width = match self.forms[tile.array] {
            ArrayForm::Elements(width) => width,
            ArrayForm::Variables { .. } | ArrayForm::Words(_) => 1,
        };
        let first = self.group_index(&tile.index, width)?;
        let name = &self.arrays[tile.array];
        Ok((format!("&{name}[{first}]"), tile.stride / u32::from(width)))
    }
}
