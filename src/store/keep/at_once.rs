//! Decides how many checkpoints one transaction removes: fewer once the disk is full.

use crate::store::turn::enter::Turn;

// Each takes about seven pages, and the reserve has room for these. What one transaction frees, the
// next can use.
pub(in crate::store) const AT_ONCE_IF_FULL: usize = 4;

/// The size of the next transaction, and what was tried to make room.
pub(in crate::store) struct AtOnce {
    pub(in crate::store) many: usize,
    /// Whether the checkpoints are removed for good, so that the last of the reserve may be used.
    is_final: bool,
    /// Whether space was freed since the last transaction that succeeded.
    pub(in crate::store) has_freed: bool,
}

impl AtOnce {
    pub(in crate::store) fn new(many: usize, is_final: bool) -> Self {
        Self { many, is_final, has_freed: false }
    }

    /// Frees disk space after a transaction that found none, and lets the next one remove fewer
    /// checkpoints. False if even one checkpoint found no room after space was freed. The freed
    /// space often lasts for many transactions.
    pub(in crate::store) fn can_retry(&mut self, turn: &Turn) -> bool {
        if self.many > AT_ONCE_IF_FULL {
            self.many = AT_ONCE_IF_FULL;
        } else if self.has_freed {
            if self.many == 1 {
                return false;
            }
            self.many = 1;
        }
        turn.free_space(self.is_final);
        self.has_freed = true;
        true
    }
}
