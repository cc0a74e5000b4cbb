//! Places of a document that may have been meant by a pointer that leads nowhere.

use std::collections::VecDeque;

use crate::checkpoint::Document;
use crate::diff::Pointer;

const NEARBY_MAX: usize = 5;
// A document may have millions of places; the one that was meant is rarely deep.
const PLACES_MAX: usize = 10_000;
// Shorter names are part of too many others.
const PART_CHARS_MIN: usize = 3;

/// Returns a few places of a document that a pointer may have meant: those with the same last step
/// first, then similar ones, in each group the least deep first.
///
/// Looks at the first 10,000 places.
///
/// ```
/// # fn main() -> waypost::Result<()> {
/// let document = waypost::Document::from_json(br#"{"state": {"score": 71}}"#)?;
/// assert_eq!(waypost::history::nearby(&document, &"/score".parse()?), ["/state/score"]);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn nearby(document: &Document, wanted: &Pointer) -> Vec<String> {
    let wanted = last_step(wanted.as_str());
    let mut found: Vec<(bool, String)> = Vec::new();
    let mut left = VecDeque::from([(String::new(), document)]);
    for _ in 0..PLACES_MAX {
        let Some((place, value)) = left.pop_front() else { break };
        let name = last_step(&place);
        let is_same = name == wanted;
        if is_same || is_part(&name, &wanted) || is_part(&wanted, &name) {
            found.push((!is_same, place.clone()));
        }
        match value {
            Document::Object(fields) => left.extend(fields.iter().map(|(key, value)| {
                (format!("{place}/{}", key.replace('~', "~0").replace('/', "~1")), value)
            })),
            // The elements of a list are alike.
            Document::Array(elements) => {
                left.extend(elements.first().map(|first| (format!("{place}/0"), first)));
            }
            _ => {}
        }
    }
    found.sort_by_key(|(is_other, _)| *is_other);
    found.into_iter().map(|(_, place)| place).take(NEARBY_MAX).collect()
}

fn is_part(part: &str, whole: &str) -> bool {
    part.chars().count() >= PART_CHARS_MIN && whole.contains(part)
}

fn last_step(pointer: &str) -> String {
    pointer.rsplit('/').next().unwrap_or_default().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(wanted: &str) -> Vec<String> {
        let json = r#"{"state": {"last_score": 1, "x/y": {"Score": 2}}, "runs": [{"score": 3}]}"#;
        nearby(&Document::from_json(json.as_bytes()).unwrap(), &wanted.parse().unwrap())
    }

    #[test]
    fn the_same_name_elsewhere_comes_before_names_like_it() {
        assert_eq!(
            near("/last_score"),
            ["/state/last_score", "/state/x~1y/Score", "/runs/0/score"]
        );
        assert_eq!(near("/score"), ["/state/x~1y/Score", "/runs/0/score", "/state/last_score"]);
        assert_eq!(near("/a/b"), [""; 0]);
    }
}
