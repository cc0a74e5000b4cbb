//! Captured files with damaged or lost rows.

use super::*;

#[test]
fn a_damaged_content_is_an_error_that_names_it_and_is_mended_by_the_next_capture() {
    for number in 0..5 {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        let hash = Hash::of(&content(number));
        let whole = store.save_draft(draft(&store, about(0), &[number, 6 + number])).unwrap();
        let row = blob_row(&hash, 0);
        let mut length = 0;
        damage_row(&store, |writer| {
            let blobs = &writer.artifact_tables().unwrap().blobs;
            length = blobs.get(row).unwrap().unwrap().value().len();
        });
        for at in (0..length).step_by(length / 10 + 1).chain([usize::MAX]) {
            damage_row(&store, |writer| {
                let blobs = &mut writer.artifact_tables().unwrap().blobs;
                let mut bytes = blobs.remove(row).unwrap().unwrap().value().to_owned();
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1;
                    blobs.insert(row, bytes.as_slice()).unwrap();
                }
            });
            match store.artifact(&whole.id, "src/0.rs") {
                Err(Error::Corrupt { place, .. }) => {
                    assert_eq!(place, format!("artifact \"src/0.rs\" of checkpoint {}", whole.id));
                }
                other => panic!("byte {at}: {other:?}"),
            }
            assert_eq!(store.artifact(&whole.id, "src/1.rs").unwrap(), content(6 + number));
            assert!(store.get(&whole.id).is_ok(), "the document is not hurt");
            let again = store.save_draft(draft(&store, about(0), &[number])).unwrap();
            check_files(&store, &again.id, &[number]);
            check_files(&store, &whole.id, &[number, 6 + number]);
        }
    }
}

#[test]
fn a_damaged_row_hurts_its_file_only_and_leaves_nothing_behind() {
    let changes: [fn(&mut Vec<u8>); 4] = [
        |bytes| *bytes.last_mut().unwrap() ^= 1,
        |bytes| bytes[0] ^= 3,
        |bytes| bytes.truncate(bytes.len() / 2),
        Vec::clear,
    ];
    for change in changes {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        let hurt = store.save_draft(draft(&store, about(0), &[2, 3, 4])).unwrap();
        let other = store.save_draft(draft(&store, about(1), &[3])).unwrap();
        let row = frame_row(hurt.sequence, 2);
        damage_row(&store, |writer| {
            let rows = &mut writer.artifact_tables().unwrap().artifacts;
            let mut bytes = rows.remove(row).unwrap().unwrap().value().to_owned();
            change(&mut bytes);
            if !bytes.is_empty() {
                rows.insert(row, bytes.as_slice()).unwrap();
            }
        });
        assert!(matches!(store.artifacts(&hurt.id), Err(Error::Corrupt { .. })));
        assert!(store.artifact(&hurt.id, "src/2.rs").is_err());
        assert_eq!(store.artifact(&hurt.id, "src/1.rs").unwrap(), content(3));
        assert!(store.get(&hurt.id).is_ok());
        // The content of a damaged row is unknown. Compacting finds that no checkpoint has it.
        store.delete_now(std::slice::from_ref(&hurt.id)).unwrap();
        check_files(&store, &other.id, &[3]);
        store.compact().unwrap();
        check_files(&store, &other.id, &[3]);
        assert_eq!(tables(&store).blobs, BTreeSet::from([Hash::of(&content(3))]));
        assert_eq!(tables(&store).holders.len(), 1);
    }
}

/// A search ignores damage to rows that it does not read, and it reads few.
#[test]
fn a_file_is_found_by_halving_and_by_looking_at_all_where_that_meets_damage() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let many: Vec<NewArtifact> = (0..99_u8).map(|at| file(&format!("{at:02}"), vec![at])).collect();
    let draft = store.draft(about(0), &1).unwrap().with_artifacts(many).unwrap();
    let entry = store.save_draft(draft).unwrap();
    let check = |hurt: Option<u8>| {
        for at in (0..99).filter(|at| Some(*at) != hurt) {
            assert_eq!(store.artifact(&entry.id, &format!("{at:02}")).unwrap(), [at]);
        }
    };
    check(None);
    for path in ["", "0", "00/", "50.5", "99"] {
        let missing = store.artifact(&entry.id, path);
        assert!(matches!(missing, Err(Error::NotFound { .. })), "{path}: {missing:?}");
    }
    // The row at the edge, which few searches read, and the one in the middle, which all read.
    for (hurt, can_tell) in [(1, true), (49, false)] {
        let row = frame_row(entry.sequence, hurt.into());
        let mut whole = Vec::new();
        damage_row(&store, |writer| {
            let rows = &mut writer.artifact_tables().unwrap().artifacts;
            whole = rows.remove(row).unwrap().unwrap().value().to_owned();
            rows.insert(row, &whole[1..]).unwrap();
        });
        check(Some(hurt));
        let lost = store.artifact(&entry.id, &format!("{hurt:02}"));
        assert!(matches!(lost, Err(Error::Corrupt { .. })), "{lost:?}");
        let missing = store.artifact(&entry.id, "99");
        assert_eq!(matches!(missing, Err(Error::NotFound { .. })), can_tell, "{missing:?}");
        damage_row(&store, |writer| {
            let rows = &mut writer.artifact_tables().unwrap().artifacts;
            rows.insert(row, whole.as_slice()).unwrap();
        });
    }
}

/// Loses or damages the row that counts the checkpoints of a content.
fn damage_holders(store: &Store, number: usize, change: fn(&mut Vec<u8>)) {
    let hash = Hash::of(&content(number));
    damage_row(store, |writer| {
        let holders = &mut writer.artifact_tables().unwrap().holders;
        let row = hash.as_bytes();
        let mut bytes = holders.remove(row).unwrap().unwrap().value().to_owned();
        change(&mut bytes);
        if !bytes.is_empty() {
            holders.insert(row, bytes.as_slice()).unwrap();
        }
    });
}

const CHANGES: [fn(&mut Vec<u8>); 3] = [
    Vec::clear,
    |bytes| bytes[0] ^= 3,
    |bytes| {
        bytes.pop();
    },
];

#[test]
fn a_content_survives_that_nothing_tells_any_more_who_has_it() {
    for change in CHANGES {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        let kept = store.save_draft(draft(&store, about(0), &[2, 3])).unwrap();
        let gone = store.save_draft(draft(&store, about(1), &[3, 4])).unwrap();
        damage_holders(&store, 3, change);
        store.delete_now(&[gone.id]).unwrap();
        check_files(&store, &kept.id, &[2, 3]);
        // A new capture does not learn the other checkpoints either.
        let again = store.save_draft(draft(&store, about(1), &[3])).unwrap();
        check_files(&store, &again.id, &[3]);
        store.delete_now(&[again.id]).unwrap();
        check_files(&store, &kept.id, &[2, 3]);
        store.compact().unwrap();
        check_files(&store, &kept.id, &[2, 3]);
        assert_eq!(tables(&store).holders.len(), 2, "mended");
        store.delete_now(&[kept.id]).unwrap();
        assert_eq!(tables(&store), Tables::default());
    }
}

#[test]
fn compacting_looks_at_the_files_of_all_that_is_there_or_can_be_restored() {
    for change in CHANGES {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        let here = store.save_draft(draft(&store, about(0), &[2, 3])).unwrap();
        let away = store.save_draft(draft(&store, about(1), &[3, 4])).unwrap();
        let expected = tables(&store);
        store.delete(std::slice::from_ref(&away.id)).unwrap();
        for number in [2, 3, 4] {
            damage_holders(&store, number, change);
        }
        // The state after a compaction that could not purge this checkpoint.
        let sweep = |writer: &mut Writer<'_>| {
            let holding = Snapshot::take(writer.open, writer.path)?.holding()?;
            writer.sweep_artifacts(holding)
        };
        write(&store, sweep);
        assert_eq!(tables(&store), expected);
        store.undelete(std::slice::from_ref(&away.id)).unwrap();
        check_files(&store, &here.id, &[2, 3]);
        check_files(&store, &away.id, &[3, 4]);
    }
}

#[test]
fn compacting_removes_no_content_while_it_cannot_read_who_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let hurt = store.save_draft(draft(&store, about(0), &[2, 3])).unwrap();
    let whole = store.save_draft(draft(&store, about(1), &[4])).unwrap();
    let row = frame_row(hurt.sequence, 1);
    let mut value = Vec::new();
    damage_row(&store, |writer| {
        let rows = &mut writer.artifact_tables().unwrap().artifacts;
        value = rows.remove(row).unwrap().unwrap().value().to_owned();
        rows.insert(row, &value[1..]).unwrap();
    });
    for number in [2, 3, 4] {
        damage_holders(&store, number, Vec::clear);
    }
    store.compact().unwrap();
    assert_eq!(tables(&store).blobs.len(), 3);
    // The row is mended, say from a copy of the store.
    damage_row(&store, |writer| {
        let rows = &mut writer.artifact_tables().unwrap().artifacts;
        rows.insert(row, value.as_slice()).unwrap();
    });
    store.compact().unwrap();
    check_files(&store, &hurt.id, &[2, 3]);
    check_files(&store, &whole.id, &[4]);
    assert_eq!(tables(&store).holders.len(), 3);
}

/// Its document is lost, but a repair of the rest needs the files.
#[test]
fn compacting_leaves_the_files_of_a_checkpoint_whose_document_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let hurt = store.save_draft(draft(&store, about(0), &[2, 3])).unwrap();
    damage_row(&store, |writer| writer.remove_frame_of(hurt.sequence).unwrap());
    assert!(matches!(store.get(&hurt.id), Err(Error::Corrupt { .. })));
    store.compact().unwrap();
    check_files(&store, &hurt.id, &[2, 3]);
}
