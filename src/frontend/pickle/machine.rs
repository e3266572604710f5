//! The stack machine of the pickle format (`Lib/pickletools.py` in Python's sources describes it), with data only.

use std::borrow::Cow;
use std::collections::HashMap;

use super::PickleError;

/// The names that a pickle may ask for: what numpy's `ndarray.__reduce__` writes under the protocols 2 to 5.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Global {
    /// `numpy.core.multiarray._reconstruct`: makes an empty array, which the state then fills.
    Reconstruct,
    /// `numpy.ndarray`: the type that the former makes.
    NdArray,
    /// `numpy.dtype`.
    DType,
    /// `numpy.core.numeric._frombuffer`: an array over bytes (protocol 5).
    FromBuffer,
    /// `_codecs.encode`: how protocol 2, which has no bytes, spells them as text in latin-1.
    Encode,
}

impl Global {
    fn named(module: &str, name: &str) -> Option<Self> {
        Some(match (module, name) {
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => {
                Self::Reconstruct
            }
            ("numpy", "ndarray") => Self::NdArray,
            ("numpy", "dtype") => Self::DType,
            ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Self::FromBuffer,
            ("_codecs", "encode") => Self::Encode,
            _ => return None,
        })
    }
}

/// A value: small ones as they are, others by their place among the objects.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float,
    Global(Global),
    Object(usize),
}

/// A value that others refer to.
#[derive(Debug)]
pub(super) enum Object<'a> {
    Text(&'a str),
    Bytes(Cow<'a, [u8]>),
    Tuple(Vec<Value>),
    List(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    /// A numpy element type: the name it was made with, and its state, once set.
    DType {
        name: Value,
        state: Option<Value>,
    },
    /// A numpy array: what its state says, once set.
    Array(Option<ArrayState>),
}

/// What fills an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrayState {
    pub(super) shape: Value,
    pub(super) dtype: Value,
    pub(super) fortran: bool,
    pub(super) data: Value,
}

/// Runs a pickle.
pub(super) struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the current instruction starts.
    start: usize,
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: HashMap<u32, Value>,
    objects: Vec<Object<'a>>,
    /// Bytes made by decoding text.
    made: usize,
}

impl<'a> Machine<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            start: 0,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
            objects: Vec::new(),
            made: 0,
        }
    }

    /// Runs to the end and returns the result.
    pub(super) fn run(&mut self) -> Result<Value, PickleError> {
        loop {
            self.start = self.at;
            let opcode = self.byte()?;
            if opcode == b'.' {
                return self.pop();
            }
            self.step(opcode)?;
        }
    }

    pub(super) fn object(&self, index: usize) -> &Object<'a> {
        &self.objects[index]
    }

    /// The items of a tuple.
    pub(super) fn tuple(&self, value: Value) -> Option<&[Value]> {
        match self.resolve(value)? {
            Object::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// Text, or the bytes that Python 2 wrote for it.
    pub(super) fn text(&self, value: Value) -> Option<String> {
        match self.resolve(value)? {
            Object::Text(text) => Some((*text).to_owned()),
            Object::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok(),
            _ => None,
        }
    }

    pub(super) fn resolve(&self, value: Value) -> Option<&Object<'a>> {
        match value {
            Value::Object(index) => Some(&self.objects[index]),
            _ => None,
        }
    }

    /// What a value is, in a word or two.
    pub(super) fn describe(&self, value: Value) -> String {
        match value {
            Value::None => "None".to_owned(),
            Value::Bool(value) => format!("the bool {value}"),
            Value::Int(value) => format!("the number {value}"),
            Value::Float => "a float".to_owned(),
            Value::Global(global) => format!("the name {global:?}"),
            Value::Object(index) => match &self.objects[index] {
                Object::Text(text) => {
                    format!("the text {:?}", text.chars().take(40).collect::<String>())
                }
                Object::Bytes(bytes) => format!("{} bytes", bytes.len()),
                Object::Tuple(items) => format!("a tuple of {}", items.len()),
                Object::List(items) => format!("a list of {}", items.len()),
                Object::Dict(entries) => format!("a dict of {}", entries.len()),
                Object::DType { .. } => "a numpy dtype".to_owned(),
                Object::Array(Some(_)) => "a numpy array".to_owned(),
                Object::Array(None) => "a numpy array without content".to_owned(),
            },
        }
    }

    fn step(&mut self, opcode: u8) -> Result<(), PickleError> {
        match opcode {
            0x80 => self.protocol()?,
            0x95 => drop(self.take(8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_mark()?),
            b'2' => {
                let top = self.pop()?;
                self.stack.extend([top, top]);
            }
            b'q' | b'r' | 0x94 | b'h' | b'j' => self.memo_step(opcode)?,
            b'N' => self.stack.push(Value::None),
            0x88 | 0x89 => self.stack.push(Value::Bool(opcode == 0x88)),
            b'K' | b'M' | b'J' | 0x8a | 0x8b | b'G' => self.number(opcode)?,
            b'X' | 0x8c | 0x8d => self.push_text(opcode)?,
            b'C' | b'B' | 0x8e | 0x96 | b'T' | b'U' => self.push_bytes(opcode)?,
            b')' => self.push(Object::Tuple(Vec::new())),
            0x85..=0x87 => {
                let items = self.pop_many(usize::from(opcode - 0x84))?;
                self.push(Object::Tuple(items));
            }
            b't' => {
                let items = self.pop_mark()?;
                self.push(Object::Tuple(items));
            }
            b']' => self.push(Object::List(Vec::new())),
            b'}' => self.push(Object::Dict(Vec::new())),
            b'a' | b'e' | b's' | b'u' => self.fill(opcode)?,
            b'c' | 0x93 => self.global(opcode)?,
            b'R' => self.reduce()?,
            b'b' => self.build()?,
            _ => {
                return Err(PickleError::Opcode {
                    opcode,
                    offset: self.start,
                });
            }
        }
        Ok(())
    }

    fn protocol(&mut self) -> Result<(), PickleError> {
        match self.byte()? {
            2..=5 => Ok(()),
            protocol => Err(PickleError::Protocol { protocol }),
        }
    }

    fn memo_step(&mut self, opcode: u8) -> Result<(), PickleError> {
        let index = match opcode {
            b'q' | b'h' => u32::from(self.byte()?),
            b'r' | b'j' => self.u32()?,
            _ => u32::try_from(self.memo.len())
                .expect("the memo has fewer entries than the file has bytes"),
        };
        if matches!(opcode, b'h' | b'j') {
            let value = *self.memo.get(&index).ok_or(PickleError::Memo { index })?;
            self.stack.push(value);
        } else {
            let top = self.pop()?;
            self.stack.push(top);
            self.memo.insert(index, top);
        }
        Ok(())
    }

    fn number(&mut self, opcode: u8) -> Result<(), PickleError> {
        let value = match opcode {
            b'K' => Value::Int(self.byte()?.into()),
            b'M' => {
                let b = self.take(2)?;
                Value::Int(u16::from_le_bytes([b[0], b[1]]).into())
            }
            b'J' => Value::Int(i64::from(self.u32()?.cast_signed())),
            b'G' => {
                self.take(8)?;
                Value::Float
            }
            _ => {
                let len = if opcode == 0x8a {
                    usize::from(self.byte()?)
                } else {
                    self.u32()? as usize
                };
                let bytes = self.take(len)?;
                let negative = bytes.last().is_some_and(|b| b & 0x80 != 0);
                let mut word = if negative { [0xff; 8] } else { [0; 8] };
                if len > 8 {
                    return Err(self.operand("a number of 64 bits", format!("one of {len} bytes")));
                }
                word[..len].copy_from_slice(bytes);
                Value::Int(i64::from_le_bytes(word))
            }
        };
        self.stack.push(value);
        Ok(())
    }

    fn push_text(&mut self, opcode: u8) -> Result<(), PickleError> {
        let len = match opcode {
            0x8c => usize::from(self.byte()?),
            b'X' => self.u32()? as usize,
            _ => self.u64()?,
        };
        let bytes = self.take(len)?;
        let text = std::str::from_utf8(bytes)
            .map_err(|_| self.operand("text in UTF-8", format!("{len} other bytes")))?;
        self.push(Object::Text(text));
        Ok(())
    }

    fn push_bytes(&mut self, opcode: u8) -> Result<(), PickleError> {
        let len = match opcode {
            b'C' | b'U' => usize::from(self.byte()?),
            b'B' | b'T' => self.u32()? as usize,
            _ => self.u64()?,
        };
        let bytes = self.take(len)?;
        self.push(Object::Bytes(bytes.into()));
        Ok(())
    }

    /// Adds to a list or a dict below on the stack.
    fn fill(&mut self, opcode: u8) -> Result<(), PickleError> {
        let items = match opcode {
            b'a' => self.pop_many(1)?,
            b's' => self.pop_many(2)?,
            _ => self.pop_mark()?,
        };
        let below = self.pop()?;
        self.stack.push(below);
        let found = self.describe(below);
        let target = match below {
            Value::Object(index) => Some(&mut self.objects[index]),
            _ => None,
        };
        match (target, opcode) {
            (Some(Object::List(list)), b'a' | b'e') => list.extend(items),
            (Some(Object::Dict(dict)), b's' | b'u') if items.len().is_multiple_of(2) => {
                dict.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1])));
            }
            _ => return Err(self.operand("a list or dict to add to", found)),
        }
        Ok(())
    }

    fn global(&mut self, opcode: u8) -> Result<(), PickleError> {
        let (module, name) = if opcode == b'c' {
            (self.line()?, self.line()?)
        } else {
            let name = self.pop()?;
            let module = self.pop()?;
            match (self.text(module), self.text(name)) {
                (Some(module), Some(name)) => (module, name),
                _ => return Err(self.operand("two names", self.describe(name))),
            }
        };
        let global = Global::named(&module, &name).ok_or(PickleError::Global { module, name })?;
        self.stack.push(Value::Global(global));
        Ok(())
    }

    /// What calling a global would make.
    fn reduce(&mut self) -> Result<(), PickleError> {
        let args = self.pop()?;
        let callee = self.pop()?;
        // No constructor takes more; a longer tuple would only be copied in vain.
        let args = self
            .tuple(args)
            .filter(|args| args.len() <= 4)
            .map(<[Value]>::to_vec);
        let args = args.ok_or_else(|| self.operand("arguments", self.describe(callee)))?;
        let object = match (callee, args.as_slice()) {
            (Value::Global(Global::Reconstruct), [Value::Global(Global::NdArray), ..]) => {
                Object::Array(None)
            }
            (Value::Global(Global::DType), [name, ..]) => Object::DType {
                name: *name,
                state: None,
            },
            (Value::Global(Global::FromBuffer), &[data, dtype, shape, order]) => {
                let fortran = self.text(order).as_deref() == Some("F");
                Object::Array(Some(ArrayState {
                    shape,
                    dtype,
                    fortran,
                    data,
                }))
            }
            (Value::Global(Global::Encode), &[text, coding]) => self.encode(text, coding)?,
            _ => return Err(self.operand("a numpy array or dtype", self.describe(callee))),
        };
        self.push(object);
        Ok(())
    }

    /// The bytes that text stands for in protocol 2.
    fn encode(&mut self, text: Value, coding: Value) -> Result<Object<'a>, PickleError> {
        let (Some(Object::Text(text)), Some("latin1" | "latin-1")) =
            (self.resolve(text), self.text(coding).as_deref())
        else {
            return Err(self.operand("text in latin-1", self.describe(text)));
        };
        let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
        let bytes =
            bytes.ok_or_else(|| self.operand("text in latin-1", "other characters".to_owned()))?;
        self.made += bytes.len();
        if self.made > self.bytes.len() {
            return Err(PickleError::TooLarge {
                limit: self.bytes.len(),
            });
        }
        Ok(Object::Bytes(bytes.into()))
    }

    /// Sets the state of an array or an element type.
    fn build(&mut self) -> Result<(), PickleError> {
        let state = self.pop()?;
        let target = self.pop()?;
        self.stack.push(target);
        let array = match self.tuple(state) {
            Some(&[_, shape, dtype, Value::Bool(fortran), data]) => Some(ArrayState {
                shape,
                dtype,
                fortran,
                data,
            }),
            _ => None,
        };
        let found = self.describe(target);
        let object = match target {
            Value::Object(index) => Some(&mut self.objects[index]),
            _ => None,
        };
        match (object, array) {
            (Some(Object::DType { state: slot, .. }), _) => *slot = Some(state),
            (Some(Object::Array(slot)), Some(array)) => *slot = Some(array),
            _ => return Err(self.operand("an array or dtype with its state", found)),
        }
        Ok(())
    }

    fn push(&mut self, object: Object<'a>) {
        self.stack.push(Value::Object(self.objects.len()));
        self.objects.push(object);
    }

    /// The top of the stack, down to the last mark at most.
    fn pop(&mut self) -> Result<Value, PickleError> {
        let floor = self.marks.last().copied().unwrap_or(0);
        match self.stack.len() > floor {
            true => Ok(self
                .stack
                .pop()
                .expect("the stack is higher than its floor")),
            false => Err(self.operand("a value", "none".to_owned())),
        }
    }

    fn pop_many(&mut self, count: usize) -> Result<Vec<Value>, PickleError> {
        let mut items = (0..count)
            .map(|_| self.pop())
            .collect::<Result<Vec<_>, _>>()?;
        items.reverse();
        Ok(items)
    }

    fn pop_mark(&mut self) -> Result<Vec<Value>, PickleError> {
        match self.marks.pop() {
            Some(mark) => Ok(self.stack.split_off(mark)),
            None => Err(self.operand("a mark", "none".to_owned())),
        }
    }

    fn byte(&mut self) -> Result<u8, PickleError> {
        Ok(self.take(1)?[0])
    }

    fn u32(&mut self) -> Result<u32, PickleError> {
        let b = self.take(4)?;
        Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn u64(&mut self) -> Result<usize, PickleError> {
        let mut word = [0; 8];
        word.copy_from_slice(self.take(8)?);
        // A length beyond the address space is certainly beyond the end.
        Ok(usize::try_from(u64::from_le_bytes(word)).unwrap_or(usize::MAX))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], PickleError> {
        let truncated = PickleError::Truncated {
            offset: self.bytes.len(),
        };
        let end = self.at.checked_add(len);
        let Some(bytes) = end.and_then(|end| self.bytes.get(self.at..end)) else {
            return Err(truncated);
        };
        self.at += len;
        Ok(bytes)
    }

    fn line(&mut self) -> Result<String, PickleError> {
        let rest = &self.bytes[self.at..];
        let len = rest
            .iter()
            .position(|&b| b == b'\n')
            .ok_or(PickleError::Truncated {
                offset: self.bytes.len(),
            })?;
        self.at += len + 1;
        Ok(String::from_utf8_lossy(&rest[..len]).into_owned())
    }

    fn operand(&self, expected: &'static str, found: String) -> PickleError {
        PickleError::Operand {
            offset: self.start,
            expected,
            found,
        }
    }
}
