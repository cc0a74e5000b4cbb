//! Pages of a tree: leaves with rows, and branches with the pages below. Every access checks
//! bounds, since a damaged page may hold any number.

use std::ops::Range;

use super::{Root, Shape};
use crate::codec::check_wide;

pub(super) const LEAF: u8 = 1;
pub(super) const BRANCH: u8 = 2;

const COUNT: Range<usize> = 2..4;
const OFFSET_BYTES: usize = 4;

/// A page with rows.
pub(super) struct Leaf<'a> {
    bytes: &'a [u8],
    shape: Shape,
    count: usize,
}

impl<'a> Leaf<'a> {
    pub(super) fn new(bytes: &'a [u8], shape: Shape) -> Self {
        Self { bytes, shape, count: count(bytes) }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// How long the page is.
    pub(super) fn length(&self) -> usize {
        self.bytes.len()
    }

    /// Number of bytes used, as the start of the page says; `None` if that is not the start of a
    /// leaf.
    pub(super) fn used(&self) -> Option<usize> {
        let mut end = self.keys_start();
        for number in 0..self.count {
            end = self.key_end(number).filter(|key_end| *key_end >= end)?;
        }
        // Leaves are split long before their keys fill a page.
        if self.count == 0 || end > self.bytes.len() {
            return None;
        }
        for number in 0..self.count {
            end = self.value_end(number).filter(|value_end| *value_end >= end)?;
        }
        Some(end)
    }

    /// The sum of the used part of the page.
    pub(super) fn sum(&self) -> Option<u128> {
        let end = self.value_end(self.count.checked_sub(1)?)?;
        self.bytes.get(..end).map(check_wide)
    }

    /// Key and value, and where in the page the value is.
    pub(super) fn row(&self, number: usize) -> Option<(&'a [u8], &'a [u8], usize)> {
        let key_start = match number.checked_sub(1) {
            Some(before) => self.key_end(before)?,
            None => self.keys_start(),
        };
        let value_start = match number.checked_sub(1) {
            Some(before) => self.value_end(before)?,
            None => self.key_end(self.count.checked_sub(1)?)?,
        };
        let key = self.bytes.get(key_start..self.key_end(number)?)?;
        let value = self.bytes.get(value_start..self.value_end(number)?)?;
        Some((key, value, value_start))
    }

    /// Ends of keys come first, then those of values, each only if lengths vary.
    fn keys_start(&self) -> usize {
        let ends = usize::from(self.shape.key.is_none()) + usize::from(self.shape.value.is_none());
        COUNT.end + ends * OFFSET_BYTES * self.count
    }

    fn key_end(&self, number: usize) -> Option<usize> {
        match self.shape.key {
            Some(width) => Some(self.keys_start() + width * (number + 1)),
            None => offset(self.bytes, COUNT.end + OFFSET_BYTES * number),
        }
    }

    fn value_end(&self, number: usize) -> Option<usize> {
        if let Some(width) = self.shape.value {
            return Some(self.key_end(self.count.checked_sub(1)?)? + width * (number + 1));
        }
        let before = if self.shape.key.is_none() { self.count } else { 0 };
        offset(self.bytes, COUNT.end + OFFSET_BYTES * (before + number))
    }
}

/// A page with pages below it.
pub(super) struct Branch<'a> {
    bytes: &'a [u8],
    shape: Shape,
    keys: usize,
}

impl<'a> Branch<'a> {
    const START: usize = 8;
    const SUM_BYTES: usize = 16;
    const NUMBER_BYTES: usize = 8;

    pub(super) fn new(bytes: &'a [u8], shape: Shape) -> Self {
        Self { bytes, shape, keys: count(bytes) }
    }

    /// How long the page is.
    pub(super) fn length(&self) -> usize {
        self.bytes.len()
    }

    /// How many pages are below.
    pub(super) fn count(&self) -> usize {
        self.keys + 1
    }

    /// The sum of the used part of the page.
    pub(super) fn sum(&self) -> Option<u128> {
        let last = self.keys.checked_sub(1)?;
        let behind = Self::START + (Self::SUM_BYTES + Self::NUMBER_BYTES) * self.count();
        let end = match self.shape.key {
            Some(width) => Some(behind + width * self.keys),
            None => offset(self.bytes, behind + OFFSET_BYTES * last),
        };
        self.bytes.get(..end?).map(check_wide)
    }

    pub(super) fn child(&self, number: usize) -> Option<Root> {
        let sum_at = Self::START + Self::SUM_BYTES * number;
        let at = Self::START + Self::SUM_BYTES * self.count() + Self::NUMBER_BYTES * number;
        let sum = self.bytes.get(sum_at..sum_at + Self::SUM_BYTES)?.try_into().ok()?;
        let page = self.bytes.get(at..at + Self::NUMBER_BYTES)?.try_into().ok()?;
        Some(Root { page: u64::from_le_bytes(page), sum: u128::from_le_bytes(sum) })
    }
}

fn count(bytes: &[u8]) -> usize {
    bytes.get(COUNT).map_or(0, |count| usize::from(u16::from_le_bytes([count[0], count[1]])))
}

fn offset(bytes: &[u8], at: usize) -> Option<usize> {
    let offset = bytes.get(at..at + OFFSET_BYTES)?.try_into().ok()?;
    Some(u32::from_le_bytes(offset) as usize)
}
