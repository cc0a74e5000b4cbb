//! The bytes of a spool file, and what is seen of its folder.

use std::fs;
use std::ops::ControlFlow;
use std::time::Instant;

use super::folder::Folder;
use super::taken::Taken;
use super::{FolderState, STAMP_COARSE, Spooled};
use crate::checkpoint::{Id, NewEntry, Timestamp};
use crate::codec::{
    Placed, SPOOLED_HEAD_BYTES, check, decode_spooled, encode_spooled, spooled_count,
};
use crate::error::Error;
use crate::store::engine::disk::StorePath;
use crate::store::save::spooling::Seals;
use crate::store::{Options, Repair, Store};

const IDENTITY: u64 = 0x0102_0304_0506_0708;

fn name() -> Id {
    Id::generate(Timestamp::from_micros(1_700_000_000_123_456))
}

fn two_placed() -> Vec<Placed> {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    let placed = |number: u8| {
        let draft = store.draft(NewEntry::default(), &vec![number; 100]).unwrap();
        store.shared.standing_alone(&draft, &Seals(None)).unwrap()
    };
    vec![placed(1), placed(2)]
}

#[test]
fn a_file_is_laid_out_as_the_format_says() {
    let (name, items) = (name(), two_placed());
    let mut expected = b"wayposts".to_vec();
    expected.extend([8, 7, 6, 5, 4, 3, 2, 1]);
    expected.extend(name.as_str().bytes());
    expected.extend([2, 0, 0, 0]);
    for item in &items {
        let mut payload = Vec::new();
        item.encode(&mut payload);
        expected.extend(u32::try_from(payload.len()).unwrap().to_le_bytes());
        expected.extend(payload);
    }
    expected.extend(check(IDENTITY, &expected).to_le_bytes());
    assert_eq!(encode_spooled(IDENTITY, &name, &items), expected);
}

#[test]
fn what_is_written_is_read_back_for_this_store_and_name_alone() {
    let (name, other, items) = (name(), name(), two_placed());
    let bytes = encode_spooled(IDENTITY, &name, &items);
    assert_eq!(decode_spooled(&bytes, IDENTITY, &name).unwrap(), items);
    assert_eq!(spooled_count(&bytes[..SPOOLED_HEAD_BYTES]), Some(2));
    assert!(decode_spooled(&bytes, IDENTITY + 1, &name).is_err());
    assert!(decode_spooled(&bytes, IDENTITY, &other).is_err());
    for length in 0..bytes.len() {
        assert!(decode_spooled(&bytes[..length], IDENTITY, &name).is_err());
    }
}

/// A second file within the same tick of the file system's clock leaves the stamp as it is.
#[test]
fn a_folder_that_changed_lately_is_looked_into_though_its_stamp_is_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::of(&StorePath::real(dir.path().join("store.redb")));
    let mut seen = FolderState::default();
    assert!(seen.news(&folder, true).unwrap().is_none());
    fs::create_dir(dir.path().join("store.redb.spool")).unwrap();
    fs::write(folder.saved(&name()), b"1").unwrap();
    assert_eq!(seen.news(&folder, true).unwrap().unwrap().saved.len(), 1);
    folder.remove(&folder.list().unwrap().saved[0]);
    assert!(seen.news(&folder, true).unwrap().is_none());
    assert!(seen.sure.is_none());
    // As if the folder had been seen long ago.
    seen.since = Instant::now().checked_sub(STAMP_COARSE * 2);
    assert!(seen.news(&folder, true).unwrap().is_none());
    assert!(seen.sure.is_some());
    fs::write(folder.saved(&name()), b"2").unwrap();
    assert_eq!(seen.news(&folder, true).unwrap().unwrap().saved.len(), 1);
    assert_eq!(fs::read_dir(dir.path().join("store.redb.spool")).unwrap().count(), 1);
}

/// A store that replaces another used to get its own identity, and to set aside the spool of the
/// old one.
#[test]
fn a_repaired_store_has_what_was_spooled() {
    let dir = tempfile::tempdir().unwrap();
    let (path, into) = (dir.path().join("store.redb"), dir.path().join("new.redb"));
    let store = Store::open(&path).unwrap();
    store.save(NewEntry::default(), &0).unwrap();
    let mut drafts: Vec<_> =
        (1..4).map(|it| store.draft(NewEntry::default(), &vec![it; 50]).unwrap()).collect();
    store.close().unwrap();
    let store = Store::open_with(&path, Options { create: false, ..Options::default() }).unwrap();
    store.shared.let_go();
    let spooled = store.shared.spool(&mut drafts);
    let repair = Repair { into: Some(into.clone()), ..Repair::default() };
    let watch = &mut |_| ControlFlow::Continue(());
    let repaired = Store::repair(&path, &repair, watch).unwrap();
    assert_eq!((repaired.checkpoints, repaired.lost.len()), (4, 0));
    let new = Store::open(&into).unwrap();
    for (entry, number) in spooled.iter().zip(1..) {
        let found = new.get(&entry.as_ref().unwrap().id).unwrap();
        assert_eq!(found.state::<Vec<i32>>().unwrap(), [number; 50]);
    }
}

/// A process that could not have the store during a repair spooled for the old store, and the new
/// one would have set that aside.
#[test]
fn what_is_spooled_during_a_repair_is_taken_in_by_the_new_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = Store::open(&path).unwrap();
    store.save(NewEntry::default(), &0).unwrap();
    let mut early = [store.draft(NewEntry::default(), &1).unwrap()];
    let mut late = [store.draft(NewEntry::default(), &2).unwrap()];
    store.shared.let_go();
    store.shared.spool(&mut early);
    let watch = &mut |_| {
        store.shared.spool(&mut late);
        ControlFlow::Continue(())
    };
    Store::repair(&path, &Repair::default(), watch).unwrap();
    assert_eq!(store.count().unwrap(), 3);
    assert_eq!(store.stats().unwrap().spool.set_aside, 0);
}

/// Saves followed the link, and anyone with access to its target could read them.
#[cfg(unix)]
#[test]
fn a_spool_that_is_a_link_is_not_followed_and_reported() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let (path, elsewhere) = (dir.path().join("store.redb"), dir.path().join("elsewhere"));
    let spool = dir.path().join("store.redb.spool");
    let store = Store::open(&path).unwrap();
    store.save(NewEntry::default(), &0).unwrap();
    let mut drafts = [store.draft(NewEntry::default(), &1).unwrap()];
    store.shared.let_go();
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &spool).unwrap();
    assert_eq!(store.shared.spool(&mut drafts), [None]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    // The link does not stop anyone from using the store.
    assert_eq!(store.count().unwrap(), 1);
    assert_eq!(store.stats().unwrap().spool.obstacle, Some("a symbolic link"));
    assert!(matches!(store.flush().unwrap_err(), Error::Io { path, .. } if path == spool));
    fs::remove_file(&spool).unwrap();
    // Nothing is set aside behind a link either.
    fs::create_dir(&spool).unwrap();
    symlink(&elsewhere, spool.join("aside")).unwrap();
    let damaged = spool.join(format!("{}.save", name()));
    fs::write(&damaged, b"damaged").unwrap();
    assert_eq!(store.count().unwrap(), 1);
    assert!(
        matches!(store.flush().unwrap_err(), Error::Io { path, .. } if path.ends_with("aside"))
    );
    assert!(damaged.exists());
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert_eq!(store.stats().unwrap().spool.set_aside, 0);
}

/// A link made `close` fail after a save was acknowledged, and a file was not reported at all.
#[cfg(unix)]
#[test]
fn whatever_lies_in_the_place_of_the_spool_is_reported_once_and_fails_nothing() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::path::Path;
    use std::sync::{Arc, Mutex};
    let put = |kind: &str, at: &Path| match kind {
        "a symbolic link" => symlink("nowhere", at).unwrap(),
        "a regular file" => fs::write(at, "mine").unwrap(),
        _ => drop(UnixListener::bind(at).unwrap()),
    };
    for kind in ["a symbolic link", "a regular file", "a socket"] {
        let dir = tempfile::tempdir().unwrap();
        let heard: Arc<Mutex<Vec<Error>>> = Arc::default();
        let sink = heard.clone();
        let hear = move |error| sink.lock().unwrap().push(error);
        let options = Options { on_trouble: Some(Arc::new(hear)), ..Options::default() };
        let store = Store::open_with(dir.path().join("store.redb"), options).unwrap();
        let spool = dir.path().join("store.redb.spool");
        put(kind, &spool);
        let mut drafts = [store.draft(NewEntry::default(), &1).unwrap()];
        store.save(NewEntry::default(), &0).unwrap();
        store.shared.spool.look_anew();
        store.save(NewEntry::default(), &0).unwrap();
        assert_eq!(store.shared.spool(&mut drafts), [None]);
        assert_eq!(store.stats().unwrap().spool.obstacle, Some(kind));
        assert_eq!(store.count().unwrap(), 2);
        store.close().unwrap();
        let heard = heard.lock().unwrap();
        let [Error::Io { path, source }] = &heard[..] else { panic!("{heard:?}") };
        assert_eq!(*path, spool);
        let reason = format!("it is {kind}, and no directory, so no save can be spooled");
        assert_eq!(source.to_string(), reason);
        assert!(fs::symlink_metadata(&spool).is_ok());
    }
}

/// A spooling process reads the key of the store, and another process changes the key before the
/// file is there: a holder of only the new key could never take it in.
#[cfg(feature = "encrypt")]
#[test]
fn what_is_spooled_under_a_key_that_the_store_had_is_taken_back() {
    use crate::codec::SecretKey;

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let [old, new] = [1, 2].map(|byte| SecretKey::from_bytes([byte; 32]));
    let open = |keys: &[&SecretKey]| {
        let keys = keys.iter().map(|key| (*key).clone()).collect();
        Store::open_with(&path, Options { keys, ..Options::default() }).unwrap()
    };
    let store = open(&[&old, &new]);
    store.save(NewEntry::default(), &0).unwrap();
    let mut drafts = [store.draft(NewEntry::default(), &1).unwrap()];
    store.shared.let_go();
    let seals = store.shared.seals().unwrap();
    let identity = store.shared.turn.identity().unwrap();
    let owner = open(&[&old, &new]);
    owner.rekey(Some(new.id())).unwrap();
    owner.close().unwrap();
    let seals = (identity, &seals);
    assert_eq!(store.shared.spool_part(seals, &mut drafts, &mut vec![0]), Some(Vec::new()));
    let waiting = Spooled::of(&StorePath::real(path.clone()), |_| Taken::default());
    assert_eq!((waiting.checkpoints, waiting.damaged), (0, 0));
    // It waits for the store instead.
    let [draft] = drafts;
    let saved = store.save_draft(draft).unwrap();
    store.close().unwrap();
    assert_eq!(open(&[&new]).get(&saved.id).unwrap().state::<i32>().unwrap(), 1);
}

/// A folder changed by a clock before 1970 was taken for absent. Its files waited until the folder
/// changed again.
#[test]
fn a_folder_that_was_changed_before_1970_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let spool = dir.path().join("store.redb.spool");
    fs::create_dir(&spool).unwrap();
    let folder = Folder::of(&StorePath::real(path));
    let set = |seconds| {
        let time = std::time::UNIX_EPOCH - std::time::Duration::from_secs(seconds);
        fs::File::open(&spool).unwrap().set_modified(time).unwrap();
        folder.stamp()
    };
    assert!(set(5).is_some());
    assert_ne!(set(5), set(6));
}
