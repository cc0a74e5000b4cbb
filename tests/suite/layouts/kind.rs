//! What paths say.

use waypost::layouts::{Kind, kind};

fn all_are(expected: Kind, paths: &[&str]) {
    for path in paths {
        for leading in ["", "a/", "a/.worktrees/b/", "./", ".tmp/x/"] {
            let path = format!("{leading}{path}");
            assert_eq!(kind(&path), expected, "{path}");
        }
    }
}

#[test]
fn every_place_of_checkpoints_is_known() {
    all_are(
        Kind::Checkpoint,
        &[
            ".tmp/impl-checkpoint.json",
            ".claude/crunch/42/checkpoints/CP-enrich-20250114-a3f2.yaml",
            ".claude/crunch/42/checkpoints/CP-before-batch-1.yml",
            ".claude/crunch/42/checkpoints/CP-20250114-a3f2.json",
            ".claude/checkpoints/implement_dark_mode_20251003_192230.json",
            ".claude/checkpoints/01.2.yaml",
            ".claude/data/checkpoints/build_b_iteration_2.json",
            ".claude/data/checkpoints/parallel_ops/parallel_expand_p_20251003_192230.json",
            ".claude/checkpoints/failed/x.json",
            ".pipeline/checkpoint-PROJ-42.json",
            ".pipeline/state.json",
            ".hex-skills/pipeline/state.json",
            ".hex-skills/pipeline/checkpoint-PROJ-42.json",
            ".hex-skills/pipeline/runtime/runs/r/manifest.json",
            ".hex-skills/pipeline/runtime/runs/r/state.json",
            ".hex-skills/pipeline/runtime/runs/r/checkpoints.json",
            ".hex-skills/pipeline/runtime/active/ln-1000/PROJ-42.json",
            ".aiwg/ralph/loops/l/checkpoints/iteration-005.json.gz",
            ".aiwg/ralph/loops/l/checkpoints/checkpoint-3-1771079400123.json.gz",
            ".aiwg/ralph/loops/l/checkpoints/checkpoint-1.json.gz",
            ".aiwg/ralph/loops/l/state.json",
            ".aiwg/checkpoints/w-2026-01-25T15-00-00Z-iteration.json.gz",
            ".aiwg/checkpoints/ralph-x/iteration-001.json.gz",
            ".aiwg/checkpoints/flow-x/phase-concept.json.gz",
            ".aiwg/ralph/current-loop.json",
            ".aiwg/ralph/iterations/iteration-3.json",
            ".aiwg/ralph-external/iterations/001/checkpoints/001-checkpoint.json",
            ".aiwg/ralph-external/session-state.json",
            ".aiwg/ralph-external/loops/l/session-state.json",
        ],
    );
}

#[test]
fn what_lies_beside_checkpoints_is_told_apart() {
    for name in ["index.yaml", "index.yml", "index.json"] {
        all_are(Kind::Index, &[&format!(".claude/crunch/42/checkpoints/{name}")]);
        assert_eq!(kind(&format!("42/checkpoints/{name}")), Kind::Index);
    }
    all_are(Kind::Latest, &[".claude/crunch/42/checkpoints/latest"]);
    all_are(Kind::Lines, &[".hex-skills/pipeline/runtime/runs/r/history.jsonl"]);
    assert_eq!(kind("runs/r/history.jsonl"), Kind::Lines);
    assert_eq!(kind("checkpoints/latest"), Kind::Latest);
    assert_eq!(kind("checkpoints/CP-x.yaml"), Kind::Checkpoint);
}

#[test]
fn debris_is_named() {
    for (why, paths) in [
        (
            "temporary file",
            &[
                ".claude/checkpoints/x.json.tmp",
                ".claude/data/checkpoints/build_b_iteration_2.json.tmp.4711",
                ".hex-skills/pipeline/runtime/runs/r/state.json.tmp-4711",
                ".hex-skills/pipeline/state.json.hexline-tmp-4711",
                ".tmp/tmpab12_x9z.json",
                ".aiwg/ralph-external/session-state.json.tmp",
                "specs/state.json.tmp",
            ][..],
        ),
        (
            "backup",
            &[
                ".claude/checkpoints/x.json.backup",
                ".claude/checkpoints/x.json.migrated",
                ".aiwg/ralph-external/session-state.json.bak",
                "x.yaml.bak",
            ],
        ),
        ("lock", &[".hex-skills/pipeline/.lock", ".aiwg/ralph/registry.json.lock"]),
        ("flag of a worker", &[".pipeline/worker-a-done.flag"]),
        (
            "other output of the workflow",
            &[
                ".tmp/parse-iter-1.json",
                ".tmp/review-iter-12.json",
                ".tmp/pr-iter-1.json",
                ".tmp/rebase-iter-1.json",
            ],
        ),
        (
            "list of loops or files, not a checkpoint",
            &[".aiwg/ralph/registry.json", ".aiwg/checkpoints/ralph-x/manifest.json"],
        ),
        ("settings", &[".claude/checkpoint-config.yaml"]),
        (
            "journal, not a checkpoint",
            &[
                ".pipeline/events.jsonl",
                ".claude/checkpoints/log.jsonl",
                ".hex-skills/pipeline/runtime/events.jsonl",
                ".aiwg/ralph/loops/l/checkpoints/log.jsonl",
            ],
        ),
        (
            "text for people, not a checkpoint",
            &[
                ".claude/checkpoints/README.md",
                ".claude/data/checkpoints/failed/why.txt",
                ".claude/crunch/42/checkpoints/notes.md",
                ".pipeline/report.md",
                ".aiwg/ralph/completion-2026.md",
                ".aiwg/ralph/loops/l/crash.log",
            ],
        ),
        (
            "a kind of file that holds no checkpoint",
            &[".pipeline/lead-session.id", ".claude/checkpoints/list.sh", ".aiwg/checkpoints/x.gz"],
        ),
    ] {
        for path in paths {
            assert_eq!(kind(path), Kind::Debris(why), "{path}");
            assert_eq!(kind(&format!("a/{path}")), Kind::Debris(why), "a/{path}");
        }
    }
    assert_eq!(kind("tmpab12_x9z.json"), Kind::Debris("temporary file"));
}

#[test]
fn documents_beside_checkpoints_are_told_from_those_elsewhere() {
    all_are(
        Kind::Neighbour,
        &[
            ".claude/checkpoints/deeper/x.json",
            ".pipeline/other.json",
            ".hex-skills/pipeline/runtime/x.yaml",
            ".aiwg/ralph/x.json",
            ".aiwg/ralph/loops/l/x.json",
        ],
    );
}

#[test]
fn of_other_files_only_documents_are_looked_at() {
    for path in [
        "x.json",
        "a/x.yaml",
        "a/x.yml",
        "a/x.json.gz",
        "a/history.jsonl",
        "a/tmpab12_x9z.json",
        ".tmp/tmpab12.json",
        ".tmp/plan.json",
        ".claude/acp/message-log.yaml",
        ".aiwg/reports/x.json",
        ".aiwg/ralph-external/iterations/001/x.json",
        ".claude/settings.json",
        "impl-checkpoint.json",
        "checkpoints/x.json",
    ] {
        assert_eq!(kind(path), Kind::Candidate, "{path}");
    }
    for path in [
        "",
        "/",
        "x",
        "Cargo.lock",
        "x.tmp",
        "x.bak",
        "notes.md",
        ".claude/checkpoints/.gitkeep",
        ".claude/crunch/42/spec.md",
        ".aiwg/requirements/plan.md",
        ".tmp/plan.md",
        "latest",
        "a.gz",
        "x.json.tmpfile",
    ] {
        assert_eq!(kind(path), Kind::Other, "{path}");
    }
}
