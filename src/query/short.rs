//! Ids shortened to as few characters as still identify one checkpoint.

use std::collections::{BTreeSet, HashMap};

use super::name::line;
use crate::checkpoint::Id;
use crate::error::Result;
use crate::store::{Snapshot, Store};

// Where groups of a UUID end. Up to 13 a UUIDv7 is its time in milliseconds; the rest is chance.
const TIME_CHARS: usize = 13;
const GROUPS: [usize; 3] = [TIME_CHARS, 18, 23];
const UUID_CHARS: usize = 36;
// More ids cannot be told apart at a glance, and a time with more ids needs no short ones.
const IDS_MAX: usize = 1000;
const OF_A_TIME_MAX: usize = 256;

impl Store {
    /// Returns how many characters of these ids, as far as they are UUIDs, it takes for each to be
    /// told from the others and from all in the store by its start, in whole groups.
    ///
    /// Reads the ids of the same milliseconds, each once. Of more than a thousand ids, or of a
    /// millisecond with hundreds of them, none is cut.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn short_length(&self, ids: &[&Id]) -> Result<usize> {
        if ids.len() > IDS_MAX {
            return Ok(UUID_CHARS);
        }
        let is_uuid = |id: &&str| id.len() == UUID_CHARS && id.is_ascii();
        let uuids: BTreeSet<&str> = ids.iter().map(|id| id.as_str()).filter(is_uuid).collect();
        self.read(|snapshot| {
            let Some(rivals) = of_same_times(snapshot, &uuids)? else { return Ok(UUID_CHARS) };
            for length in GROUPS {
                if are_told_apart(snapshot, &uuids, &rivals, length)? {
                    return Ok(length);
                }
            }
            Ok(UUID_CHARS)
        })
    }
}

/// These ids and all that begin with the same times; `None` if they are too many to be looked at.
fn of_same_times(
    snapshot: &Snapshot<'_>,
    ids: &BTreeSet<&str>,
) -> Result<Option<BTreeSet<String>>> {
    // What was deleted meanwhile is still shown.
    let mut found: BTreeSet<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    let times: BTreeSet<&str> = ids.iter().map(|id| &id[..TIME_CHARS]).collect();
    for time in times {
        let entries = snapshot.starting_with(time, OF_A_TIME_MAX)?;
        if entries.len() == OF_A_TIME_MAX {
            return Ok(None);
        }
        found.extend(entries.into_iter().map(|entry| entry.id.to_string()));
    }
    Ok(Some(found))
}

fn are_told_apart(
    snapshot: &Snapshot<'_>,
    ids: &BTreeSet<&str>,
    rivals: &BTreeSet<String>,
    length: usize,
) -> Result<bool> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for start in rivals.iter().filter_map(|id| id.get(..length)) {
        *counts.entry(start).or_default() += 1;
    }
    if ids.iter().any(|id| counts.get(&id[..length]).is_some_and(|count| *count > 1)) {
        return Ok(false);
    }
    for id in ids {
        // A name may look like the start of an id.
        if line(snapshot, &id[..length])?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}
