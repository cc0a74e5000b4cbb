//! How deleted checkpoints are restored, in words.

use waypost::keep::Deleted;

use super::size;

/// How many deleted checkpoints can be restored and with which command.
pub(crate) fn come_back(deleted: &Deleted) -> String {
    let size = size(deleted.stored_bytes);
    match deleted.operation.filter(|_| deleted.is_restorable) {
        Some(number) => format!(
            "`waypost undelete --operation {number}` restores, `waypost compact` gives back {size}"
        ),
        None => format!("{size} less stored"),
    }
}
