//! What `NNN-checkpoint.json` of `.aiwg/ralph-external` says about itself.
//!
//! It is taken every half hour, when a session starts and when it stops. It names a session and no
//! loop; sessions of one loop follow one another, so all of a project are one series.

use super::recognise::ANCHORS;
use crate::checkpoint::{Layout, LoopId, NewEntry};
use crate::codec::Datum;
use crate::layouts::reading::Reading;
use crate::layouts::{Place, path};

pub(super) fn recognise(document: Datum<'_>, place: &Place<'_>) -> Option<NewEntry> {
    document.word("number")?;
    document.list("filesModified").map(drop)?;
    if !document.is_object("gitStatus") || !document.is_object("aiwgState") {
        return None;
    }
    let mut reading = Reading::new(Layout::Aiwg, document, place);
    reading.trigger("trigger", "periodic");
    reading.entry.session_id = reading.name("sessionId");
    reading.entry.step = reading.name("number");
    let iteration = path::directory_below(place.path, "iterations");
    reading.entry.iteration = iteration.and_then(|digits| digits.parse().ok());
    reading.entry.created_at = reading.time("timestamp");
    match path::directory_below(place.path, "loops") {
        Some(name) => {
            let name = reading.legal("the directory of the loop", name);
            reading.entry.loop_id = name.and_then(|name| LoopId::new(name).ok());
            reading.series_of_names(&ANCHORS);
        }
        None => reading.series(&ANCHORS, "ralph-external"),
    }
    Some(reading.finish())
}
