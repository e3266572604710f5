//! What the demo knows of Fashion-MNIST: its classes, the module of the network, the weights in this program.

use indexmap::IndexMap;

use crate::frontend::{SafetensorsError, parse_safetensors};
use crate::tensor::Tensor;

/// Pixels along each side of an image.
pub(crate) const SIDE: usize = 28;

/// Names of the classes.
pub(crate) const CLASSES: [&str; 10] = [
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
];

/// The network as TVMScript: two linear layers with a relu between, for any number of images.
pub(crate) const MODULE: &str = include_str!("../../examples/fashion_mnist/mlp.py");

/// Weights made by `examples/fashion_mnist/train.py`.
const WEIGHTS: &[u8] = include_bytes!("../../examples/fashion_mnist/weights.safetensors");

/// The weights in this program: `w0`, `b0`, `w1`, `b1`.
pub(crate) fn embedded_params() -> Result<IndexMap<String, Tensor>, SafetensorsError> {
    parse_safetensors(WEIGHTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_have_the_shapes_of_the_network() {
        let params = embedded_params().expect("well formed");
        let shape = |name: &str| params[name].shape().to_vec();
        assert_eq!(shape("w0"), [128, SIDE * SIDE]);
        assert_eq!(shape("b0"), [128]);
        assert_eq!(shape("w1"), [CLASSES.len(), 128]);
        assert_eq!(shape("b1"), [CLASSES.len()]);
    }
}
