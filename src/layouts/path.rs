//! The parts of a path.

/// The parts of a path with `/` between them; empty ones and `.` are none.
pub(super) fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}
