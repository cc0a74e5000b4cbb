//! Gathering from the logs of the spool.
//!
//! A log with a save that cannot be taken in now rests, and so does what follows in it. Must never
//! skip a save without a copy of its log among what was set aside.

use super::{Gathered, RAW_BYTES, Refusal};
use crate::codec::Placed;
use crate::error::{Error, Result};
use crate::store::log::spool::folder::Listing;
use crate::store::log::spool::logs::{Logs, Trouble, Wanted};
use crate::store::log::spool::taken::{LogName, Taken};
use crate::store::save::draft::Draft;
use crate::store::save::shared::Shared;
use crate::store::turn::open::Open;
use crate::sync::lock;

const DAMAGED: &str = "it is damaged before its end";
const FOREIGN: &str = "it is of another store, or no log";

impl Shared {
    /// Reads the logs, in the order in which their saves were acknowledged.
    pub(super) fn gather_logs(
        &self,
        open: &Open,
        (listing, taken, cut): (&Listing, &Taken, u64),
        gathered: &mut Gathered<'_>,
    ) -> Result<()> {
        let (folder, identity) = (&self.spool.folder, open.identity);
        let is_for_good = !open.is_in_memory();
        let wanted = Wanted { folder, identity, taken, cut, is_for_good };
        let mut logs = lock(&open.logs);
        let (troubles, unread) = logs.read(&listing.logs, &wanted);
        for (name, trouble) in troubles {
            if open.is_in_memory() {
                return Err(failure(&wanted, &name, trouble));
            }
            self.meet(&mut logs, &name, (trouble, &wanted));
        }
        let start = gathered.drafts.len();
        let (mut raw_bytes, mut others) = (0, 0);
        gathered.is_part = unread.is_some();
        for name in logs.order((&listing.logs, unread.as_ref()), &wanted) {
            if raw_bytes > RAW_BYTES {
                gathered.is_part = true;
                break;
            }
            let Some(placed) = logs.next(&name) else { continue };
            let stamp = placed.entry.sequence;
            match self.of_log(placed) {
                Ok(_) if taken.is_left(&name, stamp) => {}
                Ok(draft) => {
                    raw_bytes += draft.raw.len();
                    gathered.drafts.push(draft);
                }
                Err(Refusal::Damaged(reason)) if open.is_in_memory() => {
                    let what = folder.log(&name).display().to_string();
                    return Err(Error::corrupt(what, reason));
                }
                Err(Refusal::Damaged(reason)) if self.copies_aside(&name, reason) => {}
                Err(_) => {
                    logs.rest(&name);
                    continue;
                }
            }
            logs.give(&name);
            others += usize::from(!self.spool.is_own(&name));
            gathered.logs.insert(name, stamp);
        }
        if !open.is_in_memory() {
            self.spool.note_others(others);
        }
        gathered.of_logs = start..gathered.drafts.len();
        gathered.is_part &= !gathered.logs.is_empty();
        if gathered.logs.is_empty() && !open.is_in_memory() {
            logs.over().iter().for_each(|name| folder.remove_log(name));
        }
        Ok(())
    }

    fn of_log(&self, placed: &Placed) -> Result<Draft, Refusal> {
        let mut placed = placed.clone();
        // Its frame has none.
        placed.entry.sequence = 0;
        self.unpacked(placed, &self.frames)
    }

    /// Does what can be done about a log that cannot be read as it should.
    fn meet(&self, logs: &mut Logs, name: &LogName, (trouble, wanted): (Trouble, &Wanted<'_>)) {
        // What its writer adds after this check is read, and not set aside.
        let is_held = wanted.folder.is_held(name);
        match trouble {
            Trouble::Foreign if is_held => {}
            Trouble::Foreign => {
                self.tell_set_aside(wanted.folder.set_log_aside(name), FOREIGN);
            }
            Trouble::Damaged(_) => {
                if self.copies_aside(name, DAMAGED) {
                    logs.read_past(name, wanted, is_held);
                    if is_held {
                        logs.rest_if_done(name);
                    }
                } else {
                    logs.rest(name);
                }
            }
            // Another try may succeed.
            Trouble::Unread(_) => logs.rest_if_done(name),
        }
    }

    /// Copies a damaged log out of the way; false if that fails.
    fn copies_aside(&self, name: &LogName, reason: &str) -> bool {
        match self.spool.folder.copy_aside(name).transpose() {
            None => true,
            Some(copied) => {
                let is_done = copied.is_ok();
                self.tell_set_aside(copied, reason);
                is_done
            }
        }
    }
}

/// Fails a read rather than leave out a save that every process could read.
fn failure(wanted: &Wanted<'_>, name: &LogName, trouble: Trouble) -> Error {
    match trouble {
        Trouble::Foreign => Error::corrupt(wanted.folder.log(name).display().to_string(), FOREIGN),
        Trouble::Damaged(error) | Trouble::Unread(error) => error,
    }
}
