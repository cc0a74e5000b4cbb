//! What the command says beside its results never has content of documents or files in it.

use std::fs;

use super::{Ended, LATER, Test};

/// Stands for a secret.
const SECRET: &str = "xyzzy-plugh";

fn document() -> String {
    format!(r#"{{"k": "{SECRET}", "list": [1, "{SECRET}"], "state": {{"iteration": "{SECRET}"}}}}"#)
}

/// Checks that no secret was printed, and returns whether the command failed.
#[track_caller]
fn keeps_quiet(ended: &Ended) -> bool {
    assert!(!ended.stderr.contains(SECRET), "{}", ended.stderr);
    let has_failed = ended.code != Some(0);
    assert!(!has_failed || !ended.stdout.contains(SECRET), "{}", ended.stdout);
    has_failed
}

/// A store with a checkpoint `a` that is full of it, with a captured file.
fn filled() -> Test {
    let test = Test::new();
    test.write("file", SECRET);
    test.write("state.json", &document());
    test.run(&format!("save state.json --id a --created-at {LATER} --capture file")).done();
    test.feed(&format!("save --id b --created-at {LATER}"), &format!("{SECRET:?}")).done();
    test
}

#[test]
fn input_that_is_refused_is_not_quoted() {
    let test = filled();
    let document = document();
    for cut in (1..document.len()).step_by(3) {
        let part = &document[..cut];
        assert!(keeps_quiet(&test.feed("save --json", part)), "{part}");
        if cut % 4 == 0 {
            assert!(keeps_quiet(&test.feed("save --lines", part)), "{part}");
            let line = format!(r#"{{"about": {{"phase": "p"}}, "document": {part}"#);
            assert!(keeps_quiet(&test.feed("save --lines --about", &line)), "{part}");
            assert!(keeps_quiet(&test.feed("import -", &line)), "{part}");
        }
    }
    for wrong in [
        format!(r#"{{"about": {{"document": "{SECRET}"}}, "document": 1}}"#),
        format!(r#"{{"document": "{SECRET}", "about": []}}"#),
        format!(r#"{{"document": "{SECRET}"}} {SECRET}"#),
        format!(r#"{{"id": "c", "document": "{SECRET}", "source": "{SECRET}"}}"#),
        format!(r#"{{"document": 1, "artifacts": [{{"path": "p", "text": "{SECRET}"}}]}}"#),
        format!(r#"{{"id": "a", "document": "{SECRET}"}}"#),
    ] {
        keeps_quiet(&test.feed("save --lines --about", &wrong));
        keeps_quiet(&test.feed("import -", &wrong));
    }
    assert!(keeps_quiet(&test.feed("save --id a", &format!("[{SECRET:?}]"))));
}

#[test]
fn files_that_cannot_be_imported_are_not_quoted() {
    let test = filled();
    let directories = [".pipeline", ".claude/crunch/42/checkpoints", ".tmp", "checkpoints"];
    for directory in directories {
        fs::create_dir_all(test.path().join("in").join(directory)).unwrap();
    }
    let document = document();
    let (half, _) = document.split_at(document.len() - 3);
    for (path, text) in [
        (".pipeline/state.json", half.to_owned()),
        (".pipeline/checkpoint-PROJ-42.json", document.clone()),
        (".claude/crunch/42/checkpoints/CP-001.yaml", format!("k: {SECRET}\n\tlist: *{SECRET}")),
        (".claude/crunch/42/checkpoints/CP-002.yaml", format!("id: [{SECRET}\nk: !{SECRET} %")),
        (".claude/crunch/42/checkpoints/index.yaml", format!("checkpoints: {SECRET}")),
        (".tmp/issue-42.json", format!(r#"{{"version": "{SECRET}", "state": {document}}}"#)),
        ("checkpoints/implement_20260101_000000.json", half.to_owned()),
        ("checkpoints/a.json.gz", half.to_owned()),
    ] {
        test.write(&format!("in/{path}"), &text);
    }
    assert!(keeps_quiet(&test.run("import in")));
    assert!(keeps_quiet(&test.run("import in --json --dry-run")));
    keeps_quiet(&test.run("import in --keep-unreadable"));
    keeps_quiet(&test.run("import in --layout native --json"));
    keeps_quiet(&test.run("export out --layout crunch"));
    for layout in ["agentize", "claude", "pipeline", "aiwg"] {
        keeps_quiet(&test.run(&format!("export out-{layout} --layout {layout}")));
    }
}

#[test]
fn questions_that_a_document_does_not_answer_do_not_quote_it() {
    let test = filled();
    for args in [
        "find /k<3",
        "find /list/1>=2",
        "find /k/x=1",
        "find /missing=1",
        "log --path /nothing",
        "diff a b --exit-code --quiet",
        "resume a --prompt",
        "resume b",
        "fork a",
        "show a@7",
        "restore b --into state.json",
        "export state.json",
        "export --jsonl file",
    ] {
        let ended = test.run(args);
        assert!(!ended.stderr.contains(SECRET), "{args}: {}", ended.stderr);
    }
}

#[test]
fn damage_is_told_without_what_is_damaged() {
    let test = filled();
    // All but its first letter is still there.
    test.damage(SECRET);
    let rest = &SECRET[1..];
    for args in [
        "show b",
        "show a --json",
        "latest",
        "export --jsonl -",
        "export out",
        "restore a --into out",
        "resume b",
        "diff a b",
        "fork b --series x",
        "find /k=1",
        "doctor",
        "compact",
        "delete b --now",
    ] {
        let Ended { stdout, stderr, .. } = test.run(args);
        assert!(!stderr.contains(rest), "{args}: {stderr}");
        assert!(!stdout.contains(rest), "{args}: {stdout}");
    }
}
