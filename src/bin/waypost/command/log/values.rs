//! `waypost log --path`: one value through time.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::Write;

use anyhow::Result;
use waypost::diff::{Pointer, compare_numbers};
use waypost::{Document, Entry, Id, Series, Store, TextStyle, Timestamp};

use super::nearby::nearby;
use super::sparkline::{Levels, sparkline};
use crate::args::Global;
use crate::content::{Content, Tally};
use crate::exit::Refusal;
use crate::output::{self, Column, age_of, cut, grouped, plain, short_id};
use crate::progress::Progress;

const SPARKLINE_CHARS: usize = 60;
// However narrow the terminal is, a value is told by its first characters.
const VALUE_CHARS_MIN: usize = 12;
const VALUE_CHARS: usize = 60;
// What stands before a value in its line.
const FACTS_CHARS: usize = 40;

/// What a document has at the place.
enum Found {
    Value(Document),
    Absent,
    Damaged(String),
    Gone,
}

/// A value that was not so in the checkpoint before.
struct Row<'a> {
    entry: &'a Entry,
    value: String,
}

/// What is known of a series, from its newest on.
#[derive(Default)]
struct Track<'a> {
    numbers: Vec<Option<f64>>,
    last: Option<Document>,
    min: Option<Document>,
    max: Option<Document>,
    /// The oldest so far and its number among all, not told yet: the one before may have the same.
    held: Option<(&'a Entry, usize, Found)>,
}

pub(super) fn run(
    store: &Store,
    entries: &[Entry],
    pointer: &Pointer,
    is_ascii: bool,
    global: &Global,
    out: &mut dyn Write,
) -> Result<()> {
    let mut tally = Tally::default();
    let mut is_anywhere = false;
    let mut found = |entry: &Entry, tally: &mut Tally| -> Result<Found> {
        let content = Content::of(store, &entry.id)?;
        tally.add(&content);
        let found = Found::of(content, pointer);
        is_anywhere |= matches!(found, Found::Value(_));
        Ok(found)
    };
    if global.json {
        for entry in entries {
            write_json(out, entry, &found(entry, &mut tally)?)?;
        }
        tally.verdict()?;
        return if is_anywhere { Ok(()) } else { Err(no_value(store, entries, pointer)) };
    }
    let mut tracks: HashMap<&Series, Track<'_>> = HashMap::new();
    let mut order: Vec<&Series> = Vec::new();
    let mut rows: Vec<(usize, Row<'_>)> = Vec::new();
    let room = value_room();
    let progress = Progress::new("reading", global).of(Some(entries.len() as u64));
    for (number, entry) in entries.iter().enumerate() {
        progress.show(number as u64);
        let found = found(entry, &mut tally)?;
        let track = tracks.entry(&entry.series).or_insert_with(|| {
            order.push(&entry.series);
            Track::default()
        });
        rows.extend(track.add((entry, number, found), room)?);
    }
    drop(progress);
    // Where something cannot be read, it may be there.
    if !is_anywhere && tally.damaged == 0 {
        return Err(no_value(store, entries, pointer));
    }
    for series in &order {
        if let Some(track) = tracks.get_mut(series) {
            track.write(out, (order.len() > 1).then_some(*series), pointer, is_ascii)?;
            rows.extend(track.release(room)?);
        }
    }
    rows.sort_by_key(|(number, _)| *number);
    let rows: Vec<Row<'_>> = rows.into_iter().map(|(_, row)| row).collect();
    output::table(out, &columns(store, &rows, order.len() > 1)?, global)?;
    out.flush()?;
    tally.verdict()
}

/// What is told of a place that no document has.
fn no_value(store: &Store, entries: &[Entry], pointer: &Pointer) -> anyhow::Error {
    let newest = entries.iter().find_map(|entry| match Content::of(store, &entry.id) {
        Ok(Content::Read(document)) => Some(document),
        _ => None,
    });
    let nearby = newest.map(|newest| nearby(&newest, pointer)).unwrap_or_default();
    Refusal::NoValue { pointer: pointer.to_string(), total: entries.len() as u64, nearby }.into()
}

fn columns(store: &Store, rows: &[Row<'_>], has_series: bool) -> Result<Vec<Column>> {
    let now = Timestamp::now();
    let length = output::id_length(store, rows.iter().map(|row| row.entry))?;
    let series = |row: &Row<'_>| has_series.then(|| row.entry.series.to_string());
    let old = |row: &Row<'_>| age_of(row.entry.created_at, now);
    Ok(vec![
        Column::id(rows, |row| Some(short_id(&row.entry.id, length))),
        Column::number("AGE", rows, |row| Some(old(row))),
        Column::text("SERIES", rows, series).names().worth(1),
        Column::number("ITER", rows, |row| row.entry.iteration.map(|number| number.to_string())),
        Column::text("VALUE", rows, |row| Some(row.value.clone())),
    ])
}

impl Found {
    fn of(content: Content, pointer: &Pointer) -> Self {
        match content {
            Content::Read(document) => match pointer.find(&document) {
                Some(value) => Self::Value(value.clone()),
                None => Self::Absent,
            },
            Content::Damaged(reason) => Self::Damaged(reason),
            Content::Gone => Self::Gone,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Value(one), Self::Value(other)) => waypost::diff(one, other).is_empty(),
            (Self::Absent, Self::Absent) => true,
            _ => false,
        }
    }

    /// In so many characters.
    fn words(&self, room: usize) -> Result<String> {
        Ok(match self {
            Self::Value(value) => {
                let text = value.to_json(TextStyle::default())?;
                // As much as can be shown, before it is made safe to be.
                let start: String = text.chars().take(room + 1).collect();
                cut(&plain(&start), room)
            }
            Self::Absent => "absent".to_owned(),
            Self::Damaged(_) => "damaged".to_owned(),
            Self::Gone => "deleted meanwhile".to_owned(),
        })
    }

    /// The number that it is, or that its text is, if it has a place among others.
    fn number(&self) -> Option<Document> {
        let Self::Value(value) = self else { return None };
        let number = match value {
            Document::Int(_) | Document::Uint(_) | Document::Number(_) | Document::Float(_) => {
                value.clone()
            }
            // A number that was put in quotes; a long text is none, and not worth reading.
            Document::Text(text) if text.len() <= VALUE_CHARS => {
                Document::from_json(text.as_bytes()).ok()?
            }
            Document::Null
            | Document::Bool(_)
            | Document::Text(_)
            | Document::Bytes(_)
            | Document::Array(_)
            | Document::Object(_) => return None,
        };
        compare_numbers(&number, &Document::Uint(0)).map(|_| number)
    }
}

impl<'a> Track<'a> {
    /// Takes the next older one; returns the one after it, if that was not the same.
    fn add(
        &mut self,
        (entry, at, found): (&'a Entry, usize, Found),
        room: usize,
    ) -> Result<Option<(usize, Row<'a>)>> {
        let number = found.number();
        self.numbers.push(number.as_ref().and_then(as_double));
        if let Some(number) = number {
            replace_if(&mut self.min, &number, Ordering::is_gt);
            replace_if(&mut self.max, &number, Ordering::is_lt);
            self.last.get_or_insert(number);
        }
        let newer = self.held.replace((entry, at, found));
        let held = self.held.as_ref().map(|(_, _, found)| found);
        match newer {
            Some((_, _, newer)) if held.is_some_and(|held| held.is_same(&newer)) => Ok(None),
            Some((entry, at, newer)) => Ok(Some((at, Row { entry, value: newer.words(room)? }))),
            None => Ok(None),
        }
    }

    /// The oldest, before which nothing is known.
    fn release(&mut self, room: usize) -> Result<Option<(usize, Row<'a>)>> {
        let Some((entry, at, found)) = self.held.take() else { return Ok(None) };
        Ok(Some((at, Row { entry, value: found.words(room)? })))
    }

    /// Writes how numbers went, if there are any.
    fn write(
        &self,
        out: &mut dyn Write,
        series: Option<&Series>,
        pointer: &Pointer,
        is_ascii: bool,
    ) -> Result<()> {
        let (Some(min), Some(max), Some(last)) = (&self.min, &self.max, &self.last) else {
            return Ok(());
        };
        let levels = if is_ascii { Levels::ASCII } else { Levels::UNICODE };
        let oldest_first: Vec<Option<f64>> = self.numbers.iter().rev().copied().collect();
        let width = output::width().map_or(SPARKLINE_CHARS, usize::from).min(SPARKLINE_CHARS);
        let what = match series {
            Some(series) => format!("{series} {pointer}"),
            None => pointer.to_string(),
        };
        let count = self.numbers.iter().flatten().count();
        let [min, max, last] = [min, max, last].map(|it| it.to_json(TextStyle::default()));
        let facts = format!(
            "{}  min {}, max {}, last {}, {} of {}",
            plain(&what),
            short_number(&min?),
            short_number(&max?),
            short_number(&last?),
            grouped(count as u64),
            grouped(self.numbers.len() as u64),
        );
        let room = output::width().map_or(usize::MAX, usize::from);
        writeln!(out, "{}", cut(&facts, room))?;
        Ok(writeln!(out, "{}", sparkline(&oldest_first, width, levels).trim_end())?)
    }
}

/// Keeps what is least or greatest; what has no place among numbers is neither.
fn replace_if(kept: &mut Option<Document>, number: &Document, is: fn(Ordering) -> bool) {
    if kept.as_ref().is_none_or(|kept| compare_numbers(kept, number).is_some_and(is)) {
        *kept = Some(number.clone());
    }
}

/// As a double, where what is beyond them is infinite.
fn as_double(number: &Document) -> Option<f64> {
    match number {
        #[expect(clippy::cast_precision_loss, reason = "a sparkline has eight levels")]
        Document::Uint(number) => Some(*number as f64),
        #[expect(clippy::cast_precision_loss, reason = "a sparkline has eight levels")]
        Document::Int(number) => Some(*number as f64),
        Document::Float(number) => Some(*number),
        Document::Number(literal) => literal.parse().ok(),
        _ => None,
    }
}

fn short_number(number: &str) -> String {
    const NUMBER_CHARS: usize = 24;
    cut(number, NUMBER_CHARS)
}

fn value_room() -> usize {
    let room = output::width().map(|width| usize::from(width).saturating_sub(FACTS_CHARS));
    room.unwrap_or(VALUE_CHARS).clamp(VALUE_CHARS_MIN, 2 * VALUE_CHARS)
}

/// Writes what a checkpoint has; the value as it is spelled.
fn write_json(mut out: &mut dyn Write, entry: &Entry, found: &Found) -> Result<()> {
    #[derive(serde::Serialize)]
    struct Line<'a> {
        id: &'a Id,
        series: &'a Series,
        created_at: Timestamp,
        iteration: Option<u64>,
    }
    let Entry { id, series, created_at, iteration, .. } = entry;
    let line = Line { id, series, created_at: *created_at, iteration: *iteration };
    write!(out, "{}", output::json_open(&line)?)?;
    match found {
        Found::Value(value) => write!(out, ",\"value\":{}", value.to_json(TextStyle::default())?)?,
        Found::Absent => write!(out, ",\"absent\":true")?,
        Found::Gone => write!(out, ",\"gone\":true")?,
        Found::Damaged(reason) => {
            write!(out, ",\"damaged\":")?;
            serde_json::to_writer(&mut out, reason)?;
        }
    }
    Ok(writeln!(out, "}}")?)
}
