//! Filters over long lists, where rows of one name are far apart from those of another.

use waypost::{Entry, Issue, NewEntry, Options, Order, Query, Status, Store, Timestamp, Trigger};

const COUNT: u64 = 600;

/// Attributes change at different rates, so that lists overlap here and lie apart there.
fn about(number: u64) -> NewEntry {
    NewEntry {
        issue: Some(Issue::new((number / 50 % 3).to_string()).unwrap()),
        phase: Some((number / 7 % 4).to_string()),
        tags: (number % 90 < 3).then(|| "rare".to_owned()).into_iter().collect(),
        trigger: Trigger::ALL[usize::try_from(number / 20 % 5).unwrap()].clone(),
        status: if number.is_multiple_of(11) { Status::Failed } else { Status::InProgress },
        iteration: Some(number),
        created_at: Some(Timestamp::from_micros(i64::try_from(number / 3).unwrap())),
        series: Some(format!("series {}", number / 100).parse().unwrap()),
        ..NewEntry::default()
    }
}

fn filled() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open_with(dir.path().join("store.redb"), Options::default()).unwrap();
    let drafts = (0..COUNT).map(|number| store.draft(about(number), &number).unwrap());
    let outcomes = store.batch(drafts.collect()).unwrap();
    assert!(outcomes.iter().all(Result::is_ok));
    (dir, store)
}

fn fits(query: &Query, entry: &Entry) -> bool {
    query.issue.is_none_or_same(entry.issue.as_ref())
        && query.phase.is_none_or_same(entry.phase.as_ref())
        && query.series.is_none_or_same(Some(&entry.series))
        && query.tag.as_ref().is_none_or(|tag| entry.tags.contains(tag))
        && query.status.is_none_or(|status| status == entry.status)
        && (query.triggers.is_empty() || query.triggers.contains(&entry.trigger))
}

trait IsNoneOrSame<T> {
    fn is_none_or_same(&self, other: Option<&T>) -> bool;
}

impl<T: PartialEq> IsNoneOrSame<T> for Option<T> {
    fn is_none_or_same(&self, other: Option<&T>) -> bool {
        self.as_ref().is_none_or(|own| Some(own) == other)
    }
}

#[test]
fn every_combination_of_filters_finds_what_a_scan_finds() {
    let (_dir, store) = filled();
    let all: Vec<Entry> = store.entries(Query::default()).map(Result::unwrap).collect();
    assert_eq!(all.len() as u64, COUNT);
    let text = |value: &str| Some(value.to_owned());
    let mut found_any = 0;
    for bits in 0..64_u32 {
        let has = |bit: u32| bits & (1 << bit) != 0;
        for order in [Order::Newest, Order::Oldest] {
            let query = Query {
                issue: has(0).then(|| Issue::new("1").unwrap()),
                phase: has(1).then(|| text("2")).flatten(),
                tag: has(2).then(|| text("rare")).flatten(),
                series: has(3).then(|| "series 2".parse().unwrap()),
                status: has(4).then_some(Status::Failed),
                triggers: if has(5) { Trigger::ALL[1..4].to_vec() } else { Vec::new() },
                order,
                ..Query::default()
            };
            let mut expected: Vec<&Entry> =
                all.iter().filter(|entry| fits(&query, entry)).collect();
            if order == Order::Oldest {
                expected.reverse();
            }
            let found: Vec<Entry> = store.entries(query.clone()).map(Result::unwrap).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query:?}");
            found_any += usize::from(!found.is_empty());
        }
    }
    assert!(found_any > 64, "too few combinations have an answer: {found_any}");
}

#[test]
fn the_newest_is_found_without_looking_further() {
    let (_dir, store) = filled();
    let query = Query { iteration_min: Some(COUNT - 1), ..Query::default() };
    assert_eq!(store.latest(&query).unwrap().unwrap().entry.iteration, Some(COUNT - 1));
    let page = store.list(&query).unwrap();
    assert_eq!((page.entries.len(), page.next), (1, None));
}
