//! Training: from samples to the bytes of a dictionary.

use anyhow::{Result, bail};

use crate::sample::Sample;
use crate::stored::stored_forms;
use crate::vary::variants;

// zstd's place for the id, after its magic number.
const ID_AT: std::ops::Range<usize> = 4..8;

/// What a dictionary is trained on: variants of samples, as a store compresses them.
pub(crate) fn material(samples: &[Sample]) -> Result<Vec<Vec<u8>>> {
    stored_forms(&variants(samples))
}

/// Trains a dictionary of at most this many bytes, with this number in its header.
///
/// zstd writes the id into every frame: a number below 256 takes one byte, the one that the
/// trainer makes up four. Zero would take none, but zstd's format gives it to no dictionary.
pub(crate) fn train(material: &[Vec<u8>], bytes_max: usize, number: u8) -> Result<Vec<u8>> {
    if number == 0 {
        bail!("dictionaries are numbered from 1");
    }
    let mut dictionary = zstd::dict::from_samples(material, bytes_max)?;
    dictionary[ID_AT].copy_from_slice(&u32::from(number).to_le_bytes());
    Ok(dictionary)
}
