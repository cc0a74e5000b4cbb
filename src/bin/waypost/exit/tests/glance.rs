//! All errors as a person sees them: exit code, name, message, and the hint below.

use super::{Report, told};

// The snapshot is in this file, whose lines have at most 100 columns.
const LINE_CHARS: usize = 88;

#[test]
#[expect(clippy::too_many_lines, reason = "nearly all of them are the snapshot")]
fn all_errors_at_a_glance() {
    let mut lines = Vec::new();
    for Report { exit, code, message, hint, .. } in told() {
        lines.extend(wrapped(&format!("{exit} {code}: {message}"), "  "));
        lines.extend(hint.iter().flat_map(|hint| wrapped(&format!("    {hint}"), "      ")));
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    3 not_found: no checkpoint matches "x"
        `waypost list` shows what there is
    2 ambiguous: "a" may be a-1 or a-2
        give more characters of the id
    4 exists: checkpoint a-1 exists with other content
        leave the id out to get a new one
    4 outdated: the plan no longer fits the store: checkpoint a-1 was tagged; 2 were removed
        others work with the store; run it again
    2 invalid: invalid id: it is too short; give at least 4 characters
        `waypost list` shows ids; without --id a checkpoint gets a new one
    4 invalid: invalid document at /a/1: expected a value at line 1 column 11
        give a document in JSON
    4 invalid: invalid document: unexpected text after the end of the document at line 2
      column 1
        --lines saves several documents, each in a line of its own
    4 invalid: invalid line: not JSON, at column 3
        `waypost save --help` describes a line
    4 invalid: invalid about.phas: no such field
        `waypost save --help` lists the fields and their values
    4 invalid: invalid loop_id: ralph is not like ralph-SLUG-0123abcd
        name the loop so, or leave --workflow-type out
    4 invalid: invalid checkpoint: a-1 has no document: its file could not be read
        choose another one: `waypost list` shows what there is
    4 invalid: invalid prune_on_save: there is no policy to prune by
        name a policy, too: `waypost policy set crunch`
    4 invalid: invalid artifact path a/../b: has a part that leads elsewhere
        leave the file out of --capture
    4 invalid: invalid phase: has a control character
        `waypost save --help` says what is accepted
    4 invalid: invalid path: it is the store itself
        name another file; the file there was not changed
    4 limit: length of the document is beyond the limit of 67108864
        save less at once: leave out what is not needed to go on
    1 too_new: p/store.redb has format 2, newer than 1, the newest this build reads
        upgrade waypost to read it; nothing was changed
    1 too_old: p/store.redb has format 0, older than 1, the oldest this build reads
        use an older waypost to read it; nothing was changed
    1 not_a_store: p/store.redb is not a waypost store: it is a directory
        name a store with --store; if this file was one, `waypost repair` may save it
    4 linked: p/store.redb has 2 names (hard links, p/file.json); a save under one name would
      be missing under the others
        while no process uses it, make it a file of its own: cp p/store.redb p/store.redb.own
          && mv p/store.redb.own p/store.redb
    5 corrupt: damaged data in checkpoint a-1: the sum is wrong
        `waypost verify` lists all damage, `waypost repair` saves the rest
    5 corrupt: damaged data in p/store.redb: none of its tables can be found; nothing can be
      saved
        restore a backup; the file was not changed
    5 corrupt: damaged data in p/store.redb: the disk cannot read bytes 0 to 511:
      Input/output error (os error 5)
        the disk is failing: `waypost verify` lists all damage, `waypost repair --into FILE`
          saves the rest on another disk
    4 key: checkpoint a-1 is encrypted with key 0123456789abcdef, and no key was given
        give its key with --key-file; `waypost list` needs none
    4 invalid: invalid key: one was given, and the store is not encrypted
        `waypost rekey` encrypts the store; or leave the key out
    4 invalid: invalid key: not 32 bytes as 64 hexadecimal digits or as base64
        `waypost key FILE` makes a file with one
    6 locked: p/store.redb is held by process 7 (waypost save); gave up after 5.0 s
        wait longer with --wait, or end that process
    6 locked: p/store.redb is held by another process; gave up after 5.0 s
        wait longer with --wait, or end that process; `waypost doctor` may tell why it is not
          named
    1 io: cannot access p/store.redb: entity not found
        make the directory of the store first
    1 io: cannot access p/store.redb: permission denied
        change who may read and write it, or run it as its owner
    1 io: cannot access p/store.redb: no storage space
        make room on that disk: `waypost prune --policy last-50 --now --yes`, then `waypost
          compact`, or remove other files; reading needs no room
    1 io: cannot access p/store.redb: read-only filesystem or storage medium
        use a place that can be written to
    1 io: cannot access p/store.redb: operation interrupted
        check the path and the disk; run it again
    1 io: cannot access p/store.redb: Input/output error (os error 5)
        the disk may be failing: run it again, then copy what is on it to another one
    1 io: cannot access p/store.redb.lock: it is a FIFO, not a regular file
        nothing was changed; move it away: mv p/store.redb.lock p/store.redb.lock.aside
    3 no_store: there is no store at p/store.redb
        `waypost init` or `waypost save` makes one, --store names another
    3 not_found: nothing matches --issue 43 --status failed
        `waypost list` without filters shows what there is
    3 not_found: the store has no checkpoints
        `waypost save` or `waypost import` brings some, --store names another store
    3 not_found: nothing was deleted that can be restored
        `waypost log --operations` shows what was removed, and when
    3 not_found: nothing was done to the store beside saving
        `waypost log` shows what was saved
    3 not_found: the condition holds for none of 12 checkpoints
        `waypost log --path /score` shows the values it had
    3 not_found: the condition holds for none of 12 checkpoints
        `waypost show latest --document` shows where values are
    3 not_found: none of 12 checkpoints has /last_score; nearby: /state/last_score
        `waypost show latest --document` shows where values are
    3 not_found: no checkpoint files in p
        `waypost import --help` tells which files are known
    3 not_found: nothing that was deleted matches "x"
        `waypost list --deleted` shows what can be restored
    3 not_found: operation 7 is not in the log
        `waypost list --deleted` shows what can be restored
    3 not_found: a-1 is the first of its series
        name the checkpoint to compare it with
    4 lost_names: no checkpoint matches "issue:43", but a repair lost some names: issue:42
        `waypost list issue:42` shows what it has; to start another series, archive this one
          first: `waypost archive --series issue:42`
    3 not_found: no checkpoint matches "issue:43"; nearby: issue:42
        if that is meant, `waypost resume issue:42`
    3 not_found: no checkpoint matches "issue:43"; the newest series are issue:42
        `waypost list` shows what there is
    3 not_found: no checkpoint matches "issue:43"; the newest series are issue:42
        `waypost list` shows what there is
    2 several: "42" stands for several checkpoints
        42@0 is its newest checkpoint, 42@1 the one before
    2 ambiguous: "42" may be issue:42, loop:42
        name one of them, or an id
    2 no_policy: there is no policy to prune by
        name one with --policy, or set one with `waypost policy set`
    1 io: cannot read crunsh: there is no such file, and presets are crunch, claude, aiwg,
      keep-all, last-N
        name a preset, or a config file that is there
    4 empty_policy: the policy of p/config.yaml is empty
        `waypost policy example` shows what a policy can say
    3 no_config: there is no config file in this project
        `waypost policy example` prints one, for .waypost/config.yaml beside the store
    4 invalid_config: in p/config.yaml: invalid keep: line 3: no such key
        `waypost policy example` shows every key
    4 invalid_issue: p/file.json has neither body nor labels
        `gh issue view 42 --json number,body,labels` writes one
    4 prompt_user: issue:42 has 3 checkpoints, and there is no terminal to select one at
        `waypost resume a-1` resumes that one; or name another id
    5 corrupt: none of the newest 3 checkpoints of issue:42 can be read
        `waypost repair` saves what can be read; --choice fresh starts over
    4 cannot_resume: cannot resume from a-1: it says that it cannot be resumed
        --worktree trees/issue-7 goes on there, --choice fresh starts over, --force goes on
          all the same
    4 cannot_resume: cannot resume from a-1: it says that it cannot be resumed
        `waypost check a-1` lists what is wrong, `waypost resume a-1` goes on from the newest
          valid one, --force goes on all the same, --choice fresh starts over
    4 cannot_resume: cannot resume from a-1: it says that it cannot be resumed
        `waypost resume a-1` goes on from the newest valid one, --choice fresh starts over,
          --force goes on all the same
    4 cannot_resume: cannot resume from a-1: it is invalid: p/file.json could not be read:
      empty
        mend the file and `waypost import p/file.json`, `waypost resume a-1` goes on from the
          newest valid one, --choice fresh starts over
    4 invalid: a-1 has no document: its file could not be read
        `waypost show a-1 --json` has its bytes as `source_text`
    4 invalid: 1 of 3 checked are invalid
        see above which rules are broken, and where
    4 prompt_user: cannot decide alone whether to resume a-1: the text of the issue has
      changed
        --diff shows what changed, `waypost restore a-1 --into p` brings captured files back,
          --choice resume goes on, --choice fresh starts over
    4 prompt_user: cannot decide alone whether to resume a-1: the text of the issue has
      changed
        --choice resume goes on, --choice fresh starts over
    3 ended: issue:42 is completed: there is nothing to go on from
        `waypost reopen --series issue:42` opens it again, --force goes on all the same
    3 start_fresh: issue:42 starts over
    4 deleted: a-1 was deleted; no work was started
    4 no_tasks: the document of a-1 has neither tasks nor a last action
        `waypost show a-1 --document` prints the document
    4 no_worker: cannot make a prompt for a worker from a-1: /team_name: is missing in
      .pipeline/state.json
        add what is missing there, then `waypost import p/.pipeline`
    4 no_worker: cannot make a prompt for a worker from a-1: /team_name: is missing in
      .pipeline/state.json
        leave --worker out: --prompt alone takes any checkpoint
    4 exists: p/file.json is there already
        --overwrite replaces it
    4 exists: p/file.json is there already
        name a file that does not exist yet with --into
    4 exists: p/store.key is there already, and may be the only copy of a key
        name another file
    4 key: the variable WAYPOST_KEY is set, and empty
        unset it to make a store that is not encrypted
    4 invalid: there is no document in standard input
        the document goes before --capture: `waypost save state.json --capture src`
    4 uncaptured: cannot capture p/file.json: a link
        leave it out of --capture; nothing was saved
    4 limit: cannot read p/file.json: length in bytes is beyond the limit of 67108864
        save less at once: leave out what is not needed to go on
    4 cannot_resume: checkpoint a-1 cannot be resumed from
        --force writes its files all the same
    4 not_restorable: p/file.json cannot be restored into: it is not a directory
        name a directory with --into
    4 not_restorable: p cannot be restored into: 2 paths cannot be written
        step 2 of the report says why; move that away, or name another directory with --into
    4 outdated: checkpoint a-1 changed meanwhile: it was deleted and saved again
        run it again
    4 outdated: p/file.json changed since the restore was planned
        run it again
    4 exists: p/file.json is there with other content
        --force replaces and keeps it; or name another file with --state
    4 not_restorable: the state cannot go to p/file.json: it is a FIFO, not a regular file
        name a regular file with --state, or one to be made
    5 unverified: 1 of 3 files are not as they were captured after they were written
        look where the report says: what was replaced is kept there
    4 exists: p/file.json is a file, and the target of an export is a directory
        name a directory, or one to be made; --jsonl FILE writes lines of JSON to a file
    7 skipped: checkpoints saved: 3; damaged parts that could not be saved: 1
        the first is the log: checksum differs
    7 skipped: 1 of 3 lines were refused
        mend line 2, then save the refused lines again
    5 corrupt: 1 of 3 checkpoints are damaged
        all others were read; `waypost verify` lists all damage, `waypost repair` saves the
          rest
    5 corrupt: 2 findings: the store is damaged
        `waypost repair --dry-run` tells what can be saved, `waypost repair` saves it
    5 corrupt: 1 finding: saves beside the store cannot be taken in
        save their content again from the original, then remove the files; the store is whole
    2 usage: - is not accepted here: this command needs a file
        name a file; ./- is the file named -
    4 exists: checkpoint a-1 exists again: it was saved or imported after the deletion
        delete it first; nothing was restored
    4 unconfirmed: no terminal to confirm at: remove 3 of 4 checkpoints by policy crunch,
      restorably
        --yes does it without asking
    4 declined: nothing was changed
    4 declined: left as it is
    4 newest: a-1 is the newest already
        `waypost log issue:42` shows what there is to go back to
    2 no_series: the series to continue in is not named
        name it with --series; `waypost rollback` continues in the series of the checkpoint
    4 exists: series issue:42 is there already
        --append adds to it; `waypost rollback` goes back within a series
    4 no_place: no store can be made in p: it is not there
        name a directory that is there and yours to write to, or a file with --store
    1 unwell: 1 of 12 checks found something bad
        see above what to do about each
    5 corrupt: 1 of 12 checks found something bad
        `waypost verify` lists all damage, `waypost repair` saves the rest
    130 interrupted: interrupted: 3,200 imported; run it again to go on
    1 no_thread: cannot start a thread: operation would block; `ulimit -u`, `ulimit -v` or
      pids.max of a cgroup limits it
        raise that limit, or use fewer --threads
    1 differs: the documents differ
    2 usage: --loops 1 is less than --threads 2
        try --help
    "#);
}

/// A text in lines that are not too long; all but the first start with `indent`.
fn wrapped(text: &str, indent: &str) -> Vec<String> {
    let (start, words) = text.split_at(text.len() - text.trim_start().len());
    let mut lines = vec![start.to_owned()];
    for word in words.split(' ') {
        let line = lines.last_mut().expect("there is one from the start");
        if line.len() + word.len() > LINE_CHARS {
            lines.push(format!("{indent}{word}"));
        } else {
            let space = if line.trim().is_empty() { "" } else { " " };
            *line = format!("{line}{space}{word}");
        }
    }
    lines
}
