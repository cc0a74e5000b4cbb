//! Records of format 1 come back, and their bytes stay as they are.

use super::*;
use crate::checkpoint::{Format, SourceForm, Spacing, TextStyle};

const KEY: RecordKey =
    RecordKey { time: Timestamp::from_micros(1_769_353_200_123_456), sequence: 7 };

/// Numbers names in the order they come.
#[derive(Default)]
struct Dictionary(Vec<(NameKind, String)>);

impl Dictionary {
    fn intern(&mut self, kind: NameKind, name: &str) -> NameId {
        let pair = (kind, name.to_owned());
        let found = self.0.iter().position(|known| *known == pair);
        let at = found.unwrap_or_else(|| {
            self.0.push(pair);
            self.0.len() - 1
        });
        NameId::try_from(at).unwrap()
    }

    fn lookup(&self, kind: NameKind, id: NameId) -> Option<Arc<str>> {
        let (found, name) = self.0.get(id as usize)?;
        (*found == kind).then(|| Arc::from(name.as_str()))
    }
}

fn sparse() -> Entry {
    Entry {
        id: Id::from_parts(1_769_353_200_123, [1; 10]),
        series: Series::new("loop:a").unwrap(),
        issue: None,
        loop_id: None,
        workflow_id: None,
        workflow_type: None,
        session_id: None,
        agent: None,
        trigger: Trigger::Iteration,
        phase: None,
        step: None,
        iteration: None,
        status: Status::InProgress,
        created_at: KEY.time,
        ordered_at: None,
        updated_at: None,
        parent: None,
        tags: BTreeSet::new(),
        can_resume: None,
        resume_from: None,
        warnings: Vec::new(),
        retention_days: None,
        layout: Layout::Native,
        source_path: None,
        source: None,
        sequence: KEY.sequence,
        document_bytes: 300,
        stored_bytes: 20,
        artifact_count: 0,
    }
}

fn full() -> Entry {
    let text = |text: &str| Some(text.to_owned());
    Entry {
        id: Id::new("CP-1").unwrap(),
        issue: Some(Issue::new("42").unwrap()),
        loop_id: Some(LoopId::new("a").unwrap()),
        workflow_id: text("w"),
        workflow_type: text("t"),
        session_id: text("s"),
        agent: text("g"),
        phase: text("p"),
        step: text("q"),
        iteration: Some(3),
        updated_at: Some(Timestamp::from_micros(5)),
        parent: Some(Id::new("CP-0").unwrap()),
        tags: BTreeSet::from(["x".to_owned(), "y".to_owned()]),
        can_resume: Some(false),
        resume_from: text("r"),
        warnings: vec!["one".to_owned(), "two".to_owned()],
        retention_days: Some(30),
        layout: Layout::Aiwg,
        source_path: text("a/b.json"),
        source: Some(SourceForm {
            format: Format::Yaml,
            style: Some(TextStyle {
                spacing: Spacing::Indent(4),
                is_ascii: true,
                has_final_newline: true,
                has_byte_order_mark: true,
            }),
            is_gzip: true,
            mode: Some(0o600),
            modified_at: Some(Timestamp::from_micros(9)),
            line: Some(7),
            text_bytes: 11,
        }),
        artifact_count: 300,
        ..sparse()
    }
}

fn encoded(entry: &Entry) -> (Vec<u8>, Dictionary) {
    let mut names = Dictionary::default();
    let bytes = encode_entry::<()>(entry, &mut |kind, name| Ok(names.intern(kind, name))).unwrap();
    (bytes, names)
}

#[test]
fn every_field_comes_back() {
    for entry in [sparse(), full()] {
        let (bytes, names) = encoded(&entry);
        let back = decode_entry(KEY, &bytes, &|kind, id| names.lookup(kind, id));
        assert_eq!(back.unwrap(), entry);
    }
}

/// An entry that the store dated while its clock was behind.
fn behind(entry: Entry) -> Entry {
    let created_at = Timestamp::from_micros(KEY.time.as_micros() - 600_000_000);
    Entry { created_at, ordered_at: Some(KEY.time), ..entry }
}

#[test]
fn a_date_that_lags_behind_the_key_comes_back() {
    let first = Entry { created_at: Timestamp::from_micros(i64::MIN), ..behind(full()) };
    for entry in [behind(sparse()), behind(full()), first] {
        let (bytes, names) = encoded(&entry);
        let back = decode_entry(KEY, &bytes, &|kind, id| names.lookup(kind, id));
        assert_eq!(back.unwrap(), entry);
        assert_eq!(decode_id(KEY, &bytes).unwrap(), entry.id);
    }
}

#[test]
fn every_status_trigger_and_layout_comes_back() {
    for layout in Layout::ALL {
        assert_eq!(layout_of(layout_number(layout)), Some(layout));
    }
    for status in Status::ALL {
        for trigger in Trigger::ALL {
            assert_eq!(parse_cause(&cause(status, &trigger)), Some((status, trigger)));
        }
    }
    for kind in NameKind::ALL {
        assert_eq!(NameKind::from_number(kind as u8), Some(kind));
    }
}

#[test]
fn every_flipped_bit_and_every_other_place_is_an_error() {
    let (bytes, names) = encoded(&full());
    let lookup = |kind, id| names.lookup(kind, id);
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(decode_entry(KEY, &damaged, &lookup).is_err(), "bit {bit}");
    }
    let elsewhere = RecordKey { sequence: 8, ..KEY };
    assert_eq!(decode_entry(elsewhere, &bytes, &lookup), Err("checksum differs"));
}

/// These bytes are on disks.
#[test]
fn the_record_is_pinned() {
    let (bytes, _) = encoded(&sparse());
    #[rustfmt::skip]
    let expected = [
        1, 0,
        0x71, 0x01, 0x81, 1, 1, 1, 1, 1, 1, 1,
        0, 1,
        251, 44, 1, 20,
    ];
    let (body, sum) = bytes.split_last_chunk::<CHECK_BYTES>().unwrap();
    assert_eq!(body, expected);
    assert_eq!(u64::from_le_bytes(*sum), seal(KEY, body));
    let (bytes, _) = encoded(&Entry { artifact_count: 0, ..full() });
    assert_eq!(check(0, &bytes), FULL_CHECK);
    let (bytes, _) = encoded(&Entry { artifact_count: 300, ..sparse() });
    #[rustfmt::skip]
    let expected = [
        1, 252, 0, 0, 0x20, 0,
        0x71, 0x01, 0x81, 1, 1, 1, 1, 1, 1, 1,
        0, 1,
        251, 44, 1,
        251, 44, 1, 20,
    ];
    assert_eq!(bytes.split_last_chunk::<CHECK_BYTES>().unwrap().0, expected);
}

/// Only stores of format 3 have such a record.
#[test]
fn the_record_with_a_date_of_its_own_is_pinned() {
    let id = Id::from_parts(1_769_352_600_123, [1; 10]);
    let (bytes, _) = encoded(&behind(Entry { id, ..sparse() }));
    let mut expected = vec![1, 252, 0x20, 0, 0x40, 0, 36];
    expected.extend(b"019bf5a2-1a3b-7101-8101-010101010101");
    expected.extend([0, 1, 252, 0, 0x46, 0xc3, 0x23, 251, 44, 1, 20]);
    assert_eq!(bytes.split_last_chunk::<CHECK_BYTES>().unwrap().0, expected);
    // The id has the time of the key, so it is as short as ever.
    let (bytes, _) = encoded(&behind(sparse()));
    #[rustfmt::skip]
    let expected = [
        1, 252, 0, 0, 0x40, 0,
        0x71, 0x01, 0x81, 1, 1, 1, 1, 1, 1, 1,
        0, 1,
        252, 0, 0x46, 0xc3, 0x23,
        251, 44, 1, 20,
    ];
    assert_eq!(bytes.split_last_chunk::<CHECK_BYTES>().unwrap().0, expected);
}

#[test]
fn an_impossible_date_is_an_error() {
    for before in [0, u64::MAX] {
        let mut bytes = vec![VERSION];
        put(&mut bytes, ORDERED_AT);
        bytes.extend([1; 10]);
        put(&mut bytes, 0_u32);
        put(&mut bytes, 1_u32);
        put(&mut bytes, before);
        put(&mut bytes, 300_u64);
        put(&mut bytes, 20_u64);
        let key = RecordKey { time: Timestamp::from_micros(i64::MIN + 5_000_000), ..KEY };
        let sum = seal(key, &bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        let lookup = |kind, _| match kind {
            NameKind::Cause => Some(Arc::from("in_progress manual")),
            _ => Some(Arc::from("a")),
        };
        assert_eq!(decode_entry(key, &bytes, &lookup), Err(MALFORMED));
    }
}

/// Of all bytes of the record of [`full`] without captured files.
const FULL_CHECK: u64 = 786_395_819_433_009_449;
