//! What this run was asked for, where criterion does not tell.

use std::env;

/// Whether times are measured; else each benchmark runs once, to see that it works.
pub(crate) fn is_measured() -> bool {
    has("--bench") && !has("--test") && !has("--list") && !has("--profile-time")
}

/// Whether the stores of a million checkpoints are left out.
pub(crate) fn is_small() -> bool {
    env::var_os("WAYPOST_BENCH_SMALL").is_some_and(|value| value != "0")
}

/// Whether a table is asked for: by name, or by not naming any benchmark.
pub(crate) fn wants(table: &str) -> bool {
    // The values of most of criterion's options are numbers, and no benchmark is called so.
    let is_name = |text: &String| !text.starts_with('-') && text.parse::<f64>().is_err();
    let mut names = env::args().skip(1).filter(is_name).peekable();
    is_measured() && (names.peek().is_none() || names.any(|name| name == table))
}

fn has(option: &str) -> bool {
    env::args().any(|argument| argument == option)
}
