//! Loaders on real files: the FashionMNIST test set, and the weights of the lecture.

use weftile::frontend::{load_params, load_tensor};
use weftile::tensor::DType;

use crate::data::data_dir;

#[test]
fn real_images_and_labels_load() {
    let Some(data) = data_dir("real_images_and_labels_load") else {
        return;
    };
    let folder = data.join("fashion-mnist");
    let images = load_tensor(&folder.join("t10k-images-idx3-ubyte.gz")).expect("well formed");
    assert_eq!(
        (images.shape(), images.dtype()),
        (&[10_000, 28, 28][..], DType::U8)
    );
    let labels = load_tensor(&folder.join("t10k-labels-idx1-ubyte.gz")).expect("well formed");
    let first = &labels.as_slice::<u8>().expect("bytes")[..10];
    assert_eq!(first, [9, 2, 1, 1, 6, 1, 4, 6, 5, 7]);
}

#[test]
fn the_weights_of_the_lecture_load() {
    let Some(data) = data_dir("the_weights_of_the_lecture_load") else {
        return;
    };
    let shapes = |file: &str| -> Vec<(String, Vec<usize>)> {
        let params = load_params(&data.join("mlc").join(file)).expect("well formed");
        assert!(params.values().all(|tensor| tensor.dtype() == DType::F32));
        params
            .into_iter()
            .map(|(name, tensor)| (name, tensor.shape().to_vec()))
            .collect()
    };
    // Protocol 3, then 4.
    let mut mlp = shapes("fasionmnist_mlp_params.pkl");
    mlp.sort();
    let expected = [
        ("b0", &[128][..]),
        ("b1", &[10]),
        ("w0", &[128, 784]),
        ("w1", &[10, 128]),
    ];
    assert_eq!(
        mlp,
        expected.map(|(name, shape)| (name.to_owned(), shape.to_vec()))
    );
    let cnn = shapes("fasionmnist_mlp_assignment_params.pkl");
    assert_eq!(cnn.len(), 6);
    assert!(cnn.contains(&("conv2d_weight".to_owned(), vec![32, 1, 3, 3])));
}

#[test]
fn errors_name_the_file() {
    let error = load_params("no/such.pkl".as_ref()).expect_err("absent");
    assert_eq!(error.to_string(), "cannot read no/such.pkl");
    let error = load_tensor("weights.bin".as_ref()).expect_err("no such format");
    assert_eq!(
        error.to_string(),
        "cannot tell the format of weights.bin by its name: known are npy, pb, idx, gz"
    );
}
