//! The result of a resume: a checkpoint compared with the world, and the decision.
//!
//! Decides only: changes neither the store nor the world.

use serde::{Serialize, Serializer};

use super::candidate::Hurdle;
use super::choose::Chosen;
use super::decision::{Choice, Decision, Resume};
use super::freshness::{Advice, Check, Finding, Freshness, freshness};
use super::prompt::{one_line, resume_block};
use super::proposal::{Offer, PassedOver, Strategy};
use super::resume_point::ResumePoint;
use super::unresolved::Unresolved;
use super::world::World;
use crate::checkpoint::{Entry, Id, Timestamp};
use crate::error::Result;
use crate::layouts::{Problem, Standing};
use crate::store::Store;

/// The checkpoint to go on from, whether to, and why.
///
/// As JSON it is what `waypost resume --json` prints, without the document: that is in
/// [`Offer::checkpoint`].
///
/// See [`Store::resume`](crate::Store::resume) for an example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Resumption {
    /// What to do.
    pub decision: Decision,
    /// How the checkpoint was chosen.
    pub strategy: Strategy,
    /// Why this one, in sentences.
    pub reasons: Vec<String>,
    /// Where work goes on.
    pub resume_point: ResumePoint,
    /// The comparison with the world.
    pub freshness: Freshness,
    /// What stands in the way.
    pub hurdles: Vec<Hurdle>,
    /// Newer checkpoints, newest first; all of them if none of the series can be resumed.
    pub passed_over: Vec<PassedOver>,
    /// If the checkpoint is invalid, the newest older one that could be resumed.
    pub older: Option<Id>,
    /// Damage that leaves so little of a checkpoint that it cannot be named.
    pub damage: Vec<String>,
    /// The checkpoint itself, and what its document says.
    pub offer: Offer,
}

/// The JSON of a [`Resumption`].
#[derive(Serialize)]
struct Printed<'a> {
    decision: Decision,
    strategy: Strategy,
    reasons: &'a [String],
    resume_point: &'a ResumePoint,
    freshness: &'a Freshness,
    hurdles: &'a [Hurdle],
    problems: &'a [Problem],
    passed_over: &'a [PassedOver],
    damage: &'a [String],
    standing: &'a Standing,
    #[serde(flatten)]
    entry: &'a Entry,
}

impl Serialize for Resumption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let answer = Printed {
            decision: self.decision,
            strategy: self.strategy,
            reasons: &self.reasons,
            resume_point: &self.resume_point,
            freshness: &self.freshness,
            hurdles: &self.hurdles,
            problems: &self.offer.problems,
            passed_over: &self.passed_over,
            damage: &self.damage,
            standing: &self.offer.standing,
            entry: &self.offer.checkpoint.entry,
        };
        answer.serialize(serializer)
    }
}

impl Store {
    /// Finds the target of `name`, chooses the checkpoint to resume, compares it with the world at
    /// `now`, and decides. Changes nothing and never prompts.
    ///
    /// The name is a series, issue, loop, story, workflow or its description, an id, `latest` or
    /// `NAME@N`. [`Blind`](super::Blind) skips the comparison; with the feature `world` there is
    /// `RealWorld`. At a prompt, take the steps one by one: [`Store::meant`], [`Store::choose`],
    /// [`Chosen::decide`].
    ///
    /// ```
    /// use waypost::recovery::{Blind, Decision, Resume, Unresolved};
    /// use waypost::{Issue, NewEntry, Store, Timestamp};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let dir = tempfile::tempdir()?;
    /// # fn ask(_questions: &[String]) {}
    /// # fn give_up(_refusals: &[String]) {}
    /// # fn start_over() {}
    /// # let path = dir.path().join("store.redb");
    /// let store = Store::open(path)?;
    /// let about = NewEntry { issue: Some(Issue::new("42")?), ..NewEntry::default() };
    /// store.save(about, &"state")?;
    ///
    /// let found = store.resume("42", &Resume::default(), &Blind, Timestamp::now())?;
    /// match found.decision {
    ///     Decision::Resume => assert_eq!(found.offer.checkpoint.state::<String>()?, "state"),
    ///     Decision::PromptUser => ask(&found.questions()),
    ///     Decision::Refused => give_up(&found.refusals()),
    ///     Decision::Ended | Decision::StartFresh | Decision::Delete => start_over(),
    /// }
    /// # assert_eq!(found.decision, Decision::Resume);
    ///
    /// let other = store.resume("43", &Resume::default(), &Blind, Timestamp::now());
    /// assert!(matches!(other, Err(Unresolved::Nothing { .. })));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Unresolved`] if the name does not lead to one checkpoint that can be read.
    pub fn resume(
        &self,
        name: &str,
        how: &Resume,
        world: &dyn World,
        now: Timestamp,
    ) -> Result<Resumption, Unresolved> {
        let chosen = self.choose(self.meant(name)?.target, how)?;
        let moved = world.around_work_of(&chosen.offer)?;
        Ok(chosen.decide(how, moved.as_deref().unwrap_or(world), now))
    }
}

impl Chosen {
    /// Compares the checkpoint with the world at `now`, and decides what to do about it.
    ///
    /// The world must be around the place of the work: see [`World::around_work_of`].
    #[must_use]
    pub fn decide(self, how: &Resume, world: &dyn World, now: Timestamp) -> Resumption {
        let has_ended = self.has_ended();
        let Self { offer, reasons, hurdles, passed_over, older, damage, .. } = self;
        let Offer { checkpoint, standing, .. } = &offer;
        let freshness = freshness(&checkpoint.entry, standing, world, now);
        let resume_point = ResumePoint::of(&checkpoint.entry, standing).following(&freshness);
        // A checkpoint whose file could not be read has no document, so nothing can be resumed.
        let is_forced = how.force && !checkpoint.entry.is_unreadable();
        let is_refused = !hurdles.is_empty() || freshness.advice == Advice::StartFresh;
        let decision = match (how.choice, freshness.advice) {
            (Some(Choice::Fresh), _) => Decision::StartFresh,
            (Some(Choice::Delete), _) => Decision::Delete,
            _ if is_forced => Decision::Resume,
            _ if has_ended => Decision::Ended,
            _ if is_refused => Decision::Refused,
            (Some(Choice::Resume), _) | (None, Advice::Resume | Advice::ProceedWithWarning) => {
                Decision::Resume
            }
            (None, Advice::PromptUser | Advice::StartFresh) => Decision::PromptUser,
        };
        let strategy = how.strategy;
        Resumption {
            decision,
            strategy,
            reasons,
            resume_point,
            freshness,
            hurdles,
            passed_over,
            older,
            damage,
            offer,
        }
    }
}

impl Resumption {
    /// Returns why it cannot be resumed, in sentences.
    #[must_use]
    pub fn refusals(&self) -> Vec<String> {
        let hurdles = self.hurdles.iter().map(|hurdle| format!("it {hurdle}"));
        hurdles.chain(self.messages(Advice::StartFresh)).collect()
    }

    /// Returns what a person must decide about, in sentences.
    #[must_use]
    pub fn questions(&self) -> Vec<String> {
        self.messages(Advice::PromptUser).collect()
    }

    fn messages(&self, advice: Advice) -> impl Iterator<Item = String> {
        let findings = self.freshness.findings.iter().filter(move |it| it.advice == advice);
        findings.map(|finding| finding.message.clone())
    }

    /// Whether the checkpoint breaks rules of its system.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.hurdles.iter().any(|hurdle| matches!(hurdle, Hurdle::Invalid { .. }))
    }

    /// Whether the system of the checkpoint would resume without asking, as later schemas of the
    /// claude system do if nothing changed.
    #[must_use]
    pub fn is_automatic(&self) -> bool {
        let is_newest = self.passed_over.is_empty() && self.damage.is_empty();
        let Freshness { advice, unchecked, is_automatic, .. } = &self.freshness;
        // An unchecked item may have changed.
        let is_known = unchecked.is_empty() && *advice == Advice::Resume;
        is_newest && is_known && self.hurdles.is_empty() && *is_automatic == Some(true)
    }

    /// Whether captured files can undo the changes of files.
    #[must_use]
    pub fn can_restore_files(&self) -> bool {
        let is_file = |it: &Finding| it.check == Check::Artifact;
        let is_changed = self.freshness.findings.iter().any(is_file);
        is_changed && self.offer.checkpoint.entry.artifact_count > 0
    }

    /// Returns the CHECKPOINT RESUME block for the prompt of an agent; `None` if the document has
    /// neither tasks nor a last action.
    #[must_use]
    pub fn prompt(&self) -> Option<String> {
        let block = resume_block(&self.offer.standing)?;
        let phase = self.resume_point.phase_note();
        let phase = phase.map(|it| format!("Phase: {}\n", one_line(&it)));
        Some(block + &phase.unwrap_or_default())
    }
}
