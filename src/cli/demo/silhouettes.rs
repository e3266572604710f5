//! Garments drawn by code: 28×28 grey images for the demo that needs no data.
//!
//! Each is a few polygons, filled with 4×4 samples per pixel. They look as the photographs of Fashion-MNIST do: light on
//! black, as large as the frame, shoes with the toe to the left.

use crate::cli::fashion::{CLASSES, SIDE};

/// Samples per pixel and direction.
const SAMPLES: usize = 4;

/// A corner, in pixels from the top left.
type Point = (f32, f32);

/// One polygon: its brightness, whether its mirror image belongs to it, and its corners. A symmetric one starts and ends on
/// the middle line and gives its left half.
struct Shape {
    grey: u8,
    symmetric: bool,
    corners: &'static [Point],
}

const fn whole(grey: u8, corners: &'static [Point]) -> Shape {
    Shape {
        grey,
        symmetric: false,
        corners,
    }
}

const fn halves(grey: u8, corners: &'static [Point]) -> Shape {
    Shape {
        grey,
        symmetric: true,
        corners,
    }
}

/// A drawn garment.
pub(crate) struct Silhouette {
    /// What it is meant to be, as a class of the data set.
    pub(crate) class: usize,
    /// Later shapes cover earlier ones.
    shapes: &'static [Shape],
}

impl Silhouette {
    /// The name of its class.
    pub(crate) fn name(&self) -> &'static str {
        CLASSES[self.class]
    }

    /// Its pixels, row by row, 0 to 255.
    pub(crate) fn pixels(&self) -> Vec<u8> {
        let mut pixels = Vec::with_capacity(SIDE * SIDE);
        for row in 0..SIDE {
            for column in 0..SIDE {
                let sum: u32 = (0..SAMPLES * SAMPLES)
                    .map(|sample| {
                        let at = |cell: usize, step: usize| {
                            cell as f32 + (step as f32 + 0.5) / SAMPLES as f32
                        };
                        let point = (at(column, sample % SAMPLES), at(row, sample / SAMPLES));
                        u32::from(self.grey(point))
                    })
                    .sum();
                let mean = sum / (SAMPLES * SAMPLES) as u32;
                pixels.push(u8::try_from(mean).expect("a mean of bytes is a byte"));
            }
        }
        pixels
    }

    fn grey(&self, point: Point) -> u8 {
        self.shapes
            .iter()
            .rev()
            .find(|shape| shape.covers(point))
            .map_or(0, |shape| shape.grey)
    }
}

impl Shape {
    fn covers(&self, (x, y): Point) -> bool {
        let mirrored = self.symmetric && x > SIDE as f32 / 2.0;
        let x = if mirrored { SIDE as f32 - x } else { x };
        inside(self.corners, (x, y))
    }
}

/// Whether a ray to the right crosses the outline an odd number of times.
fn inside(corners: &[Point], (x, y): Point) -> bool {
    let mut within = false;
    let mut previous = corners[corners.len() - 1];
    for &corner in corners {
        let ((x0, y0), (x1, y1)) = (previous, corner);
        if (y0 > y) != (y1 > y) && x < x0 + (y - y0) / (y1 - y0) * (x1 - x0) {
            within = !within;
        }
        previous = corner;
    }
    within
}

/// The drawings of the demo.
pub(crate) const SILHOUETTES: &[Silhouette] = &[
    Silhouette {
        class: 0,
        shapes: &[halves(
            190,
            &[
                (14.0, 2.5),
                (11.5, 0.5),
                (9.0, 0.5),
                (5.0, 3.0),
                (2.0, 8.5),
                (5.5, 10.5),
                (7.0, 8.5),
                (6.5, 27.5),
                (14.0, 27.5),
            ],
        )],
    },
    Silhouette {
        class: 1,
        shapes: &[halves(
            190,
            &[
                (14.0, 1.0),
                (9.5, 1.0),
                (8.5, 9.0),
                (8.0, 27.5),
                (12.5, 27.5),
                (13.6, 9.0),
                (14.0, 8.0),
            ],
        )],
    },
    Silhouette {
        class: 2,
        shapes: &[halves(
            180,
            &[
                (14.0, 3.0),
                (11.0, 1.5),
                (8.0, 3.0),
                (5.0, 6.0),
                (2.0, 25.0),
                (6.0, 26.0),
                (8.0, 13.0),
                (8.0, 26.0),
                (14.0, 26.0),
            ],
        )],
    },
    Silhouette {
        class: 3,
        shapes: &[halves(
            190,
            &[
                (14.0, 4.0),
                (12.5, 0.5),
                (11.0, 0.5),
                (10.5, 6.0),
                (11.5, 11.0),
                (8.0, 27.5),
                (14.0, 27.5),
            ],
        )],
    },
    Silhouette {
        class: 4,
        shapes: &[
            halves(
                170,
                &[
                    (14.0, 1.0),
                    (11.5, 0.0),
                    (10.0, 1.0),
                    (7.0, 3.0),
                    (5.2, 8.0),
                    (4.0, 23.5),
                    (7.0, 24.0),
                    (7.2, 27.8),
                    (14.0, 27.8),
                ],
            ),
            halves(30, &[(14.0, 1.5), (13.5, 6.0), (13.5, 27.5), (14.0, 27.5)]),
            halves(250, &[(14.0, 1.0), (11.5, 0.0), (12.2, 5.0), (14.0, 9.0)]),
        ],
    },
    Silhouette {
        class: 5,
        shapes: &[
            whole(
                180,
                &[
                    (0.5, 19.5),
                    (9.0, 17.5),
                    (18.0, 14.5),
                    (26.0, 12.0),
                    (27.5, 12.0),
                    (27.5, 20.0),
                    (25.5, 20.0),
                    (25.0, 16.0),
                    (11.0, 20.0),
                    (1.0, 21.0),
                ],
            ),
            whole(180, &[(3.0, 18.5), (6.0, 14.5), (8.0, 14.5), (6.0, 18.5)]),
            whole(
                180,
                &[
                    (17.0, 14.5),
                    (20.5, 7.5),
                    (26.5, 7.5),
                    (27.5, 12.0),
                    (25.5, 12.0),
                    (24.5, 9.0),
                    (21.5, 9.0),
                    (19.0, 14.5),
                ],
            ),
        ],
    },
    Silhouette {
        class: 7,
        shapes: &[whole(
            190,
            &[
                (0.5, 17.5),
                (3.0, 15.0),
                (10.0, 12.0),
                (14.5, 8.5),
                (17.0, 10.0),
                (22.0, 10.0),
                (26.0, 8.5),
                (27.0, 12.0),
                (27.5, 18.0),
                (27.0, 19.5),
                (1.0, 19.5),
            ],
        )],
    },
    Silhouette {
        class: 8,
        shapes: &[
            halves(190, &[(14.0, 3.0), (9.5, 4.0), (8.0, 10.0), (14.0, 10.0)]),
            halves(0, &[(14.0, 5.0), (10.8, 5.8), (9.8, 10.0), (14.0, 10.0)]),
            halves(190, &[(14.0, 9.5), (2.5, 10.0), (1.5, 25.5), (14.0, 25.5)]),
        ],
    },
    Silhouette {
        class: 9,
        shapes: &[whole(
            190,
            &[
                (13.0, 2.0),
                (24.0, 2.0),
                (24.5, 12.0),
                (26.5, 20.0),
                (26.5, 26.0),
                (21.0, 26.0),
                (20.5, 24.0),
                (12.0, 26.0),
                (2.0, 26.0),
                (1.0, 22.5),
                (6.0, 19.0),
                (11.0, 16.0),
                (13.5, 11.0),
            ],
        )],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::fashion::embedded_params;

    /// The network in plain loops.
    fn logits(pixels: &[u8]) -> Vec<f32> {
        let params = embedded_params().expect("checked by its own test");
        let of = |name: &str| params[name].as_slice::<f32>().expect("float32").to_vec();
        let layer = |x: &[f32], w: &[f32], b: &[f32]| -> Vec<f32> {
            let dot = |row: &[f32]| row.iter().zip(x).map(|(w, x)| w * x).sum::<f32>();
            w.chunks_exact(x.len())
                .zip(b)
                .map(|(row, b)| dot(row) + b)
                .collect()
        };
        let x: Vec<f32> = pixels.iter().map(|&p| f32::from(p) / 255.0).collect();
        let mut hidden = layer(&x, &of("w0"), &of("b0"));
        hidden.iter_mut().for_each(|h| *h = h.max(0.0));
        layer(&hidden, &of("w1"), &of("b1"))
    }

    #[test]
    fn the_network_knows_the_drawings() {
        let mut wrong = Vec::new();
        for silhouette in SILHOUETTES {
            let logits = logits(&silhouette.pixels());
            let best = (0..10)
                .max_by(|&a, &b| logits[a].total_cmp(&logits[b]))
                .expect("ten classes");
            if best != silhouette.class {
                wrong.push(format!(
                    "{} taken for {}: {logits:.1?}",
                    silhouette.name(),
                    CLASSES[best]
                ));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
