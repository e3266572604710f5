//! Chosen identities. (Properties of generated expressions are in `tests/it/properties`.)

use crate::arith::{Analyzer, IntBound};
use crate::ir::{Buffer, Expr, Range, Var};
use crate::tensor::DType;

fn var(name: &str) -> Var {
    Var::new(name, DType::I32)
}

struct Names {
    facts: Analyzer,
    i: Expr,
    j: Expr,
    n: Expr,
    x: Expr,
}

/// `0 <= i < 8`, `0 <= j < 4`, `n >= 0`, `x` unknown.
fn names() -> Names {
    let (i, j, n, x) = (var("i"), var("j"), var("n"), var("x"));
    let mut facts = Analyzer::new();
    facts.bind(&i, &Range::to(Expr::i32(8)));
    facts.bind(&j, &Range::to(Expr::i32(4)));
    facts.bind_shape_var(&n);
    Names {
        facts,
        i: i.expr(),
        j: j.expr(),
        n: n.expr(),
        x: x.expr(),
    }
}

#[track_caller]
fn same(facts: &Analyzer, e: Expr, expected: &Expr) {
    let got = facts.simplify(&e);
    let want = facts.simplify(expected);
    assert_eq!(got, want, "from {e:?}");
    assert!(
        facts.simplify(&got).same_as(&got),
        "{got:?} is simplified once more"
    );
}

#[test]
fn sums_merge_like_terms() {
    let Names { facts, i, j, x, .. } = names();
    same(&facts, &i + &j - &i, &j);
    same(&facts, (&i + 1) * 4 - &i * 4, &Expr::i32(4));
    same(&facts, &x + &i, &(&i + &x));
    same(&facts, (&i + &j) * &x, &(&x * &j + &i * &x));
}

#[test]
fn like_terms_of_both_integer_types_meet() {
    let Names { facts, i, j, .. } = names();
    let wide = |e: &Expr| e.cast(DType::I64);
    same(&facts, wide(&(&i * 4 + &j)) - wide(&i) * 4, &wide(&j));
    same(&facts, wide(&(&i * 4 + &j)).floor_div(4), &wide(&i));
    same(
        &facts,
        wide(&i.floor_div(2)) - wide(&i).floor_div(2),
        &Expr::i64(0),
    );
    // The arithmetic of data wraps in its type.
    let data = Buffer::new("A", vec![Expr::i32(8)], DType::I32);
    let sum = wide(&(Expr::load(&data, vec![i]) + 1));
    assert_eq!(facts.simplify(&sum), sum);
}

#[test]
fn quotients_and_remainders_of_splits_vanish() {
    let Names { facts, i, j, x, .. } = names();
    same(&facts, (&i * 4 + &j).floor_div(4), &i);
    same(&facts, (&i * 4 + &j).floor_mod(4), &j);
    same(&facts, x.floor_div(4) * 4 + x.floor_mod(4), &x);
    same(&facts, x.floor_div(4).floor_div(3), &x.floor_div(12));
    same(&facts, x.floor_mod(12).floor_mod(4), &x.floor_mod(4));
    same(
        &facts,
        x.floor_div(4).floor_mod(3),
        &x.floor_mod(12).floor_div(4),
    );
    same(
        &facts,
        x.floor_mod(12).floor_div(4) * 4 + x.floor_mod(4),
        &x.floor_mod(12),
    );
    same(
        &facts,
        (&x * 6 + &j).floor_mod(12),
        &(x.floor_mod(2) * 6 + &j),
    );
    same(&facts, (&x + 9).floor_div(4), &((&x + 1).floor_div(4) + 2));
}

#[test]
fn symbolic_extents_divide() {
    let Names { facts, i, n, x, .. } = names();
    let mut facts = facts;
    let k = var("k");
    facts.bind(&k, &Range::to(n.clone()));
    let k = k.expr();
    same(&facts, (&i * &n + &k).floor_div(&n), &i);
    same(&facts, (&i * &n + &k).floor_mod(&n), &k);
    same(&facts, x.floor_div(&n) * &n + x.floor_mod(&n), &x);
    // A remainder keeps the part that is smaller than the common factor.
    let lane = var("lane");
    facts.bind(&lane, &Range::to(Expr::i64(16)));
    let element = &x * 16 + &lane.expr();
    let rows = element.floor_div(&n * 64);
    same(&facts, rows, &x.floor_div(&n * 4));
    let rest = element.floor_mod(&n * 64);
    same(&facts, rest, &(x.floor_mod(&n * 4) * 16 + lane.expr()));
    let (of_four, within) = (x.floor_div(&n * 4), x.floor_mod(&n * 4));
    same(
        &facts,
        (&of_four * 4 + within.floor_div(&n)) * &n * &i + x.floor_mod(&n) * &i,
        &(&x * &i),
    );
    let split = &of_four * 4 + within.floor_div(&n);
    same(&facts, split, &x.floor_div(&n));
    // The remainder is (2·x + 1) % 7.
    let tile = &x * 16 + 1;
    same(&facts, tile.floor_div(7) * 7 + tile.floor_mod(7), &tile);
    assert!(facts.can_prove(&((&n + 15).floor_div(16) * 16).ge(&n)));
    assert!(facts.can_prove(&(&n - &k).ge(1)));
    assert!(!facts.can_prove(&(&n - &k).ge(2)));
}

#[test]
fn comparisons_have_one_form() {
    let Names { facts, i, j, x, .. } = names();
    same(&facts, (&x * 4).lt(16), &x.lt(4));
    same(&facts, (&x * 4 + &j).lt(16), &x.lt(4));
    same(&facts, x.floor_div(4).lt(3), &x.lt(12));
    same(&facts, i.lt(8), &Expr::bool(true));
    same(&facts, x.le(22), &x.lt(23));
    same(&facts, x.lt(3).not(), &x.ge(3));
    same(&facts, (&x * 2).equals(3), &Expr::bool(false));
}

#[test]
fn minima_use_bounds_and_cancel() {
    let Names { facts, i, j, x, .. } = names();
    same(&facts, i.min(8), &i);
    same(&facts, (&x + 1).min(&x), &x);
    same(&facts, &x - x.min(&i), &(Expr::i32(0)).max(&x - &i));
    same(&facts, (&x + &i).min(&x + &j), &(&x + i.min(&j)));
}

#[test]
fn assumptions_are_used() {
    let Names { facts, x, n, .. } = names();
    let mut facts = facts;
    facts.assume(&x.ge(3).and(x.lt(10)));
    assert_eq!(facts.bound(&x), IntBound::new(3, 9));
    facts.assume(&n.floor_mod(16).equals(0));
    same(&facts, n.floor_div(16) * 16, &n);
    same(&facts, n.floor_mod(4), &Expr::i32(0));
}

#[test]
fn a_remainder_by_a_negative_number_is_one_by_a_positive() {
    let Names { facts, x, .. } = names();
    let zero = || Expr::i32(0);
    same(
        &facts,
        x.floor_mod(-4),
        &(zero() - (zero() - &x).floor_mod(4)),
    );
}

#[test]
fn a_condition_holds_inside_its_branch() {
    let Names { facts, x, .. } = names();
    let e = Expr::if_then_else(x.lt(4).and(x.ge(0)), x.floor_div(4), x.clone());
    same(
        &facts,
        e,
        &Expr::if_then_else(x.lt(4).and(x.ge(0)), Expr::i32(0), x.clone()),
    );
}

#[test]
fn long_chains_of_choices_and_products_take_no_time() {
    let Names { facts, x, .. } = names();
    let chain = (0..200).fold(x.clone(), |rest, k| {
        Expr::if_then_else(x.lt(1000 - k), &x + k, rest)
    });
    let simple = facts.simplify(&chain);
    assert!(facts.simplify(&simple).same_as(&simple));
    let product = (0..40).fold(x.clone(), |product, k| {
        product * (var("p").expr() + var("q") + k)
    });
    assert!(facts.simplify(&product).dtype() == DType::I32);
}

#[test]
fn digits_to_a_symbolic_base_keep_to_their_numbers() {
    let [v, rows, length] = [var("v"), var("rows"), var("length")];
    let mut facts = Analyzer::new();
    facts.bind_shape_var(&rows);
    facts.bind_shape_var(&length);
    let high = v.expr().floor_div(length.expr());
    assert!(!facts.can_prove(&high.lt(rows.expr())));
    facts.bind_iteration(&v, &Range::to(rows.expr() * length.expr()));
    assert!(facts.can_prove(&high.lt(rows.expr())));
    assert!(facts.can_prove(&high.ge(0)));
    assert!(!facts.can_prove(&high.lt(rows.expr() - 1)));
    assert!(!facts.can_prove(&high.ge(1)));
}

#[test]
fn sums_are_divided_by_sums() {
    let Names { i, n, .. } = names();
    let (m, b) = (var("m"), var("b"));
    let mut facts = names().facts;
    for extent in [&m, &b] {
        facts.bind_shape_var(extent);
    }
    let rows = &n + &m;
    let all = b.expr() * &rows * 4;
    same(&facts, all.floor_div(&rows), &(b.expr() * 4));
    same(&facts, all.floor_mod(&rows), &Expr::i32(0));
    same(
        &facts,
        (&all + &i).floor_mod(&rows * 4),
        &i.floor_mod(&rows * 4),
    );
    same(
        &facts,
        (&all + &i).floor_div(&rows),
        &(b.expr() * 4 + i.floor_div(&rows)),
    );
}

/// The extents of a window that moves by two: `c · ((h + 1) // 2 - 1) · ((w + 1) // 2 - 1)`.
#[test]
fn products_of_sums_are_the_same_in_any_order() {
    let [c, h, w, f] = ["c", "h", "w", "f"].map(|name| Var::new(name, DType::I64));
    let mut facts = Analyzer::new();
    [&c, &h, &w, &f]
        .into_iter()
        .for_each(|v| facts.bind_shape_var(v));
    let half = |v: &Var| (v.expr() + 1).floor_div(2) - 1;
    let (height, width) = (half(&h), half(&w));
    let c = c.expr();
    let orders = [
        &c * (&height * &width),
        &width * &c * &height,
        (&width * &height) * &c,
    ];
    for order in &orders {
        assert_eq!(facts.simplify(order), facts.simplify(&orders[0]));
        let multiplied = &c * half(&h) * (&w.expr() + 1).floor_div(2) - &c * half(&h);
        assert!(facts.can_prove_equal(&(order * 3 - &c), &(multiplied * 3 - &c)));
    }
    for extent in [&c, &height, &width] {
        assert!(!facts.can_prove(&orders[1].ge(1)));
        facts.assume(&extent.ge(1));
    }
    for order in &orders {
        let simple = facts.simplify(order);
        assert!(facts.can_prove(&simple.ge(1)), "{simple:?}");
        let folded = &c * &height * 15 * &width;
        assert!(facts.can_prove(&folded.ge(15)), "{folded:?}");
    }
    let flat = f.expr();
    for width in [width, Expr::i64(9)] {
        let all = facts.simplify(&(&c * &height * &width));
        assert!(facts.can_prove(&all.ge(1)), "{all:?}");
        let inside = flat.floor_div(&all).lt(&c);
        facts.assume(&flat.lt(&(&all * &c)));
        assert!(facts.can_prove(&inside), "{inside:?}");
    }
}

#[test]
fn what_is_computed_in_any_case_keeps_its_bounds() {
    let Names { facts, x, n, .. } = names();
    let a = Buffer::new("A", vec![n.clone()], DType::F32);
    let at = |index: Expr| Expr::load(&a, vec![index]);
    let (zero, none) = (Expr::float(0.0, DType::F32), Expr::i32(0));
    let inside = || x.ge(0);
    let guarded = Expr::if_then_else(inside(), at(x.clone()), zero.clone());
    let kept = [
        (Expr::select(inside(), at(x.max(0)), zero.clone()), "T.max"),
        (Expr::select(x.lt(0), zero.clone(), at(x.max(0))), "T.max"),
        (
            Expr::select(x.ge(1), n.floor_div(x.max(1)), none.clone()),
            "T.max",
        ),
        (
            Expr::select(inside(), guarded, zero.clone()),
            "T.if_then_else",
        ),
    ];
    for (e, bound) in kept {
        let text = format!("{:#}", facts.simplify(&e));
        assert!(text.contains(bound), "{text}, from {e:#}");
    }
    // One side is computed, or nothing can go wrong.
    let implied = [
        (
            Expr::if_then_else(inside(), at(x.max(0)), zero.clone()),
            Expr::if_then_else(inside(), at(x.clone()), zero),
        ),
        (
            Expr::select(inside(), x.max(0), none.clone()),
            Expr::select(inside(), x.clone(), none),
        ),
    ];
    for (e, expected) in implied {
        same(&facts, e, &expected);
    }
}
