//! Calls whose attributes or operands make no sense are refused when the text is read.

use weftile::script;

fn refusal(params: &str, call: &str) -> String {
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main({params}):\n        gv = {call}\n        return gv\n"
    );
    match script::parse("refused.py", &text) {
        Ok(_) => panic!("{call} is taken"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn attributes_that_do_not_fit() {
    let image = "x: R.Tensor((1, 4, 5, 6), \"float32\"), w: R.Tensor((6, 2, 3, 3), \"float32\"), \
                 v: R.Tensor((4,), \"float32\")";
    let image = &format!("{image}, y: R.Tensor((1, 1, 5, 6, 4), \"float32\")");
    for (call, message) in [
        (
            "R.nn.conv2d(y, w, groups=2, data_layout=\"NCHW4h\")",
            "bad attribute data_layout: it must be a layout with each of its letters once, and blocks of channels, got \"NCHW4h\"",
        ),
        (
            "R.nn.conv2d(y, w, groups=2, data_layout=\"NCHW8c\", out_layout=\"NCHW\")",
            "a block and its size must be equal, got 4 and 8",
        ),
        (
            "R.nn.conv2d(y, w, groups=2, data_layout=\"NCHW4c\")",
            "a blocked extent and its blocks must be equal, got 6 and 4",
        ),
        (
            "R.nn.conv2d(x, w, groups=4)",
            "input channels of data, and those of the kernel times the groups must be equal, got 4 and 8",
        ),
        (
            "R.nn.conv2d(x, w, groups=2, strides=0)",
            "bad attribute strides: it must be one integer of at least 1, or one for each spatial dimension, got [0, 0]",
        ),
        (
            "R.nn.conv2d(x, w, groups=2, padding=[1, 2, 3])",
            "bad attribute padding",
        ),
        (
            "R.nn.conv2d(x, w, groups=2, dilation=3)",
            "room for one window",
        ),
        (
            "R.nn.max_pool2d(x, pool_size=[2, 2, 2])",
            "bad attribute pool_size",
        ),
        (
            "R.nn.max_pool2d(x, pool_size=[6, 6])",
            "a tensor with room for one window",
        ),
        (
            "R.nn.lp_pool2d(x, p=0)",
            "bad attribute p: it must be an integer of at least 1, got 0",
        ),
        (
            "R.nn.adaptive_avg_pool2d(x, output_size=0)",
            "bad attribute output_size",
        ),
        (
            "R.nn.layer_norm(x, v, v, axes=[3])",
            "extents of the data and of what scales it",
        ),
        (
            "R.nn.group_norm(x, v, v, num_groups=3, channel_axis=1, axes=[2, 3])",
            "bad attribute num_groups",
        ),
        ("R.nn.pad(x, pad_width=[1, 1])", "bad attribute pad_width"),
        (
            "R.nn.pad(x, pad_width=[0, 0, 0, 0, -6, 0, 0, 0])",
            "bad attribute pad_width",
        ),
        (
            "R.nn.pad(x, pad_width=[0, 0, 0, 0, 0, 0, 0, 0], pad_mode=\"mirror\")",
            "pad_mode must be one of",
        ),
        (
            "R.nn.pixel_shuffle(x, upscale_factor=3)",
            "bad attribute upscale_factor",
        ),
        (
            "R.nn.prelu(x, v, axis=2)",
            "extents of the data along the axis and of alpha",
        ),
        (
            "R.nn.attention(x, x, x, window_size=2)",
            "bad attribute window_size",
        ),
        (
            "R.image.resize2d(x, R.shape([3]))",
            "an extent for each spatial dimension",
        ),
        (
            "R.image.resize2d(x, R.shape([3, 3]), method=\"lanczos\")",
            "method must be one of",
        ),
        ("R.image.grid_sample(x, w)", "batches of data and grid"),
    ] {
        let error = refusal(image, call);
        assert!(error.contains(message), "{call}: {error}");
    }
    let layer = "x: R.Tensor((4, 2, 3), \"float32\"), w: R.Tensor((1, 5, 3), \"float32\"), \
                 r: R.Tensor((1, 5, 5), \"float32\"), b: R.Tensor((1, 10), \"float32\"), h: R.Tensor((1, 2, 5), \"float32\")";
    for (call, message) in [
        (
            "R.nn.rnn(x, w, r, b, h, direction=\"bidirectional\")",
            "directions and those of weights",
        ),
        (
            "R.nn.rnn(x, w, r, b, h, activations=[\"softmax\"])",
            "bad attribute activations",
        ),
        ("R.nn.rnn(x, w, r, b, h, clip=-1)", "bad attribute clip"),
        (
            "R.nn.gru(x, w, r, b, h)",
            "rows of weights and gates times hidden units",
        ),
    ] {
        let error = refusal(layer, call);
        assert!(error.contains(message), "{call}: {error}");
    }
}
