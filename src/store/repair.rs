//! placeholder
use serde::Serialize;
/// x
#[derive(Debug, Serialize)]
pub struct Lost {}
/// x
#[derive(Debug, Serialize)]
pub struct Repair {}
/// x
#[derive(Debug, Serialize)]
pub struct Repaired {}
