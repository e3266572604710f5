//! What a tile reads: keys and values in panels, and scores with a bias, as far as queries see keys.

use super::sizes::Steps;
use super::writer::{State, Writer, float, load, local};
use crate::ir::{Axis, Buffer, Expr, IterKind, PrimFuncBuilder, Scope, Var};
use crate::te;
use crate::tensor::DType;
use crate::topi::attention::Visible;
use crate::topi::extent::{remainder, scaled, shifted, sum};

const F32: DType = DType::F32;

impl Writer<'_> {
    /// The keys of a tile, `[panels, size, keys of a panel]`, or `[panels, keys of a panel, size]` where steps lie together. Behind the last
    /// key of all that one is repeated.
    pub(super) fn keys_in_panels(&self, b: &mut PrimFuncBuilder, first: &Expr) -> Buffer {
        let of_tile = self.keys_of_tile();
        let (panel, panels, size) = (of_tile.panel, of_tile.panels(), self.size().clone());
        let in_panel = |element: &Expr, column: &Expr| match self.blocks.steps {
            Steps::Apart => [element, column].map(Clone::clone),
            Steps::Together => [column, element].map(Clone::clone),
        };
        let [outer, inner] = in_panel(&size, &Expr::i64(panel));
        let shape = [panels.clone(), outer, inner];
        let keys = b.alloc("keys", shape, self.dtype_of_tile(), Scope::Local);
        let axes = [("p", panels), ("e", size), ("c", Expr::i64(panel))];
        let axes = axes.map(|(name, extent)| Axis::spatial(name, extent));
        b.nest("keys", axes, |b, v| {
            let at: Vec<Expr> = v.iter().map(Var::expr).collect();
            let key = sum(&scaled(&at[0], panel), &at[2]);
            let element = self.of_key(self.key, &sum(first, &key), &at[1]);
            let [outer, inner] = in_panel(&at[1], &at[2]);
            b.store(&keys, [at[0].clone(), outer, inner], element);
        });
        keys
    }

    /// The values of a tile, `[panels, keys, elements of a panel]`, with zeros behind the last element and the last key.
    pub(super) fn values_in_panels(&self, b: &mut PrimFuncBuilder, first: &Expr) -> Buffer {
        let elements = self.elements();
        let panel = elements.panel;
        let shape = [
            elements.panels(),
            Expr::i64(self.blocks.keys),
            Expr::i64(panel),
        ];
        let dtype = self.dtype_of_tile();
        let values = b.alloc("values", shape.clone(), dtype, Scope::Local);
        let axes = ["p", "j", "c"].into_iter().zip(shape);
        let axes = axes.map(|(name, extent)| Axis::spatial(name, extent));
        b.nest("values", axes, |b, v| {
            let at: Vec<Expr> = v.iter().map(Var::expr).collect();
            let element = sum(&scaled(&at[0], panel), &at[2]);
            let key = sum(first, &at[1]);
            let value = self.of_key(self.value, &key, &element);
            let value = elements.or_zero(&element, value);
            // Their weight is 0, and 0 times an infinity would be NaN.
            let value = match self.keys_are_whole() {
                true => value,
                false => te::if_then_else(key.lt(self.keys()), value, Expr::float(0.0, dtype)),
            };
            b.store(&values, &at, value);
        });
        values
    }

    /// An element of a key or of its value.
    fn of_key(&self, of: &Buffer, key: &Expr, element: &Expr) -> Expr {
        let key = match self.keys_are_whole() {
            true => key.clone(),
            false => key.min(shifted(self.keys(), -1)),
        };
        let element = load(of, [&self.batch, &key, &self.shared_head(), element]);
        element.cast(self.dtype_of_tile())
    }

    /// The type of keys and values of a tile. Where few rows read them, they are widened there: shared memory holds twice as many.
    fn dtype_of_tile(&self) -> DType {
        match self.blocks.steps {
            Steps::Apart => F32,
            Steps::Together => self.key.dtype(),
        }
    }

    /// Whether tiles hold nothing but keys.
    fn keys_are_whole(&self) -> bool {
        remainder(self.keys(), &Expr::i64(self.blocks.keys)).is_zero()
    }

    /// Whether each query sees all keys of each tile.
    pub(super) fn sees_whole_tiles(&self) -> bool {
        self.of.visible == Visible::All && self.keys_are_whole()
    }

    /// Whether a query whose own key is at one place sees the key at another place in a tile.
    fn sees(&self, place: &Expr, first: &Expr, own: Option<Expr>) -> Expr {
        let exists = (!self.keys_are_whole()).then(|| place.lt((self.keys() - first).cast(F32)));
        let earlier = own.as_ref().map(|own| place.le(own));
        let in_window = own.zip(self.of.window);
        let in_window = in_window.map(|(own, window)| own.lt(place + float(window as f64)));
        te::all([exists, earlier, in_window].into_iter().flatten())
    }

    pub(super) fn places(&self, b: &mut PrimFuncBuilder) -> Buffer {
        let places = local(b, "places", [Expr::i64(self.blocks.keys)]);
        let axis = Axis::spatial("j", self.blocks.keys);
        b.nest("places", [axis], |b, j| {
            b.store(&places, [&j[0]], j[0].expr().cast(F32));
        });
        places
    }

    /// The products of queries and keys with a bias, and minus infinity for keys that a query does not see.
    ///
    /// A thread compares places in memory, as numbers: indices would be compared lane by lane.
    pub(super) fn scores(
        &self,
        b: &mut PrimFuncBuilder,
        products: &Buffer,
        first: &Expr,
        state: &State,
    ) -> Buffer {
        let own = self.before().filter(|_| self.is_of_thread()).map(|before| {
            let own = local(b, "own", [self.seq().clone()]);
            self.rows(b, "own", [], |b, at| {
                let place = sum(&at[0], &before) - first;
                b.store(&own, at, place.cast(F32));
            });
            own
        });
        let scores = self.of_tile(b, "scores");
        let of_tile = self.keys_of_tile();
        let axes = of_tile.axes("j", IterKind::Spatial);
        self.rows(b, "scores", axes, |b, at| {
            let place = self.in_tile(at[0].clone(), at[1..].to_vec());
            let mut score = load(products, &place);
            let key = sum(first, &of_tile.number(&at[1..]));
            if let Some(bias) = self.bias {
                score = score + self.of_bias(bias, &at[0], &key);
            }
            let seen = match &state.places {
                Some(places) => {
                    let place = load(places, &at[1..]);
                    let own = own.as_ref().map(|own| load(own, &at[..1]));
                    Some(self.sees(&place, first, own))
                }
                None => self.sees_key(&self.query_at(&at[0]), &key),
            };
            if let Some(seen) = seen {
                score = Expr::select(seen, score, te::lowest(F32));
            }
            // Guards the bias, too.
            if !self.is_of_thread() && !self.keys_are_whole() {
                score = te::if_then_else(key.lt(self.keys()), score, te::lowest(F32));
            }
            b.store(&scores, place, score);
        });
        scores
    }

    /// The bias of a row and a key, and nothing behind the last key.
    fn of_bias(&self, bias: &Buffer, row: &Expr, key: &Expr) -> Expr {
        let number = self.known_number_of(row);
        let at = [
            &self.batch,
            &self.head_of(&number),
            &self.query_of(&number),
            key,
        ];
        let element = broadcast(bias, at).cast(F32);
        match self.keys_are_whole() || !self.is_of_thread() {
            true => element,
            false => te::if_then_else(key.lt(self.keys()), element, float(0.0)),
        }
    }

    /// Whether a query sees a key that exists, by their positions; nothing if it sees all.
    fn sees_key(&self, query: &Expr, key: &Expr) -> Option<Expr> {
        self.of.is_visible(query, key, &self.before()?)
    }
}

/// The element of a bias that is broadcast to these indices.
fn broadcast(bias: &Buffer, at: [&Expr; 4]) -> Expr {
    let at = at[4 - bias.ndim()..].iter().zip(bias.shape());
    let at = at.map(|(at, extent)| match extent.is_one() {
        true => Expr::i64(0),
        false => (*at).clone(),
    });
    Expr::load(bias, at.collect())
}
