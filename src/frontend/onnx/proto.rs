//! The messages of an ONNX file, declared by hand: only the fields that are read. Numbers and types are those of `onnx.proto`
//! (onnx 1.22); `prost` skips the rest. Bytes are slices of the file, not copies.

use bytes::Bytes;

/// A file.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ModelProto {
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub(super) opset_import: Vec<OperatorSetIdProto>,
    #[prost(message, repeated, tag = "25")]
    pub(super) functions: Vec<FunctionProto>,
}

/// The version of the operators of one domain.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OperatorSetIdProto {
    #[prost(string, optional, tag = "1")]
    pub(super) domain: Option<String>,
    #[prost(int64, optional, tag = "2")]
    pub(super) version: Option<i64>,
}

/// A graph: of the model, or of a branch or loop.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<NodeProto>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(message, repeated, tag = "5")]
    pub(super) initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub(super) input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    pub(super) output: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "15")]
    pub(super) sparse_initializer: Vec<SparseTensorProto>,
}

/// A call of an operator.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) name: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(super) op_type: Option<String>,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<AttributeProto>,
    #[prost(string, optional, tag = "7")]
    pub(super) domain: Option<String>,
    #[prost(string, optional, tag = "8")]
    pub(super) overload: Option<String>,
}

/// A named constant of a node.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct AttributeProto {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(float, optional, tag = "2")]
    pub(super) f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub(super) i: Option<i64>,
    /// A copy: text must not change after it was checked.
    #[prost(bytes = "vec", optional, tag = "4")]
    pub(super) s: Option<Vec<u8>>,
    #[prost(message, optional, boxed, tag = "5")]
    pub(super) t: Option<Box<TensorProto>>,
    #[prost(message, optional, boxed, tag = "6")]
    pub(super) g: Option<Box<GraphProto>>,
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub(super) floats: Vec<f32>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub(super) ints: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "9")]
    pub(super) strings: Vec<Vec<u8>>,
    #[prost(int32, optional, tag = "20")]
    pub(super) kind: Option<i32>,
    #[prost(string, optional, tag = "21")]
    pub(super) ref_attr_name: Option<String>,
    #[prost(message, optional, boxed, tag = "22")]
    pub(super) sparse_tensor: Option<Box<SparseTensorProto>>,
}

/// A name with its type.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ValueInfoProto {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(message, optional, tag = "2")]
    pub(super) kind: Option<TypeProto>,
}

/// Elements, here or in another file.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorProto {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, optional, tag = "2")]
    pub(super) data_type: Option<i32>,
    #[prost(float, repeated, tag = "4")]
    pub(super) float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub(super) int32_data: Vec<i32>,
    #[prost(bytes = "bytes", repeated, tag = "6")]
    pub(super) string_data: Vec<Bytes>,
    #[prost(int64, repeated, tag = "7")]
    pub(super) int64_data: Vec<i64>,
    #[prost(string, optional, tag = "8")]
    pub(super) name: Option<String>,
    #[prost(bytes = "bytes", optional, tag = "9")]
    pub(super) raw_data: Option<Bytes>,
    #[prost(double, repeated, tag = "10")]
    pub(super) double_data: Vec<f64>,
    #[prost(uint64, repeated, tag = "11")]
    pub(super) uint64_data: Vec<u64>,
    #[prost(message, repeated, tag = "13")]
    pub(super) external_data: Vec<StringStringEntryProto>,
    #[prost(int32, optional, tag = "14")]
    pub(super) data_location: Option<i32>,
}

/// `TensorProto.DataLocation.EXTERNAL`.
pub(super) const EXTERNAL: i32 = 1;

/// Elements that are not 0, and where they are.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SparseTensorProto {
    #[prost(message, optional, tag = "1")]
    pub(super) values: Option<TensorProto>,
    #[prost(message, optional, tag = "2")]
    pub(super) indices: Option<TensorProto>,
    #[prost(int64, repeated, packed = "false", tag = "3")]
    pub(super) dims: Vec<i64>,
}

/// A sequence of tensors.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SequenceProto {
    #[prost(message, repeated, tag = "3")]
    pub(super) tensor_values: Vec<TensorProto>,
}

/// An optional value: at most one of its fields is there.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OptionalProto {
    #[prost(message, optional, tag = "3")]
    pub(super) tensor_value: Option<TensorProto>,
    #[prost(message, optional, tag = "5")]
    pub(super) sequence_value: Option<SequenceProto>,
}

/// A key with its value.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StringStringEntryProto {
    #[prost(string, optional, tag = "1")]
    pub(super) key: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) value: Option<String>,
}

/// A type.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TypeProto {
    #[prost(oneof = "type_proto::Value", tags = "1, 4, 5, 8, 9")]
    pub(super) value: Option<type_proto::Value>,
}

/// What types there are.
pub(super) mod type_proto {
    /// A type.
    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(in crate::frontend::onnx) enum Value {
        #[prost(message, tag = "1")]
        Tensor(super::TensorTypeProto),
        #[prost(message, boxed, tag = "4")]
        Sequence(Box<super::ElementTypeProto>),
        #[prost(message, tag = "5")]
        Map(super::OtherTypeProto),
        #[prost(message, tag = "8")]
        Sparse(super::OtherTypeProto),
        #[prost(message, boxed, tag = "9")]
        Optional(Box<super::ElementTypeProto>),
    }
}

/// The type of a tensor.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorTypeProto {
    #[prost(int32, optional, tag = "1")]
    pub(super) elem_type: Option<i32>,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<TensorShapeProto>,
}

/// The type of what a sequence or an optional value holds.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ElementTypeProto {
    #[prost(message, optional, boxed, tag = "1")]
    pub(super) elem_type: Option<Box<TypeProto>>,
}

/// A type of which nothing is read.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtherTypeProto {}

/// The extents of a tensor.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorShapeProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) dim: Vec<DimensionProto>,
}

/// An extent.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct DimensionProto {
    #[prost(oneof = "Dimension", tags = "1, 2")]
    pub(super) value: Option<Dimension>,
}

/// A number, or the name of one.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Dimension {
    #[prost(int64, tag = "1")]
    Value(i64),
    #[prost(string, tag = "2")]
    Param(String),
}

/// An operator that the model defines by a graph.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FunctionProto {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(string, repeated, tag = "4")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "5")]
    pub(super) output: Vec<String>,
    #[prost(string, repeated, tag = "6")]
    pub(super) attribute: Vec<String>,
    #[prost(message, repeated, tag = "7")]
    pub(super) node: Vec<NodeProto>,
    #[prost(message, repeated, tag = "9")]
    pub(super) opset_import: Vec<OperatorSetIdProto>,
    #[prost(string, optional, tag = "10")]
    pub(super) domain: Option<String>,
    #[prost(message, repeated, tag = "11")]
    pub(super) attribute_proto: Vec<AttributeProto>,
    #[prost(string, optional, tag = "13")]
    pub(super) overload: Option<String>,
}
