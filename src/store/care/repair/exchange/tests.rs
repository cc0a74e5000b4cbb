//! A name that is taken, by a link too, gets another one.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::store::engine::location;

#[test]
fn a_taken_name_of_the_old_store_gets_another_one_and_no_link_is_followed() {
    let now = Timestamp::from_micros(1_700_000_000_000_000);
    for suffix in ["", ".journal"] {
        let dir = tempfile::tempdir().unwrap();
        let place = StorePath::real(dir.path().join("s.redb"));
        let (new, target) = (dir.path().join("new"), dir.path().join("target"));
        fs::write(&place.path, "old").unwrap();
        fs::write(location::beside(&place.path, ".journal"), "old journal").unwrap();
        fs::write(&new, "new").unwrap();
        let predicted = free_name(place.disk.as_ref(), &place.path, now);
        let trap = location::beside(&predicted, suffix);
        symlink(&target, &trap).unwrap();
        let aside = exchange(&new, &place, now).unwrap();
        assert_eq!(aside, location::beside(&predicted, "-1"));
        assert_eq!(fs::read(&aside).unwrap(), b"old");
        assert_eq!(fs::read(location::beside(&aside, ".journal")).unwrap(), b"old journal");
        assert_eq!(fs::read(&place.path).unwrap(), b"new");
        assert_eq!(fs::read_link(&trap).unwrap(), target);
        assert!(!target.exists(), "made through the link");
    }
}
