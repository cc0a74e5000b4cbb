//! Documents as zstd frames, for the rivals that do not compress by themselves.
//!
//! A thread keeps its contexts: making one costs more than compressing a small document.

use std::cell::RefCell;

use anyhow::{Context, Result, anyhow};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::get_frame_content_size;

// The default of the library, and what its users would take.
const LEVEL: i32 = 3;

thread_local! {
    static CONTEXTS: RefCell<Option<(Compressor<'static>, Decompressor<'static>)>> =
        const { RefCell::new(None) };
}

pub(super) fn pack(json: &[u8]) -> Result<Vec<u8>> {
    with_contexts(|compressor, _| Ok(compressor.compress(json)?))
}

pub(super) fn unpack(frame: &[u8]) -> Result<String> {
    let length = get_frame_content_size(frame)
        .map_err(|error| anyhow!("{error}"))?
        .context("a frame without its length")?;
    let json = with_contexts(|_, decompressor| {
        Ok(decompressor.decompress(frame, usize::try_from(length)?)?)
    })?;
    Ok(String::from_utf8(json)?)
}

fn with_contexts<T>(
    work: impl FnOnce(&mut Compressor<'static>, &mut Decompressor<'static>) -> Result<T>,
) -> Result<T> {
    CONTEXTS.with_borrow_mut(|contexts| {
        if contexts.is_none() {
            *contexts = Some((Compressor::new(LEVEL)?, Decompressor::new()?));
        }
        let (compressor, decompressor) = contexts.as_mut().context("made above")?;
        work(compressor, decompressor)
    })
}
