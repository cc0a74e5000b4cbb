//! `waypost log --path`: one value through time.

use std::collections::HashMap;
use std::io::Write;

use anyhow::Result;
use waypost::diff::Pointer;
use waypost::history::{Course, Value, ValueAt, Values};
use waypost::source::TextStyle;
use waypost::{Entry, Id, Series, Store, Timestamp};

use super::sparkline::{Levels, sparkline};
use crate::args::Global;
use crate::exit::Refusal;
use crate::output::{self, Column, age_of, cut, grouped, plain, short_id};
use crate::progress::Progress;

const SPARKLINE_CHARS: usize = 60;
// Characters of a value that even a narrow terminal shows.
const VALUE_CHARS_MIN: usize = 12;
const VALUE_CHARS: usize = 60;
// Width of the columns before the value.
const FACTS_CHARS: usize = 40;

/// A checkpoint whose value differs from the one before.
struct Row<'a> {
    entry: &'a Entry,
    value: String,
}

pub(super) fn run(
    store: &Store,
    entries: &[Entry],
    pointer: &Pointer,
    is_ascii: bool,
    global: &Global,
    out: &mut dyn Write,
) -> Result<()> {
    let mut values = Values::new(store, entries, pointer);
    if global.json {
        for value in values.by_ref() {
            output::json_text(out, &value?.to_json()?)?;
        }
        Refusal::if_damaged(values.tally())?;
        return if values.has_value() { Ok(()) } else { Err(no_value(&values, pointer)) };
    }
    let mut courses: HashMap<&Series, Course<'_>> = HashMap::new();
    let mut order: Vec<&Series> = Vec::new();
    let mut rows: Vec<Row<'_>> = Vec::new();
    let room = value_room();
    let progress = Progress::new("reading", global).of(Some(entries.len() as u64));
    while let Some(value) = values.next() {
        let value = value?;
        progress.show(values.tally().total);
        let series = &value.entry.series;
        let course = courses.entry(series).or_insert_with(|| {
            order.push(series);
            Course::default()
        });
        if let Some(changed) = course.add(value) {
            rows.push(Row::of(&changed, room)?);
        }
    }
    drop(progress);
    // A damaged document may have the value.
    if !values.has_value() && values.tally().damaged == 0 {
        return Err(no_value(&values, pointer));
    }
    for series in &order {
        if let Some(course) = courses.get_mut(series) {
            write(out, course, (order.len() > 1).then_some(*series), pointer, is_ascii)?;
            if let Some(oldest) = course.finish() {
                rows.push(Row::of(&oldest, room)?);
            }
        }
    }
    let places: HashMap<&Id, usize> =
        entries.iter().enumerate().map(|(at, entry)| (&entry.id, at)).collect();
    rows.sort_by_key(|row| places.get(&row.entry.id).copied());
    output::table(out, &columns(store, &rows, order.len() > 1)?, global)?;
    out.flush()?;
    Ok(Refusal::if_damaged(values.tally())?)
}

/// The error if no document has the pointer.
fn no_value(values: &Values<'_>, pointer: &Pointer) -> anyhow::Error {
    let total = values.tally().total;
    Refusal::NoValue { pointer: pointer.to_string(), total, nearby: values.nearby() }.into()
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

impl<'a> Row<'a> {
    /// The value, cut to `room` characters.
    fn of(at: &ValueAt<'a>, room: usize) -> Result<Self> {
        let value = match &at.value {
            Value::Present(value) => {
                let text = value.to_json(TextStyle::default())?;
                // Escapes only the part that is shown.
                let start: String = text.chars().take(room + 1).collect();
                cut(&plain(&start), room)
            }
            Value::Absent => "absent".to_owned(),
            Value::Damaged(_) => "damaged".to_owned(),
            Value::Gone => "deleted meanwhile".to_owned(),
        };
        Ok(Self { entry: at.entry, value })
    }
}

/// Writes a sparkline of the numbers of a series, if it has any.
fn write(
    out: &mut dyn Write,
    course: &Course<'_>,
    series: Option<&Series>,
    pointer: &Pointer,
    is_ascii: bool,
) -> Result<()> {
    let (Some(min), Some(max), Some(last)) = (course.min(), course.max(), course.last()) else {
        return Ok(());
    };
    let levels = if is_ascii { Levels::ASCII } else { Levels::UNICODE };
    let numbers = course.numbers();
    let oldest_first: Vec<Option<f64>> = numbers.iter().rev().copied().collect();
    let width = output::width().map_or(SPARKLINE_CHARS, usize::from).min(SPARKLINE_CHARS);
    let what = match series {
        Some(series) => format!("{series} {pointer}"),
        None => pointer.to_string(),
    };
    let count = numbers.iter().flatten().count();
    let [min, max, last] = [min, max, last].map(|it| it.to_json(TextStyle::default()));
    let facts = format!(
        "{}  min {}, max {}, last {}, {} of {}",
        plain(&what),
        short_number(&min?),
        short_number(&max?),
        short_number(&last?),
        grouped(count as u64),
        grouped(numbers.len() as u64),
    );
    let room = output::width().map_or(usize::MAX, usize::from);
    writeln!(out, "{}", cut(&facts, room))?;
    Ok(writeln!(out, "{}", sparkline(&oldest_first, width, levels).trim_end())?)
}

fn short_number(number: &str) -> String {
    const NUMBER_CHARS: usize = 24;
    cut(number, NUMBER_CHARS)
}

fn value_room() -> usize {
    let room = output::width().map(|width| usize::from(width).saturating_sub(FACTS_CHARS));
    room.unwrap_or(VALUE_CHARS).clamp(VALUE_CHARS_MIN, 2 * VALUE_CHARS)
}
