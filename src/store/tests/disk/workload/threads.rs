//! Saves of several threads at once, which share the syncs of the journal.
//!
//! The order and the groups differ from run to run. But the disk records its operations, and each
//! thread when its save was acknowledged. So the required content is known for each run.

use std::sync::Barrier;
use std::thread;

use super::super::model::Saved;
use super::{Attempt, Done, Model, Workload, attempted};
use crate::checkpoint::{NewEntry, Trigger};
use crate::error::Result;

impl Workload {
    /// An acknowledged save is durable, whatever happens to the others.
    pub(super) fn threads(&mut self) -> Attempt {
        let mut drafts = Vec::new();
        for _ in 0..2 + self.chance.below(3) {
            // What is pruned on save depends on the order.
            let about = NewEntry { trigger: Trigger::Iteration, ..self.about() };
            drafts.push(self.draft(about));
            self.tick();
        }
        let saved: Vec<Saved> = drafts.iter().map(Saved::of).collect();
        let (store, disk, start) = (&self.store, &self.disk, Barrier::new(drafts.len()));
        let answers: Vec<Result<usize>> = thread::scope(|scope| {
            let save = |draft| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    store.save_draft(draft).map(|_| disk.changed())
                })
            };
            let threads: Vec<_> = drafts.into_iter().map(save).collect();
            threads.into_iter().map(|it| it.join().expect("a save does not panic")).collect()
        });
        let mut ends = Vec::new();
        for (number, answer) in answers.into_iter().enumerate() {
            match answer {
                Ok(end) => ends.push((end, number)),
                Err(error) => return attempted("threads", Vec::new(), Err(error)),
            }
        }
        ends.sort_unstable();
        let mut answered = 0;
        for (end, number) in &ends {
            let mut states = self.any_beside(answered, &saved);
            answered |= 1 << number;
            states.push(self.with_those(answered, &saved));
            self.done.push(Done { name: "threads", states, is_durable: true, end: *end });
        }
        attempted("threads", vec![self.with_those(answered, &saved)], Ok(()))
    }

    /// Every store with the acknowledged saves, and any of the others.
    fn any_beside(&self, answered: u32, saved: &[Saved]) -> Vec<Model> {
        let sets = (0..1_u32 << saved.len()).filter(|set| set & answered == answered);
        sets.map(|set| self.with_those(set, saved)).collect()
    }

    /// The store with those whose bits are set.
    fn with_those(&self, set: u32, saved: &[Saved]) -> Model {
        let chosen = saved.iter().enumerate().filter(|(number, _)| set & (1 << number) != 0);
        chosen.fold(self.model.clone(), |model, (_, saved)| model.with(saved.clone()))
    }
}
