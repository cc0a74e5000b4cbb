//! One line per checkpoint, in columns that widen for a wider cell.

use std::io::{self, Write};

use anyhow::Result;
use clap::builder::styling::Style;
use waypost::Timestamp;
use waypost::history::Row;

use crate::args::Global;
use crate::output::{self, Changed, cut, padded, palette, plain, short_id};

/// The present widths of the columns.
#[derive(Debug, Default)]
pub(super) struct Lines {
    widths: [usize; 5],
}

impl Lines {
    /// Writes a row, with ids cut to `id_length` characters.
    pub(super) fn write(
        &mut self,
        out: &mut dyn Write,
        row: &Row,
        id_length: usize,
        global: &Global,
    ) -> Result<()> {
        if global.json {
            return Ok(output::json_line(out, row)?);
        }
        let id = global.style(&io::stdout(), palette::ID);
        let bad = global.style(&io::stdout(), palette::BAD);
        let changed = Changed::of(row, id_length);
        let style = if changed.is_bad { bad } else { Style::new() };
        let cells = self.cells(row, id_length);
        let taken: usize = cells.iter().map(|cell| output::columns(cell) + 2).sum();
        let room = output::width().map_or(usize::MAX, usize::from);
        let text = cut(&changed.text, room.saturating_sub(taken));
        let [time, name, rest @ ..] = cells;
        write!(out, "{time}  {id}{name}{id:#}  ")?;
        rest.iter().try_for_each(|cell| write!(out, "{cell}  "))?;
        Ok(writeln!(out, "{style}{text}{style:#}")?)
    }

    fn cells(&mut self, row: &Row, id_length: usize) -> [String; 5] {
        let entry = &row.entry;
        let iteration = entry.iteration.map_or_else(|| "-".to_owned(), |it| it.to_string());
        let cells = [
            clock(entry.created_at),
            short_id(&entry.id, id_length),
            plain(entry.series.as_str()),
            entry.trigger.to_string(),
            iteration,
        ];
        for (width, cell) in self.widths.iter_mut().zip(&cells) {
            *width = output::columns(cell).max(*width);
        }
        let mut widths = self.widths.into_iter();
        cells.map(|cell| padded(&cell, widths.next().unwrap_or_default(), false))
    }
}

/// The time of day in UTC.
fn clock(time: Timestamp) -> String {
    let text = time.to_string();
    text.get(11..19).map_or(text.clone(), |clock| format!("{clock}Z"))
}
