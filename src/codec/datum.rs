//! A value of a document, in a tree or in stored form, for code that looks at a few fields.
//!
//! A file that is imported is recognised and checked by a few of its fields. Making a tree for that
//! takes longer than parsing the text. So the tokens get an index instead: where each value starts,
//! and where the one after it does. Must never copy a text.

// Only imports and exports read documents in stored form.
#![cfg_attr(not(feature = "transfer"), allow(dead_code))]

use serde::de::DeserializeOwned;

use super::fault::Fault;
use super::token::{
    ARRAY, BYTES, END, FALSE, FLOAT, INT, NULL, NUMBER, OBJECT, TEXT, TRUE, Token, UINT,
};
use super::wire::{Malformed, Reader};
use super::{DEPTH_READ, decode};
use crate::checkpoint::Document;
use crate::error::Result;

/// The tokens of a document, and where each value starts.
#[derive(Debug)]
pub(crate) struct Tokened<'a> {
    raw: &'a [u8],
    nodes: Vec<Node>,
}

/// A value; that of a field starts with its key.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Where its tokens start.
    at: u32,
    /// The node after it and all that it contains.
    next: u32,
}

/// One value of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Datum<'a> {
    Tree(&'a Document),
    Stored(Stored<'a>),
}

/// A value in stored form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored<'a> {
    document: &'a Tokened<'a>,
    node: u32,
    is_field: bool,
}

/// What a value is; see [`Document`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Number(&'a str),
    Text(&'a str),
    Bytes,
    Array,
    Object,
}

impl<'a> Tokened<'a> {
    /// Indexes a document in stored form, which must not be followed by anything.
    pub(super) fn new(raw: &'a [u8]) -> Result<Self, Malformed> {
        let mut nodes: Vec<Node> = Vec::with_capacity(raw.len() / 16);
        let number = |index: usize| u32::try_from(index).map_err(|_| Malformed);
        let mut open = Vec::new();
        let mut reader = Reader::new(raw);
        loop {
            let at = number(raw.len() - reader.rest().len())?;
            match reader.take_byte()? {
                END => {
                    let (node, _): (usize, bool) = open.pop().ok_or(Malformed)?;
                    nodes[node].next = number(nodes.len())?;
                }
                first => {
                    let is_field = matches!(open.last(), Some((_, true)));
                    let tag = if is_field { value_tag(first, &mut reader)? } else { first };
                    nodes.push(Node { at, next: number(nodes.len() + 1)? });
                    match tag {
                        ARRAY | OBJECT => open.push((nodes.len() - 1, tag == OBJECT)),
                        _ => pass_over(tag, &mut reader)?,
                    }
                }
            }
            if open.is_empty() {
                let is_whole = reader.rest().is_empty();
                return if is_whole { Ok(Self { raw, nodes }) } else { Err(Malformed) };
            }
        }
    }

    /// The document itself.
    pub(crate) fn datum(&'a self) -> Datum<'a> {
        Datum::Stored(Stored { document: self, node: 0, is_field: false })
    }

    fn node(&self, index: u32) -> Option<Node> {
        self.nodes.get(usize::try_from(index).ok()?).copied()
    }
}

/// Passes over a key, and returns the tag of its value.
fn value_tag(tag: u8, reader: &mut Reader<'_>) -> Result<u8, Malformed> {
    if tag != TEXT {
        return Err(Malformed);
    }
    reader.take_text_bytes()?;
    reader.take_byte()
}

/// Passes over what follows the tag of a value that contains no others.
fn pass_over(tag: u8, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    match tag {
        NULL | FALSE | TRUE => Ok(()),
        UINT => reader.take::<u64>().map(drop),
        INT => reader.take::<i64>().map(drop),
        FLOAT => reader.take::<f64>().map(drop),
        NUMBER | TEXT | BYTES => reader.take_text_bytes().map(drop),
        _ => Err(Malformed),
    }
}

impl<'a> Stored<'a> {
    /// The key, empty for what is no field, and the tokens from the value on.
    fn parts(self) -> Result<(&'a [u8], Reader<'a>), Malformed> {
        let at = self.document.node(self.node).ok_or(Malformed)?.at;
        let rest = self.document.raw.get(at as usize..).ok_or(Malformed)?;
        let mut reader = Reader::new(rest);
        if !self.is_field {
            return Ok((&[], reader));
        }
        reader.take_byte()?;
        Ok((reader.take_text_bytes()?, reader))
    }

    fn token(self) -> Result<Token<'a>, Malformed> {
        Token::read(&mut self.parts()?.1)
    }

    /// The values in a list or an object, one after the other.
    fn children(self) -> Children<'a> {
        let is_field = matches!(self.token(), Ok(Token::Object));
        let end = self.document.node(self.node).map_or(0, |node| node.next);
        Children { document: self.document, node: self.node + 1, end, is_field }
    }

    fn get(self, key: &str) -> Option<Self> {
        // The last one counts if a key is there twice.
        let is_it = |it: &Self| it.parts().is_ok_and(|(name, _)| name == key.as_bytes());
        self.children().filter(|it| it.is_field && is_it(it)).last()
    }
}

#[derive(Debug)]
struct Children<'a> {
    document: &'a Tokened<'a>,
    node: u32,
    end: u32,
    is_field: bool,
}

impl<'a> Iterator for Children<'a> {
    type Item = Stored<'a>;

    fn next(&mut self) -> Option<Stored<'a>> {
        if self.node >= self.end {
            return None;
        }
        let Self { document, node, is_field, .. } = *self;
        self.node = document.node(node)?.next;
        Some(Stored { document, node, is_field })
    }
}

impl<'a> From<&'a Document> for Datum<'a> {
    fn from(document: &'a Document) -> Self {
        Self::Tree(document)
    }
}

impl<'a> Datum<'a> {
    /// A document without content.
    pub(crate) const NULL: Self = Self::Tree(&Document::Null);

    /// What it is.
    pub(crate) fn kind(self) -> Kind<'a> {
        let stored = match self {
            Self::Tree(document) => return kind_of(document),
            Self::Stored(stored) => stored,
        };
        match stored.token() {
            Ok(Token::Bool(value)) => Kind::Bool(value),
            Ok(Token::Uint(value)) => Kind::Uint(value),
            Ok(Token::Int(value)) => Kind::Int(value),
            Ok(Token::Float(value)) => Kind::Float(value),
            Ok(Token::Number(literal)) => Kind::Number(literal),
            Ok(Token::Text(text)) => Kind::Text(text),
            Ok(Token::Bytes(_)) => Kind::Bytes,
            Ok(Token::Array) => Kind::Array,
            Ok(Token::Object) => Kind::Object,
            Ok(Token::Null | Token::End) | Err(Malformed) => Kind::Null,
        }
    }

    /// The value of a key, if this is an object with it; as [`Document::get`].
    pub(crate) fn get(self, key: &str) -> Option<Self> {
        match self {
            Self::Tree(document) => document.get(key).map(Self::Tree),
            Self::Stored(stored) => stored.get(key).map(Self::Stored),
        }
    }

    /// The values in a list, or those of the fields of an object; none of anything else.
    pub(crate) fn children(self) -> impl Iterator<Item = Self> {
        let (items, fields, stored) = match self {
            Self::Tree(Document::Array(items)) => (&items[..], &[][..], None),
            Self::Tree(Document::Object(fields)) => (&[][..], &fields[..], None),
            Self::Tree(_) => (&[][..], &[][..], None),
            Self::Stored(stored) => (&[][..], &[][..], Some(stored.children())),
        };
        let fields = fields.iter().map(|(_, value)| value);
        let trees = items.iter().chain(fields).map(Self::Tree);
        trees.chain(stored.into_iter().flatten().map(Self::Stored))
    }

    /// The value as a tree.
    ///
    /// # Errors
    /// None that a text could cause.
    pub(crate) fn tree(self) -> Result<Document> {
        match self {
            Self::Tree(document) => Ok(document.clone()),
            Self::Stored(stored) => stored.read(None),
        }
    }
}

impl Stored<'_> {
    /// The value as another type. With `depth`, what is nested deeper counts as empty lists and
    /// objects; fails if that has a number or bytes that not every type takes.
    pub(crate) fn read<T: DeserializeOwned>(self, depth: Option<usize>) -> Result<T> {
        let read = || -> Result<T, Fault> {
            let (_, reader) = self.parts()?;
            let mut decoder = decode::Decoder::new(reader.rest(), DEPTH_READ);
            if let Some(depth) = depth {
                decoder = decoder.hollow_below(depth);
            }
            T::deserialize(&mut decoder)
        };
        read().map_err(|fault| fault.into_error("document"))
    }
}

fn kind_of(document: &Document) -> Kind<'_> {
    match document {
        Document::Null => Kind::Null,
        Document::Bool(value) => Kind::Bool(*value),
        Document::Int(value) => Kind::Int(*value),
        Document::Uint(value) => Kind::Uint(*value),
        Document::Float(value) => Kind::Float(*value),
        Document::Number(literal) => Kind::Number(literal),
        Document::Text(text) => Kind::Text(text),
        Document::Bytes(_) => Kind::Bytes,
        Document::Array(_) => Kind::Array,
        Document::Object(_) => Kind::Object,
    }
}
