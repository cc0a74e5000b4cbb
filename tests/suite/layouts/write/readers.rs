//! Files as the systems themselves read them: what their documents say they do, rule by rule.

mod aiwg;
mod crunch;
mod pipeline;
