//! Recognises a checkpoint of AIWG that lacks fields, and lists its problems.

use super::LoopCheckpoint;
use super::standing::{is_captured, is_loop};
use crate::codec::Datum;
use crate::layouts::check::{no_stand_in, typed};
use crate::layouts::{Problem, path};

const OWN: [&str; 6] =
    ["checkpoint_id", "workflow_id", "created_at", "workflow_type", "loop_id", "execution_config"];

/// Tells whether a path is that of a checkpoint.
pub(super) fn is_placed(path: &str) -> bool {
    let parts = path::parts(path);
    let Some((_, directories)) = parts.split_last() else { return false };
    matches!(directories, [.., ".aiwg", "ralph", "loops", _, "checkpoints"])
        || directories.windows(2).any(|pair| pair == [".aiwg", "checkpoints"])
}

/// True if a document has a field that only this schema has.
pub(super) fn is_like(document: Datum<'_>) -> bool {
    OWN.iter().any(|field| document.has(field)) || document.is_object("state")
}

pub(in crate::layouts) fn check(document: Datum<'_>, path: &str) -> Vec<Problem> {
    if is_loop(document) || is_captured(document) {
        return Vec::new();
    }
    typed(document, &no_stand_in, |checkpoint: &LoopCheckpoint| checkpoint.validate_at(path))
}
