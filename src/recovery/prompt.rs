//! The block that tells an agent what not to do again.

mod state;

use std::fmt::Write as _;

use crate::layouts::Standing;

/// Returns the CHECKPOINT RESUME block of the pipeline system, for the prompt of the agent that
/// continues.
///
/// It also has the last feedback and the system's own state: batches of tasks, messages and
/// captured knowledge.
///
/// `None` if the document has none of this.
#[must_use]
pub fn resume_block(standing: &Standing) -> Option<String> {
    let Standing { tasks_done, tasks_remaining, last_action, last_feedback, .. } = standing;
    let state = state::lines(standing);
    let has_tasks = tasks_done.is_some() || tasks_remaining.is_some();
    if !has_tasks && [last_action, last_feedback] == [&None, &None] && state.is_empty() {
        return None;
    }
    let mut block = "CHECKPOINT RESUME \u{2014} DO NOT re-execute completed work.\n".to_owned();
    let mut line = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(block, "{name}: {}", one_line(value));
    };
    if let Some(done) = tasks_done {
        line("Tasks already completed", &joined(done));
    }
    if let Some(remaining) = tasks_remaining {
        line("Tasks remaining", &joined(remaining));
    }
    if let Some(action) = last_action {
        line("Last action", action);
    }
    for (name, value) in &state {
        line(name, value);
    }
    block.push_str(&feedback(last_feedback.as_deref()));
    block.push_str("Continue from remaining tasks only.\n");
    Some(block)
}

/// All lines of the feedback, each marked, so that none looks like a line of the block.
fn feedback(text: Option<&str>) -> String {
    let Some(text) = text else { return String::new() };
    let lines = text.lines().map(|line| {
        let line: String = line.chars().filter(|it| *it == '\t' || !is_hidden(*it)).collect();
        format!("> {}", line.trim_end()).trim_end().to_owned() + "\n"
    });
    format!("Last feedback:\n{}", lines.collect::<String>())
}

fn joined(tasks: &[String]) -> String {
    if tasks.is_empty() { "none".to_owned() } else { tasks.join(", ") }
}

/// True for characters that move the cursor, end a line, or change the direction of text.
fn is_hidden(it: char) -> bool {
    it.is_control() || matches!(it, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A task must not look like a line of the block.
pub(super) fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|it| if is_hidden(it) { ' ' } else { it }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}
