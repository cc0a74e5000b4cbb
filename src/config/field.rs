//! Values of a file with their key, path and line, so that every error can name them.

use std::fmt::{self, Display};

use crate::error::{Error, Result};
use crate::retention::Age;
use crate::spelling::nearest;
use crate::yaml::{Node, Value};

/// Texts longer than this are not quoted: a reason is one line.
const SHOWN_CHARS_MAX: usize = 40;

/// A value, and how errors name it.
#[derive(Debug, Clone)]
pub(super) struct Field<'a> {
    name: &'a str,
    path: String,
    line: usize,
    node: &'a Node,
}

/// A mapping whose keys are text, each of which stands there once.
#[derive(Debug, Default)]
pub(super) struct Section<'a> {
    fields: Vec<Field<'a>>,
}

impl<'a> Field<'a> {
    pub(super) fn root(node: &'a Node) -> Self {
        Self { name: "", path: String::new(), line: node.place.line, node }
    }

    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn line(&self) -> usize {
        self.line
    }

    pub(super) fn value(&self) -> &'a Value {
        &self.node.value
    }

    /// An error about this key.
    pub(super) fn refused(&self, reason: impl Display) -> Error {
        // The root has no key; what is wrong with it is wrong with the file.
        let what = if self.path.is_empty() { "config" } else { &self.path };
        Error::invalid(what, format_args!("line {}: {reason}", self.line))
    }

    /// An error about its value.
    pub(super) fn wrong(&self, right: impl Display) -> Error {
        self.refused(format_args!("should be {right}, not {}", Shown(self.value())))
    }

    /// The keys below it. If all of them are commented out, YAML has null in their place.
    pub(super) fn section(&self) -> Result<Section<'a>> {
        let mut fields: Vec<Self> = Vec::new();
        let pairs = match self.value() {
            Value::Null => [].as_slice(),
            Value::Mapping(pairs) => pairs.as_slice(),
            _ => return Err(self.wrong("keys with values")),
        };
        for (key, value) in pairs {
            let field = self.below(key, value)?;
            if let Some(first) = fields.iter().find(|other| other.name == field.name) {
                let reason = format_args!("occurs twice, first in line {}", first.line);
                return Err(field.refused(reason));
            }
            fields.push(field);
        }
        Ok(Section { fields })
    }

    /// Its items, if it is a list.
    pub(super) fn items(&self) -> Option<Vec<Self>> {
        let Value::Sequence(items) = self.value() else { return None };
        let item = |(at, node): (usize, &'a Node)| Self {
            path: format!("{}[{at}]", self.path),
            line: node.place.line,
            node,
            ..*self
        };
        Some(items.iter().enumerate().map(item).collect())
    }

    /// Its items, or itself if it is not a list.
    pub(super) fn one_or_more(&self) -> Result<Vec<Self>> {
        match self.items() {
            None => Ok(vec![self.clone()]),
            Some(items) if items.is_empty() => Err(self.refused("should not be empty")),
            Some(items) => Ok(items),
        }
    }

    pub(super) fn bool(&self) -> Result<bool> {
        match self.value() {
            Value::Bool(value) => Ok(*value),
            _ => Err(self.wrong("true or false")),
        }
    }

    pub(super) fn text(&self) -> Result<String> {
        match self.value() {
            Value::Text(text) if !text.is_empty() => Ok(text.clone()),
            _ => Err(self.wrong("text")),
        }
    }

    pub(super) fn age(&self) -> Result<Age> {
        let age = match self.value() {
            Value::Text(text) => text.parse().ok(),
            _ => None,
        };
        age.ok_or_else(|| self.wrong("like 45s, 90m, 12h, 30d or 2w"))
    }

    pub(super) fn one_of<T: Copy>(&self, known: &[(&str, T)]) -> Result<T> {
        let found = match self.value() {
            Value::Text(text) => known.iter().find(|(name, _)| name == text),
            _ => None,
        };
        let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        found.map(|(_, value)| *value).ok_or_else(|| self.wrong(format_args!("one of {}", names())))
    }

    fn below(&self, key: &'a Node, value: &'a Node) -> Result<Self> {
        let line = key.place.line;
        let Value::Text(name) = &key.value else {
            let shown = Shown(&key.value);
            let reason = format_args!("the key {shown} should be text; put it in quotes");
            return Err(Self { line, ..self.clone() }.refused(reason));
        };
        let shown = shortened(name);
        let path = match self.path.as_str() {
            "" => shown,
            path => format!("{path}.{shown}"),
        };
        Ok(Self { name, path, line, node: value })
    }
}

impl<'a> Section<'a> {
    pub(super) fn fields(&self) -> &[Field<'a>] {
        &self.fields
    }

    pub(super) fn get(&self, name: &str) -> Option<&Field<'a>> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The value below one of its keys; nothing if the key is not there.
    pub(super) fn section(&self, name: &str) -> Result<Self> {
        self.get(name).map_or_else(|| Ok(Self::default()), Field::section)
    }

    /// The value of one of its keys, read by `read`.
    pub(super) fn value<T>(
        &self,
        name: &str,
        read: impl Fn(&Field<'a>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.get(name).map(read).transpose()
    }

    /// Refuses keys that mean nothing here.
    pub(super) fn check_keys(&self, known: &[&str]) -> Result<()> {
        let Some(field) = self.fields.iter().find(|field| !known.contains(&field.name)) else {
            return Ok(());
        };
        let hint = match nearest(field.name, known) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("known are {}", known.join(", ")),
        };
        Err(field.refused(format_args!("is not known here; {hint}")))
    }
}

/// A value in a few words.
struct Shown<'a>(&'a Value);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("nothing"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Uint(value) => write!(f, "{value}"),
            Value::BigInt(text) | Value::Float { text, .. } if is_short(text) => f.write_str(text),
            Value::BigInt(_) | Value::Float { .. } => f.write_str("a long number"),
            Value::Text(text) if is_short(text) => write!(f, "{text:?}"),
            Value::Text(_) => f.write_str("a long text"),
            Value::Sequence(_) => f.write_str("a list"),
            Value::Mapping(_) => f.write_str("keys with values"),
        }
    }
}

fn is_short(text: &str) -> bool {
    text.chars().nth(SHOWN_CHARS_MAX).is_none()
}

/// A key as it can be shown: it may be as long as the file, or move the cursor of a terminal.
fn shortened(name: &str) -> String {
    const CHARS_MAX: usize = 64;
    let mut shown: String = name.chars().take(CHARS_MAX).flat_map(char::escape_debug).collect();
    if name.chars().nth(CHARS_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}
