//! A whole store damaged in every way: bytes flipped, pages swapped, zeroed and cut off.

use std::fs;

use super::cases::Case;
use super::specimen::Specimen;
use crate::extent::extent_of;

const PAGE: usize = 4096;
// Primes, so that all places in a page come up.
const STRIDE: u64 = 2003;
const STRIDE_LONG: u64 = 251;

fn specimen() -> (Specimen, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let specimen = Specimen::make(&path);
    (specimen, fs::read(path).unwrap())
}

#[test]
fn a_flipped_byte_is_found_if_it_hurts_and_all_that_is_readable_is_saved() {
    let (specimen, bytes) = specimen();
    // 1 tries every byte, which takes minutes even in a release build.
    let stride = extent_of("WAYPOST_DAMAGE_STRIDE", STRIDE, STRIDE_LONG);
    let stride = usize::try_from(stride).unwrap();
    let masks = [0x01, 0x80, 0xff, 0x10, 0x04];
    let case = |number: usize| -> Option<Case> {
        let at = number.checked_mul(stride).filter(|at| *at < bytes.len())?;
        let mut damaged = bytes.clone();
        let mask = masks[(at + at / PAGE) % masks.len()];
        damaged[at] ^= mask;
        Some((format!("byte {at} flipped by {mask:#x}"), damaged))
    };
    let ends = specimen.try_all(None, &case, 4);
    eprintln!("{} bytes: {ends:?}", bytes.len());
    assert!(ends.hurt > 0 && ends.found >= ends.hurt && ends.repaired > 0, "{ends:?}");
}

#[test]
fn pages_that_are_zero_swapped_or_cut_off_lie_about_nothing() {
    let (specimen, bytes) = specimen();
    let pages = bytes.len() / PAGE;
    let case = |number: usize| -> Option<Case> {
        let (kind, page) = (number % 4, number / 4);
        let mut damaged = bytes.clone();
        let at = page * PAGE;
        if page >= pages {
            return None;
        }
        let name = match kind {
            0 => {
                damaged[at..at + PAGE].fill(0);
                "zeroed"
            }
            1 => {
                let other = (page * 7 + 3) % pages * PAGE;
                damaged.copy_within(at..at + PAGE, other);
                damaged[at..at + PAGE].copy_from_slice(&bytes[other..other + PAGE]);
                "swapped"
            }
            2 => {
                // Two pages of one table that are the same lead back and forth.
                let other = (page + 1) % pages * PAGE;
                damaged.copy_within(at..at + PAGE, other);
                "copied over the next"
            }
            _ => {
                // At the start of the page, or within it.
                damaged.truncate(at + if page % 3 == 1 { 1234 } else { 0 });
                "cut off"
            }
        };
        Some((format!("page {page} {name}"), damaged))
    };
    let ends = specimen.try_all(None, &case, 3);
    eprintln!("{pages} pages: {ends:?}");
    assert!(ends.hurt > pages && ends.repaired > 0 && ends.beyond > 0, "{ends:?}");
}
