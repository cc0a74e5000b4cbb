//! What was deleted, and how it comes back.

use waypost::Deleted;

use super::size;

/// What comes back of what was deleted, in words.
pub(crate) fn come_back(deleted: &Deleted) -> String {
    let size = size(deleted.stored_bytes);
    match deleted.operation.filter(|_| deleted.is_restorable) {
        Some(number) => format!(
            "`waypost undelete --operation {number}` restores, `waypost compact` gives back {size}"
        ),
        None => format!("{size} less stored"),
    }
}
