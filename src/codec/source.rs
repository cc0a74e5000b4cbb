//! A file on its way into the store: its document, and what reproduces the text.
//!
//! The document is encoded as any other. Then the one style that its first line and its end suggest
//! is tried: if writing the document so gives the same bytes, the record keeps the style (three
//! bytes). If not, the text stands behind the document in the same raw bytes, and costs little,
//! since the frame before has nearly the same. So the result never depends on how well a writer was
//! understood.

use std::cell::Cell;

use serde::de::{Deserialize, DeserializeSeed as _};

#[cfg(feature = "transfer")]
use super::datum::Tokened;
#[cfg(feature = "transfer")]
use super::fault::Fault;
use super::token::Bounds;
use super::{DEPTH_READ, check, decode, encode, encode_json, read_yaml, text, token};
use crate::checkpoint::{Document, Format, SourceForm, Spacing, TextStyle, Timestamp, Tree};
use crate::error::{Error, Result};

// Below the first levels of an outline; each value takes some fifty bytes.
const NODES_MAX: usize = 1 << 17;

/// The text of a file as read: its document, and what is needed to reproduce the text.
///
/// If the document and a style reproduce the text byte for byte, only the style is kept. Otherwise
/// the text is kept behind the document, and compressed against the text before like it.
///
/// ```
/// use waypost::source::{Format, Source, Spacing};
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let text = b"{\n  \"step\": 3\n}\n";
/// let source = Source::from_json(text)?;
/// let form = *source.form();
/// assert_eq!((form.format, form.style.unwrap().spacing), (Format::Json, Spacing::Indent(2)));
///
/// let saved = store.save_draft(store.draft_source(NewEntry::default(), source)?)?;
/// assert_eq!(store.get(&saved.id)?.source_text()?.unwrap(), &text[..]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Source {
    /// The document in stored form, followed by the text if that is kept.
    pub(crate) raw: Vec<u8>,
    pub(crate) document_bytes: usize,
    pub(crate) form: SourceForm,
    fingerprint: u64,
}

impl Source {
    /// Reads a JSON text.
    ///
    /// # Errors
    /// [`Error::Invalid`] with line, column and JSON pointer, or [`Error::Limit`].
    pub fn from_json(json: &[u8]) -> Result<Self> {
        let raw = encode_json(json, Bounds::DEFAULT)?;
        match style_of(json, &raw) {
            Some(style) => {
                Ok(Self::new(raw, SourceForm { style: Some(style), ..json_form() }, json))
            }
            None => Ok(Self::new(raw, json_form(), json).keep(json)),
        }
    }

    /// Reads a YAML text, which is always kept.
    ///
    /// # Errors
    /// [`Error::Invalid`] with line and column, or [`Error::Limit`].
    pub fn from_yaml(yaml: &[u8]) -> Result<Self> {
        let raw = encode(&read_yaml(yaml, "document")?, Bounds::DEFAULT, yaml.len())?;
        let form = SourceForm { format: Format::Yaml, ..SourceForm::default() };
        Ok(Self::new(raw, form, yaml).keep(yaml))
    }

    /// Takes the bytes of a file that cannot be read; its document is null.
    #[must_use]
    pub fn unreadable(bytes: &[u8]) -> Self {
        let form = SourceForm { format: Format::Unreadable, ..SourceForm::default() };
        Self::new(vec![token::NULL], form, bytes).keep(bytes)
    }

    /// Puts together what [`Checkpoint::source_text`](crate::Checkpoint::source_text) and its
    /// entry said of it: `text` is the one that was kept, if `form` has no style.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `json` is no JSON or a text is missing, or [`Error::Limit`].
    pub fn restored(json: &[u8], form: SourceForm, text: Option<&[u8]>) -> Result<Self> {
        let raw = encode_json(json, Bounds::DEFAULT)?;
        match (form.style, text) {
            (Some(style), _) => {
                check_length(&raw, style)?;
                Ok(Self::new(raw, SourceForm { text_bytes: 0, ..form }, json))
            }
            (None, Some(text)) => Ok(Self::new(raw, form, text).keep(text)),
            (None, None) => Err(Error::invalid("source", "its text is missing")),
        }
    }

    /// Says what the file was beyond its text.
    #[must_use]
    pub fn of_file(
        mut self,
        is_gzip: bool,
        mode: Option<u32>,
        modified_at: Option<Timestamp>,
    ) -> Self {
        self.form = SourceForm { is_gzip, mode, modified_at, ..self.form };
        self
    }

    /// States which line of the file it is, from one, and whether a line end follows.
    #[must_use]
    pub fn at_line(mut self, line: u64, has_end: bool) -> Self {
        self.form.line = Some(line);
        match &mut self.form.style {
            Some(style) => style.has_final_newline = has_end,
            None if has_end => {
                self.raw.push(b'\n');
                self.form.text_bytes += 1;
            }
            None => {}
        }
        self
    }

    /// What is needed to reproduce the text.
    #[must_use]
    pub fn form(&self) -> &SourceForm {
        &self.form
    }

    /// Returns the document as a tree.
    ///
    /// # Errors
    /// None that a text could cause.
    pub fn document(&self) -> Result<Document> {
        let mut decoder = decode::Decoder::new(&self.raw[..self.document_bytes], DEPTH_READ);
        Document::deserialize(&mut decoder).map_err(|fault| fault.into_error("document"))
    }

    /// Returns what a document says in few words: as [`document`](Self::document), but of long
    /// lists and large trees only a part, so that it takes little memory.
    ///
    /// # Errors
    /// None that a text could cause.
    pub fn outline(&self) -> Result<Document> {
        let mut decoder = decode::Decoder::new(&self.raw[..self.document_bytes], DEPTH_READ);
        Tree::outline(&Cell::new(NODES_MAX))
            .deserialize(&mut decoder)
            .map_err(|fault| fault.into_error("document"))
    }

    /// Returns the document with an index of its values, which takes less than a tree.
    ///
    /// # Errors
    /// None that a text could cause.
    #[cfg(feature = "transfer")]
    pub(crate) fn tokened(&self) -> Result<Tokened<'_>> {
        let tokened = Tokened::new(&self.raw[..self.document_bytes]);
        tokened.map_err(|malformed| Fault::from(malformed).into_error("document"))
    }

    /// Length of the document in stored form.
    #[must_use]
    pub fn document_bytes(&self) -> u64 {
        self.document_bytes as u64
    }

    /// A number that equal texts at the same path share, and others almost never.
    #[must_use]
    pub fn fingerprint(&self, path: &str) -> u64 {
        check(self.fingerprint, path.as_bytes())
    }

    fn new(raw: Vec<u8>, form: SourceForm, text: &[u8]) -> Self {
        Self { document_bytes: raw.len(), raw, form, fingerprint: check(0, text) }
    }

    fn keep(mut self, text: &[u8]) -> Self {
        self.raw.extend_from_slice(text);
        self.form = SourceForm { style: None, text_bytes: text.len() as u64, ..self.form };
        self
    }
}

/// Refuses a style that makes a document longer than any file that is read.
fn check_length(raw: &[u8], style: TextStyle) -> Result<()> {
    let limit = Bounds::DEFAULT.bytes;
    if let Ok(Some(_)) = text::to_text_within(raw, style, limit) {
        return Ok(());
    }
    let what = "length in bytes of the source in its style".to_owned();
    Err(Error::Limit { what, limit: limit as u64 })
}

fn json_form() -> SourceForm {
    SourceForm { format: Format::Json, ..SourceForm::default() }
}

/// The style that reproduces `json` from its document, if there is one.
fn style_of(json: &[u8], raw: &[u8]) -> Option<TextStyle> {
    let likely = likely_style(json)?;
    let gives_back = |style: &TextStyle| {
        let written = text::to_text_within(raw, *style, json.len());
        written.is_ok_and(|text| text.is_some_and(|text| text.as_bytes() == json))
    };
    if gives_back(&likely) {
        return Some(likely);
    }
    // Without an escape both ways give the same, except for a DEL.
    let escaped = TextStyle { is_ascii: true, ..likely };
    (json.is_ascii() && gives_back(&escaped)).then_some(escaped)
}

/// The only style that can fit a text, judged by its start and its end.
fn likely_style(json: &[u8]) -> Option<TextStyle> {
    let text = std::str::from_utf8(json).ok()?;
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = body.strip_prefix(['{', '[']).unwrap_or_default();
    let spacing = match rest.strip_prefix('\n') {
        Some(line) if line.starts_with('\t') => Spacing::Tab,
        Some(line) => {
            let width = line.bytes().take_while(|byte| *byte == b' ').count();
            Spacing::Indent(u8::try_from(width).ok()?)
        }
        None if body.contains("\": ") || body.contains(", ") => Spacing::Spaced,
        None => Spacing::Compact,
    };
    Some(TextStyle {
        spacing,
        is_ascii: false,
        has_final_newline: body.ends_with('\n'),
        has_byte_order_mark: body.len() < text.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(json: &str) -> Option<TextStyle> {
        Source::from_json(json.as_bytes()).unwrap().form.style
    }

    #[test]
    fn what_programs_write_is_known_by_its_style() {
        let pretty =
            "{\n  \"a\": [\n    1.50,\n    {}\n  ],\n  \"b\": \"\\u00e9\\ud83d\\ude00\\n\"\n}";
        let spaced = r#"{"a": [1, 2], "b": {"c": "\u001f/"}}"#;
        let is = |spacing, is_ascii, has_final_newline, has_byte_order_mark| {
            Some(TextStyle { spacing, is_ascii, has_final_newline, has_byte_order_mark })
        };
        assert_eq!(style(pretty), is(Spacing::Indent(2), true, false, false));
        let wide = pretty.replace("  ", "    ").replace("\\u00e9\\ud83d\\ude00", "\u{e9}\u{1f600}");
        assert_eq!(style(&(wide + "\n")), is(Spacing::Indent(4), false, true, false));
        assert_eq!(style(&pretty.replace("  ", "\t")), is(Spacing::Tab, true, false, false));
        assert_eq!(style(&pretty.replace("  ", "")), is(Spacing::Indent(0), true, false, false));
        assert_eq!(style(spaced), is(Spacing::Spaced, false, false, false));
        let compact = spaced.replace(' ', "");
        assert_eq!(style(&compact), is(Spacing::Compact, false, false, false));
        assert_eq!(style(&format!("\u{feff}{compact}")), is(Spacing::Compact, false, false, true));
        assert_eq!(style("\"\\u007f\""), is(Spacing::Compact, true, false, false));
    }

    /// Each has something that its document does not hold.
    #[test]
    fn the_text_is_kept_where_no_style_gives_it_back() {
        for json in [
            "{ \"a\": 1 }",
            "{\"a\":1}\n\n",
            "{\"a\":1,\"b\": 2}",
            "{\r\n  \"a\": 1\r\n}",
            r#""\/""#,
            r#""\u00E9""#,
            "\"\u{e9} \\u00e9\"",
            "{\n  \"a\": [1, 2]\n}",
        ] {
            let source = Source::from_json(json.as_bytes()).unwrap();
            assert_eq!(source.form.style, None, "{json:?}");
            assert_eq!(&source.raw[source.document_bytes..], json.as_bytes());
            assert_eq!(source.form.text_bytes, json.len() as u64);
        }
    }

    #[test]
    fn a_key_that_stands_twice_and_a_long_number_are_in_the_document() {
        let json = r#"{"a":1,"a":12345678901234567890123,"b":1E400}"#;
        let source = Source::from_json(json.as_bytes()).unwrap();
        assert!(source.form.style.is_some());
        let document = source.document().unwrap();
        assert_eq!(document.get("a"), Some(&Document::Number("12345678901234567890123".into())));
    }

    /// A file of 60 MB of zeros took a gigabyte of memory to recognize.
    #[test]
    fn an_outline_has_what_stands_near_the_top_and_little_of_the_rest() {
        let (list, deep) = (vec!["0"; 5000].join(","), vec!["[[1]]"; 300_000].join(","));
        let json = format!(r#"{{"a":[{list},7],"b":{{"c":{{"d":[{deep}]}}}},"e":"text"}}"#);
        let outline = Source::from_json(json.as_bytes()).unwrap().outline().unwrap();
        let Some(Document::Array(items)) = outline.get("a") else { panic!("no list") };
        assert_eq!((items.len(), items.last()), (1024, Some(&Document::Uint(7))));
        assert_eq!(outline.get("e"), Some(&Document::Text("text".into())));
        let small = Source::from_json(br#"{"a":[1,[2,{"b":null}]]}"#).unwrap();
        assert_eq!(small.outline().unwrap(), small.document().unwrap());
    }

    /// As deep as may be, and thousands of elements at the bottom.
    fn deep(first: &str) -> String {
        let (open, close) = ("[".repeat(127), "]".repeat(127));
        format!("[{first}{open}{}{close}]", vec!["0"; 200_000].join(","))
    }

    /// One wide line at the start of half a megabyte made 6.5 GB of text to compare with.
    #[test]
    fn a_first_line_that_misleads_costs_no_more_than_the_text() {
        let json = deep(&format!("\n{}", " ".repeat(255)));
        let source = Source::from_json(json.as_bytes()).unwrap();
        assert_eq!(source.form.style, None);
        assert_eq!(&source.raw[source.document_bytes..], json.as_bytes());
    }

    /// A line of an export could name a style that made its document longer than all memory.
    #[test]
    fn a_style_that_makes_too_long_a_text_is_refused() {
        let wide = TextStyle { spacing: Spacing::Indent(255), ..TextStyle::default() };
        let form = SourceForm { style: Some(wide), ..json_form() };
        let restored = Source::restored(deep("").as_bytes(), form, None);
        assert!(matches!(restored, Err(Error::Limit { .. })));
        assert!(Source::restored(b"[[1, 2]]", form, None).is_ok());
    }

    #[test]
    fn the_text_of_yaml_and_of_what_cannot_be_read_is_kept() {
        let yaml = b"a: 1 # why\na: two\n";
        let source = Source::from_yaml(yaml).unwrap();
        assert_eq!(&source.raw[source.document_bytes..], yaml);
        assert_eq!(source.document().unwrap().get("a"), Some(&Document::Text("two".into())));
        let bytes = b"{\"a\": \xff";
        let source = Source::unreadable(bytes);
        assert_eq!(&source.raw[source.document_bytes..], bytes);
        assert_eq!(source.document().unwrap(), Document::Null);
    }
}
