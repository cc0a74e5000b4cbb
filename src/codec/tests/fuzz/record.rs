//! Entry records and the items of a journal.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::super::placed::Placed;
use super::super::super::v1::{NameKind, decode_entry, decode_id, encode_entry};
use super::super::super::{check, parse_cause};
use crate::checkpoint::{
    Entry, Format, Id, Issue, Layout, LoopId, Series, SourceForm, Spacing, Status, TextStyle,
    Timestamp, Trigger,
};
use crate::key::{NameId, RecordKey, SEQUENCE_MAX};
use crate::tape::Tape;

/// An entry of which every field is what a store may hold.
pub(crate) fn entry(tape: &mut Tape<'_>) -> Entry {
    let created_at = Timestamp::from_micros(tape.signed());
    let id = if tape.once_in(2) { Id::generate(created_at) } else { Id::new(tape.name()).unwrap() };
    Entry {
        id,
        series: Series::new(tape.name()).unwrap(),
        issue: tape.maybe(|tape| Issue::new(tape.name()).unwrap()),
        loop_id: tape.maybe(|tape| LoopId::new(tape.name()).unwrap()),
        workflow_id: tape.maybe(Tape::name),
        workflow_type: tape.maybe(Tape::name),
        session_id: tape.maybe(Tape::name),
        agent: tape.maybe(Tape::name),
        trigger: tape.pick(&Trigger::ALL).clone(),
        phase: tape.maybe(Tape::name),
        step: tape.maybe(Tape::name),
        iteration: tape.maybe(Tape::number),
        status: *tape.pick(&Status::ALL),
        created_at,
        ordered_at: tape
            .maybe(|tape| created_at.checked_add_micros(tape.number().max(1)))
            .flatten(),
        updated_at: tape.maybe(|tape| Timestamp::from_micros(tape.signed())),
        parent: tape.maybe(|tape| Id::new(tape.name()).unwrap()),
        tags: (0..tape.below(4)).map(|_| tape.name()).collect::<BTreeSet<_>>(),
        can_resume: tape.maybe(|tape| tape.once_in(2)),
        resume_from: tape.maybe(Tape::name),
        warnings: (0..tape.below(4)).map(|_| tape.text()).collect(),
        retention_days: tape.maybe(|tape| u32::try_from(tape.number()).unwrap_or(u32::MAX)),
        layout: *tape.pick(&Layout::ALL),
        source_path: tape.maybe(Tape::text),
        source: tape.maybe(form),
        sequence: tape.number() & SEQUENCE_MAX,
        document_bytes: tape.number(),
        stored_bytes: tape.number(),
        artifact_count: tape.number(),
    }
}

fn form(tape: &mut Tape<'_>) -> SourceForm {
    let indent = Spacing::Indent(tape.byte());
    SourceForm {
        format: *tape.pick(&[Format::Json, Format::Yaml, Format::Unreadable]),
        style: tape.maybe(|tape| TextStyle {
            spacing: *tape.pick(&[Spacing::Compact, Spacing::Spaced, Spacing::Tab, indent]),
            is_ascii: tape.once_in(2),
            has_final_newline: tape.once_in(2),
            has_byte_order_mark: tape.once_in(2),
        }),
        is_gzip: tape.once_in(2),
        mode: tape.maybe(|tape| u32::try_from(tape.number()).unwrap_or(u32::MAX)),
        modified_at: tape.maybe(|tape| Timestamp::from_micros(tape.signed())),
        line: tape.maybe(Tape::number),
        text_bytes: tape.number(),
    }
}

/// Names by the numbers they were given.
#[derive(Default)]
struct Names(Vec<(NameKind, String)>);

impl Names {
    fn record(&mut self, entry: &Entry) -> Vec<u8> {
        let added: Result<_, ()> = encode_entry(entry, &mut |kind, name| {
            self.0.push((kind, name.to_owned()));
            Ok(NameId::try_from(self.0.len() - 1).unwrap())
        });
        added.unwrap()
    }

    fn entry(&self, key: RecordKey, bytes: &[u8]) -> Option<Entry> {
        let lookup = |kind, id: NameId| -> Option<Arc<str>> {
            let (found, name) = self.0.get(id as usize)?;
            (*found == kind).then(|| Arc::from(name.as_str()))
        };
        decode_entry(key, bytes, &lookup).ok()
    }
}

fn sealed(key: RecordKey, mut body: Vec<u8>) -> Vec<u8> {
    let sum = check(check(0, &key.to_bytes()), &body);
    body.extend_from_slice(&sum.to_le_bytes());
    body
}

#[test]
fn any_record_is_read_or_refused() {
    target!("record", 4000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let entry = entry(&mut tape);
        let key = RecordKey::of(&entry);
        let mut names = Names::default();
        let mut body = names.record(&entry);
        assert_eq!(names.entry(key, &body).as_ref(), Some(&entry));
        body.truncate(body.len() - 8);
        tape.mutate(&mut body);
        let bytes = sealed(key, body);
        let id = decode_id(key, &bytes);
        let Some(read) = names.entry(key, &bytes) else { return };
        assert_eq!(id.as_ref(), Ok(&read.id));
        assert!(read.tags.len() + read.warnings.len() <= bytes.len());
        let again = names.record(&read);
        assert_eq!(names.entry(key, &again), Some(read), "what is read can be written");
    });
}

#[test]
fn any_item_of_a_journal_is_read_or_refused() {
    target!("placed", 4000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let placed = Placed { entry: entry(&mut tape), frame: tape.text().into_bytes() };
        let mut bytes = Vec::new();
        placed.encode(&mut bytes);
        assert_eq!(Placed::decode(&bytes).as_ref(), Some(&placed));
        tape.mutate(&mut bytes);
        if let Some(read) = Placed::decode(&bytes) {
            assert!(read.frame.len() <= bytes.len());
            let mut again = Vec::new();
            read.encode(&mut again);
            assert_eq!(Placed::decode(&again), Some(read));
        }
        let raw = Placed::decode(input);
        assert!(raw.is_none_or(|raw| raw.frame.len() <= input.len()));
        let _ = parse_cause(&tape.text());
    });
}
