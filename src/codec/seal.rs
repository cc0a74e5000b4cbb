//! The cipher, and the key it takes: XChaCha20-Poly1305. The only file that names it.
//!
//! Must never print a key, nor seal twice with the same key and nonce: nonces are random, and long
//! enough for that.

use std::fmt;
use std::io;
use std::str::FromStr;

use chacha20poly1305::aead::Generate as _;
use chacha20poly1305::{AeadInOut as _, KeyInit as _, XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

use super::hash::digest;
use super::keyring::KeyId;
use crate::error::{Error, Result};

const KEY_BYTES: usize = 32;
pub(super) const NONCE_BYTES: usize = 24;
pub(super) const TAG_BYTES: usize = 16;
/// Separates the key id from other hashes of the key.
const ID_DOMAIN: &[u8] = b"waypost key id 1\0";

/// A key that documents and captured files are encrypted with: 32 random bytes.
///
/// It stays where it is in memory, and is overwritten there when it goes. `Debug` shows its id and
/// nothing more.
///
/// ```
/// use waypost::{NewEntry, Options, SecretKey, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("store.redb");
/// let key = SecretKey::generate()?;
/// let options = Options { keys: vec![key.clone()], ..Options::default() };
/// let store = Store::open_with(&path, options)?;
/// let saved = store.save(NewEntry::default(), &"for nobody else")?;
/// # drop(store);
///
/// // Without the key what there is can be listed, and not read.
/// let store = Store::open(&path)?;
/// assert_eq!(store.count()?, 1);
/// assert!(matches!(store.get(&saved.id), Err(waypost::Error::Key { .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SecretKey {
    // Boxed, so that a growing list of keys leaves no copies behind.
    bytes: Box<Bytes>,
    id: KeyId,
}

impl SecretKey {
    /// Returns a new key.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn generate() -> io::Result<Self> {
        let bytes = chacha20poly1305::Key::try_generate()
            .map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self::from_bytes(bytes.into()))
    }

    /// Takes 32 bytes that cannot be guessed. A password is not enough.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let mut id = [0; KeyId::BYTES];
        id.copy_from_slice(&digest(&[ID_DOMAIN, &bytes])[..KeyId::BYTES]);
        Self { bytes: Box::new(Zeroizing::new(bytes)), id: KeyId::from_bytes(id) }
    }

    /// The id of the key.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Returns the key itself as 64 hexadecimal digits, which [`FromStr`] reads.
    #[must_use]
    pub fn to_hex(&self) -> String {
        let digit = |number: u8| char::from(b"0123456789abcdef"[usize::from(number)]);
        self.bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
    }

    /// An unused key, unless the system has no random numbers.
    #[expect(clippy::unused_self, reason = "a build that cannot encrypt has no key to ask")]
    pub(super) fn nonce(&self) -> io::Result<[u8; NONCE_BYTES]> {
        let nonce = XNonce::try_generate().map_err(|error| io::Error::other(error.to_string()))?;
        Ok(nonce.into())
    }

    /// Encrypts in place, and returns the tag to append.
    pub(super) fn seal(
        &self,
        nonce: &[u8; NONCE_BYTES],
        associated: &[u8],
        content: &mut [u8],
    ) -> [u8; TAG_BYTES] {
        self.cipher()
            .encrypt_inout_detached(&(*nonce).into(), associated, content.into())
            .expect("a frame is shorter than what one nonce is good for")
            .into()
    }

    /// Opens nonce, content and tag; `None` if any bit differs.
    pub(super) fn open(&self, associated: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let (content, tag) = sealed.split_last_chunk::<TAG_BYTES>()?;
        let mut content = content.to_owned();
        let buffer = content.as_mut_slice().into();
        self.cipher()
            .decrypt_inout_detached(&(*nonce).into(), associated, buffer, &(*tag).into())
            .ok()?;
        Some(content)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        let bytes: &[u8; KEY_BYTES] = &self.bytes;
        XChaCha20Poly1305::new(bytes.into())
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.id)
    }
}

/// Reads 64 hexadecimal digits, or standard base64 with or without padding.
impl FromStr for SecretKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim().as_bytes();
        let bytes = if text.len() == 2 * KEY_BYTES { from_hex(text) } else { from_base64(text) };
        let wrong = || Error::invalid("key", "not 32 bytes as 64 hexadecimal digits or as base64");
        bytes.map(|bytes| Self::from_bytes(*bytes)).ok_or_else(wrong)
    }
}

type Bytes = Zeroizing<[u8; KEY_BYTES]>;

fn from_hex(text: &[u8]) -> Option<Bytes> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let mut bytes = Bytes::default();
    for (byte, pair) in bytes.iter_mut().zip(text.chunks(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// 32 bytes are 43 characters of six bits; the last one has two bits to spare.
fn from_base64(text: &[u8]) -> Option<Bytes> {
    let text = text.strip_suffix(b"=").unwrap_or(text);
    if text.len() != (KEY_BYTES * 8).div_ceil(6) {
        return None;
    }
    let mut bytes = Bytes::default();
    let (mut bits, mut count, mut at) = (0_u16, 0, 0);
    for byte in text {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u16::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes[at] = (bits >> count).to_le_bytes()[0];
            at += 1;
            bits &= (1 << count) - 1;
        }
    }
    (bits == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SecretKey {
        SecretKey::from_bytes(std::array::from_fn(|at| u8::try_from(at * 8 + 3).unwrap()))
    }

    #[test]
    fn a_key_is_read_as_it_is_written() {
        let hex = key().to_hex();
        assert_eq!(hex.parse::<SecretKey>().unwrap().bytes, key().bytes);
        assert_eq!(format!(" {}\n", hex.to_uppercase()).parse::<SecretKey>().unwrap().id, key().id);
        // What `base64` prints of the same bytes.
        let base64 = "AwsTGyMrMztDS1NbY2tze4OLk5ujq7O7w8vT2+Pr8/s=";
        for text in [base64, &base64[..43]] {
            assert_eq!(text.parse::<SecretKey>().unwrap().bytes, key().bytes);
        }
        let wrong = ["", "secret", &hex[1..], &hex.replace('0', "g"), "AwsTGyMrMztDS1Nb", base64];
        for wrong in wrong.map(|it| it.replace("8/s=", "8/t=")) {
            let error = wrong.parse::<SecretKey>().unwrap_err().to_string();
            assert!(wrong.is_empty() || !error.contains(&wrong), "{error}");
        }
    }

    #[test]
    fn a_key_is_known_by_its_id_alone() {
        assert_eq!(format!("{:?}", key()), format!("SecretKey({})", key().id()));
        assert_ne!(SecretKey::generate().unwrap().id(), SecretKey::generate().unwrap().id());
        let hex = key().to_hex();
        assert!(!hex.contains(&key().id().to_string()));
    }

    /// draft-irtf-cfrg-xchacha-03, appendix A.3.1, so that other programs can read our frames.
    #[test]
    fn the_cipher_is_that_of_everybody() {
        let key = SecretKey::from_bytes(std::array::from_fn(|at| 0x80 + u8::try_from(at).unwrap()));
        let nonce = std::array::from_fn(|at| 0x40 + u8::try_from(at).unwrap());
        let associated = [0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7];
        let mut text = *b"Ladies and Gentlemen of the class of '99: If I could offer you only one \
                          tip for the future, sunscreen would be it.";
        let plain = text;
        let tag = key.seal(&nonce, &associated, &mut text);
        assert_eq!(text[..8], [0xbd, 0x6d, 0x17, 0x9d, 0x3e, 0x83, 0xd4, 0x3b]);
        assert_eq!(tag[..8], [0xc0, 0x87, 0x59, 0x24, 0xc1, 0xc7, 0x98, 0x79]);
        let sealed = [&nonce[..], &text, &tag].concat();
        assert_eq!(key.open(&associated, &sealed).unwrap(), plain);
        for bit in 0..sealed.len() * 8 {
            let mut wrong = sealed.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key.open(&associated, &wrong), None, "bit {bit}");
        }
        assert_eq!(key.open(&associated[1..], &sealed), None);
        assert_eq!(key.open(&associated, &sealed[..39]), None);
    }
}
