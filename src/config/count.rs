//! Numbers of a file: how many are kept, and how much they may take.

use super::field::Field;
use crate::error::Result;
use crate::yaml::Value;

const MEBIBYTE: u64 = 1 << 20;

impl Field<'_> {
    /// How many of the newest are kept: all if it is negative.
    pub(super) fn count(&self) -> Result<Option<u32>> {
        let count = match self.value() {
            _ if self.is_negative() => return Ok(None),
            Value::Uint(count) => u32::try_from(*count).ok(),
            _ => None,
        };
        let right = "a whole number: -1 for all, 0 for none, n for the last n";
        count.map(Some).ok_or_else(|| self.wrong(right))
    }

    /// The same, or `all`.
    pub(super) fn count_or_all(&self) -> Result<Option<u32>> {
        match self.value() {
            Value::Text(text) if text == "all" => Ok(None),
            Value::Text(_) => Err(self.wrong("a whole number, or all")),
            _ => self.count(),
        }
    }

    /// A size in mebibytes, as bytes: none if it is negative.
    pub(super) fn mebibytes(&self) -> Result<Option<u64>> {
        let bytes = match self.value() {
            _ if self.is_negative() => return Ok(None),
            Value::Uint(count) => count.checked_mul(MEBIBYTE),
            Value::Float { value, .. } if value.is_finite() && *value < 0.0 => return Ok(None),
            Value::Float { value, .. } if value.is_finite() => Some(bytes(*value)),
            _ => None,
        };
        bytes.map(Some).ok_or_else(|| self.wrong("a number of MiB, or -1 for no limit"))
    }

    fn is_negative(&self) -> bool {
        match self.value() {
            Value::Int(_) => true,
            Value::BigInt(digits) => digits.starts_with('-'),
            _ => false,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "what no number of bytes holds becomes the largest one, which is no limit either"
)]
fn bytes(mebibytes: f64) -> u64 {
    (mebibytes * MEBIBYTE as f64) as u64
}
