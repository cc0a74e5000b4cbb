//! Fields that are missing, null or present. Systems distinguish the first two, so both are kept.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A field of an object, which a file can leave out, set to null, or give a value.
///
/// ```
/// use waypost::layouts::pipeline::StoryCheckpoint;
/// use waypost::layouts::{Field, from_json};
///
/// # fn main() -> waypost::Result<()> {
/// let story: StoryCheckpoint = from_json(br#"{"storyId": "A-1", "agentId": null}"#)?;
/// assert_eq!(story.story_id, Field::Value("A-1".to_owned()));
/// assert_eq!(story.agent_id, Field::Null);
/// assert!(story.last_action.is_absent());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Field<T> {
    /// Not there, and not written.
    #[default]
    Absent,
    /// There, and null.
    Null,
    /// There.
    Value(T),
}

impl<T> Field<T> {
    /// Tells whether the field is left out, so that it is not written either.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Returns the value, if there is one.
    #[must_use]
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Absent | Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }
}

impl<T> From<T> for Field<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

impl<T: Serialize> Serialize for Field<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    /// Is called only for a field that is there.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}
