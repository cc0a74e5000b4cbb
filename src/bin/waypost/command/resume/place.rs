//! The directory in which the work goes on, if the user does not name one.

use std::env;
use std::path::{Path, PathBuf};

use waypost::Layout;
use waypost::recovery::workplace;

use super::choose::Chosen;
use crate::world::{self, RealWorld};

/// Moves the world to the directory that the chosen work belongs to, if that lies below `home`,
/// the directory that the store is for.
pub(super) fn settled(world: RealWorld, chosen: &Chosen, home: &Path) -> RealWorld {
    let entry = &chosen.offer.checkpoint.entry;
    let Some(place) = workplace(entry, &chosen.offer.standing) else { return world };
    let Ok(place) = home.join(place).canonicalize() else { return world };
    if !place.is_dir() || !is_below(&place, home) {
        return world;
    }
    match other_worktree(home, &place) {
        // Whoever is in the worktree of another issue would go on in the wrong one.
        Some(other) if entry.layout == Layout::Agentize => world.moved_to(other),
        _ => world.moved_to(place),
    }
}

/// The worktree around the current directory, if that is another one below `home`.
fn other_worktree(home: &Path, place: &Path) -> Option<PathBuf> {
    let here = env::current_dir().ok()?.canonicalize().ok()?;
    if !is_below(&here, home) || here.starts_with(place) {
        return None;
    }
    let top = world::worktree_around(&here)?.canonicalize().ok()?;
    (is_below(&top, home) && !place.starts_with(&top)).then_some(top)
}

fn is_below(path: &Path, home: &Path) -> bool {
    path.starts_with(home) && path != home
}
