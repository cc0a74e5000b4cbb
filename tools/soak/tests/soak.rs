//! The program as a whole: a short run, with kills.

use std::process::Command;

#[test]
fn a_short_run_with_kills_finds_nothing_wrong() {
    let out = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_soak"))
        .args(["--for", "4s", "--every", "1s", "--processes", "3", "--spare", "1"])
        .args(["--kill-every", "300ms", "--operations", "10", "--out"])
        .arg(out.path())
        .output()
        .unwrap();
    let page = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{page}\n{}", String::from_utf8_lossy(&run.stderr));
    assert!(page.contains("Nothing was missing or different"), "{page}");
    assert!(!page.contains(", and 0 processes killed"), "{page}");
    assert_eq!(std::fs::read_to_string(out.path().join("soak.md")).unwrap(), page);
    assert!(out.path().join("soak.svg").exists());
}
