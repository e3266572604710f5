//! Elements that are chosen together, as the index and the value of an argmax, run on vectors.
//!
//! `for k { t = select(c(t, x), t, x) }`, with a `t` and an `x` for each element, becomes the same on vectors of neighbouring `k`
//! with accumulators that begin as `t`; then registers are chosen from, then lanes, then the iterations that are left. `c` is an order
//! that tells all but equal elements apart, so the accumulators may begin with an element that is chosen from again.

use super::{Expander, Widths, zero};
use crate::kernel::build::Loop;
use crate::kernel::reduction::Choice;
use crate::kernel::{ArrayId, Expr, ForKind, Stmt, Ty, VarId, VarInfo};
use crate::tensor::ScalarType;

/// Where an element is stored.
type Place = (ArrayId, Expr);

impl Expander<'_> {
    /// The loop on vectors.
    pub(super) fn choice(&mut self, l: &Loop, choice: &Choice, widths: &Widths) -> Vec<Stmt> {
        let &Widths {
            registers,
            lanes,
            wide,
        } = widths;
        let elements = || choice.0.iter();
        let accumulators: Vec<Place> = elements()
            .map(|e| {
                (
                    self.kernel.new_local("chosen", e.dtype, wide.into()),
                    zero(),
                )
            })
            .collect();
        let mut out: Vec<Stmt> = elements()
            .zip(&accumulators)
            .map(|(e, (array, index))| {
                let so_far = Expr::load(e.array, e.index.clone(), 1);
                Stmt::store(*array, index.clone(), Expr::Splat(Box::new(so_far), wide))
            })
            .collect();
        let at = |index: i64, lanes: u16| -> Vec<Expr> {
            let load = |array| Expr::load(array, Expr::Int(index, ScalarType::I64), lanes);
            accumulators.iter().map(|(array, _)| load(*array)).collect()
        };
        let mut of_group = |expander: &mut Self, width: u16, first: &Expr| {
            let shares = elements().map(|e| expander.lanes(l, &e.share, first, width));
            let shares: Vec<Expr> = shares.collect();
            expander.choose(choice, &accumulators, at(0, width), shares, width)
        };
        let of_registers = |expander: &mut Self| {
            let mut out = vec![];
            for register in 1..registers {
                let other = at(register as i64 * i64::from(lanes), lanes);
                out.extend(expander.choose(choice, &accumulators, at(0, lanes), other, lanes));
            }
            out.extend(expander.choose_of_lanes(l, choice, at(0, lanes), lanes));
            out
        };
        out.extend(self.groups(l, widths, &mut of_group, of_registers));
        out
    }

    /// Chooses from the lanes of vectors, one by one.
    fn choose_of_lanes(
        &mut self,
        l: &Loop,
        choice: &Choice,
        vectors: Vec<Expr>,
        lanes: u16,
    ) -> Vec<Stmt> {
        let ty = self.kernel.vars[l.var].ty.scalar;
        let lane = self.kernel.new_var_like(l.var, "_lane");
        let mut out = vec![];
        let mut shares = vec![];
        for (e, vector) in choice.0.iter().zip(vectors) {
            let array = self.kernel.new_local("lanes", e.dtype, lanes.into());
            out.push(Stmt::store(array, zero(), vector));
            shares.push(Expr::load(array, Expr::Var(lane), 1));
        }
        let places = choice.0.iter().map(|e| (e.array, e.index.clone()));
        let places: Vec<Place> = places.collect();
        let load = |(array, index): &Place| Expr::load(*array, index.clone(), 1);
        let so_far = places.iter().map(load).collect();
        let of_lanes = Loop {
            var: lane,
            min: Expr::Int(0, ty),
            extent: Expr::Int(lanes.into(), ty),
            kind: ForKind::Serial,
            body: self.choose(choice, &places, so_far, shares, 1),
        };
        out.push(of_lanes.into());
        out
    }

    /// Stores what is chosen of `left` and `right`, which have so many lanes each.
    fn choose(
        &mut self,
        choice: &Choice,
        places: &[Place],
        left: Vec<Expr>,
        right: Vec<Expr>,
        lanes: u16,
    ) -> Vec<Stmt> {
        let mut out = vec![];
        let [left, right] = [("left", left), ("right", right)].map(|(name, values)| {
            let named = choice.0.iter().zip(values).map(|(e, value)| {
                let var = self.vector(name, e.dtype, lanes);
                out.push(Stmt::Let(var, value));
                Expr::Var(var)
            });
            named.collect::<Vec<Expr>>()
        });
        let mut stores = vec![];
        for (at, (e, (array, index))) in choice.0.iter().zip(places).enumerate() {
            let chosen = choice.remaining(at, lanes, &left, &right);
            let chosen = chosen.expect("operations on vectors choose, as is known of a reduction");
            let named = self.vector("chosen", e.dtype, lanes);
            out.push(Stmt::Let(named, chosen));
            stores.push(Stmt::store(*array, index.clone(), Expr::Var(named)));
        }
        out.extend(stores);
        out
    }

    /// A variable of so many lanes.
    fn vector(&mut self, name: &str, scalar: ScalarType, lanes: u16) -> VarId {
        self.kernel.vars.push(VarInfo {
            name: name.to_owned(),
            ty: Ty { scalar, lanes },
        })
    }
}
