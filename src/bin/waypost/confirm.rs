//! Questions before something that may be a mistake.

use std::io::{self, BufRead, IsTerminal as _, Write};

use anyhow::Result;

use crate::exit::Refusal;
use crate::output::stderr;

/// Whether a person can be asked at a terminal.
pub(crate) fn is_asked() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks at a terminal; refuses without one.
pub(crate) fn confirm(question: &str) -> Result<()> {
    if !is_asked() {
        return Err(Refusal::Unconfirmed(question.to_owned()).into());
    }
    if is_agreed(question, &mut io::stdin().lock(), &mut stderr())? {
        return Ok(());
    }
    Err(Refusal::Declined.into())
}

/// Asks at a terminal about something harmless: an empty answer agrees.
pub(crate) fn offer(question: &str) -> Result<bool> {
    is_taken(question, &mut io::stdin().lock(), &mut stderr())
}

fn is_agreed(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> Result<bool> {
    let answer = answer(&format!("{question}? [y/N] "), input, output)?;
    Ok(["y", "yes"].contains(&answer.trim_end()))
}

fn is_taken(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> Result<bool> {
    let answer = answer(&format!("{question}? [Y/n] "), input, output)?;
    // The end of input is no agreement.
    Ok(["\n", "y\n", "yes\n"].contains(&answer.as_str()))
}

/// The line that was typed, with its line end: without one it is no answer.
fn answer(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> Result<String> {
    write!(output, "{question}")?;
    output.flush()?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    let end = if answer.ends_with('\n') { "\n" } else { "" };
    Ok(answer.trim().to_ascii_lowercase() + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_agrees() {
        for (answer, agreed) in
            [("y\n", true), ("Yes\n", true), ("\n", false), ("", false), ("yep\n", false)]
        {
            let mut output = Vec::new();
            let outcome = is_agreed("Remove all", &mut answer.as_bytes(), &mut output).unwrap();
            assert_eq!(outcome, agreed, "{answer:?}");
            assert_eq!(String::from_utf8(output).unwrap(), "Remove all? [y/N] ");
        }
    }

    #[test]
    fn an_offer_is_taken_by_pressing_enter_but_not_by_going_away() {
        for (answer, taken) in
            [("\n", true), (" YES \n", true), ("", false), ("n\n", false), ("what\n", false)]
        {
            let mut output = Vec::new();
            let outcome = is_taken("Take it", &mut answer.as_bytes(), &mut output).unwrap();
            assert_eq!(outcome, taken, "{answer:?}");
            assert_eq!(String::from_utf8(output).unwrap(), "Take it? [Y/n] ");
        }
    }
}
