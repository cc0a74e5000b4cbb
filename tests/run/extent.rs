//! How much a run of the tests tries: some of everything by default, all of it in a long run.
//!
//! ```text
//! cargo test --locked                      # at most three minutes on two cores
//! WAYPOST_TESTS=long cargo test --locked   # what CI runs
//! ```
//!
//! A default run has every kind of state, fault, damage and input, only fewer of each. A variable
//! of its own, such as `WAYPOST_CRASH_STATES`, sets one number for either run.

use std::env;

const NAME: &str = "WAYPOST_TESTS";

/// A number that a long run makes larger.
#[allow(dead_code, reason = "each of the three test binaries uses a part of this file")]
pub(crate) fn extent(short: u64, long: u64) -> u64 {
    if is_long() { long } else { short }
}

/// As [`extent`], unless a variable says the number.
#[allow(dead_code, reason = "each of the three test binaries uses a part of this file")]
pub(crate) fn extent_of(variable: &str, short: u64, long: u64) -> u64 {
    number(variable).unwrap_or_else(|| extent(short, long))
}

/// The number that a variable holds, if it is set.
pub(crate) fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, not {text:?}")))
}

/// Whether this is a long run.
pub(crate) fn is_long() -> bool {
    match env::var(NAME) {
        Ok(text) if text == "long" => true,
        Ok(text) if !text.is_empty() => panic!("{NAME} must be \"long\" or unset, not {text:?}"),
        _ => false,
    }
}
