//! Compressing as the store does it, with a dictionary and without: how long, and how fast.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use zstd::zstd_safe::{CCtx, CDict, DCtx, DDict, SafeResult, compress_bound, get_error_name};

// As in src/codec/compress.rs.
const LEVEL: i32 = 1;
// Kind, raw length and sum of a frame, as most are.
const HEAD_BYTES: usize = 1 + 3 + 8;
const ROUNDS: u32 = 25;
const ROUND_REPEATS: u32 = 20;

/// Compresses with a dictionary, or without.
pub(crate) struct Packer<'a> {
    context: CCtx<'static>,
    back: DCtx<'static>,
    dictionaries: Option<(CDict<'a>, DDict<'a>)>,
    out: Vec<u8>,
}

/// How long it takes to compress and to decompress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) compress: Duration,
    pub(crate) decompress: Duration,
}

impl<'a> Packer<'a> {
    pub(crate) fn plain() -> Self {
        let (context, back) = (CCtx::create(), DCtx::create());
        Self { context, back, dictionaries: None, out: Vec::new() }
    }

    pub(crate) fn primed(dictionary: &'a [u8]) -> Self {
        let both = (CDict::create(dictionary, LEVEL), DDict::create(dictionary));
        Self { dictionaries: Some(both), ..Self::plain() }
    }

    /// The bytes of the whole frame; not more than without compression.
    pub(crate) fn stored_bytes(&mut self, raw: &[u8]) -> Result<usize> {
        let payload = self.compress(raw)?;
        let number_bytes = usize::from(self.dictionaries.is_some());
        Ok(HEAD_BYTES + (payload.len() + number_bytes).min(raw.len()))
    }

    /// Of one document, the fastest of many rounds, so that other work on the machine shows least.
    pub(crate) fn times(&mut self, raw: &[u8]) -> Result<Times> {
        let payload = self.compress(raw)?;
        let mut fastest = Times { compress: Duration::MAX, decompress: Duration::MAX };
        for _ in 0..ROUNDS {
            let started = Instant::now();
            for _ in 0..ROUND_REPEATS {
                black_box(self.compress(black_box(raw))?);
            }
            fastest.compress = fastest.compress.min(started.elapsed() / ROUND_REPEATS);
            let started = Instant::now();
            for _ in 0..ROUND_REPEATS {
                black_box(self.decompress(black_box(&payload), raw.len())?);
            }
            fastest.decompress = fastest.decompress.min(started.elapsed() / ROUND_REPEATS);
        }
        Ok(fastest)
    }

    fn compress(&mut self, raw: &[u8]) -> Result<Vec<u8>> {
        self.out.clear();
        self.out.reserve(compress_bound(raw.len()));
        let (context, out) = (&mut self.context, &mut self.out);
        named(match &self.dictionaries {
            Some((dictionary, _)) => context.compress_using_cdict(out, raw, dictionary),
            None => context.compress(out, raw, LEVEL),
        })?;
        Ok(self.out.clone())
    }

    fn decompress(&mut self, payload: &[u8], length: usize) -> Result<Vec<u8>> {
        let mut raw = Vec::with_capacity(length);
        named(match &self.dictionaries {
            Some((_, dictionary)) => {
                self.back.decompress_using_ddict(&mut raw, payload, dictionary)
            }
            None => self.back.decompress(&mut raw, payload),
        })?;
        Ok(raw)
    }
}

fn named(result: SafeResult) -> Result<usize> {
    result.map_err(|code| anyhow!("zstd: {}", get_error_name(code)))
}
