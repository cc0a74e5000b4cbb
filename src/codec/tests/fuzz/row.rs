//! The small rows of a store: dependents, what was deleted, captured files and who has them.

use super::super::super::{
    Holders, check, decode_artifact, decode_deleted, decode_dependents, decode_holders,
    encode_artifact, encode_deleted, encode_dependents, encode_holders,
};
use crate::checkpoint::{Artifact, ArtifactStatus, Hash, Timestamp, path_refusal};
use crate::key::{RecordKey, SEQUENCE_MAX};
use crate::tape::Tape;

/// Changes bytes that end in a sum of this length, and recomputes the sum.
fn changed(tape: &mut Tape<'_>, bytes: &[u8], sum: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut body = bytes[..bytes.len() - sum(&[]).len()].to_vec();
    tape.mutate(&mut body);
    let sum = sum(&body);
    [body, sum].concat()
}

fn of_row(row: &[u8]) -> impl Fn(&[u8]) -> Vec<u8> {
    |body| check(check(0, row), body).to_le_bytes().to_vec()
}

#[test]
fn any_dependents_are_read_or_refused() {
    target!("dependents", 4000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let base = tape.number() & SEQUENCE_MAX >> 1;
        let mut key = |_| RecordKey {
            time: Timestamp::from_micros(tape.signed()),
            sequence: (base + 1 + tape.number() % (1 << 40)).min(SEQUENCE_MAX),
        };
        let keys: Vec<RecordKey> = (0..4).map(&mut key).collect();
        let bytes = encode_dependents(base, &keys);
        assert_eq!(decode_dependents(base, &bytes), Some(keys));
        let sum = |body: &[u8]| check(base, body).to_le_bytes()[..4].to_vec();
        let bytes = changed(&mut tape, &bytes, sum);
        if let Some(read) = decode_dependents(base, &bytes) {
            assert!(read.len() <= bytes.len());
            assert!(read.iter().all(|key| key.sequence > base && key.sequence <= SEQUENCE_MAX));
            assert_eq!(decode_dependents(base, &encode_dependents(base, &read)), Some(read));
        }
    });
}

#[test]
fn any_deleted_row_is_read_or_refused() {
    target!("deleted", 4000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let row = [tape.byte(); 22];
        let record = tape.text().into_bytes();
        let bytes = encode_deleted(&row, tape.number(), &record);
        assert_eq!(decode_deleted(&row, &bytes).map(|found| found.record), Some(&*record));
        let bytes = changed(&mut tape, &bytes, of_row(&row));
        if let Some(read) = decode_deleted(&row, &bytes) {
            let again = encode_deleted(&row, read.operation, read.record);
            assert_eq!(decode_deleted(&row, &again), Some(read));
        }
    });
}

#[test]
fn any_holders_are_read_or_refused() {
    target!("holders", 4000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let row = [tape.byte(); 32];
        let mut holders = Holders::default().with(tape.number() & SEQUENCE_MAX);
        if tape.once_in(2) {
            holders = holders.with(tape.number() & SEQUENCE_MAX);
        }
        let bytes = encode_holders(&row, holders);
        assert_eq!(decode_holders(&row, &bytes), Some(holders));
        let bytes = changed(&mut tape, &bytes, of_row(&row));
        let Some(read) = decode_holders(&row, &bytes) else { return };
        assert!(!read.is_empty());
        assert_eq!(decode_holders(&row, &encode_holders(&row, read)), Some(read));
        let sequence = tape.number() & SEQUENCE_MAX;
        let more = read.with(sequence);
        assert!(!more.is_empty());
        let _ = more.without(sequence);
    });
}

#[test]
fn any_row_of_a_captured_file_is_read_or_refused() {
    target!("artifact", 4000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let row = [tape.byte(); 8];
        let status = *tape.pick(&ArtifactStatus::ALL);
        let sha256 = Some(Hash::from_bytes([tape.byte(); 32]));
        let artifact = Artifact {
            path: tape.pick(&["a", "src/main.rs", "../x", "a\\b", "/etc/x", "c:/x"]).to_string(),
            sha256: sha256.filter(|_| status != ArtifactStatus::Deleted),
            mode: tape.maybe(|tape| u32::try_from(tape.number()).unwrap_or(u32::MAX)),
            status,
            bytes: if status == ArtifactStatus::Deleted { 0 } else { tape.number() },
        };
        let bytes = encode_artifact(row, &artifact);
        let is_refused = path_refusal(&artifact.path).is_some();
        assert_eq!(decode_artifact(row, &bytes), Some(artifact).filter(|_| !is_refused));
        let bytes = changed(&mut tape, &bytes, of_row(&row));
        if let Some(read) = decode_artifact(row, &bytes) {
            assert_eq!(path_refusal(&read.path), None, "no path leads elsewhere");
            assert_eq!(decode_artifact(row, &encode_artifact(row, &read)), Some(read));
        }
    });
}
