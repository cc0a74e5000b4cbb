//! Keys of maps: text in the document, of any type in the program.

use std::fmt::Display;

use serde::de::value::StrDeserializer;
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde::ser::{Impossible, Serialize, Serializer};

use super::fault::Fault;
use super::token::Tokens;

type Done = Result<(), Fault>;
type Never = Impossible<(), Fault>;

/// Writes a key as text, numbers and unit variants included.
pub(super) struct Key<'a>(pub(super) &'a mut Tokens);

impl Key<'_> {
    fn shown(self, key: impl Display) -> Done {
        self.0.text(&key.to_string())
    }
}

fn refused<T>() -> Result<T, Fault> {
    Err(Fault::refused("a key must be text, a number, a boolean or a variant without content"))
}

impl Serializer for Key<'_> {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    fn serialize_bool(self, key: bool) -> Done {
        self.shown(key)
    }

    fn serialize_i8(self, key: i8) -> Done {
        self.shown(key)
    }

    fn serialize_i16(self, key: i16) -> Done {
        self.shown(key)
    }

    fn serialize_i32(self, key: i32) -> Done {
        self.shown(key)
    }

    fn serialize_i64(self, key: i64) -> Done {
        self.shown(key)
    }

    fn serialize_i128(self, key: i128) -> Done {
        self.shown(key)
    }

    fn serialize_u8(self, key: u8) -> Done {
        self.shown(key)
    }

    fn serialize_u16(self, key: u16) -> Done {
        self.shown(key)
    }

    fn serialize_u32(self, key: u32) -> Done {
        self.shown(key)
    }

    fn serialize_u64(self, key: u64) -> Done {
        self.shown(key)
    }

    fn serialize_u128(self, key: u128) -> Done {
        self.shown(key)
    }

    fn serialize_f32(self, key: f32) -> Done {
        self.shown(key)
    }

    fn serialize_f64(self, key: f64) -> Done {
        self.shown(key)
    }

    fn serialize_char(self, key: char) -> Done {
        self.shown(key)
    }

    fn serialize_str(self, key: &str) -> Done {
        self.0.text(key)
    }

    fn serialize_bytes(self, _: &[u8]) -> Done {
        refused()
    }

    fn serialize_none(self) -> Done {
        refused()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, key: &T) -> Done {
        key.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        refused()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Done {
        refused()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        self.0.text(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, key: &T) -> Done {
        key.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Done {
        refused()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Never, Fault> {
        refused()
    }

    fn serialize_tuple(self, _: usize) -> Result<Never, Fault> {
        refused()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Never, Fault> {
        refused()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Never, Fault> {
        refused()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Never, Fault> {
        refused()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Never, Fault> {
        refused()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Never, Fault> {
        refused()
    }
}

/// Reads a key as the key type of the program's map.
pub(super) struct KeyDecoder<'de>(pub(super) &'de str);

/// Numbers and booleans are parsed if the type asks for one. Other text is passed on as text, so
/// that the type itself reports what it expected.
macro_rules! parsed {
    ($($method:ident $visit:ident $type:ty;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.0.parse::<$type>() {
                Ok(key) => visitor.$visit(key),
                Err(_) => visitor.visit_borrowed_str(self.0),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for KeyDecoder<'de> {
    type Error = Fault;

    parsed! {
        deserialize_bool visit_bool bool;
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_i128 visit_i128 i128;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
        deserialize_u128 visit_u128 u128;
        deserialize_f32 visit_f32 f32;
        deserialize_f64 visit_f64 f64;
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let variant: StrDeserializer<'_, Fault> = self.0.into_deserializer();
        visitor.visit_enum(variant)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}
