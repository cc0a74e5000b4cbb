//! The rules of the five systems for their own documents, as one set for every command.
//!
//! Each layout's `validate` has its rules and works on typed values. This file makes a document fit
//! the types, so that one value of a wrong type does not hide other problems.
//!
//! A value of a wrong type is reported and treated as missing, and the document is converted again,
//! at most sixteen times. `locate` finds the lines of all problems in one pass over the text.
//! Nothing is stored: `resume`, `show` and `check` compute the problems, so a new rule also covers
//! checkpoints imported before.

use serde::de::DeserializeOwned;

use super::problem::Checker;
use super::read::settled;
use super::write::misfit;
use super::{Code, Level, Problem, agentize, aiwg, claude, crunch, locate, pipeline, unreadable};
use crate::checkpoint::{Checkpoint, Document, Layout};
use crate::codec::{Datum, Misfit, convert, fit};
use crate::error::Result;

/// Values of a wrong type that are reported; each costs another conversion of the document.
const MISFITS_MAX: usize = 16;

/// Returns the rules of its system that a document breaks, in no order.
///
/// `path` is that of its file, with `/` between its parts, or empty: some rules are about the
/// directory. Native documents break none, nor do files that their system does not specify, such as
/// the state of a loop. Grows with the size of the document.
///
/// ```
/// use waypost::layouts::{Code, check};
/// use waypost::{Document, Layout};
///
/// # fn main() -> waypost::Result<()> {
/// let json = br#"{"storyId": "PROJ-42", "stage": 2, "agentId": "a", "tasksCompleted": [],
///     "tasksRemaining": "none", "timestamp": "2026-02-14T14:30:00Z"}"#;
/// let problems = check(Layout::Pipeline, &Document::from_json(json)?, "");
/// let found: Vec<_> = problems.iter().map(|it| (it.code, it.field.as_str())).collect();
/// assert_eq!(found, [(Code::Type, "/tasksRemaining"), (Code::Required, "/lastAction")]);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn check(layout: Layout, document: &Document, path: &str) -> Vec<Problem> {
    check_datum(layout, document.into(), path)
}

/// As [`check`], also of a document that is no tree.
pub(crate) fn check_datum(layout: Layout, document: Datum<'_>, path: &str) -> Vec<Problem> {
    match layout {
        Layout::Native => Vec::new(),
        Layout::Agentize => agentize::check(document),
        Layout::Crunch => typed(document, &no_stand_in, crunch::IssueCheckpoint::validate),
        Layout::Claude => claude::check(document),
        Layout::Pipeline => pipeline::check(document, path),
        Layout::Aiwg => aiwg::check(document, path),
    }
}

/// Returns what [`check`] finds in a stored checkpoint, with lines of the file that it came from.
///
/// `document` is the checkpoint's own. A file that could not be read has that as its only problem.
///
/// # Errors
/// If the text of its file cannot be read.
pub fn problems(checkpoint: &Checkpoint, document: &Document) -> Result<Vec<Problem>> {
    if checkpoint.entry.is_unreadable() {
        return Ok(vec![unreadable::problem(&checkpoint.entry)]);
    }
    let path = checkpoint.entry.source_path.as_deref().unwrap_or_default();
    let mut found = check(checkpoint.entry.layout, document, path);
    if let Some(form) = checkpoint.entry.source.filter(|_| !found.is_empty())
        && let Some(text) = checkpoint.source_text()?
    {
        locate(&mut found, &form, &text);
    }
    Ok(found)
}

/// A placeholder for a field whose type requires a value.
pub(super) type StandIn = dyn Fn(&str) -> Option<Document>;

pub(super) fn no_stand_in(_: &str) -> Option<Document> {
    None
}

/// The problems of a document as one of the types of a layout.
///
/// A value that does not fit is reported, and from then on treated as missing.
pub(super) fn typed<T: DeserializeOwned>(
    document: Datum<'_>,
    stand_in: &StandIn,
    validate: impl Fn(&T) -> Vec<Problem>,
) -> Vec<Problem> {
    typed_to(document, None, stand_in, validate)
}

/// As [`typed`], for rules that say nothing of what is nested deeper than `depth` containers.
pub(super) fn typed_to<T: DeserializeOwned>(
    document: Datum<'_>,
    depth: Option<usize>,
    stand_in: &StandIn,
    validate: impl Fn(&T) -> Vec<Problem>,
) -> Vec<Problem> {
    // Most fit, and need no copy.
    let typed = match document {
        Datum::Tree(document) => convert(document, "document"),
        Datum::Stored(stored) => stored.read(depth),
    };
    if let Ok(typed) = typed {
        return validate(&typed);
    }
    let document = document.tree().unwrap_or(Document::Null);
    let mut fitted = Fitted::new(document);
    while fitted.problems.len() < MISFITS_MAX && fitted.replaced.len() < 4 * MISFITS_MAX {
        match fit(&fitted.document, "document") {
            Ok(typed) => return fitted.with(validate(&typed)),
            Err((error, why)) if fitted.replace((misfit(&error), why), stand_in) => {}
            Err(_) => return fitted.problems,
        }
    }
    let mut checker = Checker::default();
    checker.refuse(Code::More, "", "has more values of a wrong type than are listed");
    fitted.with(checker.finish())
}

/// A document with placeholders for the values that do not fit.
struct Fitted {
    document: Document,
    problems: Vec<Problem>,
    /// Pointers of replaced values: later problems about them say nothing new.
    replaced: Vec<String>,
}

impl Fitted {
    fn new(document: Document) -> Self {
        // The last value of a duplicate key counts, as in the systems' own readers.
        Self { document: settled(document), problems: Vec::new(), replaced: Vec::new() }
    }

    /// Notes a problem and replaces the value. Returns false if that is impossible.
    fn replace(&mut self, misfit: (Problem, Misfit), stand_in: &StandIn) -> bool {
        let mut problem = missing(misfit, stand_in);
        if !problem.field.starts_with('/') {
            problem.field.clear();
            self.problems.push(problem);
            return false;
        }
        let mut pointer = problem.field.clone();
        // An optional value counts as missing unless a rule says otherwise.
        if problem.code == Code::Type && stand_in(&pointer).is_none() {
            problem.level = Level::Warning;
        }
        if !self.replaced.iter().any(|it| is_inside(&pointer, it)) {
            self.problems.push(problem);
        }
        while !pointer.is_empty() {
            let times = self.replaced.iter().filter(|it| **it == pointer).count();
            let is_replaced = match times {
                0 => {
                    let value = stand_in(&pointer).unwrap_or(Document::Null);
                    set(&mut self.document, &pointer, Some(value))
                }
                1 => set(&mut self.document, &pointer, None),
                _ => false,
            };
            self.replaced.push(pointer.clone());
            if is_replaced {
                return true;
            }
            // No placeholder fits, so its list or object is replaced.
            pointer.truncate(pointer.rfind('/').unwrap_or_default());
        }
        false
    }

    /// The problems of values that did not fit, and of the others.
    ///
    /// A value of a wrong type is an error where one is required.
    fn with(mut self, others: Vec<Problem>) -> Vec<Problem> {
        let is_hidden =
            |problem: &Problem| self.replaced.iter().any(|it| is_inside(&problem.field, it));
        let (hidden, shown): (Vec<_>, Vec<_>) = others.into_iter().partition(is_hidden);
        for problem in self.problems.iter_mut().filter(|it| it.code == Code::Type) {
            let is_required =
                |it: &Problem| it.code == Code::Required && is_inside(&problem.field, &it.field);
            if hidden.iter().any(is_required) {
                problem.level = Level::Error;
            }
        }
        self.problems.extend(shown);
        self.problems
    }
}

/// True if `field` is `outer` or inside it.
fn is_inside(field: &str, outer: &str) -> bool {
    field.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Turns the type error about a missing field into a problem of that field.
fn missing((problem, why): (Problem, Misfit), stand_in: &StandIn) -> Problem {
    match why {
        // Readers treat null as missing.
        Misfit::Null if stand_in(&problem.field).is_some() => Problem::required(&problem.field),
        Misfit::Missing(name) => {
            let outer = problem.field.strip_prefix('/').map_or("", |_| problem.field.as_str());
            Problem::required(&format!("{outer}/{name}"))
        }
        Misfit::Null | Misfit::Other => problem,
    }
}

/// Puts a value at a JSON pointer, or takes the field away; false if that cannot be done.
fn set(document: &mut Document, pointer: &str, value: Option<Document>) -> bool {
    let Some((outer, key)) = pointer.rsplit_once('/') else { return false };
    let mut keys = outer.split('/').skip(1).map(unescaped);
    let Some(place) = keys.try_fold(document, |place, key| inner(place, &key)) else {
        return false;
    };
    let key = unescaped(key);
    match (place, value) {
        (Document::Object(fields), None) => fields.retain(|(name, _)| *name != key),
        (Document::Object(fields), Some(value)) => {
            fields.retain(|(name, _)| *name != key);
            fields.push((key, value));
        }
        (place @ Document::Array(_), Some(value)) => match inner(place, &key) {
            Some(place) => *place = value,
            None => return false,
        },
        _ => return false,
    }
    true
}

fn inner<'a>(place: &'a mut Document, key: &str) -> Option<&'a mut Document> {
    match place {
        Document::Array(items) => items.get_mut(key.parse::<usize>().ok()?),
        Document::Object(fields) => {
            fields.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
        }
        _ => None,
    }
}

fn unescaped(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}
