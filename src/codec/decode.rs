//! Tokens straight into any `Deserialize` type.
//!
//! The stored form describes itself, so untagged enums, `flatten` and defaults all work.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::fault::Fault;
use super::key::KeyDecoder;
use super::token::{END, NULL, Token};
use super::wire::{Malformed, Reader};
use crate::checkpoint::EXACT;

/// A container without elements, as far as its reader sees.
const NOTHING: &[u8] = &[END];

/// Reads one value after the other.
pub(super) struct Decoder<'de> {
    reader: Reader<'de>,
    /// How many more containers may be open at once: a document must not exhaust the stack.
    depth_left: usize,
    depth_limit: usize,
    /// Whether number literals are returned as written, for a tree.
    exact: bool,
    /// What is nested deeper than this many containers appears empty, if there is a limit.
    hollow_below: Option<usize>,
}

impl<'de> Decoder<'de> {
    pub(super) fn new(raw: &'de [u8], depth: usize) -> Self {
        Self {
            reader: Reader::new(raw),
            depth_left: depth,
            depth_limit: depth,
            exact: false,
            hollow_below: None,
        }
    }

    /// Makes all that is nested deeper than `depth` containers appear empty. Fails at a number
    /// literal or at bytes in there: not every type takes those.
    pub(super) fn hollow_below(self, depth: usize) -> Self {
        Self { hollow_below: Some(depth), ..self }
    }

    /// Fails if anything follows the value.
    pub(super) fn finish(&self) -> Result<(), Fault> {
        if self.rest().is_empty() { Ok(()) } else { Err(Malformed.into()) }
    }

    /// What follows the value.
    pub(super) fn rest(&self) -> &'de [u8] {
        self.reader.rest()
    }

    #[inline]
    fn token(&mut self) -> Result<Token<'de>, Fault> {
        Ok(Token::read(&mut self.reader)?)
    }

    fn nested<T>(&mut self, visit: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        self.depth_left = self
            .depth_left
            .checked_sub(1)
            .ok_or_else(|| Fault::limit("depth", self.depth_limit))?;
        let value = visit(self)?;
        self.depth_left += 1;
        match self.token()? {
            Token::End => Ok(value),
            _ => Err(Fault::refused("more elements than expected")),
        }
    }

    fn number<V: Visitor<'de>>(&self, literal: &'de str, visitor: V) -> Result<V::Value, Fault> {
        if self.exact {
            visitor.visit_enum(NumberAccess(literal))
        } else if let Ok(value) = literal.parse::<i64>() {
            visitor.visit_i64(value)
        } else if let Ok(value) = literal.parse::<i128>() {
            visitor.visit_i128(value).map_err(|_: Fault| beyond_64_bits())
        } else if let Ok(value) = literal.parse::<u128>() {
            visitor.visit_u128(value).map_err(|_: Fault| beyond_64_bits())
        } else {
            visitor.visit_f64(float(literal)?)
        }
    }

    fn value<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Fault> {
        match self.token()? {
            Token::Null => visitor.visit_unit(),
            Token::Bool(value) => visitor.visit_bool(value),
            Token::Uint(value) => visitor.visit_u64(value),
            Token::Int(value) => visitor.visit_i64(value),
            Token::Float(value) => visitor.visit_f64(value),
            Token::Number(literal) => self.number(literal, visitor),
            Token::Text(text) => visitor.visit_borrowed_str(text),
            Token::Bytes(bytes) => visitor.visit_borrowed_bytes(bytes),
            Token::Array if self.is_hollow() => {
                self.leave()?;
                visitor.visit_seq(Elements::new(&mut Self::new(NOTHING, 0)))
            }
            Token::Object if self.is_hollow() => {
                self.leave()?;
                visitor.visit_map(Fields::new(&mut Self::new(NOTHING, 0)))
            }
            Token::Array => self.nested(|decoder| visitor.visit_seq(Elements::new(decoder))),
            Token::Object => self.nested(|decoder| visitor.visit_map(Fields::new(decoder))),
            Token::End => Err(Malformed.into()),
        }
    }

    /// True if a container that starts here is nested too deep to be read.
    fn is_hollow(&self) -> bool {
        self.hollow_below.is_some_and(|depth| self.depth_limit - self.depth_left >= depth)
    }

    /// Passes over the rest of a container that is not read.
    fn leave(&mut self) -> Result<(), Fault> {
        let mut open = 1_usize;
        while open > 0 {
            match self.token()? {
                Token::Array | Token::Object => open += 1,
                Token::End => open -= 1,
                Token::Number(_) | Token::Bytes(_) => {
                    return Err(Fault::refused("a value that not every type takes"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Passes over one value without recursion.
    fn skip(&mut self) -> Result<(), Fault> {
        let mut open = 0_usize;
        loop {
            match self.token()? {
                Token::Array | Token::Object => open += 1,
                Token::End => open = open.checked_sub(1).ok_or(Malformed)?,
                _ => {}
            }
            if open == 0 {
                return Ok(());
            }
        }
    }
}

/// Rounding it would return another value, so reading ends here.
fn beyond_64_bits() -> Fault {
    Fault::refused("integer beyond 64 bits; read it as i128, u128 or Document, and not flattened")
}

fn float(literal: &str) -> Result<f64, Fault> {
    literal.parse().map_err(|_| Malformed.into())
}

impl<'de> Deserializer<'de> for &mut Decoder<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.value(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.reader.peek() == Some(NULL) {
            self.token()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    /// A program that asks for a float gets the nearest one, as from any JSON parser.
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let mut ahead = self.reader;
        match Token::read(&mut ahead)? {
            Token::Number(literal) => {
                self.reader = ahead;
                visitor.visit_f64(float(literal)?)
            }
            _ => self.value(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let outer = self.exact;
        self.exact |= name == EXACT;
        let value = visitor.visit_newtype_struct(&mut *self)?;
        self.exact = outer;
        Ok(value)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.token()? {
            Token::Text(variant) => {
                let variant: StrDeserializer<'_, Fault> = variant.into_deserializer();
                visitor.visit_enum(variant)
            }
            Token::Object => self.nested(|decoder| match decoder.token()? {
                Token::Text(variant) => visitor
                    .visit_enum(Variant { decoder, variant })
                    .map_err(|fault| fault.in_key(variant)),
                _ => Err(Fault::refused("found an empty object, expected a variant")),
            }),
            _ => Err(Fault::refused("expected a variant: text, or an object with one key")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.skip()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier
    }
}

struct Elements<'a, 'de> {
    decoder: &'a mut Decoder<'de>,
    index: usize,
}

impl<'a, 'de> Elements<'a, 'de> {
    fn new(decoder: &'a mut Decoder<'de>) -> Self {
        Self { decoder, index: 0 }
    }
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        if self.decoder.reader.peek() == Some(END) {
            return Ok(None);
        }
        let value =
            seed.deserialize(&mut *self.decoder).map_err(|fault| fault.at_index(self.index))?;
        self.index += 1;
        Ok(Some(value))
    }
}

struct Fields<'a, 'de> {
    decoder: &'a mut Decoder<'de>,
    key: &'de str,
}

impl<'a, 'de> Fields<'a, 'de> {
    fn new(decoder: &'a mut Decoder<'de>) -> Self {
        Self { decoder, key: "" }
    }
}

impl<'de> MapAccess<'de> for Fields<'_, 'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        if self.decoder.reader.peek() == Some(END) {
            return Ok(None);
        }
        let Token::Text(key) = self.decoder.token()? else {
            return Err(Malformed.into());
        };
        self.key = key;
        seed.deserialize(KeyDecoder(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        seed.deserialize(&mut *self.decoder).map_err(|fault| fault.in_key(self.key))
    }
}

/// An enum variant with content: an object with one key.
struct Variant<'a, 'de> {
    decoder: &'a mut Decoder<'de>,
    variant: &'de str,
}

impl<'a, 'de> EnumAccess<'de> for Variant<'a, 'de> {
    type Error = Fault;
    type Variant = &'a mut Decoder<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self::Variant), Fault> {
        Ok((seed.deserialize(KeyDecoder(self.variant))?, self.decoder))
    }
}

impl<'de> VariantAccess<'de> for &mut Decoder<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        serde::Deserialize::deserialize(self)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.value(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.value(visitor)
    }
}

/// A number literal on its way into a tree.
struct NumberAccess<'de>(&'de str);

impl<'de> EnumAccess<'de> for NumberAccess<'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        Ok((seed.deserialize(KeyDecoder(self.0))?, self))
    }
}

impl<'de> VariantAccess<'de> for NumberAccess<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Fault> {
        Err(Malformed.into())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Fault> {
        Err(Malformed.into())
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Fault> {
        Err(Malformed.into())
    }
}
