//! An issue as `gh issue view --json number,body,labels` or the REST interface writes it.
//!
//! Errors must never quote the issue.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Deserializer};
use serde_json::error::Category;

use super::IssueJson;
use crate::checkpoint::Issue;
use crate::error::{At as _, Error, Result};
use crate::recovery::IssueNow;

// An issue with all comments may be long, but an endless file must not fill the memory.
const BYTES_MAX: u64 = 64 << 20;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An issue as a file or a text describes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GivenIssue {
    number: Option<String>,
    now: IssueNow,
}

#[derive(Debug, Deserialize)]
struct IssueDocument {
    number: Option<Number>,
    #[serde(default, deserialize_with = "null_as_empty")]
    body: Option<String>,
    labels: Option<Vec<Label>>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Number {
    Number(u64),
    Text(String),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Label {
    Text(String),
    Object { name: String },
}

impl GivenIssue {
    pub(super) fn number(&self) -> Option<&str> {
        self.number.as_deref()
    }

    pub(super) fn of_source(source: &IssueJson) -> Result<Self> {
        match source {
            IssueJson::File(path) => Self::read(path),
            IssueJson::Text(text) => {
                let what = "issue JSON";
                Self::parse(text.as_bytes()).map_err(|reason| Error::invalid(what, reason))
            }
        }
    }

    fn read(path: &Path) -> Result<Self> {
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes))
            .at(path)?;
        let refused = |reason| Error::invalid(path.display().to_string(), reason);
        if bytes.len() as u64 > BYTES_MAX {
            return Err(refused(format!("has more than {BYTES_MAX} bytes")));
        }
        Self::parse(&bytes).map_err(refused)
    }

    /// # Errors
    /// What is wrong, without a subject.
    pub(super) fn parse(json: &[u8]) -> Result<Self, String> {
        let json = json.strip_prefix(BYTE_ORDER_MARK).unwrap_or(json);
        let told: IssueDocument =
            serde_json::from_slice(json).map_err(|error| what_is_wrong(&error))?;
        // For example an error message of a server.
        if told.body.is_none() && told.labels.is_none() {
            return Err("has neither body nor labels".to_owned());
        }
        let number = told.number.map(|number| match number {
            Number::Number(number) => number.to_string(),
            Number::Text(text) => text,
        });
        let name = |label| match label {
            Label::Text(name) | Label::Object { name } => name,
        };
        let labels = told.labels.map(|labels| labels.into_iter().map(name).collect());
        Ok(Self { number, now: IssueNow { body: told.body, labels } })
    }

    /// The issue, if its number matches.
    pub(super) fn of(&self, issue: &str) -> Result<IssueNow, String> {
        let own = self.number.as_deref().and_then(|number| Issue::new(number).ok());
        match own {
            Some(own) if own.as_str() != issue => {
                Err(format!("the data is of issue {}", own.as_str().escape_debug()))
            }
            _ => Ok(self.now.clone()),
        }
    }
}

/// The REST interface writes an empty text as null; a text that was not requested is missing.
fn null_as_empty<'de, D: Deserializer<'de>>(body: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(body).map(|text: Option<String>| Some(text.unwrap_or_default()))
}

// The parser's own message would quote the content.
fn what_is_wrong(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        Category::Data => "is not an issue",
        Category::Syntax | Category::Eof | Category::Io => "is not JSON",
    };
    format!("{what}, from line {} column {} on", error.line(), error.column())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<GivenIssue, String> {
        GivenIssue::parse(json.as_bytes())
    }

    #[test]
    fn the_words_of_gh_and_of_the_rest_interface_mean_the_same() {
        let gh = r#"{"body":"text","labels":[{"id":"L","name":"a","color":"0"},{"name":"b"}],
            "number":42,"state":"OPEN","title":"t"}"#;
        let rest = r#"{"url":"u","number":42,"labels":["a",{"name":"b"}],"body":"text"}"#;
        let marked = format!("\u{feff}{rest}");
        let named = r##"{"number":"#42","labels":["a","b"],"body":"text"}"##;
        let labels = Some(vec!["a".to_owned(), "b".to_owned()]);
        for json in [gh, rest, &marked, named] {
            let now = parse(json).unwrap().of("42").unwrap();
            assert_eq!(now, IssueNow { body: Some("text".to_owned()), labels: labels.clone() });
        }
    }

    #[test]
    fn an_empty_text_is_not_a_missing_one() {
        let body = |json| parse(json).unwrap().of("42").unwrap().body;
        assert_eq!(body(r#"{"labels":[],"body":null}"#), Some(String::new()));
        assert_eq!(body(r#"{"labels":[]}"#), None);
        assert_eq!(parse(r#"{"labels":null,"body":""}"#).unwrap().of("1").unwrap().labels, None);
    }

    #[test]
    fn another_issue_says_nothing() {
        let given = parse(r#"{"number":43,"body":""}"#).unwrap();
        assert_eq!(given.of("42").unwrap_err(), "the data is of issue 43");
        assert!(given.of("43").is_ok());
    }

    #[test]
    fn what_is_no_issue_is_told_without_quoting_it() {
        for (json, reason) in [
            ("", "is not JSON, from line 1 column "),
            ("{\n\"body\": \"secret", "is not JSON, from line 2 column "),
            ("\"secret\"", "is not an issue, from line 1 column "),
            ("[]", "is not an issue, from line 1 column "),
            ("{\"body\": [\"secret\"]}", "is not an issue, from line 1 column "),
            ("{\"labels\": [{\"secret\": 1}]}", "is not an issue, from line 1 column "),
            ("{\"message\": \"secret\"}", "has neither body nor labels"),
        ] {
            let told = parse(json).unwrap_err();
            assert!(told.starts_with(reason) && !told.contains("secret"), "{json}: {told}");
        }
    }
}
