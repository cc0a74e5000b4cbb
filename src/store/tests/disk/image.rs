//! The content of a simulated file: pages that are shared until one is written.
//!
//! A copy costs one pointer for each page, so that thousands of states of a disk can be made.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::codec::check;

const PAGE_BYTES: usize = 4096;

#[derive(Debug, Clone, Default)]
pub(super) struct Image {
    length: usize,
    /// Missing pages are zeros.
    pages: Vec<Option<Arc<Page>>>,
    /// Number of pages reserved beyond the end.
    reserved: usize,
}

#[derive(Debug, Clone)]
struct Page {
    bytes: [u8; PAGE_BYTES],
    hash: OnceLock<u64>,
}

impl Image {
    pub(super) fn length(&self) -> u64 {
        self.length as u64
    }

    /// Fills `bytes` from `at` on; false if the file ends before.
    pub(super) fn read(&self, at: u64, bytes: &mut [u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        let Some(mut from) = usize::try_from(at).ok() else { return false };
        if from.checked_add(bytes.len()).is_none_or(|end| end > self.length) {
            return false;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let (page, within) = (from / PAGE_BYTES, from % PAGE_BYTES);
            let length = rest.len().min(PAGE_BYTES - within);
            let (part, behind) = rest.split_at_mut(length);
            match self.pages.get(page).and_then(Option::as_ref) {
                Some(page) => part.copy_from_slice(&page.bytes[within..within + length]),
                None => part.fill(0),
            }
            from += length;
            rest = behind;
        }
        true
    }

    /// Writes `bytes` at `at`; the file grows if needed.
    pub(super) fn write(&mut self, at: u64, bytes: &[u8]) {
        let mut from = usize::try_from(at).expect("simulated files are small");
        let mut rest = bytes;
        while !rest.is_empty() {
            let (page, within) = (from / PAGE_BYTES, from % PAGE_BYTES);
            let length = rest.len().min(PAGE_BYTES - within);
            let (part, behind) = rest.split_at(length);
            self.page(page).bytes[within..within + length].copy_from_slice(part);
            from += length;
            rest = behind;
        }
        self.length = self.length.max(from);
    }

    /// Reserves space beyond the end, up to this length.
    pub(super) fn reserve(&mut self, bytes: u64) {
        let pages = usize::try_from(bytes).expect("simulated files are small") / PAGE_BYTES;
        self.reserved = pages.saturating_sub(self.pages.len());
    }

    pub(super) fn is_reserved(&self) -> bool {
        self.reserved > 0
    }

    /// Also drops the reserve.
    pub(super) fn set_length(&mut self, length: u64) {
        self.reserved = 0;
        let length = usize::try_from(length).expect("simulated files are small");
        if length < self.length {
            self.pages.truncate(length.div_ceil(PAGE_BYTES));
            let within = length % PAGE_BYTES;
            // Truncated bytes read as zeros if the file grows again.
            if within > 0 && self.pages.get(length / PAGE_BYTES).is_some_and(Option::is_some) {
                self.page(length / PAGE_BYTES).bytes[within..].fill(0);
            }
        }
        self.length = length;
    }

    /// Makes whole pages read as zeros, and frees their space.
    pub(super) fn free(&mut self, part: &Range<u64>) {
        let number = |at| usize::try_from(at).expect("simulated files are small") / PAGE_BYTES;
        for page in number(part.start)..number(part.end).min(self.pages.len()) {
            self.pages[page] = None;
        }
    }

    /// Number of pages that take space.
    pub(super) fn pages(&self) -> usize {
        self.pages.iter().flatten().count() + self.reserved
    }

    /// Number of unwritten pages that these bytes lie in.
    pub(super) fn missing(&self, at: u64, length: usize) -> usize {
        let at = usize::try_from(at).expect("simulated files are small");
        let pages = at / PAGE_BYTES..(at + length).div_ceil(PAGE_BYTES);
        pages.filter(|page| self.pages.get(*page).is_none_or(Option::is_none)).count()
    }

    /// Two images with the same content have the same value.
    pub(super) fn hash(&self) -> u64 {
        let mut hash = check(0, &self.length.to_le_bytes());
        for (number, page) in self.pages.iter().enumerate() {
            if let Some(page) = page {
                let content = *page.hash.get_or_init(|| check(0, &page.bytes));
                hash = hash.rotate_left(5) ^ content.wrapping_mul(number as u64 * 2 + 1);
            }
        }
        hash
    }

    fn page(&mut self, number: usize) -> &mut Page {
        if self.pages.len() <= number {
            self.pages.resize(number + 1, None);
        }
        let empty = || Arc::new(Page { bytes: [0; PAGE_BYTES], hash: OnceLock::new() });
        let page = Arc::make_mut(self.pages[number].get_or_insert_with(empty));
        page.hash = OnceLock::new();
        page
    }
}

#[test]
fn an_image_reads_what_was_written_and_forgets_what_was_cut_off() {
    let mut image = Image::default();
    image.write(4000, &[7; 200]);
    let before = image.clone();
    image.set_length(4100);
    image.set_length(4200);
    let mut read = [1; 202];
    assert!(!image.read(3999, &mut read));
    assert!(image.read(3999, &mut read[..201]));
    assert_eq!(read[..102], [&[0][..], &[7; 100], &[0]].concat());
    assert_eq!(read[102..201], [0; 99]);
    assert_ne!(before.hash(), image.hash());
    image.write(4100, &[7; 100]);
    assert_eq!(before.hash(), image.hash());
}
