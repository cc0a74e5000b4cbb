//! The file layouts that checkpoints come from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The file layout a checkpoint came from; our own is [`Layout::Native`].
///
/// ```
/// use waypost::Layout;
///
/// # fn main() -> waypost::Result<()> {
/// assert_eq!("crunch".parse::<Layout>()?, Layout::Crunch);
/// assert_eq!(Layout::Aiwg.to_string(), "aiwg");
/// # Ok(())
/// # }
/// ```
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Saved by this library.
    #[default]
    Native,
    /// `.tmp/impl-checkpoint.json` of agentize.
    Agentize,
    /// `.claude/crunch/N/checkpoints/CP-*.yaml` of claude-crunch.
    Crunch,
    /// `.claude/checkpoints/*.json`.
    Claude,
    /// `.pipeline/checkpoint-*.json`.
    Pipeline,
    /// `.aiwg/ralph/loops/*/checkpoints/*.json.gz` of AIWG.
    Aiwg,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Self; 6] =
        [Self::Native, Self::Agentize, Self::Crunch, Self::Claude, Self::Pipeline, Self::Aiwg];

    /// The name in commands and files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Agentize => "agentize",
            Self::Crunch => "crunch",
            Self::Claude => "claude",
            Self::Pipeline => "pipeline",
            Self::Aiwg => "aiwg",
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|layout| layout.as_str() == text)
            .ok_or_else(|| Error::invalid("layout", format_args!("{text:?} is not a layout")))
    }
}
