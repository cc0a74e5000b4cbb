//! SHA-256, which identifies captured contents. The only file that names it.

use std::io::{self, ErrorKind, Read};

use sha2::{Digest as _, Sha256};

use crate::checkpoint::Hash;

const READ_BYTES: usize = 64 << 10;

impl Hash {
    /// The hash of a content.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self::from_bytes(Sha256::digest(content).into())
    }

    /// The hash of everything left to read.
    ///
    /// # Errors
    /// What reading fails with.
    pub fn of_reader(mut content: impl Read) -> io::Result<Self> {
        let mut sum = Sha256::new();
        let mut part = vec![0; READ_BYTES];
        loop {
            match content.read(&mut part) {
                Ok(0) => return Ok(Self::from_bytes(sum.finalize().into())),
                Ok(length) => sum.update(&part[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The SHA-256 of concatenated parts.
#[cfg(feature = "encrypt")]
pub(super) fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut sum = Sha256::new();
    for part in parts {
        sum.update(part);
    }
    sum.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `sha256sum` prints.
    #[test]
    fn hashes_are_those_of_everybody() {
        for (content, hash) in [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ] {
            assert_eq!(Hash::of(content.as_bytes()).to_string(), hash);
            assert_eq!(Hash::of_reader(content.as_bytes()).unwrap().to_string(), hash);
        }
    }
}
