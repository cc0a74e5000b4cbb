//! A file in the place of a system whose bytes are no document, as after a crash of its writer.
//!
//! Says only what path, index and time of the file say. It is invalid and never resumed: an earlier
//! content may lack the work that the broken file had.

use super::reading::Reading;
use super::{Kind, Place, Problem, agentize, aiwg, claude, crunch, kind, path, pipeline};
use crate::checkpoint::{Entry, Layout, NewEntry};
use crate::codec::Datum;

/// The longest warning that a store accepts.
const WARNING_BYTES_MAX: usize = 1024;
/// How the warning of such a file starts; the reason follows.
const WARNING: &str = "it could not be read: ";

/// Describes an unreadable file of a system; `None` if no system has its checkpoints in this place.
///
/// It has no series if its path does not name one; see [`Revision::inherit`].
///
/// [`Revision::inherit`]: super::Revision::inherit
#[must_use]
pub fn unreadable(place: &Place<'_>, reason: &str) -> Option<NewEntry> {
    if kind(place.path) != Kind::Checkpoint {
        return None;
    }
    let named = match layout_of(place.path) {
        Layout::Native => return None,
        Layout::Agentize => agentize::entry(Datum::NULL, place),
        Layout::Crunch => crunch::unreadable(place),
        Layout::Claude => claude::unreadable(place),
        Layout::Pipeline => pipeline::unreadable(place).unwrap_or_else(|| bare(place)),
        Layout::Aiwg => aiwg::unreadable(place).unwrap_or_else(|| bare(place)),
    };
    let layout = layout_of(place.path);
    Some(marked_unreadable(NewEntry { layout, ..named }, reason))
}

/// Marks the entry of a file that could not be read.
#[must_use]
pub fn marked_unreadable(about: NewEntry, reason: &str) -> NewEntry {
    let mut warning = format!("{WARNING}{reason}");
    warning.truncate(warning.floor_char_boundary(WARNING_BYTES_MAX));
    NewEntry { can_resume: Some(false), warnings: vec![warning], ..about }
}

/// What is wrong with the file of such a checkpoint.
pub(super) fn problem(entry: &Entry) -> Problem {
    let reason = entry.warnings.iter().find_map(|warning| warning.strip_prefix(WARNING));
    let path = entry.source_path.as_deref().unwrap_or("its file");
    let problem = Problem::syntax(reason.unwrap_or("no document"));
    Problem { rule: format!("{path} could not be read: {}", problem.rule), ..problem }
}

/// The system that has the last of the directories of systems in a path.
fn layout_of(path: &str) -> Layout {
    let parts = path::parts(path);
    let Some(at) = parts.iter().rposition(|part| path::ANCHORS.contains(part)) else {
        // Only the names of claude-crunch are known without.
        return Layout::Crunch;
    };
    match (parts[at], parts.get(at + 1)) {
        (".tmp", _) => Layout::Agentize,
        (".claude", Some(&"crunch")) => Layout::Crunch,
        (".claude", _) => Layout::Claude,
        (".aiwg", _) => Layout::Aiwg,
        _ => Layout::Pipeline,
    }
}

/// An entry without a name.
fn bare(place: &Place<'_>) -> NewEntry {
    Reading::new(Layout::Native, Datum::NULL, place).finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Series;

    #[test]
    fn the_path_tells_system_series_and_time() {
        let now = Some("2026-11-19T10:00:00Z".parse().unwrap());
        for (path, layout, series, time) in [
            (".tmp/impl-checkpoint.json", Layout::Agentize, None, "2026-11-19T10:00"),
            (
                "shop/.claude/crunch/42/checkpoints/CP-before-batch-20261101-a3f2.yaml",
                Layout::Crunch,
                Some("shop/issue:42"),
                "2026-11-19T10:00",
            ),
            (
                ".claude/checkpoints/implement_auth_20261118_090000.json",
                Layout::Claude,
                Some("implement:auth"),
                "2026-11-18T09:00",
            ),
            (".claude/checkpoints/cp.json", Layout::Claude, None, "2026-11-19T10:00"),
            (
                ".pipeline/checkpoint-PROJ-42.json",
                Layout::Pipeline,
                Some("story:PROJ-42"),
                "2026-11-19T10:00",
            ),
            (".pipeline/state.json", Layout::Pipeline, None, "2026-11-19T10:00"),
            (
                ".aiwg/ralph/loops/ralph-a-0a1b2c3d/checkpoints/iteration-003.json.gz",
                Layout::Aiwg,
                Some("loop:ralph-a-0a1b2c3d"),
                "2026-11-19T10:00",
            ),
            (".aiwg/ralph/current-loop.json", Layout::Aiwg, None, "2026-11-19T10:00"),
        ] {
            let about =
                unreadable(&Place { path, modified_at: now, index: None }, "empty").unwrap();
            assert_eq!(about.layout, layout, "{path}");
            assert_eq!(about.series.as_ref().map(Series::as_str), series, "{path}");
            assert!(about.created_at.unwrap().to_string().starts_with(time), "{path}");
            assert_eq!(about.warnings, ["it could not be read: empty"], "{path}");
            assert_eq!(about.can_resume, Some(false), "{path}");
        }
        for path in ["notes.json", ".pipeline/team.json", ".claude/settings.json"] {
            assert_eq!(unreadable(&Place { path, ..Place::default() }, "empty"), None, "{path}");
        }
    }
}
