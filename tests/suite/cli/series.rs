//! `waypost series`: where each loop stands.

use serde_json::Value;

use super::Test;
#[cfg(unix)]
use super::resume::terminal::at_terminal;

/// A loop that goes on, one that failed, one whose newest cannot be resumed, and one that is done.
fn loops() -> Test {
    let test = Test::new();
    for (about, document) in [
        ("--series done", "1"),
        ("--series broken --id b-1", r#"{"score": 9}"#),
        ("--series broken --id b-2 --can-resume false", "2"),
        ("--series stuck --can-resume false", "3"),
        ("--series waiting", r#"{"unmet_prerequisites": ["a database"]}"#),
        ("--series nightly --iteration 6", r#"{"score": 71}"#),
        ("--series nightly --iteration 7 --phase build", r#"{"score": 82.5}"#),
    ] {
        test.feed(&format!("save --quiet {about}"), document).done();
    }
    test.run("complete --series done --quiet").done();
    test
}

fn states(test: &Test, args: &str) -> Vec<Value> {
    let told = test.run(args).done();
    told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_series_tells_where_it_stands_the_last_active_first() {
    let test = loops();
    let states = states(&test, "series --json");
    let told: Vec<String> = states
        .iter()
        .map(|it| format!("{} {} {} {}", it["series"], it["decision"], it["score"], it["why"]))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    "nightly" "resume" 82.5 []
    "waiting" "prompt_user" null ["prerequisites are not met: \"a database\""]
    "stuck" "refused" null ["says that it cannot be resumed"]
    "broken" "resume" null ["says that it cannot be resumed"]
    "done" "ended" null ["is completed"]
    "#);
    assert_eq!(states[3]["from"], "b-1");
    assert_eq!(states[0]["newest"]["iteration"], 7);
    let lines = test.run("status --limit 1 --quiet").done();
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(lines.lines().nth(1).unwrap().starts_with("nightly  "), "{lines}");
}

/// What is listed is what `resume` does.
#[test]
fn the_decision_is_that_of_resume() {
    let test = loops();
    for state in states(&test, "series --json") {
        let code = match state["decision"].as_str().unwrap() {
            "resume" => 0,
            "ended" => 3,
            _ => 4,
        };
        let series = state["series"].as_str().unwrap();
        assert_eq!(test.run(&format!("resume {series} --no-gh -q")).code, Some(code), "{state}");
    }
}

#[test]
fn filters_are_about_the_newest_of_a_series() {
    let test = loops();
    assert_eq!(states(&test, "series --json --status completed").len(), 1);
    test.run("series --issue 7").failed(3);
    assert!(Test::new().run("series").failed(3).contains("there is no store"));
}

#[cfg(unix)]
#[test]
fn resume_without_a_name_offers_the_list_at_a_terminal() {
    let test = loops();
    let (code, stdout, shown) = at_terminal(&test, "resume --no-gh", "4\nr\n");
    assert_eq!(code, Some(0), "{shown}");
    assert!(stdout.contains("b-1"), "{stdout}");
    let said = test.run("resume").failed(2);
    assert!(said.contains("the newest series are nightly, waiting, stuck, broken, done"), "{said}");
}

#[test]
fn resume_without_a_name_says_that_the_store_is_empty() {
    let test = Test::new();
    test.run("init").done();
    let said = test.run("resume").failed(3);
    assert!(said.starts_with("error: the store has no checkpoints\n"), "{said}");
}
