//! The flags by which `save` and `fork` describe a checkpoint.

use waypost::{Id, Issue, LoopId, NewEntry, Series, Status, Timestamp, Trigger};

use crate::args;
use crate::when::When;

/// Flags that describe a checkpoint. A flag that is not given leaves its field empty.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "About the checkpoint")]
pub(crate) struct About {
    /// Its id; saving the same content under the same id again changes nothing
    #[arg(long)]
    id: Option<Id>,

    /// The line of checkpoints it belongs to; by default that of its loop, workflow or issue, else
    /// `default`
    #[arg(long)]
    series: Option<Series>,

    /// The issue it works on, such as 42 or PROJ-42
    #[arg(long)]
    issue: Option<Issue>,

    /// The loop that writes it
    #[arg(long)]
    loop_id: Option<LoopId>,

    /// The workflow that writes it
    #[arg(long)]
    workflow_id: Option<String>,

    /// The kind of workflow, such as `ralph_loop`
    #[arg(long)]
    workflow_type: Option<String>,

    /// The session that writes it
    #[arg(long)]
    session_id: Option<String>,

    /// The agent that writes it
    #[arg(long)]
    agent: Option<String>,

    /// Why it is saved: a known name, or one of your own; `unknown` if not said
    #[arg(long, long_help = trigger_help())]
    trigger: Option<Trigger>,

    /// The phase of the work
    #[arg(long)]
    phase: Option<String>,

    /// The step within the phase
    #[arg(long)]
    step: Option<String>,

    /// The iteration of the loop
    #[arg(long, value_name = "N")]
    #[arg(value_parser = args::whole::<u64>(0..=u64::MAX), allow_negative_numbers = true)]
    iteration: Option<u64>,

    /// Where the work stands; `in_progress` if not said
    #[arg(long, value_parser = args::status())]
    status: Option<Status>,

    /// When it was saved: 2026-01-25, 2026-01-25T15:00:00Z, or 2h back from now; now if not said
    #[arg(long, value_name = "TIME")]
    created_at: Option<When>,

    /// When the work last changed
    #[arg(long, value_name = "TIME")]
    updated_at: Option<When>,

    /// The checkpoint it continues: an id, the start of one, `latest`, NAME@N, or a NAME (series,
    /// issue, loop) for its newest
    #[arg(long, value_name = "ID")]
    parent: Option<Id>,

    /// A tag to find it by (repeatable)
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// Whether the work can go on from here
    ///
    /// `--can-resume true` alone does not say where: `resume` then offers the checkpoint without a
    /// place, and `export --layout crunch` refuses it, because crunch needs one. --resume-from says
    /// both that work can go on and where.
    #[arg(long, value_name = "BOOL")]
    can_resume: Option<bool>,

    /// Where to go on, such as `batch_3_task_1`; work can go on then, unless --can-resume false
    #[arg(long, value_name = "PLACE")]
    resume_from: Option<String>,

    /// What a person should know before going on (repeatable)
    #[arg(long = "warning", value_name = "TEXT")]
    warnings: Vec<String>,

    /// How long a retention policy is to keep it
    #[arg(long, value_name = "DAYS")]
    #[arg(value_parser = args::whole::<u32>(0..=u32::MAX.into()))]
    #[arg(allow_negative_numbers = true)]
    retention_days: Option<u32>,
}

fn trigger_help() -> String {
    let known = Trigger::ALL.map(|trigger| trigger.to_string()).join(", ");
    format!(
        "Why it is saved; `unknown` if not said\n\nKnown: {known}. A name of your own has \
         lower-case letters, digits and underscores."
    )
}

impl About {
    /// True if a status was given.
    pub(crate) fn has_status(&self) -> bool {
        self.status.is_some()
    }

    /// The flags as an entry, with `trigger` if no flag gives one.
    pub(crate) fn with_default(&self, trigger: Trigger) -> NewEntry {
        let said = self.trigger.clone();
        NewEntry { trigger: said.unwrap_or(trigger), ..NewEntry::from(self) }
    }
}

impl From<&About> for NewEntry {
    fn from(flags: &About) -> Self {
        let flags = flags.clone();
        let now = Timestamp::now();
        Self {
            id: flags.id,
            series: flags.series,
            issue: flags.issue,
            loop_id: flags.loop_id,
            workflow_id: flags.workflow_id,
            workflow_type: flags.workflow_type,
            session_id: flags.session_id,
            agent: flags.agent,
            trigger: flags.trigger.unwrap_or_default(),
            phase: flags.phase,
            step: flags.step,
            iteration: flags.iteration,
            status: flags.status.unwrap_or_default(),
            created_at: flags.created_at.map(|when| when.from(now)),
            updated_at: flags.updated_at.map(|when| when.from(now)),
            parent: flags.parent,
            tags: flags.tags.into_iter().collect(),
            can_resume: flags.can_resume,
            resume_from: flags.resume_from,
            warnings: flags.warnings,
            retention_days: flags.retention_days,
            ..Self::default()
        }
    }
}
