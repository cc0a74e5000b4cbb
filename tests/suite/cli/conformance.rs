//! One suite for all layouts: what is imported and exported again is the same, byte for byte.
//!
//! Every file stands where its system has it, and with it what real files have and no schema.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use waypost::Layout;

use super::Test;
use super::import::{crunch, fixture, gzip};

const LOOP: &str = ".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints";
const RUN: &str = ".hex-skills/pipeline/runtime/runs/ln-1000-PROJ-42-1763259513000-0a1b2c3d";

/// Where each fixture stands in a project.
fn placed() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut put = |path: &str, bytes: Vec<u8>| files.push((path.to_owned(), bytes));
    for version in ["v1-00-initial", "v1-01-after-impl1", "v2-02-nonascii-review", "v2-03-done"] {
        // A worktree for each, since a system has but one file in it.
        let bytes = fixture(&format!("agentize/{version}.json"));
        put(&format!("trees/{version}/.tmp/impl-checkpoint.json"), bytes);
    }
    put(".claude/crunch/42/checkpoints/CP-enrich-20250114-a3f2.yaml", crunch().into_bytes());
    put(".claude/crunch/43/checkpoints/CP-before-batch-1.json", fixture("crunch/CP-template.json"));
    put(
        ".claude/crunch/44/checkpoints/CP-x.yml",
        b"checkpoint_id: CP-x\nworkflow_state: {}\n".into(),
    );
    for name in [
        "schema-none",
        "schema-1.2",
        "schema-1.2-set-field",
        "schema-1.2-replanned",
        "schema-2.1",
        "migrated-to-2.1",
    ] {
        let bytes = fixture(&format!("claude/{name}.json"));
        put(&format!(".claude/checkpoints/{name}.json"), bytes);
    }
    put(
        ".claude/data/checkpoints/failed/a_b_20251003_120000.json",
        fixture("claude/schema-2.1.json"),
    );
    put(
        ".claude/data/checkpoints/parallel_ops/parallel_expand_p_20251016_101010.json",
        fixture("claude/parallel-operations.json"),
    );
    put(
        ".claude/data/checkpoints/build_b-1_iteration_3.json",
        fixture("claude/build-iteration.json"),
    );
    for tree in ["", ".worktrees/story-PROJ-42/"] {
        put(
            &format!("{tree}.pipeline/checkpoint-PROJ-42.json"),
            fixture("pipeline/checkpoint-PROJ-42.json"),
        );
    }
    put(".pipeline/state.json", fixture("pipeline/state.json"));
    put("relative/.pipeline/state.json", fixture("relatives/codex-switcher-state.json"));
    put("relative/.claude/checkpoints/cp.json", fixture("relatives/nxtg-forge-checkpoint.json"));
    for name in ["manifest.json", "state.json", "checkpoints.json", "history.jsonl"] {
        put(&format!("{RUN}/{name}"), fixture(&format!("pipeline/successor/{name}")));
    }
    put(&format!("{LOOP}/iteration-005.json.gz"), gzip(&fixture("aiwg/multi-loop.json")));
    put(
        ".aiwg/checkpoints/flow-1-2026-01-25T15-00-00Z-manual.json.gz",
        gzip(&fixture("aiwg/single-loop.json")),
    );
    put(
        &format!("{LOOP}/checkpoint-7-1769353200123.json.gz"),
        gzip(br#"{"loopId": "ralph-fix-tests-a1b2c3d4", "currentIteration": 7, "status": "ok"}"#),
    );
    put(".aiwg/ralph/current-loop.json", fixture("aiwg/loops/current-loop.json"));
    put(
        ".aiwg/ralph-external/iterations/001/checkpoints/003-checkpoint.json",
        fixture("aiwg/loops/003-checkpoint.json"),
    );
    files
}

/// What real files have, in the one place where any of it is taken for a checkpoint.
fn traps() -> Vec<(String, Vec<u8>)> {
    let document = |extra: &str| {
        format!(r#"{{"storyId": "PROJ-42", "stage": 2, "tasksCompleted": [], {extra}}}"#)
    };
    let nested = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let texts = [
        ("bom", format!("\u{feff}{}", document(r#""a": 1"#))),
        ("duplicate", document(r#""a": 1, "a": 2, "a": {"b": 1, "b": 2}"#)),
        (
            "numbers",
            document(r#""a": [NaN, -Infinity, 1E400, 1.0, -0, 1e3, 12345678901234567890123]"#),
        ),
        ("crlf", document(r#""a": 1"#).replace(", ", ",\r\n  ") + "\r\n"),
        (
            "tabs",
            "{\n\t\"storyId\": \"A\",\n\t\"stage\": 2,\n\t\"tasksCompleted\": []\n}\n".to_owned(),
        ),
        ("escapes", document("\"a\": \"\\u00e9\\/\\u00E9 \u{e9} \\ud83d\\ude00 \\u007f\"")),
        ("blank", format!("\n\n  {}  \n\n\n", document(r#""a": 1"#))),
        ("nested", document(&format!("\"a\": {nested}"))),
        ("naive", document(r#""timestamp": "2026-02-14T14:30:00""#)),
        ("null", document(r#""agentId": null, "loop_id": null, "timestamp": null"#)),
        ("status", document(r#""status": "ABORTED", "current_phase": "3""#)),
    ];
    let path = |name: &str| format!(".pipeline/checkpoint-{name}.json");
    texts.into_iter().map(|(name, text)| (path(name), text.into_bytes())).collect()
}

/// All files below, with their modes.
fn files(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                open.push(path);
            } else if metadata.is_file() {
                let mode = metadata.permissions().mode() & 0o777;
                let mut bytes = fs::read(&path).unwrap();
                if bytes.starts_with(&[0x1f, 0x8b]) {
                    let packed = std::mem::take(&mut bytes);
                    GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).unwrap();
                }
                found.insert(path.strip_prefix(root).unwrap().to_owned(), (mode, bytes));
            }
        }
    }
    found
}

/// Imports and exports a project, and compares.
fn same(project: &[(String, Vec<u8>)], import: &str, code: i32) -> Test {
    let test = Test::new();
    for ((path, bytes), mode) in
        project.iter().zip([0o600, 0o644, 0o640, 0o400].into_iter().cycle())
    {
        let path = format!("project/{path}");
        test.put(&path, bytes);
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(test.path().join(path), permissions).unwrap();
    }
    let ended = test.run(import);
    assert_eq!(ended.code, Some(code), "{}", ended.stderr);
    test.run("export out --quiet").done();
    let mut found = files(&test.path().join("out/project"));
    let expected = files(&test.path().join("project"));
    // Made anew, from what the checkpoints say.
    found.retain(|path, _| {
        expected.contains_key(path) || !path.to_string_lossy().contains("/index.")
    });
    let names = |files: &BTreeMap<PathBuf, _>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected));
    for (path, (mode, bytes)) in &expected {
        let readable = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(readable(&found[path].1), readable(bytes), "{}", path.display());
        assert_eq!(found[path].1, *bytes, "{}", path.display());
        assert_eq!(found[path].0, *mode, "mode of {}", path.display());
    }
    test
}

#[test]
fn every_variant_of_every_layout_comes_back() {
    let test = same(&placed(), "import project", 0);
    // And again from the other side, into another store.
    test.run("--store out/other.redb import out --quiet").done();
    test.run("--store out/other.redb export again --quiet").done();
    let again = files(&test.path().join("again"));
    assert_eq!(
        again,
        files(&test.path().join("out/project"))
            .into_iter()
            .map(|(path, file)| { (Path::new("project").join(path), file) })
            .collect()
    );
}

#[test]
fn what_real_files_have_comes_back() {
    same(&traps(), "import project", 0);
}

#[test]
fn what_cannot_be_read_comes_back_if_it_was_kept() {
    let broken: [(&str, &[u8]); 5] = [
        (".pipeline/state.json", b"{\"complete\": false, \"story_state\": "),
        (".pipeline/checkpoint-A.json", b"\xff\xfe{\0}\0"),
        (".claude/crunch/1/checkpoints/CP-a.yaml", b"a: b: c\n"),
        (".claude/crunch/1/checkpoints/CP-b.yaml", b"a: 1\n---\nb: 2\n"),
        (".aiwg/checkpoints/w-2026-01-25T15-00-00Z-manual.json.gz", b"no gzip, no json"),
    ];
    let broken = broken.map(|(path, bytes)| (path.to_owned(), bytes.to_owned()));
    same(&broken, "import project --keep-unreadable", 0);
}

/// A file that is written again with other content, and then with the first one, is a checkpoint
/// each time. The third counted as known, and the second came back.
#[test]
fn every_layout_comes_back_after_it_returned_to_an_earlier_content() {
    let test = Test::new();
    let ending = |path: &str| path.rsplit_once('.').map(|(_, ending)| ending.to_owned());
    let changed = |path: &str, bytes: &[u8]| match ending(path).as_deref() {
        Some("gz") => {
            let mut unzipped = Vec::new();
            GzDecoder::new(bytes).read_to_end(&mut unzipped).unwrap();
            gzip(&[&unzipped, &b"\n"[..]].concat())
        }
        Some("jsonl") => {
            String::from_utf8(bytes.to_vec()).unwrap().replace("}\n", "} \n").into_bytes()
        }
        _ => [bytes, b"\n"].concat(),
    };
    let project = placed();
    let mut each = 0;
    for (round, is_changed) in [false, true, false, true, true, false].into_iter().enumerate() {
        for (path, bytes) in &project {
            let bytes = if is_changed { changed(path, bytes) } else { bytes.clone() };
            test.put(&format!("project/{path}"), bytes);
        }
        for expected in [u64::from(![0, 4].contains(&round)) * each, 0] {
            let outcome = test.run("import project --json").done();
            let outcome: serde_json::Value = serde_json::from_str(&outcome).unwrap();
            if each == 0 {
                each = outcome["imported"].as_u64().unwrap();
            } else {
                assert_eq!(outcome["imported"], expected, "round {round}: {outcome}");
            }
        }
        test.run("export out --overwrite --quiet").done();
        let mut found = files(&test.path().join("out/project"));
        found.retain(|path, _| !path.to_string_lossy().contains("/index."));
        let expected = files(&test.path().join("project"));
        let texts = |files: BTreeMap<PathBuf, (u32, Vec<u8>)>| {
            files.into_iter().map(|(path, (_, bytes))| (path, bytes)).collect::<Vec<_>>()
        };
        assert!(texts(found) == texts(expected), "round {round}");
    }
    assert_eq!(test.entries().len() as u64, 5 * each);
    test.run("verify").done();
}

/// A file of a system, and a later one without something that the system requires. Our own files
/// have no rules.
pub(super) struct Broken {
    pub(super) path: &'static str,
    pub(super) later: &'static str,
    pub(super) right: String,
    wrong: String,
    field: &'static str,
}

pub(super) fn broken(layout: Layout) -> Option<Broken> {
    let text = |name: &str| String::from_utf8(fixture(name)).unwrap();
    let of = |path, later, right: String, wrong: String, field| {
        assert_ne!(right, wrong, "{path}");
        Some(Broken { path, later, right, wrong, field })
    };
    match layout {
        Layout::Native => None,
        Layout::Agentize => {
            let path = ".tmp/impl-checkpoint.json";
            let right = text("agentize/v2-01-after-impl1.json");
            let wrong = right.replace("\"worktree\"", "\"work_tree\"");
            of(path, path, right, wrong, "/state/worktree")
        }
        Layout::Crunch => {
            let right = crunch().replace("ISO-8601", "2025-01-14T10:00:00Z");
            let wrong = right.replace("10:00", "11:00").replace("issue_snapshot:", "snapshot:");
            let path = ".claude/crunch/42/checkpoints/CP-a.yaml";
            of(path, ".claude/crunch/42/checkpoints/CP-b.yaml", right, wrong, "/issue_snapshot")
        }
        Layout::Claude => {
            let right = text("claude/schema-none.json");
            let wrong = right
                .replace("20261116_021755", "20261116_031755")
                .replace("02:17:55", "03:17:55")
                .replace("\"workflow_state\"", "\"state\"");
            let path = ".claude/checkpoints/implement_dark_mode_20261116_021755.json";
            let later = ".claude/checkpoints/implement_dark_mode_20261116_031755.json";
            of(path, later, right, wrong, "/workflow_state")
        }
        Layout::Pipeline => {
            let path = ".pipeline/checkpoint-PROJ-42.json";
            let right = text("pipeline/checkpoint-PROJ-42.json");
            let wrong = right.replace("\"tasksCompleted\"", "\"tasks\"");
            of(path, path, right, wrong, "/tasksCompleted")
        }
        Layout::Aiwg => {
            let path = ".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints/iteration-005.json";
            let later = ".aiwg/ralph/loops/ralph-fix-tests-a1b2c3d4/checkpoints/iteration-006.json";
            let right = text("aiwg/multi-loop.json");
            let wrong = right
                .replace("cp-001", "cp-002")
                .replace("21:05", "22:05")
                .replace("\"phase\"", "\"stage\"");
            of(path, later, right, wrong, "/state/phase")
        }
    }
}

/// The broken file counted as one of no system, and `resume` went on from the older one.
#[test]
fn a_broken_file_of_every_layout_keeps_its_system_and_stops_resume() {
    for layout in Layout::ALL {
        let Some(broken) = broken(layout) else { continue };
        let test = Test::new();
        test.put(broken.path, &broken.right);
        test.run("import . --quiet").done();
        let before = test.entries().remove(0);
        assert_eq!(test.run(&format!("check {}", broken.path)).code, Some(0), "{layout}");
        test.put(broken.later, &broken.wrong);
        let outcome = test.run("import . --json").done();
        let outcome: serde_json::Value = serde_json::from_str(&outcome).unwrap();
        assert_eq!((&outcome["imported"], &outcome["invalid"]), (&1.into(), &1.into()), "{layout}");
        let rule = format!("{layout}/required");
        assert_eq!(outcome["rules"][&rule], 1, "{layout}: {outcome}");
        let entries = test.entries();
        let newest = entries.iter().find(|entry| entry["id"] != before["id"]).unwrap();
        assert_eq!(newest["layout"], layout.as_str());
        assert_eq!(newest["series"], before["series"], "{layout}");
        let (id, series) = (newest["id"].as_str().unwrap(), newest["series"].as_str().unwrap());
        // It is named, and so is what to type next.
        let ended = test.run(&format!("resume {series} --no-gh"));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(4), ""), "{layout}");
        let told = format!("cannot resume from {id}: it is invalid: {}: is required", broken.field);
        assert!(ended.stderr.contains(&told), "{layout}: {}", ended.stderr);
        for hint in ["` lists what is wrong", "` goes on from the newest valid one"] {
            assert!(ended.stderr.contains(hint), "{layout}: {}", ended.stderr);
        }
        let shown = test.run(&format!("show {id}")).done();
        let line = shown.lines().find(|line| line.starts_with("invalid ")).unwrap_or_default();
        assert!(line.contains(&format!(" {}: is required (line ", broken.field)), "{shown}");
        // In place, and in the store, with the same lines.
        for what in [broken.later, id] {
            let ended = test.run(&format!("check {what} --json"));
            assert_eq!(ended.code, Some(4), "{layout}: {}", ended.stderr);
            let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
            let mut problems = report["problems"].as_array().unwrap().iter();
            let problem = problems.find(|it| it["level"] == "error").unwrap();
            assert_eq!(problem["field"], broken.field, "{layout}: {report}");
            assert_eq!(
                (&problem["code"], &problem["level"]),
                (&"required".into(), &"error".into())
            );
            assert!(problem["line"].is_u64(), "{layout}: {report}");
        }
        // It comes back unchanged, and --force resumes from it.
        test.run("export out --quiet").done();
        let found = fs::read_to_string(test.path().join("out").join(broken.later)).unwrap();
        assert_eq!(found, broken.wrong);
        test.run(&format!("resume {series} --no-gh --force --quiet --document")).done();
    }
}

/// The times of files tell scripts which one is the newest.
#[test]
fn times_of_files_come_back() {
    let test = Test::new();
    let path = ".claude/checkpoints/a_b_20251003_120000.json";
    test.put(path, fixture("claude/schema-2.1.json"));
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(1_700_000_000_123);
    let file = fs::File::options().write(true).open(test.path().join(path)).unwrap();
    file.set_modified(time).unwrap();
    test.run("import . --quiet").done();
    test.run("export out --quiet").done();
    let found = fs::metadata(test.path().join("out").join(path)).unwrap();
    assert_eq!(found.modified().unwrap(), time);
}

/// An index that matches the checkpoints is exported unchanged.
#[test]
fn an_index_comes_back() {
    let test = Test::new();
    let directory = "project/.claude/crunch/42/checkpoints";
    for id in ["CP-enrich-20250114-a3f2", "CP-enrich-20250114-b4c5"] {
        let time = if id.ends_with("a3f2") { "10:00" } else { "10:30" };
        let document = format!(
            "checkpoint_id: {id}\ncreated_at: \"2025-01-14T{time}:00Z\"\nissue_number: 42\n\
             workflow_state:\n  current_phase: enrich\nrecovery_info:\n  can_resume: true\n"
        );
        test.put(&format!("{directory}/{id}.yaml"), document);
    }
    test.put(&format!("{directory}/index.yaml"), fixture("crunch/index.yaml"));
    test.run("import project --quiet").done();
    test.run("export out --quiet").done();
    assert_eq!(files(&test.path().join("out")).len(), 3);
    let out = test.path().join("out/project/.claude/crunch/42/checkpoints");
    let index = String::from_utf8(fs::read(out.join("index.yaml")).unwrap()).unwrap();
    assert_eq!(index.into_bytes(), fixture("crunch/index.yaml"));
    let latest = fs::read_link(out.join("latest")).unwrap();
    assert_eq!(latest, Path::new("CP-enrich-20250114-b4c5.yaml"));
}

/// What came in last is what the file held last, whatever time it states.
#[test]
fn the_last_content_of_a_file_comes_back() {
    let test = Test::new();
    let path = ".pipeline/checkpoint-A.json";
    let content = |time: &str| {
        format!(
            "{{\"storyId\": \"A\", \"stage\": 2, \"tasksCompleted\": [], \
             \"timestamp\": \"{time}\"}}"
        )
    };
    for time in ["2026-02-02T00:00:00Z", "2026-01-01T00:00:00Z"] {
        test.put(path, content(time));
        test.run("import . --quiet").done();
    }
    test.run("export out --quiet").done();
    let found = fs::read_to_string(test.path().join("out").join(path)).unwrap();
    assert_eq!(found, content("2026-01-01T00:00:00Z"));
}
