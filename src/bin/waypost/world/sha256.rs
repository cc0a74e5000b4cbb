//! The hashes by which files are compared.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use waypost::Hash;

/// The SHA-256 of a file in lower-case hexadecimal digits; `None` if it has more than `bytes_max`.
pub(super) fn sha256_of(path: &Path, bytes_max: u64) -> io::Result<Option<String>> {
    // One byte more tells that there are more.
    let mut file = File::open(path)?.take(bytes_max.saturating_add(1));
    let hash = Hash::of_reader(&mut file)?;
    Ok((file.limit() > 0).then(|| hash.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_hashed_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        for (content, sha256) in [
            (Vec::new(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (b"abc".to_vec(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                vec![b'a'; 1_000_000],
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            ),
        ] {
            std::fs::write(&path, &content).unwrap();
            let length = content.len() as u64;
            assert_eq!(sha256_of(&path, length).unwrap().as_deref(), Some(sha256));
            if let Some(less) = length.checked_sub(1) {
                assert_eq!(sha256_of(&path, less).unwrap(), None);
            }
        }
    }
}
