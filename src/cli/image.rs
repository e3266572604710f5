//! A picture as the input of a network: PNG to a tensor in the layout that the parameter has.

use std::io::Cursor;

use png::{ColorType, Decoder, Limits, Transformations};

use crate::kernel::HostExpr;
use crate::tensor::{DType, ScalarType, Tensor, TensorError};

/// Most bytes that a picture may decode to.
const MOST_BYTES: usize = 1 << 28;

/// Why a picture is no input of a parameter.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImageFault {
    /// It cannot be decoded.
    #[error("it is no PNG that can be read")]
    Decode(#[from] png::DecodingError),
    /// It is too large.
    #[error("it has more than {MOST_BYTES} bytes of pixels")]
    TooLarge,
    /// The parameter holds no picture.
    #[error(
        "the parameter is no picture: its shape must be [height, width], [channels, height, width] or [height, width, \
         channels] with 1, 3 or 4 channels, perhaps after a batch of 1"
    )]
    Shape,
    /// The size is another.
    #[error("it is {width} wide and {height} high, the parameter takes {expected}")]
    Size {
        /// Of the picture.
        width: usize,
        /// Of the picture.
        height: usize,
        /// What the parameter takes.
        expected: String,
    },
    /// The element type is no number of a colour.
    #[error("elements of type {0} are no colours; float32, float16 and uint8 are")]
    DType(DType),
    /// The tensor cannot be made.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

/// Where channels stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layout {
    Plane,
    ChannelsFirst,
    ChannelsLast,
}

/// The pixels in the layout of a parameter: floats from 0 to 1, bytes from 0 to 255, nothing subtracted. Grey is the mean of the
/// colours with the weights of ITU-R BT.601; colours of grey are that grey.
pub(crate) fn tensor(
    bytes: &[u8],
    dtype: DType,
    shape: Option<&[HostExpr]>,
) -> Result<Tensor, ImageFault> {
    let dims = shape.ok_or(ImageFault::Shape)?;
    let dims: Vec<Option<i64>> = dims.iter().map(HostExpr::as_const).collect();
    let (batch, layout, channels) = layout(&dims).ok_or(ImageFault::Shape)?;
    let picture = Picture::decode(bytes)?;
    let space = match layout {
        Layout::ChannelsFirst => [dims[batch + 1], dims[batch + 2]],
        Layout::Plane | Layout::ChannelsLast => [dims[batch], dims[batch + 1]],
    };
    let own = [picture.height as i64, picture.width as i64];
    if space
        .iter()
        .zip(own)
        .any(|(dim, own)| dim.is_some_and(|dim| dim != own))
    {
        let [height, width] = space.map(|dim| dim.map_or("any".to_owned(), |dim| dim.to_string()));
        return Err(ImageFault::Size {
            width: picture.width,
            height: picture.height,
            expected: format!("a width of {width} and a height of {height}"),
        });
    }
    let (height, width) = (picture.height, picture.width);
    let mut extents = vec![1; batch];
    match layout {
        Layout::Plane => extents.extend([height, width]),
        Layout::ChannelsFirst => extents.extend([channels, height, width]),
        Layout::ChannelsLast => extents.extend([height, width, channels]),
    }
    let mut colours = Vec::with_capacity(height * width * channels);
    let pixels = height * width;
    match layout {
        Layout::ChannelsFirst => {
            for channel in 0..channels {
                colours.extend((0..pixels).map(|at| picture.colour(at, channel, channels)));
            }
        }
        Layout::Plane | Layout::ChannelsLast => {
            for at in 0..pixels {
                colours.extend((0..channels).map(|channel| picture.colour(at, channel, channels)));
            }
        }
    }
    let unit = |byte: &u8| f32::from(*byte) / 255.0;
    Ok(match dtype.scalar {
        _ if dtype.is_vector() => return Err(ImageFault::DType(dtype)),
        ScalarType::U8 => Tensor::from_slice(&extents, &colours)?,
        ScalarType::F32 => {
            let floats: Vec<f32> = colours.iter().map(unit).collect();
            Tensor::from_slice(&extents, &floats)?
        }
        ScalarType::F16 => {
            let halves = colours.iter().map(|byte| half::f16::from_f32(unit(byte)));
            Tensor::from_slice(&extents, &halves.collect::<Vec<_>>())?
        }
        _ => return Err(ImageFault::DType(dtype)),
    })
}

/// The number of dimensions before the picture, where its channels stand, and how many there are.
fn layout(dims: &[Option<i64>]) -> Option<(usize, Layout, usize)> {
    let channels = |dim: Option<i64>| match dim {
        Some(count @ (1 | 3 | 4)) => Some(count as usize),
        _ => None,
    };
    let single = |dim: &Option<i64>| dim.is_none_or(|dim| dim == 1);
    match *dims {
        [_, _] => Some((0, Layout::Plane, 1)),
        [first, _, last] => match (channels(first), channels(last)) {
            (Some(count), _) => Some((0, Layout::ChannelsFirst, count)),
            (None, Some(count)) => Some((0, Layout::ChannelsLast, count)),
            (None, None) if single(&first) => Some((1, Layout::Plane, 1)),
            (None, None) => None,
        },
        [batch, first, _, last] if single(&batch) => match (channels(first), channels(last)) {
            (Some(count), _) => Some((1, Layout::ChannelsFirst, count)),
            (None, Some(count)) => Some((1, Layout::ChannelsLast, count)),
            (None, None) => None,
        },
        _ => None,
    }
}

/// Pixels of red, green, blue and opacity, row by row.
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 4]>,
}

impl Picture {
    fn decode(bytes: &[u8]) -> Result<Self, ImageFault> {
        let limits = Limits { bytes: MOST_BYTES };
        let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
        decoder.set_transformations(Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let size = reader.output_buffer_size().ok_or(ImageFault::TooLarge)?;
        if size > MOST_BYTES {
            return Err(ImageFault::TooLarge);
        }
        let mut data = vec![0; size];
        let info = reader.next_frame(&mut data)?;
        let data = &data[..info.buffer_size()];
        let pixels = match info.color_type {
            ColorType::Grayscale | ColorType::Indexed => data
                .iter()
                .map(|&grey| [grey, grey, grey, u8::MAX])
                .collect(),
            ColorType::GrayscaleAlpha => {
                let (pairs, _) = data.as_chunks::<2>();
                pairs
                    .iter()
                    .map(|&[grey, alpha]| [grey, grey, grey, alpha])
                    .collect()
            }
            ColorType::Rgb => {
                let (triples, _) = data.as_chunks::<3>();
                triples
                    .iter()
                    .map(|&[r, g, b]| [r, g, b, u8::MAX])
                    .collect()
            }
            ColorType::Rgba => data.as_chunks::<4>().0.to_vec(),
        };
        Ok(Self {
            width: info.width as usize,
            height: info.height as usize,
            pixels,
        })
    }

    /// A channel of a pixel, where pixels have so many channels.
    fn colour(&self, at: usize, channel: usize, channels: usize) -> u8 {
        let pixel = self.pixels[at];
        if channels > 1 {
            return pixel[channel];
        }
        match pixel {
            [r, g, b, _] if r == g && g == b => r,
            [r, g, b, _] => {
                let [r, g, b] = [r, g, b].map(u32::from);
                ((299 * r + 587 * g + 114 * b + 500) / 1000) as u8
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 high and 3 wide: red, green, blue; black, white, grey.
    fn picture() -> Vec<u8> {
        let mut bytes = vec![];
        let mut encoder = png::Encoder::new(&mut bytes, 3, 2);
        encoder.set_color(ColorType::Rgb);
        let mut writer = encoder.write_header().expect("a header");
        let pixels = [
            [255, 0, 0],
            [0, 255, 0],
            [0, 0, 255],
            [0, 0, 0],
            [255, 255, 255],
            [51, 51, 51],
        ];
        writer
            .write_image_data(pixels.as_flattened())
            .expect("six pixels");
        writer.finish().expect("an end");
        bytes
    }

    fn dims(extents: &[i64]) -> Vec<HostExpr> {
        let dim = |&extent: &i64| match extent {
            -1 => HostExpr::Dim(0),
            extent => HostExpr::Const(extent),
        };
        extents.iter().map(dim).collect()
    }

    #[test]
    fn pixels_go_where_the_layout_has_them() {
        let made = |dtype, extents: &[i64]| {
            tensor(&picture(), dtype, Some(&dims(extents))).map_err(|fault| fault.to_string())
        };
        let first = made(DType::U8, &[1, 3, -1, -1]).expect("fits");
        assert_eq!(first.shape(), [1, 3, 2, 3]);
        let red = &first.as_slice::<u8>().expect("bytes")[..6];
        assert_eq!(red, [255, 0, 0, 0, 255, 51]);
        let last = made(DType::U8, &[2, 3, 4]).expect("fits");
        assert_eq!(
            last.as_slice::<u8>().expect("bytes")[..8],
            [255, 0, 0, 255, 0, 255, 0, 255]
        );
        let grey = made(DType::F32, &[2, 3]).expect("fits");
        let expected = [76.0, 150.0, 29.0, 0.0, 255.0, 51.0].map(|v: f32| v / 255.0);
        assert_eq!(grey.as_slice::<f32>().expect("floats"), expected);
        assert_eq!(
            made(DType::F32, &[1, 3, 28, 28]),
            Err(
                "it is 3 wide and 2 high, the parameter takes a width of 28 and a height of 28"
                    .to_owned()
            )
        );
        assert!(made(DType::F32, &[2, 5, 2, 3]).is_err());
        assert!(made(DType::I64, &[2, 3]).is_err());
        assert!(tensor(b"no png", DType::F32, Some(&dims(&[2, 3]))).is_err());
    }
}
