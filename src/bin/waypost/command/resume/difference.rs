//! The differences of files, for a person.

use std::io::{self, Write};

use clap::builder::styling::Style;
use waypost::recovery::{Against, Differences, FileChange, FileDifference};

use crate::args::Global;
use crate::output::{palette, plain};

/// The styles of a difference.
#[derive(Default)]
pub(super) struct Styles {
    place: Style,
    old: Style,
    new: Style,
}

impl Styles {
    /// The styles that standard output shows.
    pub(super) fn of(global: &Global) -> Self {
        let style = |style| global.style(&io::stdout(), style);
        let [place, old, new] = [palette::TITLE, palette::OLD, palette::NEW].map(style);
        Self { place, old, new }
    }
}

/// Writes the differences, or that there are none.
pub(super) fn write(out: &mut dyn Write, all: &Differences, styles: &Styles) -> io::Result<()> {
    for file in &all.files {
        write_file(out, file, styles)?;
    }
    if all.more > 0 {
        writeln!(out, "{} more files differ", all.more)?;
    }
    for unchecked in &all.unchecked {
        writeln!(out, "not compared: {}", plain(unchecked))?;
    }
    if all.files.is_empty() && all.unchecked.is_empty() {
        writeln!(out, "no file is known to differ")?;
    }
    Ok(())
}

fn write_file(out: &mut dyn Write, file: &FileDifference, styles: &Styles) -> io::Result<()> {
    let FileDifference { path, against, change, lines, note, .. } = file;
    let Styles { place, old, new } = styles;
    let what = words(*change, *against);
    writeln!(out, "file {place}{}{place:#}  {what}", plain(path))?;
    for line in lines {
        let style = match line.as_bytes().first() {
            Some(b'-') => *old,
            Some(b'+') => *new,
            _ => Style::new(),
        };
        writeln!(out, "  {style}{}{style:#}", plain(line))?;
    }
    note.iter().try_for_each(|note| writeln!(out, "  ({})", plain(note)))
}

fn words(change: FileChange, against: Against) -> String {
    let change = match change {
        FileChange::Created => "created",
        FileChange::Deleted => "deleted",
        _ => "modified",
    };
    let against = match against {
        Against::Commit => "the commit before the checkpoint",
        _ => "the captured content",
    };
    format!("{change}, compared with {against}")
}
