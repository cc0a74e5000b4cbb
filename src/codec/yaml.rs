//! YAML text into a document.

use super::token::Bounds;
use crate::checkpoint::Document;
use crate::yaml::{self, Node, Value};

// A node takes some hundred bytes once it is read.
const NODES_MAX: usize = 1 << 20;

/// Reads one YAML text, or says where and why not.
pub(super) fn read(text: &[u8], bounds: Bounds) -> Result<Document, String> {
    let bounds = yaml::Bounds { bytes: bounds.bytes, depth: bounds.depth, nodes: NODES_MAX };
    document(yaml::read(text, bounds).map_err(|fault| fault.to_string())?)
}

/// Recursion is bounded by the depth of what was read.
fn document(node: Node) -> Result<Document, String> {
    Ok(match node.value {
        Value::Null => Document::Null,
        Value::Bool(value) => Document::Bool(value),
        Value::Int(value) => Document::Int(value),
        Value::Uint(value) => Document::Uint(value),
        Value::BigInt(digits) => Document::Number(digits),
        Value::Float { value, .. } => Document::Float(value),
        Value::Text(text) => Document::Text(text),
        Value::Sequence(items) => {
            Document::Array(items.into_iter().map(document).collect::<Result<_, _>>()?)
        }
        Value::Mapping(pairs) => {
            let field = |(key, value)| Ok((key_text(key)?, document(value)?));
            Document::Object(pairs.into_iter().map(field).collect::<Result<_, String>>()?)
        }
    })
}

/// Issue numbers and batches are keys, too.
fn key_text(key: Node) -> Result<String, String> {
    match key.value {
        Value::Text(text) | Value::BigInt(text) | Value::Float { text, .. } => Ok(text),
        Value::Int(number) => Ok(number.to_string()),
        Value::Uint(number) => Ok(number.to_string()),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Null | Value::Sequence(_) | Value::Mapping(_) => {
            Err(format!("{}: a key that is not text", key.place))
        }
    }
}
