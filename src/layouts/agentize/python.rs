//! JSON and times as Python writes them.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use crate::checkpoint::Timestamp;

/// The text of `json.dump(value, file, indent=2)`.
pub(super) fn to_json(value: &impl Serialize) -> serde_json::Result<String> {
    let mut out = Vec::new();
    let style = Python(PrettyFormatter::new());
    value.serialize(&mut Serializer::with_formatter(&mut out, style))?;
    String::from_utf8(out).map_err(serde::ser::Error::custom)
}

/// The text of `datetime.isoformat()` in UTC: no fraction if it is zero, and no `Z`.
pub(super) fn isoformat(time: Timestamp) -> String {
    let text = time.to_string();
    let text = text.trim_end_matches('Z');
    format!("{}+00:00", text.strip_suffix(".000000").unwrap_or(text))
}

/// Two spaces a level, and nothing but ASCII.
struct Python(PrettyFormatter<'static>);

impl Formatter for Python {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        text: &str,
    ) -> io::Result<()> {
        for character in text.chars() {
            if matches!(character, ' '..='~') {
                out.write_all(&[character as u8])?;
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }

    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        out.write_all(repr(value).as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

/// The shortest digits that give the number back, with an exponent where Python has one.
fn repr(value: f64) -> String {
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.unsigned_abs());
    }
    let plain = value.to_string();
    if plain.contains('.') { plain } else { format!("{plain}.0") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What Python 3 prints for the same values.
    #[test]
    fn json_is_written_as_python_writes_it() {
        let value = json!({"a": [], "b": {}, "c": [1, true, null], "d": "\u{7f}\u{8}\u{1}\u{e9}/"});
        let text = concat!(
            "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    true,\n    null\n  ],\n",
            r#"  "d": "\u007f\b\u0001\u00e9/""#,
            "\n}"
        );
        assert_eq!(to_json(&value).unwrap(), text);
        assert_eq!(to_json(&"\u{1f600}").unwrap(), r#""\ud83d\ude00""#);
    }

    /// What Python 3 prints for the same values.
    #[test]
    fn floats_are_written_as_python_writes_them() {
        for (value, text) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (0.0001, "0.0001"),
            (0.000_012, "1.2e-05"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(repr(value), text);
        }
    }

    #[test]
    fn a_whole_second_has_no_fraction() {
        let time: Timestamp = "2026-11-16T02:17:33Z".parse().unwrap();
        assert_eq!(isoformat(time), "2026-11-16T02:17:33+00:00");
        let time = Timestamp::from_micros(time.as_micros() + 20);
        assert_eq!(isoformat(time), "2026-11-16T02:17:33.000020+00:00");
    }
}
