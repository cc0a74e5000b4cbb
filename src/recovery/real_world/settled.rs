//! Moves the world to the directory that the chosen work belongs to.
//!
//! Must never leave the directory that the store is for: the path comes from a document.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use super::RealWorld;
use super::since::Since;
use crate::checkpoint::Layout;
use crate::error::{Error, Result};
use crate::recovery::{Offer, workplace};

impl RealWorld {
    /// Moves to the directory that the work of a checkpoint belongs to, if no worktree was given
    /// and that directory lies below the one that the store is for.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the issue that was given is not the one of the checkpoint: a mistake
    /// of the caller, and not an answer.
    pub fn settled(self, offer: &Offer) -> Result<Self> {
        if let (Some(given), Some(own)) = (self.given_issue(), &offer.standing.snapshot.issue)
            && given != *own
        {
            let reason = format!("is of issue {given}, and the checkpoint of {own}");
            return Err(Error::invalid("issue JSON", reason));
        }
        Ok(match self.place_of(offer) {
            Some(place) => self.moved_to(place),
            None => self,
        })
    }

    /// `None` if the work goes on in the current root.
    fn place_of(&self, offer: &Offer) -> Option<PathBuf> {
        if self.around.worktree.is_some() {
            return None;
        }
        let (entry, home) = (&offer.checkpoint.entry, &self.around.home);
        let place = workplace(entry, &offer.standing)?;
        let place = home.join(place).canonicalize().ok()?;
        if !place.is_dir() || !is_below(&place, home) {
            return None;
        }
        match self.other_worktree(&place) {
            // The user is in the worktree of another issue, which is the wrong place.
            Some(other) if entry.layout == Layout::Agentize => Some(other),
            _ => Some(place),
        }
    }

    /// The worktree around the user, if that is another one below the directory of the store.
    fn other_worktree(&self, place: &Path) -> Option<PathBuf> {
        let home = &self.around.home;
        let here = self.around.here.as_ref()?.canonicalize().ok()?;
        if !is_below(&here, home) || here.starts_with(place) {
            return None;
        }
        let top = self.git.at(here).worktree()?.canonicalize().ok()?;
        (is_below(&top, home) && !place.starts_with(&top)).then_some(top)
    }

    fn moved_to(self, root: PathBuf) -> Self {
        Self {
            git: self.git.at(root.clone()),
            gh: self.gh.map(|gh| gh.at(root.clone())),
            // Cached answers are about the old place.
            worktree: OnceCell::new(),
            since: Since::default(),
            root,
            ..self
        }
    }
}

fn is_below(path: &Path, home: &Path) -> bool {
    path.starts_with(home) && path != home
}
