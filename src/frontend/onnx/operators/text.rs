//! Operators on words, which are numbers here.

use std::collections::BTreeMap;

use serde_json::json;

use super::Operator;
use super::pieces::{floats, part, zeros};
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, in_type, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::{DType, Tensor};

pub(super) const OPERATORS: &[Operator] = &[Operator::new("TfIdfVectorizer", &[9], tf_idf)
    .note("words that are integers; rows of a constant length")];

/// The sequences of words that are counted.
struct Grams {
    /// By length: each sequence, and the column of the result that counts it.
    by_length: BTreeMap<usize, Vec<(Vec<i64>, usize)>>,
    /// The column of each sequence, in the order of the pool.
    places: Vec<usize>,
    /// Columns of the result.
    columns: usize,
}

impl Grams {
    /// The pool: all words of the sequences of one word, then those of two, and so on.
    fn of(c: &Call<'_, '_>) -> Result<Self, Fault> {
        let ints = |name: &str| {
            let ints = c.attributes.ints(name)?;
            ints.ok_or_else(|| Fault::NoAttribute(name.to_owned()))
        };
        let wrong = |name: &str, given: &[i64], expected: &str| Fault::Attribute {
            name: name.to_owned(),
            given: format!("{given:?}"),
            expected: expected.to_owned(),
        };
        let (starts, indexes) = (ints("ngram_counts")?, ints("ngram_indexes")?);
        let pool = ints("pool_int64s")?;
        let column = |&at: &i64| usize::try_from(at).ok().filter(|&at| at < MOST_COLUMNS);
        let columns: Option<Vec<usize>> = indexes.iter().map(column).collect();
        let expected = "different columns, one for each sequence";
        let columns = columns.ok_or_else(|| wrong("ngram_indexes", &indexes, expected))?;
        let mut next = columns.iter();
        let mut by_length: BTreeMap<usize, Vec<(Vec<i64>, usize)>> = BTreeMap::new();
        for (at, &start) in starts.iter().enumerate() {
            let length = at + 1;
            let end = starts.get(length).copied().unwrap_or(pool.len() as i64);
            let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
            let words = range.and_then(|(start, end)| pool.get(start..end));
            let words = words.filter(|words| words.len() % length == 0);
            let expected = "starts of the sequences of each length in pool_int64s";
            let words = words.ok_or_else(|| wrong("ngram_counts", &starts, expected))?;
            for gram in words.chunks(length) {
                let column = next.next().copied();
                let expected = "a column for each sequence";
                let column = column.ok_or_else(|| wrong("ngram_indexes", &indexes, expected))?;
                let grams = by_length.entry(length).or_default();
                // Of a sequence that is there twice, the last one counts.
                grams.retain(|(known, _)| known != gram);
                grams.push((gram.to_vec(), column));
            }
        }
        let mut taken: Vec<usize> = columns.clone();
        taken.sort_unstable();
        if taken.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(wrong("ngram_indexes", &indexes, expected));
        }
        Ok(Self {
            by_length,
            places: columns,
            columns: taken.last().map_or(0, |&last| last + 1),
        })
    }
}

/// Most columns of a result.
const MOST_COLUMNS: usize = 1 << 24;

/// Rows of words.
struct Rows {
    /// `[rows, length]`, in int64.
    x: Var,
    count: Size,
    length: i64,
}

impl Rows {
    /// Where sequences of words start whose words are `distance` apart: how often each sequence is there, in float32.
    fn counted(
        &self,
        c: &mut Call<'_, '_>,
        grams: &[(Vec<i64>, usize)],
        distance: i64,
    ) -> Result<Option<Expr>, Fault> {
        let words = grams.first().map_or(0, |(gram, _)| gram.len()) as i64;
        let starts = self.length - (words - 1).saturating_mul(distance);
        if starts <= 0 {
            return Ok(None);
        }
        let mut hit: Option<Expr> = None;
        for at in 0..words {
            let from = at * distance;
            let now = part(c, &self.x, 1, from, from + starts)?;
            let now = relax::op_with("expand_dims", [&now], attrs(&json!({"axis": [2]})));
            let wanted: Vec<i64> = grams.iter().map(|(gram, _)| gram[at as usize]).collect();
            let wanted = Tensor::from_slice(&[1, 1, wanted.len()], &wanted);
            let wanted = relax::constant(wanted.map_err(relax::BuildError::from)?);
            let same = relax::op("equal", [now, wanted]);
            hit = Some(match hit {
                Some(before) => relax::op("logical_and", [before, same]),
                None => same,
            });
        }
        let over = attrs(&json!({"axis": [1], "keepdims": false}));
        Ok(hit.map(|hit| relax::op_with("sum", [cast(hit, DType::F32)], over)))
    }
}

/// How often sequences of words are in a row, or whether they are, with weights.
fn tf_idf(c: &mut Call<'_, '_>) -> Outputs {
    if c.attributes.has("pool_strings") {
        return Err(Fault::ElementType("string".to_owned()));
    }
    let grams = Grams::of(c)?;
    let int = |name: &str| {
        let value = c.attributes.int(name)?;
        value.ok_or_else(|| Fault::NoAttribute(name.to_owned()))
    };
    let (shortest, longest) = (int("min_gram_length")?, int("max_gram_length")?);
    let skips = int("max_skip_count")?;
    let mode = c.attributes.one_of("mode", "", &["TF", "IDF", "TFIDF"])?;
    let weights = c.attributes.floats("weights")?;
    let dims = c.dims(0)?;
    let rows = match dims.as_slice() {
        [] | [_] => Size::i64(1),
        [rows, _] => rows.clone(),
        _ => return Err(c.bad(0, shown(&dims), "a row of words, or a matrix of them")),
    };
    let length = match dims.len() {
        0 => 1,
        rank => c.dim(0, rank - 1)?,
    };
    let x = c.x(0)?;
    let x = in_type(x, c.dtype(0)?, DType::I64);
    let rows = Rows {
        x: c.reshaped(x, [rows.clone(), Size::i64(length)])?,
        count: rows,
        length,
    };
    let (mut parts, mut places) = (vec![], vec![]);
    for (&words, grams) in &grams.by_length {
        if !(shortest..=longest).contains(&(words as i64)) {
            continue;
        }
        // Words next to each other have no distance to vary.
        let furthest = if words == 1 {
            0
        } else {
            skips.clamp(0, length)
        };
        let mut sum: Option<Expr> = None;
        for distance in 1..=furthest + 1 {
            let Some(count) = rows.counted(c, grams, distance)? else {
                break;
            };
            let count = c.emit(count)?;
            sum = Some(match sum {
                Some(sum) => sum + &count,
                None => (&count).into(),
            });
        }
        if let Some(sum) = sum {
            places.extend(grams.iter().map(|(_, column)| *column));
            parts.push(sum);
        }
    }
    // A column of zeros is for what no sequence is counted in.
    let none = places.len() as i64;
    parts.push(zeros([rows.count.clone(), Size::i64(1)], DType::F32));
    let mut from = vec![none; grams.columns];
    for (at, place) in places.into_iter().enumerate() {
        from[place] = at as i64;
    }
    let from = Tensor::from_slice(&[from.len()], &from).map_err(relax::BuildError::from)?;
    let all = c.op_with("concat", [relax::tuple(parts)], &json!({"axis": 1}))?;
    let mut y = c.op_with(
        "take",
        [(&all).into(), relax::constant(from)],
        &json!({"axis": 1}),
    )?;
    if mode != "TF" {
        let given = weights.unwrap_or_else(|| vec![1.0; grams.places.len()]);
        if given.len() != grams.places.len() {
            return Err(Fault::Attribute {
                name: "weights".to_owned(),
                given: format!("{} numbers", given.len()),
                expected: format!("{} numbers, one for each sequence", grams.places.len()),
            });
        }
        let mut weights = vec![0.0; grams.columns];
        for (&place, weight) in grams.places.iter().zip(given) {
            weights[place] = weight;
        }
        let weights = relax::constant(floats(DType::F32, &[grams.columns], weights)?);
        let factor = match mode {
            "IDF" => cast(
                relax::op("greater", [(&y).into(), zeros([Size::i64(1)], DType::F32)]),
                DType::F32,
            ),
            _ => (&y).into(),
        };
        y = c.emit(factor * weights)?;
    }
    match dims.len() {
        2 => one(y),
        _ => one(c.reshaped(&y, [Size::i64(grams.columns as i64)])?),
    }
}
