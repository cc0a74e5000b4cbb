//! `waypost man`: the help as pages for `man`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use serde::Serialize;
use waypost::transfer::whole::WholeFile;

use super::Cli;
use crate::args::Global;
use crate::exit::Exit;
use crate::help::sections;
use crate::output;

const SOURCE: &str = concat!("waypost ", env!("CARGO_PKG_VERSION"));

const EXAMPLES: &str = "\
Examples:
  waypost man > waypost.1
  waypost man ~/.local/share/man/man1     # then `man waypost-save` finds it";

/// Print the manual page, or write those of all commands
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Write waypost.1, waypost-save.1 and so on into this directory; made if it is not there
    dir: Option<PathBuf>,
}

#[derive(Serialize)]
struct Written {
    pages: Vec<String>,
}

pub(super) fn run(args: &Args, global: &Global, out: &mut dyn Write) -> Result<()> {
    let mut tree = Cli::tree();
    tree.build();
    let Some(dir) = &args.dir else { return Ok(page(&tree, out)?) };
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mut pages = Vec::new();
    write_all(&tree, dir, &mut pages)?;
    if global.json {
        let pages = pages.iter().map(|path| path.display().to_string()).collect();
        return Ok(output::json_line(out, &Written { pages })?);
    }
    Ok(pages.iter().try_for_each(|path| writeln!(out, "{}", path.display()))?)
}

fn write_all(command: &clap::Command, dir: &Path, pages: &mut Vec<PathBuf>) -> Result<()> {
    let path = dir.join(Man::new(command.clone()).get_filename());
    let mut text = Vec::new();
    page(command, &mut text)?;
    place(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
    pages.push(path);
    command.get_subcommands().try_for_each(|below| write_all(below, dir, pages))
}

/// Writes a world-readable file, complete or not at all.
fn place(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::with_mode(path, true, 0o644)?;
    file.write_all(text)?;
    file.finish()
}

/// Writes the page of a command that clap has built.
fn page(command: &clap::Command, mut out: &mut dyn Write) -> io::Result<()> {
    let man = Man::new(command.clone()).source(SOURCE).manual("Waypost");
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(out)?;
    }
    let mut rest = Roff::new();
    let sections = sections::of(command).into_iter();
    for section in sections.filter(|section| section.heading != Exit::HEADING) {
        as_it_is(&mut rest, &section.heading.to_uppercase(), &section.lines);
    }
    exit_status(&mut rest);
    rest.to_writer(&mut out)
}

/// Writes lines without filling them: each is a shell command or a row of a table.
fn as_it_is(page: &mut Roff, heading: &str, lines: &[String]) {
    page.control("SH", [heading]).control("nf", []);
    for line in lines {
        page.text([roman(line.as_str())]);
    }
    page.control("fi", []);
}

fn exit_status(page: &mut Roff) {
    page.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in Exit::meanings() {
        page.control("TP", []);
        page.text([roman(code.to_string())]).text([roman(meaning)]);
    }
}
