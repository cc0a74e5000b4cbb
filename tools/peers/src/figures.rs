//! What was measured: a number for each rival and operation.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::cost::Cost;
use crate::counts::Counts;
use crate::peer::Kind;
use crate::workload::Scenario;

/// What a number says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Metric {
    DurableMedian,
    DurableMean,
    DurableRate,
    Crowd,
    CrowdInLine,
    Relaxed,
    DurableProcessor,
    RelaxedProcessor,
    Latest,
    Resume,
    Get,
    GetText,
    List,
    Filter,
    Export,
    Delete,
    Reclaim,
    PrunedBefore,
    PrunedAfter,
    BytesClosed,
    BytesCompact,
    AllocatedCompact,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    Micros,
    Millis,
    PerSecond,
    Bytes,
}

impl Metric {
    pub(crate) const ALL: [Self; 22] = [
        Self::DurableMedian,
        Self::DurableMean,
        Self::DurableRate,
        Self::Crowd,
        Self::CrowdInLine,
        Self::Relaxed,
        Self::DurableProcessor,
        Self::RelaxedProcessor,
        Self::Latest,
        Self::Resume,
        Self::Get,
        Self::GetText,
        Self::List,
        Self::Filter,
        Self::Export,
        Self::Delete,
        Self::Reclaim,
        Self::PrunedBefore,
        Self::PrunedAfter,
        Self::BytesClosed,
        Self::BytesCompact,
        Self::AllocatedCompact,
    ];

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::DurableMedian => "durable save, median",
            Self::DurableMean => "durable save, mean",
            Self::DurableRate => "durable saves, 1 thread",
            Self::Crowd => "durable saves, 64 threads",
            Self::CrowdInLine => "the same, behind one lock",
            Self::Relaxed => "relaxed saves, 1 thread",
            Self::DurableProcessor => "processor, durable save",
            Self::RelaxedProcessor => "processor, relaxed save",
            Self::Latest => "latest of a series",
            Self::Resume => "the same, as a typed state",
            Self::Get => "get by id",
            Self::GetText => "the same, as JSON text",
            Self::List => "list 20 of an issue",
            Self::Filter => "filter without a match",
            Self::Export => "export to JSON",
            Self::Delete => "delete 5 of 6",
            Self::Reclaim => "give space back",
            Self::PrunedBefore => "store before deleting",
            Self::PrunedAfter => "store after giving back",
            Self::BytesClosed => "a checkpoint, closed",
            Self::BytesCompact => "a checkpoint, compacted",
            Self::AllocatedCompact => "the same, in blocks of disk",
        }
    }

    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::DurableMedian
            | Self::DurableMean
            | Self::DurableProcessor
            | Self::RelaxedProcessor
            | Self::Latest
            | Self::Resume
            | Self::Get
            | Self::GetText
            | Self::List
            | Self::Filter => Unit::Micros,
            Self::DurableRate | Self::Crowd | Self::CrowdInLine | Self::Relaxed | Self::Export => {
                Unit::PerSecond
            }
            Self::Delete | Self::Reclaim => Unit::Millis,
            Self::PrunedBefore
            | Self::PrunedAfter
            | Self::BytesClosed
            | Self::BytesCompact
            | Self::AllocatedCompact => Unit::Bytes,
        }
    }
}

impl Unit {
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::Micros if value < 10.0 => format!("{value:.1} us"),
            Self::Micros => format!("{value:.0} us"),
            Self::Millis if value < 10.0 => format!("{value:.1} ms"),
            Self::Millis => format!("{value:.0} ms"),
            Self::PerSecond => format!("{value:.0}/s"),
            Self::Bytes if value < 1e4 => format!("{value:.0} B"),
            Self::Bytes if value < 1e6 => format!("{:.1} kB", value / 1e3),
            Self::Bytes => format!("{:.1} MB", value / 1e6),
        }
    }
}

/// All that was measured with one kind of documents.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) scenario: Scenario,
    pub(crate) counts: Counts,
    pub(crate) kinds: Vec<Kind>,
    /// The median of appending 4 KB to a file and syncing its data.
    pub(crate) floor_micros: f64,
    /// In how many rounds of durable saves the disk was quiet enough to count.
    pub(crate) quiet_rounds: usize,
    /// How many processors the rest of the machine used meanwhile.
    pub(crate) noise: Option<f64>,
    values: BTreeMap<(Metric, Kind), f64>,
    /// The processor time of one call, in microseconds.
    processor: BTreeMap<(Metric, Kind), f64>,
}

impl Figures {
    pub(crate) fn new(scenario: Scenario, counts: Counts, kinds: &[Kind]) -> Self {
        Self {
            scenario,
            counts,
            kinds: kinds.to_vec(),
            floor_micros: f64::NAN,
            quiet_rounds: 0,
            noise: None,
            values: BTreeMap::new(),
            processor: BTreeMap::new(),
        }
    }

    pub(crate) fn set(&mut self, metric: Metric, kind: Kind, value: f64) {
        self.values.insert((metric, kind), value);
    }

    /// Sets a time or a rate by the cost of one call, and the processor time beside it.
    pub(crate) fn set_cost(&mut self, metric: Metric, kind: Kind, cost: Cost) {
        let value = match metric.unit() {
            Unit::Micros => micros(cost.wall),
            Unit::Millis => micros(cost.wall) / 1e3,
            Unit::PerSecond => 1e6 / micros(cost.wall),
            Unit::Bytes => unreachable!("bytes take no time"),
        };
        self.set(metric, kind, value);
        self.processor.insert((metric, kind), micros(cost.processor));
    }

    /// The processor time of one call, in microseconds.
    pub(crate) fn processor(&self, metric: Metric, kind: Kind) -> Option<f64> {
        self.processor.get(&(metric, kind)).copied()
    }

    pub(crate) fn get(&self, metric: Metric, kind: Kind) -> Option<f64> {
        self.values.get(&(metric, kind)).copied()
    }

    /// Whether any rival has a value.
    pub(crate) fn has(&self, metric: Metric) -> bool {
        self.kinds.iter().any(|kind| self.get(metric, *kind).is_some())
    }
}

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
