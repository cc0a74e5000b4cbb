//! The document as a tree, for programs that do not know its shape.
//!
//! Must never change a number's value or the order of keys.

use std::cell::Cell;
use std::fmt;

use serde::de::{
    DeserializeSeed, EnumAccess, IgnoredAny, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Asks our own decoder for number literals as written: see [`Document::Number`].
pub(crate) const EXACT: &str = "waypost::Document";
/// Tells our own encoder that a text is a number literal.
pub(crate) const NUMBER: &str = "waypost::Number";

/// A JSON-like tree that keeps the order of keys and the value of every number.
///
/// Any type can be saved and read back without it. It serves programs that inspect documents of any
/// shape.
///
/// ```
/// use waypost::Document;
/// use waypost::source::TextStyle;
///
/// # fn main() -> waypost::Result<()> {
/// let document = Document::from_json(br#"{"score": 71, "notes": []}"#)?;
/// assert_eq!(document.get("score"), Some(&Document::Uint(71)));
/// assert_eq!(document.to_json(TextStyle::default())?, r#"{"score":71,"notes":[]}"#);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Document {
    /// Nothing.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// An integer below zero.
    Int(i64),
    /// An integer from zero up.
    Uint(u64),
    /// A binary floating-point number; infinities and NaN come from programs only.
    Float(f64),
    /// A number as it was written, where no other variant keeps its value or spelling.
    Number(String),
    /// Text.
    Text(String),
    /// Bytes, which come from programs only; in JSON `{"$bytes": "BASE64"}`.
    Bytes(Vec<u8>),
    /// A list.
    Array(Vec<Document>),
    /// Keys and values in the order they were written; duplicate keys are kept.
    Object(Vec<(String, Document)>),
}

impl Document {
    /// Returns the value of `key`, the last one if it is there twice, if this is an object with it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => {
                fields.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::Uint(value) => serializer.serialize_u64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Number(literal) => serializer.serialize_newtype_struct(NUMBER, literal),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bytes(bytes) => serializer.serialize_bytes(bytes),
            Self::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| seq.serialize_element(item))?;
                seq.end()
            }
            Self::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                fields.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(EXACT, Tree { room: None, depth: 0 })
    }
}

/// Reads a document, or the part of a large one that takes little memory.
#[derive(Clone, Copy)]
pub(crate) struct Tree<'a> {
    /// How many more values are allowed, if that is bounded.
    room: Option<&'a Cell<usize>>,
    depth: usize,
}

// Of a longer list the first ones and the last one are part of an outline.
const LIST_MAX: usize = 1024;
// Down to this depth an outline is complete, since a document describes itself there.
const DEPTH_TAKEN: usize = 3;

impl<'a> Tree<'a> {
    /// Values below the first levels are limited by `room`; the others become null.
    pub(crate) fn outline(room: &'a Cell<usize>) -> Self {
        Self { room: Some(room), depth: 0 }
    }

    fn below(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    fn has_room(self) -> bool {
        let Some(room) = self.room else { return true };
        let left = room.get();
        room.set(left.saturating_sub(1));
        left > 0 || self.depth <= DEPTH_TAKEN
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Document;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Document, D::Error> {
        if self.has_room() {
            return deserializer.deserialize_newtype_struct(EXACT, self);
        }
        IgnoredAny::deserialize(deserializer).map(|_| Document::Null)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Document, D::Error> {
        inner.deserialize_any(self)
    }

    /// Only our own decoder calls this, and only for a number literal.
    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Document, A::Error> {
        let (literal, rest) = access.variant::<String>()?;
        rest.unit_variant()?;
        Ok(Document::Number(literal))
    }

    fn visit_unit<E>(self) -> Result<Document, E> {
        Ok(Document::Null)
    }

    fn visit_none<E>(self) -> Result<Document, E> {
        Ok(Document::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Document, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Document, E> {
        Ok(Document::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Document, E> {
        Ok(u64::try_from(value).map_or(Document::Int(value), Document::Uint))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Document, E> {
        Ok(Document::Uint(value))
    }

    fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<Document, E> {
        match i64::try_from(value) {
            Ok(small) => self.visit_i64(small),
            Err(_) => Ok(Document::Number(value.to_string())),
        }
    }

    fn visit_u128<E: serde::de::Error>(self, value: u128) -> Result<Document, E> {
        match u64::try_from(value) {
            Ok(small) => self.visit_u64(small),
            Err(_) => Ok(Document::Number(value.to_string())),
        }
    }

    fn visit_f64<E>(self, value: f64) -> Result<Document, E> {
        Ok(Document::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Document, E> {
        Ok(Document::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Document, E> {
        Ok(Document::Text(text))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Document, E> {
        Ok(Document::Bytes(bytes.to_owned()))
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Document, E> {
        Ok(Document::Bytes(bytes))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Document, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self.below())? {
            if self.room.is_some() && items.len() == LIST_MAX {
                items.pop();
            }
            items.push(item);
        }
        Ok(Document::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Document, A::Error> {
        let mut fields = Vec::new();
        while let Some(key) = access.next_key()? {
            fields.push((key, access.next_value_seed(self.below())?));
        }
        Ok(Document::Object(fields))
    }
}
