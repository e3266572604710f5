//! Pieces of expression text with their place in the grammar, which says where parentheses are needed.

use std::fmt;

use crate::tensor::scalar::BinOp;

/// How tightly the parts of a text hold together, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    /// Shifts, bitwise and logical operators, which stand beside no other operator without parentheses.
    Other,
    /// `a < b`
    Comparison,
    /// `a + b`
    Sum,
    /// `a * b`
    Product,
    /// `-a`, `!a`
    Unary,
    /// Calls, accesses, parentheses.
    Primary,
    /// A variable that may be assigned, or a component of one: read twice at no cost, as long as no statement is between.
    Variable,
    /// A literal, or a name whose value never changes.
    Fixed,
}

/// The text of an expression.
#[derive(Clone, Debug)]
pub(super) struct Text {
    s: String,
    level: Level,
}

impl Text {
    pub(super) fn new(s: String, level: Level) -> Self {
        Self { s, level }
    }

    pub(super) fn primary(s: impl Into<String>) -> Self {
        Self::new(s.into(), Level::Primary)
    }

    pub(super) fn fixed(s: impl Into<String>) -> Self {
        Self::new(s.into(), Level::Fixed)
    }

    /// `name(args)`
    pub(super) fn call(name: &str, args: &[impl fmt::Display]) -> Self {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        Self::primary(format!("{name}({})", args.join(", ")))
    }

    /// `a op b`
    pub(super) fn infix(op: BinOp, symbol: &str, a: &Self, b: &Self) -> Self {
        let level = level(op);
        let (a, b) = (a.side(level, Side::Left), b.side(level, Side::Right));
        Self::new(format!("{a} {symbol} {b}"), level)
    }

    /// The text where any operator or a `.` may stand beside it.
    pub(super) fn operand(&self) -> String {
        if self.level < Level::Primary {
            format!("({})", self.s)
        } else {
            self.s.clone()
        }
    }

    /// The same as an expression.
    pub(super) fn closed(&self) -> Self {
        Self::new(self.operand(), self.level.max(Level::Primary))
    }

    /// Component `lane` of a vector.
    pub(super) fn lane(&self, lane: u64) -> Self {
        Self::new(
            format!("{}.{}", self.operand(), lane_name(lane)),
            self.level.max(Level::Primary),
        )
    }

    /// Whether it may be written twice: nothing is computed again.
    pub(super) fn is_free(&self) -> bool {
        self.level >= Level::Variable
    }

    /// Whether its value is the same wherever it is written.
    pub(super) fn is_fixed(&self) -> bool {
        self.level == Level::Fixed
    }

    /// The text beside an operator of this level.
    fn side(&self, outer: Level, side: Side) -> String {
        let infix =
            (Level::Comparison..=Level::Product).contains(&self.level) && outer > Level::Other;
        let holds = infix
            && (self.level > outer
                || self.level == outer && side == Side::Left && outer >= Level::Sum);
        if holds {
            self.s.clone()
        } else {
            self.operand()
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.s)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

/// The level of what an infix operator makes.
fn level(op: BinOp) -> Level {
    match op {
        BinOp::Mul | BinOp::Div | BinOp::Mod => Level::Product,
        BinOp::Add | BinOp::Sub => Level::Sum,
        _ if op.is_comparison() => Level::Comparison,
        _ => Level::Other,
    }
}

/// The name of a component of a vector.
pub(super) fn lane_name(lane: u64) -> char {
    ['x', 'y', 'z', 'w'][(lane % 4) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_stand_where_the_grammar_needs_them() {
        let [a, b] = ["a", "b"].map(Text::fixed);
        let minus = Text::new("-1".into(), Level::Unary);
        let sum = Text::infix(BinOp::Add, "+", &a, &b);
        let product = Text::infix(BinOp::Mul, "*", &sum, &b);
        assert_eq!(product.to_string(), "(a + b) * b");
        assert_eq!(
            Text::infix(BinOp::Sub, "-", &sum, &sum).to_string(),
            "a + b - (a + b)"
        );
        assert_eq!(
            Text::infix(BinOp::Add, "+", &product, &minus).to_string(),
            "(a + b) * b + (-1)"
        );
        let shift = Text::infix(BinOp::Shl, "<<", &sum, &a);
        assert_eq!(shift.to_string(), "(a + b) << a");
        assert_eq!(
            Text::infix(BinOp::Lt, "<", &shift, &product).to_string(),
            "((a + b) << a) < (a + b) * b"
        );
        assert_eq!(sum.lane(1).to_string(), "(a + b).y");
    }
}
