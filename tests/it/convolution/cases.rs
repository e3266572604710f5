//! The convolutions that are tested.

/// A call of a convolution.
pub(super) struct Case {
    /// Extents of the image, of which some may be symbolic (`n`, `h`, `w`).
    pub(super) image: &'static str,
    pub(super) weight: &'static str,
    /// The operator, and what is said of its windows.
    pub(super) op: &'static str,
    pub(super) attributes: &'static str,
    /// What follows: `y` is the convolution, `b` a bias of its channels.
    pub(super) epilogue: &'static str,
}

pub(super) const fn case(
    op: &'static str,
    image: &'static str,
    weight: &'static str,
    attributes: &'static str,
) -> Case {
    Case {
        image,
        weight,
        op,
        attributes,
        epilogue: "y",
    }
}

pub(super) const CASES: &[Case] = &[
    // Images of any size, for each class of GPUs.
    case(
        "conv2d",
        "n, 16, h, w",
        "20, 16, 3, 3",
        "padding=[1, 1, 1, 1]",
    ),
    case(
        "conv2d",
        "n, 9, h, w",
        "16, 9, 3, 3",
        "padding=[1, 1, 1, 1], strides=[2, 2]",
    ),
    case("conv2d", "n, 64, h, w", "17, 64, 1, 1", ""),
    case(
        "conv2d",
        "1, 8, 9, 8",
        "16, 8, 3, 3",
        "padding=[1, 1, 1, 1]",
    ),
    // More rows than threads, pieces that do not divide a row, channels that no tile divides.
    case(
        "conv2d",
        "3, 5, 19, 37",
        "13, 5, 3, 3",
        "padding=[1, 1, 1, 1]",
    ),
    case(
        "conv2d",
        "1, 3, 21, 23",
        "7, 3, 7, 7",
        "strides=[2, 2], padding=[3, 3, 3, 3]",
    ),
    case(
        "conv2d",
        "2, 6, 11, 13",
        "9, 6, 3, 2",
        "strides=[2, 1], dilation=[1, 3], padding=[0, 1, 2, 3]",
    ),
    case(
        "conv2d",
        "1, 24, 7, 7",
        "20, 24, 3, 3",
        "padding=[1, 1, 1, 1]",
    ),
    // Without taps: whole vectors of the sum, parts of them, one.
    case("conv2d", "1, 16, 6, 28", "12, 16, 1, 1", ""),
    case("conv2d", "2, 6, 5, 9", "5, 6, 1, 1", "strides=[2, 2]"),
    case("conv2d", "1, 7, 4, 4", "3, 7, 1, 1", ""),
    case("conv2d", "1, 4, 9, 9", "8, 4, 3, 1", "padding=[1, 0, 1, 0]"),
    // Groups of many channels, of few, and of one.
    case(
        "conv2d",
        "2, 8, 9, 10",
        "24, 4, 3, 3",
        "groups=2, padding=[1, 1, 1, 1]",
    ),
    case("conv2d", "1, 12, 5, 5", "12, 3, 3, 3", "groups=4"),
    case(
        "conv2d",
        "1, 6, 11, 9",
        "6, 1, 3, 3",
        "groups=6, padding=[1, 1, 1, 1]",
    ),
    case(
        "conv2d",
        "1, 3, 8, 9",
        "6, 1, 5, 5",
        "groups=3, strides=[2, 2], padding=[2, 2, 2, 2]",
    ),
    case(
        "conv2d",
        "n, 5, 10, 12",
        "8, 5, 3, 3",
        "padding=[1, 1, 1, 1]",
    ),
    case("conv2d", "n, 8, 3, 7", "9, 8, 1, 1", ""),
    case(
        "conv2d",
        "n, 4, 6, 5",
        "4, 1, 3, 3",
        "groups=4, padding=[1, 1, 1, 1]",
    ),
    case("conv1d", "1, 6, 61", "10, 6, 5", "padding=[2, 2]"),
    case("conv1d", "3, 4, 20", "5, 4, 3", "strides=[2], dilation=[2]"),
    case("conv1d", "1, 6, 33", "6, 1, 4", "groups=6"),
    // Windows in planes: rows of whole vectors and of parts of them, a rest, every second element, planes in parts, several channels that read one
    // image.
    case(
        "conv2d",
        "1, 16, 14, 32",
        "16, 1, 3, 3",
        "groups=16, padding=[1, 1, 1, 1]",
    ),
    case(
        "conv2d",
        "n, 16, 21, 45",
        "16, 1, 5, 5",
        "groups=16, strides=[2, 2], padding=[2, 2, 2, 2]",
    ),
    case(
        "conv2d",
        "1, 16, 9, 39",
        "16, 1, 3, 3",
        "groups=16, strides=[1, 3], padding=[0, 1, 2, 3]",
    ),
    case(
        "conv2d",
        "2, 32, 7, 7",
        "32, 1, 3, 3",
        "groups=32, dilation=[2, 2], padding=[2, 2, 2, 2]",
    ),
    case(
        "conv2d",
        "1, 2, 48, 20",
        "2, 1, 3, 3",
        "groups=2, padding=[1, 1, 1, 1]",
    ),
    case(
        "conv2d",
        "1, 32, 8, 24",
        "64, 2, 3, 3",
        "groups=16, strides=[2, 2], padding=[1, 1, 1, 1]",
    ),
    case(
        "conv2d",
        "1, 16, n, 20",
        "16, 1, 3, 3",
        "groups=16, padding=[1, 1, 1, 1]",
    ),
    // Rows in phases: an odd number of columns, taps beside each other and apart, strides of three, padding on one side, phases of whole vectors
    // and of parts of them; groups whose channels share an image, in tiles of several rows and channels.
    case(
        "conv2d",
        "2, 16, 19, 57",
        "16, 1, 3, 3",
        "groups=16, strides=[2, 2], padding=[1, 1, 1, 1]",
    ),
    case(
        "conv2d",
        "n, 16, 18, 40",
        "16, 1, 3, 3",
        "groups=16, strides=[2, 2], padding=[0, 0, 1, 1]",
    ),
    case(
        "conv2d",
        "1, 16, 23, 61",
        "16, 1, 3, 4",
        "groups=16, strides=[1, 3], padding=[1, 2, 0, 1], dilation=[1, 2]",
    ),
    case(
        "conv2d",
        "2, 24, 15, 29",
        "24, 1, 5, 5",
        "groups=24, strides=[2, 2], padding=[2, 2, 2, 2]",
    ),
    case(
        "conv2d",
        "2, 32, 28, 28",
        "32, 8, 3, 3",
        "groups=4, strides=[2, 2], padding=[1, 1, 1, 1]",
    ),
    case(
        "conv2d",
        "n, 32, 17, 35",
        "48, 16, 3, 3",
        "groups=2, strides=[2, 2], padding=[2, 1, 0, 1]",
    ),
    case(
        "conv2d",
        "1, 64, 7, 7",
        "64, 16, 3, 3",
        "groups=4, padding=[1, 1, 1, 1]",
    ),
    case(
        "conv2d",
        "1, 16, 150, 18",
        "16, 1, 3, 3",
        "groups=16, strides=[2, 2], padding=[1, 1, 1, 1]",
    ),
    case(
        "conv1d",
        "2, 16, 301",
        "16, 1, 9",
        "groups=16, strides=[2], padding=[4, 3]",
    ),
    // Groups whose channels fill vectors, one and two of them: more results than channels, lines that no tile divides, images in parts.
    case(
        "conv2d",
        "1, 32, 14, 14",
        "32, 16, 3, 3",
        "groups=2, padding=[1, 1, 1, 1]",
    ),
    case(
        "conv2d",
        "1, 128, 14, 14",
        "128, 32, 3, 3",
        "groups=4, padding=[1, 1, 1, 1], strides=[2, 2]",
    ),
    case(
        "conv2d",
        "1, 64, 9, 11",
        "64, 32, 3, 5",
        "groups=2, padding=[2, 2, 2, 2], dilation=[2, 1]",
    ),
    case(
        "conv2d",
        "n, 32, 9, 13",
        "64, 16, 3, 3",
        "groups=2, padding=[1, 1, 1, 1]",
    ),
    case(
        "conv2d",
        "1, 128, 24, 25",
        "32, 64, 1, 3",
        "groups=2, padding=[0, 1, 0, 1]",
    ),
    case(
        "conv3d",
        "1, 32, 5, 4, 3",
        "32, 16, 3, 3, 3",
        "groups=2, padding=[1, 1, 1, 1, 1, 1]",
    ),
    // A window each for the channels of images of any size, and of images with channels last.
    case(
        "conv2d",
        "n, 5, h, w",
        "5, 1, 3, 3",
        "groups=5, padding=[1, 1, 1, 1], strides=[2, 2]",
    ),
    case("conv2d", "2, 3, 61, 67", "3, 1, 7, 7", "groups=3"),
    case(
        "conv2d",
        "2, 13, 11, 8",
        "8, 1, 3, 3",
        "groups=8, padding=[1, 1, 1, 1], data_layout=\"NHWC\"",
    ),
    case(
        "conv2d",
        "n, 14, 9, 6",
        "6, 1, 3, 5",
        "groups=6, padding=[1, 0, 1, 2], strides=[2, 1], data_layout=\"NHWC\"",
    ),
    // Poolings of what a convolution of one product gives.
    Case {
        epilogue: "R.nn.max_pool2d(y, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])",
        ..case("conv2d", "n, 2, 19, 21", "3, 2, 1, 1", "")
    },
    Case {
        epilogue: "R.nn.max_pool2d(y, pool_size=[2, 2], strides=[2, 2])",
        ..case("conv2d", "2, 2, 34, 36", "3, 2, 1, 1", "")
    },
    Case {
        epilogue: "R.nn.avg_pool2d(y, pool_size=[3, 3], padding=[1, 1, 1, 1])",
        ..case("conv2d", "1, 2, 28, 27", "3, 2, 1, 1", "")
    },
    Case {
        epilogue: "R.nn.max_pool2d(y, pool_size=[3, 2], dilation=[2, 2], layout=\"NHWC\")",
        ..case(
            "conv2d",
            "1, 9, 12, 2",
            "4, 2, 1, 1",
            "data_layout=\"NHWC\"",
        )
    },
    // Few products for each result: channels that share an image, some of them at a time, in vectors along its rows.
    case("conv2d", "3, 1, 12, 14", "16, 1, 3, 3", ""),
    case(
        "conv2d",
        "n, 3, 19, 31",
        "12, 3, 3, 3",
        "strides=[2, 2], padding=[1, 1, 1, 1]",
    ),
    case(
        "conv2d",
        "2, 2, 9, 29",
        "7, 2, 5, 5",
        "padding=[2, 2, 2, 2]",
    ),
    case(
        "conv2d",
        "1, 1, 40, 40",
        "8, 1, 7, 7",
        "strides=[2, 2], padding=[3, 3, 3, 3]",
    ),
    case("conv1d", "3, 2, 50", "6, 2, 3", ""),
    // No window: channels by pixels, with and without a copy of the pixels, a rest of pixels, few images and an open number.
    case("conv2d", "2, 8, 12, 13", "64, 8, 1, 1", ""),
    case("conv2d", "n, 20, 14, 14", "8, 20, 1, 1", ""),
    case("conv2d", "n, 3, 5, 23", "12, 3, 1, 1", ""),
    case("conv1d", "3, 17, 35", "36, 17, 1", ""),
    Case {
        epilogue: "R.clip(R.add(y, b), 0, 6)",
        ..case("conv2d", "n, 20, 12, 12", "16, 20, 1, 1", "")
    },
    Case {
        epilogue: "R.add(R.add(y, b), x)",
        ..case("conv2d", "3, 16, 10, 16", "16, 16, 1, 1", "")
    },
    Case {
        epilogue: "R.nn.relu(R.add(y, b))",
        ..case("conv2d", "4, 1, 14, 28", "16, 1, 3, 3", "")
    },
    Case {
        epilogue: "R.clip(R.add(y, b), 0, 6)",
        ..case(
            "conv2d",
            "n, 2, 11, 16",
            "20, 2, 3, 3",
            "padding=[1, 1, 1, 1]",
        )
    },
    case(
        "conv3d",
        "1, 8, 6, 5, 18",
        "8, 1, 3, 3, 3",
        "groups=8, padding=[1, 1, 1, 1, 1, 1]",
    ),
    case(
        "conv3d",
        "1, 3, 5, 6, 7",
        "4, 3, 2, 3, 3",
        "padding=[0, 1, 1, 1, 1, 1]",
    ),
    case(
        "conv3d",
        "2, 2, 4, 5, 9",
        "3, 2, 1, 1, 1",
        "strides=[1, 2, 1]",
    ),
    case(
        "conv2d_transpose",
        "1, 4, 5, 6",
        "4, 6, 3, 3",
        "strides=[2, 2], padding=[1, 1, 1, 1]",
    ),
    Case {
        epilogue: "R.nn.relu(R.add(y, b))",
        ..case(
            "conv2d",
            "2, 5, 9, 12",
            "8, 5, 3, 3",
            "padding=[1, 1, 1, 1]",
        )
    },
    Case {
        epilogue: "R.nn.relu(R.add(R.add(y, b), x))",
        ..case(
            "conv2d",
            "1, 8, 13, 13",
            "8, 8, 3, 3",
            "padding=[1, 1, 1, 1]",
        )
    },
    Case {
        epilogue: "R.clip(R.add(y, b), 0, 6)",
        ..case(
            "conv2d",
            "n, 8, 5, 5",
            "8, 1, 3, 3",
            "groups=8, padding=[1, 1, 1, 1]",
        )
    },
];
