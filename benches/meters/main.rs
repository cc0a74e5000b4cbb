//! Meters: how many instructions each work of the library takes, compared with the counts that are
//! checked in.
//!
//! `cargo bench --bench meters` runs this program under callgrind and fails if a work takes over
//! 5 % more instructions than `benches/meters/counts.txt` says. Instructions do not depend on how
//! busy the machine is. They do depend on the compiler, the processor and the C library: if the
//! file was made with others, growth is shown and does not fail. Options:
//!
//! - `--update` writes the file anew;
//! - `--strict` fails on growth even if compiler or machine are others.
//!
//! `works.rs` has the works, `driver.rs` runs them under callgrind, `stores.rs` makes the stores
//! that they read.

mod counts;
#[path = "../../src/bin/waypost/command/bench/document.rs"]
mod document;
mod driver;
mod origin;
#[path = "../../src/bin/waypost/command/bench/random.rs"]
mod random;
mod stores;
mod valgrind;
mod works;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use counts::{Row, Sheet, TOLERANCE_PERCENT, Verdict, compare, fails};
use works::Threads;

/// What a run is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Compare,
    CompareStrictly,
    Update,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [first, word, place] = arguments.as_slice()
        && first == driver::WORD
    {
        let threads = Threads::ALL.into_iter().find(|threads| threads.word() == word);
        driver::run(threads.expect("the word is of this program"), Path::new(place));
        return ExitCode::SUCCESS;
    }
    let Some(wish) = wish(&arguments) else { return ExitCode::SUCCESS };
    match run(wish) {
        Ok(code) => code,
        Err(why) => {
            eprintln!("meters: {why}");
            ExitCode::FAILURE
        }
    }
}

/// `None` if something else is asked for: `cargo bench` gives its arguments to all benchmarks, and
/// `cargo test --benches` runs them without measuring.
fn wish(arguments: &[String]) -> Option<Wish> {
    let (mut wish, mut is_measured) = (Wish::Compare, false);
    for argument in arguments {
        match argument.as_str() {
            "--bench" => is_measured = true,
            "--update" => wish = Wish::Update,
            "--strict" => wish = Wish::CompareStrictly,
            _ => return None,
        }
    }
    is_measured.then_some(wish)
}

fn run(wish: Wish) -> Result<ExitCode, String> {
    let counted = Sheet { made_by: origin::made_by()?, counts: valgrind::count()? };
    let path = file();
    if wish == Wish::Update {
        fs::write(&path, counted.to_text())
            .map_err(|error| format!("{}: {error}", path.display()))?;
        println!("{}wrote {}", counted.to_text(), path.display());
        return Ok(ExitCode::SUCCESS);
    }
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let checked_in = Sheet::parse(&text).map_err(|why| format!("{}, {why}", path.display()))?;
    let rows = compare(&counted, &checked_in);
    print(&rows);
    let is_same = counted.made_by == checked_in.made_by;
    if !is_same {
        println!("\nNOT COMPARABLE, so growth does not fail (it does with --strict):");
        println!("    counted with    {}", counted.made_by);
        println!("    checked in with {}", checked_in.made_by);
    }
    let has_failed = fails(&rows, is_same || wish == Wish::CompareStrictly);
    advise(&rows, has_failed);
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print(rows: &[Row]) {
    println!("{:<38} {:>11} {:>11} {:>8}", "instructions", "counted", "checked in", "change");
    for row in rows {
        println!("{}", row.to_line());
    }
}

fn advise(rows: &[Row], has_failed: bool) {
    let has = |verdict| rows.iter().any(|row| row.verdict == verdict);
    if has_failed {
        println!("\nFAILED: a count is more than {TOLERANCE_PERCENT} % above the checked-in one,");
        println!("or works and file differ. If that is meant, write the file anew and commit it:");
    } else if has(Verdict::Shrunk) {
        println!("\nSome works take less than the file says. To hold them to that:");
    } else {
        return;
    }
    println!("    cargo bench --bench meters -- --update");
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/meters/counts.txt")
}
