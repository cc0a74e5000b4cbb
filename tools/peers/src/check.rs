//! Checks that a rival returns what it was given, before anything is timed.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::peer::{Durability, Kind, Peer, Record};
use crate::workload::{FIRST_ISSUE, Fleet, Motion, Scenario, absent_trigger};

// Several for each loop.
const SAVES: usize = 40;
// More than there are, so that ties in time cannot decide which are listed.
const LIMIT: usize = 1_000;
const SCENARIO: Scenario = Scenario { kilobytes: 16, motion: Motion::Window };

/// A checkpoint as passed to a rival.
struct Saved {
    id: String,
    issue: String,
    place: (String, u64),
    json: String,
}

/// Fails with the name of the rival if anything read from it differs from what was saved.
pub(crate) fn check(kind: Kind, directory: &Path) -> Result<()> {
    check_with(kind, directory).with_context(|| format!("{} does not agree", kind.name()))
}

fn check_with(kind: Kind, directory: &Path) -> Result<()> {
    let mut fleet = Fleet::new(SCENARIO);
    let mut saved = Vec::new();
    for durability in [Durability::Durable, Durability::Relaxed] {
        let peer = kind.open(directory, durability)?;
        for _ in 0..SAVES {
            saved.push(save(&*peer, &mut fleet)?);
        }
        compare(&*peer, &fleet, &saved)?;
        peer.close()?;
    }

    let mut peer = kind.open(directory, Durability::Durable)?;
    compare(&*peer, &fleet, &saved)?;
    let deleted: Vec<Saved> = saved.drain(..SAVES).collect();
    let ids: Vec<String> = deleted.iter().map(|one| one.id.clone()).collect();
    peer.delete(&ids)?;
    compare(&*peer, &fleet, &saved)?;
    ensure!(ids.iter().all(|id| peer.get(id).is_err()), "what was deleted is still there");
    peer.reclaim()?;
    compare(&*peer, &fleet, &saved)?;
    peer.close()?;

    let peer = kind.open(directory, Durability::Durable)?;
    compare(&*peer, &fleet, &saved)?;
    peer.close()
}

fn save(peer: &dyn Peer, fleet: &mut Fleet) -> Result<Saved> {
    let (about, state) = fleet.step()?;
    let series = waypost::Series::of(&about).as_str().to_owned();
    let place = (series, about.iteration.context("a loop counts")?);
    let issue = about.issue.as_ref().context("a loop has an issue")?.as_str().to_owned();
    let json = state.to_json();
    let id = peer.save(about, state)?;
    Ok(Saved { id, issue, place, json })
}

fn compare(peer: &dyn Peer, fleet: &Fleet, saved: &[Saved]) -> Result<()> {
    for one in saved {
        let found = peer.get(&one.id)?;
        ensure!(found.state()?.to_json() == one.json, "get gives another state");
        ensure!(found.into_text()? == one.json, "get gives another document");
    }
    for (series, document) in fleet.series().iter().zip(fleet.documents()) {
        let found = peer.latest(series.as_str())?.into_text()?;
        ensure!(found == document, "latest gives another document");
    }
    let of_issue = saved.iter().filter(|one| one.issue == FIRST_ISSUE);
    let listed = peer.list(FIRST_ISSUE, LIMIT)?;
    ensure!(places(&listed) == sorted(of_issue.map(|one| one.place.clone())), "list differs");
    ensure!(listed.iter().all(|record| record.issue == FIRST_ISSUE), "list has other issues");
    ensure!(peer.list(FIRST_ISSUE, 3)?.len() == 3, "list does not keep to its limit");

    let (absent, series) = (absent_trigger(), fleet.series());
    let none = peer.filter(series[0].as_str(), absent.as_str())?;
    ensure!(none.is_empty(), "a filter without a match has one");
    let some = peer.filter(series[1].as_str(), absent.as_str())?;
    ensure!(!some.is_empty(), "a filter with a match has none");

    let mut exported = Vec::new();
    peer.export(&mut exported)?;
    let text = String::from_utf8(exported)?;
    let lines = sorted(text.lines().map(str::to_owned));
    ensure!(lines == sorted(saved.iter().map(|one| one.json.clone())), "export differs");
    Ok(())
}

fn places(records: &[Record]) -> Vec<(String, u64)> {
    sorted(records.iter().map(|record| (record.series.clone(), record.iteration)))
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items
}
