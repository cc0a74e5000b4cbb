//! Questions to the person at the terminal.
//!
//! On standard error, so that standard output has nothing but the result.

use std::io::{self, BufRead, Write};

use anyhow::Result;
use waypost::layouts::{Progress, Standing};
use waypost::recovery::{Decision, Differences, Resumption};
use waypost::source::JsonStyle;
use waypost::{Entry, Timestamp};

use super::difference;
use crate::exit::Refusal;
use crate::output::{self, Fields, plain, quoted};

/// Shows the checkpoint and asks what to do.
///
/// If something forbids resuming, `resume` is not among the answers.
pub(super) fn ask(
    found: &Resumption,
    changes: &dyn Fn() -> Result<Differences>,
) -> Result<Decision> {
    let question = Question { about: found, changes };
    decide(&question, Timestamp::now(), &mut io::stdin().lock(), &mut output::stderr())
}

/// The checkpoint that the question is about.
struct Question<'a> {
    about: &'a Resumption,
    /// Compares files with the checkpoint. Slow, so it runs only on demand.
    changes: &'a dyn Fn() -> Result<Differences>,
}

fn decide(
    question: &Question<'_>,
    now: Timestamp,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<Decision> {
    let entry = &question.about.offer.checkpoint.entry;
    let standing = &question.about.offer.standing;
    let refusals = question.about.refusals();
    write!(output, "{}", found(entry, standing, now))?;
    for refusal in &refusals {
        writeln!(output, "Cannot resume: {}", plain(refusal))?;
    }
    let can_resume = refusals.is_empty();
    let letters = if can_resume { "r/s/v/d/q" } else { "s/v/d/q" };
    loop {
        write!(output, "{}", options(entry, standing, can_resume))?;
        write!(output, "\nChoice [{letters}]: ")?;
        output.flush()?;
        let Some(answer) = answer(input)? else { return left(output) };
        match answer.to_ascii_lowercase().as_str() {
            "r" | "resume" if can_resume => {
                write!(output, "{}", go_on(entry))?;
                return Ok(Decision::Resume);
            }
            "q" | "quit" => return left(output),
            "s" | "start" | "start fresh" | "fresh" => return Ok(Decision::StartFresh),
            "d" | "delete" => return Ok(Decision::Delete),
            "v" | "view" => view(question, now, output)?,
            _ => {
                let letters = letters.replace('/', ", ");
                writeln!(output, "Answer with one of {letters}.")?;
            }
        }
    }
}

fn left<T>(output: &mut impl Write) -> Result<T> {
    writeln!(output, "Left as it is.")?;
    Err(Refusal::Left.into())
}

/// The file of the checkpoint, and the commands to show and resume it.
fn go_on(entry: &Entry) -> String {
    let file = entry.source_path.as_deref();
    let file = file.map_or(String::new(), |path| format!("Came from: {}\n", plain(path)));
    let id = quoted(&plain(entry.id.as_str()));
    format!(
        "{file}Document: waypost show {id} --document\nGo on: waypost resume {id} --choice resume \
         --document\n"
    )
}

/// The checkpoint, its age and the progress of the work.
fn found(entry: &Entry, standing: &Standing, now: Timestamp) -> String {
    let name = standing.description.clone().unwrap_or_else(|| entry.series.to_string());
    let created = entry.created_at.to_string();
    let created = created.split('.').next().unwrap_or(&created).replace('T', " ");
    let ago = output::ago_in_words(entry.created_at, now);
    let progress = progress(entry, standing);
    let progress =
        if progress.is_empty() { progress } else { format!("Progress: {}\n", plain(&progress)) };
    format!(
        "Found existing checkpoint for \"{}\"\nCreated: {} ({ago})\n{progress}",
        plain(&name),
        created.trim_end_matches('Z')
    )
}

/// The progress of the work, in one line.
pub(super) fn progress(entry: &Entry, standing: &Standing) -> String {
    if let Some(Progress { unit, done, total, .. }) = &standing.progress {
        let mut unit = (*unit).to_owned();
        unit[..1].make_ascii_uppercase();
        return match total {
            Some(total) => format!("{unit} {done} of {total} completed"),
            None => format!("{unit} {done} completed"),
        };
    }
    let phase = entry.phase.as_ref().map(|phase| format!("phase {phase}"));
    let iteration = entry.iteration.map(|iteration| format!("iteration {iteration}"));
    phase.into_iter().chain(iteration).collect::<Vec<_>>().join(", ")
}

fn options(entry: &Entry, standing: &Standing, can_resume: bool) -> String {
    let next = standing.progress.as_ref().and_then(|progress| progress.next.clone());
    let from = entry.resume_from.clone().or(next).or_else(|| entry.phase.clone());
    let from = from.unwrap_or_else(|| "here".to_owned());
    let resume = format!("  (r)esume - Continue from {}\n", plain(&from));
    let resume = if can_resume { resume } else { String::new() };
    format!(
        "\nOptions:\n{resume}  (s)tart fresh - Archive the series and restart\n  \
         (v)iew details - Show checkpoint contents\n  \
         (d)elete - Remove checkpoint without starting\n  \
         (q)uit - Leave everything as it is\n"
    )
}

fn view(question: &Question<'_>, now: Timestamp, output: &mut impl Write) -> Result<()> {
    let checkpoint = &question.about.offer.checkpoint;
    writeln!(output)?;
    Fields::of_entry(&checkpoint.entry, now).plainly(output)?;
    writeln!(output)?;
    let mut text = Vec::new();
    checkpoint.write_json(&mut text, JsonStyle::Pretty)?;
    // JSON escapes some control characters only.
    let text = String::from_utf8_lossy(&text);
    text.lines().try_for_each(|line| writeln!(output, "{}", plain(line)))?;
    writeln!(output)?;
    Ok(difference::write(output, &(question.changes)()?, &difference::Styles::default())?)
}

/// A line that was typed; `None` at the end of input.
fn answer(input: &mut impl BufRead) -> Result<Option<String>> {
    let mut line = Vec::new();
    if input.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()))
}

/// Asks for the number of a line and returns its index.
pub(super) fn number(
    lines: &[String],
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<usize> {
    for (number, line) in lines.iter().enumerate() {
        writeln!(output, "{:>3}  {}", number + 1, plain(line))?;
    }
    loop {
        write!(output, "Which [1-{}]: ", lines.len())?;
        output.flush()?;
        let Some(answer) = answer(input)? else { return left(output) };
        match answer.parse::<usize>() {
            Ok(number) if (1..=lines.len()).contains(&number) => return Ok(number - 1),
            Err(_) if matches!(answer.as_str(), "q" | "quit") => return left(output),
            _ => writeln!(output, "Answer with a number, or with q to leave all as it is.")?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_asked_for_until_it_is_one_of_the_list() {
        let lines = ["one".to_owned(), "two".to_owned()];
        let mut output = Vec::new();
        let at = number(&lines, &mut "0\nx\n3\n2\n".as_bytes(), &mut output).unwrap();
        assert_eq!(at, 1);
        let output = String::from_utf8(output).unwrap();
        assert_eq!(output.matches("Which [1-2]").count(), 4, "{output}");
    }

    #[test]
    fn the_end_of_input_is_no_choice() {
        assert!(number(&["one".to_owned()], &mut "".as_bytes(), &mut Vec::new()).is_err());
    }
}
