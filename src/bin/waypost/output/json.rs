//! JSON for programs: every object starts with the version of the contract.
//!
//! The contract itself is `src/docs/JSON.md`.

use std::io::{self, Write};

use serde::Serialize;
pub(crate) use waypost::transfer::json::open_object as json_open;
use waypost::transfer::json::{self, VERSION, VERSION_KEY};

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
    // Built first: an error must not leave half an object.
    let text = json::object(value)?;
    writeln!(out, "{text}")
}

/// Writes an object that is JSON already and adds the version as first member.
pub(crate) fn json_text(out: &mut dyn Write, object: &str) -> io::Result<()> {
    let members = object.strip_prefix('{').unwrap_or(object);
    writeln!(out, "{{\"{VERSION_KEY}\":{VERSION},{members}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_starts_with_its_version() {
        #[derive(Serialize)]
        struct Numbered {
            id: u8,
        }
        let start = format!("{{\"{VERSION_KEY}\":{VERSION},\"id\":7");
        let mut line = Vec::new();
        json_line(&mut line, &Numbered { id: 7 }).unwrap();
        assert_eq!(String::from_utf8(line.clone()).unwrap(), format!("{start}}}\n"));
        assert_eq!(json_open(&Numbered { id: 7 }).unwrap(), start);
        let mut text = Vec::new();
        json_text(&mut text, "{\"id\":7}").unwrap();
        assert_eq!(text, line);
    }
}
