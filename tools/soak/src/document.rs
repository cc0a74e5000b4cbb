//! The saved documents: a function of seed and position, so that every process can check them.
//!
//! Two numbers next to each other have most in common, as in a loop that saves every iteration.

use serde::{Deserialize, Serialize};
use waypost::artifact::ArtifactStatus;
use waypost::{Checkpoint, NewArtifact};

use crate::kind::{Kind, Spot};
use crate::random::Random;

// Some 10 KB of JSON.
const STEPS: u64 = 60;
const WORDS: [&str; 24] = [
    "parse", "the", "failing", "test", "and", "retry", "with", "a", "smaller", "batch", "of",
    "files", "then", "read", "what", "changed", "in", "branch", "before", "merge", "score",
    "error", "none", "done",
];
/// The path under which a file is captured.
pub(crate) const CAPTURED: &str = "src/notes.txt";

/// The state of a worker, as a program would declare it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    kind: String,
    worker: u32,
    number: u64,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Step {
    number: u64,
    hash: String,
    score: f64,
    summary: String,
}

/// The document at a spot.
pub(crate) fn state(seed: u64, spot: Spot) -> State {
    let Spot { worker, kind, number } = spot;
    let first = number.saturating_sub(STEPS - 1);
    let steps = (first..=number).map(|number| Step::new(seed, Spot { number, ..spot }));
    State { kind: kind.name().to_owned(), worker, number, steps: steps.collect() }
}

/// The same as the text of a file.
pub(crate) fn text(seed: u64, spot: Spot) -> String {
    serde_json::to_string_pretty(&state(seed, spot)).expect("a state has only text keys")
}

/// The file that is captured with a checkpoint; eight in a row have the same.
pub(crate) fn captured(seed: u64, spot: Spot) -> NewArtifact {
    let content = sentence(&mut random(seed, Spot { number: spot.number / 8, ..spot }), 200);
    NewArtifact {
        path: CAPTURED.to_owned(),
        content: Some(content.into_bytes()),
        mode: None,
        status: ArtifactStatus::Modified,
    }
}

/// Whether a checkpoint is what was saved at its spot.
pub(crate) fn is_intact(seed: u64, spot: Spot, found: &Checkpoint) -> waypost::Result<bool> {
    match spot.kind {
        Kind::Imported => {
            let found = found.source_text()?;
            Ok(found.as_deref() == Some(text(seed, spot).as_bytes()))
        }
        Kind::Ring | Kind::Pruned | Kind::Kept => Ok(found.state::<State>()? == state(seed, spot)),
    }
}

impl Step {
    fn new(seed: u64, spot: Spot) -> Self {
        let mut random = random(seed, spot);
        Self {
            number: spot.number,
            hash: format!("{:016x}", random.number()),
            score: f64::from(random.below(10_000)) / 100.0,
            summary: sentence(&mut random, 14),
        }
    }
}

fn random(seed: u64, spot: Spot) -> Random {
    Random::of(&[seed, u64::from(spot.worker), spot.kind as u64, spot.number])
}

fn sentence(random: &mut Random, words: usize) -> String {
    let words = (0..words).filter_map(|_| random.choose(&WORDS).copied());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPOT: Spot = Spot { worker: 3, kind: Kind::Ring, number: 1000 };

    #[test]
    fn a_document_is_the_same_whoever_makes_it() {
        assert_eq!(state(7, SPOT), state(7, SPOT));
        for other in [
            Spot { worker: 4, ..SPOT },
            Spot { kind: Kind::Kept, ..SPOT },
            Spot { number: 1001, ..SPOT },
        ] {
            assert_ne!(state(7, SPOT), state(7, other));
        }
        assert_ne!(state(7, SPOT), state(8, SPOT));
    }

    #[test]
    fn neighbours_share_all_steps_but_one() {
        let (one, next) = (state(7, SPOT), state(7, Spot { number: 1001, ..SPOT }));
        assert_eq!(one.steps[1..], next.steps[..next.steps.len() - 1]);
    }

    #[test]
    fn the_text_of_a_file_has_the_same_document() {
        let text = text(7, SPOT);
        assert!((6_000..20_000).contains(&text.len()), "{}", text.len());
        assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state(7, SPOT));
    }

    #[test]
    fn what_is_captured_changes_now_and_then() {
        let content = |number| captured(7, Spot { number, ..SPOT }).content;
        assert_eq!(content(8), content(15));
        assert_ne!(content(8), content(16));
    }
}
