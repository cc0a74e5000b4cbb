//! Tables that fit the terminal.

use std::io::{self, IsTerminal as _, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table};
use waypost::{Entry, Timestamp};

use super::human::{age, plain, short_id, size};

/// A column with what it says of each row, if it does.
pub(crate) struct Column {
    title: String,
    alignment: CellAlignment,
    cells: Vec<Option<String>>,
}

impl Column {
    /// A column of words.
    pub(crate) fn text<T>(
        title: impl Into<String>,
        rows: impl IntoIterator<Item = T>,
        cell: impl Fn(T) -> Option<String>,
    ) -> Self {
        let cells = rows.into_iter().map(|row| cell(row).map(|text| plain(&text))).collect();
        Self { title: plain(&title.into()), alignment: CellAlignment::Left, cells }
    }

    /// A column of numbers.
    pub(crate) fn number<T>(
        title: impl Into<String>,
        rows: impl IntoIterator<Item = T>,
        cell: impl Fn(T) -> Option<String>,
    ) -> Self {
        Self { alignment: CellAlignment::Right, ..Self::text(title, rows, cell) }
    }
}

/// Columns about entries, as they look at `now`, with so many characters of their ids.
pub(crate) fn of_entries(entries: &[&Entry], id_length: usize, now: Timestamp) -> Vec<Column> {
    let rows = || entries.iter().copied();
    let old = |entry: &Entry| Some(age(now.saturating_since(entry.created_at)));
    vec![
        Column::text("ID", rows(), |entry| Some(short_id(&entry.id, id_length))),
        Column::number("AGE", rows(), old),
        Column::text("SERIES", rows(), |entry| Some(entry.series.to_string())),
        Column::text("TRIGGER", rows(), |entry| Some(entry.trigger.to_string())),
        Column::text("PHASE", rows(), |entry| entry.phase.clone()),
        Column::number("ITER", rows(), |entry| entry.iteration.map(|number| number.to_string())),
        Column::text("STATUS", rows(), |entry| Some(entry.status.to_string())),
        Column::number("SIZE", rows(), |entry| Some(size(entry.document_bytes))),
        Column::text("TAGS", rows(), tags),
    ]
}

/// Writes columns beside each other, a row a line.
///
/// A column that has nothing to say about any row is left out.
pub(crate) fn table(out: &mut dyn Write, columns: Vec<Column>) -> io::Result<()> {
    writeln!(out, "{}", fitted(columns, width()))
}

/// How many columns the terminal has, if there is one.
pub(crate) fn width() -> Option<u16> {
    let stdout = io::stdout();
    // A pipe has no width: whoever reads it wants whole lines.
    let size = if stdout.is_terminal() { terminal_size::terminal_size_of(&stdout) } else { None };
    size.map(|(width, _)| width.0)
}

fn fitted(mut columns: Vec<Column>, width: Option<u16>) -> String {
    columns.retain(|column| column.cells.iter().any(Option::is_some));
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width {
        table.set_width(width);
    }
    table.set_header(columns.iter().map(|column| &column.title));
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or_default();
    for row in 0..rows {
        // A word in every row lets tools tell columns apart.
        let cell = |column: &Column| column.cells[row].clone().unwrap_or_else(|| "-".to_owned());
        table.add_row(columns.iter().map(cell));
    }
    for (column, shown) in columns.iter().zip(table.column_iter_mut()) {
        shown.set_padding((0, 2)).set_cell_alignment(column.alignment);
    }
    table.trim_fmt()
}

fn tags(entry: &Entry) -> Option<String> {
    let tags: Vec<&str> = entry.tags.iter().map(String::as_str).collect();
    (!tags.is_empty()).then(|| tags.join(" "))
}
