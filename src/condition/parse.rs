//! Parses conditions by recursive descent of bounded depth.

use super::token::{Kind, Token, Tokens, wrong};
use super::value::Value;
use super::{Asks, Node, Test};
use crate::error::{Error, Result};

// Far more than anybody types, and little enough to be checked on every document.
const BYTES_MAX: usize = 4096;
// Each level takes a few frames of the stack.
const DEPTH_MAX: usize = 64;

const DOUBLE_QUOTES: &str = "expected double quotes";

pub(super) fn parse(text: &str) -> Result<Node> {
    if text.len() > BYTES_MAX {
        let what = "length in bytes of a condition".to_owned();
        return Err(Error::Limit { what, limit: BYTES_MAX as u64 });
    }
    let mut parser = Parser { tokens: Tokens::of(text), depth: 0 };
    let node = parser.any()?;
    match parser.tokens.next()? {
        Token { kind: Kind::End, .. } => Ok(node),
        Token { kind, column } => Err(instead(&kind, column).unwrap_or_else(|| match kind {
            Kind::Word(_) => wrong(
                "expected `and`, `or`, the end, or double quotes around several words",
                column,
            ),
            _ => wrong("expected `and`, `or` or the end", column),
        })),
    }
}

struct Parser<'t> {
    tokens: Tokens<'t>,
    depth: usize,
}

impl Parser<'_> {
    fn any(&mut self) -> Result<Node> {
        let mut nodes = vec![self.all()?];
        while self.takes("or")? {
            nodes.push(self.all()?);
        }
        Ok(single(nodes, Node::Any))
    }

    fn all(&mut self) -> Result<Node> {
        let mut nodes = vec![self.one()?];
        while self.takes("and")? {
            nodes.push(self.one()?);
        }
        Ok(single(nodes, Node::All))
    }

    fn one(&mut self) -> Result<Node> {
        let expected = |pointer: &str, column| {
            wrong(&format!("expected a pointer such as {pointer}, `not` or `(`"), column)
        };
        let Token { column, kind } = self.tokens.next()?;
        match kind {
            Kind::Open => self.deeper(column, |parser| {
                let node = parser.any()?;
                match parser.tokens.next()? {
                    Token { kind: Kind::Close, .. } => Ok(node),
                    Token { column, .. } => Err(wrong("expected `and`, `or` or `)`", column)),
                }
            }),
            Kind::Pointer(pointer) | Kind::Quoted(pointer) => self.test(&pointer, column),
            Kind::Word(word) if word == "not" => {
                self.deeper(column, |parser| Ok(Node::Not(Box::new(parser.one()?))))
            }
            Kind::Word(ref word) => {
                Err(instead(&kind, column).unwrap_or_else(|| expected(&as_pointer(word), column)))
            }
            Kind::Relation(_) | Kind::Close | Kind::End => Err(expected("/score", column)),
        }
    }

    fn test(&mut self, pointer: &str, column: usize) -> Result<Node> {
        const EXPECTED: &str = "expected one of < <= > >= == != ~ exists absent";
        let equals = pointer.chars().position(|it| it == '=').map(|at| column + at);
        let pointer = pointer.parse().map_err(|_| {
            wrong("expected a pointer such as /score, with ~0 for ~ and ~1 for /,", column)
        })?;
        let Token { column, kind } = self.tokens.next()?;
        let asks = match kind {
            Kind::Relation(relation) => Asks::Has(relation, self.value()?),
            Kind::Word(word) if word == "exists" => Asks::Exists,
            Kind::Word(word) if word == "absent" => Asks::Absent,
            Kind::Word(word) if word.starts_with('=') => {
                return Err(wrong("expected == and not =", column));
            }
            // As in /a=1, where the sign is part of the pointer.
            _ => {
                let missing = || wrong(EXPECTED, column);
                return Err(equals.map_or_else(missing, |at| wrong("expected == and not =", at)));
            }
        };
        Ok(Node::Test(Test { pointer, asks }))
    }

    fn value(&mut self) -> Result<Value> {
        let Token { column, kind } = self.tokens.next_value()?;
        match kind {
            Kind::Quoted(text) => Ok(Value::text(text)),
            Kind::Word(word) if word.starts_with('\'') => {
                Err(wrong(&format!("{DOUBLE_QUOTES} and not {word}"), column))
            }
            Kind::Word(word) => Ok(Value::word(&word)),
            _ => Err(wrong("expected a number, a word or a text in double quotes", column)),
        }
    }

    /// Takes a joining word, if it is the next one.
    fn takes(&mut self, word: &str) -> Result<bool> {
        let before = self.tokens.clone();
        let is_next = self.tokens.next()?.kind.is_word(word);
        if !is_next {
            self.tokens = before;
        }
        Ok(is_next)
    }

    fn deeper(
        &mut self,
        column: usize,
        work: impl FnOnce(&mut Self) -> Result<Node>,
    ) -> Result<Node> {
        if self.depth == DEPTH_MAX {
            return Err(wrong("`not` and parentheses are nested too deep", column));
        }
        self.depth += 1;
        let node = work(self)?;
        self.depth -= 1;
        Ok(node)
    }
}

/// Operators of other languages, and their replacement.
fn instead(kind: &Kind, column: usize) -> Option<Error> {
    let Kind::Word(word) = kind else { return None };
    let reason = match word.to_ascii_lowercase().as_str() {
        "&&" | "&" | "and" => "expected `and`",
        "||" | "|" | "or" => "expected `or`",
        "not" | "!" => "expected `not`",
        word if word.starts_with('!') => "expected `not`",
        word if word.starts_with('\'') => DOUBLE_QUOTES,
        _ => return None,
    };
    Some(wrong(&format!("{reason} and not {word}"), column))
}

/// The pointer that a name such as `state.score` most likely means.
fn as_pointer(word: &str) -> String {
    let is_end = |it: char| "<>=!~".contains(it);
    let name = &word[..word.find(is_end).unwrap_or(word.len())];
    let name = name.trim_start_matches(['.', '$']).replace('.', "/");
    if name.is_empty() { "/score".to_owned() } else { format!("/{name}") }
}

/// A single node stays as it is.
fn single(mut nodes: Vec<Node>, join: impl FnOnce(Vec<Node>) -> Node) -> Node {
    match nodes.pop() {
        Some(node) if nodes.is_empty() => node,
        last => {
            nodes.extend(last);
            join(nodes)
        }
    }
}
