//! RFC 6902, read as plainly as it is written: what the patches of this module are judged by.

use crate::checkpoint::Document;
use crate::diff::number::Exact;
use crate::diff::patch::PatchOperation;

/// Checks that operations make one document of another.
pub(super) fn check(old: &Document, new: &Document, operations: &[PatchOperation<'_>]) {
    let mut document = plain(old);
    for operation in operations {
        apply(&mut document, operation);
    }
    assert!(is_equal(&document, &plain(new)), "{operations:?}\n{document:?}\n{new:?}");
}

fn apply(document: &mut Document, operation: &PatchOperation<'_>) {
    match operation {
        PatchOperation::Add { path, value } => add(document, path.as_str(), plain(value)),
        PatchOperation::Remove { path } => {
            remove(document, path.as_str());
        }
        PatchOperation::Replace { path, value } if path.as_str().is_empty() => {
            *document = plain(value);
        }
        PatchOperation::Replace { path, value } => {
            remove(document, path.as_str());
            add(document, path.as_str(), plain(value));
        }
        PatchOperation::Move { from, path } => {
            let value = remove(document, from.as_str());
            add(document, path.as_str(), value);
        }
    }
}

fn add(document: &mut Document, path: &str, value: Document) {
    let (parent, last) = parent(document, path);
    match parent {
        Document::Array(items) => items.insert(last.parse().unwrap(), value),
        Document::Object(fields) => {
            fields.retain(|(key, _)| *key != last);
            fields.push((last, value));
        }
        other => panic!("{path} leads into {other:?}"),
    }
}

fn remove(document: &mut Document, path: &str) -> Document {
    let (parent, last) = parent(document, path);
    match parent {
        Document::Array(items) => items.remove(last.parse().unwrap()),
        Document::Object(fields) => {
            let at = fields.iter().position(|(key, _)| *key == last).expect("it is there");
            fields.remove(at).1
        }
        other => panic!("{path} leads into {other:?}"),
    }
}

/// What a path leads into, and the last step of it.
fn parent<'d>(mut document: &'d mut Document, path: &str) -> (&'d mut Document, String) {
    let mut steps = path.split('/').map(|step| step.replace("~1", "/").replace("~0", "~"));
    assert_eq!(steps.next().as_deref(), Some(""), "{path} starts with a slash");
    let mut steps: Vec<String> = steps.collect();
    let last = steps.pop().expect("a path into a document");
    for step in steps {
        document = match document {
            Document::Array(items) => &mut items[step.parse::<usize>().unwrap()],
            Document::Object(fields) => {
                &mut fields.iter_mut().find(|(key, _)| *key == step).expect("it is there").1
            }
            other => panic!("{path} leads through {other:?}"),
        };
    }
    (document, last)
}

/// Each key once, the last one.
fn plain(document: &Document) -> Document {
    match document {
        Document::Array(items) => Document::Array(items.iter().map(plain).collect()),
        Document::Object(fields) => {
            let mut plain_fields: Vec<(String, Document)> = Vec::new();
            for (key, value) in fields {
                plain_fields.retain(|(other, _)| other != key);
                plain_fields.push((key.clone(), plain(value)));
            }
            Document::Object(plain_fields)
        }
        scalar => scalar.clone(),
    }
}

fn is_equal(one: &Document, other: &Document) -> bool {
    match (one, other) {
        (Document::Array(one), Document::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_equal(one, other))
        }
        (Document::Object(fields), Document::Object(others)) => {
            let has = |(key, value): &(String, Document)| {
                other.get(key).is_some_and(|other| is_equal(value, other))
            };
            fields.len() == others.len() && fields.iter().all(has)
        }
        (one, other) => {
            one == other || Exact::of(one).is_some_and(|it| Some(it) == Exact::of(other))
        }
    }
}
