//! The issue that is worked on: its text, its labels, and whether it is the right one.

use std::collections::BTreeSet;

use super::words::{listed, plain, quoted};
use super::{Advice, Case, Check, Report};
use crate::checkpoint::{Issue, Layout};
use crate::layouts::crunch::{LabelledPhase, is_same_phase, labelled_phase};
use crate::recovery::{Answer, IssueNow};

/// The phase of claude-crunch in which the issue is done.
const DONE: &str = "done";

pub(super) fn text_and_labels(case: &Case<'_>, report: &mut Report) {
    let snapshot = &case.standing.snapshot;
    if snapshot.body.is_none() && snapshot.labels.is_none() {
        return;
    }
    let unnamed = || Answer::Unknown("the checkpoint names no issue".to_owned());
    let now = case.issue().map_or_else(unnamed, |issue| case.world.issue(issue.as_str()));
    if let Some(saved) = &snapshot.body {
        text(case, saved, &now, report);
    }
    if let Some(saved) = &snapshot.labels {
        labels(case, saved, &now, report);
    }
}

fn text(case: &Case<'_>, saved: &str, now: &Answer<IssueNow>, report: &mut Report) {
    let subject = format!("the text of {}", name(case.issue()));
    let Some(now) = report.known(&subject, part(now, |issue| issue.body.as_deref())) else {
        return;
    };
    if comparable(saved) != comparable(now) {
        report.find(Check::Body, Advice::PromptUser, format!("{subject} changed"));
    }
}

fn labels(case: &Case<'_>, saved: &[String], now: &Answer<IssueNow>, report: &mut Report) {
    let subject = format!("the labels of {}", name(case.issue()));
    let now = part(now, |issue| issue.labels.as_deref());
    let Some(now) = report.known(&subject, now) else { return };
    let saved: BTreeSet<&String> = saved.iter().collect();
    let now: BTreeSet<&String> = now.iter().collect();
    let changes = [("added", &now - &saved), ("removed", &saved - &now)];
    let changes: Vec<String> = changes
        .into_iter()
        .filter(|(_, labels)| !labels.is_empty())
        .map(|(word, labels)| format!("{word} {}", listed(labels.iter().map(|it| quoted(it)))))
        .collect();
    if !changes.is_empty() {
        let changes = changes.join(", ");
        let mut advice = Advice::ProceedWithWarning;
        let then = match case.entry.layout {
            // Its labels are the state of the workflow.
            Layout::Crunch => {
                let labelled = labelled_phase(now.into_iter());
                // Finished work must not be repeated unasked.
                if matches!(&labelled, LabelledPhase::One(now) if is_same_phase(now, DONE)) {
                    advice = Advice::PromptUser;
                }
                phase(case, labelled, report)
            }
            Layout::Native
            | Layout::Agentize
            | Layout::Claude
            | Layout::Pipeline
            | Layout::Aiwg => String::new(),
        };
        let message = format!("{subject} changed: {changes}{then}");
        report.find(Check::Labels, advice, message);
    }
}

/// Follows the phase that the labels name, and reports it. Unclear labels change nothing.
fn phase(case: &Case<'_>, labelled: LabelledPhase, report: &mut Report) -> String {
    let saved = case.entry.phase.as_deref();
    let stays = saved.map_or_else(String::new, |it| format!(", so the phase stays {}", quoted(it)));
    match labelled {
        LabelledPhase::One(now) if saved.is_some_and(|saved| is_same_phase(saved, &now)) => {
            String::new()
        }
        LabelledPhase::One(now) => {
            let was = saved.map_or_else(String::new, |it| format!(" instead of {}", quoted(it)));
            let message = format!("; the phase is now {}{was}", quoted(&now));
            report.phase = Some(now);
            message
        }
        LabelledPhase::None => format!("; none of them names a phase{stays}"),
        LabelledPhase::Several(all) => {
            let all = listed(all.iter().map(|it| quoted(it)));
            format!("; they name several phases, {all}{stays}")
        }
    }
}

pub(super) fn wanted(case: &Case<'_>, report: &mut Report) {
    let Some(wanted) = case.world.wanted_issue() else { return };
    let asked = name(Some(&wanted));
    match case.issue() {
        None => report.skip(&asked, "the checkpoint names no issue"),
        Some(own) if *own == wanted => {}
        Some(own) => {
            let own = name(Some(own));
            let message = format!("the checkpoint is of {own}, and {asked} is asked for");
            report.find(Check::Issue, Advice::StartFresh, message);
        }
    }
}

fn name(issue: Option<&Issue>) -> String {
    issue.map_or("the issue".to_owned(), |issue| format!("issue {}", plain(issue.as_str())))
}

/// A part of an issue; the answer may lack it.
fn part<'a, T>(now: &'a Answer<IssueNow>, of: impl Fn(&'a IssueNow) -> Option<T>) -> Answer<T> {
    match now {
        Answer::Unknown(reason) => Answer::Unknown(reason.clone()),
        Answer::Known(issue) => of(issue).map_or_else(
            || Answer::Unknown("the data of the issue is incomplete".to_owned()),
            Answer::Known,
        ),
    }
}

/// Normalises line ends and trailing blanks, which GitHub changes when a text is edited.
fn comparable(text: &str) -> String {
    text.trim_end().replace("\r\n", "\n")
}
