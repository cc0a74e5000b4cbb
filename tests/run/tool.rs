//! What a test needs and a machine may lack: programs, file systems, privileges.
//!
//! A test without its tool must not look as if it had tested something. It prints
//! `skipped: REASON` and its name, also when `cargo test` hides what tests print.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::{env, thread};

/// Reports that the running test tests nothing, or leaves out a part.
pub(crate) fn skipped(reason: impl Display) {
    let thread = thread::current();
    let line = format!("skipped: {reason} ({})\n", thread.name().unwrap_or("no name"));
    // The test harness captures only what the print macros write, and drops it if a test passes.
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Whether a program is on the path; reports the test as skipped if not.
pub(crate) fn has(program: &str) -> bool {
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    let is_there = env::split_paths(&path).any(|it: PathBuf| it.join(&name).is_file());
    if !is_there {
        skipped(format_args!("{program} is not installed"));
    }
    is_there
}

/// Ends a test that cannot do without a program.
#[allow(unused_macros, reason = "each of the three test binaries uses a part of this file")]
macro_rules! needs {
    ($program:literal) => {
        if !crate::tool::has($program) {
            return;
        }
    };
}
