//! Small things stored as JSON with a sum: settings, and operations.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::check;

const SUM_BYTES: usize = 8;

/// The stored form of a value; `seed` ties it to its place.
pub(crate) fn encode_note(seed: u64, value: &impl Serialize) -> Vec<u8> {
    let json = serde_json::to_vec(value).expect("plain structures with text as keys");
    let mut out = check(seed, &json).to_le_bytes().to_vec();
    out.extend_from_slice(&json);
    out
}

/// Reads what [`encode_note`] writes, or returns the check that fails.
pub(crate) fn decode_note<T: DeserializeOwned>(seed: u64, bytes: &[u8]) -> Result<T, String> {
    let (sum, json) = bytes.split_first_chunk::<SUM_BYTES>().ok_or("it is cut short")?;
    if check(seed, json) != u64::from_le_bytes(*sum) {
        return Err("checksum differs".to_owned());
    }
    // The sum is right, so a newer release wrote this.
    serde_json::from_slice(json).map_err(|error| format!("this release cannot read it: {error}"))
}
