//! `waypost log --path`: one value through time.

use super::{Test, damage, log, save};

/// Checkpoints of a series with these values of `x`.
fn with(values: &[&str]) -> Test {
    let test = Test::new();
    for (number, value) in values.iter().enumerate() {
        let document = match *value {
            "" => "{}".to_owned(),
            value => format!("{{\"x\": {value}}}"),
        };
        save(&test, &format!("--series a --id a-{number} --iteration {number}"), &document);
    }
    test
}

#[test]
fn numbers_have_a_line_and_changes_a_row() {
    let test = with(&["10", "10", "10.0", "14", "", "12"]);
    insta::assert_snapshot!(log(&test, "a --path /x --ascii").done(), @"
    /x  min 10.0, max 14, last 12, 5 of 6
    ___# ~
    ID       AGE  ITER  VALUE
    a-5  in >99y     5  12
    a-4  in >99y     4  absent
    a-3  in >99y     3  14
    a-0  in >99y     0  10
    ");
    // Up to a checkpoint, and no further back than the limit.
    let ended = log(&test, "a-4 --path /x --ascii --limit 2");
    assert_eq!(ended.stderr, "these are the newest 2; --limit or --all shows more\n");
    insta::assert_snapshot!(ended.stdout, @"
    /x  min 14, max 14, last 14, 1 of 2
    -
    ID       AGE  ITER  VALUE
    a-4  in >99y     4  absent
    a-3  in >99y     3  14
    ");
}

#[test]
fn numbers_in_quotes_and_beyond_doubles_count() {
    let test = with(&["\"3\"", "1e400", "-1e400", "9007199254740993", "9007199254740992", "NaN"]);
    insta::assert_snapshot!(log(&test, "a --path /x --ascii").done(), @r#"
    /x  min -1e400, max 1e400, last 9007199254740992, 5 of 6
    _#_##
    ID       AGE  ITER  VALUE
    a-5  in >99y     5  NaN
    a-4  in >99y     4  9007199254740992
    a-3  in >99y     3  9007199254740993
    a-2  in >99y     2  -1e400
    a-1  in >99y     1  1e400
    a-0  in >99y     0  "3"
    "#);
}

#[test]
fn other_values_have_rows_only() {
    let long = format!("{:?}", "long ".repeat(100));
    let test = with(&["\"build\"", "\"build\"", "true", "{\"y\": [1]}", &long, "null"]);
    insta::assert_snapshot!(log(&test, "a --path /x --ascii").done(), @r#"
    ID       AGE  ITER  VALUE
    a-5  in >99y     5  null
    a-4  in >99y     4  "long long long long long long long long long long long l...
    a-3  in >99y     3  {"y":[1]}
    a-2  in >99y     2  true
    a-0  in >99y     0  "build"
    "#);
    insta::assert_snapshot!(log(&test, "a --path /x/y/0 --ascii --limit 3").stdout, @"
    /x/y/0  min 1, max 1, last 1, 1 of 3
    -
    ID       AGE  ITER  VALUE
    a-4  in >99y     4  absent
    a-3  in >99y     3  1
    ");
}

#[test]
fn every_series_has_a_line_of_its_own() {
    let test = with(&["1", "2"]);
    save(&test, "--series b --id b-0", "{\"x\": 5}");
    save(&test, "--series a --id a-2", "{\"x\": 0}");
    insta::assert_snapshot!(log(&test, "--path /x --ascii").done(), @"
    a /x  min 0, max 2, last 0, 3 of 3
    ~#_
    b /x  min 5, max 5, last 5, 1 of 1
    -
    ID       AGE  SERIES  ITER  VALUE
    a-2  in >99y  a          -  0
    b-0  in >99y  b          -  5
    a-1  in >99y  a          1  2
    a-0  in >99y  a          0  1
    ");
}

#[test]
fn sparklines_have_blocks_where_they_can() {
    let test = with(&["1", "2", "3"]);
    let told = log(&test, "a --path /x").done();
    assert!(told.contains("\n\u{2581}\u{2585}\u{2588}\n"), "{told}");
}

#[test]
fn a_program_gets_an_object_for_each_checkpoint() {
    let test = with(&["1.50", "", "null"]);
    let lines = log(&test, "a --path /x --json").done();
    insta::assert_snapshot!(lines.replace("2999-01-01T00:00:00.000000Z", "LATER"), @r#"
    {"version":1,"id":"a-2","series":"a","created_at":"LATER","iteration":2,"value":null}
    {"version":1,"id":"a-1","series":"a","created_at":"LATER","iteration":1,"absent":true}
    {"version":1,"id":"a-0","series":"a","created_at":"LATER","iteration":0,"value":1.50}
    "#);
}

#[test]
fn a_path_is_a_json_pointer() {
    let test = with(&["1"]);
    let wrong = log(&test, "a --path x").failed(2);
    assert!(wrong.contains("does not start with a slash, as in /state/score"), "{wrong}");
    insta::assert_snapshot!(log(&test, "a --path /none").failed(3), @"
    error: none of 1 checkpoints has /none
    hint: `waypost show latest --document` shows where values are
    ");
    assert_eq!(log(&test, "a --path /x --issue 7").code, Some(2));
}

#[test]
fn damage_is_told_in_its_row() {
    let pangram = "Jackdaws love my big sphinx of quartz";
    let test = with(&[&format!("{pangram:?}")]);
    save(&test, "--series b --id b-0", "{\"x\": 5}");
    damage(&test, pangram);
    let ended = log(&test, "--path /x --ascii");
    assert_eq!(ended.code, Some(5));
    insta::assert_snapshot!(ended.stdout, @"
    b /x  min 5, max 5, last 5, 1 of 1
    -
    ID       AGE  SERIES  ITER  VALUE
    b-0  in >99y  b          -  5
    a-0  in >99y  a          0  damaged
    ");
    let ended = log(&test, "--path /x --json");
    assert_eq!(ended.code, Some(5));
    assert!(ended.stdout.contains("\"damaged\":\"damaged data"), "{}", ended.stdout);
}
