//! The row of a file that was captured with a checkpoint, without its content.

use super::check;
use super::wire::{Malformed, Reader, put};
use crate::checkpoint::{Artifact, ArtifactStatus, Hash, path_refusal};
use crate::key::FrameBytes;

const SUM_BYTES: usize = 8;
const HASH_BYTES: usize = 32;
/// The bit of the first byte for a known mode.
const MODE: u8 = 1 << 7;

/// The value of a row.
pub(crate) fn encode_artifact(row: FrameBytes, artifact: &Artifact) -> Vec<u8> {
    let mut out = Vec::with_capacity(artifact.path.len() + 64);
    let mode_bit = if artifact.mode.is_some() { MODE } else { 0 };
    put(&mut out, number(artifact.status) | mode_bit);
    if let Some(hash) = &artifact.sha256 {
        out.extend_from_slice(hash.as_bytes());
        put(&mut out, artifact.bytes);
    }
    if let Some(mode) = artifact.mode {
        put(&mut out, mode);
    }
    put(&mut out, artifact.path.as_str());
    let sum = seal(row, &out);
    out.extend_from_slice(&sum);
    out
}

/// `None` if the bytes are not what [`encode_artifact`] writes.
pub(crate) fn decode_artifact(row: FrameBytes, bytes: &[u8]) -> Option<Artifact> {
    let (body, sum) = bytes.split_last_chunk::<SUM_BYTES>()?;
    if seal(row, body) != *sum {
        return None;
    }
    let mut reader = Reader::new(body);
    let artifact = read(&mut reader).ok()?;
    // A program that writes files to this path must be able to rely on it.
    let is_right = reader.rest().is_empty() && path_refusal(&artifact.path).is_none();
    is_right.then_some(artifact)
}

fn read(reader: &mut Reader<'_>) -> Result<Artifact, Malformed> {
    let first = reader.take_byte()?;
    let status = status(first & !MODE).ok_or(Malformed)?;
    let (mut sha256, mut bytes) = (None, 0);
    if status != ArtifactStatus::Deleted {
        let hash = reader.take_bytes(HASH_BYTES)?.try_into().map_err(|_| Malformed)?;
        sha256 = Some(Hash::from_bytes(hash));
        bytes = reader.take()?;
    }
    let mode = if first & MODE == 0 { None } else { Some(reader.take()?) };
    Ok(Artifact { path: reader.take_text()?.to_owned(), sha256, mode, status, bytes })
}

fn number(status: ArtifactStatus) -> u8 {
    match status {
        ArtifactStatus::Created => 1,
        ArtifactStatus::Modified => 2,
        ArtifactStatus::Deleted => 3,
        ArtifactStatus::Unchanged => 4,
    }
}

fn status(wanted: u8) -> Option<ArtifactStatus> {
    ArtifactStatus::ALL.into_iter().find(|status| number(*status) == wanted)
}

fn seal(row: FrameBytes, body: &[u8]) -> [u8; SUM_BYTES] {
    check(check(0, &row), body).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(status: ArtifactStatus, mode: Option<u32>) -> Artifact {
        let hash = Some(Hash::from_bytes([9; 32]));
        let sha256 = hash.filter(|_| status != ArtifactStatus::Deleted);
        let bytes = if sha256.is_some() { 70_000 } else { 0 };
        Artifact { path: "src/main.rs".to_owned(), sha256, mode, status, bytes }
    }

    #[test]
    fn a_row_is_read_back_and_any_change_is_noticed() {
        let row = [7; 8];
        for status in ArtifactStatus::ALL {
            for mode in [None, Some(0o755)] {
                let artifact = artifact(status, mode);
                let bytes = encode_artifact(row, &artifact);
                assert_eq!(decode_artifact(row, &bytes), Some(artifact));
                assert_eq!(decode_artifact([8; 8], &bytes), None, "of another row");
                for at in 0..bytes.len() {
                    let mut wrong = bytes.clone();
                    wrong[at] ^= 4;
                    assert_eq!(decode_artifact(row, &wrong), None, "byte {at}");
                    assert_eq!(decode_artifact(row, &bytes[..at]), None, "cut at {at}");
                }
            }
        }
    }

    /// Disks hold these bytes.
    #[test]
    fn the_row_is_pinned() {
        let bytes = encode_artifact([0; 8], &artifact(ArtifactStatus::Modified, Some(0o600)));
        let (body, _) = bytes.split_last_chunk::<SUM_BYTES>().unwrap();
        let expected = [
            &[130][..],
            &[9; 32],
            &[252, 0x70, 0x11, 1, 0],
            &[251, 0x80, 1],
            &[11],
            b"src/main.rs",
        ];
        assert_eq!(body, expected.concat());
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_not_read() {
        let evil = Artifact { path: "../x".to_owned(), ..artifact(ArtifactStatus::Created, None) };
        assert_eq!(decode_artifact([0; 8], &encode_artifact([0; 8], &evil)), None);
    }
}
