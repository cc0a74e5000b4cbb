//! A workload: everything that changes a store, in an order that a seed decides, with notes of what
//! the store must hold after each step.

mod threads;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::chance::Chance;
use super::model::{Model, RING_KEPT, Saved, ring};
use super::simulated::SimulatedDisk;
use crate::checkpoint::{
    ArtifactStatus, Entry, Id, Issue, NewArtifact, NewEntry, Series, Status, Timestamp, Trigger,
};
use crate::error::Result;
use crate::retention::{Policy, Rule, plan};
use crate::store::disk::Place;
use crate::store::{Draft, Durability, Hold, Options, Settings, Store};

/// Microseconds of the first moment.
const START: i64 = 1_800_000_000_000_000;
/// More than this are deleted sooner than added to.
const MANY: usize = 8;

/// A step that was tried.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) name: &'static str,
    /// What the store may hold while it is under way, and last what it holds afterwards.
    pub(super) states: Vec<Model>,
    /// Whether the last of these is durable once the step has returned.
    pub(super) is_durable: bool,
    /// How often the disk had changed when it returned.
    pub(super) end: usize,
}

/// What a step does, beside its call.
struct Attempt {
    name: &'static str,
    states: Vec<Model>,
    is_durable: bool,
    outcome: Result<()>,
}

/// A store at work on a simulated disk.
pub(super) struct Workload {
    pub(super) disk: SimulatedDisk,
    pub(super) store: Store,
    pub(super) model: Model,
    pub(super) done: Vec<Done>,
    clock: Arc<AtomicI64>,
    chance: Chance,
    numbers: [u32; 3],
    made: u64,
    /// Whether some steps are of several threads; what happens when then differs from run to run.
    pub(super) has_threads: bool,
}

/// Opens the store of a simulated disk, without a thread of its own: what happens when must be the
/// same for the same seed.
pub(super) fn open(disk: &SimulatedDisk, clock: &Arc<AtomicI64>) -> Result<Store> {
    let clock = clock.clone();
    let options = Options {
        hold: Hold::Forever,
        cache_bytes: 1 << 20,
        clock: Arc::new(move || Timestamp::from_micros(clock.load(Ordering::Relaxed))),
        ..Options::default()
    };
    let place = Place { path: PathBuf::from("/disk/store.redb"), disk: Arc::new(disk.clone()) };
    let store = Store::open_at(place, options)?;
    store.shared.keeper.stop();
    Ok(store)
}

/// A clock for a store that was recovered, ahead of all others.
pub(super) fn later() -> Arc<AtomicI64> {
    Arc::new(AtomicI64::new(START * 2))
}

impl Workload {
    /// Makes a store on `disk`; the fault of the disk may keep it from that.
    pub(super) fn start(seed: u64, disk: SimulatedDisk) -> Result<Self> {
        let clock = Arc::new(AtomicI64::new(START));
        let store = open(&disk, &clock)?;
        let model = Model::default();
        let first = Done {
            name: "create",
            states: vec![model.clone()],
            is_durable: true,
            end: disk.changed(),
        };
        let chance = Chance::new(&[seed]);
        let (done, numbers) = (vec![first], [0; 3]);
        Ok(Self { disk, store, model, done, clock, chance, numbers, made: 0, has_threads: false })
    }

    /// Does one step, and notes what it does whether it succeeds or not.
    pub(super) fn step(&mut self) -> Result<()> {
        self.tick();
        let Attempt { name, states, is_durable, outcome } = self.attempt();
        let is_durable = is_durable && outcome.is_ok();
        if outcome.is_ok() {
            self.model = states.last().cloned().unwrap_or_else(|| self.model.clone());
        }
        let states = if outcome.is_ok() { with_last(states, &self.model) } else { states };
        self.done.push(Done { name, states, is_durable, end: self.disk.changed() });
        outcome
    }

    /// Lets go of the store and opens it anew, as another process would.
    pub(super) fn reopen(&mut self) -> Result<()> {
        let store = open(&SimulatedDisk::default(), &self.clock)?;
        let closed = std::mem::replace(&mut self.store, store).close();
        let opened = open(&self.disk, &self.clock).or_else(|error| {
            self.disk.free_space();
            self.store = open(&self.disk, &self.clock)?;
            Err(error)
        });
        self.store = opened?;
        closed
    }

    /// What a store may hold that is found after so many changes of its disk.
    pub(super) fn candidates(&self, changes: usize) -> Vec<&Model> {
        let begun = self.done.iter().position(|it| it.end > changes);
        let returned = &self.done[..begun.unwrap_or(self.done.len())];
        let Some(floor) = returned.iter().rposition(|it| it.is_durable) else {
            // Not even made.
            return self.done[..1].iter().flat_map(|it| &it.states).collect();
        };
        let last = self.done[floor].states.last();
        let since = self.done[floor + 1..].iter().take(begun.map_or(usize::MAX, |it| it - floor));
        last.into_iter().chain(since.flat_map(|it| &it.states)).collect()
    }

    /// The step that was under way after so many changes of the disk, or else the last one.
    pub(super) fn under_way(&self, changes: usize) -> &'static str {
        let step = self.done.iter().find(|it| it.end > changes).or(self.done.last());
        step.map_or("nothing", |it| it.name)
    }

    fn tick(&mut self) {
        self.clock.fetch_add(1_000, Ordering::Relaxed);
    }

    fn attempt(&mut self) -> Attempt {
        if self.done.len() == 1 {
            return self.set_ring();
        }
        if self.model.present.len() > MANY && self.chance.happens(50) {
            return if self.chance.happens(50) { self.prune() } else { self.delete(true) };
        }
        if self.has_threads && self.chance.happens(25) {
            return self.threads();
        }
        match self.chance.below(26) {
            0..=4 => self.save(Durability::Immediate),
            5..=7 => self.save(Durability::Relaxed),
            8 | 9 => self.batch(),
            10 => self.import(),
            11 => self.save_own(),
            12 | 13 => self.capture(),
            14 => self.delete(false),
            15 => self.delete(true),
            16 => self.undelete(),
            17 => self.tag(),
            18 => self.mark(),
            19 => self.fork(),
            20 => self.look(),
            21 => self.let_go(),
            22 => self.flush(),
            23 | 24 => self.spool(),
            _ => self.rare(),
        }
    }

    fn rare(&mut self) -> Attempt {
        match self.chance.below(3) {
            0 => self.compact(),
            1 => self.close(),
            _ => self.prune(),
        }
    }

    /// Says what is pruned on save; the others stay as they are.
    fn set_ring(&mut self) -> Attempt {
        let keep_last = u32::try_from(RING_KEPT).ok();
        let rule = Rule { triggers: vec![ring()], keep_last, ..Rule::default() };
        let policy = Some(Policy { rules: vec![rule], ..Policy::default() });
        let settings = Settings { policy, prune_on_save: true, ..Settings::default() };
        let outcome = self.store.set_settings(&settings);
        let after = Model { is_pruned_on_save: true, ..self.model.clone() };
        attempted("set_settings", vec![after], outcome)
    }

    fn save(&mut self, durability: Durability) -> Attempt {
        let about = self.about();
        let draft = self.draft(about).with_durability(durability);
        let states = vec![self.model.with(Saved::of(&draft))];
        let is_durable = durability == Durability::Immediate;
        let outcome = self.store.save_draft(draft).map(drop);
        Attempt { name: "save", states, is_durable, outcome }
    }

    /// Under an id of one's own, and once more, as after an error.
    fn save_own(&mut self) -> Attempt {
        let about = NewEntry { id: Some(self.own_id()), ..self.about() };
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
    fn batch(&mut self) -> Attempt {
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

    /// As while another process has the store: in one file, all or none, for whoever comes next.
    fn spool(&mut self) -> Attempt {
        let mut drafts = Vec::new();
        for _ in 0..=self.chance.below(3) {
            let about = self.about();
            drafts.push(self.draft(about));
            self.tick();
        }
        let all = self.added_one_by_one(&drafts).pop();
        let states = [self.model.clone()].into_iter().chain(all).collect();
        // Who spools has let go of the file, and so of all that was saved before.
        self.store.shared.let_go();
        let outcome = self.store.shared.keeper.take_failure().and_then(|()| {
            let spooled = self.store.shared.spool(&mut drafts);
            let left = drafts.into_iter().zip(spooled).filter(|(_, it)| it.is_none());
            self.batched(left.map(|(draft, _)| draft).collect())
        });
        attempted("spool", states, outcome)
    }

    /// Several with ids and times of their own, all or none.
    fn import(&mut self) -> Attempt {
        let mut drafts = Vec::new();
        for number in 0..3 {
            let created_at = Some(Timestamp::from_micros(START - 1_000_000 * number));
            let about = NewEntry { id: Some(self.own_id()), created_at, ..self.about() };
            let about = NewEntry { trigger: Trigger::Iteration, ..about };
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

    fn capture(&mut self) -> Attempt {
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

    fn delete(&mut self, now: bool) -> Attempt {
        let count = 1 + self.chance.below(3);
        let ids = self.choose(count);
        if now {
            let states = vec![self.model.without(&ids)];
            let outcome = self.store.delete_now(&ids).map(drop);
            return attempted("delete_now", states, outcome);
        }
        let states = vec![self.model.deleted(&ids)];
        let outcome = self.store.delete(&ids).map(drop);
        attempted("delete", states, outcome)
    }

    fn undelete(&mut self) -> Attempt {
        let ids: Vec<Id> = self.model.deleted.keys().take(2).cloned().collect();
        let states = vec![self.model.restored(&ids)];
        let outcome = self.store.undelete(&ids).map(drop);
        attempted("undelete", states, outcome)
    }

    fn tag(&mut self) -> Attempt {
        let Some(id) = self.choose(1).pop() else { return self.look() };
        let tag = format!("tag {}", self.chance.below(3));
        let tags = std::slice::from_ref(&tag);
        if self.model.present[&id].entry.tags.contains(&tag) {
            let states = vec![self.model.changed(&id, |entry| _ = entry.tags.remove(&tag))];
            let outcome = self.store.untag(&id, tags).map(drop);
            return attempted("untag", states, outcome);
        }
        let states = vec![self.model.changed(&id, |entry| _ = entry.tags.insert(tag.clone()))];
        let outcome = self.store.tag(&id, tags).map(drop);
        attempted("tag", states, outcome)
    }

    fn mark(&mut self) -> Attempt {
        let Some(id) = self.choose(1).pop() else { return self.look() };
        let status = [Status::Completed, Status::Failed][self.chance.below(2)];
        let now = Timestamp::from_micros(self.clock.load(Ordering::Relaxed));
        let mark = |entry: &mut Entry| {
            if entry.status != status {
                (entry.status, entry.updated_at) = (status, Some(now));
            }
        };
        let after = self.model.changed(&id, mark);
        let outcome = self.store.mark(&[id], status).map(drop);
        attempted("mark", vec![after], outcome)
    }

    fn fork(&mut self) -> Attempt {
        let Some(parent) = self.choose(1).pop() else { return self.look() };
        let id = self.own_id();
        let series = Series::new(format!("fork {}", self.chance.below(2))).expect("a name");
        let now = Timestamp::from_micros(self.clock.load(Ordering::Relaxed));
        let original = Saved::clone(&self.model.present[&parent]);
        let entry = Entry {
            id: id.clone(),
            series: series.clone(),
            parent: Some(parent.clone()),
            trigger: Trigger::Unknown,
            status: Status::InProgress,
            tags: BTreeSet::new(),
            created_at: now,
            updated_at: None,
            ..original.entry.clone()
        };
        let states = vec![self.model.with(Saved { entry, ..original })];
        let about = NewEntry { id: Some(id), series: Some(series), ..NewEntry::default() };
        let outcome = self.store.fork(&parent, about).map(drop);
        attempted("fork", states, outcome)
    }

    /// By a plan for the whole store.
    fn prune(&mut self) -> Attempt {
        let triggers = vec![Trigger::Iteration];
        let rule = Rule { triggers, keep_last: Some(2), ..Rule::default() };
        let policy = Policy { rules: vec![rule], ..Policy::default() };
        let now = Timestamp::from_micros(self.clock.load(Ordering::Relaxed));
        let entries = match self.store.inventory(None) {
            Ok(entries) => entries,
            Err(error) => return attempted("prune", Vec::new(), Err(error)),
        };
        let plan = plan(&entries, &policy, now);
        let ids: Vec<Id> = plan.removed().map(|it| it.entry.id.clone()).collect();
        if self.chance.happens(50) {
            let states = vec![self.model.deleted(&ids)];
            let outcome = self.store.apply(&plan).map(drop);
            return attempted("prune", states, outcome);
        }
        let states = vec![self.model.without(&ids)];
        let outcome = self.store.apply_now(&plan).map(drop);
        attempted("prune_now", states, outcome)
    }

    /// Reads, which puts into the tables what waits for them.
    fn look(&mut self) -> Attempt {
        let outcome = self.store.count().map(drop);
        Attempt { name: "look", states: Vec::new(), is_durable: false, outcome }
    }

    /// Closes the file, as for another process.
    fn let_go(&mut self) -> Attempt {
        self.store.shared.let_go();
        let outcome = self.store.shared.keeper.take_failure();
        attempted("let_go", Vec::new(), outcome)
    }

    fn flush(&mut self) -> Attempt {
        let outcome = self.store.flush();
        attempted("flush", Vec::new(), outcome)
    }

    fn compact(&mut self) -> Attempt {
        let outcome = self.store.compact().map(drop);
        let states = vec![self.model.purged()];
        attempted("compact", states, outcome)
    }

    fn close(&mut self) -> Attempt {
        let outcome = self.reopen();
        attempted("close", Vec::new(), outcome)
    }

    /// Some checkpoints that pruning on save has nothing to do with.
    fn choose(&mut self, count: usize) -> Vec<Id> {
        let present = self.model.present.iter();
        let mut ids: Vec<Id> = present
            .filter(|(_, it)| it.entry.trigger != ring())
            .map(|(id, _)| id.clone())
            .collect();
        let mut chosen = Vec::new();
        while chosen.len() < count && !ids.is_empty() {
            chosen.push(ids.swap_remove(self.chance.below(ids.len())));
        }
        chosen
    }

    fn about(&mut self) -> NewEntry {
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

    fn draft(&mut self, about: NewEntry) -> Draft {
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
        }
        draft
    }

    fn own_id(&mut self) -> Id {
        self.made += 1;
        Id::new(format!("own-{}", self.made)).expect("a name")
    }
}

/// A step that is durable when it returns.
fn attempted(name: &'static str, states: Vec<Model>, outcome: Result<()>) -> Attempt {
    Attempt { name, states, is_durable: true, outcome }
}

fn with_last(mut states: Vec<Model>, last: &Model) -> Vec<Model> {
    if states.is_empty() {
        states.push(last.clone());
    }
    states
}
