//! Whether and where work can go on, in the form that the resume algorithm reads.
//!
//! - `can_resume`: `can_resume`; the same, also at the top; true if it is known where.
//! - `resume_from`: `resume_from`; the same, also at the top. Required if work can go on.
//! - `prerequisites_met`: the same, also at the top; false if the document names some that are not
//!   met; else true if work can go on.
//! - `unmet_prerequisites`: those, by name.
//! - `warnings`: `warnings`; the same, also at the top.

use crate::checkpoint::Document;
use crate::layouts::given::{Given, completed, text};
use crate::layouts::reading::truth;
use crate::layouts::standing::unmet::unmet;

pub(super) fn recovery(given: &mut Given<'_>) -> Document {
    let (entry, document) = (given.entry, given.document);
    let resume_from = ["/recovery_info/resume_from", "/resume_from"];
    let resume_from = given.said("resume_from", entry.resume_from.as_deref(), &resume_from);
    let can_resume = entry.can_resume.or_else(|| flag(document, "can_resume"));
    let can_resume = can_resume.or(resume_from.is_some().then_some(true));
    match (can_resume, &resume_from) {
        (None, _) => given.miss("can_resume", "whether work can go on from here"),
        (Some(true), None) => given.miss("resume_from", "where work can go on"),
        (Some(_), _) => {}
    }
    let unmet = unmet(document, "recovery_info").or_else(|| unmet(document, ""));
    let is_met = match (&unmet, flag(document, "prerequisites_met")) {
        (Some(_), _) => Some(false),
        (None, said) => said.or(can_resume.filter(|can_resume| *can_resume)),
    };
    let names = |names: Vec<String>| {
        Document::Array(names.into_iter().map(Document::Text).collect::<Vec<_>>())
    };
    let fields = [
        ("can_resume", can_resume.map(Document::Bool)),
        ("resume_from", text(resume_from.map(|said| said.text))),
        ("prerequisites_met", is_met.map(Document::Bool)),
        ("unmet_prerequisites", unmet.filter(|names| !names.is_empty()).map(names)),
        ("warnings", Some(names(warnings(given)))),
    ];
    completed(fields, given.object_at(&["/recovery_info"]))
}

fn flag(document: &Document, field: &str) -> Option<bool> {
    truth(document, &format!("recovery_info.{field}")).or_else(|| truth(document, field))
}

fn warnings(given: &mut Given<'_>) -> Vec<String> {
    if !given.entry.warnings.is_empty() {
        return given.entry.warnings.clone();
    }
    given.names(&["recovery_info.warnings", "warnings"]).unwrap_or_default()
}
