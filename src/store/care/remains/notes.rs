//! Settings and the log of a damaged store.

use super::rows::Rows;
use crate::codec::decode_note;
use crate::store::keep::operation::Operation;
use crate::store::turn::settings::Settings;

/// What is known about a store beside its checkpoints.
pub(in crate::store::care) struct Notes {
    pub(in crate::store::care) operations: Vec<(u64, Vec<u8>)>,
    pub(in crate::store::care) settings: Option<Vec<u8>>,
    /// What cannot be read.
    pub(in crate::store::care) lost: Vec<String>,
}

impl Notes {
    pub(in crate::store::care) fn read(rows: &Rows) -> Self {
        let mut notes = Self { operations: Vec::new(), settings: None, lost: Vec::new() };
        for (number, place) in &rows.operations {
            let value = rows.value(*place).unwrap_or_default();
            match decode_note::<Operation>(*number, &value) {
                Ok(_) => notes.operations.push((*number, value)),
                Err(_) => notes.lost.push(format!("operation {number}")),
            }
        }
        if let Some(value) = rows.settings.map(|place| rows.value(place).unwrap_or_default()) {
            match decode_note::<Settings>(0, &value) {
                Ok(_) => notes.settings = Some(value),
                Err(_) => notes.lost.push("settings".to_owned()),
            }
        }
        notes
    }
}
