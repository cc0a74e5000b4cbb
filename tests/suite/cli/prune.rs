//! `prune`, `policy`, `complete`, `fail`, `archive`, `undelete` and `log`.

use serde_json::Value;

use super::{LATER, Test, at_once};

/// A store with five batches of one phase, the second of which has a tag, and a manual one.
fn batches() -> Test {
    let test = Test::new();
    let of_issue = format!("--issue 42 --phase build --created-at {LATER}");
    for number in 1..=5 {
        let tag = if number == 2 { "--tag keep" } else { "" };
        let args = format!("save --id b-{number} --trigger batch_complete {tag} {of_issue}");
        test.feed(&args, &number.to_string()).done();
    }
    test.feed(&format!("save --id m-1 --trigger manual {of_issue}"), "0").done();
    test
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("one object")
}

#[test]
fn a_dry_run_shows_what_would_go_and_why_and_changes_nothing() {
    let test = batches();
    let dry = test.run("prune --policy crunch --dry-run");
    assert_eq!(dry.code, Some(0));
    insta::assert_snapshot!(dry.stdout, @"
    ID       AGE  SERIES    TRIGGER         PHASE  STATUS       SIZE  REASON
    b-1  in >99y  issue:42  batch_complete  build  in_progress   2 B  beyond the last 3 of its phase
    ");
    insta::assert_snapshot!(dry.stderr, @"would prune 1 of 6 by policy crunch: 12 B stored");
    let kept = test.run("prune --policy crunch --dry-run --kept --quiet").done();
    let ends = kept.lines().map(|line| (&line[..3], line.rsplit("  ").next().unwrap_or_default()));
    let ends: Vec<String> = ends.map(|(id, reason)| format!("{id} {reason}")).collect();
    insta::assert_snapshot!(ends.join("\n"), @"
    ID  REASON
    m-1 newest of its series
    b-5 of the last 3 of its phase
    b-4 of the last 3 of its phase
    b-3 of the last 3 of its phase
    b-2 has a tag
    b-1 beyond the last 3 of its phase
    ");
    assert_eq!(json(&test.run("stats --json").done())["checkpoints"], 6);
}

#[test]
fn a_filter_counts_what_it_admits() {
    let test = batches();
    test.feed("save --issue 7", "1").done();
    let dry = test.run("prune --policy crunch --issue 42 --dry-run");
    insta::assert_snapshot!(dry.stderr, @"would prune 1 of 6 by policy crunch: 12 B stored");
    let dry = json(&test.run("prune --policy crunch --issue 42 --dry-run --json").done());
    assert_eq!(dry["total"], 6);
    let pruned = test.run("prune --policy crunch --issue 42");
    assert!(pruned.stderr.starts_with("pruned 1 of 6 by"), "{}", pruned.stderr);
}

/// Triggers without a row were pruned by the rules of a preset that was not named.
#[test]
fn a_config_with_a_table_keeps_triggers_without_a_row() {
    let test = batches();
    test.write("table.yaml", "checkpoint:\n  retention:\n    iteration: 1\n");
    let dry = test.run("prune --policy table.yaml --dry-run");
    insta::assert_snapshot!(dry.stderr, @"nothing to prune: policy table.yaml keeps all 6");
}

#[test]
fn a_mistyped_trigger_is_saved_with_a_note() {
    let test = Test::new();
    let saved = test.feed("save --trigger iteraton", "1");
    let note = "no trigger is called iteraton, so it counts as your own; did you mean iteration?\n";
    assert_eq!(saved.stderr, note);
    assert_eq!(saved.code, Some(0));
    assert_eq!(test.feed("save --trigger deploy", "1").stderr, "");
}

#[test]
fn what_was_pruned_is_listed_restored_and_noted() {
    let test = batches();
    let pruned = test.run("prune --policy crunch");
    insta::assert_snapshot!(pruned.stderr.replace(": ", ":\n"), @"
    pruned 1 of 6 by policy crunch:
    `waypost undelete --operation 1` restores, `waypost compact` gives back 12 B
    ");
    insta::assert_snapshot!(at_once(&test.run("list --deleted").done()), @"
    ID       AGE  SERIES    TRIGGER         PHASE  STATUS       SIZE  DELETED  OP
    b-1  in >99y  issue:42  batch_complete  build  in_progress   2 B       0s   1
    ");
    test.run("list --deleted --phase other").failed(3);
    let restored = test.run("undelete b-1");
    assert_eq!((restored.code, &*restored.stdout), (Some(0), "b-1\n"));
    test.run("prune --policy crunch --now --quiet").done();
    insta::assert_snapshot!(test.run("undelete b-1").failed(3), @r#"
    error: nothing that was deleted matches "b-1"
    hint: `waypost list --deleted` shows what can be restored
    "#);
    insta::assert_snapshot!(at_once(&test.run("log --operations").done()), @"
    OP  AGE  ACTION    COUNT  POLICY  STORED  OF
     3   0s  prune         1  crunch    12 B  b-1
     2   0s  undelete      1  -         12 B  b-1
     1   0s  prune         1  crunch    12 B  b-1
    ");
    let first = test.run("log --operations --limit 1 --json --quiet").done();
    assert_eq!(json(&first)["action"], "prune");
}

#[test]
fn an_operation_is_taken_back_as_a_whole() {
    let test = batches();
    test.run("delete b-1 b-3 --quiet").done();
    test.run("delete b-5 --quiet").done();
    assert_eq!(test.run("undelete --operation 1 --quiet").done(), "b-1\nb-3\n");
    insta::assert_snapshot!(test.run("undelete --operation 1").failed(3), @"
    error: operation 1 has nothing left to restore: it is restored already, or gone for good
    hint: `waypost list --deleted` shows what can be restored
    ");
    assert!(test.run("undelete --operation 9").failed(3).contains("is not in the log"));
    test.run("undelete b-5 b-4").failed(3);
    assert_eq!(json(&test.run("undelete b-5 --json").done())["ids"][0], "b-5");
}

#[test]
fn filters_say_what_may_go() {
    let test = batches();
    let with = "prune --policy crunch --dry-run --json";
    let count = |args: &str| {
        let outcome = json(&test.run(&format!("{with} {args}")).done());
        outcome["removed"].as_array().expect("an array").len()
    };
    assert_eq!(count(""), 1);
    assert_eq!(count("--series issue:42"), 1);
    test.run(&format!("{with} --series issue:43")).failed(3);
    assert_eq!(count("--trigger manual"), 0);
    assert_eq!(count("--phase build --issue 42"), 1);
}

#[test]
fn without_a_policy_nothing_is_pruned() {
    let test = batches();
    insta::assert_snapshot!(test.run("prune").failed(2), @"
    error: there is no policy to prune by
    hint: name one with --policy, or set one with `waypost policy set`
    ");
    test.write("empty.yaml", "checkpoint:\n  enabled: true\n");
    insta::assert_snapshot!(test.run("prune --policy empty.yaml").failed(4), @"
    error: the policy of empty.yaml is empty
    hint: `waypost policy example` shows what a policy can say
    ");
    let wrong = test.run("prune --policy crun").failed(1);
    let wrong = wrong.replace(", and ", ",\nand ");
    insta::assert_snapshot!(wrong, @"
    error: cannot read crun: there is no such file,
    and presets are crunch, claude, aiwg, keep-all, last-N
    hint: name a preset, or a config file that is there
    ");
    let kept = test.run("prune --policy keep-all");
    assert_eq!((kept.code, &*kept.stdout), (Some(0), ""));
    assert_eq!(kept.stderr, "nothing to prune: policy keep-all keeps all 6\n");
}

#[test]
fn more_than_half_goes_only_if_somebody_agrees() {
    let test = batches();
    test.write("one.yaml", "checkpoint:\n  retention: {batch_complete: 0, manual: 0}\n");
    insta::assert_snapshot!(test.run("prune --policy one.yaml").failed(4), @"
    error: no terminal to confirm at: remove 4 of 6 checkpoints by policy one.yaml, restorably
    hint: --yes does it without asking
    ");
    test.run("prune --policy one.yaml --yes --quiet").done();
    assert_eq!(json(&test.run("stats --json").done())["checkpoints"], 2);
}

#[test]
fn a_policy_is_set_shown_and_used() {
    let test = batches();
    insta::assert_snapshot!(test.run("policy show").done(), @"
    policy         none
    prune on save  false
    keep deleted   7d
    ");
    insta::assert_snapshot!(test.run("policy set claude --keep-deleted 12h").done(), @"
    policy         claude
    source         store
    on success     remove
    prune on save  false
    keep deleted   12h

    TRIGGER  STATUS            KEEP LAST  PER     MAX AGE
    any      completed                 0  series        -
    any      failed, archived        all  -           30d
    any      -                       all  -            7d
    ");
    let shown = json(&test.run("policy show --json").done());
    assert_eq!(shown["source"], "store");
    assert_eq!(shown["policy"]["rules"][1]["max_age"], "30d");
    test.run("prune --quiet").done();
    test.run("policy set").failed(2);
    test.run("policy set --prune-on-save=false").done();
    assert_eq!(json(&test.run("policy show --json").done())["policy"]["name"], "claude");
}

#[test]
fn a_ring_keeps_its_last_few() {
    let test = Test::new();
    test.write("ring.yaml", "checkpoint:\n  prune_on_save: true\n  retention: {iteration: 3}\n");
    test.run("policy set ring.yaml").done();
    for number in 1..=9 {
        let args = format!("save --series nightly --trigger iteration --iteration {number}");
        test.feed(&args, &number.to_string()).done();
    }
    let kept = test.run("list --json").done();
    let kept: Vec<_> = kept.lines().map(|line| json(line)["iteration"].clone()).collect();
    assert_eq!(kept, [9, 8, 7]);
}

#[test]
fn a_config_that_is_wrong_is_named_with_line_and_key() {
    let test = batches();
    test.write("wrong.yaml", "checkpoint:\n  retention:\n    batch_complete: many\n");
    for command in ["policy check", "policy show", "policy set", "prune --policy"] {
        let message = test.run(&format!("{command} wrong.yaml")).failed(4);
        assert!(message.contains("wrong.yaml"), "{message}");
        assert!(message.contains("checkpoint.retention.batch_complete: line 3:"), "{message}");
    }
    test.run("policy check").failed(3);
    let example = test.run("policy example").done();
    test.write("example.yaml", &example);
    test.run("policy check example.yaml").done();
}

#[test]
fn a_trigger_that_is_switched_off_is_not_saved_and_that_is_said() {
    let test = batches();
    let config = "checkpoint:\n  checkpoint_triggers:\n    agent_complete: false\n";
    test.write(".waypost/config.yaml", config);
    let args = "save --trigger agent_complete";
    let off = test.feed(args, "1");
    assert_eq!((off.code, &*off.stdout), (Some(0), ""));
    insta::assert_snapshot!(off.stderr.replace(": ", ":\n"), @"
    warning:
    not saved:
    trigger agent_complete is switched off:
    checkpoint.checkpoint_triggers.agent_complete is false (line 3); --force saves it
    ");
    assert_eq!(test.feed(&format!("{args} -q"), "1").stderr, off.stderr, "a save that is none");
    let told = test.feed(&format!("{args} --json"), "1");
    assert_eq!((told.code, json(&told.stdout)["saved"].clone()), (Some(0), Value::Bool(false)));
    assert!(json(&told.stderr)["warning"].as_str().unwrap().starts_with("not saved: trigger"));
    let lines = test.feed(&format!("{args} --lines -q"), "1\n2\n");
    let answers = lines.stdout.lines().filter(|line| line.starts_with("off: trigger")).count();
    assert_eq!((lines.code, answers), (Some(0), 2));
    assert_eq!(lines.stderr.matches("warning: line 1 is not saved: trigger").count(), 1);
    assert_eq!(lines.stderr.lines().count(), 1, "{}", lines.stderr);
    assert_eq!(json(&test.run("stats --json").done())["checkpoints"], 6);
    test.feed(&format!("{args} --force"), "1").done();
    test.feed("save --trigger manual", "1").done();
    assert_eq!(json(&test.run("stats --json").done())["checkpoints"], 8);
    // What is wrong with a config must not cost a checkpoint.
    test.write(".waypost/config.yaml", "checkpoint: [\n");
    let saved = test.feed(args, "1");
    assert_eq!((saved.code, saved.stdout.lines().count()), (Some(0), 1));
    assert!(saved.stderr.starts_with("warning: the config is passed over: "), "{}", saved.stderr);
}

#[test]
fn the_config_of_the_other_system_is_used_as_it_is() {
    let test = batches();
    std::fs::create_dir(test.path().join(".claude")).expect("a directory");
    let config = "checkpoint:\n  retention:\n    batch_complete: 1\n    manual: -1\n";
    test.write(".claude/checkpoint-config.yaml", config);
    let outcome = json(&test.run("prune --dry-run --json").done());
    assert_eq!(outcome["removed"].as_array().map(Vec::len), Some(3));
    assert!(outcome["source"].as_str().unwrap().ends_with(".claude/checkpoint-config.yaml"));
}

#[test]
fn a_series_is_completed_and_its_policy_says_what_stays() {
    let test = batches();
    let outcome = json(&test.run("complete --series issue:42 --policy aiwg --json").done());
    assert_eq!(outcome["ids"].as_array().map(Vec::len), Some(6));
    assert_eq!(outcome["removed"].as_array().map(Vec::len), Some(4));
    assert_eq!(outcome["policy"], "aiwg");
    insta::assert_snapshot!(test.run("list").done(), @"
    ID       AGE  SERIES    TRIGGER         PHASE  STATUS     SIZE  TAGS
    m-1  in >99y  issue:42  manual          build  completed   2 B  -
    b-2  in >99y  issue:42  batch_complete  build  completed   2 B  keep
    ");
}

#[test]
fn checkpoints_fail_and_are_archived_by_name_or_series() {
    let test = batches();
    assert_eq!(test.run("fail b-1 b-3 --quiet").done(), "b-1\nb-3\n");
    assert_eq!(test.run("list --status failed --json").done().lines().count(), 2);
    assert_eq!(test.run("fail b-1 --quiet").done(), "", "it has failed already");
    assert_eq!(test.run("archive --series issue:42 --quiet").done().lines().count(), 6);
    test.run("archive --series nobody").failed(3);
    test.run("fail").failed(2);
    test.run("complete b-1 --policy aiwg").failed(2);
    assert_eq!(test.run("reopen b-1 --quiet").done(), "b-1\n");
    assert_eq!(
        test.run("complete --series issue:42 --quiet").done(),
        "b-1\n",
        "the rest had ended"
    );
}

#[test]
fn a_limit_that_the_rules_cannot_keep_is_said() {
    let test = batches();
    test.write("small.yaml", "checkpoint:\n  storage: {max_size_mb: 0}\n");
    let kept = test.run("prune --policy small.yaml --series issue:42 --dry-run");
    assert_eq!(kept.code, Some(0));
    insta::assert_snapshot!(kept.stderr, @"
    would prune 4 of 6 by policy small.yaml: 48 B stored
    warning: issue 42 takes 24 B of 0 B; the rules keep what is left
    ");
}

#[test]
fn a_policy_is_taken_out_of_the_store_again() {
    let test = batches();
    test.write(".waypost/config.yaml", "checkpoint:\n  retention: {batch_complete: 2}\n");
    test.run("policy set .waypost/config.yaml").done();
    test.write(".waypost/config.yaml", "checkpoint:\n  retention: {batch_complete: 1}\n");
    let count = || {
        let outcome = json(&test.run("prune --dry-run --json").done());
        outcome["removed"].as_array().expect("an array").len()
    };
    assert_eq!(count(), 2, "what was set holds");
    test.run("policy unset").done();
    assert_eq!(count(), 3);
}

#[test]
fn more_deleted_ones_than_are_listed_are_counted() {
    let test = Test::new();
    let ids = test.feed("save --lines", &"1\n".repeat(25)).done().replace('\n', " ");
    test.run(&format!("delete {ids} --quiet")).done();
    let listed = test.run("list --deleted");
    assert_eq!(
        (listed.stdout.lines().count(), &*listed.stderr),
        (21, "20 of 25; --all lists the rest\n")
    );
    assert_eq!(test.run("list --deleted --all --json").done().lines().count(), 25);
    let compacted = json(&test.run("compact --json").done());
    assert_eq!(compacted["purged"], 25);
}

/// As the system says whose file it is; before, its rules removed nothing until `prune` was run.
#[test]
fn where_the_config_is_enabled_a_save_prunes_and_that_can_be_taken_back() {
    let test = Test::new();
    std::fs::create_dir(test.path().join(".claude")).unwrap();
    test.write(
        ".claude/checkpoint-config.yaml",
        "checkpoint:\n  enabled: true\n  retention:\n    batch_complete: 2\n",
    );
    let ids = || -> Vec<String> {
        let listed = test.run("list --json").done();
        listed.lines().map(|line| json(line)["id"].as_str().unwrap().to_owned()).collect()
    };
    for number in 1..=5 {
        let args = format!("save --issue 42 --trigger batch_complete --id b-{number}");
        test.feed(&args, &number.to_string()).done();
    }
    assert_eq!(ids(), ["b-5", "b-4"]);
    test.run("undelete b-3 --quiet").done();
    assert_eq!(ids(), ["b-5", "b-4", "b-3"]);
    test.run("policy set keep-all --quiet").done();
    test.feed("save --issue 42 --trigger batch_complete --id b-6", "6").done();
    assert_eq!(ids().len(), 4, "the policy of the store counts");
}

#[test]
fn a_daily_clean_up_comes_with_the_first_save_of_a_day() {
    let test = batches();
    test.write(
        ".waypost/config.yaml",
        "checkpoint:\n  cleanup: daily\n  retention:\n    batch_complete: 1\n",
    );
    let first = test.feed("save --issue 42 --trigger batch_complete --id b-6", "6");
    // The last one of the phase stays, one has a tag, and the new one has no phase.
    assert!(first.stderr.starts_with("pruned 3 by policy "), "{}", first.stderr);
    for number in 7..9 {
        let args = format!("save --issue 42 --trigger batch_complete --id b-{number}");
        assert_eq!(test.feed(&args, "1").stderr, "");
    }
    let lines = test.feed("save --lines --issue 42 --trigger batch_complete", "1\n2\n");
    assert_eq!(lines.stderr, "", "another process knows that it was done");
}
