//! Captured files as a caller asks for them.

use crate::checkpoint::{Artifact, Checkpoint, Id};
use crate::error::{Error, Result, Wanted};
use crate::store::Store;
use crate::store::transaction::lookup::not_found;

impl Store {
    /// Returns the files that were captured with a checkpoint, in the order of their paths.
    ///
    /// Reads no content.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such checkpoint, [`Error::Corrupt`] if the list is
    /// damaged.
    pub fn artifacts(&self, id: &Id) -> Result<Vec<Artifact>> {
        self.read(|snapshot| {
            let entry = snapshot.find(id)?.ok_or_else(|| not_found(id))?;
            snapshot.artifacts(&entry)
        })
    }

    /// Returns the content of a file that was captured with a checkpoint.
    ///
    /// Reads a few rows, however many files there are, and one content.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such checkpoint or it has no file of this path,
    /// [`Error::Invalid`] if the file was deleted and has no content, [`Error::Corrupt`] if that is
    /// damaged, [`Error::Limit`] if it is longer than this handle reads.
    pub fn artifact(&self, id: &Id, path: &str) -> Result<Vec<u8>> {
        self.read(|snapshot| {
            let entry = snapshot.find(id)?.ok_or_else(|| not_found(id))?;
            let artifact = snapshot.artifact_at(&entry, path)?;
            let missing = || Error::NotFound {
                wanted: Wanted::Artifact { checkpoint: id.to_string(), path: path.to_owned() },
            };
            snapshot.content(&entry, &artifact.ok_or_else(missing)?)
        })
    }

    /// Gives a checkpoint and the files that were captured with it to `work`, all out of one
    /// snapshot: they belong together, whatever is deleted or saved under the same id meanwhile.
    ///
    /// The files come in the order of their paths, with `None` for one that was deleted. Each
    /// content is read and checked when it is asked for, and nothing of it is kept: memory is that
    /// of the document and of one file.
    ///
    /// If another process changes the store meanwhile, `work` may run again; what it returned
    /// before is dropped. It must not use this store, and a panic in it is reported as an error.
    ///
    /// ```
    /// use waypost::artifact::ArtifactStatus;
    /// use waypost::{NewArtifact, NewEntry, Store};
    ///
    /// # fn main() -> waypost::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::open(dir.path().join("store.redb"))?;
    /// let file = NewArtifact {
    ///     path: "notes.txt".to_owned(),
    ///     content: Some(b"as it was".to_vec()),
    ///     mode: None,
    ///     status: ArtifactStatus::Created,
    /// };
    /// let draft = store.draft(NewEntry::default(), &1)?.with_artifacts(vec![file])?;
    /// let saved = store.save_draft(draft)?;
    /// let longest = store.get_with_artifacts(&saved.id, |checkpoint, files| {
    ///     assert_eq!(checkpoint.state::<i32>()?, 1);
    ///     let mut longest = 0;
    ///     for file in files {
    ///         let (_, content) = file?;
    ///         longest = longest.max(content.map_or(0, |content| content.len()));
    ///     }
    ///     Ok(longest)
    /// })?;
    /// assert_eq!(longest, 9);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such checkpoint, [`Error::Corrupt`] if it or the list of
    /// its files is damaged, and what `work` returns; for a file, as [`Store::artifact`].
    pub fn get_with_artifacts<T>(
        &self,
        id: &Id,
        work: impl Fn(
            Checkpoint,
            &mut dyn Iterator<Item = Result<(Artifact, Option<Vec<u8>>)>>,
        ) -> Result<T>,
    ) -> Result<T> {
        let outcome = self.read(|snapshot| {
            let entry = snapshot.find(id)?.ok_or_else(|| not_found(id))?;
            let artifacts = snapshot.artifacts(&entry)?;
            let checkpoint = snapshot.load(entry.clone())?;
            let mut files = artifacts.into_iter().map(|artifact| {
                let content = artifact.sha256.map(|_| snapshot.content(&entry, &artifact));
                Ok((artifact, content.transpose()?))
            });
            // An error of `work` itself is not retried.
            Ok(work(checkpoint, &mut files))
        })?;
        self.shared.turn.note_broken(&outcome);
        outcome
    }
}
