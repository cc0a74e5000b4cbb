//! A checkpoint on its way into the store: encoded and compressed, with no place yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::checkpoint::{
    Entry, Id, LATEST, Layout, NewArtifact, NewEntry, Series, SourceForm, Timestamp,
};
use crate::codec::{Source, encode, encode_json};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::chain::packed::{Base, Packed};
use crate::store::files::artifact::Captured;
use crate::store::options::{Durability, Limits};

/// The source of a draft's date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Dated {
    /// The caller stated it.
    Stated,
    /// The clock, when the draft was made; the save may end later.
    ByClock,
    /// The clock, and the caller knows the date: the save was acknowledged when it was spooled.
    Acknowledged,
}

/// A checkpoint that is encoded and checked, but not saved yet.
///
/// Made by [`Store::draft`] and [`Store::draft_json`], so that bulk work can encode in parallel
/// and save with one [`Store::batch`]. Takes as much memory as its document in stored form.
///
/// ```
/// # fn show(_line: String) {}
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let mut drafts = Vec::new();
/// for number in 0..3 {
///     drafts.push(store.draft(NewEntry::issue("42")?.iteration(number), &number)?);
/// }
/// for saved in store.batch(drafts)? {
///     show(format!("{}", saved?.id));
/// }
/// # assert_eq!(store.count()?, 3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Draft {
    pub(in crate::store) entry: Entry,
    pub(in crate::store) raw: Arc<Vec<u8>>,
    /// The stored form, once it is packed.
    pub(in crate::store) packed: Option<Packed>,
    /// Given to it when it is saved.
    pub(in crate::store) sequence: Option<u64>,
    pub(in crate::store) durability: Durability,
    /// Whether the caller chose the id, so that it may be taken.
    pub(in crate::store) has_own_id: bool,
    pub(in crate::store) dated: Dated,
    /// Whether the caller has asked for the id, so that it can no longer change with the date.
    pub(in crate::store) is_id_known: AtomicBool,
    /// The row of `taken` about what may be left of it in a log, which must not be taken in once
    /// the draft is saved.
    pub(in crate::store) left: Option<String>,
    /// The files that are captured with it, in the order of their paths.
    pub(in crate::store) artifacts: Vec<Captured>,
    pub(in crate::store) limits: Limits,
}

impl Draft {
    pub(in crate::store) fn base(&self) -> Option<Base> {
        self.packed.as_ref().and_then(|packed| packed.base)
    }

    /// Whether a row leads from its file to it.
    pub(in crate::store) fn is_of_file(&self) -> bool {
        self.entry.source_path.is_some() && self.entry.source.is_some()
    }

    /// The id that the checkpoint will have.
    #[must_use]
    pub fn id(&self) -> &Id {
        self.is_id_known.store(true, Ordering::Relaxed);
        &self.entry.id
    }

    /// Its approximate size in memory.
    #[must_use]
    pub fn raw_bytes(&self) -> usize {
        let content = |it: &Captured| it.content.as_ref().map_or(0, Vec::len);
        self.raw.len() + self.artifacts.iter().map(content).sum::<usize>()
    }

    /// Chooses when the save returns, overriding the store's default for the trigger.
    #[must_use]
    pub fn with_durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Captures files with the checkpoint, in place of those captured with the draft so far.
    ///
    /// They are saved with its document or not at all, and always on disk when the save returns. A
    /// content that the store has is not stored again. [`Store::artifact`] gives it back.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a path leads elsewhere or stands there twice, if one with content is
    /// below another, or if a file that was deleted has content or another has none;
    /// [`Error::Limit`] if there is too much.
    pub fn with_artifacts(mut self, artifacts: Vec<NewArtifact>) -> Result<Self> {
        self.limits.check_artifacts(&artifacts)?;
        self.entry.artifact_count = artifacts.len() as u64;
        self.artifacts = artifacts.into_iter().map(Captured::new).collect();
        self.artifacts.sort_unstable_by(|one, other| one.artifact.path.cmp(&other.artifact.path));
        Ok(self)
    }
}

impl Store {
    /// Encodes a checkpoint whose document is `state`, without saving it.
    ///
    /// # Errors
    /// [`Error::Invalid`] or [`Error::Limit`] if it cannot be stored.
    pub fn draft(&self, about: NewEntry, state: &(impl Serialize + ?Sized)) -> Result<Draft> {
        // Documents of one program have similar sizes.
        let expected_bytes = self.shared.last_raw_bytes.load(Ordering::Relaxed);
        let raw = encode(state, self.shared.options.limits.bounds(), expected_bytes)?;
        self.shared.last_raw_bytes.store(raw.len(), Ordering::Relaxed);
        self.draft_raw(about, raw)
    }

    /// Encodes a checkpoint whose document is JSON text, without saving it.
    ///
    /// # Errors
    /// [`Error::Invalid`] or [`Error::Limit`] if it cannot be stored.
    pub fn draft_json(&self, about: NewEntry, json: &[u8]) -> Result<Draft> {
        let raw = encode_json(json, self.shared.options.limits.bounds())?;
        self.draft_raw(about, raw)
    }

    /// Encodes a checkpoint that comes from a file, without saving it.
    ///
    /// [`Checkpoint::source_text`](crate::Checkpoint::source_text) gives the text of the file back.
    ///
    /// # Errors
    /// [`Error::Invalid`] or [`Error::Limit`] if it cannot be stored.
    pub fn draft_source(&self, about: NewEntry, source: Source) -> Result<Draft> {
        let Source { raw, document_bytes, form, .. } = source;
        self.draft_parts(about, raw, document_bytes, Some(form))
    }

    /// Takes a document that is in stored form already.
    pub(in crate::store) fn draft_raw(&self, about: NewEntry, raw: Vec<u8>) -> Result<Draft> {
        let document_bytes = raw.len();
        self.draft_parts(about, raw, document_bytes, None)
    }

    fn draft_parts(
        &self,
        about: NewEntry,
        mut raw: Vec<u8>,
        document_bytes: usize,
        source: Option<SourceForm>,
    ) -> Result<Draft> {
        // A draft may live long, and the document before it may have been much longer.
        raw.shrink_to(raw.len() + raw.len() / 4);
        let options = &self.shared.options;
        check_id(&about)?;
        check_loop_id(&about)?;
        check_order(&about)?;
        let is_relaxed = options.relaxed.contains(&about.trigger);
        let has_own_id = about.id.is_some();
        let dated = if about.created_at.is_some() { Dated::Stated } else { Dated::ByClock };
        let now = (options.clock)();
        let created_at = about.created_at.unwrap_or(now);
        let entry = Entry {
            series: Series::of(&about),
            // Made from the time of the save, not from the stated date: many checkpoints may share
            // a date. The id then does not tell the date, so it gets a row of its own.
            id: about.id.unwrap_or_else(|| generated(now, about.created_at)),
            issue: about.issue,
            loop_id: about.loop_id,
            workflow_id: about.workflow_id,
            workflow_type: about.workflow_type,
            session_id: about.session_id,
            agent: about.agent,
            trigger: about.trigger,
            phase: about.phase,
            step: about.step,
            iteration: about.iteration,
            status: about.status,
            created_at,
            ordered_at: about.ordered_at.filter(|time| *time != created_at),
            updated_at: about.updated_at,
            parent: about.parent,
            tags: about.tags,
            can_resume: about.can_resume,
            resume_from: about.resume_from,
            warnings: about.warnings,
            retention_days: about.retention_days,
            layout: about.layout,
            source_path: about.source_path,
            source,
            sequence: 0,
            document_bytes: document_bytes as u64,
            // Set when it is saved, like the sequence.
            stored_bytes: 0,
            artifact_count: 0,
        };
        options.limits.check(&entry)?;
        options.limits.check_raw(raw.len())?;
        let durability = if is_relaxed { Durability::Relaxed } else { Durability::Immediate };
        Ok(Draft {
            entry,
            raw: Arc::new(raw),
            packed: None,
            sequence: None,
            durability,
            has_own_id,
            dated,
            is_id_known: AtomicBool::new(false),
            left: None,
            artifacts: Vec::new(),
            limits: options.limits,
        })
    }
}

/// Ids of other tools are taken unchanged; our own must fit into lines and commands.
fn check_id(about: &NewEntry) -> Result<()> {
    let is_own = about.layout == Layout::Native;
    let Some(id) = about.id.as_ref().filter(|_| is_own) else {
        return Ok(());
    };
    if id.as_str() == LATEST {
        return Err(Error::invalid("id", "this word stands for the newest checkpoint"));
    }
    if id.as_str().contains(char::is_whitespace) {
        return Err(Error::invalid("id", "has white space"));
    }
    Ok(())
}

/// Loops of other tools are taken unchanged; ours must be recognized by those tools.
fn check_loop_id(about: &NewEntry) -> Result<()> {
    let is_ralph = about.workflow_type.as_deref() == Some("ralph_loop");
    match &about.loop_id {
        Some(name) if is_ralph && about.layout == Layout::Native && !name.is_ralph() => {
            let name = name.as_str();
            let reason = format_args!("{name:?} is not like ralph-SLUG-0123abcd");
            Err(Error::invalid("loop_id", reason))
        }
        _ => Ok(()),
    }
}

/// A new id. When a spooled checkpoint is taken in, its id tells whether the store dated it: then
/// the time in the id is the date. So the id of a checkpoint with a stated date gets another time.
fn generated(now: Timestamp, stated: Option<Timestamp>) -> Id {
    let id = Id::generate(now);
    if stated.is_some_and(|stated| id.is_made_at(stated)) {
        return id.moved_to(Timestamp::from_micros(now.as_micros().max(0).wrapping_add(1000)));
    }
    id
}

/// Refuses `ordered_at` without a date, or before the date.
fn check_order(about: &NewEntry) -> Result<()> {
    let reason = match (about.created_at, about.ordered_at) {
        (_, None) => return Ok(()),
        (Some(created_at), Some(ordered_at)) if created_at <= ordered_at => return Ok(()),
        (Some(_), Some(_)) => "is before created_at",
        (None, Some(_)) => "needs created_at",
    };
    Err(Error::invalid("ordered_at", reason))
}
