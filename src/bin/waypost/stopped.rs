//! Whether the process that has the store is stopped, and will not end by being asked to.

use std::fs;

/// What to do about a holder that is stopped, by how it describes itself; `None` if it is not, or
/// nobody can tell.
pub(crate) fn advice(holder: &str) -> Option<String> {
    let id: u32 = holder.strip_prefix("process ")?.split(' ').next()?.parse().ok()?;
    let status = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    is_stopped(&status).then(|| {
        format!("process {id} is stopped: `kill -CONT {id}` lets it go on, `kill -9 {id}` ends it")
    })
}

fn is_stopped(status: &str) -> bool {
    // The name of the program comes before it, and may have parentheses of its own.
    let after = status.rsplit_once(") ").map(|(_, after)| after);
    after.is_some_and(|after| after.starts_with(['T', 't']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_stopped_by_its_state_and_not_by_its_name() {
        assert!(is_stopped("7 (waypost) T 1 7 7"));
        assert!(is_stopped("7 (a) S (b) t 1 7 7"));
        assert!(!is_stopped("7 (a) T (b) S 1 7 7"));
        assert!(!is_stopped(""));
        assert_eq!(advice(&format!("process {} (the test)", std::process::id())), None);
        assert_eq!(advice("another process"), None);
    }
}
