//! `--worker`: the prompt for a new worker of a pipeline.

use anyhow::Result;
use waypost::Layout;
use waypost::layouts::Problem;
use waypost::recovery::{Offer, Worker};

use super::tell::Decided;
use crate::args::Global;
use crate::exit::Refusal;

/// The worker that takes over the story of the checkpoint.
pub(super) fn worker(decided: &Decided<'_>) -> Result<Worker> {
    let offer = &decided.found.offer;
    let root = decided.root.to_string_lossy();
    Worker::of(offer, &root).map_err(|problems| refusal(offer, &problems, decided).into())
}

/// Notes which agent to resume before a new worker is started.
pub(super) fn note(worker: &Worker, global: &Global) {
    if let Some(agent) = &worker.agent {
        global.note(format_args!("first try to resume agent {agent}; this is for a new worker"));
    }
}

fn refusal(offer: &Offer, problems: &[Problem], decided: &Decided<'_>) -> Refusal {
    let entry = &offer.checkpoint.entry;
    Refusal::NoWorker {
        id: entry.id.clone(),
        why: problems.iter().map(Problem::to_string).collect(),
        files: (entry.layout == Layout::Pipeline).then(|| decided.root.join(".pipeline")),
    }
}
