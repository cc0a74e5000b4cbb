//! The subject of an error, as a type: callers act on it without parsing the message.

use std::fmt;

/// What an invalid value is.
///
/// Names of fields become subjects by [`From`]; the ones on which a caller acts have a variant of
/// their own.
///
/// ```
/// use waypost::error::Subject;
/// use waypost::{Document, Error};
///
/// let error = Document::from_json(b"{} {}").unwrap_err();
/// assert!(matches!(error, Error::Invalid { what: Subject::TextAfterDocument, .. }));
/// let error = waypost::Id::new("").unwrap_err();
/// assert!(matches!(error, Error::Invalid { what: Subject::Id, .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// The id of a checkpoint.
    Id,
    /// The id of a loop.
    LoopId,
    /// A checkpoint that does not allow the operation.
    Checkpoint,
    /// The setting that every save prunes, without a policy.
    PruneOnSave,
    /// A key of an encrypted store.
    Key,
    /// A key that was given for a store that is not encrypted.
    NeedlessKey,
    /// A path of a file that the store writes.
    Path,
    /// A line of input.
    Line,
    /// A field of what a line says about its checkpoint.
    About(String),
    /// A document, or the value at this JSON pointer.
    Document(Option<String>),
    /// Text after the end of a document.
    TextAfterDocument,
    /// A document that breaks the rules of this layout.
    DocumentOf(String),
    /// A captured file, in words.
    Artifact(String),
    /// Anything else: the name of a field, a JSON pointer or a few words.
    Value(String),
}

impl Subject {
    /// The value at a JSON pointer of this subject; an empty pointer is the subject itself.
    pub(crate) fn at(self, pointer: &str) -> Self {
        match self {
            it if pointer.is_empty() => it,
            Self::Document(None) => Self::Document(Some(pointer.to_owned())),
            it => Self::Value(format!("{it} at {pointer}")),
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "id" => Self::Id,
            "loop_id" => Self::LoopId,
            "checkpoint" => Self::Checkpoint,
            "prune_on_save" => Self::PruneOnSave,
            "key" => Self::Key,
            "path" => Self::Path,
            "line" => Self::Line,
            "document" => Self::Document(None),
            _ => return None,
        })
    }
}

impl From<&str> for Subject {
    fn from(name: &str) -> Self {
        Self::of_name(name).unwrap_or_else(|| Self::Value(name.to_owned()))
    }
}

impl From<String> for Subject {
    fn from(name: String) -> Self {
        Self::of_name(&name).unwrap_or(Self::Value(name))
    }
}

impl From<&String> for Subject {
    fn from(name: &String) -> Self {
        Self::from(name.as_str())
    }
}

impl PartialEq<str> for Subject {
    fn eq(&self, text: &str) -> bool {
        let own = self.to_string();
        own == text
    }
}

impl PartialEq<&str> for Subject {
    fn eq(&self, text: &&str) -> bool {
        self == *text
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id => f.write_str("id"),
            Self::LoopId => f.write_str("loop_id"),
            Self::Checkpoint => f.write_str("checkpoint"),
            Self::PruneOnSave => f.write_str("prune_on_save"),
            Self::Key | Self::NeedlessKey => f.write_str("key"),
            Self::Path => f.write_str("path"),
            Self::Line => f.write_str("line"),
            Self::About(field) => write!(f, "about.{field}"),
            Self::Document(None) | Self::TextAfterDocument => f.write_str("document"),
            Self::Document(Some(pointer)) => write!(f, "document at {pointer}"),
            Self::DocumentOf(layout) => write!(f, "document of {layout}"),
            Self::Artifact(words) | Self::Value(words) => f.write_str(words),
        }
    }
}

/// What was not found.
///
/// ```
/// use waypost::error::Wanted;
/// use waypost::{Error, Id, NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let saved = store.save(NewEntry::default(), &1)?;
/// let missing = store.artifact(&saved.id, "notes.md").unwrap_err();
/// assert!(matches!(missing, Error::NotFound { wanted: Wanted::Artifact { .. } }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wanted {
    /// A checkpoint by its id, a prefix of it, or a name such as `SERIES@N`.
    Checkpoint(String),
    /// A captured file that the checkpoint does not have.
    Artifact {
        /// The id of the checkpoint.
        checkpoint: String,
        /// The path that was asked for.
        path: String,
    },
}

impl Wanted {
    /// Returns the requested name of the checkpoint.
    #[must_use]
    pub fn checkpoint(&self) -> &str {
        match self {
            Self::Checkpoint(name) => name,
            Self::Artifact { checkpoint, .. } => checkpoint,
        }
    }
}

impl From<String> for Wanted {
    fn from(name: String) -> Self {
        Self::Checkpoint(name)
    }
}

impl PartialEq<str> for Wanted {
    fn eq(&self, name: &str) -> bool {
        matches!(self, Self::Checkpoint(own) if own == name)
    }
}

impl PartialEq<&str> for Wanted {
    fn eq(&self, name: &&str) -> bool {
        self == *name
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checkpoint(name) => write!(f, "no checkpoint matches {name:?}"),
            Self::Artifact { checkpoint, path } => {
                write!(f, "checkpoint {checkpoint} has no captured file {path:?}")
            }
        }
    }
}
