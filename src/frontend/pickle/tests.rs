//! `testdata` was written by numpy 2.4: `pickle.dumps({"a": a, "b": b, "f": f, "again": a}, protocol=p)` with a 2×3 float32
//! array, three big-endian int16, and a 2×3 int64 array in Fortran order.

use super::*;
use crate::support::generated;

const GOOD: [&[u8]; 4] = [
    include_bytes!("testdata/protocol2.pkl"),
    include_bytes!("testdata/protocol3.pkl"),
    include_bytes!("testdata/protocol4.pkl"),
    include_bytes!("testdata/protocol5.pkl"),
];

#[test]
fn every_protocol_gives_the_same_arrays() {
    for bytes in GOOD {
        let tensors = parse_pickle(bytes).expect("well formed");
        let names: Vec<&String> = tensors.keys().collect();
        assert_eq!(names, ["a", "b", "f", "again"]);
        assert_eq!(tensors["a"].shape(), [2, 3]);
        assert_eq!(
            tensors["a"].as_slice::<f32>().expect("f32"),
            [1.5, -2.0, 3.0, 4.0, 5.0, 6.0]
        );
        assert_eq!(tensors["b"].as_slice::<i16>().expect("i16"), [1, -2, 300]);
        assert_eq!(
            tensors["f"].as_slice::<i64>().expect("i64"),
            [0, 1, 2, 3, 4, 5]
        );
        assert_eq!(tensors["again"], tensors["a"]);
    }
}

#[test]
fn other_names_are_refused_by_name() {
    let error = parse_pickle(b"\x80\x03cposix\nsystem\nX\x02\x00\x00\x00ls\x85R.")
        .expect_err("calls a program");
    assert_eq!(
        error.to_string(),
        "refused: the pickle asks for `posix.system`, and only numpy arrays are read"
    );
    let error = parse_pickle(b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R.")
        .expect_err("evaluates");
    assert!(
        matches!(error, PickleError::Global { module, name } if module == "builtins" && name == "eval")
    );
}

#[test]
fn instructions_that_make_objects_are_refused() {
    // INST, OBJ, NEWOBJ, NEWOBJ_EX, persistent ids, extensions, buffers out of band, and protocol 0's text.
    for opcode in [
        b'i', b'o', 0x81, 0x92, b'P', b'Q', 0x82, 0x83, 0x84, 0x97, 0x98, b'S', b'I', b'p',
    ] {
        let error = parse_pickle(&[0x80, 4, opcode, b'.']).expect_err("not known");
        assert!(
            matches!(error, PickleError::Opcode { opcode: found, offset: 2 } if found == opcode)
        );
    }
    assert!(matches!(
        parse_pickle(&[0x80, 6, b'.']),
        Err(PickleError::Protocol { protocol: 6 })
    ));
}

#[test]
fn other_values_are_refused() {
    let refused = |bytes: &[u8]| {
        parse_pickle(bytes)
            .expect_err("no dict of arrays")
            .to_string()
    };
    assert_eq!(
        refused(b"\x80\x03K\x07."),
        "expected a dict from name to numpy array, found the number 7"
    );
    assert_eq!(
        refused(b"\x80\x03}K\x01Ns."),
        "expected names as keys of the dict, found the number 1"
    );
    assert_eq!(
        refused(b"\x80\x03}X\x01\x00\x00\x00a]s."),
        "`a` is no numpy array but a list of 0"
    );
    assert_eq!(
        refused(b"\x80\x03."),
        "damaged pickle: at byte 2, expected a value, found none"
    );
    assert_eq!(
        refused(b"\x80\x03h\x05."),
        "damaged pickle: no value was stored as 5"
    );
    assert_eq!(
        refused(b"\x80\x03}"),
        "the pickle ends at byte 3, in the middle of an instruction"
    );
}

#[test]
fn promises_beyond_the_end_take_no_memory() {
    let error =
        parse_pickle(b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f").expect_err("too long");
    assert!(matches!(error, PickleError::Truncated { .. }));
}

#[test]
fn shared_text_is_not_unpacked_without_end() {
    // One text of 4000 characters, stored with its arguments, decoded again and again.
    let mut bytes = b"\x80\x02c_codecs\nencode\nq\x00X\xa0\x0f\x00\x00".to_vec();
    bytes.extend([b'x'; 4000]);
    bytes.extend(b"X\x06\x00\x00\x00latin1\x86q\x01");
    bytes.extend(b"h\x00h\x01R0".repeat(1000));
    bytes.push(b'.');
    assert!(matches!(
        parse_pickle(&bytes),
        Err(PickleError::TooLarge { .. })
    ));
}

#[test]
fn deep_nesting_takes_no_stack() {
    let mut bytes = vec![0x80, 3];
    bytes.extend(b"]".iter().chain(&[0x85; 1_000_000]));
    bytes.push(b'.');
    assert!(matches!(
        parse_pickle(&bytes),
        Err(PickleError::NotADict { .. })
    ));
    // A list that holds itself.
    assert!(parse_pickle(b"\x80\x03]q\x00h\x00a.").is_err());
}

#[test]
fn mutated_bytes_never_panic() {
    generated::holds(2000, |u| {
        let mut bytes = u.choose(&GOOD)?.to_vec();
        for _ in 0..u.int_in_range(1..=6)? {
            let at = u.choose_index(bytes.len())?;
            match u.int_in_range(0..=2)? {
                0 => bytes[at] = u.arbitrary()?,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, u.arbitrary()?),
            }
        }
        if let Ok(tensors) = parse_pickle(&bytes) {
            let made: usize = tensors.values().map(|tensor| tensor.bytes().len()).sum();
            assert!(made <= 4 * bytes.len());
        }
        Ok(())
    });
}
