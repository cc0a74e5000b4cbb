//! Paths of files in an export. Must never let one lead out of its directory.

use waypost::{Format, SourceForm};

// What common file systems take.
const PART_BYTES: usize = 255;
const GZ: &str = ".gz";
/// Whoever writes there changes what git runs, or what the store is.
pub(in crate::command) const RESERVED: [&str; 2] = [".git", ".waypost"];

/// Whether files are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::command::export) enum Packing {
    /// Those that were.
    AsBefore,
    /// All that are JSON.
    Gzip,
    /// None.
    Plain,
}

impl Packing {
    /// The path and the form of a file that had these before.
    pub(super) fn apply(self, path: &str, form: SourceForm) -> (String, SourceForm) {
        match self {
            Self::Gzip if !form.is_gzip && form.format == Format::Json => {
                (format!("{path}{GZ}"), SourceForm { is_gzip: true, ..form })
            }
            Self::Plain if form.is_gzip => {
                let plain = path.strip_suffix(GZ).unwrap_or(path);
                (plain.to_owned(), SourceForm { is_gzip: false, ..form })
            }
            Self::AsBefore | Self::Gzip | Self::Plain => (path.to_owned(), form),
        }
    }
}

/// Says what keeps a path, with `/` between its parts, from naming a file below a directory.
pub(in crate::command) fn refusal(path: &str) -> Option<&'static str> {
    path.split('/').find_map(part_refusal)
}

fn part_refusal(part: &str) -> Option<&'static str> {
    // A colon names a drive or a stream on Windows, where a backslash parts.
    let leads_away = |char: char| char == '\\' || (cfg!(windows) && char == ':');
    match part {
        "" => Some("has an empty part, or starts at the root"),
        "." | ".." => Some("has a part that is no name"),
        _ if part.len() > PART_BYTES => Some("has a part of more than 255 bytes"),
        _ if part.contains(char::is_control) => Some("has a control character"),
        _ if part.contains(leads_away) => Some("has a backslash or a colon"),
        _ if RESERVED.iter().any(|name| part.eq_ignore_ascii_case(name)) => {
            Some("leads into what belongs to git or to the store")
        }
        _ => None,
    }
}

/// The directory of a path, which is empty for the one of the export, and the name in it.
pub(in crate::command) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// A path and the ones above it, from the top: that of the export is empty.
pub(in crate::command) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let parts = path.match_indices('/').map(|(at, _)| &path[..at]);
    let whole = Some(path).filter(|path| !path.is_empty());
    std::iter::once("").chain(parts).chain(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_parts_of_a_path() {
        for right in ["a", "a/b.json", ".claude/crunch/7/checkpoints/CP-1.yaml", "a b", "..."] {
            assert_eq!(refusal(right), None, "{right:?}");
        }
        let long = "x".repeat(256);
        for wrong in [
            "",
            "/a",
            "a/",
            "a//b",
            ".",
            "./a",
            "..",
            "../a",
            "a/..",
            "a/../b",
            "a\\b",
            "a\0b",
            "a\nb",
            &long,
            ".git/hooks/x",
            "a/.GIT/x",
            ".waypost/store.redb",
        ] {
            assert!(refusal(wrong).is_some(), "{wrong:?}");
        }
    }

    #[test]
    fn the_name_tells_whether_a_file_is_compressed() {
        let json = SourceForm::default();
        let gzip = SourceForm { is_gzip: true, ..json };
        let yaml = SourceForm { format: Format::Yaml, ..json };
        for (packing, path, form, expected, is_gzip) in [
            (Packing::AsBefore, "a.json.gz", gzip, "a.json.gz", true),
            (Packing::AsBefore, "a.json", json, "a.json", false),
            (Packing::Gzip, "a.json", json, "a.json.gz", true),
            (Packing::Gzip, "a.json.gz", gzip, "a.json.gz", true),
            (Packing::Gzip, "a.yaml", yaml, "a.yaml", false),
            (Packing::Plain, "a.json.gz", gzip, "a.json", false),
            (Packing::Plain, "a.json", json, "a.json", false),
            // What is no gzip in spite of its name keeps it.
            (Packing::Plain, "a.gz", json, "a.gz", false),
        ] {
            let (path, form) = packing.apply(path, form);
            assert_eq!((&*path, form.is_gzip), (expected, is_gzip));
        }
    }
}
