//! The lines of series in `waypost series` and in the menu of `resume`.

use anyhow::Result;
use waypost::recovery::{Outlook, SeriesState};
use waypost::{Entry, Store, Timestamp};

use super::{Column, fitted, id_length, palette, rounded, short_id, size};

/// A line for each series, to choose from.
pub(crate) fn state_lines(
    store: &Store,
    states: &[SeriesState],
    now: Timestamp,
) -> Result<Vec<String>> {
    let columns = of_states(store, states, now)?;
    let shown = fitted(&columns, usize::MAX);
    let line = |row: usize| {
        let cells = shown.iter().map(|it| columns[it.column].cell(row, it.width).1);
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    Ok((0..states.len()).map(line).collect())
}

pub(crate) fn of_states(
    store: &Store,
    states: &[SeriesState],
    now: Timestamp,
) -> Result<Vec<Column>> {
    let length = id_length(store, states.iter().filter_map(|it| it.newest.as_ref()))?;
    let of_newest = |cell: fn(&Entry) -> Option<String>| {
        move |state: &SeriesState| state.newest.as_ref().and_then(cell)
    };
    let id = |state: &SeriesState| state.newest.as_ref().map(|newest| short_id(&newest.id, length));
    let age = |state: &SeriesState| {
        let newest = state.newest.as_ref()?;
        Some(super::age_of(newest.created_at, now))
    };
    let iteration = of_newest(|newest| newest.iteration.map(|number| number.to_string()));
    let state_of_work = of_newest(|newest| Some(newest.status.to_string()));
    let size = of_newest(|newest| Some(size(newest.document_bytes)));
    Ok(vec![
        Column::text("SERIES", states, |it| Some(it.series.to_string())).names(),
        Column::id(states, id).worth(3),
        Column::number("AGE", states, age),
        Column::text("PHASE", states, of_newest(|newest| newest.phase.clone())).worth(0),
        Column::number("ITER", states, iteration).worth(4),
        Column::text("STATUS", states, state_of_work).whole().worth(5).tinted(palette::status),
        Column::number("SCORE", states, |it| it.score.map(rounded)).worth(2),
        Column::number("SIZE", states, size).worth(1),
        Column::text("RESUME", states, |it| Some(resume(it))).worth(6),
    ])
}

/// What `resume` would do, with the reason if it would not go on from the newest.
fn resume(state: &SeriesState) -> String {
    let newest = state.newest.as_ref().map(|newest| &newest.id);
    let word = match (state.decision, &state.from) {
        (Outlook::Resume, Some(from)) if newest != Some(from) => format!("from {from}"),
        (decision, _) => decision.as_str().to_owned(),
    };
    let damage = state.damage.first().map(|_| "is damaged".to_owned());
    let why = state.why.iter().cloned().chain(damage).collect::<Vec<_>>().join("; ");
    match state.decision {
        Outlook::Resume | Outlook::Refused if !why.is_empty() => format!("{word}: newest {why}"),
        Outlook::PromptUser => format!("{word}: {why}"),
        Outlook::Resume | Outlook::Refused | Outlook::Ended => word,
    }
}
