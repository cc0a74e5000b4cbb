//! The verdict on a refusal of the command.

use waypost::Series;

use super::{Verdict, not_found, refused};
use crate::exit::{Exit, Refusal};
use crate::output::{plain, quoted};

#[expect(clippy::too_many_lines, reason = "a line or two for each, all in one place")]
pub(super) fn of_command(refusal: &Refusal) -> Verdict {
    match refusal {
        // A missing store counts as no match, so that a loop starts from nothing.
        Refusal::NoStore { .. } => Verdict::new(Exit::Nothing, "no_store")
            .hint("`waypost init` or `waypost save` makes one, --store names another"),
        Refusal::Nothing { .. } => not_found("`waypost list` without filters shows what there is"),
        Refusal::Empty => {
            not_found("`waypost save` or `waypost import` brings some, --store names another store")
        }
        Refusal::NothingDeleted => {
            not_found("`waypost log --operations` shows what was removed, and when")
        }
        Refusal::NoOperations => not_found("`waypost log` shows what was saved"),
        Refusal::Unfulfilled { pointer: Some(pointer), .. } => {
            Verdict::new(Exit::Nothing, "not_found")
                .hint(format!("`waypost log --path {}` shows the values it had", quoted(pointer)))
        }
        Refusal::Unfulfilled { pointer: None, .. } | Refusal::NoValue { .. } => {
            not_found("`waypost show latest --document` shows where values are")
        }
        Refusal::NoFiles { .. } => not_found("`waypost import --help` tells which files are known"),
        Refusal::Alive { .. } => refused("exists", "delete it first; nothing was restored"),
        Refusal::Parts { first, .. } => {
            Verdict::new(Exit::Skipped, "skipped").hint(plain(&format!("the first is {first}")))
        }
        Refusal::Skipped { hint, .. } => Verdict::new(Exit::Skipped, "skipped").hint(plain(hint)),
        Refusal::Exists { .. } => refused("exists", "--overwrite replaces it"),
        Refusal::KeyExists { .. } => refused("exists", "name another file"),
        Refusal::EmptyKey { .. } => {
            refused("key", "unset it to make a store that is not encrypted")
        }
        Refusal::Damaged { .. } => Verdict::new(Exit::Damaged, "corrupt").hint(
            "all others were read; `waypost verify` lists all damage, `waypost repair` saves the \
             rest",
        ),
        Refusal::Unsound { .. } => Verdict::new(Exit::Damaged, "corrupt")
            .hint("`waypost repair --dry-run` tells what can be saved, `waypost repair` saves it"),
        Refusal::SetAside { .. } => Verdict::new(Exit::Damaged, "corrupt").hint(
            "save their content again from the original, then remove the files; the store is whole",
        ),
        Refusal::NoStream => {
            Verdict::new(Exit::Usage, "usage").hint("name a file; ./- is the file named -")
        }
        Refusal::Taken { .. } => {
            refused("exists", "name a file that does not exist yet with --into")
        }
        Refusal::NoConfig => Verdict::new(Exit::Nothing, "no_config")
            .hint("`waypost policy example` prints one, for .waypost/config.yaml beside the store"),
        Refusal::Unconfirmed(_) => refused("unconfirmed", "--yes does it without asking"),
        Refusal::Declined | Refusal::Left => Verdict::new(Exit::Refused, "declined"),
        Refusal::LostNames { series, .. } => {
            let first = quoted(series.first().map_or("latest", Series::as_str));
            let hint = format!(
                "`waypost list {first}` shows what it has; to start another series, archive this \
                 one first: `waypost archive --series {first}`"
            );
            Verdict::new(Exit::Refused, "lost_names").hint(hint)
        }
        Refusal::NotDeleted { .. } | Refusal::NotUndone { .. } => {
            not_found("`waypost list --deleted` shows what can be restored")
        }
        Refusal::NotAnIssue { .. } => {
            refused("invalid_issue", "`gh issue view 42 --json number,body,labels` writes one")
        }
        Refusal::First { .. } => not_found("name the checkpoint to compare it with"),
        Refusal::NoTarget { nearby, .. } if nearby.len() == 1 => {
            let hint = format!("if that is meant, `waypost resume {}`", quoted(nearby[0].as_str()));
            Verdict::new(Exit::Nothing, "not_found").hint(hint)
        }
        Refusal::NoTarget { .. } | Refusal::Unknown { .. } => {
            not_found("`waypost list` shows what there is")
        }
        Refusal::Several { name } => {
            let [newest, before] = ["0", "1"].map(|at| quoted(&format!("{name}@{at}")));
            Verdict::new(Exit::Usage, "several")
                .hint(format!("{newest} is its newest checkpoint, {before} the one before"))
        }
        Refusal::Unclear { .. } => {
            Verdict::new(Exit::Usage, "ambiguous").hint("name one of them, or an id")
        }
        Refusal::Unselected { likely, .. } => {
            let likely = quoted(likely.as_str());
            Verdict::new(Exit::Refused, "prompt_user")
                .hint(format!("`waypost resume {likely}` resumes that one; or name another id"))
        }
        Refusal::AllDamaged { .. } => Verdict::new(Exit::Damaged, "corrupt")
            .hint("`waypost repair` saves what can be read; --choice fresh starts over"),
        Refusal::CannotResume { worktree: Some(worktree), .. } => {
            Verdict::new(Exit::Refused, "cannot_resume").hint(format!(
                "--worktree {} goes on there, --choice fresh starts over, --force goes on all the \
                 same",
                quoted(worktree)
            ))
        }
        Refusal::CannotResume { id, is_invalid: true, older, .. } => {
            let id = quoted(id.as_str());
            let older = older.as_ref().map_or(String::new(), |older| {
                let older = quoted(older.as_str());
                format!("`waypost resume {older}` goes on from the newest valid one, ")
            });
            let hint = format!(
                "`waypost check {id}` lists what is wrong, {older}--force goes on all the same, \
                 --choice fresh starts over"
            );
            Verdict::new(Exit::Refused, "cannot_resume").hint(hint)
        }
        Refusal::Broken { path, older, .. } => {
            let path = quoted(&path.display().to_string());
            let older = older.as_ref().map_or(String::new(), |older| {
                let older = quoted(older.as_str());
                format!(", `waypost resume {older}` goes on from the newest valid one")
            });
            let hint = format!(
                "mend the file and `waypost import {path}`{older}, --choice fresh starts over"
            );
            Verdict::new(Exit::Refused, "cannot_resume").hint(hint)
        }
        Refusal::CannotResume { older: Some(older), .. } => {
            let older = quoted(older.as_str());
            Verdict::new(Exit::Refused, "cannot_resume").hint(format!(
                "`waypost resume {older}` goes on from the newest valid one, --choice fresh starts \
                 over, --force goes on all the same"
            ))
        }
        Refusal::CannotResume { .. } => {
            refused("cannot_resume", "--choice fresh starts over, --force goes on all the same")
        }
        Refusal::Undecided { id, files_of: Some(directory), .. } => {
            let (id, into) = (quoted(id.as_str()), quoted(&directory.display().to_string()));
            Verdict::new(Exit::Refused, "prompt_user").hint(format!(
                "--diff shows what changed, `waypost restore {id} --into {into}` brings captured \
                 files back, --choice resume goes on, --choice fresh starts over"
            ))
        }
        Refusal::Undecided { .. } => {
            refused("prompt_user", "--choice resume goes on, --choice fresh starts over")
        }
        // An ended series must not keep the next run from starting.
        Refusal::Ended { series, .. } => Verdict::new(Exit::Nothing, "ended").hint(format!(
            "`waypost reopen --series {}` opens it again, --force goes on all the same",
            quoted(series.as_str())
        )),
        // Code 3, as without a checkpoint: the loop starts.
        Refusal::Fresh { .. } => Verdict::new(Exit::Nothing, "start_fresh"),
        Refusal::NotStarted { .. } => Verdict::new(Exit::Refused, "deleted"),
        Refusal::NoContent { id } => Verdict::new(Exit::Refused, "invalid").hint(format!(
            "`waypost show {} --json` has its bytes as `source_text`",
            quoted(id.as_str())
        )),
        Refusal::NoTasks { id } => Verdict::new(Exit::Refused, "no_tasks")
            .hint(format!("`waypost show {} --document` prints the document", quoted(id.as_str()))),
        Refusal::NoWorker { files: Some(files), .. } => {
            let files = quoted(&files.display().to_string());
            let hint = format!("add what is missing there, then `waypost import {files}`");
            Verdict::new(Exit::Refused, "no_worker").hint(hint)
        }
        Refusal::NoWorker { files: None, .. } => {
            refused("no_worker", "leave --worker out: --prompt alone takes any checkpoint")
        }
        Refusal::Newest { series, .. } => {
            let series = quoted(series.as_str());
            Verdict::new(Exit::Refused, "newest")
                .hint(format!("`waypost log {series}` shows what there is to go back to"))
        }
        Refusal::NoSeries => Verdict::new(Exit::Usage, "no_series").hint(
            "name it with --series; `waypost rollback` continues in the series of the checkpoint",
        ),
        Refusal::SeriesExists { .. } => {
            refused("exists", "--append adds to it; `waypost rollback` goes back within a series")
        }
        Refusal::Wrong { .. } => refused("invalid", "see above which rules are broken, and where"),
        Refusal::NoDocument => refused(
            "invalid",
            "the document goes before --capture: `waypost save state.json --capture src`",
        ),
        Refusal::Unwell { is_damaged: true, .. } => Verdict::new(Exit::Damaged, "corrupt")
            .hint("`waypost verify` lists all damage, `waypost repair` saves the rest"),
        Refusal::Unwell { .. } => {
            Verdict::new(Exit::Failed, "unwell").hint("see above what to do about each")
        }
        Refusal::ExportIntoFile { .. } => refused(
            "exists",
            "name a directory, or one to be made; --jsonl FILE writes lines of JSON to a file",
        ),
        Refusal::NoThread(_) => {
            Verdict::new(Exit::Failed, "no_thread").hint("raise that limit, or use fewer --threads")
        }
        // The message already says how to go on, if possible.
        Refusal::Interrupted { signal, .. } => Verdict::new((*signal).into(), "interrupted"),
        Refusal::Differs => Verdict::new(Exit::Failed, "differs"),
        Refusal::Usage(_) => Verdict::new(Exit::Usage, "usage").hint("try --help"),
    }
}
