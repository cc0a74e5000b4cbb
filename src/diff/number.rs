//! The value of a number, in any spelling.
//!
//! Must never go through a double: 9007199254740993 is not 9007199254740992.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::checkpoint::Document;

/// Compares two numbers by their exact value, however they are spelled.
///
/// `None` if one of them is no number, is NaN, or has an exponent beyond 64 bits and the other is
/// not written alike.
#[must_use]
pub fn compare_numbers(one: &Document, other: &Document) -> Option<Ordering> {
    Exact::of(one)?.compare(&Exact::of(other)?)
}

/// The exact value of a number: of a double, that of the text it is written as.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Exact {
    /// The digits as an integer that does not end in zero, and the power of ten it is to be taken
    /// times.
    Finite {
        is_negative: bool,
        digits: Digits,
        exponent: i64,
    },
    Infinite {
        is_negative: bool,
    },
    NotANumber,
    /// The text of a number whose exponent is beyond the range.
    Spelled(String),
}

/// Short where that is possible, so that equal ones are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Digits {
    Short(u64),
    Long(String),
}

impl Digits {
    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Short(number) => Cow::Owned(number.to_string()),
            Self::Long(text) => Cow::Borrowed(text),
        }
    }
}

impl Exact {
    /// The value of a number, if the document is one.
    pub(super) fn of(document: &Document) -> Option<Self> {
        match document {
            Document::Uint(value) => Some(Self::integer(false, *value)),
            Document::Int(value) => Some(Self::integer(*value < 0, value.unsigned_abs())),
            Document::Float(value) if value.is_nan() => Some(Self::NotANumber),
            Document::Float(value) if value.is_infinite() => {
                Some(Self::Infinite { is_negative: *value < 0.0 })
            }
            // The shortest text that gives the double back, as in JSON.
            Document::Float(value) => Some(Self::literal(&format!("{value:e}"))),
            Document::Number(literal) => Some(Self::literal(literal)),
            Document::Null
            | Document::Bool(_)
            | Document::Text(_)
            | Document::Bytes(_)
            | Document::Array(_)
            | Document::Object(_) => None,
        }
    }

    /// Compares two numbers, if they are comparable.
    fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::NotANumber, _) | (_, Self::NotANumber) => None,
            (one, other) if one == other => Some(Ordering::Equal),
            (Self::Spelled(_), _) | (_, Self::Spelled(_)) => None,
            (one, other) => match one.sign().cmp(&other.sign()) {
                Ordering::Equal if one.sign() < 0 => Some(other.compare_sizes(one)),
                Ordering::Equal => Some(one.compare_sizes(other)),
                unequal => Some(unequal),
            },
        }
    }

    fn sign(&self) -> i8 {
        match self {
            Self::Finite { digits: Digits::Short(0), .. } | Self::NotANumber | Self::Spelled(_) => {
                0
            }
            Self::Finite { is_negative: true, .. } | Self::Infinite { is_negative: true } => -1,
            Self::Finite { .. } | Self::Infinite { .. } => 1,
        }
    }

    /// Compares without signs; what is no finite number counts as infinite.
    fn compare_sizes(&self, other: &Self) -> Ordering {
        match (self, other) {
            (
                Self::Finite { digits: ours, exponent: our_exponent, .. },
                Self::Finite { digits: theirs, exponent: their_exponent, .. },
            ) => {
                let (ours, theirs) = (ours.text(), theirs.text());
                // The position of the first digit decides before all following digits. Without
                // zeros at either end, texts of digits then sort as the numbers do.
                let first =
                    |digits: &str, exponent: i64| digits.len() as i128 + i128::from(exponent);
                first(&ours, *our_exponent)
                    .cmp(&first(&theirs, *their_exponent))
                    .then_with(|| ours.cmp(&theirs))
            }
            (Self::Finite { .. }, _) => Ordering::Less,
            (_, Self::Finite { .. }) => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }

    fn integer(is_negative: bool, mut value: u64) -> Self {
        let mut exponent = 0;
        while value != 0 && value.is_multiple_of(10) {
            value /= 10;
            exponent += 1;
        }
        Self::Finite { is_negative, digits: Digits::Short(value), exponent }
    }

    fn literal(literal: &str) -> Self {
        Self::finite(literal).unwrap_or_else(|| Self::Spelled(literal.to_owned()))
    }

    fn finite(literal: &str) -> Option<Self> {
        let positive = literal.strip_prefix('-').unwrap_or(literal);
        let (mantissa, exponent) = positive.split_once(['e', 'E']).unwrap_or((positive, "0"));
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() || !whole.bytes().chain(part.bytes()).all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        let all = [whole, part].concat();
        let digits = all.trim_start_matches('0').trim_end_matches('0');
        if digits.is_empty() {
            return Some(Self::integer(false, 0));
        }
        let zeros = all.len() - all.trim_end_matches('0').len();
        let shift = i64::try_from(zeros).ok()? - i64::try_from(part.len()).ok()?;
        let exponent = exponent.parse::<i64>().ok()?.checked_add(shift)?;
        let short = digits.parse().map(Digits::Short);
        let digits = short.unwrap_or_else(|_| Digits::Long(digits.to_owned()));
        Some(Self::Finite { is_negative: literal.len() > positive.len(), digits, exponent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(literal: &str) -> Option<Exact> {
        Exact::of(&Document::Number(literal.to_owned()))
    }

    #[test]
    fn spellings_of_one_number_are_worth_the_same() {
        for (document, literals) in [
            (Document::Uint(1), &["1", "1.0", "1e0", "0.1e1", "10E-1", "1.000e+0"][..]),
            (Document::Uint(0), &["0", "-0", "0.0", "0e99"]),
            (Document::Int(-1200), &["-1200", "-1.2e3", "-1200.0"]),
            (Document::Float(1.5), &["1.5", "1.50", "15e-1"]),
            (Document::Float(0.1), &["0.1", "0.10"]),
            (Document::Float(-0.0), &["0"]),
            (Document::Float(1e300), &["1e300", "10e299"]),
            (Document::Uint(u64::MAX), &["18446744073709551615", "18446744073709551615.0"]),
        ] {
            for literal in literals {
                assert_eq!(Exact::of(&document), number(literal), "{document:?} {literal}");
            }
        }
    }

    #[test]
    fn numbers_that_a_double_confuses_are_told_apart() {
        for (one, other) in [
            ("9007199254740993", "9007199254740992"),
            ("184467440737095516160000000000000001", "184467440737095516160000000000000002"),
            ("0.1", "0.1000000000000000055511151231257827"),
            ("1e400", "1e401"),
            ("1", "-1"),
            ("1e99999999999999999999", "1e99999999999999999998"),
        ] {
            assert_ne!(number(one), number(other));
        }
    }

    #[test]
    fn what_is_no_number_equals_itself() {
        let nan = Document::Float(f64::NAN);
        assert_eq!(Exact::of(&nan), Exact::of(&nan.clone()));
        assert_eq!(number("what?"), Some(Exact::Spelled("what?".to_owned())));
        assert_eq!(number("1.e"), number("1.e"));
        assert_eq!(Exact::of(&Document::Text("1".to_owned())), None);
    }

    #[test]
    fn numbers_stand_in_the_order_of_their_exact_values() {
        let rising = [
            "-1e400",
            "-18446744073709551617",
            "-18446744073709551616",
            "-2",
            "-1.5",
            "-1e-400",
            "0",
            "1e-9223372036854775000",
            "0.1",
            "0.1000000000000000055511151231257827",
            "9",
            "10",
            "9007199254740992",
            "9007199254740993",
            "1e400",
            "1.1e400",
        ];
        let number = |literal: &str| Document::Number(literal.to_owned());
        for (i, one) in rising.iter().enumerate() {
            for (j, other) in rising.iter().enumerate() {
                let found = compare_numbers(&number(one), &number(other));
                assert_eq!(found, Some(i.cmp(&j)), "{one} {other}");
            }
            for (infinity, order) in
                [(f64::INFINITY, Ordering::Less), (f64::NEG_INFINITY, Ordering::Greater)]
            {
                let infinity = Document::Float(infinity);
                assert_eq!(compare_numbers(&number(one), &infinity), Some(order), "{one}");
            }
        }
    }

    #[test]
    fn what_has_no_place_among_numbers_is_not_compared() {
        let [one, nan] = [Document::Uint(1), Document::Float(f64::NAN)];
        let huge = Document::Number("1e99999999999999999999".to_owned());
        for other in [&nan, &huge, &Document::Text("1".to_owned()), &Document::Null] {
            assert_eq!(compare_numbers(&one, other), None, "{other:?}");
            assert_eq!(compare_numbers(other, &one), None, "{other:?}");
        }
        assert_eq!(compare_numbers(&nan, &nan), None);
        assert_eq!(compare_numbers(&huge, &huge.clone()), Some(Ordering::Equal));
    }
}
