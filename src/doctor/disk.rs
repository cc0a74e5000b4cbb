//! The disk of the store: the time of a durable write, and free space.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::floor::Floor;
use super::report::Checkup;
use super::scratch::Scratch;
use super::system;
use crate::store::Inspection;
use crate::text::quoted;
use crate::transfer::size::size;

const WRITES: u32 = 20;
// A disk that needs longer for them is slow: fewer writes show that.
const TIME_MAX: Duration = Duration::from_secs(2);
// A loop that saves every second would wait a fiftieth of its time.
const SLOW_MICROS: f64 = 20_000.0;
// The journal, a few pages of the file, and some room for others.
const FREE_BYTES_MIN: u64 = 16 << 20;
const FREE_BYTES_FEW: u64 = 256 << 20;

/// The disk of the store, or of the directory in which one would be made.
pub(super) fn checks(store: &Path, found: Option<&Inspection>) -> Vec<Checkup> {
    let above = store.ancestors().skip(1).find(|directory| directory.is_dir());
    let Some(directory) = above else { return Vec::new() };
    let file_bytes = found.map_or(0, |found| found.file_bytes);
    [Some(speed(directory)), room(directory, file_bytes), kind(directory)]
        .into_iter()
        .flatten()
        .collect()
}

fn speed(directory: &Path) -> Checkup {
    const NAME: &str = "disk";
    match measure(directory) {
        Ok(micros) => {
            let millis = micros / 1000.0;
            let finding = format!("a durable write of 4 KiB takes {millis:.2} ms");
            if micros > SLOW_MICROS {
                return Checkup::warn(NAME, finding).advise(
                    "each save waits for one; waypost bench --dir DIR measures another disk",
                );
            }
            Checkup::ok(NAME, finding)
        }
        Err(error) => {
            let advice = unwritable(&error.source, directory);
            let finding = format!("nothing can be written: {}{}", error.what, error.source);
            Checkup::bad(NAME, finding).advise(advice)
        }
    }
}

/// What to do if nothing can be written to a directory.
fn unwritable(error: &io::Error, directory: &Path) -> String {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded => {
            "make room on that disk: waypost prune --policy last-50 --now, then waypost compact, \
             or remove other files; reading needs no room"
                .to_owned()
        }
        _ => format!("let this user write to {}", quoted(&directory.display().to_string())),
    }
}

/// What could not be done, with a colon, and why.
struct Failure {
    what: String,
    source: io::Error,
}

impl From<io::Error> for Failure {
    fn from(source: io::Error) -> Self {
        Self { what: String::new(), source }
    }
}

/// The median time of a durable write, in microseconds.
fn measure(directory: &Path) -> Result<f64, Failure> {
    let scratch = Scratch::new(directory, "doctor").map_err(|source| {
        let path = Scratch::path_in(directory, "doctor");
        Failure { what: format!("cannot make {}: ", path.display()), source }
    })?;
    let mut floor = Floor::new(scratch.path())?;
    let start = Instant::now();
    for _ in 0..WRITES {
        floor.append(1)?;
        if start.elapsed() > TIME_MAX {
            break;
        }
    }
    Ok(floor.median_micros())
}

fn room(directory: &Path, file_bytes: u64) -> Option<Checkup> {
    const NAME: &str = "room";
    let free = system::free_bytes(directory)?;
    let finding = format!("{} free on the disk", size(free));
    Some(if free < FREE_BYTES_MIN {
        Checkup::bad(NAME, finding).advise("saves will fail soon: make room")
    } else if free < FREE_BYTES_FEW.max(file_bytes) {
        Checkup::warn(NAME, finding).advise("waypost compact may need as much as the store has")
    } else {
        Checkup::ok(NAME, finding)
    })
}

fn kind(directory: &Path) -> Option<Checkup> {
    let (name, why) = system::doubt(directory)?;
    let finding = format!("the store is on {name}: {why}");
    Some(
        Checkup::warn("medium", finding)
            .advise("keep it on a local disk, and name it with --store"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full disk was reported as one without write permission.
    #[test]
    fn the_advice_goes_by_why_nothing_can_be_written() {
        let advice = |kind: io::ErrorKind| unwritable(&io::Error::from(kind), Path::new("d"));
        for full in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            assert!(advice(full).starts_with("make room on that disk: "));
        }
        assert_eq!(advice(io::ErrorKind::PermissionDenied), "let this user write to d");
    }
}
