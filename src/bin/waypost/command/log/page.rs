//! The time line for a person: the graph, and columns beside it.

use std::collections::HashSet;
use std::io::{self, Write};

use anyhow::Result;
use clap::builder::styling::Style;
use waypost::history::{Reading, Row, links};
use waypost::{Status, Timestamp};

use super::graph::{Drawn, Signs, draw};
use crate::args::Global;
use crate::output::{
    Changed, Column, Fitted, age_of, columns, cut, fitted, padded, palette, rounded, short_id,
    taken,
};

// With less room, the change is written on a line of its own.
const WORDS_ROOM_MIN: usize = 30;
const GAP: &str = "  ";

/// Rows with the graph before them and their columns.
pub(super) struct Page {
    graph: Vec<Drawn>,
    columns: Vec<Column>,
    /// At the end of the line of a row, or in a line below it.
    changed: Vec<Changed>,
}

/// How wide lines may be, and whether they are coloured.
#[derive(Clone, Copy)]
struct Paper {
    width: usize,
    has_colours: bool,
}

impl Page {
    /// Rows as they look at `now`, with ids cut to `id_length` characters.
    pub(super) fn new(rows: &[Row], id_length: usize, signs: Signs, now: Timestamp) -> Self {
        let columns = facts(rows, id_length, now);
        let changed = rows.iter().map(|row| Changed::of(row, id_length)).collect();
        Self { graph: draw(&links(rows), signs), columns, changed }
    }

    /// Writes lines of at most `width` columns, or of any length.
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        width: Option<u16>,
        global: &Global,
    ) -> Result<()> {
        let room = width.map_or(usize::MAX, usize::from);
        Ok(self.write_within(out, room, global.colours(&io::stdout()))?)
    }

    fn write_within(&self, out: &mut dyn Write, width: usize, has_colours: bool) -> io::Result<()> {
        let lanes = self.graph.iter().flat_map(|drawn| [&drawn.beside, &drawn.below]);
        let lanes = lanes.map(|text| columns(text)).max().unwrap_or_default();
        let shown = fitted(&self.columns, width.saturating_sub(lanes + GAP.len()));
        let has_room =
            width.saturating_sub(lanes + taken(&shown) + 2 * GAP.len()) >= WORDS_ROOM_MIN;
        let paper = Paper { width, has_colours };
        self.header(lanes, &shown, has_room).write(out, paper)?;
        for (at, (drawn, changed)) in self.graph.iter().zip(&self.changed).enumerate() {
            if let Some(above) = &drawn.above {
                Line::default().add(above).write(out, paper)?;
            }
            let mut line = Line::default().add(&padded(&drawn.beside, lanes, false));
            for Fitted { column, width } in &shown {
                let (style, cell) = self.columns[*column].cell(at, *width);
                line = line.add(GAP).styled(style, &cell);
            }
            let style = if changed.is_bad { palette::BAD } else { Style::new() };
            if has_room {
                line.add(GAP).styled(style, &changed.text).write(out, paper)?;
                continue;
            }
            line.write(out, paper)?;
            let below = Line::default().add(&padded(&drawn.below, lanes, false));
            below.add("    ").styled(style, &changed.text).write(out, paper)?;
        }
        Ok(())
    }

    fn header(&self, lanes: usize, shown: &[Fitted], has_words: bool) -> Line {
        let line = Line::default().add(&padded("", lanes, false));
        let titles = shown.iter().fold(line, |line, it| {
            line.add(GAP).styled(palette::TITLE, &self.columns[it.column].title(it.width))
        });
        if has_words { titles.add(GAP).styled(palette::TITLE, "CHANGED") } else { titles }
    }
}

fn facts(rows: &[Row], id_length: usize, now: Timestamp) -> Vec<Column> {
    let is_one_series = rows.iter().map(|row| &row.entry.series).collect::<HashSet<_>>().len() == 1;
    let old = |row: &Row| age_of(row.entry.created_at, now);
    // Nearly all have this status, so it says nothing.
    let status = |row: &Row| Some(row.entry.status).filter(|it| *it != Status::InProgress);
    let tags = |row: &Row| row.entry.tags.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let series = |row: &Row| (!is_one_series).then(|| row.entry.series.to_string());
    let iteration = |row: &Row| row.entry.iteration.map(|number| number.to_string());
    let status = |row: &Row| status(row).map(|status| status.to_string());
    let tags = |row: &Row| Some(tags(row)).filter(|tags| !tags.is_empty());
    vec![
        Column::id(rows, |row| Some(short_id(&row.entry.id, id_length))),
        Column::number("AGE", rows, |row| Some(old(row))),
        Column::text("SERIES", rows, series).names().worth(6),
        Column::text("TRIGGER", rows, |row| Some(row.entry.trigger.to_string())).worth(2),
        Column::text("PHASE", rows, |row| row.entry.phase.clone()).worth(1),
        Column::number("ITER", rows, iteration).worth(3),
        Column::number("SCORE", rows, score).worth(4),
        Column::text("STATUS", rows, status).whole().worth(5).tinted(palette::status),
        Column::text("TAGS", rows, tags).worth(0),
    ]
}

fn score(row: &Row) -> Option<String> {
    match row.reading {
        Reading::Read { score, .. } => score.map(rounded),
        Reading::Damaged(_) | Reading::Gone => None,
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
    fn write(mut self, out: &mut dyn Write, paper: Paper) -> io::Result<()> {
        while let Some((_, last)) = self.0.last_mut() {
            last.truncate(last.trim_end().len());
            if !last.is_empty() {
                break;
            }
            self.0.pop();
        }
        let mut room = paper.width;
        for (style, text) in self.0 {
            let style = if paper.has_colours { style } else { Style::new() };
            let text = cut(&text, room);
            room -= columns(&text).min(room);
            write!(out, "{style}{text}{style:#}")?;
        }
        writeln!(out)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use waypost::history::{Captured, Since, Summary};
    use waypost::{Id, NewEntry, Series, Store};

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
            let reading = Reading::Read { score: *score, since, files: Captured::default() };
            Row { entry: entry.clone(), origin: None, has_before: true, reading }
        };
        let rows: Vec<Row> = rows.iter().map(row).collect();
        Page::new(&rows, 13, Signs::ASCII, entry.created_at)
    }

    fn shown(page: &Page, width: usize) -> String {
        let mut out = Vec::new();
        page.write_within(&mut out, width, false).unwrap();
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
