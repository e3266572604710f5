//! What iteration maps are detected, and how they are simplified.

use super::*;
use crate::tensor::DType;

fn iters(names: &[(&str, i32)]) -> Vec<(Var, Range)> {
    let one =
        |&(name, extent): &(&str, i32)| (Var::new(name, DType::I32), Range::to(Expr::i32(extent)));
    names.iter().map(one).collect()
}

fn detect(
    indices: &[Expr],
    inputs: &[(Var, Range)],
    predicate: &Expr,
    level: IterMapLevel,
) -> Result<IterMap, IterMapError> {
    detect_iter_map(
        &Analyzer::new(),
        indices,
        inputs,
        predicate,
        level,
        UnitIters::Preserve,
    )
}

#[test]
fn a_split_and_its_parts_are_bijective() {
    let inputs = iters(&[("i", 12)]);
    let i = inputs[0].0.expr();
    let all = [i.floor_div(4), i.floor_mod(4)];
    let yes = Expr::bool(true);
    assert!(detect(&all, &inputs, &yes, IterMapLevel::Bijective).is_ok());
    assert!(detect(&all[..1], &inputs, &yes, IterMapLevel::Bijective).is_err());
    assert!(detect(&all[..1], &inputs, &yes, IterMapLevel::Surjective).is_ok());
    let overlap = [i.floor_div(4), i.floor_mod(6)];
    assert!(detect(&overlap, &inputs, &yes, IterMapLevel::Surjective).is_err());
}

#[test]
fn a_fusion_covers_its_parts() {
    let inputs = iters(&[("i", 3), ("j", 4)]);
    let (i, j) = (inputs[0].0.expr(), inputs[1].0.expr());
    let yes = Expr::bool(true);
    let fused = [&i * 4 + &j];
    let map = detect(&fused, &inputs, &yes, IterMapLevel::Bijective).expect("a fusion");
    assert_eq!(map.indices[0].args[0].extent.as_int(), Some(12));
    assert!(detect(&[&i * 5 + &j], &inputs, &yes, IterMapLevel::Bijective).is_err());
    assert!(detect(&[i.clone(), i + 1], &inputs, &yes, IterMapLevel::Surjective).is_err());
}

#[test]
fn a_predicate_shortens_a_fusion() {
    let inputs = iters(&[("i_0", 3), ("i_1", 50)]);
    let value = inputs[0].0.expr() * 50 + &inputs[1].0;
    let map = detect(
        std::slice::from_ref(&value),
        &inputs,
        &value.lt(128),
        IterMapLevel::Bijective,
    );
    let map = map.expect("split of 128 with a predicate");
    assert_eq!(map.indices[0].args[0].extent.as_int(), Some(128));
}

#[test]
fn parts_of_a_fusion_that_meet_again_are_the_fusion() {
    let inputs = iters(&[("i", 3), ("j", 8)]);
    let fused = inputs[0].0.expr() * 8 + &inputs[1].0;
    let again = fused.floor_div(4) * 4 + fused.floor_mod(4);
    let simple = iter_map_simplify(
        &Analyzer::new(),
        &[again],
        &inputs,
        &Expr::bool(true),
        IterMapLevel::Surjective,
        UnitIters::Preserve,
    );
    assert_eq!(simple, [fused]);
}

#[test]
fn symbolic_extents_split_and_fuse() {
    let n = Var::new("n", DType::I32);
    let i = Var::new("i", DType::I32);
    let extent = n.expr() * 16;
    let inputs = [(i.clone(), Range::to(extent))];
    let indices = [i.expr().floor_div(16), i.expr().floor_mod(16)];
    let map = detect(
        &indices,
        &inputs,
        &Expr::bool(true),
        IterMapLevel::Bijective,
    );
    assert!(map.is_ok(), "{map:?}");
}

/// Scales below the divisor, and digits of `t` alone, as simplification writes them.
#[test]
fn simplified_digits_of_a_bounded_fusion_are_its_digits() {
    let yes = Expr::bool(true);
    let inputs = iters(&[("b", 9), ("t", 64)]);
    let (b, t) = (inputs[0].0.expr(), inputs[1].0.expr());
    let value = &b * 64 + &t;
    let low = &b * 4 + &t;
    let digits = [
        value.floor_div(180),
        value.floor_mod(180).floor_div(30),
        low.floor_mod(30).floor_div(5),
        low.floor_mod(5),
    ];
    let bijective = |digits: &[Expr], predicate: &Expr| {
        detect(digits, &inputs, predicate, IterMapLevel::Bijective)
    };
    let map = bijective(&digits, &value.lt(540)).expect("digits of one iterator below 540");
    let extents = map.extents(&Analyzer::new()).expect("known");
    let extents: Vec<_> = extents.iter().map(Expr::as_int).collect();
    assert_eq!(extents, [3, 6, 6, 5].map(Some));
    assert!(bijective(&digits, &yes).is_err());
    let other = [&digits[..3], &[(&b * 3 + &t).floor_mod(5)]].concat();
    assert!(bijective(&other, &value.lt(540)).is_err());
    // 528 = 4 * 33 * 4
    let quarter = &b * 16 + t.floor_div(4);
    let digits = [quarter.floor_div(33), quarter.floor_mod(33), t.floor_mod(4)];
    assert!(bijective(&digits, &value.lt(528)).is_ok());
    assert!(bijective(&digits, &value.lt(540)).is_err());
}

/// A fused loop is as wide as the widest of its loops; indices of `int32` and of `int64` meet in its parts.
#[test]
fn conversions_that_keep_the_value_are_affine() {
    let (k, f) = (Var::new("k", DType::I32), Var::new("f", DType::I64));
    let inputs = [
        (k.clone(), Range::to(Expr::i32(4))),
        (f.clone(), Range::to(Expr::i64(64))),
    ];
    let yes = Expr::bool(true);
    let wide = k.expr().cast(DType::I64);
    let indices = [
        f.expr().floor_div(8),
        (k.expr() * 8).cast(DType::I64) + f.expr().floor_mod(8),
    ];
    let map =
        detect(&indices, &inputs, &yes, IterMapLevel::Bijective).expect("a split and a fusion");
    let extents = map.extents(&Analyzer::new()).expect("known");
    assert_eq!(extents, [Expr::i64(8), Expr::i64(32)]);
    let facts = Analyzer::new();
    let values = map.invert(&facts, &[Expr::i64(3), Expr::i64(29)]);
    let values: Vec<_> = values
        .iter()
        .map(|(var, e)| (var.name(), e.as_int()))
        .collect();
    assert!(
        values.contains(&("k", Some(3))) && values.contains(&("f", Some(29))),
        "{values:?}"
    );
    let narrow = |e: Expr| e.cast(DType::I32);
    let small = [wide, narrow(f.expr())];
    assert!(detect(&small, &inputs, &yes, IterMapLevel::Bijective).is_ok());
    // More values than `int32` has.
    let large = [(f.clone(), Range::to(Expr::i64(1 << 32)))];
    assert!(detect(&[narrow(f.expr())], &large, &yes, IterMapLevel::Surjective).is_err());
    // An index of `int32` beside others is written in its type.
    let inputs = [
        (k.clone(), Range::to(Expr::i32(4))),
        (f, Range::to(Expr::i64(64))),
    ];
    let (level, units) = (IterMapLevel::Surjective, UnitIters::Preserve);
    let again = k.expr().floor_div(2) * 2 + k.expr().floor_mod(2);
    let simple = iter_map_simplify(&facts, &[again], &inputs, &yes, level, units);
    assert_eq!(simple, [k.expr()]);
}
