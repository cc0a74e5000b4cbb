//! Lengths in bytes as reports show them.

/// A length in bytes, in units of 1024 and rounded down.
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut rest = bytes;
    let mut units = UNITS.into_iter().peekable();
    while let Some(unit) = units.next() {
        if rest < 1024 {
            break;
        }
        if rest < 1024 * 1024 || units.peek().is_none() {
            return format!("{}.{} {unit}", rest / 1024, rest % 1024 * 10 / 1024);
        }
        rest /= 1024;
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_digit_after_the_point() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            ((1 << 20) - 1, "1023.9 KiB"),
            (1 << 20, "1.0 MiB"),
            (5 << 40, "5.0 TiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
