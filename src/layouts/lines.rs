//! Finds the lines of problems in a text.
//!
//! One pass over a text that is known to be a document. On any other text it finds nothing; it must
//! never panic.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::Problem;
use super::problem::escaped;
use crate::checkpoint::{Format, SourceForm};
use crate::yaml::{self, Node, Value};

/// Deeper than any document that the library accepts.
const DEPTH_MAX: usize = 256;
const YAML_NODES_MAX: usize = 1 << 20;

/// Sets the lines of problems, by the text of the file that the document came from.
///
/// A missing field has the line of the object that it should be in. Grows with the length of the
/// text.
pub fn locate(problems: &mut [Problem], form: &SourceForm, text: &[u8]) {
    let mut lines = Lines::wanted(problems);
    match (form.line, form.format) {
        // The whole document is in one line of its file.
        (Some(line), _) => return problems.iter_mut().for_each(|it| it.line = Some(line)),
        (None, Format::Json) => {
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            let _ = Json { text, at: 0, line: 1 }.value(&mut lines, 0);
        }
        (None, Format::Yaml) => {
            let bounds =
                yaml::Bounds { bytes: text.len(), depth: DEPTH_MAX, nodes: YAML_NODES_MAX };
            if let Ok(node) = yaml::read(text, bounds) {
                lines.note(node.place.line as u64);
                lines.walk(&node);
            }
        }
        (None, Format::Unreadable) => {}
    }
    for problem in problems {
        problem.line = problem.line.or_else(|| lines.of(&problem.field));
    }
}

/// The lines of some places and of everything that contains them.
struct Lines {
    known: HashMap<String, Option<u64>>,
    /// The JSON pointer of the place at hand.
    pointer: String,
}

impl Lines {
    fn wanted(problems: &[Problem]) -> Self {
        let mut known = HashMap::new();
        for problem in problems.iter().filter(|it| it.line.is_none()) {
            let mut pointer = problem.field.as_str();
            // If it is known, so is everything that contains it.
            while known.insert(pointer.to_owned(), None).is_none() {
                let Some((outer, _)) = pointer.rsplit_once('/') else { break };
                pointer = outer;
            }
        }
        Self { known, pointer: String::new() }
    }

    /// The line of a place, else of the nearest place that would contain it.
    fn of(&self, field: &str) -> Option<u64> {
        let mut pointer = field;
        loop {
            if let Some(line) = self.known.get(pointer).copied().flatten() {
                return Some(line);
            }
            (pointer, _) = pointer.rsplit_once('/')?;
        }
    }

    fn note(&mut self, line: u64) {
        // The last value of a duplicate key counts.
        if let Some(known) = self.known.get_mut(&self.pointer) {
            *known = Some(line);
        }
    }

    /// True if the line of the current place is wanted, or of anything in it.
    fn is_wanted(&self) -> bool {
        self.known.contains_key(&self.pointer)
    }

    /// Notes the line of a child of the current place, and visits it.
    fn inside<T>(&mut self, key: &str, line: u64, go_on: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        let _ = write!(self.pointer, "/{}", escaped(key));
        self.note(line);
        let done = go_on(self);
        self.pointer.truncate(length);
        done
    }

    /// Recursion is bounded by the depth of what was read.
    fn walk(&mut self, node: &Node) {
        match &node.value {
            Value::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    let line = item.place.line as u64;
                    self.inside(&index.to_string(), line, |lines| lines.walk(item));
                }
            }
            Value::Mapping(pairs) => {
                for (key, value) in pairs {
                    // Keys of other types are no fields of any layout.
                    let Value::Text(name) = &key.value else { continue };
                    self.inside(name, key.place.line as u64, |lines| lines.walk(value));
                }
            }
            _ => {}
        }
    }
}

/// A JSON text, and how far it was read. `None` ends it.
struct Json<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
}

impl Json<'_> {
    fn value(&mut self, lines: &mut Lines, depth: usize) -> Option<()> {
        let first = self.next()?;
        if depth == 0 {
            lines.note(self.line);
        }
        match first {
            b'{' if depth < DEPTH_MAX => self.object(lines, depth),
            b'[' if depth < DEPTH_MAX => self.array(lines, depth),
            b'"' => self.string().map(|_| ()),
            _ => self.literal(),
        }
    }

    /// Reads a value if lines of it or in it are wanted, else passes over it.
    fn wanted(&mut self, lines: &mut Lines, depth: usize) -> Option<()> {
        if lines.is_wanted() { self.value(lines, depth) } else { self.pass_over() }
    }

    fn pass_over(&mut self) -> Option<()> {
        let mut open = 0_usize;
        loop {
            match self.next()? {
                b'{' | b'[' => {
                    open += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    open = open.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' if open > 0 => self.at += 1,
                b'"' => self.string().map(drop)?,
                _ => self.literal()?,
            }
            if open == 0 {
                return Some(());
            }
        }
    }

    /// A number or a word.
    fn literal(&mut self) -> Option<()> {
        let rest = &self.text[self.at..];
        let is_end = |byte: &u8| b",:]} \t\r\n".contains(byte);
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then_some(())
    }

    fn object(&mut self, lines: &mut Lines, depth: usize) -> Option<()> {
        self.at += 1;
        while self.next()? != b'}' {
            let (key, line) = (self.key()?, self.line);
            lines.inside(&key, line, |lines| {
                (self.next()? == b':').then(|| self.at += 1)?;
                self.wanted(lines, depth + 1)
            })?;
            self.comma()?;
        }
        self.at += 1;
        Some(())
    }

    fn array(&mut self, lines: &mut Lines, depth: usize) -> Option<()> {
        self.at += 1;
        let mut index = 0_usize;
        while self.next()? != b']' {
            let line = self.line;
            lines.inside(&index.to_string(), line, |lines| self.wanted(lines, depth + 1))?;
            index += 1;
            self.comma()?;
        }
        self.at += 1;
        Some(())
    }

    fn key(&mut self) -> Option<String> {
        let literal = self.string()?;
        serde_json::from_slice(literal).ok()
    }

    /// A string with its quotes.
    fn string(&mut self) -> Option<&[u8]> {
        let start = self.at;
        (self.text.get(start) == Some(&b'"')).then_some(())?;
        self.at += 1;
        loop {
            let rest = self.text.get(self.at..)?;
            let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
            self.at += length + 1;
            if rest[length] == b'"' {
                return self.text.get(start..self.at);
            }
            // The escaped byte.
            self.at += 1;
        }
    }

    fn comma(&mut self) -> Option<()> {
        if self.next()? == b',' {
            self.at += 1;
        }
        Some(())
    }

    /// The next byte that is no white space; lines are counted on the way.
    fn next(&mut self) -> Option<u8> {
        let rest = self.text.get(self.at..)?;
        for (skipped, byte) in rest.iter().enumerate() {
            match byte {
                b' ' | b'\t' | b'\r' => {}
                b'\n' => self.line += 1,
                _ => {
                    self.at += skipped;
                    return Some(*byte);
                }
            }
        }
        self.at = self.text.len();
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::layouts::Code;

    fn lines(format: Format, text: &[u8], fields: &[&str]) -> Vec<Option<u64>> {
        let problem = |field: &&str| Problem::new(Code::Required, *field, "is required");
        let mut problems: Vec<_> = fields.iter().map(problem).collect();
        locate(&mut problems, &SourceForm { format, ..SourceForm::default() }, text);
        problems.iter().map(|problem| problem.line).collect()
    }

    const FIELDS: [&str; 6] = ["/a", "/b/c", "/b/missing", "/d/1/e~1f", "/d/9/x", "/none/deeper"];
    const EXPECTED: [Option<u64>; 6] = [Some(2), Some(4), Some(3), Some(9), Some(6), Some(1)];

    #[test]
    fn a_field_has_the_line_of_its_key_and_a_missing_one_that_of_its_object() {
        let json = r#"{
 "a": "x\"{\n",
 "b": {
  "c": [1, {}]
 },
 "d": [
  1,
  {
   "e/f": null}]}"#;
        assert_eq!(lines(Format::Json, json.as_bytes(), &FIELDS), EXPECTED);
        let bom = format!("\u{feff}{json}");
        assert_eq!(lines(Format::Json, bom.as_bytes(), &FIELDS), EXPECTED);
    }

    #[test]
    fn the_same_holds_for_yaml() {
        let yaml = "# comment\na: |\n  b: no\nb:\n  c: [1]\nd:\n  - 1\n  - x: y\n    e/f: ~\n";
        let expected = [Some(2), Some(5), Some(4), Some(9), Some(6), Some(2)];
        assert_eq!(lines(Format::Yaml, yaml.as_bytes(), &FIELDS), expected);
    }

    #[test]
    fn of_a_key_that_stands_twice_the_last_one_counts() {
        assert_eq!(lines(Format::Json, b"{\"a\": 1,\n\"a\": 2}", &["/a"]), [Some(2)]);
    }

    #[test]
    fn all_of_a_line_is_in_that_line() {
        let mut problems = [Problem::new(Code::Required, "/a", "is required")];
        locate(&mut problems, &SourceForm { line: Some(7), ..SourceForm::default() }, b"{}");
        assert_eq!(problems[0].line, Some(7));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in proptest::collection::vec(
            prop_oneof![Just(b'{'), Just(b'"'), Just(b'['), Just(b'\\'), Just(b':'), any::<u8>()],
            0..64,
        )) {
            for format in [Format::Json, Format::Yaml, Format::Unreadable] {
                let _ = lines(format, &text, &["/a/b"]);
            }
        }
    }
}
