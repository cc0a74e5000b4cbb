//! Asking before something that may be a mistake.

use std::io::{self, BufRead, IsTerminal as _, Write};

use anyhow::Result;

use crate::exit::Refusal;

/// Whether somebody is there to be asked.
pub(crate) fn is_asked() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks on a terminal; without one, nobody is there to agree.
pub(crate) fn confirm(question: &str) -> Result<()> {
    if !is_asked() {
        return Err(Refusal::Unconfirmed(question.to_owned()).into());
    }
    if is_agreed(question, &mut io::stdin().lock(), &mut io::stderr().lock())? {
        return Ok(());
    }
    Err(Refusal::Declined.into())
}

fn is_agreed(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> Result<bool> {
    write!(output, "{question}? [y/N] ")?;
    output.flush()?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
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
}
