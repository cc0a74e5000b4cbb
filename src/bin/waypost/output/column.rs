//! Columns of a table, and which are cut or left out on a narrow terminal.

use clap::builder::styling::Style;

use super::fit::{columns, cut, cut_middle};
use super::human::plain;
use super::palette;

// Texts keep this width until columns of low worth are left out.
const EASY: usize = 12;
// As long as the shortest titles; texts are never cut below this.
const NARROW: usize = 6;
const GAP: usize = 2;

/// A column with its cell for each row, if any.
pub(crate) struct Column {
    pub(super) title: String,
    pub(super) cells: Vec<Option<String>>,
    is_number: bool,
    cut: Cut,
    /// The lower, the sooner it is left out; `None` if never.
    worth: Option<u8>,
    pub(super) tint: fn(&str) -> Style,
}

/// Where a text is cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Never,
    Middle,
    End,
}

/// A column that is shown, with its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fitted {
    pub(crate) column: usize,
    pub(crate) width: usize,
}

impl Column {
    /// A column of words.
    pub(crate) fn text<T>(
        title: impl Into<String>,
        rows: impl IntoIterator<Item = T>,
        cell: impl Fn(T) -> Option<String>,
    ) -> Self {
        let cells = rows.into_iter().map(|row| cell(row).map(|text| plain(&text))).collect();
        let title = plain(&title.into());
        let tint = |_: &str| Style::new();
        Self { title, cells, is_number: false, cut: Cut::End, worth: None, tint }
    }

    /// A column of numbers, which are never cut.
    pub(crate) fn number<T>(
        title: impl Into<String>,
        rows: impl IntoIterator<Item = T>,
        cell: impl Fn(T) -> Option<String>,
    ) -> Self {
        Self { is_number: true, cut: Cut::Never, ..Self::text(title, rows, cell) }
    }

    /// The ids, which are never cut.
    pub(crate) fn id<T>(
        rows: impl IntoIterator<Item = T>,
        cell: impl Fn(T) -> Option<String>,
    ) -> Self {
        Self::text("ID", rows, cell).whole().tinted(|_| palette::ID)
    }

    /// The same, never cut.
    pub(crate) fn whole(self) -> Self {
        Self { cut: Cut::Never, ..self }
    }

    /// The same for names, which are cut in the middle.
    pub(crate) fn names(self) -> Self {
        Self { cut: Cut::Middle, ..self }
    }

    /// The same, left out where there is no room, those of least worth first.
    pub(crate) fn worth(self, worth: u8) -> Self {
        Self { worth: Some(worth), ..self }
    }

    /// The same, with a colour for each text.
    pub(crate) fn tinted(self, tint: fn(&str) -> Style) -> Self {
        Self { tint, ..self }
    }

    /// The title, padded or cut to `width`.
    pub(crate) fn title(&self, width: usize) -> String {
        padded(&cut(&self.title, width), width, self.is_number)
    }

    /// The cell of a row, padded or cut to `width`, and its colour.
    pub(crate) fn cell(&self, row: usize, width: usize) -> (Style, String) {
        // A word in every row lets tools tell columns apart.
        let text = self.cells[row].as_deref().unwrap_or("-");
        let short = match self.cut {
            Cut::Middle => cut_middle(text, width),
            Cut::Never | Cut::End => cut(text, width),
        };
        ((self.tint)(text), padded(&short, width, self.is_number))
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().flatten().map(|cell| columns(cell)).max();
        cells.unwrap_or_default().max(columns(&self.title))
    }
}

/// The columns to show in lines of at most `room` terminal columns.
///
/// A column without any value is left out. Texts are cut to [`EASY`] first, then columns of low
/// worth are left out, then texts are cut to [`NARROW`]. Columns that are never cut may still
/// exceed `room`.
pub(crate) fn fitted(all: &[Column], room: usize) -> Vec<Fitted> {
    let has_cells = |it: &usize| all[*it].cells.iter().any(Option::is_some);
    let mut shown: Vec<usize> = (0..all.len()).filter(has_cells).collect();
    loop {
        let widths = narrowed(all, &shown, room, EASY);
        if taken(&widths) <= room {
            return widths;
        }
        let least = shown.iter().copied().filter(|it| all[*it].worth.is_some());
        let Some(least) = least.min_by_key(|it| all[*it].worth) else {
            return narrowed(all, &shown, room, NARROW);
        };
        shown.retain(|it| *it != least);
    }
}

/// The width of a line with these columns and the gaps between them.
pub(crate) fn taken(widths: &[Fitted]) -> usize {
    let gaps = widths.len().saturating_sub(1).saturating_mul(GAP);
    widths.iter().map(|it| it.width).fold(gaps, usize::saturating_add)
}

/// Makes the widest texts narrower until all fit, or none may be cut any more.
fn narrowed(all: &[Column], shown: &[usize], room: usize, least: usize) -> Vec<Fitted> {
    let is_cut = |column: usize| all[column].cut != Cut::Never;
    let mut widths: Vec<Fitted> = shown
        .iter()
        .map(|column| Fitted { column: *column, width: all[*column].width() })
        .collect();
    // Wider than the line is never needed; this bounds the work.
    for it in widths.iter_mut().filter(|it| is_cut(it.column)) {
        it.width = it.width.min(room.max(least));
    }
    while taken(&widths) > room {
        let widest = widths.iter_mut().filter(|it| is_cut(it.column)).max_by_key(|it| it.width);
        let Some(widest) = widest.filter(|it| it.width > least) else { break };
        widest.width -= 1;
    }
    widths
}

pub(crate) fn padded(text: &str, width: usize, is_right: bool) -> String {
    let space = " ".repeat(width.saturating_sub(columns(text)));
    if is_right { space + text } else { text.to_owned() + &space }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: &str = "loop:\u{4e2d}\u{6587}-a-name-that-goes-on-and-on-until-00000000";

    fn columns() -> Vec<Column> {
        let rows = || ["x"].into_iter();
        let said = |text: &'static str| move |_: &str| Some(text.to_owned());
        vec![
            Column::text("ID", rows(), said("019a8b2c-d3e4")).whole(),
            Column::number("AGE", rows(), said("47h")),
            Column::text("SERIES", rows(), said(WIDE)).names().worth(9),
            Column::text("PHASE", rows(), said("implementation of it all")).worth(1),
            Column::text("STATUS", rows(), said("in_progress")).whole().worth(5),
            Column::text("NONE", rows(), |_| None),
            Column::text("TAGS", rows(), said("before-refactoring keep")).worth(0),
        ]
    }

    fn line(width: usize) -> String {
        let all = columns();
        let cells = fitted(&all, width).into_iter().map(|it| all[it.column].cell(0, it.width).1);
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    }

    #[test]
    fn texts_get_shorter_and_columns_of_little_worth_go_first() {
        let lines: Vec<String> =
            [40, 60, 80].map(|it| line(it).escape_default().to_string()).to_vec();
        insta::assert_snapshot!(lines.join("\n"), @r"
        019a8b2c-d3e4  47h  loop:\u{4e2d}...-00000000
        019a8b2c-d3e4  47h  loop:...00000  implement...  in_progress
        019a8b2c-d3e4  47h  loop:...000000   implementat...  in_progress  before-refa...
        ");
        for width in 40..200 {
            assert!(super::columns(&line(width)) <= width, "{width}: {}", line(width));
        }
    }

    #[test]
    fn where_lines_have_no_end_nothing_is_cut() {
        let whole = line(usize::MAX);
        for text in [WIDE, "implementation of it all", "before-refactoring keep"] {
            assert!(whole.contains(text), "{whole}");
        }
    }

    #[test]
    fn what_must_stay_whole_may_be_wider_than_the_line() {
        assert!(line(1).starts_with("019a8b2c-d3e4  47h"), "{}", line(1));
    }
}
