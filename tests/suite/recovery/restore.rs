//! Restoring through the library: plans that fit or not, watchers, and the report.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;
use waypost::artifact::ArtifactStatus;
use waypost::care::Stage;
use waypost::recovery::restore::{
    FileAction, FileOutcome, NotRestored, Refusal, Restore, RestorePlan, StepName, StepOutcome,
};
use waypost::{Entry, Error, Id, NewArtifact, NewEntry, Options, Store, Timestamp};

const STATE: &str = r#"{"variables": {"x": 1.50}, "agent_state": {"current_agent": "q"}}"#;

/// A store, and beside it a project that has changed since its checkpoint `one`: a file has other
/// content, one is missing, one is there that was deleted, and one is where a directory was.
struct Project {
    dir: TempDir,
    store: Store,
    entry: Entry,
}

impl Project {
    fn new() -> Self {
        Self::with(STATE, NewEntry::default())
    }

    fn with(document: &str, about: NewEntry) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store.redb")).unwrap();
        let files = [
            ("changed", Some("then")),
            ("deep/missing", Some("m")),
            ("deleted", None),
            ("turned", None),
            ("turned/below", Some("b")),
        ];
        let files = files.map(|(path, text)| NewArtifact {
            path: path.to_owned(),
            content: text.map(Into::into),
            mode: None,
            status: text.map_or(ArtifactStatus::Deleted, |_| ArtifactStatus::Created),
        });
        let about = NewEntry { id: Some(Id::new("one").unwrap()), ..about };
        let draft = store.draft_json(about, document.as_bytes()).unwrap();
        let entry = store.save_draft(draft.with_artifacts(files.into()).unwrap()).unwrap();
        let project = Self { dir, store, entry };
        fs::create_dir(project.dir.path().join("into")).unwrap();
        project.change();
        project
    }

    fn change(&self) {
        for path in ["turned", "deep"] {
            let _ = fs::remove_dir_all(self.how().into.join(path));
        }
        // Not only the content: a file that was restored has another mode.
        let _ = fs::remove_file(self.how().into.join("changed"));
        for path in ["changed", "deleted", "turned"] {
            self.write(path, "now");
        }
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.dir.path().join("into").join(path), text).unwrap();
    }

    fn how(&self) -> Restore {
        Restore { into: self.dir.path().join("into"), ..Restore::default() }
    }

    fn plan(&self, how: &Restore) -> Result<RestorePlan, NotRestored> {
        self.store.plan_restore(&self.entry, how, &mut unwatched)
    }

    fn refused(&self, how: &Restore) -> Refusal {
        self.store.restore(&self.entry, how).unwrap_err().why
    }

    /// All files of the project by their paths, without what was kept.
    fn files(&self) -> BTreeMap<String, String> {
        let root = self.dir.path().join("into");
        let (mut found, mut left) = (BTreeMap::new(), vec![root.clone()]);
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                match name.as_str() {
                    ".waypost" => {}
                    _ if path.is_dir() => left.push(path),
                    _ => drop(found.insert(name, fs::read_to_string(path).unwrap())),
                }
            }
        }
        found
    }

    /// The file `s.json` as the state file.
    fn with_state(&self) -> Restore {
        Restore { state: Some(self.dir.path().join("into/s.json")), ..self.how() }
    }
}

fn unwatched(_: waypost::care::Step) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn a_plan_tells_what_will_be_done_and_its_application_what_was() {
    use FileOutcome::{Created, Removed, Replaced};
    let project = Project::new();
    let before = project.files();
    let plan = project.plan(&project.with_state()).unwrap();
    let actions: Vec<_> = plan.files().iter().map(|it| (&*it.artifact.path, it.action)).collect();
    let expected = [
        ("changed", FileAction::Replace),
        ("deep/missing", FileAction::Create),
        ("deleted", FileAction::Remove),
        ("turned", FileAction::Remove),
        ("turned/below", FileAction::Create),
    ];
    assert_eq!(actions, expected);
    assert_eq!(plan.report().files[0].outcome, FileOutcome::WouldReplace);
    assert_eq!(project.files(), before, "a plan changes nothing");

    let restored = project.store.apply_restore(&plan, &mut unwatched).unwrap();
    let outcomes: Vec<_> = restored.files.iter().map(|it| it.outcome).collect();
    assert_eq!(outcomes, [Replaced, Created, Removed, Removed, Created]);
    let found = project.files();
    let paths: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(paths, ["changed", "deep/missing", "s.json", "turned/below"]);
    assert_eq!(found["changed"], "then");
    for file in restored.files.iter().filter(|it| it.bytes_before.is_some()) {
        let kept = project.how().into.join(file.kept_as.as_ref().unwrap());
        assert_eq!(fs::read_to_string(kept).unwrap(), "now", "{}", file.path);
    }
}

#[test]
fn a_dry_run_applies_nothing() {
    let project = Project::new();
    let before = project.files();
    let how = Restore { dry_run: true, ..project.with_state() };
    let plan = project.plan(&how).unwrap();
    let report = project.store.apply_restore(&plan, &mut unwatched).unwrap();
    assert_eq!(report, plan.report());
    assert!(report.dry_run);
    assert_eq!(project.files(), before);
}

/// What `restore --json` prints.
#[cfg(feature = "cli")]
fn of_command(project: &Project, flags: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_waypost"));
    command.current_dir(project.dir.path()).env_remove("WAYPOST_KEY");
    command.args(["restore", "one", "--json", "--quiet", "--wait", "60", "--store"]);
    command.arg(project.store.path()).arg("--into").arg(project.how().into).args(flags);
    let output = command.output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[cfg(feature = "cli")]
#[test]
fn the_report_is_the_json_of_the_command() {
    let timeless = |json: &str, report: &Value| {
        let kept = report["files"][0]["kept_as"].as_str().map(|it| it.replace("/changed", ""));
        kept.map_or(json.to_owned(), |kept| json.replace(&kept, "[KEPT]"))
    };
    let project = Project::new();
    let state = project.dir.path().join("into/s.json");
    let state = state.to_str().unwrap();
    for (how, flags) in [
        (Restore { dry_run: true, ..project.with_state() }, vec!["--dry-run", "--state", state]),
        (project.with_state(), vec!["--state", state]),
        // Nothing is to be done any more.
        (project.how(), vec![]),
    ] {
        let restored = project.store.restore(&project.entry, &how).unwrap();
        if !how.dry_run && how.state.is_some() {
            project.change();
            fs::remove_file(state).unwrap();
        }
        let json = serde_json::to_string(&restored).unwrap();
        let json = timeless(&json, &serde_json::from_str(&json).unwrap());
        let told = of_command(&project, &flags);
        let told = timeless(&told, &serde_json::from_str(&told).unwrap());
        assert_eq!(told, format!("{{\"version\":1,{}\n", &json[1..]));
    }
    fs::remove_file(project.how().into.join("changed")).unwrap();
    fs::create_dir(project.how().into.join("changed")).unwrap();
    project.write("changed/mine", "mine");
    let refused = project.store.restore(&project.entry, &project.how()).unwrap_err();
    let json = serde_json::to_string(&refused.report).unwrap();
    let told = of_command(&project, &[]);
    assert_eq!(told, format!("{{\"version\":1,{}\n", &json[1..]), "of a refusal, too");
}

/// Something that happens to a project between plan and application.
type Change = fn(&Project);

#[test]
fn a_plan_that_no_longer_fits_is_refused() {
    let changes: [(&str, Change); 6] = [
        ("changed", |project| project.write("changed", "since")),
        ("changed", |project| fs::remove_file(project.how().into.join("changed")).unwrap()),
        ("deep/missing", |project| {
            fs::create_dir(project.how().into.join("deep")).unwrap();
            project.write("deep/missing", "since");
        }),
        ("deleted", |project| project.write("deleted", "since")),
        ("turned", |project| {
            fs::remove_file(project.how().into.join("turned")).unwrap();
            fs::create_dir(project.how().into.join("turned")).unwrap();
        }),
        ("s.json", |project| project.write("s.json", "since")),
    ];
    for (path, change) in changes {
        let project = Project::new();
        let plan = project.plan(&project.with_state()).unwrap();
        change(&project);
        let before = project.files();
        let refused = project.store.apply_restore(&plan, &mut unwatched).unwrap_err();
        let expected = project.how().into.join(path);
        assert!(matches!(&refused.why, Refusal::Outdated { path } if *path == expected), "{path}");
        assert_eq!(refused.report.steps[1].outcome, StepOutcome::Failed);
        assert_eq!(project.files(), before, "{path}");
    }
}

#[test]
fn a_plan_of_a_checkpoint_that_is_another_one_now_is_refused() {
    let project = Project::new();
    let plan = project.plan(&project.how()).unwrap();
    project.store.delete_now(std::slice::from_ref(&project.entry.id)).unwrap();
    let before = project.files();
    let refused = project.store.apply_restore(&plan, &mut unwatched).unwrap_err();
    assert!(matches!(refused.why, Refusal::Store(Error::NotFound { .. })), "{refused}");
    let about = NewEntry { id: Some(project.entry.id.clone()), ..NewEntry::default() };
    project.store.save_json(about, b"{}").unwrap();
    let refused = project.store.apply_restore(&plan, &mut unwatched).unwrap_err();
    assert!(matches!(&refused.why, Refusal::Changed { id } if *id == project.entry.id));
    assert_eq!(project.files(), before);
}

/// Ends a restore at its `end`th step; returns what came of it, and the stage it was in.
fn ended_at(project: &Project, end: usize) -> (Result<(), NotRestored>, Option<Stage>) {
    let (mut count, mut stage) = (0, None);
    let mut watch = |step: waypost::care::Step| {
        count += 1;
        if count <= end {
            return ControlFlow::Continue(());
        }
        stage.get_or_insert(step.stage);
        ControlFlow::Break(())
    };
    let ended = project.store.restore_with(&project.entry, &project.with_state(), &mut watch);
    (ended.map(drop), stage)
}

#[test]
fn ending_it_leaves_no_file_changed() {
    use Stage::{Read, ReadBack, Write};
    let project = Project::new();
    let before = project.files();
    let mut stages = Vec::new();
    for end in 0.. {
        let (ended, stage) = ended_at(&project, end);
        stages.extend(stage);
        let Err(stopped) = ended else { break };
        assert!(matches!(stopped.why, Refusal::Stopped), "{end}: {stopped}");
        assert!(stopped.report.files.is_empty());
        assert_eq!(project.files(), before, "{end}: neither changed nor drafts left behind");
    }
    // Three contents are read; two are written at first, and there is a last look before all are
    // put in their places. Then it can no longer be ended.
    assert_eq!(stages, [Read, Read, Read, Write, Write, Write, ReadBack]);
    assert_eq!(project.files()["changed"], "then");
}

#[test]
fn refusals_are_told_by_type_and_write_nothing() {
    let about = NewEntry { can_resume: Some(false), ..NewEntry::default() };
    let project = Project::with(STATE, about);
    project.write("s.json", "mine");
    let before = project.files();
    let hurdles = project.refused(&project.how());
    assert!(matches!(&hurdles, Refusal::NotResumable { hurdles, .. } if hurdles.len() == 1));
    let forced = Restore { force: true, ..project.how() };
    let file = Restore { into: project.how().into.join("changed"), ..forced.clone() };
    assert!(matches!(project.refused(&file), Refusal::NotADirectory { .. }));
    let nowhere = Restore { into: "".into(), ..forced.clone() };
    assert!(matches!(project.refused(&nowhere), Refusal::Store(Error::Invalid { .. })));
    let state = |path: &Path| Restore { state: Some(path.to_owned()), ..forced.clone() };
    for path in [project.store.path(), &project.how().into.join("changed"), "no/s.json".as_ref()] {
        let refused = project.refused(&state(path));
        assert!(matches!(refused, Refusal::StatePlace { .. }), "{refused}");
    }
    let refused = project.refused(&state(project.dir.path()));
    assert!(matches!(refused, Refusal::StateNoFile { kind: "a directory", .. }), "{refused}");
    assert_eq!(project.files(), before);

    let project = Project::new();
    project.write("s.json", "mine");
    assert!(matches!(project.refused(&project.with_state()), Refusal::StateExists { .. }));
    fs::remove_file(project.how().into.join("changed")).unwrap();
    fs::create_dir(project.how().into.join("changed")).unwrap();
    project.write("changed/mine", "mine");
    let Refusal::NotRestorable { obstacles, .. } = project.refused(&project.how()) else {
        panic!("it was refused for another reason");
    };
    let paths: Vec<&str> = obstacles.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["changed"]);
}

/// The restore failed after it had written all files.
#[test]
fn numbers_that_json_does_not_have_are_null_in_the_report() {
    let document = r#"{"variables": {"x": [NaN, 1.50], "y": {"z": -Infinity}}}"#;
    let project = Project::with(document, NewEntry::default());
    let restored = project.store.restore(&project.entry, &project.with_state()).unwrap();
    let json = serde_json::to_string(&restored).unwrap();
    assert!(json.contains(r#""variables":{"x":[null,1.50],"y":{"z":null}}"#), "{json}");
    let state = &project.files()["s.json"];
    assert!(state.contains("NaN") && state.contains("-Infinity"), "{state}");
    assert!(restored.steps.iter().all(|step| step.outcome == StepOutcome::Ok), "{restored:?}");
    assert_eq!(restored.steps.iter().map(|step| step.name).collect::<Vec<_>>(), StepName::ALL);
}

#[test]
fn what_two_restores_replace_is_kept_apart_though_the_clock_stands_still() {
    let project = Project::new();
    let clock = Arc::new(|| Timestamp::from_micros(1));
    let options = Options { clock, ..Options::default() };
    let store = Store::open_with(project.store.path(), options).unwrap();
    let mut kept = Vec::new();
    for text in ["first", "second"] {
        project.write("changed", text);
        let restored = store.restore(&project.entry, &project.how()).unwrap();
        kept.push((text, restored.files[0].kept_as.clone().unwrap()));
    }
    for (text, path) in kept {
        assert_eq!(fs::read_to_string(project.how().into.join(path)).unwrap(), text);
    }
}
