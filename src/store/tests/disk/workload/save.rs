//! Steps that save: one or many, with ids and times of their own, with files, and to the spool.

use std::sync::atomic::Ordering;

use super::super::chance::Chance;
use super::super::model::{Model, STATED, Saved, ring};
use super::{Attempt, START, Workload, attempted};
use crate::checkpoint::{
    ArtifactStatus, Id, Issue, NewArtifact, NewEntry, Series, Timestamp, Trigger,
};
use crate::error::Result;
use crate::store::{Draft, Durability};

impl Workload {
    pub(super) fn save(&mut self, durability: Durability) -> Attempt {
        let about = self.about();
        let draft = self.draft(about).with_durability(durability);
        let states = vec![self.model.with(Saved::of(&draft))];
        let is_durable = durability == Durability::Immediate;
        let outcome = self.store.save_draft(draft).map(drop);
        Attempt { name: "save", states, is_durable, outcome }
    }

    /// Under an id of the caller's own, and once more, as a retry after an error.
    pub(super) fn save_own(&mut self) -> Attempt {
        // First, so that no later checkpoint has the same number.
        let about = self.about();
        let about = NewEntry { id: Some(self.own_id()), ..about };
        let draft = self.draft(about.clone());
        let saved = Saved::of(&draft);
        let again = saved.raw.clone();
        let states = vec![self.model.with(saved)];
        let outcome = self.store.save_draft(draft).and_then(|_| {
            let again = self.store.draft_raw(about, again.to_vec())?;
            self.store.save_draft(again).map(drop)
        });
        attempted("save_own", states, outcome)
    }

    /// Several in one write; a crash may keep the first few.
    pub(super) fn batch(&mut self) -> Attempt {
        let count = 2 + self.chance.below(4);
        let mut drafts = Vec::new();
        for _ in 0..count {
            let about = self.about();
            drafts.push(self.draft(about));
            self.tick();
        }
        let states = self.added_one_by_one(&drafts);
        let outcome = self.batched(drafts);
        attempted("batch", states, outcome)
    }

    /// As while another process has the store: in one file, all or none, for the next holder.
    pub(super) fn spool(&mut self) -> Attempt {
        let mut drafts = Vec::new();
        for _ in 0..=self.chance.below(3) {
            let about = self.about();
            drafts.push(self.draft(about));
            self.tick();
        }
        let all = self.added_one_by_one(&drafts).pop();
        let states = [self.model.clone()].into_iter().chain(all).collect();
        // A spooling process has closed the file, so all earlier saves are durable.
        self.store.shared.let_go();
        let outcome = self.store.shared.keeper.take_failure().and_then(|()| {
            let spooled = self.store.shared.spool(&mut drafts);
            let left = drafts.into_iter().zip(spooled).filter(|(_, it)| it.is_none());
            self.batched(left.map(|(draft, _)| draft).collect())
        });
        attempted("spool", states, outcome)
    }

    /// Several with ids and times of their own, all or none.
    pub(super) fn import(&mut self) -> Attempt {
        let mut drafts = Vec::new();
        for number in 0..3 {
            let created_at = Some(Timestamp::from_micros(START - 1_000_000 * number));
            let about = NewEntry { id: Some(self.own_id()), created_at, ..self.about() };
            let agent = Some(STATED.to_owned());
            let about = NewEntry { trigger: Trigger::Iteration, agent, ..about };
            drafts.push(self.draft(about));
        }
        let all = self.added_one_by_one(&drafts).pop();
        let outcome = self.batched(drafts);
        attempted("import", all.into_iter().collect(), outcome)
    }

    fn batched(&self, drafts: Vec<Draft>) -> Result<()> {
        self.store.batch(drafts)?.into_iter().try_for_each(|outcome| outcome.map(drop))
    }

    fn added_one_by_one(&self, drafts: &[Draft]) -> Vec<Model> {
        let mut model = self.model.clone();
        let add = |draft| {
            model = model.with(Saved::of(draft));
            model.clone()
        };
        drafts.iter().map(add).collect()
    }

    pub(super) fn capture(&mut self) -> Attempt {
        let mut files = vec![NewArtifact {
            path: "gone.txt".to_owned(),
            content: None,
            mode: None,
            status: ArtifactStatus::Deleted,
        }];
        for path in ["a.txt", "b.txt", "dir/c.txt"] {
            if self.chance.happens(60) {
                // Few contents, so that many have the same.
                let content = vec![b'a' + u8::try_from(self.chance.below(4)).unwrap_or(0); 50];
                let (mode, status) = (Some(0o644), ArtifactStatus::Modified);
                let content = Some(content);
                files.push(NewArtifact { path: path.to_owned(), content, mode, status });
            }
        }
        let about = self.about();
        let draft = match self.draft(about).with_artifacts(files) {
            Ok(draft) => draft,
            Err(error) => return attempted("capture", Vec::new(), Err(error)),
        };
        let states = vec![self.model.with(Saved::of(&draft))];
        let outcome = self.store.save_draft(draft).map(drop);
        attempted("capture", states, outcome)
    }

    pub(super) fn about(&mut self) -> NewEntry {
        let series = self.chance.below(3);
        let trigger = [Trigger::Iteration, ring(), Trigger::Manual][self.chance.below(3)].clone();
        let phase = self.chance.happens(40).then(|| format!("phase {}", self.chance.below(2)));
        let parent = self.choose(1).pop().filter(|_| self.chance.happens(10));
        let is_ring = trigger == ring();
        let issue = Issue::new(format!("{series}")).expect("a name");
        NewEntry {
            issue: self.chance.happens(70).then_some(issue),
            series: Some(Series::new(format!("series {series}")).expect("a name")),
            trigger,
            phase,
            // A fork point is not pruned, whatever its trigger.
            parent: parent.filter(|_| !is_ring),
            iteration: Some(self.made),
            ..NewEntry::default()
        }
    }

    pub(super) fn draft(&mut self, about: NewEntry) -> Draft {
        // A series is a line of states that change a little from one to the next.
        let series = about.series.as_ref().and_then(|it| it.as_str().bytes().last());
        let number = &mut self.numbers[usize::from(series.unwrap_or(0) % 3)];
        *number += 1;
        let first = *number;
        let line = |at: u32| format!("step {at}: {:x}", Chance::new(&[u64::from(at)]).next());
        // Some take more than one row.
        let lines = if self.chance.happens(10) { 90 } else { 10 };
        let state: Vec<String> = (first..first + lines).map(line).collect();
        let mut draft = self.store.draft(about, &state).expect("a small document");
        if !draft.has_own_id {
            let millis = draft.entry.created_at.as_millis().unsigned_abs();
            self.made += 1;
            let mut tail = [0; 10];
            tail[2..].copy_from_slice(&self.made.to_be_bytes());
            draft.entry.id = Id::from_parts(millis, tail);
            draft.is_id_known.store(true, Ordering::Relaxed);
        }
        draft
    }

    pub(super) fn own_id(&mut self) -> Id {
        self.made += 1;
        Id::new(format!("own-{}", self.made)).expect("a name")
    }
}
