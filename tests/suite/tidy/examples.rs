//! Every public type of the library has an example, or names an item that has one.

use std::collections::BTreeSet;

use super::{report, sources};

/// Types without an example, and why.
const WITHOUT: [(&str, &str); 1] =
    [("FileSystem", "only the command uses it; its module is hidden from the documentation")];

/// How the line starts and ends that names an item with an example.
const SEE: [&str; 2] = ["See [`", "for an example."];

/// A public item and the lines of its doc comment.
struct Item<'a> {
    file: &'a str,
    name: &'a str,
    is_type: bool,
    doc: Vec<&'a str>,
}

impl<'a> Item<'a> {
    fn has_example(&self) -> bool {
        self.doc.iter().any(|line| line.starts_with("```"))
    }

    /// The last part of the name of the item that the doc comment points to.
    fn pointer(&self) -> Option<&'a str> {
        let line = self.doc.iter().find(|line| line.ends_with(SEE[1]))?;
        let name = line.strip_prefix(SEE[0])?.split('`').next()?;
        name.rsplit("::").next().map(|name| name.trim_end_matches("()"))
    }
}

/// The name of a public type, function or module that a line declares, and whether it is a type.
fn declared(line: &str) -> Option<(&str, bool)> {
    let rest = line.strip_prefix("pub ")?;
    let rest = rest.strip_prefix("const ").unwrap_or(rest);
    let (kind, rest) = rest.split_once(' ')?;
    let is_type = ["struct", "enum", "trait"].contains(&kind);
    let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
    let is_item = is_type || ["fn", "mod"].contains(&kind);
    // A macro declares `$name`.
    (is_item && end > 0).then_some((&rest[..end], is_type))
}

/// Public types, functions and modules of a file. Attributes may follow the doc comment.
fn items<'a>(file: &'a str, text: &'a str) -> Vec<Item<'a>> {
    let mut found = Vec::new();
    let mut doc = Vec::new();
    let mut is_attribute = false;
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("///") {
            doc.push(rest.trim());
        } else if is_attribute || line.starts_with("#[") {
            is_attribute = !line.ends_with(']');
        } else if !line.starts_with("//") {
            let doc = std::mem::take(&mut doc);
            found.extend(declared(line).map(|(name, is_type)| Item { file, name, is_type, doc }));
        }
    }
    found
}

/// Names of modules whose opening has an example.
fn modules(sources: &[(String, String)]) -> impl Iterator<Item = &str> {
    let with = sources.iter().filter(|(_, text)| text.lines().any(|line| line == "//! ```"));
    with.filter_map(|(name, _)| name.rsplit('/').next()?.strip_suffix(".rs"))
}

#[test]
fn every_public_type_has_an_example_or_names_one() {
    let mut sources = sources("src");
    sources.retain(|(name, _)| !name.starts_with("src/bin/") && !name.contains("/tests"));
    let items: Vec<Item<'_>> = sources.iter().flat_map(|(name, text)| items(name, text)).collect();
    let with = items.iter().filter(|item| item.has_example()).map(|item| item.name);
    let with: BTreeSet<&str> = with.chain(modules(&sources)).collect();
    let mut offences = Vec::new();
    for item in items.iter().filter(|item| item.is_type && !item.has_example()) {
        let Item { file, name, .. } = item;
        match item.pointer() {
            Some(other) if with.contains(other) => {}
            Some(other) => offences.push(format!("{file}: {name} names {other}, without example")),
            None if WITHOUT.iter().any(|(without, _)| without == name) => {}
            None => offences.push(format!("{file}: {name} has no example")),
        }
    }
    report(&offences);
}
