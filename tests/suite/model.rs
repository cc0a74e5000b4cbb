//! Random operations against a model that is plainly right, with reopening at random points.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use waypost::recovery::Strategy as Choice;
use waypost::retention::Rule;
use waypost::source::JsonStyle;
use waypost::{
    Draft, Durability, Entry, Error, Id, Issue, LoopId, NewEntry, Options, Order, Policy, Query,
    Series, Status, Store, Timestamp, Trigger, plan,
};

/// What can happen to a store. Numbers choose among a few names, so that they meet often.
#[derive(Debug, Clone)]
enum Operation {
    Save {
        about: About,
        document: String,
        relaxed: bool,
    },
    Batch(Vec<(About, String)>),
    Again(usize),
    Delete {
        which: Vec<usize>,
        now: bool,
    },
    Undelete(usize),
    Mark {
        which: usize,
        status: u8,
    },
    MarkSeries {
        which: usize,
        status: u8,
    },
    Prune {
        keep_last: u32,
        series: Option<u8>,
        now: bool,
    },
    Tag {
        which: usize,
        tag: u8,
        remove: bool,
    },
    Reopen,
    Compact,
    /// Sets the clock, back or ahead, to this many microseconds.
    SetClock(i64),
    Ask(Asked),
}

#[derive(Debug, Clone)]
struct About {
    id: Option<u8>,
    time: Option<i64>,
    issue: Option<u8>,
    loop_id: Option<u8>,
    series: Option<u8>,
    trigger: u8,
    status: u8,
    phase: Option<u8>,
    iteration: Option<u8>,
    tags: BTreeSet<u8>,
}

#[derive(Debug, Clone)]
struct Asked {
    issue: Option<u8>,
    loop_id: Option<u8>,
    series: Option<u8>,
    triggers: BTreeSet<u8>,
    status: Option<u8>,
    phase: Option<u8>,
    tag: Option<u8>,
    since: Option<i64>,
    until: Option<i64>,
    iteration_min: Option<u8>,
    iteration_max: Option<u8>,
    oldest: bool,
    page: usize,
}

fn issue(number: u8) -> Issue {
    Issue::new(format!("{number}")).unwrap()
}

fn loop_id(number: u8) -> LoopId {
    LoopId::new(format!("ralph-x-0000000{number}")).unwrap()
}

/// Some series bear the name of an issue or a loop that their checkpoints need not have.
fn series(number: u8) -> Series {
    match number {
        0 => Series::of_issue(&issue(0)),
        1 => Series::of_loop(&loop_id(0)),
        other => Series::new(format!("series {other}")).unwrap(),
    }
}

fn trigger(number: u8) -> Trigger {
    match number {
        0 => "my_own".parse().unwrap(),
        other => Trigger::ALL[usize::from(other)].clone(),
    }
}

fn status(number: u8) -> Status {
    Status::ALL[usize::from(number)]
}

fn phase(number: u8) -> String {
    format!("phase {number}")
}

fn tag(number: u8) -> String {
    format!("tag {number}")
}

fn time(number: i64) -> Timestamp {
    Timestamp::from_micros(number * 1_000_000)
}

impl About {
    fn to_new(&self) -> NewEntry {
        NewEntry {
            id: self.id.map(|number| Id::new(format!("id-{number}")).unwrap()),
            created_at: self.time.map(time),
            issue: self.issue.map(issue),
            loop_id: self.loop_id.map(loop_id),
            series: self.series.map(series),
            trigger: trigger(self.trigger),
            status: status(self.status),
            phase: self.phase.map(phase),
            iteration: self.iteration.map(u64::from),
            tags: self.tags.iter().copied().map(tag).collect(),
            ..NewEntry::default()
        }
    }
}

impl Asked {
    fn to_query(&self) -> Query {
        Query {
            issue: self.issue.map(issue),
            loop_id: self.loop_id.map(loop_id),
            series: self.series.map(series),
            triggers: self.triggers.iter().copied().map(trigger).collect(),
            status: self.status.map(status),
            phase: self.phase.map(phase),
            tag: self.tag.map(tag),
            since: self.since.map(time),
            until: self.until.map(time),
            iteration_min: self.iteration_min.map(u64::from),
            iteration_max: self.iteration_max.map(u64::from),
            order: if self.oldest { Order::Oldest } else { Order::Newest },
            limit: Some(self.page),
            after: None,
        }
    }

    fn fits(&self, entry: &Entry) -> bool {
        self.issue.is_none_or(|number| entry.issue == Some(issue(number)))
            && self.loop_id.is_none_or(|number| entry.loop_id == Some(loop_id(number)))
            && self.series.is_none_or(|number| entry.series == series(number))
            && (self.triggers.is_empty()
                || self.triggers.iter().any(|number| entry.trigger == trigger(*number)))
            && self.status.is_none_or(|number| entry.status == status(number))
            && self.phase.is_none_or(|number| entry.phase == Some(phase(number)))
            && self.tag.is_none_or(|number| entry.tags.contains(&tag(number)))
            && self.since.is_none_or(|since| entry.created_at >= time(since))
            && self.until.is_none_or(|until| entry.created_at < time(until))
            && self.iteration_min.is_none_or(|min| entry.iteration >= Some(min.into()))
            && self
                .iteration_max
                .is_none_or(|max| entry.iteration.is_some_and(|it| it <= max.into()))
    }
}

prop_compose! {
    fn abouts()(
        (id, time, issue, loop_id, series) in (
            prop::option::weighted(0.3, 0..6_u8),
            prop::option::weighted(0.5, -3..6_i64),
            prop::option::of(0..3_u8),
            prop::option::weighted(0.3, 0..2_u8),
            prop::option::weighted(0.3, 0..4_u8),
        ),
        (trigger, status, phase, iteration, tags) in (
            0..3_u8,
            0..3_u8,
            prop::option::of(0..2_u8),
            prop::option::of(0..5_u8),
            prop::collection::btree_set(0..3_u8, 0..2),
        ),
    ) -> About {
        About { id, time, issue, loop_id, series, trigger, status, phase, iteration, tags }
    }
}

prop_compose! {
    fn questions()(
        (issue, loop_id, series, triggers, status, phase, tag) in (
            prop::option::weighted(0.3, 0..4_u8),
            prop::option::weighted(0.2, 0..3_u8),
            prop::option::weighted(0.3, 0..5_u8),
            prop::collection::btree_set(0..4_u8, 0..3),
            prop::option::weighted(0.2, 0..4_u8),
            prop::option::weighted(0.2, 0..3_u8),
            prop::option::weighted(0.2, 0..4_u8),
        ),
        (since, until) in (
            prop::option::weighted(0.2, -3..6_i64),
            prop::option::weighted(0.2, -3..6_i64),
        ),
        (iteration_min, iteration_max, oldest, page) in (
            prop::option::weighted(0.2, 0..5_u8),
            prop::option::weighted(0.2, 0..5_u8),
            any::<bool>(),
            1..5_usize,
        ),
    ) -> Asked {
        Asked {
            issue, loop_id, series, triggers, status, phase, tag, since, until, iteration_min,
            iteration_max, oldest, page,
        }
    }
}

fn documents() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,9}".prop_map(|text| format!("{{\"text\":\"{text}\"}}")),
        (0..20_000_usize).prop_map(|length| format!("[\"{}\"]", "x".repeat(length))),
        // Does not compress, so it takes many chunks.
        (1..8_000_u64).prop_map(|count| {
            let numbers = (0..count).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_string());
            format!("[{}]", numbers.collect::<Vec<_>>().join(","))
        }),
    ]
}

fn operations() -> impl Strategy<Value = Operation> {
    let save = (abouts(), documents(), any::<bool>())
        .prop_map(|(about, document, relaxed)| Operation::Save { about, document, relaxed });
    prop_oneof![
        6 => save,
        1 => prop::collection::vec((abouts(), documents()), 0..6).prop_map(Operation::Batch),
        1 => any::<usize>().prop_map(Operation::Again),
        2 => (prop::collection::vec(any::<usize>(), 1..3), any::<bool>())
            .prop_map(|(which, now)| Operation::Delete { which, now }),
        2 => any::<usize>().prop_map(Operation::Undelete),
        1 => (any::<usize>(), 0..6_u8)
            .prop_map(|(which, status)| Operation::Mark { which, status }),
        1 => (any::<usize>(), 0..6_u8)
            .prop_map(|(which, status)| Operation::MarkSeries { which, status }),
        2 => (any::<usize>(), 0..3_u8, any::<bool>())
            .prop_map(|(which, tag, remove)| Operation::Tag { which, tag, remove }),
        1 => (0..4_u32, prop::option::of(0..4_u8), any::<bool>())
            .prop_map(|(keep_last, series, now)| Operation::Prune { keep_last, series, now }),
        1 => Just(Operation::Reopen),
        1 => Just(Operation::Compact),
        2 => (-4_000_000..8_000_000_i64).prop_map(Operation::SetClock),
        6 => questions().prop_map(Operation::Ask),
    ]
}

/// Where an entry stands in the order of all.
fn place(entry: &Entry) -> (Timestamp, u64) {
    (entry.ordered_at.unwrap_or(entry.created_at), entry.sequence)
}

/// Everything that was acknowledged and not deleted, in the order of arrival.
struct Model {
    store: Option<Store>,
    path: PathBuf,
    /// What the clock shows next, in microseconds.
    clock: Arc<AtomicI64>,
    /// The latest time in the order that anything ever had.
    highest: Timestamp,
    saved: Vec<(Entry, NewEntry, String)>,
    /// What can be restored, in the order of deletion.
    deleted: Vec<(Entry, NewEntry, String)>,
}

impl Model {
    fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    fn open(&mut self) {
        // The old handle lets go before the new one comes.
        self.store = None;
        // Times from the clock: several in a millisecond.
        let clock = self.clock.clone();
        let clock =
            Arc::new(move || Timestamp::from_micros(clock.fetch_add(300, Ordering::Relaxed)));
        let options = Options { clock, ..Options::default() };
        self.store = Some(Store::open_with(&self.path, options).unwrap());
    }

    fn draft(&self, about: &About, document: &str) -> Draft {
        self.store().draft_json(about.to_new(), document.as_bytes()).unwrap()
    }

    fn note(&mut self, outcome: Result<Entry, Error>, about: NewEntry, document: &str) {
        let known =
            about.id.as_ref().and_then(|id| self.saved.iter().find(|(entry, ..)| entry.id == *id));
        match (outcome, known) {
            (Ok(entry), None) => {
                self.check_place(&entry, about.created_at);
                self.highest = self.highest.max(place(&entry).0);
                self.saved.push((entry, about, document.to_owned()));
            }
            (Ok(entry), Some((found, first, text))) => {
                assert_eq!(entry, *found);
                let same = NewEntry { tags: first.tags.clone(), ..about };
                assert_eq!((&same, document), (first, text.as_str()));
            }
            (Err(Error::Exists { id }), Some((found, first, text))) => {
                assert_eq!(id, found.id.as_str());
                let same = NewEntry { tags: first.tags.clone(), ..about };
                assert!(same != *first || document != text);
            }
            (outcome, known) => panic!("{outcome:?} where {known:?} was there"),
        }
    }

    /// A stated time is the place in the order. A checkpoint that the store dates is newer than all
    /// that are there or can be restored. Its date is what the clock showed, and lags only if the
    /// clock is behind.
    fn check_place(&self, entry: &Entry, stated: Option<Timestamp>) {
        if let Some(stated) = stated {
            assert_eq!((entry.created_at, entry.ordered_at), (stated, None));
            return;
        }
        let all = self.saved.iter().chain(&self.deleted);
        assert!(all.map(|(other, ..)| place(other)).all(|other| other < place(entry)));
        let clock = self.clock.load(Ordering::Relaxed);
        assert!(entry.created_at.as_micros() < clock, "{entry:?} is dated ahead of {clock}");
        assert!(entry.ordered_at.is_none_or(|time| time > entry.created_at));
        assert!(entry.ordered_at.is_none() || entry.created_at < self.highest);
    }

    /// Right after a save that the store dated, every query for the newest returns it.
    fn check_newest(&self, entry: &Entry) {
        let store = self.store();
        let of_series = Query { series: Some(entry.series.clone()), ..Query::default() };
        for query in [&Query::default(), &of_series] {
            assert_eq!(store.latest(query).unwrap().unwrap().entry, *entry);
        }
        assert_eq!(store.resolve("latest").unwrap(), *entry);
        assert_eq!(store.resolve(&format!("{}@0", entry.series)).unwrap(), *entry);
        let proposal = store.propose_among(&entry.series, Choice::Last, 3).unwrap();
        match proposal.offer {
            Some(offer) => assert_eq!(offer.checkpoint.entry, *entry),
            None => assert_eq!(proposal.passed_over[0].entry, *entry),
        }
    }

    fn run(&mut self, operation: &Operation) {
        match operation {
            Operation::SetClock(micros) => self.clock.store(*micros, Ordering::Relaxed),
            Operation::Save { about, document, relaxed } => {
                let relaxed = if *relaxed { Durability::Relaxed } else { Durability::Immediate };
                let draft = self.draft(about, document).with_durability(relaxed);
                let count = self.saved.len();
                let outcome = self.store().save_draft(draft);
                self.note(outcome, about.to_new(), document);
                if self.saved.len() > count && about.time.is_none() {
                    self.check_newest(&self.saved[count].0);
                }
            }
            Operation::Batch(drafts) => {
                let made: Vec<_> =
                    drafts.iter().map(|(about, text)| self.draft(about, text)).collect();
                let outcomes = self.store().batch(made).unwrap();
                for (outcome, (about, text)) in outcomes.into_iter().zip(drafts) {
                    self.note(outcome, about.to_new(), text);
                }
            }
            Operation::Again(which) => {
                let Some((entry, about, document)) = self.pick(*which) else {
                    return;
                };
                let about = NewEntry { id: Some(entry.id.clone()), ..about };
                let again = self.store().save_json(about, document.as_bytes()).unwrap();
                assert_eq!(again, entry);
            }
            Operation::Delete { which, now } => self.delete(which, *now),
            Operation::Undelete(which) => self.undelete(*which),
            Operation::Mark { which, status: number } => {
                let Some((entry, ..)) = self.pick(*which) else {
                    return;
                };
                self.store().mark(&[entry.id], status(*number)).unwrap();
                self.learn_status(|it| it.sequence == entry.sequence, status(*number));
            }
            Operation::MarkSeries { which, status: number } => {
                let Some((entry, ..)) = self.pick(*which) else {
                    return;
                };
                let status = status(*number);
                self.store().mark_series(&entry.series, status).unwrap();
                let has_ended = |status| {
                    [Status::Completed, Status::Failed, Status::Archived].contains(&status)
                };
                self.learn_status(
                    |it| {
                        it.series == entry.series
                            && (!matches!(status, Status::Completed | Status::Failed)
                                || !has_ended(it.status))
                    },
                    status,
                );
            }
            Operation::Tag { which, tag: number, remove } => {
                let Some((entry, ..)) = self.pick(*which) else {
                    return;
                };
                let tags = [tag(*number)];
                let changed = if *remove {
                    self.store().untag(&entry.id, &tags).unwrap()
                } else {
                    self.store().tag(&entry.id, &tags).unwrap()
                };
                assert_eq!(changed.tags.contains(&tags[0]), !remove);
                let known = self.saved.iter_mut().find(|(it, ..)| it.id == entry.id);
                known.unwrap().0 = changed;
            }
            Operation::Prune { keep_last, series: number, now } => {
                self.prune(*keep_last, number.map(series).as_ref(), *now);
            }
            Operation::Reopen => self.open(),
            Operation::Compact => {
                self.store().compact().unwrap();
                self.deleted.clear();
                self.learn_stored_bytes();
            }
            Operation::Ask(asked) => self.ask(asked),
        }
    }

    fn delete(&mut self, which: &[usize], now: bool) {
        let ids: BTreeSet<Id> = which.iter().filter_map(|it| Some(self.pick(*it)?.0.id)).collect();
        let ids: Vec<Id> = ids.into_iter().collect();
        let deleted = if now {
            self.store().delete_now(&ids).unwrap()
        } else {
            self.store().delete(&ids).unwrap()
        };
        assert_eq!(deleted.checkpoints, ids.len() as u64);
        self.forget(|entry| ids.contains(&entry.id), now);
    }

    /// Expects these to be deleted.
    fn forget(&mut self, is_gone: impl Fn(&Entry) -> bool, now: bool) {
        let all = std::mem::take(&mut self.saved).into_iter();
        let (mut gone, stay): (Vec<_>, Vec<_>) = all.partition(|(entry, ..)| is_gone(entry));
        self.saved = stay;
        if now {
            self.learn_stored_bytes();
        } else {
            // Those of one moment are in their order.
            gone.sort_by_key(|(entry, ..)| place(entry));
            self.deleted.extend(gone);
        }
    }

    /// Prunes by a plan made of what the model knows, of one series or of all.
    fn prune(&mut self, keep_last: u32, only: Option<&Series>, now: bool) {
        let rule = Rule { keep_last: Some(keep_last), ..Rule::default() };
        let policy = Policy { rules: vec![rule], ..Policy::default() };
        let entries = self.store().inventory(only).unwrap();
        let of_model = |entry: &Entry| only.is_none_or(|series| entry.series == *series);
        let known: Vec<Entry> = self.saved.iter().map(|(entry, ..)| entry.clone()).collect();
        let known: Vec<Entry> = known.into_iter().filter(of_model).collect();
        let plan_of = |entries: &[Entry]| -> BTreeSet<u64> {
            let plan = plan(entries, &policy, time(100));
            plan.removed().map(|planned| planned.entry.sequence).collect()
        };
        let gone = plan_of(&known);
        assert_eq!(plan_of(&entries), gone);
        let plan = plan(&entries, &policy, time(100));
        let removed = if now { self.store().apply_now(&plan) } else { self.store().apply(&plan) };
        assert_eq!(removed.unwrap().checkpoints, gone.len() as u64);
        self.forget(|entry| gone.contains(&entry.sequence), now);
    }

    fn undelete(&mut self, which: usize) {
        let Some(which) = which.checked_rem(self.deleted.len()) else {
            return;
        };
        let id = self.deleted[which].0.id.clone();
        // The last one by the clock, which may have been set back.
        let mut listed = self.store().deleted(&Query::default()).unwrap().into_iter();
        let last = listed.find(|it| it.entry.id == id).unwrap().entry.sequence;
        let last = self.deleted.iter().position(|(entry, ..)| entry.sequence == last).unwrap();
        let outcome = self.store().undelete(std::slice::from_ref(&id));
        if self.saved.iter().any(|(entry, ..)| entry.id == id) {
            assert!(matches!(outcome, Err(Error::Exists { .. })));
            return;
        }
        let mut restored = self.deleted.remove(last);
        let entry = outcome.unwrap().remove(0);
        restored.0.stored_bytes = entry.stored_bytes;
        assert_eq!(entry, restored.0);
        self.saved.push(restored);
    }

    /// What was stored as a difference to one that is gone is stored anew.
    fn learn_stored_bytes(&mut self) {
        for (entry, ..) in &mut self.saved {
            let found = self.store.as_ref().unwrap().entry(&entry.id).unwrap();
            entry.stored_bytes = found.stored_bytes;
            assert_eq!(found, *entry);
        }
    }

    /// Expects another status, and a new time of the last change, where `is_meant` says so.
    fn learn_status(&mut self, is_meant: impl Fn(&Entry) -> bool, status: Status) {
        for (entry, about, _) in &mut self.saved {
            let found = self.store.as_ref().unwrap().entry(&entry.id).unwrap();
            if is_meant(entry) && entry.status != status {
                assert!(found.updated_at.is_some());
                entry.status = status;
                entry.updated_at = found.updated_at;
                (about.status, about.updated_at) = (status, found.updated_at);
            }
            assert_eq!(found, *entry);
        }
    }

    fn pick(&self, which: usize) -> Option<(Entry, NewEntry, String)> {
        self.saved.get(which.checked_rem(self.saved.len())?).cloned()
    }

    fn ask(&self, asked: &Asked) {
        let mut expected: Vec<_> = self.saved.iter().map(|(entry, ..)| entry.clone()).collect();
        expected.retain(|entry| asked.fits(entry));
        expected.sort_by_key(place);
        if !asked.oldest {
            expected.reverse();
        }
        let mut query = asked.to_query();
        let mut found = Vec::new();
        loop {
            let page = self.store().list(&query).unwrap();
            found.extend(page.entries);
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        assert_eq!(found, expected);
        let all: Result<Vec<_>, _> =
            self.store().entries(Query { limit: None, after: None, ..query.clone() }).collect();
        assert_eq!(all.unwrap(), expected);
        let newest = expected.iter().max_by_key(|entry| place(entry));
        let latest = self.store().latest(&Query { after: None, ..query }).unwrap();
        assert_eq!(latest.map(|found| found.entry).as_ref(), newest);
    }

    fn check_all(&self) {
        for (entry, _, document) in &self.saved {
            let found = self.store().get(&entry.id).unwrap();
            assert_eq!(found.entry, *entry);
            assert_eq!(found.to_json(JsonStyle::Compact).unwrap(), *document);
            assert_eq!(self.store().resolve(entry.id.as_str()).unwrap(), *entry);
        }
        let deleted = self.store().deleted(&Query::default()).unwrap();
        let ids = |entries: Vec<&Entry>| {
            let ids = entries.iter().map(|entry| (entry.id.clone(), entry.sequence));
            ids.collect::<BTreeSet<_>>()
        };
        assert_eq!(
            ids(deleted.iter().map(|it| &it.entry).collect()),
            ids(self.deleted.iter().map(|(entry, ..)| entry).collect()),
        );
        let stats = self.store().stats().unwrap();
        assert_eq!(stats.checkpoints, self.saved.len() as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_store_does_what_the_model_does(
        operations in prop::collection::vec(operations(), 1..40),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.redb");
        let clock = Arc::new(AtomicI64::new(2_000_000));
        let highest = Timestamp::from_micros(i64::MIN);
        let (saved, deleted) = (Vec::new(), Vec::new());
        let mut model = Model { store: None, path, clock, highest, saved, deleted };
        model.open();
        for operation in &operations {
            model.run(operation);
        }
        model.check_all();
        model.open();
        model.check_all();
    }
}
