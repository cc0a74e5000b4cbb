//! How a store is opened: plain fields with defaults.

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint::{Entry, Id, Issue, LoopId, NewArtifact, Timestamp, Trigger};
#[cfg(feature = "encrypt")]
use crate::codec::SecretKey;
use crate::codec::{Bounds, Keyring};
use crate::error::{Error, Result, Subject};
use crate::retention::Policy;

/// How a [`Store`](crate::Store) is opened.
///
/// ```
/// use waypost::options::Hold;
/// use waypost::Options;
///
/// let sole_owner = Options { hold: Hold::Forever, ..Options::default() };
/// ```
#[derive(Clone)]
pub struct Options {
    /// Creates the store if there is none. True by default.
    pub create: bool,
    /// How long the file is kept from other processes between two calls.
    pub hold: Hold,
    /// How long a call waits for its turn while another process has the file. Reads rarely need a
    /// turn. 5 s by default.
    pub wait: Duration,
    /// How long a save waits for its turn before it goes to the spool, a folder beside the store. A
    /// spooled save is as durable. Every later read sees it, and the process that has the file
    /// takes it in first. By default it does not wait; [`Duration::MAX`] disables the spool. A save
    /// under an id of the caller's own or with captured files, and a batch with one of these,
    /// always waits.
    pub spool_after: Duration,
    /// Lets [`Store::open_with`](crate::Store::open_with) return after
    /// [`spool_after`](Self::spool_after) though another process has the file, for a program that
    /// only saves. Faults of the file then surface later. False by default.
    pub open_late: bool,
    /// Called up to ten times a millisecond while a call waits; `false` ends the wait as a timeout
    /// would.
    pub keeps_waiting: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    /// Triggers whose saves are [`Durability::Relaxed`] unless the save says otherwise.
    pub relaxed: Vec<Trigger>,
    /// The longest time a relaxed save stays in memory only. 200 ms by default.
    pub flush_within: Duration,
    /// What is refused as too large.
    pub limits: Limits,
    /// Memory for pages of the file, and half as much again for recent documents, or for one that
    /// is longer. 32 MiB by default.
    pub cache_bytes: usize,
    /// The policy by which every save of this handle prunes its own group while the store has no
    /// policy of its own ([`Settings`](crate::Settings)). What goes that way can be restored. None
    /// by default.
    pub prune_on_save: Option<Policy>,
    /// A label by which others recognize the holder of the file, beside its process id.
    pub label: String,
    /// The clock that dates checkpoints.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Keys for encrypted stores. A new store is encrypted with the first of them; an encrypted
    /// store needs its own key among them. A plain store refuses saves of a handle with keys until
    /// [`Store::rekey`](crate::Store::rekey). None by default.
    #[cfg(feature = "encrypt")]
    pub keys: Vec<SecretKey>,
    /// Called with the progress of a repair after a crash, from 0 to 1. Must not use the store.
    pub on_repair: Option<Arc<dyn Fn(f64) + Send + Sync>>,
    /// Called for each spool file that was damaged or of another store, and for a foreign file in
    /// the place of the journal. Must not use the store.
    pub on_set_aside: Option<Arc<dyn Fn(SetAside) + Send + Sync>>,
    /// Called with trouble of the spool that fails no call, such as a link or a file in the place
    /// of its folder; the same trouble only once in a row. Without it, the next
    /// [`Store::flush`](crate::Store::flush) or [`Store::close`](crate::Store::close) returns the
    /// error, although everything is saved. Must not use the store.
    pub on_trouble: Option<Arc<dyn Fn(Error) + Send + Sync>>,
}

/// How long a store keeps its file from other processes between two calls.
///
/// See [`Options`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Closes the file when another process waits, and after this time without work.
    Idle(Duration),
    /// Never closes the file: for a sole owner.
    Forever,
}

/// When a save returns.
///
/// ```
/// use waypost::{Durability, NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// for number in 0..3 {
///     let draft = store.draft(NewEntry::issue("42")?, &number)?;
///     store.save_draft(draft.with_durability(Durability::Relaxed))?;
/// }
/// store.flush()?; // Now all three are on disk.
/// # assert_eq!(store.count()?, 3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// Once the checkpoint is on disk.
    #[default]
    Immediate,
    /// Once it is visible; it is on disk within [`Options::flush_within`], after
    /// [`Store::flush`](crate::Store::flush), or with the next immediate save.
    Relaxed,
}

/// What is refused as too large.
///
/// ```
/// use waypost::options::Limits;
/// use waypost::{Error, NewEntry, Options, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// let limits = Limits { document_bytes: 1024, ..Limits::default() };
/// let store = Store::open_with(&path, Options { limits, ..Options::default() })?;
/// let refused = store.save(NewEntry::default(), &"x".repeat(2000));
/// assert!(matches!(refused, Err(Error::Limit { limit: 1024, .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Length of a document in stored form, before compression. 64 MiB by default, 254 MiB at most.
    pub document_bytes: usize,
    /// Arrays and objects within each other. 128 by default, 512 at most.
    pub depth: usize,
    /// Length of an id or another text of an entry. 512 bytes by default.
    pub name_bytes: usize,
    /// Number of tags, and of warnings. 64 by default.
    pub tags: usize,
    /// Number of files that are captured with a checkpoint. 4,096 by default, 65,535 at most.
    pub artifacts: usize,
    /// Length of a captured file; all of a checkpoint together may have four times as much. 64 MiB
    /// by default, 253 MiB at most.
    pub artifact_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            create: true,
            hold: Hold::Idle(Duration::from_millis(500)),
            wait: Duration::from_secs(5),
            spool_after: Duration::ZERO,
            open_late: false,
            keeps_waiting: None,
            relaxed: Vec::new(),
            flush_within: Duration::from_millis(200),
            limits: Limits::default(),
            cache_bytes: 32 << 20,
            prune_on_save: None,
            label: String::new(),
            clock: Arc::new(Timestamp::now),
            #[cfg(feature = "encrypt")]
            keys: Vec::new(),
            on_repair: None,
            on_set_aside: None,
            on_trouble: None,
        }
    }
}

impl Options {
    #[cfg(feature = "encrypt")]
    pub(super) fn keyring(&self) -> Keyring {
        Keyring::new(self.keys.clone())
    }

    #[cfg(not(feature = "encrypt"))]
    #[expect(clippy::unused_self, reason = "with the feature it has some")]
    pub(super) fn keyring(&self) -> Keyring {
        Keyring::default()
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("create", &self.create)
            .field("hold", &self.hold)
            .field("wait", &self.wait)
            .field("spool_after", &self.spool_after)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Default for Limits {
    fn default() -> Self {
        let Bounds { bytes, depth } = Bounds::DEFAULT;
        Self {
            document_bytes: bytes,
            depth,
            name_bytes: 512,
            tags: 64,
            artifacts: 4096,
            artifact_bytes: 64 << 20,
        }
    }
}

impl Limits {
    // What the chunks of a frame can hold, with room for its header.
    pub(super) const DOCUMENT_BYTES_MAX: usize = 254 << 20;
    // What the chunks of a captured content can hold, with room for its header.
    pub(super) const ARTIFACT_BYTES_MAX: usize = 253 << 20;
    // Each has a number of two bytes.
    const ARTIFACTS_MAX: usize = u16::MAX as usize;
    // Readers recurse once a level, and a thread's stack may be 2 MiB.
    const DEPTH_MAX: usize = 512;
    // Two names and a number must fit an index page many times over.
    const NAME_BYTES_MAX: usize = 1024;

    pub(super) fn validate(&self) -> Result<()> {
        for (what, value, max) in [
            ("limits.document_bytes", self.document_bytes, Self::DOCUMENT_BYTES_MAX),
            ("limits.depth", self.depth, Self::DEPTH_MAX),
            ("limits.name_bytes", self.name_bytes, Self::NAME_BYTES_MAX),
            ("limits.artifacts", self.artifacts, Self::ARTIFACTS_MAX),
            ("limits.artifact_bytes", self.artifact_bytes, Self::ARTIFACT_BYTES_MAX),
        ] {
            if value > max {
                return Err(Error::invalid(what, format_args!("{value} is more than {max}")));
            }
        }
        Ok(())
    }

    pub(super) fn bounds(&self) -> Bounds {
        Bounds { bytes: self.document_bytes, depth: self.depth }
    }

    /// Refuses an entry with a text or a list that is too long.
    pub(super) fn check(&self, entry: &Entry) -> Result<()> {
        let optional = [
            ("issue", entry.issue.as_ref().map(Issue::as_str)),
            ("loop_id", entry.loop_id.as_ref().map(LoopId::as_str)),
            ("workflow_id", entry.workflow_id.as_deref()),
            ("workflow_type", entry.workflow_type.as_deref()),
            ("session_id", entry.session_id.as_deref()),
            ("agent", entry.agent.as_deref()),
            ("phase", entry.phase.as_deref()),
            ("step", entry.step.as_deref()),
            ("parent", entry.parent.as_ref().map(Id::as_str)),
            ("resume_from", entry.resume_from.as_deref()),
        ];
        check_text("id", entry.id.as_str(), self.name_bytes)?;
        // A series is made of a name and what it names.
        check_text("series", entry.series.as_str(), self.name_bytes + 16)?;
        let texts = optional.into_iter().filter_map(|(what, text)| Some((what, text?)));
        let tags = entry.tags.iter().map(|tag| ("tag", tag.as_str()));
        for (what, text) in texts.chain(tags) {
            check_text(what, text, self.name_bytes)?;
        }
        at_most("number of tags", entry.tags.len(), self.tags)?;
        at_most("number of warnings", entry.warnings.len(), self.tags)?;
        let long = entry.warnings.iter().chain(&entry.source_path);
        // Sentences and paths, not names: room for a paragraph.
        long.into_iter().try_for_each(|text| {
            at_most("length in bytes of a text", text.len(), 8 * self.name_bytes)
        })
    }

    /// Refuses a document and its text if both together are too long.
    pub(super) fn check_raw(&self, bytes: usize) -> Result<()> {
        at_most("length in bytes of a document and its text", bytes, self.document_bytes)
    }

    /// How much all captured files of a checkpoint may have together.
    #[must_use]
    pub fn artifacts_bytes(&self) -> usize {
        self.artifact_bytes.saturating_mul(4)
    }

    /// Refuses files that are too many, too long, twice the same, or below each other.
    pub(super) fn check_artifacts(&self, artifacts: &[NewArtifact]) -> Result<()> {
        at_most("number of artifacts", artifacts.len(), self.artifacts)?;
        let mut paths = HashSet::with_capacity(artifacts.len());
        let mut total: usize = 0;
        for artifact in artifacts {
            artifact.check()?;
            let path = artifact.path.as_str();
            if !paths.insert(path) {
                return Err(Error::invalid(
                    Subject::Artifact(format!("artifact {path:?}")),
                    "is given twice",
                ));
            }
            let bytes = artifact.content.as_ref().map_or(0, Vec::len);
            let what = format!("length in bytes of artifact {path:?}");
            at_most(&what, bytes, self.artifact_bytes)?;
            total = total.saturating_add(bytes);
        }
        at_most("length in bytes of all artifacts", total, self.artifacts_bytes())?;
        check_ancestors(artifacts)
    }
}

/// Refuses a name that is empty, longer than `limit`, or not one line.
fn check_text(what: &str, text: &str, limit: usize) -> Result<()> {
    if text.is_empty() {
        return Err(Error::invalid(what, "empty"));
    }
    // A name is one word of a line for tools, and one line of a table for people.
    if text.contains(char::is_control) {
        return Err(Error::invalid(what, "has a control character"));
    }
    at_most(&format!("length in bytes of the {what}"), text.len(), limit)
}

/// Refuses a file below another: no directory could have both. One that is gone may have become
/// a directory.
fn check_ancestors(artifacts: &[NewArtifact]) -> Result<()> {
    let there = artifacts.iter().filter(|artifact| artifact.content.is_some());
    let mut paths: Vec<&str> = there.map(|artifact| artifact.path.as_str()).collect();
    // Sorts before all other bytes, so that paths below a directory come right after it.
    let in_order = |byte: u8| if byte == b'/' { 0 } else { byte };
    paths.sort_unstable_by(|one, other| one.bytes().map(in_order).cmp(other.bytes().map(in_order)));
    for pair in paths.windows(2) {
        if let Some(below) = pair[1].strip_prefix(pair[0])
            && below.starts_with('/')
        {
            let place = Subject::Artifact(format!("artifact {:?}", pair[0]));
            return Err(Error::invalid(place, format_args!("{:?} is below it", pair[1])));
        }
    }
    Ok(())
}

fn at_most(what: &str, value: usize, limit: usize) -> Result<()> {
    if value > limit {
        return Err(Error::Limit { what: what.to_owned(), limit: limit as u64 });
    }
    Ok(())
}

/// A file beside the store that was not taken in, and where it was moved to.
///
/// ```
/// # fn show(_line: String) {}
/// use std::sync::Arc;
/// use waypost::care::SetAside;
/// use waypost::{Options, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// let report = |found: SetAside| show(format!("{}: {}", found.path.display(), found.reason));
/// let options = Options { on_set_aside: Some(Arc::new(report)), ..Options::default() };
/// let store = Store::open_with(&path, options)?;
/// # assert_eq!(store.count()?, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// Where it is now. Nothing removes it.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}
