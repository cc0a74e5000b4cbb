//! `SQLite` with a write-ahead log: one row a checkpoint, and the indexes that Waypost has.
//!
//! Durable is `synchronous=FULL`, relaxed is `NORMAL`, which syncs at checkpoints of the log only.
//! Every thread has a connection of its own while it works, with statements that stay prepared.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, TransactionBehavior, params};
use waypost::NewEntry;

use super::{Document, Durability, PAGE, Peer, Record, frame};
use crate::document::LoopState;

// A crowd of savers may wait long for its turn; none may give up.
const BUSY: Duration = Duration::from_mins(2);

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS checkpoints (
        id INTEGER PRIMARY KEY,
        series TEXT NOT NULL,
        issue TEXT NOT NULL,
        trigger_name TEXT NOT NULL,
        phase TEXT NOT NULL,
        iteration INTEGER NOT NULL,
        created_micros INTEGER NOT NULL,
        document NOT NULL
    );
    CREATE INDEX IF NOT EXISTS by_series ON checkpoints (series, created_micros);
    CREATE INDEX IF NOT EXISTS by_issue ON checkpoints (issue, created_micros);
    CREATE INDEX IF NOT EXISTS by_trigger ON checkpoints (trigger_name, series, created_micros);
    CREATE INDEX IF NOT EXISTS by_time ON checkpoints (created_micros);
";
const INSERT: &str = "
    INSERT INTO checkpoints
        (series, issue, trigger_name, phase, iteration, created_micros, document)
    VALUES (?, ?, ?, ?, ?, ?, ?)";
const LATEST: &str = "
    SELECT document FROM checkpoints WHERE series = ? ORDER BY created_micros DESC LIMIT 1";
const GET: &str = "SELECT document FROM checkpoints WHERE id = ?";
const LIST: &str = "
    SELECT series, issue, trigger_name, phase, iteration, created_micros
    FROM checkpoints WHERE issue = ? ORDER BY created_micros DESC LIMIT ?";
const FILTER: &str = "
    SELECT series, issue, trigger_name, phase, iteration, created_micros
    FROM checkpoints WHERE trigger_name = ? AND series = ? ORDER BY created_micros DESC LIMIT ?";
const EXPORT: &str = "SELECT document FROM checkpoints ORDER BY id";
const DELETE: &str = "DELETE FROM checkpoints WHERE id = ?";

/// How a document is stored.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    Json,
    Zstd,
}

pub(super) struct Sqlite {
    path: PathBuf,
    durability: Durability,
    form: Form,
    /// Idle connections.
    idle: Mutex<Vec<Connection>>,
    /// Held while writing, if savers wait in line: a saver that finds the file locked sleeps for
    /// milliseconds before it asks again.
    line: Option<Mutex<()>>,
}

impl Sqlite {
    pub(super) fn open(directory: &Path, durability: Durability, form: Form) -> Result<Self> {
        let path = directory.join("store.sqlite");
        let sqlite = Self { path, durability, form, idle: Mutex::default(), line: None };
        sqlite.with(|connection| Ok(connection.execute_batch(SCHEMA)?))?;
        Ok(sqlite)
    }

    fn with<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T>) -> Result<T> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let found = idle().pop();
        let mut connection = found.map_or_else(|| self.connect(), Ok)?;
        let outcome = work(&mut connection);
        idle().push(connection);
        outcome
    }

    fn connect(&self) -> Result<Connection> {
        let connection = Connection::open(&self.path)?;
        connection.busy_timeout(BUSY)?;
        let synchronous = match self.durability {
            Durability::Durable => "FULL",
            Durability::Relaxed => "NORMAL",
        };
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", synchronous)?;
        // 32 MiB, as much as Waypost takes.
        connection.pragma_update(None, "cache_size", -32_768)?;
        Ok(connection)
    }

    fn insert(&self, record: &Record, form: &dyn rusqlite::ToSql) -> Result<i64> {
        let _turn =
            self.line.as_ref().map(|line| line.lock().unwrap_or_else(PoisonError::into_inner));
        self.with(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let id = transaction.prepare_cached(INSERT)?.insert(params![
                record.series,
                record.issue,
                record.trigger,
                record.phase,
                i64::try_from(record.iteration)?,
                record.created_micros,
                form,
            ])?;
            transaction.commit()?;
            Ok(id)
        })
    }
}

impl Peer for Sqlite {
    fn save(&self, about: NewEntry, state: &LoopState) -> Result<String> {
        let record = Record::new(&about);
        let json = serde_json::to_string(state)?;
        let id = match self.form {
            Form::Json => self.insert(&record, &json)?,
            Form::Zstd => self.insert(&record, &frame::pack(json.as_bytes())?)?,
        };
        Ok(id.to_string())
    }

    fn latest(&self, series: &str) -> Result<Document> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(LATEST)?;
            statement.query_row([series], |row| Ok(document(row)))?.map(Document::Text)
        })
    }

    fn get(&self, id: &str) -> Result<Document> {
        let id: i64 = id.parse()?;
        self.with(|connection| {
            let mut statement = connection.prepare_cached(GET)?;
            statement.query_row([id], |row| Ok(document(row)))?.map(Document::Text)
        })
    }

    fn list(&self, issue: &str, limit: usize) -> Result<Vec<Record>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(LIST)?;
            let rows = statement.query_map(params![issue, i64::try_from(limit)?], record)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn filter(&self, series: &str, trigger: &str) -> Result<Vec<Record>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(FILTER)?;
            let limit = i64::try_from(PAGE)?;
            let rows = statement.query_map(params![trigger, series, limit], record)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn export(&self, out: &mut dyn Write) -> Result<()> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(EXPORT)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let mut line = document(row)?;
                line.push('\n');
                out.write_all(line.as_bytes())?;
            }
            Ok(())
        })
    }

    fn delete(&self, ids: &[String]) -> Result<()> {
        self.with(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut statement = transaction.prepare_cached(DELETE)?;
            for id in ids {
                statement.execute([id.parse::<i64>()?])?;
            }
            drop(statement);
            Ok(transaction.commit()?)
        })
    }

    fn reclaim(&mut self) -> Result<()> {
        self.with(|connection| Ok(connection.execute_batch("VACUUM")?))?;
        self.flush()
    }

    fn flush(&self) -> Result<()> {
        self.with(|connection| {
            Ok(connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
        })
    }

    fn close(self: Box<Self>) -> Result<()> {
        for connection in self.idle.into_inner().unwrap_or_else(PoisonError::into_inner) {
            connection.close().map_err(|(_, error)| error)?;
        }
        Ok(())
    }

    fn line_up(&mut self) -> bool {
        self.line.replace(Mutex::default()).is_none()
    }
}

fn document(row: &Row<'_>) -> Result<String> {
    Ok(match row.get_ref(0)? {
        ValueRef::Blob(packed) => frame::unpack(packed)?,
        text => text.as_str()?.to_owned(),
    })
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    Ok(Record {
        series: row.get(0)?,
        issue: row.get(1)?,
        trigger: row.get(2)?,
        phase: row.get(3)?,
        iteration: row.get::<_, i64>(4)?.cast_unsigned(),
        created_micros: row.get(5)?,
    })
}
