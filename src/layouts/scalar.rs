//! Numbers that some files quote, and texts that some leave unquoted.

use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value};

/// A number or a text, written back as it was read.
///
/// Scripts put quotes around numbers (`"current_phase": "3"`), and YAML reads a version without
/// quotes as a number.
///
/// ```
/// use waypost::layouts::{Scalar, from_json};
///
/// # fn main() -> waypost::Result<()> {
/// let phase: Scalar = from_json(br#""3""#)?;
/// assert_eq!(phase.as_i64(), Some(3));
/// assert!(phase.is_text());
/// assert_eq!(Scalar::from(3).to_string(), "3");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Scalar(Value);

impl Scalar {
    /// Returns the whole number that this is or spells.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Returns the finite number that this is or spells.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        let number = match &self.0 {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        number.filter(|number: &f64| number.is_finite())
    }

    /// Tells whether it is a text, which may spell a number.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.0.is_string()
    }
}

impl fmt::Display for Scalar {
    /// The number or the text, without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Value::String(text) => f.pad(text),
            other => f.pad(&other.to_string()),
        }
    }
}

impl From<u64> for Scalar {
    fn from(number: u64) -> Self {
        Self(number.into())
    }
}

impl From<&str> for Scalar {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOfBoth)
    }
}

struct OneOfBoth;

impl Visitor<'_> for OneOfBoth {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a text")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
        Ok(number.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar(number.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Scalar, E> {
        let number = Number::from_f64(number).ok_or_else(|| E::custom("not a finite number"))?;
        Ok(Scalar(Value::Number(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
        Ok(text.into())
    }
}
