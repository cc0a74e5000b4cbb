//! How many checkpoints one transaction removes: fewer once the disk is full.

use crate::store::turn::enter::Turn;

// Some seven pages each, which the reserve has room for; what they free is there for the next.
pub(in crate::store) const AT_ONCE_IF_FULL: usize = 4;

/// How many checkpoints a transaction removes.
pub(in crate::store) struct AtOnce {
    pub(in crate::store) many: usize,
    /// Whether they are gone for good.
    is_final: bool,
    /// Whether space was freed since the last transaction that succeeded.
    pub(in crate::store) has_freed: bool,
}

impl AtOnce {
    pub(in crate::store) fn new(many: usize, is_final: bool) -> Self {
        Self { many, is_final, has_freed: false }
    }

    /// Frees disk space after a transaction that found none, and lets the next one remove fewer;
    /// false if one checkpoint is too many. The space often does for many transactions.
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
