//! A real ext4 on a disk that cannot read some of a store.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;

use waypost::{NewEntry, Series, Store};

use super::Test;
use crate::mounted::Mounted;

const COUNT: u64 = 60;

/// A store whose documents do not depend on each other, and do not fit on one page.
fn filled(path: &Path) -> Vec<u8> {
    let store = Store::open(path).unwrap();
    for number in 0..COUNT {
        let series = Some(Series::new(format!("loop {number}")).unwrap());
        let mut state = number + 1;
        let noise: Vec<u64> = (0..100)
            .map(|_| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                state
            })
            .collect();
        store.save(NewEntry { series, ..NewEntry::default() }, &noise).unwrap();
    }
    store.compact().unwrap();
    store.close().unwrap();
    fs::read(path).unwrap()
}

/// `list` and `verify` said "run it again", `doctor` found nothing, and `repair` gave up.
#[test]
fn bad_sectors_are_reported_and_the_rest_is_saved() {
    for eighths in [3, 5, 7] {
        let Some(disk) = Mounted::ext4(32, "data=ordered") else { return };
        let test = Test::new();
        // What the file system has for itself comes before what is saved after this.
        fs::write(disk.path().join("filler"), vec![1; 12 << 20]).unwrap();
        // Written from front to back, it lies so on the disk.
        let content = filled(&test.path().join("whole.redb"));
        let store = disk.path().join("store.redb");
        fs::write(&store, &content).unwrap();
        let at = content.len() as u64 * eighths / 8 / 4096 * 4096;
        if !disk.fail_from("store.redb", at) {
            return;
        }
        let store = store.display();
        for args in ["list", "latest", "stats"] {
            let ended = test.run(&format!("{args} --store {store}"));
            let is_told = ended.code == Some(5) && ended.stderr.contains("the disk cannot read");
            assert!(is_told || ended.code == Some(0), "{args}: {}", ended.stderr);
        }
        // It reads free pages, too; for these it said that the store cannot be accessed.
        let ended = test.run(&format!("backup copy.redb --store {store}"));
        assert_eq!(ended.code, Some(5), "{}", ended.stderr);
        assert!(ended.stderr.contains("the disk cannot read"), "{}", ended.stderr);
        let ended = test.run(&format!("verify --store {store}"));
        assert_eq!(ended.code, Some(5), "{}", ended.stderr);
        let place = format!("bytes {at} to ");
        assert!(ended.stdout.contains(&place), "{}", ended.stdout);
        assert!(ended.stderr.contains("the disk is failing"), "{}", ended.stderr);
        let ended = test.run(&format!("doctor --store {store}"));
        assert_eq!(ended.code, Some(5), "{}", ended.stdout);
        assert!(ended.stdout.contains("the disk cannot read"), "{}", ended.stdout);
        let ended = test.run(&format!("repair --into saved.redb --store {store}"));
        assert!(matches!(ended.code, Some(0 | 7)), "{}", ended.stderr);
        let saved = test.run("list --all --store saved.redb").done();
        assert!(saved.lines().count() > 1, "{saved}");
        test.run("verify --store saved.redb").done();
    }
}
