//! zstd: reused contexts, and the parameters that measured best.
//!
//! The only file that names zstd. `docs/MEASURED.md` has the measurements behind the numbers.

use std::fmt;
use std::sync::{Mutex, OnceLock};

use zstd::zstd_safe::{CCtx, CDict, CParameter, DCtx, DDict, compress_bound};

use crate::sync::lock;

/// The dictionaries of the format. The number of each is its place, from 1, and never changes.
///
/// Made by `tools/dictionary`; writers use the last one.
const DICTIONARIES: &[&[u8]] = &[include_bytes!("dictionary/1.zdict")];
// Larger ones save a fiftieth at most and take a fifth longer; see docs/MEASURED.md.
const PRIMED_BYTES_MAX: usize = 8 << 10;

// The knee of the table of levels in docs/MEASURED.md.
const LEVEL: i32 = 1;
// For frames that are compressed once more. Higher ones take ten times as long and save a
// twentieth.
const TIGHT_LEVEL: i32 = 9;
// Where the head of a zstd frame says which fields follow, and the bits of those with its length.
const HEAD_AT: usize = 4;
const HEAD_LENGTH_BITS: u8 = 0b1110_0000;
// Up to here the tables of this level are large enough to search a whole base.
const LEVEL_REACHES_BYTES: usize = 128 << 10;
// Larger tables cost more to clear than they save.
const HASH_LOG_MAX: u32 = 22;
// zstd has no smaller window.
const WINDOW_LOG_MIN: u32 = 10;
// A larger buffer is kept for the next frame only if most are as large.
const SCRATCH_BYTES_MAX: usize = 1 << 20;

#[derive(Default)]
pub(super) struct Zstd {
    // Contexts are large; each is used by one thread at a time and then kept for the next.
    compressors: Mutex<Vec<Compressor>>,
    decompressors: Mutex<Vec<DCtx<'static>>>,
    /// Of the dictionary for writing; made when it is first needed.
    writing: OnceLock<Option<CDict<'static>>>,
    tight: OnceLock<Option<CDict<'static>>>,
    reading: [OnceLock<DDict<'static>>; DICTIONARIES.len()],
}

struct Compressor {
    context: CCtx<'static>,
    /// Output buffer, since the compressed length is not known before.
    scratch: Vec<u8>,
}

impl fmt::Debug for Zstd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Zstd").finish_non_exhaustive()
    }
}

impl Zstd {
    /// A frame that stands alone, or needs the dictionary with this number.
    pub(super) fn compress(&self, raw: &[u8]) -> Option<(Option<u64>, Vec<u8>)> {
        let primed = if raw.len() <= PRIMED_BYTES_MAX { self.dictionary() } else { None };
        let payload = self.with_compressor(raw.len(), |context, out| match primed {
            Some((_, dictionary)) => context.compress_using_cdict(out, raw, dictionary).map(drop),
            None => context.compress(out, raw, LEVEL).map(drop),
        })?;
        Some((primed.map(|(number, _)| number), payload))
    }

    /// A frame that refers to `base`.
    ///
    /// zstd would take a base that starts like one of its dictionaries for one. A document never
    /// does: its first byte is a tag.
    pub(super) fn compress_against(&self, base: &[u8], raw: &[u8]) -> Option<Vec<u8>> {
        let reach = base.len() + raw.len();
        self.with_compressor(raw.len(), |context, out| {
            if reach <= LEVEL_REACHES_BYTES {
                return context.compress_using_dict(out, raw, base, LEVEL).map(drop);
            }
            // A kept context could not borrow the base. Compared with the work on documents of this
            // size, a new context costs little.
            let mut context = CCtx::try_create().ok_or(usize::MAX)?;
            refer(&mut context, base, reach, LEVEL)?;
            context.compress2(out, raw).map(drop)
        })
    }

    /// As the others, but smaller, and several times as slow.
    ///
    /// The zstd frame does not say how long its content is, which marks it: see [`is_tight`].
    pub(super) fn compress_tight(
        &self,
        raw: &[u8],
        base: Option<&[u8]>,
    ) -> Option<(Option<u64>, Vec<u8>)> {
        let is_primed = base.is_none() && raw.len() <= PRIMED_BYTES_MAX;
        let dictionary = self.tight.get_or_init(|| dictionary_at(TIGHT_LEVEL)).as_ref();
        let dictionary = dictionary.filter(|_| is_primed);
        let tight = compress_unsized(raw, (base, dictionary), TIGHT_LEVEL)?;
        Some((dictionary.map(|_| DICTIONARIES.len() as u64), tight))
    }

    /// As [`Zstd::compress_tight`], but as fast and as long as the others, if those are smaller.
    pub(super) fn compress_marked(
        &self,
        raw: &[u8],
        base: Option<&[u8]>,
    ) -> Option<(Option<u64>, Vec<u8>)> {
        let primed = (base.is_none() && raw.len() <= PRIMED_BYTES_MAX).then(|| self.dictionary());
        let (number, dictionary) = primed.flatten().unzip();
        Some((number, compress_unsized(raw, (base, dictionary), LEVEL)?))
    }

    /// zstd never writes beyond `length`.
    pub(super) fn decompress(&self, payload: &[u8], length: usize) -> Option<Vec<u8>> {
        self.with_decompressor(length, |context, out| context.decompress(out, payload).map(drop))
    }

    pub(super) fn decompress_against(
        &self,
        base: &[u8],
        payload: &[u8],
        length: usize,
    ) -> Option<Vec<u8>> {
        self.with_decompressor(length, |context, out| {
            context.decompress_using_dict(out, payload, base).map(drop)
        })
    }

    pub(super) fn has_dictionary(number: u64) -> bool {
        (1..=DICTIONARIES.len() as u64).contains(&number)
    }

    /// `None` also if there is no dictionary with this number.
    pub(super) fn decompress_primed(
        &self,
        number: u64,
        payload: &[u8],
        length: usize,
    ) -> Option<Vec<u8>> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        let bytes = DICTIONARIES.get(at)?;
        let dictionary = self.reading.get(at)?.get_or_init(|| DDict::create(bytes));
        self.with_decompressor(length, |context, out| {
            context.decompress_using_ddict(out, payload, dictionary).map(drop)
        })
    }

    /// The dictionary for writing, and its number.
    fn dictionary(&self) -> Option<(u64, &CDict<'static>)> {
        let dictionary = self.writing.get_or_init(|| dictionary_at(LEVEL));
        Some((DICTIONARIES.len() as u64, dictionary.as_ref()?))
    }

    fn with_compressor(
        &self,
        raw_bytes: usize,
        work: impl FnOnce(&mut CCtx<'static>, &mut Vec<u8>) -> Result<(), usize>,
    ) -> Option<Vec<u8>> {
        let pooled = lock(&self.compressors).pop();
        let mut compressor = match pooled {
            Some(compressor) => compressor,
            None => Compressor { context: CCtx::try_create()?, scratch: Vec::new() },
        };
        let Compressor { context, scratch } = &mut compressor;
        scratch.clear();
        scratch.reserve(compress_bound(raw_bytes));
        let compressed = work(context, scratch).is_ok().then(|| scratch.as_slice().to_owned());
        scratch.shrink_to(SCRATCH_BYTES_MAX);
        lock(&self.compressors).push(compressor);
        compressed
    }

    fn with_decompressor(
        &self,
        length: usize,
        work: impl FnOnce(&mut DCtx<'static>, &mut Vec<u8>) -> Result<(), usize>,
    ) -> Option<Vec<u8>> {
        let pooled = lock(&self.decompressors).pop();
        let mut context = pooled.or_else(DCtx::try_create)?;
        let mut raw = Vec::with_capacity(length);
        let is_done = work(&mut context, &mut raw).is_ok();
        lock(&self.decompressors).push(context);
        is_done.then_some(raw)
    }
}

/// Whether a zstd frame was compressed as small as it can be: then it does not state its length.
pub(super) fn is_tight(payload: &[u8]) -> bool {
    payload.get(HEAD_AT).is_some_and(|head| head & HEAD_LENGTH_BITS == 0)
}

fn dictionary_at(level: i32) -> Option<CDict<'static>> {
    DICTIONARIES.last().map(|bytes| CDict::create(bytes, level))
}

/// One zstd frame without its length, against a base or a dictionary if there is one.
fn compress_unsized(
    raw: &[u8],
    (base, dictionary): (Option<&[u8]>, Option<&CDict<'static>>),
    level: i32,
) -> Option<Vec<u8>> {
    // A kept context could borrow neither.
    let mut context = CCtx::try_create()?;
    context.set_parameter(CParameter::ContentSizeFlag(false)).ok()?;
    context.set_parameter(CParameter::CompressionLevel(level)).ok()?;
    if let Some(base) = base {
        refer(&mut context, base, base.len() + raw.len(), level).ok()?;
    } else if let Some(dictionary) = dictionary {
        context.ref_cdict(dictionary).ok()?;
    }
    let mut out = Vec::with_capacity(compress_bound(raw.len()));
    context.compress2(&mut out, raw).ok()?;
    out.shrink_to_fit();
    Some(out)
}

/// Makes a context search all of a base.
fn refer<'a>(
    context: &mut CCtx<'a>,
    base: &'a [u8],
    reach: usize,
    level: i32,
) -> Result<(), usize> {
    let reach_log = (usize::BITS - reach.leading_zeros()).max(WINDOW_LOG_MIN);
    context.set_parameter(CParameter::CompressionLevel(level))?;
    context.set_parameter(CParameter::WindowLog(reach_log))?;
    if level == LEVEL && reach > LEVEL_REACHES_BYTES {
        context.set_parameter(CParameter::HashLog((reach_log - 3).min(HASH_LOG_MAX)))?;
    }
    context.ref_prefix(base).map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    /// Of each dictionary. These numbers must never change: stores need these very bytes.
    const SUMS: [u64; 1] = [0xA5C2_2C49_1430_8B58];

    #[test]
    fn dictionaries_are_for_ever() {
        let sums: Vec<u64> = DICTIONARIES.iter().map(|bytes| check(0, bytes)).collect();
        assert_eq!(sums, SUMS);
    }

    /// zstd writes the id of a dictionary into every frame; an id of its own making takes four
    /// bytes.
    #[test]
    fn the_id_of_a_dictionary_is_its_number() {
        for (number, bytes) in (1_u32..).zip(DICTIONARIES) {
            assert_eq!(bytes[4..8], number.to_le_bytes());
        }
    }
}
