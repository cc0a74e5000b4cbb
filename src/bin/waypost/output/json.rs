//! JSON for programs: objects that all start with the version of what they promise.
//!
//! The promise itself is `src/docs/JSON.md`.

use std::io::{self, Write};

use serde::Serialize;
use waypost::transfer::json;
pub(crate) use waypost::transfer::json::open_object as json_open;

/// Says that a list is cut short.
#[derive(Serialize)]
pub(crate) struct More {
    more: bool,
}

impl More {
    pub(crate) const THERE_IS: Self = Self { more: true };
}

/// Writes an object as one line of JSON.
pub(crate) fn json_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    // An error on the way must not leave half an object.
    let text = json::object(value)?;
    writeln!(out, "{text}")
}
