//! A listing as a table that fits the terminal.

use std::fmt::Display;

use comfy_table::{CellAlignment, ContentArrangement, Table};
use waypost::{Entry, Timestamp};

use super::human::{age, plain, short_id, size};

const HEADER: [&str; 9] =
    ["ID", "AGE", "SERIES", "TRIGGER", "PHASE", "ITERATION", "STATUS", "SIZE", "TAGS"];
const NUMBERS: [usize; 3] = [1, 5, 7];

/// Entries one a line, as they look at `now`; `width` in columns if it is limited.
pub(crate) fn table(entries: &[Entry], now: Timestamp, width: Option<u16>) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width {
        table.set_width(width);
    }
    table.set_header(HEADER).add_rows(entries.iter().map(|entry| row(entry, now)));
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if NUMBERS.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

fn row(entry: &Entry, now: Timestamp) -> [String; 9] {
    let tags: Vec<&str> = entry.tags.iter().map(String::as_str).collect();
    [
        short_id(&entry.id),
        age(now.saturating_since(entry.created_at)),
        plain(entry.series.as_str()),
        entry.trigger.to_string(),
        or_dash(entry.phase.as_ref()),
        or_dash(entry.iteration),
        entry.status.to_string(),
        size(entry.document_bytes),
        plain(&tags.join(" ")),
    ]
}

/// Every column but the last has a word in every row, so that tools can tell columns apart.
fn or_dash(value: Option<impl Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| plain(&value.to_string()))
}
