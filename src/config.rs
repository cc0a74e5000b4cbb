//! The configuration file: what is saved, what is kept, and where, as people write it in YAML.
//!
//! Pure: it gets text. Must never ignore what it does not understand: a misspelled word could
//! otherwise remove what was meant to be kept.

mod count;
mod field;
mod keep;
mod policy;
mod switch;
#[cfg(test)]
mod tests;
mod trigger;

use self::field::{Field, Section};
pub use self::switch::Off;
use self::switch::Switches;
use crate::checkpoint::Trigger;
use crate::error::{Error, Result};
use crate::retention::{Age, Policy};
use crate::yaml::{self, Bounds};

/// Real files have some fifty lines. This leaves room, and bounds hostile files.
const BOUNDS: Bounds = Bounds { bytes: 1 << 20, depth: 128, nodes: 10_000 };

const ROOT: &str = "checkpoint";
const KEYS: [&str; 10] = [
    "enabled",
    "auto_checkpoint",
    "checkpoint_triggers",
    "retention",
    "rules",
    "storage",
    "on_success",
    "cleanup",
    "prune_on_save",
    "keep_deleted",
];
const CLEANUP: [(&str, Cleanup); 3] =
    [("on_save", Cleanup::OnSave), ("daily", Cleanup::Daily), ("never", Cleanup::Never)];
const STORAGE_KEYS: [&str; 5] =
    ["location", "compress", "max_size_mb", "max_store_size_mb", "key_file"];

/// What a configuration file says: `.claude/checkpoint-config.yaml` as it is, or one of our own,
/// which may say more.
///
/// What it does not say is `None`. [`Config::template`] shows every key.
///
/// ```
/// use waypost::{Config, Trigger};
///
/// let config = Config::from_yaml(
///     "checkpoint:
///        checkpoint_triggers: {agent_complete: off}
///        retention: {batch_complete: 3, iteration: {keep_last: 5, keep_within: 2d}}",
/// )?;
/// assert!(config.policy().is_some());
/// let off = config.refusal(&Trigger::AgentComplete).unwrap();
/// let key = "checkpoint.checkpoint_triggers.agent_complete";
/// assert_eq!(off.to_string(), format!("{key} is false (line 2)"));
///
/// let error = Config::from_yaml("checkpoint:\n  retentoin: {}").unwrap_err();
/// let reason = "line 2: is not known here; did you mean retention?";
/// assert_eq!(error.to_string(), format!("invalid checkpoint.retentoin: {reason}"));
/// # Ok::<(), waypost::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    switches: Switches,
    policy: Option<Policy>,
    cleanup: Option<Cleanup>,
    prune_on_save: Option<bool>,
    keep_deleted: Option<Age>,
    location: Option<String>,
    compress: Option<bool>,
    key_file: Option<String>,
}

impl Config {
    /// A longer file is refused.
    pub const BYTES_MAX: u64 = BOUNDS.bytes as u64;

    /// Reads a file's text. Its policy is named `config`; see [`Config::named`].
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the key and the line if the text is no YAML, or if a key is
    /// unknown, stands twice or has a value that it cannot have.
    pub fn from_yaml(text: &str) -> Result<Self> {
        Self::from_yaml_bytes(text.as_bytes())
    }

    /// As [`Config::from_yaml`], for the bytes of a file.
    ///
    /// # Errors
    /// As [`Config::from_yaml`], and if they are not UTF-8.
    pub fn from_yaml_bytes(text: &[u8]) -> Result<Self> {
        let tree = yaml::read(text, BOUNDS).map_err(|fault| Error::invalid("YAML", fault))?;
        let checkpoint = checkpoint(&Field::root(&tree))?;
        let storage = checkpoint.section("storage")?;
        storage.check_keys(&STORAGE_KEYS)?;
        let is_on_save = checkpoint.value("prune_on_save", Field::bool)?;
        let cleanup = cleanup(&checkpoint, is_on_save)?;
        Ok(Self {
            switches: Switches::of(&checkpoint)?,
            policy: policy::of(&checkpoint, &storage)?,
            cleanup,
            prune_on_save: is_on_save.or((cleanup == Some(Cleanup::OnSave)).then_some(true)),
            keep_deleted: checkpoint.value("keep_deleted", Field::age)?,
            location: storage.value("location", Field::text)?,
            compress: storage.value("compress", compress)?,
            key_file: storage.value("key_file", Field::text)?,
        })
    }

    /// The same, with a name for its policy: the file's, as a rule.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        if let Some(policy) = &mut self.policy {
            policy.name = name.into();
        }
        self
    }

    /// The retention policy, if the file mentions retention, rules, sizes or success.
    #[must_use]
    pub fn policy(&self) -> Option<&Policy> {
        self.policy.as_ref()
    }

    /// The reason that saves with this trigger are off, if the file says so.
    #[must_use]
    pub fn refusal(&self, trigger: &Trigger) -> Option<Off> {
        self.switches.refusal(trigger).cloned()
    }

    /// The triggers that it switches off: known ones and those that it lists.
    #[must_use]
    pub fn switched_off(&self) -> Vec<Trigger> {
        self.switches.off()
    }

    /// When what is saved in the project of the file is pruned by its policy, as long as the store
    /// has none of its own: as `cleanup` says; else with every save, if the file says
    /// `prune_on_save: true` or `enabled: true`; else never.
    #[must_use]
    pub fn cleanup(&self) -> Cleanup {
        let is_on_save = self.prune_on_save.unwrap_or(self.switches.is_enabled());
        let otherwise = if is_on_save { Cleanup::OnSave } else { Cleanup::Never };
        if self.policy.is_some() { self.cleanup.unwrap_or(otherwise) } else { Cleanup::Never }
    }

    /// Whether a save prunes its own series, once `policy set` has put the file into the store.
    #[must_use]
    pub fn prune_on_save(&self) -> Option<bool> {
        self.prune_on_save
    }

    /// How long what was deleted can be restored.
    #[must_use]
    pub fn keep_deleted(&self) -> Option<Age> {
        self.keep_deleted
    }

    /// Where the files of an issue are, as written: `{issue}` stands for its number.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }

    /// Whether files are compressed.
    #[must_use]
    pub fn compress(&self) -> Option<bool> {
        self.compress
    }

    /// The file that has the key of the store, as written: from the directory of the project.
    #[must_use]
    pub fn key_file(&self) -> Option<&str> {
        self.key_file.as_deref()
    }

    /// An example of a file, with every key and what it means. It can be read.
    #[must_use]
    pub fn template() -> &'static str {
        include_str!("config/template.yaml")
    }
}

/// When a project is pruned.
///
/// ```
/// # fn show(_line: String) {}
/// use waypost::Config;
/// use waypost::config::Cleanup;
///
/// # fn main() -> waypost::Result<()> {
/// let config = Config::from_yaml("checkpoint: {}")?;
/// match config.cleanup() {
///     Cleanup::OnSave => show(format!("every save prunes")),
///     Cleanup::Daily => show(format!("prune once a day")),
///     Cleanup::Never => show(format!("prune only when asked")),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cleanup {
    /// With every save, what the rules no longer keep of its group.
    OnSave,
    /// The whole store, with the first save of a day.
    Daily,
    /// Only when it is asked for.
    Never,
}

/// The files of claude-crunch are YAML that it reads as text, so none can be compressed.
fn compress(field: &Field<'_>) -> Result<bool> {
    if field.bool()? {
        return Err(field.refused("must be false: claude-crunch reads no compressed files"));
    }
    Ok(false)
}

fn cleanup(checkpoint: &Section<'_>, is_on_save: Option<bool>) -> Result<Option<Cleanup>> {
    let Some(field) = checkpoint.get("cleanup") else { return Ok(None) };
    let cleanup = field.one_of(&CLEANUP)?;
    match is_on_save {
        Some(is_on_save) if is_on_save != (cleanup == Cleanup::OnSave) => {
            Err(field.refused(format_args!("contradicts prune_on_save: {is_on_save}")))
        }
        _ => Ok(Some(cleanup)),
    }
}

/// The value of the one top-level key.
fn checkpoint<'a>(root: &Field<'a>) -> Result<Section<'a>> {
    let root = root.section()?;
    if let Some(inner) = root.fields().iter().find(|field| KEYS.contains(&field.name())) {
        return Err(inner.refused(format_args!("belongs below `{ROOT}:`")));
    }
    root.check_keys(&[ROOT])?;
    let Some(field) = root.get(ROOT) else {
        return Err(Error::invalid(ROOT, "line 1: is missing; everything stands below it"));
    };
    let section = field.section()?;
    section.check_keys(&KEYS)?;
    Ok(section)
}
