//! Documents of other systems with other values here and there.

use serde_json::Value;

use crate::tape::Tape;

/// A value somewhere in a document.
fn somewhere<'v>(tape: &mut Tape<'_>, mut value: &'v mut Value) -> &'v mut Value {
    for _ in 0..tape.below(5) {
        let count = value.as_object().map(serde_json::Map::len).or(value.as_array().map(Vec::len));
        let Some(count) = count.filter(|count| *count > 0) else { return value };
        let at = tape.below(count);
        value = match value {
            Value::Object(fields) => fields.values_mut().nth(at).unwrap(),
            other => &mut other[at],
        };
    }
    value
}

/// One of these documents, with other values here and there.
pub(crate) fn state(tape: &mut Tape<'_>, documents: &[Value]) -> Value {
    let mut document = tape.pick(documents).clone();
    for _ in 0..tape.below(5) {
        let value = match tape.byte() % 8 {
            0 => Value::Null,
            1 => Value::from(tape.number()),
            2 => Value::from(tape.text().repeat(1 + tape.below(300))),
            3 => serde_json::from_str(&tape.json()).unwrap_or_default(),
            4 => somewhere(tape, &mut document).clone(),
            _ => Value::from(tape.text()),
        };
        *somewhere(tape, &mut document) = value;
    }
    document
}
