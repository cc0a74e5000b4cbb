//! The words of a condition, with their columns.

use super::Relation;
use crate::error::{Error, Result};

/// A word, and the column where it starts, from one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) column: usize,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Open,
    Close,
    Relation(Relation),
    /// What starts with a slash, as far as a pointer can go.
    Pointer(String),
    /// A text in double quotes, without them.
    Quoted(String),
    Word(String),
    End,
}

impl Kind {
    pub(super) fn is_word(&self, wanted: &str) -> bool {
        matches!(self, Self::Word(word) if word == wanted)
    }
}

/// The error, and its column.
pub(super) fn wrong(reason: &str, column: usize) -> Error {
    Error::invalid("condition", format_args!("{reason} at column {column}"))
}

/// A partly parsed condition.
#[derive(Debug, Clone)]
pub(super) struct Tokens<'t> {
    rest: &'t str,
    column: usize,
}

impl<'t> Tokens<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { rest: text, column: 1 }
    }

    /// The next token where a pointer, an operator or a joining word may stand.
    pub(super) fn next(&mut self) -> Result<Token> {
        self.skip_space();
        let column = self.column;
        let kind = match self.rest.chars().next() {
            None => Kind::End,
            Some('(') => self.taken(1, Kind::Open),
            Some(')') => self.taken(1, Kind::Close),
            Some('"') => self.quoted()?,
            Some('/') => {
                let mut places = self.rest.char_indices().map(|(at, _)| at);
                let end = places.find(|at| is_pointer_end(&self.rest[*at..]));
                Kind::Pointer(self.take(end.unwrap_or(self.rest.len())).to_owned())
            }
            Some(_) => match relation(self.rest) {
                Some((relation, length)) => self.taken(length, Kind::Relation(relation)),
                None => self.word(),
            },
        };
        Ok(Token { column, kind })
    }

    /// The next token where a value stands: a value may contain characters that are operators
    /// elsewhere.
    pub(super) fn next_value(&mut self) -> Result<Token> {
        self.skip_space();
        if self.rest.starts_with(['"', '(', ')']) || self.rest.is_empty() {
            return self.next();
        }
        let column = self.column;
        Ok(Token { column, kind: self.word() })
    }

    fn word(&mut self) -> Kind {
        let end = self.rest.find(is_word_end).unwrap_or(self.rest.len());
        Kind::Word(self.take(end).to_owned())
    }

    fn quoted(&mut self) -> Result<Kind> {
        let column = self.column;
        let mut is_escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, it)| {
            let is_end = *it == '"' && !is_escaped;
            is_escaped = *it == '\\' && !is_escaped;
            is_end
        });
        let Some((end, _)) = end else {
            return Err(wrong("expected the end of the text in quotes that starts", column));
        };
        let text = serde_json::from_str(self.take(end + 1))
            .map_err(|_| wrong("expected a text as in JSON", column))?;
        Ok(Kind::Quoted(text))
    }

    fn taken(&mut self, length: usize, kind: Kind) -> Kind {
        self.take(length);
        kind
    }

    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(length);
        self.column += taken.chars().count();
        self.rest = rest;
        taken
    }

    fn skip_space(&mut self) {
        let rest = self.rest.trim_start();
        self.take(self.rest.len() - rest.len());
    }
}

/// The operator that a text starts with, and its length.
fn relation(text: &str) -> Option<(Relation, usize)> {
    let relations = [
        ("<=", Relation::AtMost),
        (">=", Relation::AtLeast),
        ("==", Relation::Equal),
        ("!=", Relation::Unequal),
        ("<", Relation::Less),
        (">", Relation::Greater),
        ("~", Relation::Contains),
    ];
    let found = relations.into_iter().find(|(spelled, _)| text.starts_with(spelled));
    found.map(|(spelled, relation)| (relation, spelled.len()))
}

/// Whether a pointer ends before this: a tilde is part of it if it is an escape.
fn is_pointer_end(rest: &str) -> bool {
    let is_escape = rest.starts_with("~0") || rest.starts_with("~1");
    rest.starts_with(is_word_end) || (relation(rest).is_some() && !is_escape)
}

fn is_word_end(character: char) -> bool {
    character.is_whitespace() || matches!(character, '(' | ')')
}
