//! Hostile bytes: any bytes on a disk are read or refused, within bounds.
//!
//! Sums are recomputed after bytes were changed, so that the code behind them is reached.
//!
//! Covers documents, frames, JSON, journal and entry records, rows of holders, sealed files and
//! frames, and files as their source text.

mod document;
mod frame;
mod json;
pub(crate) mod record;
mod row;
#[cfg(feature = "encrypt")]
mod sealed;
mod source;
