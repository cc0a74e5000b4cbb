//! `waypost save --capture`: its notes, warnings and errors.

use anyhow::Result;
use waypost::transfer::capture::{Capture, CaptureError, CaptureEvent};
use waypost::{NewArtifact, NewEntry, Store};

use super::Args;
use crate::args::Global;
use crate::open;
use crate::output::plain;
use crate::progress::Progress;

// Further paths are only counted.
const SHOWN: usize = 3;

/// Reads the files that flags name, and warns of those that may be captured by mistake.
pub(super) fn read(args: &Args, global: &Global) -> Result<Capture> {
    let progress = Progress::new("reading files", global);
    let mut tell = |event: CaptureEvent<'_>| match event {
        CaptureEvent::Read(count) => progress.show(count),
        event => note(&event, global),
    };
    let capture = Capture::read(&open::path(global)?, &args.capture, &mut tell);
    let capture = capture.map_err(told)?;
    let suspects = capture.suspects();
    if let Some(them) = listed(&suspects.secrets) {
        global.warn(format_args!("captured {them}, which may hold secrets"));
    }
    if let Some(them) = listed(&suspects.derived) {
        global.warn(format_args!("captured {them}, which can be made anew"));
    }
    Ok(capture)
}

/// The captured files to save with a checkpoint.
pub(super) fn artifacts(
    capture: Capture,
    store: &Store,
    about: &NewEntry,
    global: &Global,
) -> Result<Vec<NewArtifact>> {
    capture.artifacts(store, about, &mut |event| note(&event, global)).map_err(told)
}

/// Unwraps an error of the store, so that it gets its usual exit code and hint.
pub(super) fn told(error: CaptureError) -> anyhow::Error {
    match error {
        CaptureError::Store(error) => error.into(),
        error => error.into(),
    }
}

fn note(event: &CaptureEvent<'_>, global: &Global) {
    match event {
        CaptureEvent::PassedOver { path, what } => {
            let path = plain(&path.display().to_string());
            global.note(format_args!("not captured: {path}: {what}"));
        }
        CaptureEvent::NotCompared(error) => {
            global.note(format_args!("not compared: {}", plain(&error.to_string())));
        }
        _ => {}
    }
}

fn listed(paths: &[&str]) -> Option<String> {
    let shown = paths.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    match paths.len() {
        0 => None,
        count if count > SHOWN => Some(format!("{shown} and {} more", count - SHOWN)),
        _ => Some(shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_paths_are_shown_and_the_rest_counted() {
        assert_eq!(listed(&[]), None);
        assert_eq!(listed(&["a", "b", "c"]).as_deref(), Some("a, b, c"));
        assert_eq!(listed(&["a", "b", "c", "d"]).as_deref(), Some("a, b, c and 1 more"));
    }
}
