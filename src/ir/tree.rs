//! `LoopTree`: how loops and blocks of one function nest, kept apart from what they are.
//!
//! Invariant: a loop or block is in the body of exactly the place that [`LoopTree::parent`] names, once; one without a parent
//! is the root block or detached. Only the verbs here touch the links.

use super::{BlockId, LoopId, Stmt};
use crate::support::SideTable;

/// A loop or a block: an item of a body, and a place that has a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Place {
    Loop(LoopId),
    Block(BlockId),
}

impl From<LoopId> for Place {
    fn from(id: LoopId) -> Self {
        Self::Loop(id)
    }
}

impl From<BlockId> for Place {
    fn from(id: BlockId) -> Self {
        Self::Block(id)
    }
}

/// `L3` for a loop, `B1` for a block.
impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Loop(id) => write!(f, "{id}"),
            Self::Block(id) => write!(f, "{id}"),
        }
    }
}

impl Place {
    /// The item as a statement.
    pub fn stmt(self) -> Stmt {
        match self {
            Self::Loop(id) => Stmt::Loop(id),
            Self::Block(id) => Stmt::Block(id),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Links {
    parent: Option<Place>,
    body: Vec<Stmt>,
}

/// Parents and bodies of the loops and blocks of one function.
#[derive(Clone, Debug, Default)]
pub struct LoopTree {
    loops: SideTable<LoopId, Links>,
    blocks: SideTable<BlockId, Links>,
}

impl LoopTree {
    fn links(&self, place: Place) -> &Links {
        match place {
            Place::Loop(id) => &self.loops[id],
            Place::Block(id) => &self.blocks[id],
        }
    }

    fn links_mut(&mut self, place: Place) -> &mut Links {
        match place {
            Place::Loop(id) => self.loops.entry(id),
            Place::Block(id) => self.blocks.entry(id),
        }
    }

    /// The place whose body holds the item (looking through `if`, `let` and `while`).
    pub fn parent(&self, item: impl Into<Place>) -> Option<Place> {
        self.links(item.into()).parent
    }

    /// The statements of a place.
    pub fn body(&self, place: impl Into<Place>) -> &[Stmt] {
        &self.links(place.into()).body
    }

    /// The loops and blocks directly in the body of a place, in program order, also those inside `if`, `let` and `while`.
    pub fn children(&self, place: impl Into<Place>) -> Vec<Place> {
        let mut out = Vec::new();
        places_in(self.body(place), &mut out);
        out
    }

    /// Takes all statements out of a place; loops and blocks among them become detached.
    pub fn take_body(&mut self, place: impl Into<Place>) -> Vec<Stmt> {
        let place = place.into();
        for child in self.children(place) {
            self.links_mut(child).parent = None;
        }
        std::mem::take(&mut self.links_mut(place).body)
    }

    /// Gives a place its statements; loops and blocks among them must be detached and become attached.
    pub fn set_body(&mut self, place: impl Into<Place>, body: Vec<Stmt>) {
        let place = place.into();
        self.take_body(place);
        let mut children = Vec::new();
        places_in(&body, &mut children);
        for child in children {
            debug_assert_eq!(
                self.links(child).parent,
                None,
                "{child:?} is attached elsewhere"
            );
            self.links_mut(child).parent = Some(place);
        }
        self.links_mut(place).body = body;
    }

    /// Puts statements where the item was; the item becomes detached.
    pub fn replace(&mut self, item: impl Into<Place>, with: Vec<Stmt>) {
        let item = item.into();
        let parent = self
            .parent(item)
            .expect("only an attached item can be replaced");
        let mut body = self.take_body(parent);
        let mut with = Some(with);
        splice(&mut body, item, &mut with);
        self.set_body(parent, body);
    }

    /// Puts the detached loop `new` where the item was, and the item alone into it.
    pub fn insert_above(&mut self, item: impl Into<Place>, new: LoopId) {
        let item = item.into();
        self.replace(item, vec![Stmt::Loop(new)]);
        self.set_body(new, vec![item.stmt()]);
    }

    /// Takes the item out of its parent.
    pub fn detach(&mut self, item: impl Into<Place>) {
        self.replace(item, vec![]);
    }

    /// Calls `f` on the place and every loop and block below it, parents first, in program order.
    pub fn walk(&self, place: Place, f: &mut dyn FnMut(Place)) {
        f(place);
        for child in self.children(place) {
            self.walk(child, f);
        }
    }

    /// Whether `ancestor` is above `item` or is the item.
    pub fn is_ancestor(&self, ancestor: impl Into<Place>, item: impl Into<Place>) -> bool {
        let ancestor = ancestor.into();
        let mut at = Some(item.into());
        while let Some(place) = at {
            if place == ancestor {
                return true;
            }
            at = self.parent(place);
        }
        false
    }
}

fn places_in(body: &[Stmt], out: &mut Vec<Place>) {
    for stmt in body {
        match stmt {
            Stmt::Loop(id) => out.push(Place::Loop(*id)),
            Stmt::Block(id) => out.push(Place::Block(*id)),
            other => other
                .nested()
                .into_iter()
                .for_each(|inner| places_in(inner, out)),
        }
    }
}

/// Puts `with` where the item is; whether it was found.
fn splice(body: &mut Vec<Stmt>, item: Place, with: &mut Option<Vec<Stmt>>) -> bool {
    let is_item = |stmt: &Stmt| match stmt {
        Stmt::Loop(id) => Place::Loop(*id) == item,
        Stmt::Block(id) => Place::Block(*id) == item,
        _ => false,
    };
    if let Some(at) = body.iter().position(is_item) {
        body.splice(at..=at, with.take().unwrap_or_default());
        return true;
    }
    body.iter_mut().any(|stmt| {
        stmt.nested_mut()
            .into_iter()
            .any(|inner| splice(inner, item, with))
    })
}
