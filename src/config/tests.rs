//! Files as they are.
//!
//! Covers config files that are read, refused with the line and reason, kept as the user wrote
//! them, and saved.

mod kept;
mod refusal;
mod saved;

use super::*;
use crate::retention::OnSuccess;

/// `.claude/checkpoint-config.yaml` as claude-crunch documents it.
const CRUNCH: &str = include_str!("tests/crunch.yaml");

/// The file with these lines below `checkpoint:`, the first of which is line 2.
fn file(lines: &str) -> String {
    let lines: Vec<String> = lines.lines().map(|line| format!("  {line}\n")).collect();
    format!("checkpoint:\n{}", lines.concat())
}

/// The keys whose names the file does not choose itself.
fn every_key() -> Vec<&'static str> {
    let keys = KEYS.iter().chain(&STORAGE_KEYS).chain(&keep::KEYS);
    keys.chain(&policy::CONDITIONS).chain(&policy::OTHERS).copied().collect()
}

fn config(lines: &str) -> Config {
    Config::from_yaml(&file(lines)).unwrap_or_else(|error| panic!("{error}\n{lines}"))
}

fn preset(name: &str) -> Policy {
    Policy { name: "config".to_owned(), ..Policy::preset(name).unwrap() }
}

fn custom(name: &str) -> Trigger {
    name.parse().unwrap()
}

/// The policy of a file with the first rows of the table of claude-crunch.
fn first_rows(count: usize) -> Policy {
    let mut policy = preset("crunch");
    policy.rules.truncate(count);
    policy
}

/// Triggers without a row were pruned by rules that no file contains.
#[test]
fn the_file_of_claude_crunch_has_its_rows_and_no_saves_after_agents() {
    let config = Config::from_yaml(CRUNCH).unwrap();
    assert_eq!(config.policy(), Some(&first_rows(6)));
    for trigger in Trigger::ALL {
        let is_off = trigger == Trigger::AgentComplete;
        assert_eq!(config.refusal(&trigger).is_some(), is_off, "{trigger}");
    }
    assert_eq!(config.location(), Some(".claude/crunch/{issue}/checkpoints"));
    assert_eq!(config.compress(), Some(false));
    assert_eq!(config.prune_on_save(), None);
    assert_eq!(config.keep_deleted(), None);
}

/// The system had its file as JSON before, with the same keys.
#[test]
fn the_same_file_in_json_says_the_same() {
    let json = r#"{
	"checkpoint": {
		"enabled": true, "auto_checkpoint": true,
		"checkpoint_triggers": {"agent_complete": false, "conflict_events": true},
		"retention": {"phase_transition": -1, "batch_complete": 3},
		"storage": {"location": ".claude\/crunch", "compress": false, "max_size_mb": 50}
	}
}"#;
    let config = Config::from_yaml(json).unwrap();
    assert_eq!(config.policy(), Some(&first_rows(2)));
    assert!(config.refusal(&Trigger::AgentComplete).is_some());
    assert_eq!(config.location(), Some(".claude/crunch"));
}

/// Users wondered why saves after agents were missing.
#[test]
fn the_template_is_the_preset_crunch_and_switches_nothing_off() {
    let template = Config::from_yaml(Config::template()).unwrap();
    assert_eq!(template.policy(), Some(&preset("crunch")));
    assert_eq!(template.switched_off(), []);
}

#[test]
fn the_template_shows_every_key_and_can_be_read_with_all_of_them() {
    let switched_on = Config::template().lines().map(|line| match line.split_once('#') {
        Some((before, setting)) if before.trim().is_empty() && !setting.starts_with(' ') => {
            format!("{before}{setting}\n")
        }
        _ => format!("{line}\n"),
    });
    let text: String = switched_on.collect();
    let config = Config::from_yaml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(config.policy().unwrap().on_success, OnSuccess::Remove);
    assert_eq!(config.policy().unwrap().store_bytes_max, Some(500 << 20));
    assert_eq!(config.policy().unwrap().rules.len(), 2 + 10 + 1 + 1);
    for key in every_key() {
        assert!(text.contains(&format!("{key}:")), "{key}");
    }
}

#[test]
fn a_file_that_says_nothing_leaves_everything_open() {
    for text in ["checkpoint:", "checkpoint: {}", &file("retention:\nrules:\nstorage: {}")] {
        assert_eq!(Config::from_yaml(text).unwrap(), Config::default(), "{text}");
    }
}

#[test]
fn what_concerns_saving_and_deleting_is_as_written() {
    let config =
        config("prune_on_save: on\nkeep_deleted: 7d\nstorage: {compress: no, key_file: k}");
    assert_eq!(config.prune_on_save(), Some(true));
    assert_eq!(config.keep_deleted(), Some(Age::days(7)));
    assert_eq!(config.compress(), Some(false));
    assert_eq!(config.key_file(), Some("k"));
    assert_eq!(config.location(), None);
}
