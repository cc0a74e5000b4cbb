//! Issues and pull requests of GitHub, by `gh`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::child;
use super::issue_json::GivenIssue;
use crate::recovery::IssueNow;

/// gh, as started in one directory.
#[derive(Debug, Clone)]
pub(super) struct Gh {
    pub(super) program: OsString,
    root: PathBuf,
    /// Variables that it does not inherit.
    hidden: Vec<String>,
    patience: Duration,
}

#[derive(Debug, Deserialize)]
struct PullRequest {
    number: u64,
    url: Option<String>,
}

impl Gh {
    pub(super) fn new(root: &Path, hidden: &[String]) -> Self {
        let (root, hidden) = (root.to_owned(), hidden.to_owned());
        Self { program: "gh".into(), root, hidden, patience: child::PATIENCE }
    }

    /// The same, started in another directory.
    pub(super) fn at(&self, root: PathBuf) -> Self {
        Self { root, ..self.clone() }
    }

    pub(super) fn issue(&self, issue: &str) -> Result<IssueNow, String> {
        // So gh cannot read it as an option or as the address of another repository.
        if issue.is_empty() || !issue.bytes().all(|it| it.is_ascii_digit()) {
            return Err("gh knows issues by number only".to_owned());
        }
        let json = self.run(&["issue", "view", issue, "--json", "number,body,labels"])?;
        let told = GivenIssue::parse(json.as_bytes());
        told.map_err(|reason| format!("the answer of gh {reason}"))?.of(issue)
    }

    /// The address, else the number, of the open pull request of a branch.
    pub(super) fn pull_request(&self, branch: &str) -> Result<Option<String>, String> {
        // One argument, so that gh reads no name as an option.
        let head = format!("--head={branch}");
        let rest = ["--state=open", "--json=number,url", "--limit=1"];
        let json = self.run(&[["pr", "list", &head], rest].concat())?;
        let found: Vec<PullRequest> = serde_json::from_str(&json)
            .map_err(|_| "the answer of gh is not a list of pull requests".to_owned())?;
        let name = |it: PullRequest| it.url.unwrap_or_else(|| it.number.to_string());
        Ok(found.into_iter().next().map(name))
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        // Otherwise the error would say that gh is missing.
        if !self.root.is_dir() {
            return Err(format!("there is no directory {} to ask gh in", self.root.display()));
        }
        // gh has no flag for the directory: it finds the repository from its current directory.
        let mut command = child::command(&self.program, &self.hidden);
        command.current_dir(&self.root).args(arguments);
        child::run("gh", &mut command, self.patience)?.text("gh")
    }
}
