//! Files that the work made or changed.

use std::collections::BTreeSet;

use super::words::{NAMED_MAX, quoted};
use super::{Advice, Case, Check, Report, said};
use crate::checkpoint::Layout;
use crate::layouts::NamedFile;
use crate::recovery::Moment;

pub(super) fn files(case: &Case<'_>, report: &mut Report) {
    let mut compared = BTreeSet::new();
    let mut count = 0;
    for claim in case.standing.snapshot.files.iter().filter_map(Claim::of) {
        // The same claim is checked once.
        if !compared.insert(claim.clone()) {
            continue;
        }
        let Some(change) = claim.change(case, report) else { continue };
        count += 1;
        if count <= NAMED_MAX {
            let message = format!("{} {change}", claim.subject());
            report.find(Check::Artifact, Advice::PromptUser, message);
        }
    }
    if count > NAMED_MAX {
        let message = format!("{} more files changed", count - NAMED_MAX);
        report.find(Check::Artifact, Advice::PromptUser, message);
    }
}

/// What a document states about a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Claim<'a> {
    path: &'a str,
    hash: Option<&'a str>,
    is_deleted: bool,
}

impl<'a> Claim<'a> {
    fn of(file: &'a NamedFile) -> Option<Self> {
        let path = said(Some(&file.path))?;
        let hash = said(file.hash.as_ref());
        let is_deleted =
            file.status.as_ref().is_some_and(|it| it.trim().eq_ignore_ascii_case("deleted"));
        Some(Self { path, hash, is_deleted })
    }

    fn subject(&self) -> String {
        format!("file {}", quoted(self.path))
    }

    /// How the file differs from the document's statement, if it does.
    fn change(&self, case: &Case<'_>, report: &mut Report) -> Option<&'static str> {
        let world = case.world;
        if self.is_deleted {
            let is_there = report.known(&self.subject(), world.has_file(self.path))?;
            return is_there.then_some("is there, though it was deleted");
        }
        let Some(sha256) = self.sha256(report) else {
            let is_there = report.known(&self.subject(), world.has_file(self.path))?;
            return if is_there { self.by_date(case, report) } else { Some("is gone") };
        };
        match report.known(&self.subject(), world.file(self.path))? {
            None => Some("is gone"),
            Some(now) if now.sha256.eq_ignore_ascii_case(sha256) => None,
            Some(_) => Some("changed"),
        }
    }

    /// Whether a file without a hash changed since the checkpoint was saved.
    fn by_date(&self, case: &Case<'_>, report: &mut Report) -> Option<&'static str> {
        match case.entry.layout {
            // Claude-crunch lists modified files without hashes.
            Layout::Crunch => {}
            Layout::Native
            | Layout::Agentize
            | Layout::Claude
            | Layout::Pipeline
            | Layout::Aiwg => return None,
        }
        let branch = said(case.standing.snapshot.branch.as_ref());
        let since = Moment { time: case.entry.created_at, branch };
        let subject = format!("the content of {}", self.subject());
        let is_changed = report.known(&subject, case.world.has_changed(self.path, &since))?;
        is_changed.then_some("changed since the checkpoint")
    }

    fn sha256(&self, report: &mut Report) -> Option<&'a str> {
        let hash = self.hash?;
        let found = sha256(hash);
        if found.is_none() {
            let subject = format!("the content of {}", self.subject());
            report.skip(&subject, "the hash is not of SHA-256");
        }
        found
    }
}

/// The digits of a SHA-256 hash.
fn sha256(hash: &str) -> Option<&str> {
    const PREFIX: &str = "sha256:";
    let hash = hash.trim();
    let has_prefix = hash.get(..PREFIX.len()).is_some_and(|it| it.eq_ignore_ascii_case(PREFIX));
    let digits = if has_prefix { &hash[PREFIX.len()..] } else { hash };
    let is_digits = digits.len() == 64 && digits.bytes().all(|it| it.is_ascii_hexdigit());
    is_digits.then_some(digits)
}
