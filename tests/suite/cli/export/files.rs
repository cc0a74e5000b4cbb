//! `export DIR`: checkpoints as the files of their systems.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use waypost::source::Source;
use waypost::{Id, Layout, NewEntry, Store, Timestamp, Trigger};

use super::super::{Test, by_member};
use super::objects;

/// A second of a day.
pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(1_769_353_200_000_000 + second * 1_000_000)
}

/// What is said of a file.
pub(super) fn of(layout: Layout, path: &str, second: i64) -> NewEntry {
    NewEntry {
        id: Some(Id::new(format!("{path}@{second}")).unwrap()),
        layout,
        source_path: Some(path.to_owned()),
        created_at: Some(at(second)),
        ..NewEntry::default()
    }
}

pub(super) fn json(text: &str) -> Source {
    Source::from_json(text.as_bytes()).unwrap()
}

/// A store with these files in it.
pub(super) fn filled(files: impl IntoIterator<Item = (NewEntry, Source)>) -> Test {
    let test = Test::new();
    fs::create_dir(test.path().join(".waypost")).unwrap();
    let store = Store::open(test.path().join(".waypost/store.redb")).unwrap();
    let drafts = files.into_iter().map(|(about, source)| store.draft_source(about, source));
    let drafts = drafts.collect::<waypost::Result<Vec<_>>>().unwrap();
    store.batch(drafts).unwrap().into_iter().for_each(|saved| drop(saved.unwrap()));
    store.close().unwrap();
    test
}

/// Every file below a directory by its path; links by what they lead to.
pub(super) fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut left = vec![root.to_owned()];
    let mut found = BTreeMap::new();
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                found.insert(name, format!("-> {}", target.display()).into_bytes());
            } else if path.is_dir() {
                left.push(path);
            } else {
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

fn names(root: &Path) -> Vec<String> {
    tree(root).into_keys().collect()
}

fn out(test: &Test) -> PathBuf {
    test.path().join("out")
}

fn gunzip(path: &Path) -> Vec<u8> {
    let mut child = Command::new("gzip")
        .args(["-d", "-c"])
        .stdin(File::open(path).unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut text = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    text
}

const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];

#[test]
fn what_came_from_files_is_those_files_again() {
    let texts: [(&str, &[u8]); 5] = [
        ("compact.json", br#"{"a":1}"#),
        (".tmp/impl-checkpoint.json", b"{\n  \"a\": \"\\u00e9\",\n  \"b\": 1.50\n}"),
        ("odd/by-hand.json", b"{ \"a\" :1,\"a\":  2}\r\n"),
        ("notes/plan.yaml", b"a: 1 # why\n"),
        ("broken.json", b"\xff{ never ends"),
    ];
    let read = |path: &str, text: &[u8]| match path {
        "notes/plan.yaml" => Source::from_yaml(text).unwrap(),
        "broken.json" => Source::unreadable(text),
        _ => Source::from_json(text).unwrap(),
    };
    let files = texts.iter().zip(0..).map(|((path, text), second)| {
        let mode = Some(0o100_600 + u32::try_from(second).unwrap() * 0o11);
        let source = read(path, text).of_file(false, mode, Some(at(1000 + second)));
        (of(Layout::Native, path, second), source)
    });
    let test = filled(files);
    let outcome = test.run("export out --recorded-modes");
    assert_eq!((outcome.code, &*outcome.stdout), (Some(0), ""));
    assert_eq!(outcome.stderr, "exported 5: 5 native\n");
    let expected = texts.iter().map(|(path, text)| ((*path).to_owned(), text.to_vec())).collect();
    assert_eq!(tree(&out(&test)), expected, "and nothing beside them");
    for ((path, _), second) in texts.iter().zip(0..) {
        let found = fs::metadata(out(&test).join(path)).unwrap();
        let modified = found.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(i128::try_from(modified.as_micros()).unwrap(), micros(1000 + second), "{path}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = 0o600 + u32::try_from(second).unwrap() * 0o11;
            assert_eq!(found.permissions().mode() & 0o7777, mode, "{path}");
        }
    }
}

fn micros(second: i64) -> i128 {
    at(second).as_micros().into()
}

#[test]
fn what_was_compressed_is_again_and_flags_say_otherwise() {
    let inner = "{\n  \"a\": [\n    1\n  ]\n}";
    let test = filled([
        (of(Layout::Aiwg, "x/one.json.gz", 1), json(inner).of_file(true, None, None)),
        (of(Layout::Aiwg, "x/two.json", 2), json("[2]")),
        (of(Layout::Aiwg, "x/three.yaml", 3), Source::from_yaml(b"- 3\n").unwrap()),
    ]);
    test.run("export out --quiet").done();
    assert_eq!(names(&out(&test)), ["x/one.json.gz", "x/three.yaml", "x/two.json"]);
    let one = out(&test).join("x/one.json.gz");
    assert_eq!(fs::read(&one).unwrap()[..10], HEADER);
    assert_eq!(gunzip(&one), inner.as_bytes());

    test.run("export packed --gzip --quiet").done();
    let packed = test.path().join("packed");
    assert_eq!(names(&packed), ["x/one.json.gz", "x/three.yaml", "x/two.json.gz"]);
    assert_eq!(gunzip(&packed.join("x/two.json.gz")), b"[2]");

    test.run("export plain --plain --quiet").done();
    let plain = test.path().join("plain");
    assert_eq!(names(&plain), ["x/one.json", "x/three.yaml", "x/two.json"]);
    assert_eq!(fs::read(plain.join("x/one.json")).unwrap(), inner.as_bytes());
    test.run("export both --gzip --plain").failed(2);
}

#[test]
fn a_second_run_leaves_files_alone_and_what_differs_stays_unless_that_is_said() {
    let test = filled([
        (of(Layout::Native, "a.json", 1), json("[1]")),
        (of(Layout::Native, "b/b.json.gz", 2), json("[2]").of_file(true, None, None)),
        (of(Layout::Native, "c.json", 3), json("[3]")),
    ]);
    // The same content in a compressed file of another program.
    fs::create_dir_all(out(&test).join("b")).unwrap();
    let mut child = Command::new("gzip")
        .args(["-1", "-c"])
        .stdin(Stdio::piped())
        .stdout(File::create(out(&test).join("b/b.json.gz")).unwrap())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"[2]").unwrap();
    assert!(child.wait().unwrap().success());
    let before = fs::read(out(&test).join("b/b.json.gz")).unwrap();
    let outcome = test.run("export out");
    assert_eq!((outcome.code, &*outcome.stderr), (Some(0), "exported 2: 2 native; 1 unchanged\n"));
    assert_eq!(fs::read(out(&test).join("b/b.json.gz")).unwrap(), before);

    fs::write(out(&test).join("a.json"), "mine").unwrap();
    let outcome = test.run("export out");
    assert_eq!(outcome.code, Some(7));
    insta::assert_snapshot!(outcome.stderr, @"
    not exported: a.json@1: a.json is there with other content
    exported 0; 2 unchanged
    --overwrite replaces what is there with other content
    error: 1 of 3 could not be exported
    hint: the first is a.json@1: a.json is there with other content
    ");
    assert_eq!(fs::read(out(&test).join("a.json")).unwrap(), b"mine");

    let outcome = test.run("export out --overwrite --json").done();
    insta::assert_snapshot!(by_member(&outcome), @r#"
    {"version":1,
    "exported":1,
    "layouts":{"native":1},
    "unchanged":2,
    "older":0,
    "renamed":0,
    "refused":0,
    "differing":0,
    "damaged":0,
    "bytes":3}
    "#);
    assert_eq!(fs::read(out(&test).join("a.json")).unwrap(), b"[1]");
    assert_eq!(names(&out(&test)), ["a.json", "b/b.json.gz", "c.json"], "nothing half done");
}

#[test]
fn the_newest_takes_the_path_that_several_have() {
    let path = ".tmp/impl-checkpoint.json";
    let states = [(1, "[1]"), (9, "[9]"), (5, "[5]")];
    let test =
        filled(states.map(|(second, text)| (of(Layout::Agentize, path, second), json(text))));
    let outcome = test.run("export out");
    let older = "2 older contents of overwritten files are in the store only";
    assert_eq!(
        (outcome.code, outcome.stderr),
        (Some(0), format!("exported 1: 1 agentize; {older}\n"))
    );
    assert_eq!(fs::read(out(&test).join(path)).unwrap(), b"[9]");
}

#[test]
fn lines_of_a_file_are_one_file_again() {
    let path = ".hex-skills/history.jsonl";
    let line = |number: u64, second: i64, text: &str| {
        let about = NewEntry {
            id: Some(Id::new(format!("{number}@{second}")).unwrap()),
            ..of(Layout::Pipeline, path, second)
        };
        (about, json(text).of_file(false, Some(0o644), Some(at(50))).at_line(number, true))
    };
    let test = filled([
        line(10, 3, "[10]"),
        line(2, 1, "{\"a\": 2}"),
        line(1, 4, "[1]"),
        line(1, 2, "[\"older\"]"),
        (of(Layout::Pipeline, "a.json", 9), json("[]")),
    ]);
    let outcome = test.run("export out");
    let older = "1 older content of an overwritten file is in the store only";
    assert_eq!(
        (outcome.code, outcome.stderr),
        (Some(0), format!("exported 4: 4 pipeline; {older}\n"))
    );
    assert_eq!(fs::read_to_string(out(&test).join(path)).unwrap(), "[1]\n{\"a\": 2}\n[10]\n");
    let modified = fs::metadata(out(&test).join(path)).unwrap().modified().unwrap();
    let modified = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(i128::try_from(modified.as_micros()).unwrap(), micros(50));
    let outcome = test.run("export out");
    assert_eq!(outcome.stderr, format!("exported 0; 4 unchanged; {older}\n"));
    fs::write(out(&test).join(path), "mine\n").unwrap();
    assert!(test.run("export out").failed(7).contains("history.jsonl is there with other content"));
    test.run("export packed --gzip --quiet").done();
    let packed = test.path().join("packed").join(format!("{path}.gz"));
    assert_eq!(gunzip(&packed), b"[1]\n{\"a\": 2}\n[10]\n");
}

fn crunch(name: &str, second: i64, trigger: Trigger) -> (NewEntry, Source) {
    let path = format!(".claude/crunch/7/checkpoints/{name}.yaml");
    let time = at(second);
    let text = format!(
        "checkpoint_id: {name} # by hand\ncreated_at: \"{time}\"\nissue_number: 7\n\
         workflow_state:\n  current_phase: docs\nrecovery_info:\n  can_resume: true\n"
    );
    let source = Source::from_yaml(text.as_bytes()).unwrap().of_file(false, Some(0o644), None);
    (NewEntry { trigger, ..of(Layout::Crunch, &path, second) }, source)
}

#[test]
fn a_directory_of_crunch_has_an_index_and_a_link_to_the_newest() {
    let test = filled([
        crunch("CP-docs-20260125-bbbb", 2, Trigger::Unknown),
        crunch("CP-docs-20260125-aaaa", 1, Trigger::Manual),
    ]);
    let outcome = test.run("export out");
    assert_eq!((outcome.code, &*outcome.stderr), (Some(0), "exported 2: 2 crunch\n"));
    let place = out(&test).join(".claude/crunch/7/checkpoints");
    let files =
        ["CP-docs-20260125-aaaa.yaml", "CP-docs-20260125-bbbb.yaml", "index.yaml", "latest"];
    assert_eq!(names(&place), files);
    insta::assert_snapshot!(fs::read_to_string(place.join("index.yaml")).unwrap(), @r#"
    issue_number: 7
    checkpoints:
      - checkpoint_id: CP-docs-20260125-aaaa
        created_at: "2026-01-25T15:00:01.000000Z"
        trigger: manual
        phase: docs
        can_resume: true
      - checkpoint_id: CP-docs-20260125-bbbb
        created_at: "2026-01-25T15:00:02.000000Z"
        trigger: unknown
        phase: docs
        can_resume: true
    latest: CP-docs-20260125-bbbb
    total_checkpoints: 2
    "#);
    #[cfg(unix)]
    assert_eq!(tree(&place)["latest"], b"-> CP-docs-20260125-bbbb.yaml");
    assert_eq!(fs::read(place.join("latest")).unwrap(), fs::read(place.join(files[1])).unwrap());
    assert_eq!(test.run("export out").stderr, "exported 0; 2 unchanged\n");

    // A part of them would make another index, which is not that of the directory.
    let outcome = test.run("export out --until 2026-01-25T15:00:02Z");
    assert_eq!(outcome.code, Some(7));
    assert!(
        outcome.stderr.contains("checkpoints/index.yaml is there with other"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("checkpoints/latest is there with other"),
        "{}",
        outcome.stderr
    );
    let outcome = test.run("export out --until 2026-01-25T15:00:02Z --overwrite");
    assert_eq!(outcome.stderr, "exported 0; 1 unchanged\n");
    assert_eq!(fs::read(place.join("latest")).unwrap(), fs::read(place.join(files[0])).unwrap());
    assert!(place.join(files[1]).exists(), "what the link led to stays");
}

#[test]
fn an_index_is_json_where_checkpoints_are() {
    let path = ".claude/crunch/7/checkpoints/CP-1.json";
    let written = r#"{"checkpoint_id": "CP-1", "issue_number": 7}"#;
    let test = filled([(of(Layout::Crunch, path, 1), json(written))]);
    test.run("export out --quiet").done();
    let place = out(&test).join(".claude/crunch/7/checkpoints");
    assert_eq!(names(&place), ["CP-1.json", "index.json", "latest"]);
    let index: Value =
        serde_json::from_slice(&fs::read(place.join("index.json")).unwrap()).unwrap();
    assert_eq!(index["checkpoints"][0]["checkpoint_id"], "CP-1");
    assert_eq!((&index["latest"], &index["total_checkpoints"]), (&"CP-1".into(), &1.into()));
}

#[test]
fn what_another_system_requires_is_named_by_field_and_the_rest_goes_on() {
    let test = Test::new();
    let of_loop = "--loop-id ralph-fix-tests-a1b2c3d4 --iteration 7 --phase build";
    test.feed(&format!("save --id first --created-at 2026-01-25T15:00:00Z {of_loop}"), "[1]")
        .done();
    test.feed(&format!("save --id second --created-at 2026-01-25T16:00:00Z {of_loop}"), "[2]")
        .done();
    test.feed("save --id bare --created-at 2026-01-25T17:00:00Z", "[3]").done();
    let outcome = test.run("export out --layout aiwg");
    assert_eq!((outcome.code, &*outcome.stdout), (Some(7), ""));
    let told: Vec<&str> = outcome.stderr.lines().collect();
    assert!(
        told[0].starts_with("not exported: bare: workflow_id: is required by aiwg"),
        "{}",
        told[0]
    );
    assert_eq!(
        told[1],
        "exported 2: 2 aiwg; 1 under a second name, since a newer checkpoint has the first"
    );
    assert_eq!(told[2], "error: 1 of 3 could not be exported");
    let place = out(&test).join(".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints");
    let found = names(&place);
    assert_eq!(found.len(), 2);
    let of = |name: &str| -> Value { serde_json::from_slice(&gunzip(&place.join(name))).unwrap() };
    assert!(found.contains(&"iteration-007.json.gz".to_owned()), "{found:?}");
    assert_eq!(of("iteration-007.json.gz")["checkpoint_id"], "second", "the newest has the name");
    let other = found.iter().find(|name| *name != "iteration-007.json.gz").unwrap();
    assert_eq!(of(other)["checkpoint_id"], "first");
    let outcome = test.run("export out --layout aiwg --loop-id ralph-fix-tests-a1b2c3d4");
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stderr.starts_with("exported 0; 2 unchanged"), "{}", outcome.stderr);
}

#[test]
fn what_was_saved_here_is_a_file_of_its_own() {
    let test = Test::filled();
    let outcome = test.run("export out --issue 42");
    assert_eq!((outcome.code, &*outcome.stderr), (Some(0), "exported 2: 2 native\n"));
    let found = tree(&out(&test));
    assert_eq!(found.len(), 2);
    let ids = found.values().map(|text| objects(&compact(text))[0]["id"].clone());
    assert_eq!(ids.collect::<Vec<_>>(), ["a-1", "a-2"]);
}

fn compact(text: &[u8]) -> String {
    serde_json::from_slice::<Value>(text).unwrap().to_string()
}

#[test]
fn nothing_that_matches_leaves_no_directory_behind() {
    let test = Test::filled();
    let told = test.run("export out --issue 7").failed(3);
    assert!(told.starts_with("error: nothing matches --issue 7\n"), "{told}");
    // What is refused, neither.
    test.run("export out --layout aiwg --issue 42").failed(7);
    assert!(!out(&test).exists());
    test.run("export out --jsonl -").failed(2);
    test.run("export --jsonl - --gzip").failed(2);
    test.run("export out --layout word").failed(2);
}

/// Where case does not count, one of them must be reported; nowhere may one replace the other.
#[test]
fn names_that_differ_by_case_do_not_replace_each_other() {
    let test = filled([
        (of(Layout::Native, "a.json", 1), json("[1]")),
        (of(Layout::Native, "A.json", 2), json("[2]")),
    ]);
    let outcome = test.run("export out --overwrite");
    assert_eq!(fs::read(out(&test).join("A.json")).unwrap(), b"[2]", "of the newest");
    if names(&out(&test)).len() == 2 {
        assert_eq!(outcome.code, Some(0));
        assert_eq!(fs::read(out(&test).join("a.json")).unwrap(), b"[1]");
    } else {
        assert_eq!(outcome.code, Some(7));
        assert!(outcome.stderr.contains("a.json is there with other content"));
    }
}

/// Many more than a batch, so that places are taken while files are still written.
/// They stayed for ever.
#[cfg(unix)]
#[test]
fn drafts_of_exports_that_were_killed_are_gone_after_the_next() {
    let test = filled([(of(Layout::Claude, "x/a.json", 1), json("{}"))]);
    test.run("export out --quiet").done();
    // A process that has ended, and one that has not.
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let name = |process: u32| format!("out/x/.waypost-{process}-7.tmp");
    let (dead, alive) = (name(child.id()), name(std::process::id()));
    test.write(&dead, "half of");
    test.write(&alive, "half of");
    fs::remove_file(out(&test).join("x/a.json")).unwrap();
    test.run("export out --quiet").done();
    assert!(out(&test).join("x/a.json").exists());
    assert!(!test.path().join(dead).exists());
    assert!(test.path().join(alive).exists());
}

#[test]
fn thousands_of_files_are_all_there() {
    let files = (0..5000).map(|number| {
        let path = format!("loops/{}/iteration-{number:04}.json", number % 7);
        (of(Layout::Native, &path, number), json(&format!("[{number}]")))
    });
    let test = filled(files);
    assert_eq!(test.run("export out").stderr, "exported 5000: 5000 native\n");
    let found = tree(&out(&test));
    assert_eq!(found.len(), 5000);
    for number in 0..5000 {
        let path = format!("loops/{}/iteration-{number:04}.json", number % 7);
        assert_eq!(found[&path], format!("[{number}]").into_bytes());
    }
}

/// One file, which another worktree would have for itself.
#[test]
fn what_is_made_for_two_series_is_not_taken_for_two_contents_of_one() {
    let test = Test::new();
    for issue in ["7", "8"] {
        let state = format!("{{\"worktree\": \"/w/{issue}\"}}");
        let about = format!("--issue {issue} --phase impl --iteration 1");
        test.feed(&format!("save --id i-{issue} {about} --quiet"), &state).done();
    }
    let outcome = test.run("export out --layout agentize");
    assert_eq!(outcome.code, Some(7), "{}", outcome.stderr);
    let told = "i-7: a newer checkpoint of another series has .tmp/impl-checkpoint.json";
    assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    test.run("export seven --layout agentize --issue 7 --quiet").done();
    test.write("file", "x");
    // The hint said to pass --overwrite, and then said so again.
    for flags in ["", "--overwrite"] {
        let told = test.run(&format!("export file {flags}")).failed(4);
        let expected = "error: file is a file, and the target of an export is a directory\n";
        assert!(told.starts_with(expected), "{told}");
    }
}

/// `storage.location` of a config was read and meant nothing.
#[test]
fn the_place_that_a_config_names_is_where_crunch_files_are_written_and_found() {
    let test = Test::new();
    test.feed("save --series warm-up --quiet", "1").done();
    let config = "checkpoint:\n  storage:\n    location: state/{issue}\n";
    test.write(".waypost/config.yaml", config);
    let about = "--issue 42 --phase enrich --trigger batch_complete --can-resume true";
    test.feed(&format!("save {about} --resume-from enrich"), r#"{"issue_number": 42}"#).done();
    test.run("export out --layout crunch --issue 42 --quiet").done();
    let names = fs::read_dir(test.path().join("out/state/42")).unwrap();
    let names: Vec<_> = names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.contains(&"index.yaml".to_owned()) && names.len() == 3, "{names:?}");
    fs::rename(test.path().join("out/state"), test.path().join("state")).unwrap();
    fs::remove_file(test.path().join(".waypost/store.redb")).unwrap();
    test.run("import state --quiet").done();
    let listed = test.run("list --json").done();
    assert!(listed.contains(r#""trigger":"batch_complete""#), "the index was read: {listed}");

    test.write(".waypost/config.yaml", &config.replace("state/", "../"));
    let said = test.run("import state").failed(4);
    assert!(said.contains("checkpoint.storage.location"), "{said}");
}
