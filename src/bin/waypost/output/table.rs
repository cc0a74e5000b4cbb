//! Tables that fit the terminal: one line per row.

use std::io::{self, IsTerminal as _, Write};

use clap::builder::styling::Style;
use waypost::{Entry, Timestamp};

use super::column::{Column, Fitted, fitted};
use super::human::{age_of, short_id, size};
use super::palette;
use crate::args::Global;

/// Columns about entries, as they look at `now`, with ids cut to `id_length` characters.
pub(crate) fn of_entries(entries: &[&Entry], id_length: usize, now: Timestamp) -> Vec<Column> {
    let rows = || entries.iter().copied();
    let old = |entry: &Entry| Some(age_of(entry.created_at, now));
    let iteration = |entry: &Entry| entry.iteration.map(|number| number.to_string());
    let status = |entry: &Entry| Some(entry.status.to_string());
    vec![
        Column::id(rows(), |entry| Some(short_id(&entry.id, id_length))),
        Column::number("AGE", rows(), old),
        Column::text("SERIES", rows(), |entry| Some(entry.series.to_string())).names().worth(6),
        Column::text("TRIGGER", rows(), |entry| Some(entry.trigger.to_string())).worth(3),
        Column::text("PHASE", rows(), |entry| entry.phase.clone()).worth(1),
        Column::number("ITER", rows(), iteration).worth(4),
        Column::text("STATUS", rows(), status).whole().worth(5).tinted(palette::status),
        Column::number("SIZE", rows(), |entry| Some(size(entry.document_bytes))).worth(2),
        Column::text("TAGS", rows(), tags).worth(0),
    ]
}

/// Writes columns beside each other, a row a line.
///
/// A column without any value is left out; on a terminal, columns that do not fit are, too.
pub(crate) fn table(out: &mut dyn Write, columns: &[Column], global: &Global) -> io::Result<()> {
    write(out, columns, width().map_or(usize::MAX, usize::from), global.colours(&io::stdout()))
}

/// The width of the terminal, if output goes to one.
pub(crate) fn width() -> Option<u16> {
    let stdout = io::stdout();
    // A pipe has no width: its reader gets whole lines.
    let size = if stdout.is_terminal() { terminal_size::terminal_size_of(&stdout) } else { None };
    size.map(|(width, _)| width.0)
}

fn write(
    out: &mut dyn Write,
    columns: &[Column],
    room: usize,
    has_colours: bool,
) -> io::Result<()> {
    let shown = fitted(columns, room);
    let title = |it: &Fitted| (palette::TITLE, columns[it.column].title(it.width));
    line(out, shown.iter().map(title), has_colours)?;
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or_default();
    (0..rows).try_for_each(|row| {
        line(out, shown.iter().map(|it| columns[it.column].cell(row, it.width)), has_colours)
    })
}

/// Writes cells with two spaces between them, and none at the end.
fn line(
    out: &mut dyn Write,
    cells: impl Iterator<Item = (Style, String)>,
    has_colours: bool,
) -> io::Result<()> {
    let mut cells = cells.peekable();
    while let Some((style, text)) = cells.next() {
        let style = if has_colours { style } else { Style::new() };
        let (text, gap) =
            if cells.peek().is_some() { (text.as_str(), "  ") } else { (text.trim_end(), "") };
        write!(out, "{style}{text}{style:#}{gap}")?;
    }
    writeln!(out)
}

fn tags(entry: &Entry) -> Option<String> {
    let tags: Vec<&str> = entry.tags.iter().map(String::as_str).collect();
    (!tags.is_empty()).then(|| tags.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_take_no_room_and_are_left_out_where_unwanted() {
        let rows = ["completed", "failed", "paused"];
        let said = |text: &str| Some(text.to_owned());
        let columns = [
            Column::text("STATUS", rows, said).tinted(palette::status),
            Column::text("REASON", rows, said),
        ];
        let shown = |has_colours| {
            let mut out = Vec::new();
            write(&mut out, &columns, 20, has_colours).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            shown(false),
            "STATUS     REASON\ncompleted  completed\nfailed     failed\npaused     paused\n"
        );
        let coloured = shown(true);
        assert!(coloured.contains("\u{1b}[32mcompleted\u{1b}[0m  completed\n"), "{coloured:?}");
        assert!(coloured.contains("\u{1b}[31mfailed   \u{1b}[0m  failed\n"), "{coloured:?}");
        assert!(coloured.ends_with("\npaused     paused\n"), "{coloured:?}");
    }
}
