//! Which paths files of an export may have. Must never allow one that leads out of the directory.

use crate::checkpoint::{Format, SourceForm, part_refusal};

const GZ: &str = ".gz";
/// Parts of paths that belong to git, which runs files from there, and to the store.
pub const RESERVED: [&str; 2] = [".git", ".waypost"];

/// Files of a home directory that grant access or run at login. Projects do not have them.
const OF_HOME: [&str; 49] = [
    // Keys and passwords.
    ".ssh",
    ".gnupg",
    ".netrc",
    ".pgpass",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".rhosts",
    ".shosts",
    ".k5login",
    ".my.cnf",
    ".gem",
    ".m2",
    // Shells.
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".config/fish",
    ".local/bin",
    // Sessions.
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".pam_environment",
    ".config/autostart",
    ".config/environment.d",
    ".config/systemd",
    ".gitconfig",
    ".config/git",
    ".tmux.conf",
    ".screenrc",
    ".xsessionrc",
    ".forward",
    ".procmailrc",
    ".mailcap",
    ".oh-my-zsh",
];
/// Files that tell version control, editors, package managers and agents what to run. Projects have
/// them, but not as checkpoint files.
const OF_PROJECT: [&str; 38] = [
    ".gitmodules",
    ".gitattributes",
    ".hg",
    ".hgrc",
    ".svn",
    ".bzr",
    ".jj",
    ".github",
    ".husky",
    ".pre-commit-config.yaml",
    ".envrc",
    ".direnv",
    ".vimrc",
    ".vim",
    ".exrc",
    ".emacs",
    ".emacs.d",
    ".config/nvim",
    ".vscode",
    ".idea",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".gradle",
    ".bundle",
    ".pip",
    ".config/pip",
    ".gdbinit",
    ".lldbinit",
    ".Rprofile",
    ".subversion",
    ".pypirc",
    ".cargo",
    ".mcp.json",
    ".cursor",
    ".claude/hooks",
    ".claude/settings.json",
    ".claude/settings.local.json",
];

/// Which files of an export are compressed with gzip.
///
/// ```
/// use waypost::transfer::export::{ExportOptions, Packing};
///
/// let options = ExportOptions { packing: Packing::Gzip, ..ExportOptions::default() };
/// assert_ne!(options.packing, Packing::AsBefore);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Packing {
    /// Those that were.
    #[default]
    AsBefore,
    /// All that are JSON.
    Gzip,
    /// None.
    Plain,
}

impl Packing {
    /// Returns the path and the form of a file that had these before.
    pub(crate) fn apply(self, path: &str, form: SourceForm) -> (String, SourceForm) {
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

/// Returns why a path, with `/` between its parts, cannot name a file below a directory; `None` if
/// it can.
///
/// ```
/// use waypost::transfer::place::refusal;
///
/// assert_eq!(refusal(".claude/data/a.json"), None);
/// assert_eq!(refusal("../a"), Some("has . or .. as a part"));
/// ```
#[must_use]
pub fn refusal(path: &str) -> Option<&'static str> {
    path.split('/').find_map(refusal_of_part)
}

/// As [`refusal`], for the path of a checkpoint file, which an import may have brought: it also
/// refuses files that another tool trusts or runs.
pub(crate) fn recorded_refusal(path: &str) -> Option<&'static str> {
    let leads = leads_to(path, &OF_HOME) || leads_to(path, &OF_PROJECT);
    refusal(path).or(leads.then_some("leads to a file that another tool trusts or runs"))
}

/// Whether a path leads to a file of a home directory that grants access or runs at login.
pub(crate) fn leads_home(path: &str) -> bool {
    leads_to(path, &OF_HOME)
}

/// Whether consecutive parts of a path are those of a name. Ignores case, since some file systems
/// do.
fn leads_to(path: &str, names: &[&str]) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    names.iter().any(|name| {
        let name: Vec<&str> = name.split('/').collect();
        let is_it = |at: &[&str]| at.iter().zip(&name).all(|(a, b)| a.eq_ignore_ascii_case(b));
        parts.windows(name.len()).any(is_it)
    })
}

fn refusal_of_part(part: &str) -> Option<&'static str> {
    if let Some(reason) = part_refusal(part) {
        return Some(reason);
    }
    // It names a drive or a stream.
    if cfg!(windows) && part.contains(':') {
        return Some("has a colon");
    }
    let is_reserved = RESERVED.iter().any(|name| part.eq_ignore_ascii_case(name));
    is_reserved.then_some("leads into a directory of git or of the store")
}

/// Splits a path into its directory, which is empty for a file in the root, and its name.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Returns a path and the directories above it, from the root, which is empty.
pub fn ancestors(path: &str) -> impl Iterator<Item = &str> {
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

    /// An imported line made an export write `.ssh/authorized_keys`.
    #[test]
    fn a_recorded_path_to_a_file_that_other_tools_trust_is_refused() {
        let legacy = [
            ".claude/checkpoints/a.json",
            ".claude/crunch/7/checkpoints/CP-1.yaml",
            ".claude/data/a.json",
            ".pipeline/checkpoint-a.json",
            ".aiwg/ralph/a.json",
            ".tmp/a.json",
            ".hex-skills/pipeline/a.json",
        ];
        let near = [".config/a.json", "ssh/a", ".local/share/a", ".cursorless/a", "mcp.json"];
        for right in legacy.into_iter().chain(near) {
            assert_eq!(recorded_refusal(right), None, "{right:?}");
        }
        for name in OF_HOME.iter().chain(&OF_PROJECT) {
            for wrong in [(*name).to_owned(), format!("a/{}/b", name.to_uppercase())] {
                assert!(recorded_refusal(&wrong).is_some(), "{wrong:?}");
                assert_eq!(refusal(&wrong), None, "a capture may have {wrong:?}");
            }
        }
        for wrong in [".rhosts", ".oh-my-zsh/custom/a.zsh", ".gradle/init.gradle", ".gdbinit"] {
            assert!(recorded_refusal(wrong).is_some(), "{wrong:?}");
        }
        assert!(leads_home("a/.ssh/authorized_keys") && !leads_home(".github/workflows/a"));
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
