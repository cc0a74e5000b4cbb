//! What is saved.

use super::*;

#[test]
fn enabled_false_switches_everything_off() {
    let config = config("checkpoint_triggers: {manual: true}\nenabled: false");
    for trigger in Trigger::ALL.into_iter().chain([custom("deploy")]) {
        let off = config.refusal(&trigger).unwrap();
        assert_eq!(off.key(), "checkpoint.enabled");
        assert_eq!(off.to_string(), "checkpoint.enabled is false (line 3)");
    }
}

#[test]
fn automatic_saves_are_switched_off_whatever_is_listed() {
    let config = config(
        "auto_checkpoint: no\ncheckpoint_triggers: {iteration: yes, session_end: no, deploy: yes}",
    );
    let asked_for = [Trigger::Manual, Trigger::UserInterrupt, Trigger::Unknown];
    for trigger in Trigger::ALL.into_iter().chain([custom("deploy"), custom("nightly")]) {
        let key = match trigger {
            Trigger::SessionEnd => "checkpoint.checkpoint_triggers.session_end",
            _ => "checkpoint.auto_checkpoint",
        };
        let is_on = asked_for.contains(&trigger);
        let off = config.refusal(&trigger);
        assert_eq!(off.as_ref().map(Off::key), (!is_on).then_some(key), "{trigger}");
    }
    assert_eq!(config.switched_off().len(), Trigger::ALL.len() - 3 + 1, "and one of our own");
}

#[test]
fn conflict_events_switch_both_ends() {
    let config = config("checkpoint_triggers: {conflict_events: off, conflict_resolved: on}");
    let off = config.refusal(&Trigger::ConflictStart).unwrap();
    assert_eq!(off.key(), "checkpoint.checkpoint_triggers.conflict_events");
    assert_eq!(config.refusal(&Trigger::ConflictResolved), None);
}

#[test]
fn a_clean_up_is_what_the_file_says_or_goes_with_saving() {
    let table = "retention: {iteration: 2}";
    for (lines, cleanup) in [
        ("", Cleanup::Never),
        ("enabled: true", Cleanup::OnSave),
        ("enabled: false", Cleanup::Never),
        ("enabled: true\nprune_on_save: false", Cleanup::Never),
        ("prune_on_save: true", Cleanup::OnSave),
        ("enabled: true\ncleanup: daily", Cleanup::Daily),
        ("enabled: true\ncleanup: never", Cleanup::Never),
        ("cleanup: on_save\nprune_on_save: true", Cleanup::OnSave),
    ] {
        assert_eq!(config(&format!("{table}\n{lines}")).cleanup(), cleanup, "{lines}");
    }
    assert_eq!(config("enabled: true").cleanup(), Cleanup::Never, "there is no policy");
    let error = Config::from_yaml(&file("cleanup: daily\nprune_on_save: true")).unwrap_err();
    let reason = "invalid checkpoint.cleanup: line 2: contradicts prune_on_save: true";
    assert_eq!(error.to_string(), reason);
}
