//! The text of a lock file: who has the store, which store that is, and how it is sealed.
//!
//! Spooling processes rely on it, so it ends with a checksum: a torn text counts as unknown. Must
//! never decide whether a store opens: any content is read without an error.
//!
//! The text is not synced, so a power loss may leave an old text, a torn one, or zeros: ext4 left a
//! file that was truncated and rewritten as zeros in 8 of 2,276 cuts. So the text is written in
//! place, within one sector, and ends with the checksum. A torn text makes a save wait for the
//! store instead of being spooled. An old text that comes back whole is harmless: it names the file
//! of its store by device and inode, and a `rekey` removes the old key from the text and syncs that
//! first. On a full disk the old text may stay, unless it states another key than the store's.
//!
//! Content that no store wrote (`my notes`) stays. The file still works as a lock, but the holder
//! does not write its text, so no process spools; `doctor` prints the command that mends it. Moving
//! such a file away automatically would need a protocol, since a lock on a moved file excludes no
//! process.

use std::fmt::Write as _;

use crate::codec::{KeyId, check};
use crate::store::engine::disk::FileId;
use crate::store::engine::sealing::Sealing;

/// The start of a holder's name.
pub(in crate::store) const SIGNED: &str = "process ";
// With the other lines the text fits into one sector of 512 bytes, which disks write whole.
const HOLDER_BYTES_MAX: usize = 300;
// Builds without a checksum wrote labels of any length.
const HOLDER_CHARS_MAX: usize = 200;
/// No store writes a longer text now: it fits into one sector.
pub(super) const TEXT_BYTES: u64 = 512;
/// No build ever wrote a longer file.
pub(super) const TEXT_BYTES_MAX: usize = 64 << 10;
// In place of a key id if nothing is sealed.
const PLAIN: &str = "plain";
const SUM: &str = "sum ";

/// Which store the holder of a lock has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) struct HeldStore {
    pub(in crate::store) identity: u64,
    /// The file of the store; `None` where the system cannot identify files.
    pub(in crate::store) file: Option<FileId>,
    pub(in crate::store) sealing: Sealing,
}

/// What a lock file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::store) struct Text {
    /// Empty if nobody has the store.
    pub(in crate::store) holder: String,
    pub(in crate::store) known: Option<HeldStore>,
}

/// What is in a lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::store) enum Content {
    Whole(Text),
    /// A torn text, after a kill or a power cut. Ignored and overwritten.
    Damaged,
    /// Not written by a store. Ignored and left alone.
    Foreign,
}

impl Text {
    pub(in crate::store) fn new(holder: &str, known: Option<HeldStore>) -> Self {
        let mut holder = holder.replace('\n', " ");
        holder.truncate(holder.floor_char_boundary(HOLDER_BYTES_MAX));
        Self { holder, known }
    }

    pub(in crate::store) fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("{}\n", self.holder);
        if let Some(known) = &self.known {
            known.write(&mut text);
        }
        let sum = check(0, text.as_bytes());
        let _ = writeln!(text, "{SUM}{sum:016x}");
        text.into_bytes()
    }
}

impl Content {
    /// Reads up to [`TEXT_BYTES_MAX`] bytes and one more.
    pub(in crate::store) fn parse(bytes: &[u8]) -> Self {
        if bytes.len() > TEXT_BYTES_MAX {
            return Self::Foreign;
        }
        let text = match ended(bytes) {
            // What follows is the rest of a longer text that was written over.
            Some((lines, sum)) => str::from_utf8(lines).ok().filter(|_| sum == check(0, lines)),
            None => str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')),
        };
        if let Some(text) = text.filter(|text| is_begun(text.as_bytes())) {
            return Self::Whole(Text::read(text));
        }
        let left: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
        if is_begun(&left) { Self::Damaged } else { Self::Foreign }
    }
}

/// The lines before the first checksum, and that checksum; `None` for a text of an earlier build,
/// which has none.
fn ended(bytes: &[u8]) -> Option<(&[u8], u64)> {
    let is_sum =
        |at: &usize| bytes[..*at].ends_with(b"\n") && bytes[*at..].starts_with(SUM.as_bytes());
    let at = (1..bytes.len()).find(is_sum)?;
    let digits = bytes[at + SUM.len()..].split(|byte| *byte == b'\n').next()?;
    // A truncated checksum counts as a wrong one.
    let sum = str::from_utf8(digits).ok().and_then(number);
    Some((&bytes[..at], sum.unwrap_or_else(|| !check(0, &bytes[..at]))))
}

/// Whether bytes are the beginning of a text, however short.
fn is_begun(bytes: &[u8]) -> bool {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(rest) = line.strip_prefix(SIGNED.as_bytes()) else {
        let next = bytes.get(1);
        let is_nobody = next.is_none_or(|it| it.is_ascii_hexdigit() || *it == SUM.as_bytes()[0]);
        return if line.is_empty() { is_nobody } else { SIGNED.as_bytes().starts_with(bytes) };
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let label = &rest[digits..];
    rest.is_empty() || (digits > 0 && (label.starts_with(b" (") || b" ".starts_with(label)))
}

impl Text {
    fn read(text: &str) -> Self {
        let holder = text.lines().next().unwrap_or_default();
        let holder = holder.chars().take(HOLDER_CHARS_MAX).collect();
        Self { holder, known: HeldStore::read(text) }
    }
}

impl HeldStore {
    /// The lines after the holder, if they are complete.
    fn read(text: &str) -> Option<Self> {
        // The last line may be cut short in a text without a checksum.
        let mut lines = text.strip_suffix('\n')?.lines().skip(1);
        let identity = number(lines.next()?)?;
        let mut line = lines.next();
        let file = line.and_then(file_id);
        if file.is_some() {
            line = lines.next();
        }
        let sealing = match line {
            Some(PLAIN) => Sealing::Plain,
            Some(digits) => Sealing::With(KeyId::from_number(number(digits)?)),
            None => Sealing::Unknown,
        };
        Some(Self { identity, file, sealing })
    }

    fn write(&self, text: &mut String) {
        let _ = writeln!(text, "{:016x}", self.identity);
        // Before the sealing: a reader of a torn text then does not know the sealing, and waits.
        if let Some(FileId { device, inode, born }) = self.file {
            let _ = writeln!(text, "{device:016x}{inode:016x}{born:016x}");
        }
        let _ = match self.sealing {
            Sealing::With(id) => writeln!(text, "{id}"),
            Sealing::Plain => writeln!(text, "{PLAIN}"),
            Sealing::Unknown => Ok(()),
        };
    }
}

fn number(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 16)
}

fn file_id(digits: &str) -> Option<FileId> {
    let (device, rest) = digits.split_at_checked(16)?;
    let (inode, born) = rest.split_at_checked(16)?;
    Some(FileId { device: number(device)?, inode: number(inode)?, born: number(born)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: HeldStore = HeldStore { identity: 7, file: None, sealing: Sealing::Plain };

    #[test]
    fn a_text_is_laid_out_as_the_format_says() {
        let text = Text::new("process 7 (a\nlabel)", Some(KNOWN)).to_bytes();
        let lines = b"process 7 (a label)\n0000000000000007\nplain\n";
        let sum = format!("sum {:016x}\n", check(0, lines));
        assert_eq!(text, [lines, sum.as_bytes()].concat());
    }

    /// As after a kill between writing a text and truncating the longer one before it.
    #[test]
    fn the_rest_of_a_longer_text_is_ignored() {
        let whole = Text::new("", Some(KNOWN));
        let longer =
            Text::new("process 7 (with a long label)", Some(HeldStore { identity: 9, ..KNOWN }));
        let mut bytes = longer.to_bytes();
        let text = whole.to_bytes();
        bytes[..text.len()].copy_from_slice(&text);
        assert_eq!(Content::parse(&bytes), Content::Whole(whole));
    }

    /// A crash left parts of two texts.
    #[test]
    fn a_text_with_a_wrong_checksum_is_ignored() {
        let mut bytes = Text::new("process 7", Some(KNOWN)).to_bytes();
        let at = bytes.iter().position(|byte| *byte == b'7').unwrap();
        bytes[at] = b'8';
        assert_eq!(Content::parse(&bytes), Content::Damaged);
    }

    #[test]
    fn a_text_without_a_checksum_is_read_as_before() {
        let old = b"process 7\n0000000000000007\nplain\n";
        let whole = Text { holder: "process 7".to_owned(), known: Some(KNOWN) };
        assert_eq!(Content::parse(old), Content::Whole(whole));
    }

    #[test]
    fn foreign_content_is_told_from_a_torn_text() {
        let nothing = Content::Whole(Text::default());
        assert_eq!(Content::parse(b""), nothing);
        assert_eq!(Content::parse(b"\n"), nothing);
        let left: [&[u8]; 5] =
            [&[0; 85], b"pro\0\0\0", b"\0\0process 7\n", b"\nsum 12", b"process 7\n\0\0"];
        for bytes in left {
            assert_eq!(Content::parse(bytes), Content::Damaged, "{bytes:?}");
        }
        let notes: [&[u8]; 8] = [
            b"my notes",
            b"pro memoria",
            b"process of elimination",
            b"process 7 is stuck",
            b"\n\nmy notes",
            b"\xff\xfe",
            b"\0my notes\0",
            &vec![b'\n'; TEXT_BYTES_MAX + 1],
        ];
        for bytes in notes {
            assert_eq!(Content::parse(bytes), Content::Foreign, "{bytes:?}");
        }
    }
}
