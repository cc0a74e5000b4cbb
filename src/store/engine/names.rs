//! Names as numbers: each distinct issue, series, phase and so on is written once.
//!
//! Only `compact` removes names, and it empties this cache; so what has been read stays true.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, RwLock};

use redb::{ReadableTable, Table};

use crate::codec::{NameKind, check};
use crate::error::{Error, Result};
use crate::key::NameId;
use crate::store::engine::fault::In;
use crate::sync::{read, write};

// A hundred bytes each: names take a few megabytes of memory at most.
const CACHED_MAX: usize = 50_000;
const CHECK_BYTES: usize = 8;

pub(in crate::store) type Pair = (NameKind, Arc<str>);

/// The part of the table that has been read.
#[derive(Debug, Default)]
pub(in crate::store) struct Names {
    cache: RwLock<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    by_name: HashMap<Pair, NameId>,
    by_id: HashMap<NameId, Pair>,
}

impl Names {
    /// The number of a name, or `None` if no checkpoint ever had it.
    pub(in crate::store) fn find(
        &self,
        table: &impl ReadableTable<&'static [u8], &'static [u8]>,
        pair: &Pair,
        path: &Path,
    ) -> Result<Option<NameId>> {
        // The table of one transaction may lack a name that another has just added to the cache;
        // its rows are then missing too, so the number does no harm.
        if let Some(id) = read(&self.cache).by_name.get(pair) {
            return Ok(Some(*id));
        }
        let (kind, name) = (pair.0, &*pair.1);
        let Some(row) = table.get(name_row(kind, name).as_slice()).within(path)? else {
            return Ok(None);
        };
        let id = row.value().try_into().map(NameId::from_be_bytes);
        let id = id.map_err(|_| Error::corrupt(format!("name {name:?}"), "wrong length"))?;
        // A wrong number would make other checkpoints answer to this name.
        match self.lookup(table, id, path)? {
            Some(found) if found == *pair => Ok(Some(id)),
            _ => Err(Error::corrupt(format!("name {name:?}"), "its number means another name")),
        }
    }

    /// The name with this number.
    pub(in crate::store) fn lookup(
        &self,
        table: &impl ReadableTable<&'static [u8], &'static [u8]>,
        id: NameId,
        path: &Path,
    ) -> Result<Option<Pair>> {
        if let Some(pair) = read(&self.cache).by_id.get(&id) {
            return Ok(Some(pair.clone()));
        }
        let Some(row) = table.get(id_row(id).as_slice()).within(path)? else {
            return Ok(None);
        };
        let pair = parse(id, row.value())
            .ok_or_else(|| Error::corrupt(format!("name {id}"), "checksum differs"))?;
        self.remember(id, &pair);
        Ok(Some(pair))
    }

    pub(in crate::store) fn remember(&self, id: NameId, pair: &Pair) {
        let mut cache = write(&self.cache);
        if cache.by_id.len() >= CACHED_MAX {
            *cache = Cache::default();
        }
        cache.by_name.insert(pair.clone(), id);
        cache.by_id.insert(id, pair.clone());
    }

    /// Forgets everything, since some of it may come from a failed transaction.
    pub(in crate::store) fn clear(&self) {
        *write(&self.cache) = Cache::default();
    }
}

/// Adds a name to the table under a number that is free.
pub(in crate::store) fn add(
    table: &mut Table<'_, &'static [u8], &'static [u8]>,
    id: NameId,
    pair: &Pair,
    path: &Path,
) -> Result<()> {
    let (kind, name) = pair;
    let value = stored(id, *kind, name);
    table.insert(id_row(id).as_slice(), value.as_slice()).within(path)?;
    table.insert(name_row(*kind, name).as_slice(), id.to_be_bytes().as_slice()).within(path)?;
    Ok(())
}

/// Removes all names except these.
pub(in crate::store) fn retain(
    table: &mut Table<'_, &'static [u8], &'static [u8]>,
    used: &HashSet<NameId>,
    path: &Path,
) -> Result<()> {
    let number = |bytes: &[u8]| bytes.try_into().ok().map(NameId::from_be_bytes);
    let is_used = |bytes: &[u8]| number(bytes).is_none_or(|id| used.contains(&id));
    table
        .retain(|key, value| match key.split_first() {
            Some((0, id)) => is_used(id),
            _ => is_used(value),
        })
        .within(path)
}

/// The first number that no name has.
pub(in crate::store) fn next_id(
    table: &impl ReadableTable<&'static [u8], &'static [u8]>,
    path: &Path,
) -> Result<NameId> {
    let rows = [0].as_slice()..[1].as_slice();
    let Some(last) = table.range::<&[u8]>(rows).within(path)?.next_back() else {
        return Ok(1);
    };
    let (key, _) = last.within(path)?;
    let id = key.value()[1..].try_into().map(NameId::from_be_bytes);
    id.ok().and_then(|id| id.checked_add(1)).ok_or_else(|| Error::corrupt("names", "wrong key"))
}

/// All names of a kind, with their numbers.
pub(in crate::store) fn of_kind(
    table: &impl ReadableTable<&'static [u8], &'static [u8]>,
    kind: NameKind,
    path: &Path,
) -> Result<Vec<(String, NameId)>> {
    let (from, to) = ([kind as u8], [kind as u8 + 1]);
    let mut names = Vec::new();
    for row in table.range::<&[u8]>(from.as_slice()..to.as_slice()).within(path)? {
        let (key, value) = row.within(path)?;
        let name = std::str::from_utf8(&key.value()[1..]).ok().map(str::to_owned);
        let id = value.value().try_into().ok().map(NameId::from_be_bytes);
        names.push(name.zip(id).ok_or_else(|| Error::corrupt("names", "wrong row"))?);
    }
    Ok(names)
}

/// The name in a row of either direction. Only the row of a number has a sum.
pub(in crate::store) fn of_row(key: &[u8], value: &[u8]) -> Option<(NameId, Pair)> {
    match key.split_first()? {
        (0, number) => {
            let id = NameId::from_be_bytes(number.try_into().ok()?);
            Some((id, parse(id, value)?))
        }
        (kind, name) => {
            let id = NameId::from_be_bytes(value.try_into().ok()?);
            let name = Arc::from(std::str::from_utf8(name).ok()?);
            Some((id, (NameKind::from_number(*kind)?, name)))
        }
    }
}

/// The row of the other direction; `None` if this one is damaged.
pub(in crate::store) fn counterpart(key: &[u8], value: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (id, (kind, name)) = of_row(key, value)?;
    Some(match key.first() {
        Some(0) => (name_row(kind, &name), id.to_be_bytes().to_vec()),
        _ => (id_row(id).to_vec(), stored(id, kind, &name)),
    })
}

/// The value of the row of a number.
fn stored(id: NameId, kind: NameKind, name: &str) -> Vec<u8> {
    let mut value = vec![kind as u8];
    value.extend_from_slice(name.as_bytes());
    let sum = seal(id, &value);
    value.extend_from_slice(&sum.to_le_bytes());
    value
}

/// Kinds start at one, so that numbers have the rows that start with zero to themselves.
fn id_row(id: NameId) -> [u8; 5] {
    let mut row = [0; 5];
    row[1..].copy_from_slice(&id.to_be_bytes());
    row
}

fn name_row(kind: NameKind, name: &str) -> Vec<u8> {
    let mut row = Vec::with_capacity(1 + name.len());
    row.push(kind as u8);
    row.extend_from_slice(name.as_bytes());
    row
}

pub(in crate::store) fn parse(id: NameId, value: &[u8]) -> Option<Pair> {
    let (body, sum) = value.split_last_chunk::<CHECK_BYTES>()?;
    if seal(id, body) != u64::from_le_bytes(*sum) {
        return None;
    }
    let (kind, name) = body.split_first()?;
    Some((NameKind::from_number(*kind)?, Arc::from(std::str::from_utf8(name).ok()?)))
}

fn seal(id: NameId, body: &[u8]) -> u64 {
    check(id.into(), body)
}
