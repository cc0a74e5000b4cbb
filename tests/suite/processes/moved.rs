//! Another program removes or moves a file of a store while a process saves, which is then killed.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::{Writer, check, document, ended, send, store_in};

const SAVES: u64 = 30;

/// A writer, and the saves that it acknowledged.
struct Scene {
    dir: tempfile::TempDir,
    path: PathBuf,
    writer: Writer,
    sent: u64,
    answered: HashMap<String, (usize, u64)>,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = store_in(&dir);
        let writer = Writer::start(&path);
        let mut scene = Self { dir, path, writer, sent: 0, answered: HashMap::new() };
        (0..SAVES).for_each(|_| scene.save());
        scene
    }

    fn save(&mut self) {
        self.sent += 1;
        let id = self.writer.save(&document(0, self.sent)).unwrap();
        self.answered.insert(id, (0, self.sent));
    }

    /// Does something to the journal, once there is one.
    fn meddle(&mut self, meddle: fn(&Path, &Path) -> std::io::Result<()>) {
        let (journal, moved) = (self.path.with_extension("redb.journal"), self.elsewhere());
        while meddle(&journal, &moved).is_err() {
            self.save();
        }
    }

    fn elsewhere(&self) -> PathBuf {
        self.dir.path().join("elsewhere.redb")
    }

    /// Saves some more and kills the writer; returns what was acknowledged since the last check.
    fn kill(mut self) -> (tempfile::TempDir, PathBuf, HashMap<String, (usize, u64)>) {
        (0..SAVES).for_each(|_| self.save());
        send(&self.writer.child, Signal::KILL);
        drop(self.writer.input.take());
        ended(self.writer.child);
        (self.dir, self.path, self.answered)
    }
}

/// Of 60 acknowledged saves, 59 were lost, among them those after the removal.
#[test]
fn acknowledged_saves_survive_the_removal_of_the_journal() {
    let meddles: [fn(&Path, &Path) -> std::io::Result<()>; 3] = [
        |journal, _| fs::remove_file(journal),
        |journal, elsewhere| fs::rename(journal, elsewhere),
        |journal, elsewhere| {
            fs::rename(journal, elsewhere)?;
            fs::copy(elsewhere, journal).map(drop)
        },
    ];
    for meddle in meddles {
        let mut scene = Scene::new();
        scene.meddle(meddle);
        let (_dir, path, answered) = scene.kill();
        check(&path, &answered);
    }
}

/// All saves after the removal were acknowledged, and lost.
#[test]
fn acknowledged_saves_are_at_the_path_after_the_store_was_removed() {
    let mut scene = Scene::new();
    fs::remove_file(&scene.path).unwrap();
    scene.answered.clear();
    let (_dir, path, answered) = scene.kill();
    check(&path, &answered);
}

#[test]
fn acknowledged_saves_are_in_the_store_that_replaced_the_old_one() {
    let mut scene = Scene::new();
    let elsewhere = scene.elsewhere();
    fs::rename(&scene.path, &elsewhere).unwrap();
    let before = std::mem::take(&mut scene.answered);
    let (_dir, path, answered) = scene.kill();
    check(&path, &answered);
    check(&elsewhere, &before);
}
