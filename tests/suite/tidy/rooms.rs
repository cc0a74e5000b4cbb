//! The rooms of the store, as far as a program can read them: their order and cycles.

use std::collections::{BTreeMap, BTreeSet};

use super::{report, sources};

/// The rooms of `src/store` from the bottom up. A room uses only those before it.
const ROOMS: [&str; 10] =
    ["engine", "chain", "log", "turn", "transaction", "files", "save", "ask", "keep", "care"];
/// The first room whose files add methods to the handle. Those below must not name it.
const HANDLE_FROM: &str = "save";
/// What of the store belongs to no room: plain values that every room may name, and tests.
const ROOMLESS: [&str; 3] = ["options", "watch", "tests"];

/// Files of one folder that may use each other, each group with its reason. There are none.
const CYCLES: [&[&str]; 0] = [];

/// A file by its modules below the store, such as `["log", "journal", "scan"]`.
type Modules = Vec<String>;

/// The files of the store but for its tests, each with what it uses of the store.
fn uses() -> BTreeMap<Modules, BTreeSet<Modules>> {
    let files = sources("src/store").into_iter().filter(|(name, _)| !name.contains("/tests"));
    let files: Vec<(Modules, String)> = files.map(|(name, text)| (modules(&name), text)).collect();
    let used = |(own, text): &(Modules, String)| (own.clone(), paths(own, &code(text)).collect());
    files.iter().map(used).collect()
}

fn modules(name: &str) -> Modules {
    let path = name.trim_start_matches("src/store/").trim_end_matches(".rs");
    path.split('/').map(str::to_owned).collect()
}

/// A text without comments and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The paths below the store that a text names, wherever they start from.
fn paths<'a>(own: &'a [String], text: &'a str) -> impl Iterator<Item = Modules> + 'a {
    let starts = text.match_indices("crate::store::").chain(text.match_indices("super::"));
    let is_start = |at: usize| at == 0 || !text[..at].ends_with("::");
    starts.filter(move |(at, _)| is_start(*at)).flat_map(move |(at, _)| {
        let mut rest = &text[at..];
        let mut base = Vec::new();
        if let Some(below) = rest.strip_prefix("crate::store::") {
            rest = below;
        } else {
            base = own.to_vec();
            while let Some(above) = rest.strip_prefix("super::") {
                base.pop();
                rest = above;
            }
        }
        trees(rest).into_iter().map(move |path| base.iter().cloned().chain(path).collect())
    })
}

/// The paths of a tree of names, such as `a::{b, c::d}`, at the start of a text.
fn trees(text: &str) -> Vec<Modules> {
    let text = text.trim_start();
    if let Some(inner) = text.strip_prefix('{') {
        let mut depth = 0;
        let mut parts = vec![String::new()];
        for letter in inner.chars() {
            match letter {
                '}' if depth == 0 => break,
                ',' if depth == 0 => parts.push(String::new()),
                _ => {
                    depth += i32::from(letter == '{') - i32::from(letter == '}');
                    parts.last_mut().unwrap().push(letter);
                }
            }
        }
        return parts.iter().flat_map(|part| trees(part)).collect();
    }
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let end = text.find(|it| !is_name(it)).unwrap_or(text.len());
    let first = text[..end].to_owned();
    match text[end..].strip_prefix("::") {
        Some(rest) => trees(rest)
            .into_iter()
            .map(|path| std::iter::once(first.clone()).chain(path).collect())
            .collect(),
        None => vec![vec![first]],
    }
}

fn room(name: &str) -> Option<usize> {
    ROOMS.iter().position(|room| *room == name)
}

#[test]
fn every_file_of_the_store_has_a_room_and_uses_only_lower_ones() {
    let handle_from = room(HANDLE_FROM).unwrap();
    let mut offences = Vec::new();
    for (file, used) in uses() {
        let name = file.join("/");
        let own = room(&file[0]);
        if own.is_none() && !ROOMLESS.contains(&file[0].as_str()) {
            offences.push(format!("{name}: it is in no room"));
        }
        for path in used {
            let target = room(&path[0]);
            if target > own {
                offences.push(format!("{name}: uses {}, which lies above", path.join("::")));
            }
            if path[0] == "Store" && own < Some(handle_from) {
                offences.push(format!("{name}: names the handle, which lies above"));
            }
        }
    }
    report(&offences);
}

#[test]
fn files_of_the_store_use_each_other_in_one_direction() {
    // What uses what among the files and folders of each folder. A file and its folder are one,
    // and a file may use what its own folder's page has.
    let mut folders: BTreeMap<Modules, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (file, used) in uses() {
        for path in used {
            let shared = file.iter().zip(&path).take_while(|(one, other)| one == other).count();
            if (1..file.len()).contains(&shared) && shared < path.len() {
                let within = folders.entry(file[..shared].to_vec()).or_default();
                within.entry(file[shared].clone()).or_default().insert(path[shared].clone());
            }
        }
    }
    let mut found = BTreeSet::new();
    for (folder, within) in &folders {
        let name = |file: &str| format!("{}/{file}", folder.join("/"));
        for file in within.keys() {
            let circle =
                within.keys().filter(|it| leads(within, file, it) && leads(within, it, file));
            let circle: Vec<String> = circle.map(|it| name(it)).collect();
            found.extend((!circle.is_empty()).then_some(circle));
        }
    }
    let expected = CYCLES.iter().map(|cycle| cycle.iter().map(|it| (*it).to_owned()).collect());
    assert_eq!(found, expected.collect());
}

/// Whether one file uses another, at once or by way of others.
fn leads(within: &BTreeMap<String, BTreeSet<String>>, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut left = vec![from];
    while let Some(file) = left.pop() {
        for next in within.get(file).into_iter().flatten() {
            if next == to {
                return true;
            }
            if seen.insert(next) {
                left.push(next);
            }
        }
    }
    false
}

#[test]
fn the_reader_of_uses_knows_trees_and_paths_from_above() {
    let own = ["log".to_owned(), "journal".to_owned(), "scan".to_owned()];
    let text = "use super::item::{self, first};\nuse crate::store::{a::B, c::{d, E}};";
    let found: BTreeSet<String> = paths(&own, text).map(|path| path.join("::")).collect();
    let expected =
        ["a::B", "c::E", "c::d", "log::journal::item::first", "log::journal::item::self"];
    assert_eq!(found.iter().collect::<Vec<_>>(), expected);
}
