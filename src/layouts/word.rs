//! Words from a fixed list, and unknown words in their place.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A list of words that a field may have.
///
/// See [`Word`] for an example.
pub trait Vocabulary: Copy + 'static {
    /// Every word, in the order of the system's document.
    const ALL: &'static [Self];

    /// The word in files.
    fn as_str(self) -> &'static str;
}

/// A word of a list, or an unknown one.
///
/// ```
/// use waypost::layouts::pipeline::Verdict;
/// use waypost::layouts::{Vocabulary, Word};
///
/// assert_eq!(Word::of("NO-GO"), Word::Known(Verdict::NoGo));
/// assert_eq!(Word::<Verdict>::of("MAYBE").known(), None);
/// let words: Vec<_> = Verdict::ALL.iter().map(|verdict| verdict.as_str()).collect();
/// assert!(words.contains(&"WAIVED"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Word<T> {
    /// One of the list.
    Known(T),
    /// As it was written.
    Other(String),
}

impl<T: Vocabulary> Word<T> {
    /// The word that `text` is.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let known = T::ALL.iter().find(|known| known.as_str() == text);
        known.map_or_else(|| Self::Other(text.to_owned()), |known| Self::Known(*known))
    }

    /// Returns it if it is one of the list.
    #[must_use]
    pub fn known(&self) -> Option<T> {
        match self {
            Self::Known(word) => Some(*word),
            Self::Other(_) => None,
        }
    }

    /// The word in files.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(word) => word.as_str(),
            Self::Other(text) => text,
        }
    }
}

impl<T: Vocabulary> fmt::Display for Word<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<T: Vocabulary> From<T> for Word<T> {
    fn from(word: T) -> Self {
        Self::Known(word)
    }
}

impl<T: Vocabulary> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, T: Vocabulary> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(&String::deserialize(deserializer)?))
    }
}

/// An enum whose variants are the words of a list.
macro_rules! vocabulary {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$of])* $variant,)+
        }

        impl $name {
            /// Every word, in the order of the system's document.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in files.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl $crate::layouts::Vocabulary for $name {
            const ALL: &'static [Self] = Self::ALL;

            fn as_str(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(super) use vocabulary;
