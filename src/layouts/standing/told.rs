//! Reads fields about the work from a document, as owned values of bounded size.
//!
//! Must never fail: a field of a wrong type is ignored. Must never cut a value that is compared.

use super::{NamedFile, Progress};
use crate::checkpoint::{Document, Entry, Issue};
use crate::layouts::reading::{at, list, spelled, text, whole};
use crate::layouts::{Code, Problem};

/// More tasks or files than anyone reads; a document may have a million.
pub(in crate::layouts) const LIST_MAX: usize = 10_000;
/// For texts that people read: a terminal or prompt gains nothing from more.
const TEXT_BYTES_MAX: usize = 64 * 1024;
/// No system accepts longer names and paths.
const NAME_BYTES_MAX: usize = 4096;

/// Keys under which language models write the name of an element.
const NAMES: [&str; 7] = ["id", "item_id", "name", "title", "task", "content", "description"];
const MESSAGES: [&str; 6] = ["message", "error", "reason", "summary", "description", "type"];

/// The first of some fields with text, cut if too long.
pub(in crate::layouts) fn said(document: &Document, fields: &[&str]) -> Option<String> {
    fields.iter().find_map(|field| words(at(document, field)?))
}

/// The first of some fields that is a name or a path: all of it, for it is compared.
pub(in crate::layouts) fn name(document: &Document, fields: &[&str]) -> Option<String> {
    fields.iter().find_map(|field| name_of(at(document, field)?))
}

/// The first of some fields that is a text, in full and as it is: it is compared.
pub(in crate::layouts) fn verbatim(document: &Document, fields: &[&str]) -> Option<String> {
    fields.iter().find_map(|field| text(document, field)).map(str::to_owned)
}

/// The first of some fields that is a whole number from zero up.
pub(in crate::layouts) fn count(document: &Document, fields: &[&str]) -> Option<u64> {
    fields.iter().find_map(|field| whole(document, field).or_else(|| rounded(document, field)))
}

/// A count that some programs write with a decimal point.
fn rounded(document: &Document, field: &str) -> Option<u64> {
    let number = number(document, &[field])?;
    let is_whole = number >= 0.0 && number.fract() == 0.0;
    is_whole.then(|| format!("{number:.0}").parse().ok())?
}

/// The first of some fields that is a number.
pub(in crate::layouts) fn number(document: &Document, fields: &[&str]) -> Option<f64> {
    let numbers =
        fields.iter().filter_map(|field| spelled(at(document, field)?)?.trim().parse().ok());
    numbers.into_iter().find(|number: &f64| number.is_finite())
}

/// The first of some fields that is a time in whole seconds since 1970.
pub(in crate::layouts) fn seconds(document: &Document, fields: &[&str]) -> Option<i64> {
    fields.iter().find_map(|field| spelled(at(document, field)?)?.trim().parse().ok())
}

/// The sum of the fields that are whole numbers; `None` if none is.
pub(in crate::layouts) fn sum(counts: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    counts.into_iter().flatten().reduce(u64::saturating_add)
}

/// The names in the first of some fields that is a list.
pub(in crate::layouts) fn names(document: &Document, fields: &[&str]) -> Option<Vec<String>> {
    let items = first_list(document, fields)?;
    Some(items.iter().filter_map(named).take(LIST_MAX).collect())
}

/// The labels in the first of some fields that is a list. `None` for a long list: labels are
/// compared, and a part of them would say that others are gone.
pub(in crate::layouts) fn labels(document: &Document, fields: &[&str]) -> Option<Vec<String>> {
    let items = first_list(document, fields).filter(|items| items.len() <= LIST_MAX)?;
    // A tracker's own command prints objects whose `id` is a key of its database.
    let label = |item: &Document| said(item, &["name"]).or_else(|| named(item));
    Some(items.iter().filter_map(label).collect())
}

/// The first of some fields that is a list.
pub(in crate::layouts) fn first_list<'a>(
    document: &'a Document,
    fields: &[&str],
) -> Option<&'a [Document]> {
    fields.iter().find_map(|field| list(document, field))
}

/// The name of an element of a list.
pub(in crate::layouts) fn named(value: &Document) -> Option<String> {
    match value {
        Document::Object(_) => said(value, &NAMES),
        _ => words(value),
    }
}

/// The first of some fields that says what went wrong: a text, an object with one, or a list.
pub(in crate::layouts) fn message(document: &Document, fields: &[&str]) -> Option<String> {
    fields.iter().find_map(|field| match at(document, field)? {
        Document::Array(items) => {
            let all: Vec<String> = items.iter().filter_map(one_message).take(LIST_MAX).collect();
            Some(cut(&all.join("; "))).filter(|text| !text.is_empty())
        }
        value => one_message(value),
    })
}

/// The files in the first of some fields that is a list: paths, or objects that have one.
pub(in crate::layouts) fn files(document: &Document, fields: &[&str]) -> Vec<NamedFile> {
    let items = first_list(document, fields).unwrap_or_default();
    items.iter().filter_map(file).take(LIST_MAX).collect()
}

/// A file that an element of a list names.
pub(in crate::layouts) fn file(value: &Document) -> Option<NamedFile> {
    match value {
        Document::Object(_) => Some(NamedFile {
            path: name(value, &["path", "file"])?,
            hash: name(value, &["hash", "sha256"]),
            status: name(value, &["status"]),
        }),
        Document::Text(_) => Some(NamedFile { path: name_of(value)?, hash: None, status: None }),
        _ => None,
    }
}

/// The issue of the entry, else the first of some fields that names one.
pub(in crate::layouts) fn issue(
    entry: &Entry,
    document: &Document,
    fields: &[&str],
) -> Option<Issue> {
    entry.issue.clone().or_else(|| Issue::new(name(document, fields)?).ok())
}

/// The progress by lists of done and remaining items.
///
/// If both are empty there are no tasks yet, so there is no progress to report.
pub(in crate::layouts) fn progress(
    unit: &'static str,
    done: &[Document],
    remaining: Option<&[Document]>,
) -> Option<Progress> {
    let (done, left) = (done.len() as u64, remaining.map(|items| items.len() as u64));
    if done == 0 && left.is_none_or(|left| left == 0) {
        return None;
    }
    let next = remaining.and_then(|items| items.iter().find_map(named));
    Some(Progress { unit, done, total: left.map(|left| done + left), next })
}

/// The required fields that a document lacks.
///
/// A field inside a missing one is not reported.
pub(in crate::layouts) fn missing(document: &Document, fields: &[&str]) -> Vec<Problem> {
    let is_missing = |field: &str| at(document, field).is_none();
    let is_inside = |field: &str| {
        let outer = field.rsplit_once('.').map(|(outer, _)| outer);
        outer.is_some_and(|outer| fields.contains(&outer) && is_missing(outer))
    };
    let missing = fields.iter().filter(|field| is_missing(field) && !is_inside(field));
    missing.map(|field| required(field)).collect()
}

/// Says that a field is missing.
pub(in crate::layouts) fn required(field: &str) -> Problem {
    Problem::new(Code::Required, pointer(field), "is required to resume")
}

/// The problem of a version newer than the known ones. An unknown word is no newer version.
pub(in crate::layouts) fn newer(document: &Document, field: &str, newest: &str) -> Option<Problem> {
    let version = parts_of_version(&spelled(at(document, field)?)?);
    let rule = format!("is newer than {newest}, the newest known version");
    (version > parts_of_version(newest)).then(|| Problem::new(Code::Version, pointer(field), rule))
}

/// Cuts a text for people.
pub(in crate::layouts) fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_owned()
}

/// The numbers that a version starts with, without zeros at its end: `2` is `2.0`.
fn parts_of_version(version: &str) -> Vec<u64> {
    let version = version.trim().trim_start_matches(['v', 'V']);
    let mut parts = Vec::new();
    for part in version.split('.') {
        let end = part.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(part.len());
        if end == 0 {
            break;
        }
        // A number that does not fit is beyond all known versions.
        parts.push(part[..end].parse().unwrap_or(u64::MAX));
        if end < part.len() {
            break;
        }
    }
    let end = parts.iter().rposition(|part| *part != 0).map_or(0, |last| last + 1);
    parts.truncate(end);
    parts
}

fn words(value: &Document) -> Option<String> {
    let text = spelled(value)?;
    let text = text.trim();
    (!text.is_empty()).then(|| cut(text))
}

/// A value that is a name or a path, and not too long for one.
pub(in crate::layouts) fn name_of(value: &Document) -> Option<String> {
    let text = spelled(value)?;
    (!text.trim().is_empty() && text.len() <= NAME_BYTES_MAX).then(|| text.into_owned())
}

/// Words for a missing value: claude scripts write `null`, language models others.
const NONE: [&str; 10] =
    ["null", "none", "nil", "n/a", "no error", "no errors", "-", "0", "false", "ok"];

fn one_message(value: &Document) -> Option<String> {
    let text = match value {
        Document::Object(_) => said(value, &MESSAGES),
        Document::Uint(0) => None,
        _ => words(value),
    };
    text.filter(|text| {
        let word = text.trim().trim_end_matches('.').to_ascii_lowercase();
        !NONE.contains(&word.as_str())
    })
}

fn pointer(field: &str) -> String {
    format!("/{}", field.replace('.', "/"))
}
