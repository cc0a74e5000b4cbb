//! What a checkpoint is called, the same in every command.

use super::Test;

#[test]
fn every_command_takes_every_kind_of_name() {
    let commands = [
        "show",
        "tag",
        "diff",
        "diff a-1",
        "fork --series f",
        "complete",
        "fail",
        "archive",
        "reopen",
        "log",
        "restore --into .",
    ];
    for name in ["a-2", "issue:42", "42", "#42", "42@0", "issue:42@0"] {
        for command in commands {
            let ended = Test::filled().run(&format!("{command} {name} --quiet"));
            assert!([Some(0), Some(4)].contains(&ended.code), "{command} {name}: {}", ended.stderr);
        }
    }
}

#[test]
fn names_lead_to_the_same_checkpoint_everywhere() {
    let test = Test::filled();
    assert!(test.run("show 42 --json").done().contains("\"id\":\"a-2\""));
    assert_eq!(test.run("tag 42@1").done(), "keep\n");
    assert!(test.run("rollback #42@1").stderr.starts_with("1 newer checkpoint of issue:42"));
    let saved = test.feed("save --id c-1 --parent 42@2 --json", "1").done();
    assert!(saved.contains("\"parent\":\"a-1\""), "{saved}");
    let note = test.feed("save --id c-2 --parent nowhere", "1").stderr;
    assert_eq!(note, "there is no checkpoint nowhere here for a parent\n");
}

#[test]
fn a_name_alone_is_not_deleted() {
    let test = Test::filled();
    insta::assert_snapshot!(test.run("delete a-1 42").failed(2), @r#"
    error: "42" stands for several checkpoints
    hint: 42@0 is its newest checkpoint, 42@1 the one before
    "#);
    assert_eq!(test.run("delete 42@0 latest --quiet").done(), "a-2\nb-1\n");
}

#[test]
fn what_may_have_been_meant_is_told() {
    let test = Test::filled();
    test.feed("save --issue PROJ-7 --series work", "1");
    for (name, nearby) in [("issue:41", "issue:42"), ("proj-7@0", "PROJ-7"), ("wrok", "work")] {
        let stderr = test.run(&format!("show {name}")).failed(3);
        let expected = format!("error: no checkpoint matches \"{name}\"; nearby: {nearby}\n");
        assert!(stderr.starts_with(&expected), "{stderr}");
    }
}

/// A table was pasted from, and `show` answered that the id was not clear.
#[test]
fn what_a_table_calls_a_checkpoint_leads_to_it() {
    let test = Test::new();
    // Many of them are of the same millisecond.
    let saved = test.feed("save --lines --series s", &"1\n".repeat(60)).done();
    let whole: Vec<&str> = saved.lines().collect();
    for command in ["list --limit 7", "log --limit 5 --ascii", "list --all"] {
        let table = test.run(&format!("{command} --quiet")).stdout;
        let rows = table.lines().skip(1);
        let shorts = rows.map(|row| row.trim_start_matches(['*', '|', ' ', '~']).split(' ').next());
        for short in shorts.flatten().filter(|short| short.starts_with("01")).take(7) {
            let shown = test.run(&format!("show {short}")).done();
            assert!(whole.iter().any(|id| shown.contains(*id) && id.starts_with(short)), "{short}");
        }
    }
}
