//! Files that are captured more often by mistake than on purpose.

// As git ignores them in most projects: they are made anew, and are large.
const MADE: [&str; 6] = ["target", "node_modules", ".venv", "venv", "__pycache__", "dist"];
const KEY_ENDINGS: [&str; 4] = [".pem", ".key", ".p12", ".pfx"];
const KEYS: [&str; 4] = ["id_rsa", "id_ed25519", "credentials.json", ".netrc"];
// Told by name; more are only counted.
const SHOWN: usize = 3;

/// What should be said about captured paths, if anything.
pub(super) fn warnings<'a>(paths: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let secret = told(paths.clone().filter(|path| is_secret(path)));
    let secret = secret.map(|them| format!("captured {them}, which may hold secrets"));
    let mut made: Vec<&str> = paths.filter_map(made).collect();
    made.dedup();
    let made = told(made.into_iter());
    let made = made.map(|them| format!("captured {them}, which can be made anew"));
    secret.into_iter().chain(made).collect()
}

fn is_secret(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_example = [".example", ".sample", ".template"].iter().any(|end| name.ends_with(end));
    let is_env = name == ".env" || (name.starts_with(".env.") && !is_example);
    is_env || KEYS.contains(&name) || KEY_ENDINGS.iter().any(|end| name.ends_with(end))
}

/// The directory of what is made anew, if a path leads through one.
fn made(path: &str) -> Option<&str> {
    let mut end = 0;
    let (directory, _) = path.rsplit_once('/')?;
    for part in directory.split('/') {
        end += part.len();
        if MADE.contains(&part) {
            return Some(&path[..end]);
        }
        end += 1;
    }
    None
}

fn told<'a>(paths: impl Iterator<Item = &'a str>) -> Option<String> {
    let paths: Vec<&str> = paths.collect();
    let shown = paths.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    match paths.len() {
        0 => None,
        count if count > SHOWN => Some(format!("{shown} and {} more", count - SHOWN)),
        _ => Some(shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_what_is_made_anew_are_told() {
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
        assert_eq!(
            warnings(paths.into_iter()),
            [
                "captured .env, app/.env.local, keys/server.pem and 1 more, which may \
                 hold secrets",
                "captured web/node_modules, which can be made anew",
            ]
        );
        assert!(warnings(["src/target.rs", "environment"].into_iter()).is_empty());
    }
}
