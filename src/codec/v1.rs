//! The entry record, version 1: in stores of formats 1 to 4. Once released it never changes;
//! another version is another file. Until then a new field is a new bit, and a new store format.
//!
//! A bit mask says which optional fields follow, names are numbers, and time and sequence are in
//! the key: a record of a loop takes some forty bytes.

mod source;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::check;
use super::wire::{Malformed, Reader, put};
use crate::checkpoint::{Entry, Id, Issue, Layout, LoopId, Series, Status, Timestamp, Trigger};
use crate::key::{NameId, RecordKey};

const VERSION: u8 = 1;
const CHECK_BYTES: usize = 8;

// Bits of the mask, the frequent ones first so that it takes one byte.
const ISSUE: u32 = 1 << 0;
const LOOP: u32 = 1 << 1;
const PHASE: u32 = 1 << 2;
const ITERATION: u32 = 1 << 3;
const STEP: u32 = 1 << 4;
const TEXT_ID: u32 = 1 << 5;
const TAGS: u32 = 1 << 6;
const AGENT: u32 = 1 << 7;
const SESSION: u32 = 1 << 8;
const WORKFLOW: u32 = 1 << 9;
const WORKFLOW_TYPE: u32 = 1 << 10;
const UPDATED_AT: u32 = 1 << 11;
const PARENT: u32 = 1 << 12;
const CAN_RESUME: u32 = 1 << 13;
const CANNOT_RESUME: u32 = 1 << 14;
const RESUME_FROM: u32 = 1 << 15;
const WARNINGS: u32 = 1 << 16;
const RETENTION_DAYS: u32 = 1 << 17;
const LAYOUT: u32 = 1 << 18;
const SOURCE_PATH: u32 = 1 << 19;
const SOURCE: u32 = 1 << 20;
const ARTIFACTS: u32 = 1 << 21;
const ORDERED_AT: u32 = 1 << 22;
const KNOWN: u32 = (1 << 23) - 1;

/// The kind of a name. The numbers are on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum NameKind {
    Series = 1,
    Issue = 2,
    Loop = 3,
    /// Status and trigger in one, so that one index row answers for both.
    Cause = 4,
    Phase = 5,
    Tag = 6,
    Workflow = 7,
    WorkflowType = 8,
    Session = 9,
    Agent = 10,
}

impl NameKind {
    pub(crate) const ALL: [Self; 10] = [
        Self::Series,
        Self::Issue,
        Self::Loop,
        Self::Cause,
        Self::Phase,
        Self::Tag,
        Self::Workflow,
        Self::WorkflowType,
        Self::Session,
        Self::Agent,
    ];

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }
}

/// Turns names into numbers while a record is written.
pub(crate) type Intern<'a, E> = &'a mut dyn FnMut(NameKind, &str) -> Result<NameId, E>;
/// Turns numbers into names while a record is read.
pub(crate) type Lookup<'a> = &'a dyn Fn(NameKind, NameId) -> Option<Arc<str>>;

/// The [`NameKind::Cause`] of a status and a trigger.
pub(crate) fn cause(status: Status, trigger: &Trigger) -> String {
    format!("{status} {trigger}")
}

/// Status and trigger of a [`NameKind::Cause`].
pub(crate) fn parse_cause(text: &str) -> Option<(Status, Trigger)> {
    let (status, trigger) = text.split_once(' ')?;
    Some((status.parse().ok()?, trigger.parse().ok()?))
}

/// Writes the record of `entry`. Key and sizes come from the entry.
pub(crate) fn encode_entry<E>(entry: &Entry, intern: Intern<'_, E>) -> Result<Vec<u8>, E> {
    let mut out = Vec::with_capacity(64);
    put(&mut out, VERSION);
    put(&mut out, mask(entry));
    put_id(&mut out, entry);
    put(&mut out, intern(NameKind::Series, entry.series.as_str())?);
    put(&mut out, intern(NameKind::Cause, &cause(entry.status, &entry.trigger))?);
    for (kind, name) in optional_names(entry) {
        if let Some(name) = name {
            put(&mut out, intern(kind, name)?);
        }
    }
    if !entry.tags.is_empty() {
        put(&mut out, entry.tags.len() as u64);
        for tag in &entry.tags {
            put(&mut out, intern(NameKind::Tag, tag)?);
        }
    }
    put_plain(&mut out, entry);
    put(&mut out, entry.document_bytes);
    put(&mut out, entry.stored_bytes);
    let sum = seal(RecordKey::of(entry), &out);
    out.extend_from_slice(&sum.to_le_bytes());
    Ok(out)
}

/// Reads the record stored at `key`, or returns the check that fails.
pub(crate) fn decode_entry(
    key: RecordKey,
    bytes: &[u8],
    lookup: Lookup<'_>,
) -> Result<Entry, &'static str> {
    let mut reader = checked(key, bytes)?;
    let entry = read(key, &mut reader, lookup).map_err(|_| MALFORMED)?;
    if reader.rest().is_empty() { Ok(entry) } else { Err("record is too long") }
}

/// Reads only the id of the record stored at `key`, but checks all of it.
pub(crate) fn decode_id(key: RecordKey, bytes: &[u8]) -> Result<Id, &'static str> {
    let mut reader = checked(key, bytes)?;
    let mask = read_mask(&mut reader).map_err(|_| MALFORMED)?;
    read_id(&mut reader, mask & TEXT_ID != 0, key.time).map_err(|_| MALFORMED)
}

/// Whether a record, which is not checked, may have an id with this tail.
pub(crate) fn may_have_tail(bytes: &[u8], tail: &[u8; 10]) -> bool {
    let mut reader = Reader::new(bytes);
    let Ok(mask) = read_mask(&mut reader) else { return true };
    mask & TEXT_ID != 0 || reader.take_bytes(10).map_or(true, |found| found == tail)
}

const MALFORMED: &str = "record is malformed";

fn checked(key: RecordKey, bytes: &[u8]) -> Result<Reader<'_>, &'static str> {
    let (body, sum) = bytes.split_last_chunk::<CHECK_BYTES>().ok_or("record is cut short")?;
    if seal(key, body) != u64::from_le_bytes(*sum) {
        return Err("checksum differs");
    }
    Ok(Reader::new(body))
}

fn seal(key: RecordKey, body: &[u8]) -> u64 {
    check(check(0, &key.to_bytes()), body)
}

/// The tail of an id whose time is that of the record key, so that the rest need not be stored.
///
/// Such an id needs no row of its own: its time leads to the record.
pub(crate) fn derived_tail(entry: &Entry) -> Option<[u8; 10]> {
    let (millis, tail) = entry.id.parts()?;
    let (time, _) = entry.order();
    (i64::try_from(millis) == Ok(time.as_millis())).then_some(tail)
}

fn put_id(out: &mut Vec<u8>, entry: &Entry) {
    match derived_tail(entry) {
        Some(tail) => out.extend_from_slice(&tail),
        None => put(out, entry.id.as_str()),
    }
}

fn read_id(reader: &mut Reader<'_>, is_text: bool, time: Timestamp) -> Result<Id, Malformed> {
    if is_text {
        return Id::new(reader.take::<&str>()?).map_err(|_| Malformed);
    }
    let tail = reader.take_bytes(10)?.try_into().map_err(|_| Malformed)?;
    let millis = u64::try_from(time.as_millis()).map_err(|_| Malformed)?;
    Ok(Id::from_parts(millis, tail))
}

fn mask(entry: &Entry) -> u32 {
    let bit = |present: bool, bit: u32| if present { bit } else { 0 };
    bit(entry.issue.is_some(), ISSUE)
        | bit(entry.loop_id.is_some(), LOOP)
        | bit(entry.phase.is_some(), PHASE)
        | bit(entry.iteration.is_some(), ITERATION)
        | bit(entry.step.is_some(), STEP)
        | bit(derived_tail(entry).is_none(), TEXT_ID)
        | bit(!entry.tags.is_empty(), TAGS)
        | bit(entry.agent.is_some(), AGENT)
        | bit(entry.session_id.is_some(), SESSION)
        | bit(entry.workflow_id.is_some(), WORKFLOW)
        | bit(entry.workflow_type.is_some(), WORKFLOW_TYPE)
        | bit(entry.updated_at.is_some(), UPDATED_AT)
        | bit(entry.parent.is_some(), PARENT)
        | bit(entry.can_resume == Some(true), CAN_RESUME)
        | bit(entry.can_resume == Some(false), CANNOT_RESUME)
        | bit(entry.resume_from.is_some(), RESUME_FROM)
        | bit(!entry.warnings.is_empty(), WARNINGS)
        | bit(entry.retention_days.is_some(), RETENTION_DAYS)
        | bit(entry.layout != Layout::Native, LAYOUT)
        | bit(entry.source_path.is_some(), SOURCE_PATH)
        | bit(entry.source.is_some(), SOURCE)
        | bit(entry.artifact_count > 0, ARTIFACTS)
        | bit(entry.ordered_at.is_some(), ORDERED_AT)
}

/// In the order on disk, as [`read`] does.
fn optional_names(entry: &Entry) -> [(NameKind, Option<&str>); 7] {
    [
        (NameKind::Issue, entry.issue.as_ref().map(Issue::as_str)),
        (NameKind::Loop, entry.loop_id.as_ref().map(LoopId::as_str)),
        (NameKind::Phase, entry.phase.as_deref()),
        (NameKind::Agent, entry.agent.as_deref()),
        (NameKind::Session, entry.session_id.as_deref()),
        (NameKind::Workflow, entry.workflow_id.as_deref()),
        (NameKind::WorkflowType, entry.workflow_type.as_deref()),
    ]
}

/// The optional fields that are not names.
fn put_plain(out: &mut Vec<u8>, entry: &Entry) {
    let (key_time, _) = entry.order();
    if let Some(iteration) = entry.iteration {
        put(out, iteration);
    }
    if let Some(step) = &entry.step {
        put(out, step.as_str());
    }
    if let Some(time) = entry.updated_at {
        // Near the time of the key, hence short.
        put(out, time.as_micros().wrapping_sub(key_time.as_micros()));
    }
    if let Some(parent) = &entry.parent {
        put(out, parent.as_str());
    }
    if let Some(place) = &entry.resume_from {
        put(out, place.as_str());
    }
    if !entry.warnings.is_empty() {
        put(out, entry.warnings.len() as u64);
        entry.warnings.iter().for_each(|warning| put(out, warning.as_str()));
    }
    if let Some(days) = entry.retention_days {
        put(out, days);
    }
    if entry.layout != Layout::Native {
        put(out, layout_number(entry.layout));
    }
    if let Some(path) = &entry.source_path {
        put(out, path.as_str());
    }
    if let Some(form) = &entry.source {
        source::put_form(out, form, key_time);
    }
    if entry.artifact_count > 0 {
        put(out, entry.artifact_count);
    }
    if entry.ordered_at.is_some() {
        put(out, entry.created_at.micros_until(key_time));
    }
}

fn read_mask(reader: &mut Reader<'_>) -> Result<u32, Malformed> {
    if reader.take_byte()? != VERSION {
        return Err(Malformed);
    }
    let mask: u32 = reader.take()?;
    if mask & !KNOWN == 0 { Ok(mask) } else { Err(Malformed) }
}

fn read(key: RecordKey, reader: &mut Reader<'_>, lookup: Lookup<'_>) -> Result<Entry, Malformed> {
    let mask = read_mask(reader)?;
    let has = |bit: u32| mask & bit != 0;
    let id = read_id(reader, has(TEXT_ID), key.time)?;
    let mut names = Names { reader, lookup };
    let series = names.required(NameKind::Series)?;
    let (status, trigger) = parse_cause(&names.required(NameKind::Cause)?).ok_or(Malformed)?;
    let issue = names.optional(has(ISSUE), NameKind::Issue)?;
    let loop_id = names.optional(has(LOOP), NameKind::Loop)?;
    let phase = names.optional(has(PHASE), NameKind::Phase)?;
    let agent = names.optional(has(AGENT), NameKind::Agent)?;
    let session_id = names.optional(has(SESSION), NameKind::Session)?;
    let workflow_id = names.optional(has(WORKFLOW), NameKind::Workflow)?;
    let workflow_type = names.optional(has(WORKFLOW_TYPE), NameKind::WorkflowType)?;
    let tags = names.tags(has(TAGS))?;
    let iteration = has(ITERATION).then(|| reader.take()).transpose()?;
    let step = text(reader, has(STEP))?;
    let updated_at = has(UPDATED_AT).then(|| reader.take::<i64>()).transpose()?;
    let parent = text(reader, has(PARENT))?;
    let resume_from = text(reader, has(RESUME_FROM))?;
    let warnings = texts(reader, has(WARNINGS))?;
    let retention_days = has(RETENTION_DAYS).then(|| reader.take()).transpose()?;
    let layout = has(LAYOUT).then(|| reader.take::<u8>()).transpose()?.unwrap_or_default();
    let source_path = text(reader, has(SOURCE_PATH))?;
    let source = has(SOURCE).then(|| source::read_form(reader, key.time)).transpose()?;
    let artifact_count = has(ARTIFACTS).then(|| reader.take()).transpose()?.unwrap_or_default();
    let created_at = read_created_at(reader, has(ORDERED_AT), key.time)?;
    Ok(Entry {
        id,
        series: Series::new(series).map_err(|_| Malformed)?,
        issue: issue.map(Issue::new).transpose().map_err(|_| Malformed)?,
        loop_id: loop_id.map(LoopId::new).transpose().map_err(|_| Malformed)?,
        workflow_id,
        workflow_type,
        session_id,
        agent,
        trigger,
        phase,
        step,
        iteration,
        status,
        created_at,
        ordered_at: has(ORDERED_AT).then_some(key.time),
        updated_at: updated_at
            .map(|micros| Timestamp::from_micros(key.time.as_micros().wrapping_add(micros))),
        parent: parent.map(Id::new).transpose().map_err(|_| Malformed)?,
        tags,
        can_resume: has(CAN_RESUME | CANNOT_RESUME).then(|| has(CAN_RESUME)),
        resume_from,
        warnings,
        retention_days,
        layout: layout_of(layout).ok_or(Malformed)?,
        source_path,
        source,
        sequence: key.sequence,
        document_bytes: reader.take()?,
        stored_bytes: reader.take()?,
        artifact_count,
    })
}

/// The date: the time of the key, less the lag if the record has one.
fn read_created_at(
    reader: &mut Reader<'_>,
    has_lag: bool,
    key_time: Timestamp,
) -> Result<Timestamp, Malformed> {
    if !has_lag {
        return Ok(key_time);
    }
    let lag: u64 = reader.take()?;
    let micros = key_time.as_micros().checked_sub_unsigned(lag).filter(|_| lag > 0);
    micros.map(Timestamp::from_micros).ok_or(Malformed)
}

struct Names<'a, 'b, 'c> {
    reader: &'a mut Reader<'b>,
    lookup: Lookup<'c>,
}

impl Names<'_, '_, '_> {
    fn required(&mut self, kind: NameKind) -> Result<String, Malformed> {
        let number = self.reader.take()?;
        Ok((self.lookup)(kind, number).ok_or(Malformed)?.as_ref().to_owned())
    }

    fn optional(&mut self, present: bool, kind: NameKind) -> Result<Option<String>, Malformed> {
        present.then(|| self.required(kind)).transpose()
    }

    fn tags(&mut self, present: bool) -> Result<BTreeSet<String>, Malformed> {
        let count = if present { self.reader.take::<u64>()? } else { 0 };
        (0..count).map(|_| self.required(NameKind::Tag)).collect()
    }
}

fn text(reader: &mut Reader<'_>, present: bool) -> Result<Option<String>, Malformed> {
    Ok(if present { Some(reader.take::<&str>()?.to_owned()) } else { None })
}

fn texts(reader: &mut Reader<'_>, present: bool) -> Result<Vec<String>, Malformed> {
    let count = if present { reader.take::<u64>()? } else { 0 };
    (0..count).map(|_| Ok(reader.take::<&str>()?.to_owned())).collect()
}

fn layout_number(layout: Layout) -> u8 {
    match layout {
        Layout::Native => 0,
        Layout::Agentize => 1,
        Layout::Crunch => 2,
        Layout::Claude => 3,
        Layout::Pipeline => 4,
        Layout::Aiwg => 5,
    }
}

fn layout_of(number: u8) -> Option<Layout> {
    Layout::ALL.into_iter().find(|layout| layout_number(*layout) == number)
}
