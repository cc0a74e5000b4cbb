//! Whether the state of the pipeline still allows the story to go on.

use super::words::{listed, plain, quoted};
use super::{Advice, Case, Check, Report};
use crate::checkpoint::Status;
use crate::layouts::pipeline::ExceededRetry;
use crate::layouts::status;

pub(super) fn story(case: &Case<'_>, report: &mut Report) {
    if let Some(assignment) = &case.standing.assignment {
        if let Some(damage) = &assignment.damage {
            let reason = format!("the state of the pipeline cannot be read: {}", plain(damage));
            // The unreadable content may have counted the last allowed retry.
            if assignment.state.is_some() {
                report.find(Check::Story, Advice::PromptUser, reason);
            } else {
                report.skip("the retries of the story", &reason);
            }
        }
        // Language models write it, and not always as the protocol spells it.
        let says = match assignment.story_state.as_deref().map(status) {
            Some(Status::Completed) => Some("its pipeline says that the story is done"),
            Some(Status::Paused) => {
                Some("its pipeline says that the story is paused, for a person")
            }
            _ if assignment.is_complete => Some("its pipeline says that it is complete"),
            _ => None,
        };
        if let Some(says) = says {
            report.find(Check::Story, Advice::PromptUser, says.to_owned());
        }
    }
    retries(&case.standing.retries_exceeded, report);
}

/// One finding for each counter, however many stories there are.
fn retries(mut exceeded: &[ExceededRetry], report: &mut Report) {
    while let [first, ..] = exceeded {
        let is_same = |it: &&ExceededRetry| it.counter == first.counter;
        let (same, rest) = exceeded.split_at(exceeded.iter().take_while(is_same).count());
        let stories =
            listed(same.iter().map(|it| format!("{} for {}", it.count, quoted(&it.story))));
        let message =
            format!("{} is beyond its limit of {}: {stories}", first.counter, first.limit);
        report.find(Check::Retries, Advice::PromptUser, message);
        exceeded = rest;
    }
}
