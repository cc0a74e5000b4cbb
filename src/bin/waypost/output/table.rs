//! A listing as a table that fits the terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table};
use waypost::{Entry, Id, Timestamp};

use super::human::{age, plain, short_id, short_length, size};

/// How entries are looked at.
struct Look {
    now: Timestamp,
    id_length: usize,
}

/// What a column says of an entry.
type Cell = fn(&Entry, &Look) -> Option<String>;

struct Column {
    title: &'static str,
    alignment: CellAlignment,
    cell: Cell,
}

impl Column {
    const fn text(title: &'static str, cell: Cell) -> Self {
        Self { title, alignment: CellAlignment::Left, cell }
    }

    const fn number(title: &'static str, cell: Cell) -> Self {
        Self { title, alignment: CellAlignment::Right, cell }
    }
}

const COLUMNS: [Column; 9] = [
    Column::text("ID", |entry, look| Some(short_id(&entry.id, look.id_length))),
    Column::number("AGE", |entry, look| Some(age(look.now.saturating_since(entry.created_at)))),
    Column::text("SERIES", |entry, _| Some(plain(entry.series.as_str()))),
    Column::text("TRIGGER", |entry, _| Some(entry.trigger.to_string())),
    Column::text("PHASE", |entry, _| entry.phase.as_deref().map(plain)),
    Column::number("ITER", |entry, _| entry.iteration.map(|number| number.to_string())),
    Column::text("STATUS", |entry, _| Some(entry.status.to_string())),
    Column::number("SIZE", |entry, _| Some(size(entry.document_bytes))),
    Column::text("TAGS", |entry, _| tags(entry)),
];

/// Entries one a line, as they look at `now`; `width` in columns if it is limited.
///
/// A column that has nothing to say about any of them is left out.
pub(crate) fn table(entries: &[Entry], now: Timestamp, width: Option<u16>) -> String {
    let ids: Vec<&Id> = entries.iter().map(|entry| &entry.id).collect();
    let look = &Look { now, id_length: short_length(&ids) };
    let says = |column: &Column, entry| (column.cell)(entry, look);
    let is_used = |column: &&Column| entries.iter().any(|entry| says(column, entry).is_some());
    let columns: Vec<&Column> = COLUMNS.iter().filter(is_used).collect();
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width {
        table.set_width(width);
    }
    table.set_header(columns.iter().map(|column| column.title));
    // A word in every row lets tools tell columns apart.
    let cell = |column: &Column, entry| says(column, entry).unwrap_or_else(|| "-".to_owned());
    table.add_rows(entries.iter().map(|entry| columns.iter().map(move |it| cell(it, entry))));
    for (column, shown) in columns.iter().zip(table.column_iter_mut()) {
        shown.set_padding((0, 2)).set_cell_alignment(column.alignment);
    }
    table.trim_fmt()
}

fn tags(entry: &Entry) -> Option<String> {
    let tags: Vec<&str> = entry.tags.iter().map(String::as_str).collect();
    (!tags.is_empty()).then(|| plain(&tags.join(" ")))
}
