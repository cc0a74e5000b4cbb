//! Which policy suits a project, by the systems that worked in it.

use std::collections::BTreeSet;

use crate::checkpoint::Layout;

/// A preset that suits a project, and what it keeps.
///
/// ```
/// use std::collections::BTreeSet;
/// use waypost::Layout;
/// use waypost::project::suggest;
///
/// let suggestion = suggest(&BTreeSet::from([Layout::Crunch, Layout::Native]));
/// assert_eq!(suggestion.name, "crunch");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suggestion {
    /// Its name.
    pub name: &'static str,
    /// What it does, in words that follow the name.
    pub keeps: &'static str,
    /// Whether it was chosen among those of several systems.
    pub is_one_of_several: bool,
}

/// The presets of systems that have one, those that remove least first.
const BY_CARE: [(Layout, &str, &str); 3] = [
    (Layout::Crunch, "crunch", "keeps milestones and the last few of each phase"),
    (Layout::Aiwg, AIWG, KEEPS),
    (Layout::Claude, "claude", "removes what is done and keeps the rest for 7 days"),
];
const AIWG: &str = "aiwg";
const KEEPS: &str = "keeps 30 days and the last 5 of each series";

/// Returns the preset of the system that worked in a project; of several systems, the preset that
/// removes least.
#[must_use]
pub fn suggest(layouts: &BTreeSet<Layout>) -> Suggestion {
    let mut of_systems = BY_CARE.iter().filter(|(layout, ..)| layouts.contains(layout));
    // The other systems remove nothing by themselves, and theirs are loops like any.
    let (name, keeps) = of_systems.next().map_or((AIWG, KEEPS), |(_, name, keeps)| (*name, *keeps));
    Suggestion { name, keeps, is_one_of_several: of_systems.next().is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retention::Policy;

    #[test]
    fn each_system_has_its_own_policy_and_several_the_most_careful_one() {
        let name = |layouts: &[Layout]| {
            let Suggestion { name, is_one_of_several, .. } =
                suggest(&layouts.iter().copied().collect());
            (name, is_one_of_several)
        };
        assert_eq!(name(&[]), ("aiwg", false));
        assert_eq!(name(&[Layout::Crunch]), ("crunch", false));
        assert_eq!(name(&[Layout::Claude, Layout::Pipeline]), ("claude", false));
        assert_eq!(name(&[Layout::Agentize, Layout::Native]), ("aiwg", false));
        assert_eq!(name(&[Layout::Claude, Layout::Aiwg]), ("aiwg", true));
        assert_eq!(name(&Layout::ALL), ("crunch", true));
    }

    #[test]
    fn whatever_is_suggested_is_a_preset() {
        for layout in Layout::ALL {
            assert!(Policy::preset(suggest(&BTreeSet::from([layout])).name).is_ok(), "{layout}");
        }
    }
}
