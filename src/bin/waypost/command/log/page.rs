//! A time line as a person reads it: lines of the graph, and columns beside them.

use std::collections::HashSet;
use std::io::{self, Write};

use anyhow::Result;
use clap::builder::styling::{AnsiColor, Style};
use waypost::{Id, Status, Timestamp};

use super::graph::{Drawn, Signs, draw};
use super::summary::Summary;
use super::timeline::{Origin, Row, Since, State, links};
use crate::args::Global;
use crate::output::{age, columns, cut, plain, short_id};

// With less room for what changed, it stands in a line of its own.
const WORDS_ROOM_MIN: usize = 30;

/// Rows with what stands before and in them.
pub(super) struct Page {
    graph: Vec<Drawn>,
    columns: Vec<Column>,
    /// What changed, last in a line or in one of its own.
    words: Vec<Words>,
}

struct Column {
    title: &'static str,
    cells: Vec<Option<String>>,
    is_number: bool,
}

pub(crate) struct Words {
    pub(crate) text: String,
    pub(crate) is_bad: bool,
}

/// How parts are shown.
struct Styles {
    id: Style,
    bad: Style,
}

impl Page {
    /// Rows as they look at `now`, with so many characters of ids.
    pub(super) fn new(rows: &[Row], id_length: usize, signs: Signs, now: Timestamp) -> Self {
        let mut columns = facts(rows, id_length, now);
        columns.retain(|column| column.cells.iter().any(Option::is_some));
        let words = rows.iter().map(|row| Words::of(row, id_length)).collect();
        Self { graph: draw(&links(rows), signs), columns, words }
    }

    /// Writes lines of at most so many columns, if they have an end.
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        width: Option<u16>,
        global: &Global,
    ) -> Result<()> {
        let style = |style| global.style(&io::stdout(), style);
        let styles = Styles {
            id: style(AnsiColor::Yellow.on_default()),
            bad: style(AnsiColor::Red.on_default().bold()),
        };
        Ok(self.write_styled(out, width.map_or(usize::MAX, usize::from), &styles)?)
    }

    fn write_styled(&self, out: &mut dyn Write, width: usize, styles: &Styles) -> io::Result<()> {
        let lanes = self.graph.iter().flat_map(|drawn| [&drawn.beside, &drawn.below]);
        let lanes = lanes.map(|text| columns(text)).max().unwrap_or_default();
        let mut widths: Vec<usize> = self.columns.iter().map(Column::width).collect();
        // Each has two columns between it and what is before.
        shrink(&mut widths, width.saturating_sub(lanes + 2 * self.columns.len()));
        let taken = lanes + widths.iter().map(|width| 2 + width).sum::<usize>() + 2;
        let has_room = width.saturating_sub(taken) >= WORDS_ROOM_MIN;
        self.header(lanes, &widths, has_room).write(out, width)?;
        for (at, (drawn, words)) in self.graph.iter().zip(&self.words).enumerate() {
            if let Some(above) = &drawn.above {
                Line::default().add(above).write(out, width)?;
            }
            let mut line = Line::default().add(&padded(&drawn.beside, lanes, false));
            for (number, (column, width)) in self.columns.iter().zip(&widths).enumerate() {
                // A word in every row lets tools tell columns apart.
                let cell = column.cells[at].as_deref().unwrap_or("-");
                let style = if number == 0 { styles.id } else { Style::new() };
                let cell = padded(&cut(cell, *width), *width, column.is_number);
                line = line.add("  ").styled(style, &cell);
            }
            let style = if words.is_bad { styles.bad } else { Style::new() };
            if has_room {
                line.add("  ").styled(style, &words.text).write(out, width)?;
                continue;
            }
            line.write(out, width)?;
            let below = Line::default().add(&padded(&drawn.below, lanes, false));
            below.add("    ").styled(style, &words.text).write(out, width)?;
        }
        Ok(())
    }

    fn header(&self, lanes: usize, widths: &[usize], has_words: bool) -> Line {
        let line = Line::default().add(&padded("", lanes, false));
        let titles = self.columns.iter().zip(widths).fold(line, |line, (column, width)| {
            line.add("  ").add(&padded(column.title, *width, column.is_number))
        });
        if has_words { titles.add("  CHANGED") } else { titles }
    }
}

fn facts(rows: &[Row], id_length: usize, now: Timestamp) -> Vec<Column> {
    let is_one_series = rows.iter().map(|row| &row.entry.series).collect::<HashSet<_>>().len() == 1;
    let column = |title, is_number, cell: &dyn Fn(&Row) -> Option<String>| Column {
        title,
        cells: rows.iter().map(|row| cell(row).map(|text| plain(&text))).collect(),
        is_number,
    };
    let old = |row: &Row| age(now.saturating_since(row.entry.created_at));
    // Nearly all are so, and it says nothing.
    let status = |row: &Row| Some(row.entry.status).filter(|it| *it != Status::InProgress);
    let tags = |row: &Row| row.entry.tags.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    vec![
        column("ID", false, &|row| Some(short_id(&row.entry.id, id_length))),
        column("AGE", true, &|row| Some(old(row))),
        column("SERIES", false, &|row| (!is_one_series).then(|| row.entry.series.to_string())),
        column("TRIGGER", false, &|row| Some(row.entry.trigger.to_string())),
        column("PHASE", false, &|row| row.entry.phase.clone()),
        column("ITER", true, &|row| row.entry.iteration.map(|number| number.to_string())),
        column("SCORE", true, &score),
        column("STATUS", false, &|row| status(row).map(|status| status.to_string())),
        column("TAGS", false, &|row| Some(tags(row)).filter(|tags| !tags.is_empty())),
    ]
}

fn score(row: &Row) -> Option<String> {
    match row.state {
        State::Read { score, .. } => score.map(rounded),
        State::Damaged(_) | State::Gone => None,
    }
}

/// A score in few characters.
fn rounded(score: f64) -> String {
    if score.abs() >= 1e9 {
        return format!("{score:.2e}");
    }
    let text = format!("{score:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Words {
    pub(crate) fn of(row: &Row, id_length: usize) -> Self {
        let (since, files) = match &row.state {
            State::Damaged(_) => return Self { text: "damaged".to_owned(), is_bad: true },
            State::Gone => return Self { text: "deleted meanwhile".to_owned(), is_bad: false },
            State::Read { since, files, .. } => (since, files.words()),
        };
        let short = |id: &Id| short_id(id, id_length);
        let origin = row.origin.as_ref().map(|origin| match origin {
            Origin::Fork(id) => format!("fork of {}", short(id)),
            Origin::Back(id) => format!("back to {}", short(id)),
            Origin::Gone(id) => format!("from {}, which is gone", short(id)),
        });
        let changed = match since {
            Since::First => "first".to_owned(),
            Since::Before(_, Summary { words, .. }) => words.clone(),
            Since::Unreadable(before) => format!("{} cannot be read", short(before)),
        };
        let is_same = matches!(since, Since::Before(_, Summary { is_same: true, .. }));
        let changed = match files {
            Some(files) if is_same => files,
            Some(files) => format!("{changed}, {files}"),
            None => changed,
        };
        let is_fork_alone = matches!(row.origin, Some(Origin::Fork(_)))
            && matches!(since, Since::Before(_, Summary { changes: 0, .. }));
        let text = match origin {
            Some(origin) if is_fork_alone => origin,
            Some(origin) => format!("{origin}, {changed}"),
            None => changed,
        };
        Self { text, is_bad: false }
    }
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().flatten().map(|cell| columns(cell)).max();
        cells.unwrap_or_default().max(self.title.len())
    }
}

/// Makes the widest columns narrower until all fit, but for the first, which has the ids.
fn shrink(widths: &mut [usize], room: usize) {
    const WIDTH_MIN: usize = 8;
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().skip(1).max();
        let Some(widest) = widest.filter(|width| **width > WIDTH_MIN) else { break };
        *widest -= 1;
    }
}

/// Parts of a line with their styles.
#[derive(Default)]
struct Line(Vec<(Style, String)>);

impl Line {
    fn add(self, text: &str) -> Self {
        self.styled(Style::new(), text)
    }

    fn styled(mut self, style: Style, text: &str) -> Self {
        self.0.push((style, text.to_owned()));
        self
    }

    /// Writes as much as fits.
    fn write(mut self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        while let Some((_, last)) = self.0.last_mut() {
            last.truncate(last.trim_end().len());
            if !last.is_empty() {
                break;
            }
            self.0.pop();
        }
        let mut room = width;
        for (style, text) in self.0 {
            let text = cut(&text, room);
            room -= columns(&text).min(room);
            write!(out, "{style}{text}{style:#}")?;
        }
        writeln!(out)
    }
}

pub(crate) fn padded(text: &str, width: usize, is_right: bool) -> String {
    let space = " ".repeat(width.saturating_sub(columns(text)));
    if is_right { space + text } else { text.to_owned() + &space }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use waypost::{NewEntry, Series, Store};

    use super::super::timeline::Files;
    use super::*;

    /// Rows of a store with one checkpoint, as if they had these scores and words.
    fn page(phase: &str, rows: &[(Option<f64>, &str)]) -> Page {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store.redb")).unwrap();
        let about = NewEntry {
            id: Some(Id::new("a-1").unwrap()),
            series: Series::new("work").ok(),
            phase: Some(phase.to_owned()),
            tags: BTreeSet::from(["before-refactoring".to_owned()]),
            ..NewEntry::default()
        };
        let entry = store.save(about, &1).unwrap();
        let row = |(score, words): &(Option<f64>, &str)| {
            let (pointers, words) = (Vec::new(), (*words).to_owned());
            let summary = Summary { changes: 1, pointers, words, is_same: false };
            let since = Since::Before(entry.id.clone(), summary);
            let state = State::Read { score: *score, since, files: Files::default() };
            Row { entry: entry.clone(), origin: None, has_before: true, state }
        };
        let rows: Vec<Row> = rows.iter().map(row).collect();
        Page::new(&rows, 13, Signs::ASCII, entry.created_at)
    }

    fn shown(page: &Page, width: usize) -> String {
        let mut out = Vec::new();
        let styles = Styles { id: Style::new(), bad: Style::new() };
        page.write_styled(&mut out, width, &styles).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn scores_have_a_column_where_there_are_any() {
        let page = page("build", &[(Some(71.0), "/score 70 -> 71"), (None, "+/score")]);
        insta::assert_snapshot!(shown(&page, usize::MAX), @"
           ID   AGE  TRIGGER  PHASE  SCORE  TAGS                CHANGED
        *  a-1   0s  unknown  build     71  before-refactoring  /score 70 -> 71
        *  a-1   0s  unknown  build      -  before-refactoring  +/score
        ");
        assert!(!shown(&self::page("build", &[(None, "+/score")]), usize::MAX).contains("SCORE"));
    }

    #[test]
    fn scores_are_rounded() {
        for (score, text) in [
            (0.1 + 0.2, "0.3"),
            (71.0, "71"),
            (100.0, "100"),
            (-0.255, "-0.26"),
            (1e300, "1.00e300"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(rounded(score), text);
        }
    }

    #[test]
    fn lines_fit_the_terminal_however_narrow_it_is() {
        let rows = [(Some(0.5), "/score 70 -> 71, 3 more"), (None, "+/score")];
        insta::assert_snapshot!(shown(&page("build", &rows), 48), @"
           ID   AGE  TRIGGER  PHASE  SCORE  TAGS
        *  a-1   0s  unknown  build    0.5  before-re...
        |    /score 70 -> 71, 3 more
        *  a-1   0s  unknown  build      -  before-re...
             +/score
        ");
        // Each character takes two columns.
        let page = page("\u{4e2d}\u{6587}\u{5b57}\u{4e2d}\u{6587}\u{5b57}", &rows);
        for width in 1..120 {
            let shown = shown(&page, width);
            assert!(shown.lines().all(|line| columns(line) <= width), "{width}:\n{shown}");
        }
    }
}
