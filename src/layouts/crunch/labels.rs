//! The labels of an issue that name the phase of the work: `state:enrich`.

use super::Phase;

/// The phase by the labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LabelledPhase {
    /// Nothing.
    None,
    /// The phase, as the label spells it.
    One(String),
    /// More than one, so the phase is unclear.
    Several(Vec<String>),
}

/// Returns the phase that labels name, whatever words the workflow uses for phases.
pub(crate) fn labelled_phase<'a>(labels: impl Iterator<Item = &'a String>) -> LabelledPhase {
    let mut phases: Vec<String> = labels.filter_map(|label| phase(label)).collect();
    phases.sort_unstable();
    phases.dedup_by(|one, other| is_same_phase(one, other));
    match phases.len() {
        0 => LabelledPhase::None,
        1 => LabelledPhase::One(phases.swap_remove(0)),
        _ => LabelledPhase::Several(phases),
    }
}

fn phase(label: &str) -> Option<String> {
    let (kind, phase) = label.split_once(':')?;
    let phase = phase.trim();
    let is_state = kind.trim().eq_ignore_ascii_case("state") && !phase.is_empty();
    is_state.then(|| phase.to_owned())
}

/// Tells whether two words are the same phase: the workflow renamed `validation` to `e2e`.
pub(crate) fn is_same_phase(one: &str, other: &str) -> bool {
    let usual = |word: &str| {
        let word = word.trim().to_ascii_lowercase().replace(['_', ' '], "-");
        if word == Phase::E2e.as_str() { Phase::Validation.as_str().to_owned() } else { word }
    };
    usual(one) == usual(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(labels: &[&str]) -> LabelledPhase {
        let labels: Vec<String> = labels.iter().map(|&it| it.to_owned()).collect();
        labelled_phase(labels.iter())
    }

    #[test]
    fn one_label_names_the_phase() {
        let one = |phase: &str| LabelledPhase::One(phase.to_owned());
        for phase in Phase::ALL {
            assert_eq!(of(&["bug", &format!("state:{phase}"), "type:x"]), one(phase.as_str()));
        }
        assert_eq!(of(&["State: ready "]), one("ready"));
        assert_eq!(of(&["state:review"]), one("review"), "a word of the project");
        assert_eq!(of(&["state:e2e", "state:validation"]), one("e2e"));
        for none in [&[] as &[&str], &["state:"], &["states:ready"], &["ready"], &["x:state:a"]] {
            assert_eq!(of(none), LabelledPhase::None);
        }
        let several = LabelledPhase::Several(vec!["docs".to_owned(), "ready".to_owned()]);
        assert_eq!(of(&["state:ready", "state:docs", "state:ready"]), several);
    }

    #[test]
    fn a_phase_that_was_renamed_is_the_same() {
        assert!(is_same_phase("validation", "e2e") && is_same_phase("E2E", "Validation"));
        assert!(is_same_phase("ready_to_merge", "ready-to-merge"));
        assert!(!is_same_phase("ready", "ready-to-merge"));
    }
}
