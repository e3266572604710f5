//! `model.weft`: an executable as a zip archive with stored entries, which people can unpack and read.
//!
//! | entry | holds |
//! |---|---|
//! | `format.json` | version of the format, target, metadata, checksums of all other entries |
//! | `bytecode` | functions and their types, callees, instructions, shape functions, constants that are no tensors |
//! | `kernels` | kernel IR |
//! | `constants.safetensors` | constant tensors, named by their place in the pool |
//! | `module.py` | the module as TVMScript |
//! | `wgsl/FUNC/KERNEL.wgsl` | shaders, by loop program and kernel |
//! | `traces/NAME.txt` | schedules |
//!
//! The archive has a checksum of every entry, and `format.json` says which entries there are and what their checksums must be, so
//! that none is lost, renamed or exchanged. A file is untrusted: sizes are bounded by that of the file, nesting by
//! [`MAX_DEPTH`](crate::support::depth::MAX_DEPTH), every index and every shader is checked, and no kernel is believed to be
//! in bounds: they are shown to be, call by call, or run with checks.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, Write};
use std::path::Path;

use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zip::read::ZipFile;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{
    ArtifactError, Callee, Constant, ErrorContext, Executable, Function, Instr, KernelFunc,
    ShapeFunc, Signature, constants,
};
use crate::kernel::{Kernel, LoweredFunc, ScalarPassing, Shader, Target};
use crate::support::files::write_whole_with;
use crate::tensor::DType;

/// Version of the format. Changes whenever an older program could not read a newer file.
const VERSION: u32 = 11;

/// Alignment of entries in the file, in bytes.
const ALIGN: u16 = 64;

#[derive(Serialize, Deserialize)]
struct Format {
    version: u32,
    target: Target,
    metadata: IndexMap<String, String>,
    /// CRC-32 of every other entry.
    checksums: IndexMap<String, u32>,
}

#[derive(Serialize, Deserialize)]
struct Bytecode {
    functions: Vec<Function>,
    callees: Vec<Callee>,
    code: Vec<Instr>,
    shape_funcs: Vec<ShapeFunc>,
    constants: Vec<StoredConstant>,
    signatures: IndexMap<String, Signature>,
}

/// A constant without the elements of tensors.
#[derive(Serialize, Deserialize)]
enum StoredConstant {
    Tensor(DType, Vec<usize>),
    Shape(Vec<i64>),
    DType(DType),
    Str(String),
    Int(i64),
    Float(f64),
    Context(ErrorContext),
}

/// A lowered function and, for each shader, all but its text.
#[derive(Serialize, Deserialize)]
struct StoredKernel {
    func: LoweredFunc,
    shaders: Vec<(String, ScalarPassing, bool)>,
    variants: Vec<u32>,
}

impl Executable {
    /// Writes the artifact, first beside its place and then into it: a failure leaves what was there.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ArtifactError> {
        let path = path.as_ref();
        let (format, entries) = self.entries()?;
        let written = write_whole_with(path, |file| write_entries(file, &format, &entries));
        written.map_err(|error| match error {
            ZipError::Io(source) => ArtifactError::Io {
                path: path.to_owned(),
                source,
            },
            other => other.into(),
        })
    }

    /// Reads an artifact. Its weights are read from the file to where they stay.
    ///
    /// # Errors
    /// If the file cannot be read or is no valid artifact.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ArtifactError> {
        let path = path.as_ref();
        let refused = |source| ArtifactError::Io {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(refused)?;
        let about = file.metadata().map_err(refused)?;
        // To read a pipe waits for somebody who writes, and nothing else can be read from any place on.
        if !about.is_file() {
            return Err(refused(io::Error::other("it is no regular file")));
        }
        Self::read(BufReader::new(file), about.len())
    }

    /// The artifact as bytes.
    ///
    /// # Errors
    /// If it cannot be put into an archive.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ArtifactError> {
        let (format, entries) = self.entries()?;
        let mut bytes = vec![];
        write_entries(Cursor::new(&mut bytes), &format, &entries)?;
        Ok(bytes)
    }

    /// The first entry, and the others.
    fn entries(&self) -> Result<(Vec<u8>, Vec<Entry<'_>>), ArtifactError> {
        let whole = |name: &str, bytes| Entry {
            name: name.to_owned(),
            pieces: vec![Cow::Owned(bytes)],
        };
        let text = |name: &str, text: &'_ str| Entry {
            name: name.to_owned(),
            pieces: vec![Cow::Owned(text.as_bytes().to_vec())],
        };
        let all = self.kernels.iter().flat_map(|kernel| &kernel.func.kernels);
        all.into_iter().try_for_each(without_fragments)?;
        let kernels: Vec<StoredKernel> = self.kernels.iter().map(stored_kernel).collect();
        let mut entries = vec![
            whole("bytecode", encode("bytecode", &self.stored())?),
            whole("kernels", encode("kernels", &kernels)?),
            whole("origins", encode("origins", &self.origins)?),
            Entry {
                name: constants::NAME.to_owned(),
                pieces: constants::pieces(&self.constants)?,
            },
            text("module.py", &self.script),
        ];
        for kernel in &self.kernels {
            for (one, shader) in kernel.func.kernels.iter().zip(&kernel.wgsl) {
                entries.push(text(&shader_entry(&kernel.func, one), &shader.text));
            }
        }
        for (name, trace) in &self.traces {
            entries.push(text(&format!("traces/{name}.txt"), trace));
        }
        let format = Format {
            version: VERSION,
            target: self.target.clone(),
            metadata: self.metadata.clone(),
            checksums: entries.iter().map(Entry::checksum).collect(),
        };
        let format = serde_json::to_vec_pretty(&format).map_err(|e| malformed("format.json", e))?;
        Ok((format, entries))
    }

    fn stored(&self) -> Bytecode {
        let constant = |c: &Constant| match c {
            Constant::Tensor(t) => StoredConstant::Tensor(t.dtype(), t.shape().to_vec()),
            Constant::Shape(dims) => StoredConstant::Shape(dims.clone()),
            Constant::DType(dtype) => StoredConstant::DType(*dtype),
            Constant::Str(text) => StoredConstant::Str(text.clone()),
            Constant::Int(value) => StoredConstant::Int(*value),
            Constant::Float(value) => StoredConstant::Float(*value),
            Constant::Context(context) => StoredConstant::Context(context.clone()),
        };
        Bytecode {
            functions: self.functions.clone(),
            callees: self.callees.clone(),
            code: self.code.clone(),
            shape_funcs: self.shape_funcs.clone(),
            constants: self.constants.iter().map(constant).collect(),
            signatures: self.signatures.clone(),
        }
    }

    /// Reads an artifact from bytes.
    ///
    /// # Errors
    /// If they are no valid artifact.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ArtifactError> {
        Self::read(Cursor::new(bytes), bytes.len() as u64)
    }

    fn read(file: impl Read + Seek, file_bytes: u64) -> Result<Self, ArtifactError> {
        let mut entries = Entries {
            zip: ZipArchive::new(file)?,
            file_bytes,
        };
        let format = entries.bytes("format.json")?;
        let version: serde_json::Value =
            serde_json::from_slice(&format).map_err(|e| malformed("format.json", e))?;
        let got = version["version"].as_u64().unwrap_or(0);
        if got != u64::from(VERSION) {
            let expected = VERSION;
            return Err(ArtifactError::Version { expected, got });
        }
        let format: Format =
            serde_json::from_slice(&format).map_err(|e| malformed("format.json", e))?;
        entries.verify(&format.checksums)?;
        let stored: Bytecode = decode("bytecode", &entries.bytes("bytecode")?)?;
        let kernels: Vec<StoredKernel> = decode("kernels", &entries.bytes("kernels")?)?;
        let kernels = kernels
            .into_iter()
            .map(|kernel| load_kernel(kernel, &mut entries))
            .collect::<Result<_, _>>()?;
        let executable = Self {
            target: format.target,
            functions: stored.functions,
            signatures: stored.signatures,
            callees: stored.callees,
            constants: load_constants(stored.constants, &mut entries)?,
            code: stored.code,
            origins: decode("origins", &entries.bytes("origins")?)?,
            shape_funcs: stored.shape_funcs,
            kernels,
            script: entries.text("module.py")?,
            traces: entries.texts("traces/", ".txt")?,
            metadata: format.metadata,
        };
        executable.verify()?;
        Ok(executable)
    }
}

/// An entry to be written: its bytes in pieces, of which some lie where they are used.
struct Entry<'a> {
    name: String,
    pieces: Vec<Cow<'a, [u8]>>,
}

impl Entry<'_> {
    fn checksum(&self) -> (String, u32) {
        let mut crc = flate2::Crc::new();
        self.pieces.iter().for_each(|piece| crc.update(piece));
        (self.name.clone(), crc.sum())
    }
}

struct Entries<R> {
    zip: ZipArchive<R>,
    file_bytes: u64,
}

impl<R: Read + Seek> Entries<R> {
    /// The entries are those that the list says, with those checksums. Whether their bytes have them is found when they are
    /// read.
    fn verify(&mut self, checksums: &IndexMap<String, u32>) -> Result<(), ArtifactError> {
        for (name, &expected) in checksums {
            let got = self.entry(name)?.crc32();
            if got != expected {
                let problem = format!("its checksum is {got:08x}, not {expected:08x}");
                return Err(malformed(name, problem));
            }
        }
        let listed = |name: &str| name == "format.json" || checksums.contains_key(name);
        for name in self.zip.file_names() {
            let name = name?;
            if !listed(&name) {
                return Err(malformed(&name, "it is not in the list of entries"));
            }
        }
        Ok(())
    }

    fn entry(&mut self, name: &str) -> Result<ZipFile<'_, R>, ArtifactError> {
        match self.zip.by_name(name) {
            Err(ZipError::FileNotFound) => Err(ArtifactError::Missing(name.to_owned())),
            entry => Ok(entry?),
        }
    }

    /// An entry whose size is believed. Entries are stored, so none is larger than the file.
    fn sized(&mut self, name: &str) -> Result<ZipFile<'_, R>, ArtifactError> {
        let file_bytes = self.file_bytes;
        let entry = self.entry(name)?;
        let bytes = entry.size();
        if bytes > file_bytes || entry.compression() != CompressionMethod::Stored {
            return Err(ArtifactError::Size {
                name: name.to_owned(),
                bytes,
                file_bytes,
            });
        }
        Ok(entry)
    }

    fn bytes(&mut self, name: &str) -> Result<Vec<u8>, ArtifactError> {
        let entry = self.sized(name)?;
        let bytes = entry.size();
        let mut data = Vec::with_capacity(bytes as usize);
        entry
            .take(bytes + 1)
            .read_to_end(&mut data)
            .map_err(|e| malformed(name, e))?;
        Ok(data)
    }

    fn text(&mut self, name: &str) -> Result<String, ArtifactError> {
        String::from_utf8(self.bytes(name)?).map_err(|e| malformed(name, e))
    }

    /// The texts under a folder, by the rest of their names.
    fn texts(
        &mut self,
        folder: &str,
        ending: &str,
    ) -> Result<IndexMap<String, String>, ArtifactError> {
        let names = self.zip.file_names().map(|name| Ok(name?.into_owned()));
        let names: Vec<String> = names.collect::<Result<_, ArtifactError>>()?;
        let mut texts = IndexMap::new();
        for name in names {
            let inner = name
                .strip_prefix(folder)
                .and_then(|rest| rest.strip_suffix(ending));
            if let Some(inner) = inner {
                texts.insert(inner.to_owned(), self.text(&name)?);
            }
        }
        Ok(texts)
    }
}

pub(super) fn malformed(name: &str, problem: impl ToString) -> ArtifactError {
    ArtifactError::Malformed {
        name: name.to_owned(),
        problem: problem.to_string(),
    }
}

fn write_entries(
    file: impl Write + Seek,
    format: &[u8],
    entries: &[Entry<'_>],
) -> Result<(), ZipError> {
    let mut zip = ZipWriter::new(file);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .with_alignment(ALIGN);
    zip.start_file("format.json", options)?;
    zip.write_all(format)?;
    for entry in entries {
        let bytes: usize = entry.pieces.iter().map(|piece| piece.len()).sum();
        let large = bytes as u64 >= u64::from(u32::MAX);
        zip.start_file(&entry.name, options.large_file(large))?;
        for piece in &entry.pieces {
            zip.write_all(piece)?;
        }
    }
    zip.finish()?;
    Ok(())
}

fn encode<T: Serialize>(name: &str, value: &T) -> Result<Vec<u8>, ArtifactError> {
    postcard::to_stdvec(value).map_err(|e| malformed(name, e))
}

fn decode<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, ArtifactError> {
    postcard::from_bytes(bytes).map_err(|e| malformed(name, e))
}

fn shader_entry(func: &LoweredFunc, kernel: &Kernel) -> String {
    format!("wgsl/{}/{}.wgsl", func.name, kernel.name)
}

fn stored_kernel(kernel: &KernelFunc) -> StoredKernel {
    let shader = |s: &Shader| (s.entry.clone(), s.passing, s.folded);
    StoredKernel {
        func: kernel.func.clone(),
        shaders: kernel.wgsl.iter().map(shader).collect(),
        variants: kernel.variants.clone(),
    }
}

fn load_kernel(
    stored: StoredKernel,
    entries: &mut Entries<impl Read + Seek>,
) -> Result<KernelFunc, ArtifactError> {
    let StoredKernel {
        mut func,
        shaders,
        variants,
    } = stored;
    let (kernels, count) = (func.kernels.len(), shaders.len());
    if count != 0 && count != kernels {
        let problem = format!("`{}` has {count} shaders for {kernels} kernels", func.name);
        return Err(malformed("kernels", problem));
    }
    for kernel in &mut func.kernels {
        without_fragments(kernel)?;
        kernel.in_bounds = false;
    }
    let mut wgsl = Vec::new();
    for (kernel, (entry, passing, folded)) in func.kernels.iter().zip(shaders) {
        let text = entries.text(&shader_entry(&func, kernel))?;
        check_shader(&func.name, &text)?;
        wgsl.push(Shader {
            text,
            entry,
            passing,
            folded,
            is_translation: false,
        });
    }
    Ok(KernelFunc {
        func,
        wgsl,
        variants,
    })
}

#[cfg(any(feature = "gpu", feature = "compiler"))]
fn check_shader(kernel: &str, text: &str) -> Result<(), ArtifactError> {
    let fail = |problem: String| ArtifactError::Shader {
        kernel: kernel.to_owned(),
        problem,
    };
    let module = naga::front::wgsl::parse_str(text).map_err(|e| fail(e.emit_to_string(text)))?;
    let mut validator = naga::valid::Validator::new(
        naga::valid::ValidationFlags::all(),
        naga::valid::Capabilities::all(),
    );
    validator
        .validate(&module)
        .map(|_| ())
        .map_err(|e| fail(e.emit_to_string(text)))
}

/// Without a GPU no shader is ever run.
#[cfg(not(any(feature = "gpu", feature = "compiler")))]
fn check_shader(_kernel: &str, _text: &str) -> Result<(), ArtifactError> {
    Ok(())
}

/// Cooperative matrices are neither bounded by the driver nor by naga, so what uses them has to be made by the process that runs it.
fn without_fragments(kernel: &Kernel) -> Result<(), ArtifactError> {
    match kernel.has_fragments() {
        true => Err(ArtifactError::Fragments {
            kernel: kernel.name.clone(),
        }),
        false => Ok(()),
    }
}

fn load_constants(
    stored: Vec<StoredConstant>,
    entries: &mut Entries<impl Read + Seek>,
) -> Result<Vec<Constant>, ArtifactError> {
    let types = stored.iter().enumerate();
    let types = types.filter_map(|(index, constant)| match constant {
        StoredConstant::Tensor(dtype, shape) => Some((index, (*dtype, shape.clone()))),
        _ => None,
    });
    let types = types.collect();
    let entry = entries.sized(constants::NAME)?;
    let bytes = entry.size();
    let mut tensors = constants::read(entry, bytes, &types)?;
    let load = |(index, constant): (usize, StoredConstant)| {
        Ok(match constant {
            StoredConstant::Tensor(..) => {
                let missing = || malformed(constants::NAME, format!("no tensor `{index}`"));
                Constant::Tensor(tensors.remove(&index).ok_or_else(missing)?)
            }
            StoredConstant::Shape(dims) => Constant::Shape(dims),
            StoredConstant::DType(dtype) => Constant::DType(dtype),
            StoredConstant::Str(text) => Constant::Str(text),
            StoredConstant::Int(value) => Constant::Int(value),
            StoredConstant::Float(value) => Constant::Float(value),
            StoredConstant::Context(context) => Constant::Context(context),
        })
    };
    stored.into_iter().enumerate().map(load).collect()
}
