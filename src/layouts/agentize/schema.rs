//! The versions of the file: version 2 has the stage `simp` again and always the fields of the pull
//! request.

use super::write::SIMP;
use super::{ImplStage, VERSION, VERSION_NEWEST};
use crate::checkpoint::{Document, Layout};
use crate::layouts::migrate::{Migration, unknown_version};
use crate::layouts::reading::{at, is_object, text};
use crate::layouts::{Code, Problem};

pub(in crate::layouts) fn migrate(
    document: &Document,
    to: &str,
) -> Result<Migration, Vec<Problem>> {
    if !is_object(document, "state") {
        return Ok(Migration::none_of(document, "state of a run"));
    }
    let unknown = || unknown_version("/version", Layout::Agentize);
    let from = match at(document, "version") {
        // Agentize takes a missing one for 0.
        None => 0,
        Some(Document::Uint(version)) if *version <= VERSION_NEWEST => *version,
        Some(_) => return Err(unknown()),
    };
    let to: u64 = to.parse().map_err(|_| unknown())?;
    let mut migration = Migration::of(document);
    if from == to {
        return Ok(migration);
    }
    if to == VERSION && text(document, "state.current_stage") == Some(ImplStage::Simp.as_str()) {
        return Err(vec![Problem::new(Code::Enum, "/state/current_stage", SIMP)]);
    }
    migration.set("", "version", Document::Uint(to));
    if to == VERSION_NEWEST {
        migration.add("/state", "pr_number", Document::Null);
        migration.add("/state", "pr_url", Document::Null);
    }
    Ok(migration)
}
