//! Constants as TVM writes them into a text: a graph of nodes `{"root_index": 3, "nodes": [{"type": …, "data": …}, …]}`, in which the
//! root maps keys to lists, and a tensor is base64 of DLPack's header and the elements.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::constant::{ConstantError, decode};
use crate::tensor::{DType, ScalarType, Tensor};

/// First bytes of a stored tensor.
const TENSOR_MAGIC: u64 = 0xDD5E_40F0_96B4_A13F;

/// The lists of a graph, by key.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Those of tensors.
    pub(super) tensors: HashMap<String, Vec<Tensor>>,
    /// Those of texts.
    pub(super) texts: HashMap<String, Vec<String>>,
}

/// The lists that have only tensors or only texts; `None` if the JSON is no such graph.
pub(super) fn constants(json: &Map<String, Value>) -> Option<Result<Lists, ConstantError>> {
    let graph = Graph {
        nodes: json.get("nodes")?.as_array()?,
    };
    let root = json.get("root_index")?.as_u64()?;
    Some(graph.lists(root))
}

struct Graph<'j> {
    nodes: &'j [Value],
}

impl<'j> Graph<'j> {
    fn node(&self, index: Option<u64>) -> Result<(&'j str, &'j Value), ConstantError> {
        let at = index.and_then(|at| usize::try_from(at).ok());
        let node = at.and_then(|at| self.nodes.get(at));
        let node = node.ok_or(ConstantError::Fields)?;
        let kind = node["type"].as_str().ok_or(ConstantError::Fields)?;
        Ok((kind, &node["data"]))
    }

    fn lists(&self, root: u64) -> Result<Lists, ConstantError> {
        let (_, map) = self.node(Some(root))?;
        let items = map.as_array().ok_or(ConstantError::Fields)?;
        let mut lists = Lists::default();
        for pair in items.chunks_exact(2) {
            let (_, key) = self.node(pair[0].as_u64())?;
            let key = key.as_str().ok_or(ConstantError::Fields)?;
            let (_, list) = self.node(pair[1].as_u64())?;
            let list = list.as_array().ok_or(ConstantError::Fields)?;
            let tensors = list.iter().map(|entry| self.constant(entry.as_u64()));
            if let Some(tensors) = tensors.collect::<Result<Option<Vec<_>>, _>>()? {
                lists.tensors.insert(key.to_owned(), tensors);
                continue;
            }
            let texts = list.iter().map(|entry| self.text(entry.as_u64()));
            if let Some(texts) = texts.collect::<Option<Vec<_>>>() {
                lists.texts.insert(key.to_owned(), texts);
            }
        }
        Ok(lists)
    }

    /// The text of a node, its own or that of its value.
    fn text(&self, index: Option<u64>) -> Option<String> {
        let (_, data) = self.node(index).ok()?;
        match data {
            Value::String(text) => Some(text.clone()),
            fields => match fields.get("value")? {
                Value::String(text) => Some(text.clone()),
                at => self.node(at.as_u64()).ok()?.1.as_str().map(str::to_owned),
            },
        }
    }

    /// The tensor of a constant; `None` of anything else.
    fn constant(&self, index: Option<u64>) -> Result<Option<Tensor>, ConstantError> {
        let (_, fields) = self.node(index)?;
        let Some(data) = ["data", "value"].iter().find_map(|f| fields.get(f)) else {
            return Ok(None);
        };
        match self.node(data.as_u64()) {
            Ok(("ffi.Tensor" | "runtime.NDArray", Value::String(text))) => {
                let bytes = decode(text).ok_or(ConstantError::Base64)?;
                tensor(&bytes).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// Reads a number in little-endian order.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], ConstantError> {
        let (head, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(ConstantError::Base64)?;
        self.0 = rest;
        Ok(head)
    }

    fn number<const N: usize>(&mut self) -> Result<u64, ConstantError> {
        let mut word = [0; 8];
        word[..N].copy_from_slice(self.take(N)?);
        Ok(u64::from_le_bytes(word))
    }
}

/// A stored tensor: magic, a reserved word, device, rank, type, extents, and the elements with their number of bytes.
fn tensor(bytes: &[u8]) -> Result<Tensor, ConstantError> {
    let mut bytes = Bytes(bytes);
    if bytes.number::<8>()? != TENSOR_MAGIC {
        return Err(ConstantError::Base64);
    }
    bytes.take(16)?;
    let rank = bytes.number::<4>()?;
    let (code, bits, lanes) = (
        bytes.number::<1>()?,
        bytes.number::<1>()?,
        bytes.number::<2>()?,
    );
    let scalar = match (code, bits) {
        (0, 8) => ScalarType::I8,
        (0, 16) => ScalarType::I16,
        (0, 32) => ScalarType::I32,
        (0, 64) => ScalarType::I64,
        (1, 1) | (6, 8) => ScalarType::Bool,
        (1, 8) => ScalarType::U8,
        (1, 16) => ScalarType::U16,
        (1, 32) => ScalarType::U32,
        (1, 64) => ScalarType::U64,
        (2, 16) => ScalarType::F16,
        (2, 32) => ScalarType::F32,
        (2, 64) => ScalarType::F64,
        (4, 16) => ScalarType::BF16,
        _ => return Err(ConstantError::DType(format!("code {code} of {bits} bits"))),
    };
    if lanes != 1 {
        return Err(ConstantError::DType(format!("{scalar}x{lanes}")));
    }
    let mut shape = Vec::new();
    for _ in 0..rank {
        let extent = usize::try_from(bytes.number::<8>()?);
        shape.push(extent.map_err(|_| ConstantError::Fields)?);
    }
    let size = usize::try_from(bytes.number::<8>()?).map_err(|_| ConstantError::Fields)?;
    let mut elements = bytes.take(size)?.to_vec();
    super::constant::swap_to_little_endian(&mut elements, DType::of(scalar));
    Ok(Tensor::from_bytes(DType::of(scalar), &shape, &elements)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_stored_tensor_is_read_and_a_cut_one_refused() {
        // One float32 element, 2.5, as TVM stores it.
        let text = "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQABAAAAAAAAAAQAAAAAAAAAAAAgQA==";
        let graph = |text: &str| {
            let nodes = json!([
                {"type": "ffi.String", "data": "ir.GenericConst"},
                {"type": "ffi.Tensor", "data": text},
                {"type": "ir.GenericConst", "data": {"value": 1}},
                {"type": "ffi.Array", "data": [2]},
                {"type": "ffi.Map", "data": [0, 3]},
            ]);
            let json = json!({"root_index": 4, "nodes": nodes});
            constants(json.as_object().expect("an object")).expect("a graph")
        };
        let lists = graph(text).expect("well formed");
        let expected = Tensor::from_slice(&[1], &[2.5f32]).expect("one element");
        assert_eq!(lists.tensors["ir.GenericConst"], [expected]);
        assert!(matches!(
            graph(&text[..text.len() - 4]),
            Err(ConstantError::Base64)
        ));
    }
}
