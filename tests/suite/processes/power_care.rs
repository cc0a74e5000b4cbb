//! Backups and repairs on a real ext4 that loses its power at any moment: nothing is half done, and
//! nothing is lost.
//!
//! `WAYPOST_POWER_CUTS` cuts more often.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use rustix::process::Signal;

use super::care::{CHECKPOINTS, beside, damage, fill, is_whole, run};
use super::power::cuts;
use super::{Writer, check, command, document, ended, send};
use crate::mounted::Mounted;

/// Files on a disk of their own, which are put there anew before each cut.
struct Scene {
    disk: Mounted,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Scene {
    /// What `prepare` puts beside a store; `None` where no disk can be had.
    fn new(prepare: impl FnOnce(&Path)) -> Option<Self> {
        let disk = Mounted::ext4(64, "data=ordered")?;
        prepare(&disk.path().join("store.redb"));
        let all = fs::read_dir(disk.path()).unwrap().map(|it| it.unwrap().path());
        let files = all.filter(|it| it.is_file()).map(|it| (it.clone(), fs::read(it).unwrap()));
        let files = files.collect();
        Some(Self { disk, files })
    }

    fn store(&self) -> PathBuf {
        self.disk.path().join("store.redb")
    }

    fn before(&self) -> &[u8] {
        let store = self.store();
        &self.files.iter().find(|(path, _)| *path == store).unwrap().1
    }

    fn set_up(&self) {
        for found in fs::read_dir(self.disk.path()).unwrap().map(|it| it.unwrap().path()) {
            if found.is_file() {
                fs::remove_file(found).unwrap();
            }
        }
        for (path, content) in &self.files {
            fs::write(path, content).unwrap();
        }
        assert!(Command::new("sync").arg("-f").arg(self.disk.path()).status().unwrap().success());
    }

    /// Runs a command and cuts the power at moments spread over its run time; `after` checks what
    /// is left each time.
    fn cut(&self, args: &str, mut after: impl FnMut()) {
        self.set_up();
        let start = Instant::now();
        run(&self.store(), args);
        let whole = start.elapsed();
        after();
        let cuts = u32::try_from(cuts()).unwrap();
        for number in 0..cuts {
            self.set_up();
            let switch = self.disk.power_switch();
            let child = command(&self.store(), args).spawn().unwrap();
            // The last cuts come after the command is done, and lose only what was not synced.
            thread::sleep(whole * number * 5 / 4 / (cuts - 1).max(1));
            switch.cut();
            send(&child, Signal::KILL);
            ended(child);
            self.disk.restart();
            after();
        }
    }
}

#[test]
fn a_backup_that_loses_its_power_leaves_no_copy_or_all_of_it() {
    let Some(scene) = Scene::new(fill) else { return };
    let copy = scene.store().with_file_name("copy.redb");
    let mut made = 0;
    scene.cut("backup copy.redb", || {
        is_whole(&scene.store(), CHECKPOINTS);
        if copy.exists() {
            is_whole(&copy, CHECKPOINTS);
            made += 1;
        }
    });
    println!("{made} copies made");
}

#[test]
fn a_backup_over_another_that_loses_its_power_leaves_the_old_or_the_new_one() {
    let prepare = |path: &Path| {
        fill(&path.with_file_name("copy.redb"));
        fill(path);
        // One more than the copy has.
        let mut writer = Writer::start(path);
        writer.save(&document(1, 0)).unwrap();
        assert!(writer.end().0.success());
    };
    let Some(scene) = Scene::new(prepare) else { return };
    let copy = scene.store().with_file_name("copy.redb");
    let old = fs::read(&copy).unwrap();
    let mut made = 0;
    scene.cut("backup copy.redb --overwrite", || {
        let is_new = fs::read(&copy).unwrap() != old;
        is_whole(&copy, CHECKPOINTS + u64::from(is_new));
        made += u32::from(is_new);
    });
    println!("{made} copies replaced");
}

#[test]
fn a_repair_that_loses_its_power_leaves_the_old_store_or_the_new_one() {
    let prepare = |path: &Path| {
        fill(path);
        damage(path);
    };
    let Some(scene) = Scene::new(prepare) else { return };
    let (path, before) = (scene.store(), scene.before());
    let mut made = 0;
    scene.cut("repair", || {
        if fs::read(&path).unwrap() != before {
            is_whole(&path, CHECKPOINTS - 1);
            let aside = beside(&path, ".damaged-");
            assert!(aside.iter().any(|it| fs::read(it).unwrap() == before), "the old one is gone");
            made += 1;
        }
        let again = run(&path, "repair");
        assert!([Some(0), Some(7)].contains(&again.status.code()), "{again:?}");
        is_whole(&path, CHECKPOINTS - 1);
    });
    println!("{made} repaired");
}

/// The journal of the old store goes after the names have changed.
#[test]
fn a_repair_that_loses_its_power_loses_nothing_of_a_journal() {
    let mut answered = HashMap::new();
    let prepare = |path: &Path| {
        let mut writer = Writer::start(path);
        while answered.len() < 30 || !path.with_extension("redb.journal").exists() {
            let number = answered.len() as u64;
            answered.insert(writer.save(&document(0, number)).unwrap(), (0, number));
        }
        send(&writer.child, Signal::STOP);
        send(&writer.child, Signal::KILL);
        ended(writer.child);
    };
    let Some(scene) = Scene::new(prepare) else { return };
    scene.cut("repair", || check(&scene.store(), &answered));
}
