//! Loads and stores. See [`form`](super::form) for how arrays are declared.

use super::WgslError;
use super::emit::Emitter;
use super::form::{ArrayForm, Words, is_whole};
use super::index::offset;
use super::text::{Level, Text};
use crate::kernel::{ArrayId, Expr, Ty};
use crate::tensor::ScalarType;

/// A global array of narrow elements.
struct Packed {
    id: ArrayId,
    name: String,
    dtype: ScalarType,
    /// Elements in a word.
    count: u16,
    words: Words,
}

impl Packed {
    fn read_word(&self, place: &str) -> Text {
        let name = &self.name;
        Text::primary(match self.words {
            Words::Plain => format!("{name}[{place}]"),
            Words::Atomic => format!("atomicLoad(&{name}[{place}])"),
        })
    }
}

impl Emitter<'_> {
    fn packed(&self, id: ArrayId, words: Words) -> Packed {
        let dtype = self.kernel.arrays[id].dtype;
        Packed {
            id,
            name: self.arrays[id].clone(),
            dtype,
            count: 4 / dtype.bytes() as u16,
            words,
        }
    }

    /// `lanes` neighbouring elements from `index` on.
    pub(super) fn load(
        &mut self,
        array: ArrayId,
        index: &Expr,
        lanes: u16,
    ) -> Result<Text, WgslError> {
        match self.forms[array].clone() {
            ArrayForm::Words(words) => self.load_packed(&self.packed(array, words), index, lanes),
            ArrayForm::Variables { width, names } => {
                let part = |at: u64| variable(&names, width, at);
                match constant(index) {
                    at if lanes == width => Ok(part(at)),
                    at if lanes == 1 && width == 1 => Ok(part(at)),
                    at if lanes == 1 => Ok(part(at).lane(at % u64::from(width))),
                    at => self.pack(array, lanes, |lane| part(at + lane)),
                }
            }
            ArrayForm::Elements(width) => self.load_elements(array, width, index, lanes),
        }
    }

    fn load_elements(
        &mut self,
        array: ArrayId,
        width: u16,
        index: &Expr,
        lanes: u16,
    ) -> Result<Text, WgslError> {
        let name = self.arrays[array].clone();
        if lanes == width {
            let place = self.group_index(index, width)?;
            return Ok(Text::primary(format!("{name}[{place}]")));
        }
        if lanes == 1 {
            let (place, component) = self.element_index(index, width)?;
            return Ok(Text::primary(format!("{name}[{place}]{component}")));
        }
        let mut items = Vec::new();
        if width == 1 && !matches!(index, Expr::Int(..)) {
            // Neighbours that need not start at a multiple of their number: the first index is computed once.
            let first = self.expr(index)?;
            let first = self.bind(first);
            items.push(format!("{name}[{first}]"));
            items.extend((1..lanes).map(|lane| format!("{name}[{first} + {lane}]")));
        } else {
            for lane in 0..i64::from(lanes) {
                let (place, component) = self.element_index(&offset(index, lane), width)?;
                items.push(format!("{name}[{place}]{component}"));
            }
        }
        self.pack(array, lanes, |lane| Text::primary(&*items[lane as usize]))
    }

    /// A vector of elements of an array.
    fn pack(
        &self,
        array: ArrayId,
        lanes: u16,
        item: impl Fn(u64) -> Text,
    ) -> Result<Text, WgslError> {
        let scalar = self.kernel.arrays[array].dtype;
        let ty = self.ty(Ty { scalar, lanes })?;
        let items: Vec<Text> = (0..u64::from(lanes)).map(item).collect();
        Ok(Text::call(&ty, &items))
    }

    /// Elements of which several share a word.
    fn load_packed(&mut self, array: &Packed, index: &Expr, lanes: u16) -> Result<Text, WgslError> {
        let (dtype, count) = (array.dtype, array.count);
        if lanes == 4 && count == 4 && is_whole(self.kernel, array.id, lanes) {
            let place = self.group_index(index, count)?;
            let word = array.read_word(&place);
            return Ok(match dtype {
                ScalarType::I8 => Text::call("unpack4xI8", &[word]),
                ScalarType::Bool => Text::primary(format!("(unpack4xU8({word}) != vec4<u32>())")),
                _ => Text::call("unpack4xU8", &[word]),
            });
        }
        let mut items = Vec::new();
        for lane in 0..i64::from(lanes) {
            let (place, shift) = self.bit_index(&offset(index, lane), count)?;
            let word = array.read_word(&place);
            let bits = format!("{}u", 32 / count);
            items.push(match dtype {
                ScalarType::I8 | ScalarType::I16 => Text::primary(format!(
                    "extractBits(bitcast<i32>({word}), {shift}, {bits})"
                )),
                ScalarType::Bool => {
                    Text::primary(format!("(extractBits({word}, {shift}, {bits}) != 0u)"))
                }
                _ => Text::primary(format!("extractBits({word}, {shift}, {bits})")),
            });
        }
        if lanes == 1 {
            return Ok(items.remove(0));
        }
        self.pack(array.id, lanes, |lane| items[lane as usize].clone())
    }

    /// Writes the lanes of a value to neighbouring elements from `index` on.
    pub(super) fn store(
        &mut self,
        array: ArrayId,
        index: &Expr,
        value: &Expr,
    ) -> Result<(), WgslError> {
        let lanes = self.kernel.ty(value).lanes;
        let text = self.expr(value)?;
        match self.forms[array].clone() {
            ArrayForm::Words(words) => {
                let packed = self.packed(array, words);
                if is_whole(self.kernel, array, lanes) {
                    self.store_words(&packed, index, text, lanes)
                } else {
                    self.store_parts(&packed, index, text, lanes)
                }
            }
            ArrayForm::Variables { width, names } => {
                let part = |at: u64| variable(&names, width, at);
                let at = constant(index);
                if lanes == width {
                    self.line(&format!("{} = {text};", part(at)));
                } else if lanes == 1 {
                    let place = part(at).lane(at % u64::from(width));
                    self.line(&format!("{place} = {text};"));
                } else {
                    let value = self.bind(text);
                    for lane in 0..u64::from(lanes) {
                        self.line(&format!("{} = {};", part(at + lane), value.lane(lane)));
                    }
                }
                Ok(())
            }
            ArrayForm::Elements(width) => self.store_elements(array, width, index, text, lanes),
        }
    }

    fn store_elements(
        &mut self,
        array: ArrayId,
        width: u16,
        index: &Expr,
        text: Text,
        lanes: u16,
    ) -> Result<(), WgslError> {
        let name = self.arrays[array].clone();
        if lanes == width {
            let place = self.group_index(index, width)?;
            self.line(&format!("{name}[{place}] = {text};"));
        } else if lanes == 1 {
            let (place, lane) = self.element_index(index, width)?;
            self.line(&format!("{name}[{place}]{lane} = {text};"));
        } else {
            let value = self.bind(text);
            for lane in 0..u64::from(lanes) {
                let (place, component) = self.element_index(&offset(index, lane as i64), width)?;
                let item = value.lane(lane);
                self.line(&format!("{name}[{place}]{component} = {item};"));
            }
        }
        Ok(())
    }

    /// Whole words, which no other thread writes.
    fn store_words(
        &mut self,
        array: &Packed,
        index: &Expr,
        text: Text,
        lanes: u16,
    ) -> Result<(), WgslError> {
        let (name, count) = (&array.name, array.count);
        let value = if count == 4 { text } else { self.bind(text) };
        for first in (0..lanes).step_by(count.into()) {
            let place = self.group_index(&offset(index, first.into()), count)?;
            let word = match array.dtype {
                ScalarType::I8 => format!("pack4xI8({value})"),
                ScalarType::U8 => format!("pack4xU8({value})"),
                ScalarType::Bool => format!("pack4xU8(vec4<u32>({value}))"),
                _ => {
                    let [low, high] = [0, 1].map(|lane| value.lane(u64::from(first) + lane));
                    format!("(u32({low}) & 0xffffu) | (u32({high}) << 16u)")
                }
            };
            self.line(&match array.words {
                Words::Plain => format!("{name}[{place}] = {word};"),
                Words::Atomic => format!("atomicStore(&{name}[{place}], {word});"),
            });
        }
        Ok(())
    }

    /// Parts of words of which other threads may write the others.
    fn store_parts(
        &mut self,
        array: &Packed,
        index: &Expr,
        text: Text,
        lanes: u16,
    ) -> Result<(), WgslError> {
        let name = &array.name;
        let mask = if array.count == 4 { "0xffu" } else { "0xffffu" };
        let value = self.bind(text);
        for lane in 0..u64::from(lanes) {
            let (place, shift) = self.bit_index(&offset(index, lane as i64), array.count)?;
            let item = if lanes == 1 {
                value.clone()
            } else {
                value.lane(lane)
            };
            let bits = match array.dtype {
                ScalarType::I8 | ScalarType::I16 => format!("(u32({item}) & {mask})"),
                _ => format!("u32({item})"),
            };
            let shift = shift.operand();
            self.line(&format!(
                "atomicAnd(&{name}[{place}], ~({mask} << {shift}));"
            ));
            self.line(&format!("atomicOr(&{name}[{place}], {bits} << {shift});"));
        }
        Ok(())
    }
}

/// The variable that holds the element.
fn variable(names: &[String], width: u16, at: u64) -> Text {
    let name = &names[(at / u64::from(width)) as usize];
    Text::new(name.clone(), Level::Variable)
}

/// The index of an array that is kept as variables.
fn constant(index: &Expr) -> u64 {
    match index {
        Expr::Int(v, _) => *v as u64,
        _ => unreachable!("arrays become variables only if every index is a constant"),
    }
}
