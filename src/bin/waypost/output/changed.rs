//! What changed in a checkpoint, in the words of `log` and `watch`.

use waypost::Id;
use waypost::history::{Origin, Reading, Row, Since, Summary};

use super::short_id;

/// What changed in a checkpoint.
pub(crate) struct Changed {
    pub(crate) text: String,
    /// Whether its document is damaged.
    pub(crate) is_bad: bool,
}

impl Changed {
    pub(crate) fn of(row: &Row, id_length: usize) -> Self {
        let (since, files) = match &row.reading {
            Reading::Damaged(_) => return Self { text: "damaged".to_owned(), is_bad: true },
            Reading::Gone => return Self { text: "deleted meanwhile".to_owned(), is_bad: false },
            Reading::Read { since, files, .. } => (since, files.words()),
        };
        let short = |id: &Id| short_id(id, id_length);
        let origin = row.origin.as_ref().map(|origin| match origin {
            Origin::Fork(id) => format!("fork of {}", short(id)),
            Origin::Back(id) => format!("back to {}", short(id)),
            Origin::Gone(id) => format!("from {}, which is gone", short(id)),
        });
        let changed = match since {
            Since::First => "first".to_owned(),
            Since::Before(_, Summary { words, .. }) => words.clone(),
            Since::Unreadable(before) => format!("{} cannot be read", short(before)),
        };
        let is_same = matches!(since, Since::Before(_, Summary { is_same: true, .. }));
        let changed = match files {
            Some(files) if is_same => files,
            Some(files) => format!("{changed}, {files}"),
            None => changed,
        };
        let is_fork_alone = matches!(row.origin, Some(Origin::Fork(_)))
            && matches!(since, Since::Before(_, Summary { changes: 0, .. }));
        let text = match origin {
            Some(origin) if is_fork_alone => origin,
            Some(origin) => format!("{origin}, {changed}"),
            None => changed,
        };
        Self { text, is_bad: false }
    }
}
