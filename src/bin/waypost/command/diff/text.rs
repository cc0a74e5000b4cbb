//! Changes as a person reads them: one a line, and long texts line by line.

use std::io::{self, Write};

use anyhow::Result;
use clap::builder::styling::Style;
use waypost::Document;
use waypost::diff::{self, Change, Line, Pointer, hunks};
use waypost::source::TextStyle;

use super::short::shortened;
use crate::args::Global;
use crate::output::{palette, plain};

// Characters of a value that even a narrow terminal shows.
const VALUE_CHARS_MIN: usize = 12;

/// Where changes are written.
pub(super) struct Page {
    /// Characters in a line, if it has an end.
    width: Option<usize>,
    place: Style,
    old: Style,
    new: Style,
    moved: Style,
}

impl Page {
    pub(super) fn new(width: Option<usize>, global: &Global) -> Self {
        let style = |style| global.style(&io::stdout(), style);
        Self {
            width,
            place: style(palette::TITLE),
            old: style(palette::OLD),
            new: style(palette::NEW),
            moved: style(palette::MOVED),
        }
    }

    pub(super) fn write(&self, out: &mut dyn Write, change: &Change<'_>) -> Result<()> {
        match change {
            Change::Added { at, value } => {
                self.line(out, at, &[(self.new, "+ ", json(value)?)])?;
            }
            Change::Removed { from, value } => {
                self.line(out, from, &[(self.old, "- ", json(value)?)])?;
            }
            Change::Replaced { at, old: Document::Text(old), new: Document::Text(new) }
                if old.contains('\n') || new.contains('\n') =>
            {
                self.line(out, at, &[])?;
                self.texts(out, &diff::lines(old, new))?;
            }
            Change::Replaced { at, old, new } => {
                let parts = [(self.old, "- ", json(old)?), (self.new, "+ ", json(new)?)];
                self.line(out, at, &parts)?;
            }
            Change::Moved { from, at, value } => {
                let from = (self.moved, "~ from ", plain(from.as_str()));
                self.line(out, at, &[from, (Style::new(), "", json(value)?)])?;
            }
        }
        Ok(())
    }

    /// Writes a captured file and how it changed.
    pub(super) fn file(&self, out: &mut dyn Write, path: &str, words: &str) -> io::Result<()> {
        let style = self.place;
        writeln!(out, "file {style}{}{style:#}  {words}", plain(path))
    }

    /// Writes a pointer and the change at it.
    fn line(
        &self,
        out: &mut dyn Write,
        at: &Pointer,
        parts: &[(Style, &str, String)],
    ) -> io::Result<()> {
        let place = match at.as_str() {
            // A pointer to everything is empty, and an empty text shows nothing.
            "" => "(document)".to_owned(),
            pointer => plain(pointer),
        };
        let signs: usize = parts.iter().map(|(_, sign, _)| 2 + sign.len()).sum();
        let style = self.place;
        write!(out, "{style}{place}{style:#}")?;
        let mut taken = place.chars().count() + signs;
        for (number, (style, sign, text)) in parts.iter().enumerate() {
            let room = self.width.map(|width| {
                let share = width.saturating_sub(taken) / (parts.len() - number);
                share.max(VALUE_CHARS_MIN)
            });
            let text = shortened(text, room);
            taken += text.chars().count();
            write!(out, "  {style}{sign}{text}{style:#}")?;
        }
        writeln!(out)
    }

    /// The lines that differ, with some around them.
    fn texts(&self, out: &mut dyn Write, lines: &[Line<'_>]) -> io::Result<()> {
        for hunk in hunks(lines) {
            writeln!(out, "  {hunk}")?;
            hunk.lines.iter().try_for_each(|line| self.text(out, *line))?;
        }
        Ok(())
    }

    fn text(&self, out: &mut dyn Write, line: Line<'_>) -> io::Result<()> {
        let (style, sign, text) = match line {
            Line::Kept(text) => (Style::new(), ' ', text),
            Line::Removed(text) => (self.old, '-', text),
            Line::Added(text) => (self.new, '+', text),
        };
        let room = self.width.map(|width| width.saturating_sub(3).max(VALUE_CHARS_MIN));
        let shown = shortened(&plain(text.strip_suffix('\n').unwrap_or(text)), room);
        writeln!(out, "  {style}{sign}{shown}{style:#}")?;
        if text.ends_with('\n') { Ok(()) } else { writeln!(out, "  \\ no line end") }
    }
}

fn json(document: &Document) -> Result<String> {
    Ok(plain(&document.to_json(TextStyle::default())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(width: usize, old: &str, new: &str) -> String {
        let plain = Style::new();
        let page = Page { width: Some(width), place: plain, old: plain, new: plain, moved: plain };
        let [old, new] = [old, new].map(|it| Document::from_json(it.as_bytes()).unwrap());
        let mut out = Vec::new();
        for change in waypost::diff(&old, &new).changes() {
            page.write(&mut out, &change).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn long_values_share_the_line() {
        let old = format!(r#"{{"text": {:?}, "number": 1}}"#, "a".repeat(100));
        let new = format!(r#"{{"text": {:?}, "number": {:?}}}"#, "b".repeat(100), "c".repeat(100));
        let lines = shown(50, &old, &new);
        insta::assert_snapshot!(lines, @r#"
        /text  - "aaaaaaaaaaaaaa...  + "bbbbbbbbbbbbbbb...
        /number  - 1  + "cccccccccccccccccccccccccccccc...
        "#);
        assert!(lines.lines().all(|line| line.len() == 50));
        let narrow = shown(1, &old, &new);
        assert!(narrow.contains("/text  - \"aaaaaaaa...  + \"bbbbbbbb...\n"), "{narrow}");
    }

    #[test]
    fn lines_of_texts_are_cut_at_the_end() {
        let [old, new] = ["a", "b"].map(|it| format!("{:?}", it.repeat(30) + "\n"));
        insta::assert_snapshot!(shown(20, &old, &new), @"
        (document)
          @@ -1,1 +1,1 @@
          -aaaaaaaaaaaaaa...
          +bbbbbbbbbbbbbb...
        ");
    }
}
