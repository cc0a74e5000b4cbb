//! Files that are captured more often by mistake than on purpose.

// Build output and packages, which git ignores in most projects.
const DERIVED: [&str; 6] = ["target", "node_modules", ".venv", "venv", "__pycache__", "dist"];
const KEY_ENDINGS: [&str; 4] = [".pem", ".key", ".p12", ".pfx"];
const KEYS: [&str; 4] = ["id_rsa", "id_ed25519", "credentials.json", ".netrc"];

/// Paths that may have been captured by mistake.
///
/// ```
/// use waypost::transfer::capture::Suspects;
///
/// let paths = ["src/main.rs", ".env", "web/node_modules/a.js", "web/node_modules/b.js"];
/// let suspects = Suspects::among(paths.into_iter());
/// assert_eq!(suspects.secrets, [".env"]);
/// assert_eq!(suspects.derived, ["web/node_modules"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suspects<'a> {
    /// Files that may hold keys or passwords, by their names.
    pub secrets: Vec<&'a str>,
    /// Directories whose files a build or an installation makes again.
    pub derived: Vec<&'a str>,
}

impl<'a> Suspects<'a> {
    /// Picks the suspects among paths, which are in order.
    #[must_use]
    pub fn among(paths: impl Iterator<Item = &'a str> + Clone) -> Self {
        let secrets = paths.clone().filter(|path| is_secret(path)).collect();
        let mut derived: Vec<&str> = paths.filter_map(derived).collect();
        derived.dedup();
        Self { secrets, derived }
    }
}

fn is_secret(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_example = [".example", ".sample", ".template"].iter().any(|end| name.ends_with(end));
    let is_env = name == ".env" || (name.starts_with(".env.") && !is_example);
    is_env || KEYS.contains(&name) || KEY_ENDINGS.iter().any(|end| name.ends_with(end))
}

/// The directory of derived files that a path leads through, if it does.
fn derived(path: &str) -> Option<&str> {
    let mut end = 0;
    let (directory, _) = path.rsplit_once('/')?;
    for part in directory.split('/') {
        end += part.len();
        if DERIVED.contains(&part) {
            return Some(&path[..end]);
        }
        end += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_derived_files_are_known_by_their_names() {
        let paths = [
            ".env",
            ".env.example",
            "app/.env.local",
            "keys/server.pem",
            "src/main.rs",
            "target",
            "web/node_modules/a/b.js",
            "web/node_modules/c.js",
            "x/id_rsa",
        ];
        let suspects = Suspects::among(paths.into_iter());
        assert_eq!(suspects.secrets, [".env", "app/.env.local", "keys/server.pem", "x/id_rsa"]);
        assert_eq!(suspects.derived, ["web/node_modules"]);
        assert_eq!(
            Suspects::among(["src/target.rs", "environment"].into_iter()),
            Suspects::default()
        );
    }
}
