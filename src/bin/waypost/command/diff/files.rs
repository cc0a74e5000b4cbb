//! The captured files of two checkpoints: which of them differ, and how.

use std::collections::BTreeMap;

use waypost::Artifact;

use crate::output::grouped;

/// Files that differ.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Paths, in their order, and what became of each.
    pub(super) differing: Vec<(String, String)>,
    /// How many the one has if the other has none, so that they cannot be compared.
    alone: Option<(usize, Side)>,
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Old,
    New,
}

impl Files {
    /// Compares what was captured. A checkpoint without files does not tell which there were.
    pub(super) fn of(old: &[Artifact], new: &[Artifact]) -> Self {
        match (old.len(), new.len()) {
            (0, 0) => return Self::default(),
            (0, count) => return Self { alone: Some((count, Side::New)), ..Self::default() },
            (count, 0) => return Self { alone: Some((count, Side::Old)), ..Self::default() },
            _ => {}
        }
        let mut paths: BTreeMap<&str, [Option<&Artifact>; 2]> = BTreeMap::new();
        for (at, artifacts) in [old, new].into_iter().enumerate() {
            for artifact in artifacts {
                paths.entry(&artifact.path).or_default()[at] = Some(artifact);
            }
        }
        let differing = paths.into_iter().filter_map(|(path, [old, new])| {
            let words = difference(old, new)?;
            Some((path.to_owned(), words))
        });
        Self { differing: differing.collect(), alone: None }
    }

    /// What is to be said of them beside changes, if anything is.
    pub(super) fn words(&self, old: &str, new: &str) -> Option<String> {
        let counted = |count: usize| match count {
            1 => "1 file".to_owned(),
            count => format!("{} files", grouped(count as u64)),
        };
        match (self.alone, self.differing.len()) {
            (Some((count, side)), _) => {
                let name = match side {
                    Side::Old => old,
                    Side::New => new,
                };
                Some(format!("{} captured only with {name},", counted(count)))
            }
            (None, 0) => None,
            (None, 1) => Some("1 file differs".to_owned()),
            (None, count) => Some(format!("{} differ", counted(count))),
        }
    }
}

fn difference(old: Option<&Artifact>, new: Option<&Artifact>) -> Option<String> {
    // What was deleted is there no more than what is not told of.
    let there = |it: &&Artifact| it.sha256.is_some();
    match (old.filter(there), new.filter(there)) {
        (None, None) => None,
        (None, Some(_)) => Some("created".to_owned()),
        (Some(_), None) if new.is_some() => Some("deleted".to_owned()),
        (Some(_), None) => Some("not captured".to_owned()),
        (Some(old), Some(new)) => {
            let content = (old.sha256 != new.sha256).then(|| "modified".to_owned());
            let parts: Vec<String> = content.into_iter().chain(modes(old, new)).collect();
            (!parts.is_empty()).then(|| parts.join(", "))
        }
    }
}

fn modes(old: &Artifact, new: &Artifact) -> Option<String> {
    let (old, new) = old.mode.zip(new.mode)?;
    (old != new).then(|| format!("mode {old:o} -> {new:o}"))
}
