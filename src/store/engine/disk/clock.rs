//! The clock that all processes of one boot share, and that is never set.
//!
//! Must never be compared with a clock of another boot.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::OnceLock;

use super::opening;
use crate::codec::check;

/// Microseconds since some moment before the system was started.
pub(super) fn ticks() -> u64 {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let (seconds, nanos) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
        seconds.unwrap_or(0) * 1_000_000 + nanos.unwrap_or(0) / 1000
    }
    #[cfg(not(unix))]
    {
        u64::try_from(crate::checkpoint::Timestamp::now().as_micros()).unwrap_or(0)
    }
}

/// Identifies the boot; zero if the system does not tell.
pub(super) fn boot() -> u64 {
    static BOOT: OnceLock<u64> = OnceLock::new();
    *BOOT.get_or_init(|| {
        let mut boot = String::new();
        let file = opening::read(Path::new("/proc/sys/kernel/random/boot_id"));
        if !file.is_ok_and(|mut file| file.read_to_string(&mut boot).is_ok()) {
            return 0;
        }
        // A container may have a clock of its own.
        let clock = fs::read_link("/proc/self/ns/time").unwrap_or_default();
        check(check(0, boot.as_bytes()), clock.as_os_str().as_encoded_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_on_and_the_boot_stays() {
        let (before, boot) = (ticks(), boot());
        assert!(before > 0 && ticks() >= before);
        assert_eq!(boot, super::boot());
        #[cfg(target_os = "linux")]
        assert_ne!(boot, 0);
    }
}
