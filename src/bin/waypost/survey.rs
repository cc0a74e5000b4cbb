//! Surveys of checkpoint files for `waypost init` and `waypost doctor`, and the words for them.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use waypost::Layout;
use waypost::transfer::import::{Earlier, Lot, Survey};

use crate::config;

// A person waits this long without wondering.
const TIME_MAX: Duration = Duration::from_secs(5);
// All names stand in one line; `waypost check .` lists every file with its reason.
const NAMES_MAX: usize = 3;

/// Surveys a directory, which must be absolute, for the store at `store`. Takes five seconds at
/// most.
pub(crate) fn survey(
    directory: &Path,
    store: &Path,
    earlier: Earlier<'_>,
) -> waypost::Result<Survey> {
    let start = Instant::now();
    let location = config::location(store).unwrap_or_default();
    Survey::of(directory, store, &location, earlier, &mut || start.elapsed() < TIME_MAX)
}

/// Such as `120 crunch, 94 aiwg`.
pub(crate) fn counts(survey: &Survey) -> String {
    joined(survey, |name, lot| format!("{} {name}", lot.count))
}

/// Such as `120 crunch in .claude/crunch, 94 aiwg in .aiwg; 1 cannot be read: .aiwg/a.json`.
pub(crate) fn in_words(survey: &Survey) -> String {
    let mut text = joined(survey, |name, lot| match lot.place.as_str() {
        "" => format!("{} {name}", lot.count),
        place => format!("{} {name} in {place}", lot.count),
    });
    if text.is_empty() {
        "nothing to import".clone_into(&mut text);
    }
    if survey.unreadable > 0 {
        let _ = write!(text, "; {} cannot be read{}", survey.unreadable, unreadable(survey));
    }
    if survey.is_cut {
        text.push_str("; not all was looked through, and there may be more");
    }
    text
}

/// The names of the first files that cannot be read.
fn unreadable(survey: &Survey) -> String {
    let paths = survey.refusals.iter().map(|it| it.path.as_str());
    let shown: Vec<&str> = paths.take(NAMES_MAX).collect();
    match survey.unreadable.saturating_sub(shown.len() as u64) {
        _ if shown.is_empty() => String::new(),
        0 => format!(": {}", shown.join(", ")),
        more => format!(": {} and {more} more", shown.join(", ")),
    }
}

fn joined(survey: &Survey, tell: impl Fn(&str, &Lot) -> String) -> String {
    // A file of no known system in a place of checkpoints.
    let name = |layout: Layout| match layout {
        Layout::Native => "other",
        layout => layout.as_str(),
    };
    let lots: Vec<String> =
        survey.layouts.iter().map(|(layout, lot)| tell(name(*layout), lot)).collect();
    lots.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survey_that_stopped_says_so() {
        let mut survey = Survey::default();
        survey.unreadable = 2;
        assert_eq!(in_words(&survey), "nothing to import; 2 cannot be read");
        survey.layouts.insert(Layout::Native, Lot { count: 1, place: String::new() });
        survey.layouts.insert(Layout::Aiwg, Lot { count: 9, place: ".aiwg".to_owned() });
        survey.is_cut = true;
        let told = "1 other, 9 aiwg in .aiwg; 2 cannot be read; not all was looked through";
        assert_eq!(in_words(&survey), format!("{told}, and there may be more"));
        assert_eq!((survey.count(), counts(&survey).as_str()), (10, "1 other, 9 aiwg"));
    }
}
