//! JSON for programs: objects that all start with the version of what they promise.
//!
//! The promise itself is `src/docs/JSON.md`.

use std::io::{self, Write};

use serde::Serialize;
use waypost::transfer::json::{VERSION, VERSION_KEY};

/// An object with its version before all else.
#[derive(Serialize)]
struct Versioned<'a, T> {
    // Named as `VERSION_KEY` says.
    version: u64,
    #[serde(flatten)]
    value: &'a T,
}

impl<'a, T> Versioned<'a, T> {
    fn new(value: &'a T) -> Self {
        Self { version: VERSION, value }
    }
}

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
    // What fails on the way must not leave half an object.
    let text = serde_json::to_string(&Versioned::new(value))?;
    writeln!(out, "{text}")
}

/// Writes an object that is JSON already, with the version before its members.
pub(crate) fn json_text(out: &mut dyn Write, object: &str) -> io::Result<()> {
    let members = object.strip_prefix('{').unwrap_or(object);
    writeln!(out, "{{\"{VERSION_KEY}\":{VERSION},{members}")
}

/// An object without its last brace, for members that are written as they are spelled.
pub(crate) fn json_open(value: &impl Serialize) -> serde_json::Result<String> {
    let mut text = serde_json::to_string(&Versioned::new(value))?;
    text.pop();
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_starts_with_its_version() {
        #[derive(Serialize)]
        struct Found {
            id: u8,
        }
        let start = format!("{{\"{VERSION_KEY}\":{VERSION},\"id\":7");
        let mut line = Vec::new();
        json_line(&mut line, &Found { id: 7 }).unwrap();
        assert_eq!(String::from_utf8(line.clone()).unwrap(), format!("{start}}}\n"));
        assert_eq!(json_open(&Found { id: 7 }).unwrap(), start);
        let mut text = Vec::new();
        json_text(&mut text, "{\"id\":7}").unwrap();
        assert_eq!(text, line);
    }
}
