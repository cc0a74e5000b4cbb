//! The values that a condition names, and how a document compares with them.

use std::cmp::Ordering;

use crate::checkpoint::Document;
use crate::diff::compare_numbers;

/// A value, and how it is spelled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    document: Document,
    spelled: String,
}

impl Value {
    /// A text that was written in quotes.
    pub(super) fn text(text: String) -> Self {
        Self { document: Document::Text(text.clone()), spelled: text }
    }

    /// A number, a word of JSON, or any other word.
    pub(super) fn word(word: &str) -> Self {
        let document = match word {
            "null" => Document::Null,
            "true" => Document::Bool(true),
            "false" => Document::Bool(false),
            // As Python writes them, and as documents contain them.
            "NaN" => Document::Float(f64::NAN),
            "Infinity" => Document::Float(f64::INFINITY),
            "-Infinity" => Document::Float(f64::NEG_INFINITY),
            number if is_number(number) => Document::Number(number.to_owned()),
            word => Document::Text(word.to_owned()),
        };
        Self { document, spelled: word.to_owned() }
    }

    /// How a document compares with the value, if both are numbers or both are texts.
    pub(super) fn compare(&self, found: &Document) -> Option<Ordering> {
        match (found, &self.document) {
            (Document::Text(found), Document::Text(value)) => Some(found.cmp(value)),
            (found, value) => compare_numbers(found, value),
        }
    }

    pub(super) fn equals(&self, found: &Document) -> bool {
        match (found, &self.document) {
            (Document::Null, Document::Null) => true,
            (Document::Bool(found), Document::Bool(value)) => found == value,
            // A NaN equals another, as in a diff.
            (Document::Float(found), Document::Float(value)) if value.is_nan() => found.is_nan(),
            (found, _) => self.compare(found) == Some(Ordering::Equal),
        }
    }

    /// Whether it is a part of a text, an element of a list, or a key of an object.
    pub(super) fn is_within(&self, found: &Document) -> bool {
        match found {
            Document::Text(text) => text.contains(&self.spelled),
            Document::Array(elements) => elements.iter().any(|element| self.equals(element)),
            Document::Object(_) => found.get(&self.spelled).is_some(),
            Document::Null
            | Document::Bool(_)
            | Document::Int(_)
            | Document::Uint(_)
            | Document::Float(_)
            | Document::Number(_)
            | Document::Bytes(_) => false,
        }
    }
}

/// Whether a word is a number in JSON.
fn is_number(word: &str) -> bool {
    let positive = word.strip_prefix('-').unwrap_or(word);
    let (mantissa, exponent) = match positive.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (positive, None),
    };
    let (whole, part) = match mantissa.split_once('.') {
        Some((whole, part)) => (whole, Some(part)),
        None => (mantissa, None),
    };
    let is_whole = whole == "0" || (!whole.starts_with('0') && are_digits(whole));
    let unsigned = |exponent: &str| exponent.strip_prefix(['+', '-']).unwrap_or(exponent).len();
    let is_exponent = |exponent: &str| are_digits(&exponent[exponent.len() - unsigned(exponent)..]);
    is_whole && part.is_none_or(are_digits) && exponent.is_none_or(is_exponent)
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
