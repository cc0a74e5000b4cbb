//! Views: what a handle reads of a store that another one has.

use super::{about, state};
use crate::checkpoint::{NewEntry, Trigger};
use crate::retention::Policy;
use crate::store::{Hold, Options, Settings, Store};

/// A store that one handle has, and another handle that reads beside it.
struct Pair {
    _dir: tempfile::TempDir,
    writer: Store,
    reader: Store,
}

impl Pair {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.redb");
        let options = Options { hold: Hold::Forever, ..Options::default() };
        let writer = Store::open_with(&path, options).unwrap();
        let reader = Store::open(&path).unwrap();
        Self { _dir: dir, writer, reader }
    }
}

/// A view prunes on save, too. So it had removed the base of a save that came later, which the
/// saving process still had, and that save could not be read.
///
/// What a view cannot add was lost for other threads that used the same view.
#[test]
fn a_save_whose_base_a_view_has_pruned_is_read_in_another_view() {
    let pair = Pair::new();
    let policy = Some(Policy::preset("last-1").unwrap());
    let settings = Settings { policy, prune_on_save: true, ..Settings::default() };
    pair.writer.set_settings(&settings).unwrap();
    let mut without_base = 0;
    for number in 0..40 {
        pair.reader.count().unwrap();
        let view = pair.reader.shared.views.kept().unwrap();
        let about = NewEntry { trigger: Trigger::Heartbeat, ..about(0) };
        let saved = pair.writer.save(about, &state(0, number)).unwrap();
        if view.is_current().unwrap() && !view.follow().unwrap() {
            without_base += 1;
            assert!(!view.follow().unwrap(), "other threads must not miss it");
        }
        let found = pair.reader.get(&saved.id).unwrap();
        assert_eq!(found.state::<Vec<String>>().unwrap(), state(0, number));
    }
    assert!(without_base > 0);
}
