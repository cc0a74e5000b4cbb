//! How long a file and a function may be, with the exceptions and their reasons.

use super::{report, sources};

const FILE_LINES_MAX: usize = 400;
const LONG_FILES: [&str; 1] = [
    // All calls of one simulated disk, with what each fault does to them.
    "src/store/tests/disk/simulated.rs",
];

const FUNCTION_LINES_MAX: usize = 60;
const LONG_FUNCTIONS: [(&str, &str); 6] = [
    // One arm for each refusal, so that the compiler asks for the verdict on a new one.
    ("src/bin/waypost/exit/verdict/command.rs", "of_command"),
    // Nearly all of it is the snapshot of every message and hint.
    ("src/bin/waypost/exit/tests/glance.rs", "all_errors_at_a_glance"),
    // One value for each error of the library.
    ("src/bin/waypost/exit/tests/samples.rs", "library"),
    // One line for each field of an entry.
    ("src/store/save/draft.rs", "draft_parts"),
    // One arm for each kind of change.
    ("src/store/tests/artifact/model.rs", "make"),
    // The steps of one recovery, each with its check.
    ("src/store/tests/disk.rs", "recover"),
];

#[test]
fn files_and_functions_stay_short() {
    let mut offences = Vec::new();
    for (name, text) in sources("src") {
        let lines = text.lines().count();
        if lines > FILE_LINES_MAX && !LONG_FILES.contains(&name.as_str()) {
            offences.push(format!("{name}: has {lines} lines"));
        }
        for (function, lines) in functions(&text) {
            if lines > FUNCTION_LINES_MAX && !LONG_FUNCTIONS.contains(&(&*name, function)) {
                offences.push(format!("{name}: {function} has {lines} lines"));
            }
        }
    }
    report(&offences);
}

/// The functions of a formatted text, each with the number of its lines.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    let mut open: Option<(&str, usize, usize)> = None;
    for (number, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if let Some((name, from, outer)) = open {
            if line.trim_start() == "}" && indent == outer {
                found.push((name, number + 1 - from));
                open = None;
            }
        } else if let Some((before, after)) = line.split_once("fn ")
            && before.trim_start().chars().all(|it| it.is_ascii_lowercase() || " ():".contains(it))
            && !line.ends_with(['}', ';'])
        {
            open = Some((after.split(['(', '<']).next().unwrap_or_default(), number, indent));
        }
    }
    found
}

/// An exception that is no longer needed would hide the next file that grows.
#[test]
fn every_exception_is_needed() {
    let sources = sources("src");
    let text = |wanted: &str| {
        let found = sources.iter().find(|(name, _)| name == wanted);
        found.map_or("", |(_, text)| text.as_str())
    };
    for name in LONG_FILES {
        assert!(text(name).lines().count() > FILE_LINES_MAX, "{name}");
    }
    for (name, long) in LONG_FUNCTIONS {
        let is_long =
            |(function, lines): &(&str, usize)| *function == long && *lines > FUNCTION_LINES_MAX;
        assert!(functions(text(name)).iter().any(is_long), "{name}: {long}");
    }
}

#[test]
fn the_reader_of_functions_knows_where_each_ends() {
    let text = "    pub(super) fn one(\n        it: u8,\n    ) {\n    }\nfn two() {\n}\n";
    assert_eq!(functions(text), [("one", 4), ("two", 2)]);
}
