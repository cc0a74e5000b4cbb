//! Compares what is in the place of a file with what belongs there.
//!
//! Reads both at once, a part at a time, and writes nothing.

use std::fs;
use std::io::{self, ErrorKind, Read};

use super::{Content, Directory, Draft, Occupant};
use crate::store::opening;
use crate::transfer::gzip;
use crate::transfer::place::split;

// Long enough that comparing costs less than reading.
const COMPARED_BYTES: usize = 64 << 10;

impl Directory {
    /// Compares what is in the place of a file with its content.
    pub(crate) fn look(&self, path: &str, content: &Content) -> io::Result<Occupant> {
        self.look_for(path, content.form.is_gzip, content.text.as_slice())
    }

    /// Compares what is in the place of a file with a draft of it.
    pub(crate) fn look_for_draft(
        &self,
        path: &str,
        draft: &Draft,
        is_gzip: bool,
    ) -> io::Result<Occupant> {
        let draft = opening::read(&draft.temporary)?;
        if is_gzip {
            return self.look_for(path, true, gzip::reader(draft));
        }
        self.look_for(path, false, draft)
    }

    /// Compares what is in the place of a link with its target; a file that holds the target counts
    /// as the same.
    pub(crate) fn look_for_link(&self, path: &str, name: &Content) -> io::Result<Occupant> {
        match fs::read_link(self.path(path)) {
            Ok(target) if target.as_os_str().as_encoded_bytes() == name.text => Ok(Occupant::Same),
            Ok(_) => Ok(Occupant::Other),
            Err(_) => self.look(path, name),
        }
    }

    fn look_for(&self, path: &str, is_gzip: bool, text: impl Read) -> io::Result<Occupant> {
        let (parent, name) = split(path);
        if self.known(parent).is_some_and(|known| known.is_new) {
            return Ok(Occupant::Nothing);
        }
        if let Some(folder) = self.held(parent)
            && !folder.has(name)?
        {
            return Ok(Occupant::Nothing);
        }
        match self.directory(parent)? {
            Occupant::Same => {}
            other => return Ok(other),
        }
        let path = self.path(path);
        let found = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Occupant::Nothing),
            other => other?,
        };
        if found.is_dir() {
            return Ok(Occupant::Obstacle("is a directory"));
        }
        if !found.is_file() {
            return Ok(Occupant::Other);
        }
        match opening::read(&path) {
            // A file that cannot be read counts as different.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(Occupant::Other),
            file if is_gzip => Ok(compared(&mut gzip::reader(file?), text)),
            file => Ok(compared(&mut file?, text)),
        }
    }
}

/// Compares two readers. Input that cannot be decompressed counts as different.
fn compared(there: &mut impl Read, mut text: impl Read) -> Occupant {
    let (mut one, mut other) = (vec![0; COMPARED_BYTES], vec![0; COMPARED_BYTES]);
    loop {
        match (fill(there, &mut one), fill(&mut text, &mut other)) {
            (Ok(0), Ok(0)) => return Occupant::Same,
            (Ok(length), Ok(wanted)) if one[..length] == other[..wanted] => {}
            _ => return Occupant::Other,
        }
    }
}

/// Reads until the buffer is full or the input ends.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
