//! Many damaged files, each read in all ways, verified and repaired, on all processors.

use std::fs;
use std::panic;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once, mpsc};
use std::thread;
use std::time::Duration;

use waypost::Store;
use waypost::care::Repair;

use super::specimen::{Reads, Specimen};

/// A file that makes one call hang would hang the test; this says which.
const PATIENCE: Duration = Duration::from_mins(1);

/// A file that is made of another: what it is called, and its bytes.
pub(super) type Case = (String, Vec<u8>);

/// How many files came to which end.
#[derive(Debug, Default)]
pub(super) struct Ends {
    pub(super) cases: usize,
    /// Files of which something could not be read.
    pub(super) hurt: usize,
    /// Files in which something was found.
    pub(super) found: usize,
    pub(super) repaired: usize,
    /// Files of which nothing could be saved.
    pub(super) beyond: usize,
}

impl Specimen {
    /// Tries all cases; each `repaired`th that is hurt is repaired, and compared.
    pub(super) fn try_all(
        &self,
        journal: Option<&[u8]>,
        cases: &(dyn Fn(usize) -> Option<Case> + Sync),
        repaired: usize,
    ) -> Ends {
        hush_engine();
        let ends = Mutex::new(Ends::default());
        let next = AtomicUsize::new(0);
        let (begun, beginnings) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                let (begun, ends, next) = (begun.clone(), &ends, &next);
                scope.spawn(move || {
                    let dir = tempfile::tempdir().unwrap();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some((name, bytes)) = cases(number) else { return };
                        begun.send(name.clone()).unwrap();
                        let is_repaired = number.is_multiple_of(repaired);
                        let paths = Paths::new(dir.path(), &bytes, journal);
                        self.try_one(&paths, &name, is_repaired, ends);
                    }
                });
            }
            drop(begun);
            let mut last = String::new();
            loop {
                match beginnings.recv_timeout(PATIENCE) {
                    Ok(name) => last = name,
                    Err(mpsc::RecvTimeoutError::Disconnected) => return,
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        // A panic would wait for the thread that hangs.
                        eprintln!("{last}, or one soon before, makes a call hang");
                        std::process::exit(101);
                    }
                }
            }
        });
        ends.into_inner().unwrap()
    }

    fn try_one(&self, paths: &Paths, name: &str, is_repaired: bool, ends: &Mutex<Ends>) {
        let before = fs::read(&paths.damaged).unwrap();
        let verified = Store::verify(&paths.damaged, Duration::ZERO);
        assert!(fs::read(&paths.damaged).unwrap() == before, "{name}: verify changed the file");
        let is_clean = verified.as_ref().is_ok_and(waypost::care::Verification::is_clean);
        let reads = self.check(&paths.used);
        assert!(
            reads.failed.is_empty() || !is_clean,
            "{name}: nothing was found, but {:?}",
            reads.failed
        );
        let mut ended = Ends { cases: 1, found: usize::from(!is_clean), ..Ends::default() };
        ended.hurt = usize::from(!reads.failed.is_empty());
        if !is_clean {
            self.repair(paths, (name, &reads), is_repaired, &mut ended);
            assert!(fs::read(&paths.damaged).unwrap() == before, "{name}: repair changed it");
        }
        let mut ends = ends.lock().unwrap();
        ends.cases += ended.cases;
        ends.hurt += ended.hurt;
        ends.found += ended.found;
        ends.repaired += ended.repaired;
        ends.beyond += ended.beyond;
    }

    fn repair(
        &self,
        paths: &Paths,
        (name, reads): (&str, &Reads),
        is_repaired: bool,
        ended: &mut Ends,
    ) {
        let into = Some(paths.saved.clone());
        let how = Repair { into, dry_run: !is_repaired, ..Repair::default() };
        let repaired =
            Store::repair(&paths.damaged, &how, &mut |_| std::ops::ControlFlow::Continue(()));
        let repaired = match repaired {
            Ok(repaired) => repaired,
            Err(error) => {
                assert!(reads.readable.is_empty(), "{name}: {error}, but {reads:?}");
                ended.beyond = 1;
                return;
            }
        };
        let saved = repaired.checkpoints + repaired.deleted - repaired.salvaged;
        assert!(saved >= reads.readable.len() as u64, "{name}: {repaired:?}, but {reads:?}");
        if is_repaired {
            ended.repaired = 1;
            let store = Store::open(&paths.saved).unwrap();
            self.check_repaired(&store, reads);
            store.close().unwrap();
            fs::remove_file(&paths.saved).unwrap();
        }
    }
}

/// Files of a case; opening one to use it changes it.
struct Paths {
    damaged: std::path::PathBuf,
    used: std::path::PathBuf,
    saved: std::path::PathBuf,
}

impl Paths {
    fn new(dir: &Path, bytes: &[u8], journal: Option<&[u8]>) -> Self {
        let paths = Self {
            damaged: dir.join("damaged.redb"),
            used: dir.join("used.redb"),
            saved: dir.join("saved.redb"),
        };
        for path in [&paths.damaged, &paths.used] {
            fs::write(path, bytes).unwrap();
            let beside = path.with_extension("redb.journal");
            match journal {
                Some(journal) => fs::write(beside, journal).unwrap(),
                None => _ = fs::remove_file(beside),
            }
        }
        paths
    }
}

/// Panics of the engine are expected by the hundred, and telling of one takes longer than a case.
pub(super) fn hush_engine() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let tell = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_engine = info.location().is_some_and(|at| at.file().contains("/redb-"));
            if !is_engine {
                tell(info);
            }
        }));
    });
}
