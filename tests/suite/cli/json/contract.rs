//! `src/docs/JSON.md` as a program reads it: sections with tables of members.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/docs/JSON.md"));
/// Includes all members of another shape.
const ALL_OF: &str = "...";

/// The shapes of the page by the title of their section.
pub(super) struct Contract {
    shapes: BTreeMap<&'static str, Vec<Member>>,
}

struct Member {
    name: &'static str,
    kind: &'static str,
    is_nullable: bool,
    is_optional: bool,
}

/// What is wrong with objects, and which members of which shapes were there.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) faults: Vec<String>,
    pub(super) seen: BTreeSet<(&'static str, &'static str)>,
}

impl Contract {
    pub(super) fn read() -> Self {
        let mut shapes: BTreeMap<&str, Vec<Member>> = BTreeMap::new();
        let mut title = "";
        for line in PAGE.lines() {
            if let Some(heading) = line.strip_prefix("### ") {
                title = heading.trim_matches('`');
            } else if line.starts_with('#') {
                title = "";
            } else if let Some(member) = Member::read(line).filter(|_| !title.is_empty()) {
                shapes.entry(title).or_default().push(member);
            }
        }
        // The table of codes stands below a shape, and is none.
        shapes.entry("failure").or_default().truncate(3);
        Self { shapes }
    }

    /// All members that the page names, by shape.
    pub(super) fn members(&self) -> BTreeSet<(&'static str, &'static str)> {
        let of_shape = |(title, members): (&&'static str, &Vec<Member>)| {
            let title = *title;
            let named = members.iter().filter(|member| !member.name.starts_with(ALL_OF));
            named.map(|member| (title, member.name)).collect::<Vec<_>>()
        };
        self.shapes.iter().flat_map(of_shape).collect()
    }

    pub(super) fn check(&self, title: &str, object: &Map<String, Value>, checked: &mut Checked) {
        let mut known = BTreeSet::new();
        self.check_members(title, object, &mut known, checked);
        for name in object.keys().filter(|name| !known.contains(name.as_str())) {
            checked.faults.push(format!("{title}: {name} is not on the page"));
        }
    }

    fn check_members(
        &self,
        title: &str,
        object: &Map<String, Value>,
        known: &mut BTreeSet<&'static str>,
        checked: &mut Checked,
    ) {
        let Some((title, members)) = self.shapes.get_key_value(title) else {
            checked.faults.push(format!("the page has no {title}"));
            return;
        };
        for member in members {
            if let Some(shape) = member.name.strip_prefix(ALL_OF) {
                self.check_members(shape, object, known, checked);
                continue;
            }
            known.insert(member.name);
            if object.contains_key(member.name) {
                checked.seen.insert((title, member.name));
            }
            match object.get(member.name) {
                Some(Value::Null) if member.is_nullable || member.kind == "any" => {}
                Some(value) => {
                    let place = format!("{title}: {}", member.name);
                    self.check_value(&place, member.kind, value, checked);
                }
                None if member.is_optional => {}
                None => checked.faults.push(format!("{title}: {} is missing", member.name)),
            }
        }
    }

    fn check_value(&self, place: &str, kind: &str, value: &Value, checked: &mut Checked) {
        if let (Some(kind), Value::Array(elements)) = (kind.strip_prefix("list of "), value) {
            for element in elements {
                self.check_value(place, kind, element, checked);
            }
            return;
        }
        if let (Some(kind), Value::Object(members)) = (kind.strip_prefix("map of "), value) {
            for member in members.values() {
                self.check_value(place, kind, member, checked);
            }
            return;
        }
        let is_right = match (kind, value) {
            ("any", _) | ("text", Value::String(_)) | ("boolean", Value::Bool(_)) => true,
            ("number", value) => value.is_number(),
            ("integer", value) => value.is_u64() || value.is_i64(),
            ("time", Value::String(text)) => text.parse::<waypost::Timestamp>().is_ok(),
            (shape, Value::Object(object)) => return self.check(shape, object, checked),
            _ => false,
        };
        if !is_right {
            checked.faults.push(format!("{place} is no {kind}: {value}"));
        }
    }
}

impl Member {
    /// A row like `` | `name` | type or null, if any | meaning | ``.
    fn read(line: &'static str) -> Option<Self> {
        let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
        let (name, kind) = (cells.next()?.strip_suffix('`')?, cells.next()?);
        let (kind, is_optional) = match kind.split_once(", if ") {
            Some((kind, _)) => (kind, true),
            None => (kind, false),
        };
        let (kind, is_nullable) = match kind.strip_suffix(" or null") {
            Some(kind) => (kind, true),
            None => (kind, false),
        };
        Some(Self { name, kind, is_nullable, is_optional })
    }
}
