//! Hostile bytes in what only a store reads: a whole journal, names, settings, operations, captured
//! contents that are sealed, and what a lock file says.

use std::sync::Arc;

use crate::checkpoint::{Timestamp, Trigger};
use crate::codec::tests::fuzz::record;
use crate::codec::{KeyId, NameKind, Placed, check, decode_note, encode_note};
use crate::retention::{Age, Policy};
use crate::store::engine::disk::FileId;
use crate::store::engine::names;
use crate::store::engine::sealing::Sealing;
use crate::store::keep::operation::{Action, Operation};
use crate::store::log::journal::item::{frame, identified, items};
use crate::store::turn::lock::{Content, HeldStore, Text};
use crate::store::turn::settings::Settings;
use crate::tape::Tape;

/// A journal of some items, and the items.
fn journal(tape: &mut Tape<'_>, identity: u64) -> (Vec<u8>, Vec<Placed>) {
    let mut bytes = [b"waypostj".as_slice(), &identity.to_le_bytes()].concat();
    let mut chain = identity;
    let mut placed = Vec::new();
    for _ in 0..=tape.below(3) {
        let item = Placed { entry: record::entry(tape), frame: tape.text().into_bytes() };
        chain = frame(&item, chain, &mut bytes);
        placed.push(item);
    }
    (bytes, placed)
}

/// Recomputes the sums of a journal, as far as its lengths lead.
fn reseal(bytes: &mut [u8], identity: u64) {
    let (mut at, mut chain) = (16, identity);
    while let Some(head) = bytes.get(at..at + 4) {
        let length = u32::from_le_bytes(head.try_into().unwrap()) as usize;
        let Some(payload) = bytes.get(at + 12..).and_then(|rest| rest.get(..length)) else {
            return;
        };
        chain = check(chain, payload);
        bytes[at + 4..at + 12].copy_from_slice(&chain.to_le_bytes());
        at += 12 + length;
    }
}

#[test]
fn any_journal_is_read_up_to_where_it_is_whole() {
    target!("journal", 3000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let _ = identified(input).map(|(identity, rest)| items(rest, identity));
        let identity = tape.number();
        let (mut bytes, placed) = journal(&mut tape, identity);
        let (found, rest) = identified(&bytes).unwrap();
        let read = items(rest, identity).map(|(placed, (length, _))| (placed, length));
        assert_eq!((found, read), (identity, Ok((placed.clone(), rest.len()))));
        assert_eq!(items(rest, !identity), Ok((Vec::new(), (0, !identity))), "of another store");
        tape.mutate(&mut bytes);
        if let Some((identity, rest)) = identified(&bytes) {
            // With the old sums, everything up to the first change is read as written.
            let (read, _) =
                items(rest, identity).expect("what passes its sum is as it was written");
            assert!(identity != found || placed.starts_with(&read));
            reseal(&mut bytes, identity);
            let (read, _) = items(&bytes[16..], identity).unwrap_or_default();
            assert!(read.iter().map(|item| item.frame.len()).sum::<usize>() <= bytes.len());
        }
    });
}

#[test]
fn any_name_is_read_or_refused() {
    target!("name", 4000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let id = u32::try_from(tape.number()).unwrap_or(u32::MAX);
        let kind = *tape.pick(&NameKind::ALL);
        let name: Arc<str> = tape.name().into();
        let mut body = [&[kind as u8], name.as_bytes()].concat();
        let sealed = |body: &[u8]| [body, &check(id.into(), body).to_le_bytes()].concat();
        assert_eq!(names::parse(id, &sealed(&body)), Some((kind, name)));
        tape.mutate(&mut body);
        if let Some((kind, name)) = names::parse(id, &sealed(&body)) {
            assert_eq!([&[kind as u8], name.as_bytes()].concat(), body);
        }
        assert_eq!(names::parse(id, input), None, "without a sum");
    });
}

fn notes() -> [Vec<u8>; 3] {
    let preset = |name: &str| Policy::preset(name).unwrap();
    let settings = Settings {
        policy: Some(preset("crunch")),
        prune_on_save: true,
        keep_deleted: Age::days(3),
    };
    let mut operation = Operation::new(Action::Prune, Timestamp::from_micros(5));
    operation.triggers.insert(Trigger::Iteration, u64::MAX);
    operation.until = Some(Timestamp::from_micros(i64::MAX));
    let plain = Settings { policy: Some(preset("aiwg")), ..Settings::default() };
    [encode_note(0, &settings), encode_note(0, &plain), encode_note(0, &operation)]
}

#[test]
fn any_note_is_read_or_refused() {
    let notes = notes();
    target!("note", 3000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let mut json = tape.pick(&notes)[8..].to_vec();
        tape.mutate(&mut json);
        let bytes = [check(0, &json).to_le_bytes().as_slice(), &json].concat();
        if let Ok(settings) = decode_note::<Settings>(0, &bytes) {
            assert_eq!(decode_note(0, &encode_note(0, &settings)), Ok(settings));
        }
        if let Ok(operation) = decode_note::<Operation>(0, &bytes) {
            let mut sum = operation.clone();
            sum.add(&operation);
            assert_eq!(decode_note(0, &encode_note(0, &sum)), Ok(sum));
            assert_eq!(decode_note(0, &encode_note(0, &operation)), Ok(operation));
        }
        assert!(decode_note::<Settings>(1, &bytes).is_err(), "in another place");
    });
}

#[test]
fn any_text_of_a_lock_file_is_read_or_refused() {
    target!("lock_file", 4000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let key = KeyId::from_number(tape.number());
        let sealing = *tape.pick(&[Sealing::Plain, Sealing::With(key), Sealing::Unknown]);
        let id = |it: &mut Tape<'_>| [it.number(), it.number(), it.number()];
        let file = tape.maybe(id).map(|[device, inode, born]| FileId { device, inode, born });
        let known = HeldStore { identity: tape.number(), file, sealing };
        let holder = *tape.pick(&["", "process 7", "process 7 (a label)"]);
        let whole = Text::new(holder, tape.maybe(|_| known));
        let mut bytes = whole.to_bytes();
        assert!(bytes.len() <= 512, "within a sector");
        assert_eq!(Content::parse(&bytes), Content::Whole(whole.clone()));
        // What a reader sees during a write of the text, and what a power cut leaves.
        for end in 0..bytes.len() {
            let zeroed = [&bytes[..end], &vec![0; bytes.len() - end]].concat();
            for part in [&bytes[..end], &zeroed] {
                match Content::parse(part) {
                    Content::Whole(Text { known: Some(part), .. }) => {
                        let is_unknown = part.sealing == Sealing::Unknown;
                        let known = HeldStore { sealing: part.sealing, file: part.file, ..known };
                        assert!(part == known && (is_unknown || whole.known == Some(part)));
                    }
                    Content::Whole(_) | Content::Damaged => {}
                    Content::Foreign => panic!("{part:?} is ours"),
                }
            }
        }
        tape.mutate(&mut bytes);
        if let Content::Whole(Text { holder, known: Some(known) }) = Content::parse(&bytes) {
            let again = Text::new(&holder, Some(known));
            assert_eq!(Content::parse(&again.to_bytes()), Content::Whole(again));
        }
    });
}

#[cfg(feature = "encrypt")]
#[test]
fn any_sealed_content_is_as_it_was_or_refused() {
    use crate::checkpoint::Hash;
    use crate::codec::{Frames, Keyring, SecretKey};
    use crate::store::files::blobs::{seed, unpack};

    let key = SecretKey::from_bytes([1; 32]);
    let frames = Frames::new(Keyring::new(vec![key.clone()]));
    let contents = [b"short".to_vec(), b"the same words again and again ".repeat(40)];
    let sealed = contents.map(|content| {
        let hash = Hash::of(&content);
        let bytes = frames.pack(&content).to_sealed_bytes(seed(&hash), None, &key).unwrap();
        (content, hash, bytes)
    });
    target!("sealed_content", 3000, |input: &[u8]| {
        let mut tape = Tape::new(input);
        let (content, hash, whole) = tape.pick(&sealed);
        let length = content.len() as u64;
        assert_eq!(unpack(&frames, whole, (hash, length)).as_ref(), Ok(content));
        let mut bytes = whole.clone();
        tape.mutate(&mut bytes);
        if let Ok(read) = unpack(&frames, &bytes, (hash, length)) {
            assert_eq!((&bytes, &read), (whole, content));
        }
        let other = Hash::from_bytes([tape.byte(); 32]);
        assert!(unpack(&frames, whole, (&other, length)).is_err(), "under another hash");
        assert!(unpack(&frames, whole, (hash, length + 1)).is_err(), "of another length");
    });
}
