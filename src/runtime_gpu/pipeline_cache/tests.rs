//! Caches of pipelines on any adapter that has them, in folders of the tests' own.

use std::fs;

use super::super::tests::{double, without_adapter};
use super::super::{Adapter, Checks, Gpu, adapters};
use super::*;
use crate::tensor::Tensor;

/// The first adapter that has a cache.
fn adapter() -> Option<Adapter> {
    let found = adapters().into_iter().find(|a| a.info().pipeline_cache);
    if found.is_none() {
        without_adapter();
    }
    found
}

fn open(adapter: &Adapter, folder: &Path) -> Gpu {
    let cache = PipelineCache::Folder(folder.to_owned());
    let opened = adapter.open_with_cache(Checks::Proved, &cache);
    opened.expect("the adapter opens")
}

/// What a kernel makes of a few numbers.
fn doubled(gpu: &Gpu) -> Vec<f32> {
    let input = Tensor::from_slice(&[4], &[1.0f32, -2.5, 3.0, 0.0]).expect("four");
    let a = gpu.upload(&input).expect("small");
    let b = gpu.upload(&input).expect("small");
    double(gpu, &a, &b).expect("runs");
    let output = b.to_host().expect("comes back");
    output.as_slice::<f32>().expect("float32").to_vec()
}

/// Bytes of the data that the device found in its file.
fn found(gpu: &Gpu) -> usize {
    let kept = gpu.shared.kept.as_ref().expect("it has a cache");
    *lock(&kept.saved)
}

const DOUBLED: [f32; 4] = [2.0, -5.0, 6.0, 0.0];

#[test]
fn pipelines_are_kept_for_the_next_device() {
    let Some(adapter) = adapter() else { return };
    let folder = tempfile::tempdir().expect("scratch folder");
    let first = open(&adapter, folder.path());
    let path = first.pipeline_cache().expect("it has one").to_owned();
    assert_eq!(found(&first), 0);
    drop(first);
    assert!(!path.exists(), "nothing was made, so nothing is written");
    let first = open(&adapter, folder.path());
    assert_eq!(doubled(&first), DOUBLED);
    first.save_pipelines();
    assert!(path.exists());
    fs::remove_file(&path).expect("it is there");
    drop(first);
    assert!(!path.exists(), "nothing is new since it was saved");

    let second = open(&adapter, folder.path());
    assert_eq!(doubled(&second), DOUBLED);
    drop(second);
    let third = open(&adapter, folder.path());
    assert!(found(&third) > 0, "the last handle of a device saves");
    assert_eq!(doubled(&third), DOUBLED);
}

#[test]
fn a_cache_that_is_off_writes_nothing() {
    let Some(adapter) = adapter() else { return };
    let off = adapter.open(Checks::Proved).expect("the adapter opens");
    assert_eq!(off.pipeline_cache(), None);
    assert!(off.shared.kept.is_none());
    assert_eq!(doubled(&off), DOUBLED);
    off.save_pipelines();
}

#[test]
fn files_that_are_of_no_use_are_replaced() {
    let Some(adapter) = adapter() else { return };
    let folder = tempfile::tempdir().expect("scratch folder");
    let gpu = open(&adapter, folder.path());
    assert_eq!(doubled(&gpu), DOUBLED);
    let path = gpu.pipeline_cache().expect("it has one").to_owned();
    drop(gpu);
    let whole = fs::read(&path).expect("it was saved");
    let mut altered = whole.clone();
    *altered.last_mut().expect("not empty") ^= 1;
    let large = [&whole[..], &vec![0; 65 << 20]].concat();
    for bytes in [
        &altered,
        &whole[..whole.len() - 1],
        b"#!/bin/sh",
        b"",
        &large,
    ] {
        fs::write(&path, bytes).expect("writable");
        let gpu = open(&adapter, folder.path());
        assert_eq!(found(&gpu), 0, "{} bytes", bytes.len());
        assert_eq!(doubled(&gpu), DOUBLED);
        drop(gpu);
        let gpu = open(&adapter, folder.path());
        assert!(found(&gpu) > 0, "it was replaced");
    }
}

/// Data that pass our checks, but are none that wgpu or the driver would take.
#[test]
fn data_that_wgpu_refuses_are_no_cache() {
    let Some(adapter) = adapter() else { return };
    let folder = tempfile::tempdir().expect("scratch folder");
    let gpu = open(&adapter, folder.path());
    let file = gpu.shared.kept.as_ref().expect("it has one").file.clone();
    assert_eq!(doubled(&gpu), DOUBLED);
    drop(gpu);
    let mut mismatched = file.read().expect("it was saved");
    mismatched[20] ^= 1; // the adapter in wgpu's header
    for data in [&mismatched[..], b"WGPUPLCH", b""] {
        file.write(data).expect("writable");
        let gpu = open(&adapter, folder.path());
        gpu.check().expect("the device goes on");
        assert_eq!(doubled(&gpu), DOUBLED);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_no_error() {
    let Some(adapter) = adapter() else { return };
    let folder = tempfile::tempdir().expect("scratch folder");
    let taken = folder.path().join("taken");
    fs::write(&taken, b"a file").expect("writable");
    let gpu = open(&adapter, &taken);
    assert_eq!(doubled(&gpu), DOUBLED);
    drop(gpu);
    assert_eq!(fs::read(&taken).expect("there"), b"a file");
}

#[test]
fn devices_of_one_file_do_not_disturb_each_other() {
    let Some(adapter) = adapter() else { return };
    let folder = tempfile::tempdir().expect("scratch folder");
    let (a, b) = (open(&adapter, folder.path()), open(&adapter, folder.path()));
    std::thread::scope(|scope| {
        for gpu in [&a, &b, &a, &b] {
            scope.spawn(move || {
                assert_eq!(doubled(gpu), DOUBLED);
                gpu.save_pipelines();
            });
        }
    });
    drop((a, b));
    let files = fs::read_dir(folder.path()).expect("there").count();
    assert_eq!(files, 1, "and nothing partial");
    assert!(found(&open(&adapter, folder.path())) > 0);
}

#[test]
fn the_folder_of_the_user_is_that_of_the_system() {
    let of = |vars: &[(&str, &str)]| {
        let find = |name: &str| vars.iter().find(|(n, _)| *n == name);
        user_caches(|name| find(name).map(|(_, value)| value.into()))
    };
    assert_eq!(of(&[]), None);
    if cfg!(windows) {
        let local = [("LOCALAPPDATA", "C:\\Users\\u\\AppData\\Local")];
        assert_eq!(of(&local), Some(local[0].1.into()));
    } else if cfg!(target_vendor = "apple") {
        let caches = of(&[("HOME", "/Users/u"), ("XDG_CACHE_HOME", "/x")]);
        assert_eq!(caches, Some("/Users/u/Library/Caches".into()));
    } else {
        let home = ("HOME", "/home/u");
        assert_eq!(of(&[home]), Some("/home/u/.cache".into()));
        let moved = of(&[home, ("XDG_CACHE_HOME", "/x")]);
        assert_eq!(moved, Some("/x".into()));
        let relative = of(&[home, ("XDG_CACHE_HOME", "x")]);
        assert_eq!(relative, Some("/home/u/.cache".into()));
        assert_eq!(of(&[("HOME", "")]), None);
    }
}
