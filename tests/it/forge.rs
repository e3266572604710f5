//! Artifacts with other entries than were saved, by somebody who knows the format.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Whether the list of checksums is made to fit what was changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checksums {
    /// As an attacker does.
    Fitting,
    /// As an accident does.
    AsTheyWere,
}

/// The artifact with its entries changed: `None` leaves one out.
pub(crate) fn forged(
    bytes: &[u8],
    checksums: Checksums,
    mut change: impl FnMut(&str, Vec<u8>) -> Option<Vec<u8>>,
) -> Vec<u8> {
    let mut from = ZipArchive::new(Cursor::new(bytes)).expect("an archive");
    let mut entries = vec![];
    for index in 0..from.len() {
        let mut entry = from.by_index(index).expect("there");
        let name = entry.name().expect("text").into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("whole");
        if let Some(content) = change(&name, content) {
            entries.push((name, content));
        }
    }
    if checksums == Checksums::Fitting {
        fit(&mut entries);
    }
    let mut to = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        to.start_file(&name, options).expect("written");
        to.write_all(&content).expect("written");
    }
    to.finish().expect("written").into_inner()
}

/// Puts the checksums of the entries that are listed into the list, if that can be read.
fn fit(entries: &mut [(String, Vec<u8>)]) {
    let crc32 = |bytes: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        crc.sum()
    };
    let sums: Vec<(String, u32)> = entries
        .iter()
        .map(|(name, content)| (name.clone(), crc32(content)))
        .collect();
    let format = entries.iter_mut().find(|(name, _)| name == "format.json");
    let Some((_, content)) = format else { return };
    let Ok(mut format) = serde_json::from_slice::<serde_json::Value>(content) else {
        return;
    };
    let Some(list) = format["checksums"].as_object_mut() else {
        return;
    };
    for (name, sum) in sums {
        if let Some(old) = list.get_mut(&name) {
            *old = sum.into();
        }
    }
    *content = serde_json::to_vec(&format).expect("plain data");
}
