//! Logs of the spool: in which order they are taken in, up to where, and never twice.

use std::slice::from_ref;

use super::simulated::SimulatedDisk;
use super::workload::{later, open, place};
use crate::checkpoint::{Entry, NewEntry, Timestamp};
use crate::codec::{Placed, encode_spooled};
use crate::key::Span;
use crate::store::Store;
use crate::store::engine::disk::Disk as _;
use crate::store::engine::location;
use crate::store::log::spool::Spool;
use crate::store::log::spool::logs::{Logs, Wanted};
use crate::store::log::spool::taken::{LogName, Taken};
use crate::store::save::spooling::Seals;

/// A process that never has the store.
struct Process(Spool);

impl Process {
    fn beside(disk: &SimulatedDisk) -> Self {
        Self(Spool::of(&place(disk)))
    }

    fn save(&self, store: &Store, number: u64) -> String {
        let placed = placed(store, number);
        let (identity, id) = (store.shared.turn.identity().unwrap(), placed.entry.id.to_string());
        self.0.append((identity, Timestamp::from_micros(1)), &mut [placed], 100).unwrap();
        id
    }
}

fn placed(store: &Store, number: u64) -> Placed {
    let draft = store.draft(NewEntry::default(), &number).unwrap();
    store.shared.standing_alone(&draft, &Seals(None)).unwrap()
}

fn entries(store: &Store) -> Vec<Entry> {
    store.read(|snapshot| snapshot.entries(Span::ALL)?.collect()).unwrap()
}

/// All ids, in the order of arrival.
fn arrived(store: &Store) -> Vec<String> {
    let mut entries = entries(store);
    entries.sort_by_key(|entry| entry.sequence);
    entries.into_iter().map(|entry| entry.id.to_string()).collect()
}

/// One process saved after the first log was read, and then another before the second was.
#[test]
fn what_is_saved_while_logs_are_read_overtakes_nothing() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, &later(), &[]).unwrap();
    store.save(NewEntry::default(), &0).unwrap();
    store.shared.let_go();
    let [one, two] = [Process::beside(&disk), Process::beside(&disk)];
    one.save(&store, 1);
    two.save(&store, 2);
    let (files, before) = (disk.files(), disk.changed());
    let names: Vec<LogName> = one.0.folder.list().unwrap().logs;
    one.save(&store, 3);
    two.save(&store, 4);
    let changes = disk.changes()[before..].to_vec();
    let disk = disk.before(files, (&one.0.folder.log(&names[1]), changes));
    let holder = Process::beside(&disk);
    let (folder, identity) = (&holder.0.folder, store.shared.turn.identity().unwrap());
    let taken = Taken::default();
    let mut logs = Logs::default();
    let mut read = |cut| {
        let wanted = Wanted { folder, identity, taken: &taken, cut, is_for_good: true };
        let (troubles, unread) = logs.read(&names, &wanted);
        assert!(troubles.is_empty() && unread.is_none());
        let order = logs.order((&names, None), &wanted);
        for name in &order {
            logs.give(name);
        }
        logs.confirm();
        order
    };
    assert_eq!(read(disk.ticks()), names, "the second save of neither");
    assert_eq!(read(u64::MAX), names, "both, in their order");
    assert_eq!(read(u64::MAX), []);
}

#[test]
fn logs_are_taken_in_by_the_times_of_their_saves_and_those_of_earlier_boots_first() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, &later(), &[]).unwrap();
    store.save(NewEntry::default(), &0).unwrap();
    store.shared.let_go();
    let mut saved = arrived(&store);
    store.shared.let_go();
    {
        let [one, two] = [Process::beside(&disk), Process::beside(&disk)];
        saved.extend([&one, &two, &two, &one, &two].map(|it| it.save(&store, 1)));
    }
    // The clock begins anew.
    let disk = SimulatedDisk::with(disk.files());
    let [one, two] = [Process::beside(&disk), Process::beside(&disk)];
    saved.extend([&two, &one, &two].map(|it| it.save(&store, 2)));
    let store = open(&disk, &later(), &[]).unwrap();
    assert_eq!(arrived(&store), saved);
}

/// The log stays while its writer lives.
#[test]
fn what_was_taken_in_of_a_log_is_not_taken_in_again() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, &later(), &[]).unwrap();
    store.save(NewEntry::default(), &0).unwrap();
    store.shared.let_go();
    let process = Process::beside(&disk);
    let first = process.save(&store, 1);
    assert_eq!(arrived(&store).pop(), Some(first));
    let ids: Vec<_> = entries(&store).into_iter().map(|entry| entry.id).collect();
    store.delete_now(&ids).unwrap();
    store.close().unwrap();
    let store = open(&disk, &later(), &[]).unwrap();
    assert_eq!(arrived(&store), Vec::<String>::new());
    let second = process.save(&store, 2);
    assert_eq!(arrived(&store), from_ref(&second));
    let names = process.0.folder.list().unwrap().logs;
    assert_eq!(names.len(), 1);
    // Nor after a kill.
    let store = open(&SimulatedDisk::with(disk.files()), &later(), &[]).unwrap();
    assert_eq!(arrived(&store), from_ref(&second));
    assert!(process.0.folder.is_held(&names[0]));
    drop(process);
    assert_eq!(arrived(&store), from_ref(&second));
}

/// Builds before logs wrote one file for each group.
#[test]
fn a_file_of_an_earlier_build_is_taken_in() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, &later(), &[]).unwrap();
    store.save(NewEntry::default(), &0).unwrap();
    store.shared.let_go();
    let placed = [placed(&store, 1), placed(&store, 2)];
    let (name, identity) = (placed[0].entry.id.clone(), store.shared.turn.identity().unwrap());
    let path = location::beside(store.path(), ".spool").join(format!("{name}.save"));
    disk.scribble(&path, &encode_spooled(identity, &name, &placed)).unwrap();
    let found = arrived(&store);
    assert_eq!(found[1..], placed.map(|it| it.entry.id.to_string()));
    assert!(!disk.has_spooled());
}
