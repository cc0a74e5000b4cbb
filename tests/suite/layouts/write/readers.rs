//! Files as the systems themselves read them: what their documents say they do, rule by rule.
//!
//! Covers aiwg, crunch and the pipeline.

mod aiwg;
mod crunch;
mod pipeline;
