//! Any `Serialize` type straight into tokens.
//!
//! Shapes are those of JSON, so that what a program saved can be shown, compared and exported:
//! enums are tagged by name, keys are text. Bytes and 128-bit integers keep their own form.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::fault::Fault;
use super::key::Key;
use super::token::Tokens;
use crate::checkpoint::NUMBER;

type Done = Result<(), Fault>;

/// Writes one value.
pub(super) struct Encoder<'a>(pub(super) &'a mut Tokens);

impl<'a> Serializer for Encoder<'a> {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Nest<'a>;
    type SerializeTuple = Nest<'a>;
    type SerializeTupleStruct = Nest<'a>;
    type SerializeTupleVariant = Nest<'a>;
    type SerializeMap = Nest<'a>;
    type SerializeStruct = Nest<'a>;
    type SerializeStructVariant = Nest<'a>;

    fn serialize_bool(self, value: bool) -> Done {
        self.0.bool(value)
    }

    fn serialize_i8(self, value: i8) -> Done {
        self.0.int(value.into())
    }

    fn serialize_i16(self, value: i16) -> Done {
        self.0.int(value.into())
    }

    fn serialize_i32(self, value: i32) -> Done {
        self.0.int(value.into())
    }

    fn serialize_i64(self, value: i64) -> Done {
        self.0.int(value)
    }

    fn serialize_i128(self, value: i128) -> Done {
        match i64::try_from(value) {
            Ok(small) => self.0.int(small),
            Err(_) if value > 0 => self.serialize_u128(value.unsigned_abs()),
            Err(_) => self.0.number(&value.to_string()),
        }
    }

    fn serialize_u8(self, value: u8) -> Done {
        self.0.uint(value.into())
    }

    fn serialize_u16(self, value: u16) -> Done {
        self.0.uint(value.into())
    }

    fn serialize_u32(self, value: u32) -> Done {
        self.0.uint(value.into())
    }

    fn serialize_u64(self, value: u64) -> Done {
        self.0.uint(value)
    }

    fn serialize_u128(self, value: u128) -> Done {
        match u64::try_from(value) {
            Ok(small) => self.0.uint(small),
            Err(_) => self.0.number(&value.to_string()),
        }
    }

    fn serialize_f32(self, value: f32) -> Done {
        self.0.float(value.into())
    }

    fn serialize_f64(self, value: f64) -> Done {
        self.0.float(value)
    }

    fn serialize_char(self, value: char) -> Done {
        self.0.text(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Done {
        self.0.text(text)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Done {
        self.0.bytes(bytes)
    }

    fn serialize_none(self) -> Done {
        self.0.null()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        self.0.null()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Done {
        self.0.null()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        self.0.text(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &str, value: &T) -> Done {
        if name != NUMBER {
            return value.serialize(self);
        }
        let start = self.0.position();
        value.serialize(Encoder(&mut *self.0))?;
        self.0.make_number(start)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Done {
        self.0.open_object()?;
        self.0.text(variant)?;
        value.serialize(Encoder(&mut *self.0)).map_err(|fault| fault.in_key(variant))?;
        self.0.close()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Nest<'a>, Fault> {
        self.0.open_array()?;
        Ok(Nest::new(self.0))
    }

    fn serialize_tuple(self, _: usize) -> Result<Nest<'a>, Fault> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Nest<'a>, Fault> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Nest<'a>, Fault> {
        self.0.open_object()?;
        self.0.text(variant)?;
        self.0.open_array()?;
        Ok(Nest::new(self.0))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Nest<'a>, Fault> {
        self.0.open_object()?;
        Ok(Nest::new(self.0))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Nest<'a>, Fault> {
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Nest<'a>, Fault> {
        self.0.open_object()?;
        self.0.text(variant)?;
        self.0.open_object()?;
        Ok(Nest::new(self.0))
    }
}

/// An open array or object.
pub(super) struct Nest<'a> {
    tokens: &'a mut Tokens,
    /// Index of the current element, for errors only.
    index: usize,
    /// Offset of the current key, for errors only.
    key: usize,
}

impl<'a> Nest<'a> {
    fn new(tokens: &'a mut Tokens) -> Self {
        Self { tokens, index: 0, key: 0 }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        value.serialize(Encoder(self.tokens)).map_err(|fault| fault.at_index(self.index))?;
        self.index += 1;
        Ok(())
    }

    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Done {
        self.tokens.text(key)?;
        value.serialize(Encoder(self.tokens)).map_err(|fault| fault.in_key(key))
    }
}

impl SerializeSeq for Nest<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.element(value)
    }

    fn end(self) -> Done {
        self.tokens.close()
    }
}

impl SerializeTuple for Nest<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.element(value)
    }

    fn end(self) -> Done {
        self.tokens.close()
    }
}

impl SerializeTupleStruct for Nest<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.element(value)
    }

    fn end(self) -> Done {
        self.tokens.close()
    }
}

impl SerializeTupleVariant for Nest<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.element(value)
    }

    fn end(self) -> Done {
        self.tokens.close()?;
        self.tokens.close()
    }
}

impl SerializeMap for Nest<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        self.key = self.tokens.position();
        key.serialize(Key(self.tokens))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        let result = value.serialize(Encoder(self.tokens));
        result.map_err(|fault| fault.in_key(self.tokens.text_at(self.key)))
    }

    fn end(self) -> Done {
        self.tokens.close()
    }
}

impl SerializeStruct for Nest<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Done {
        self.field(key, value)
    }

    fn end(self) -> Done {
        self.tokens.close()
    }
}

impl SerializeStructVariant for Nest<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Done {
        self.field(key, value)
    }

    fn end(self) -> Done {
        self.tokens.close()?;
        self.tokens.close()
    }
}
