//! A name that is taken, by a link too, gets another one.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::store::engine::disk::RealDisk;

#[test]
fn a_taken_name_of_a_foreign_journal_gets_another_one_and_no_link_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let [path, taken, target] = ["j", "j.0f", "target"].map(|name| dir.path().join(name));
    fs::write(&path, "foreign").unwrap();
    symlink(&target, &taken).unwrap();
    fs::write(dir.path().join("j.0f-1"), "precious").unwrap();
    let aside = set_aside(&RealDisk, &path, "0f").unwrap();
    assert_eq!(aside, dir.path().join("j.0f-2"));
    assert_eq!(fs::read(&aside).unwrap(), b"foreign");
    assert_eq!(fs::read(dir.path().join("j.0f-1")).unwrap(), b"precious");
    assert_eq!(fs::read_link(&taken).unwrap(), target);
    assert!(!target.exists(), "made through the link");
}
