//! Named values one below the other.

use std::io::{self, Write};
use std::path::Path;

use clap::builder::styling::Style;
use waypost::care::{Compacted, KeyId, Rekeyed};
use waypost::layouts::Problem;
use waypost::{Artifact, Entry, Stats, Timestamp};

use super::human::{ago, plain, size};

/// Named values; unknown ones are left out.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(&'static str, String)>);

impl Fields {
    /// An entry as it looks at `now`.
    pub(crate) fn of_entry(entry: &Entry, now: Timestamp) -> Self {
        let mut fields = Self::default();
        fields.text("id", Some(&entry.id));
        fields.text("series", Some(&entry.series));
        fields.text("issue", entry.issue.as_ref());
        fields.text("loop_id", entry.loop_id.as_ref());
        fields.text("workflow_id", entry.workflow_id.as_ref());
        fields.text("workflow_type", entry.workflow_type.as_ref());
        fields.text("session_id", entry.session_id.as_ref());
        fields.text("agent", entry.agent.as_ref());
        fields.text("trigger", Some(&entry.trigger));
        fields.text("phase", entry.phase.as_ref());
        fields.text("step", entry.step.as_ref());
        fields.text("iteration", entry.iteration);
        fields.text("status", Some(entry.status));
        let both = |time| format!("{time} ({})", ago(time, now));
        fields.text("created_at", Some(both(entry.created_at)));
        fields.text("ordered_at", entry.ordered_at.map(both));
        fields.text("updated_at", entry.updated_at.map(both));
        fields.text("parent", entry.parent.as_ref());
        entry.tags.iter().for_each(|tag| fields.text("tag", Some(tag)));
        fields.text("can_resume", entry.can_resume);
        fields.text("resume_from", entry.resume_from.as_ref());
        entry.warnings.iter().for_each(|warning| fields.text("warning", Some(warning)));
        fields.text("retention_days", entry.retention_days);
        fields.text("layout", Some(entry.layout));
        fields.text("source_path", entry.source_path.as_ref());
        fields.sizes(entry.document_bytes, entry.stored_bytes);
        fields
    }

    /// Adds the rules that the document breaks.
    pub(crate) fn problems(&mut self, problems: &[Problem]) {
        for problem in problems {
            let name = if problem.is_error() { "invalid" } else { "deviates" };
            self.text(name, Some(format!("{problem} [{}]", problem.code)));
        }
    }

    /// Adds how many files were captured, and each of them.
    pub(crate) fn artifacts(&mut self, artifacts: &[Artifact]) {
        self.text("artifacts", Some(artifacts.len()).filter(|count| *count > 0));
        for Artifact { path, status, bytes, sha256, .. } in artifacts {
            let bytes = sha256.map_or(String::new(), |_| format!(", {}", size(*bytes)));
            self.text("artifact", Some(format!("{path} ({status}{bytes})")));
        }
    }

    /// What a store holds.
    pub(crate) fn of_stats(stats: &Stats, path: &Path) -> Self {
        let mut fields = Self::default();
        fields.text("store", Some(path.display()));
        fields.text("checkpoints", Some(stats.checkpoints));
        fields.text("series", Some(stats.series));
        fields.sizes(stats.document_bytes, stats.stored_bytes);
        if stats.artifacts > 0 {
            let bytes = size(stats.artifact_bytes);
            fields.text("artifacts", Some(format!("{}, {bytes} stored", stats.artifacts)));
        }
        fields.text("file", Some(size(stats.file_bytes)));
        fields.text("key", stats.key);
        let rekey = "unfinished: some data is not under the new key; run waypost rekey again";
        fields.text("rekey", Some(rekey).filter(|_| stats.is_rekeying));
        if stats.deleted > 0 {
            let bytes = size(stats.deleted_bytes);
            fields.text("deleted", Some(format!("{}, {bytes} until compact", stats.deleted)));
        }
        if stats.spool.checkpoints > 0 {
            let bytes = size(stats.spool.bytes);
            fields.text("spooled", Some(format!("{}, {bytes}", stats.spool.checkpoints)));
        }
        let set_aside = stats.spool.set_aside;
        fields.text("set aside", Some(set_aside).filter(|_| set_aside > 0));
        fields.text("oldest", stats.oldest);
        fields.text("newest", stats.newest);
        for (trigger, count) in &stats.triggers {
            fields.text("trigger", Some(format!("{trigger} {count}")));
        }
        for (status, count) in &stats.statuses {
            fields.text("status", Some(format!("{status} {count}")));
        }
        fields
    }

    /// The result of a compaction.
    pub(crate) fn of_compacted(compacted: Compacted) -> Self {
        let mut fields = Self::default();
        fields.text("before", Some(size(compacted.before_bytes)));
        fields.text("after", Some(size(compacted.after_bytes)));
        let purged = format!("{} deleted, not to be restored any more", compacted.purged);
        fields.text("purged", Some(purged).filter(|_| compacted.purged > 0));
        fields
    }

    /// The result of a rekey.
    pub(crate) fn of_rekeyed(rekeyed: Rekeyed, key: Option<KeyId>) -> Self {
        let mut fields = Self::default();
        let key = key.map_or_else(|| "none: not encrypted".to_owned(), |key| key.to_string());
        fields.text("key", Some(key));
        fields.text("documents", Some(rekeyed.documents));
        fields.text("files", Some(rekeyed.contents));
        fields.text("damaged", Some(rekeyed.damaged).filter(|count| *count > 0));
        fields.text("no key", Some(rekeyed.sealed).filter(|count| *count > 0));
        let next = "waypost compact clears free pages, which hold what was there before";
        fields.text("next", Some(next).filter(|_| rekeyed.documents + rekeyed.contents > 0));
        fields
    }

    /// Writes one field a line, with the names in `style`.
    pub(super) fn write(&self, out: &mut dyn Write, style: Style) -> io::Result<()> {
        let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        self.0
            .iter()
            .try_for_each(|(name, value)| writeln!(out, "{style}{name:width$}{style:#}  {value}"))
    }

    /// Writes one field a line, without colours.
    pub(crate) fn plainly(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write(out, Style::new())
    }

    /// Adds a value, if there is one.
    pub(crate) fn text(&mut self, name: &'static str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.0.push((name, plain(&value.to_string())));
        }
    }

    fn sizes(&mut self, document_bytes: u64, stored_bytes: u64) {
        self.text("document", Some(size(document_bytes)));
        self.text("stored", Some(size(stored_bytes)));
    }
}
