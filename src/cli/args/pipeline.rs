//! The arguments of the pipeline's commands.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::StoreArgs;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct RunArgs {
    /// The task file.
    #[arg(value_name = "TASK", required_unless_present = "resume", conflicts_with = "resume")]
    pub(crate) task: Option<PathBuf>,
    /// Continue this run from the ledger, by whoever and with whatever model it was begun.
    #[arg(long, value_name = "RUN")]
    pub(crate) resume: Option<String>,
    /// The card of the model: how it is reached and what it can do.
    #[arg(long, value_name = "CARD")]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Refuse every input from which something would have to be left out.
    #[arg(long, conflicts_with = "resume")]
    pub(crate) strict: bool,
    /// Send the whole transcript with every call: what the digest is measured against.
    #[arg(long, conflicts_with = "resume")]
    pub(crate) no_run_cache: bool,
    /// Let the call of the deliverable that the task names run, in the tree.
    #[arg(long)]
    pub(crate) allow_run: bool,
    /// Who begins or continues it, as the ledger will have it.
    #[arg(long, value_name = "NAME", default_value = "person")]
    pub(crate) by: String,
    /// With --resume: what the one who hands it over has to say.
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        requires = "resume",
        hide_default_value = true
    )]
    pub(crate) note: String,
    /// Print the report as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StoryboardArgs {
    /// The storyboard.
    pub(crate) board: PathBuf,
    /// The folder with its inputs [default: that of the storyboard].
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,
    /// Where scripts, evidence and verdicts go: a folder that is empty or not there.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The card of the model that writes scripts, for scenes that have neither commands nor a page.
    #[arg(long, value_name = "CARD")]
    pub(crate) model: Option<PathBuf>,
    /// Let what the storyboard names run, in a temporary folder for each scene.
    #[arg(long)]
    pub(crate) allow_run: bool,
    /// Print the verdicts as one JSON object, and not as TAP.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The run, as `psos report` lists it.
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// What to find out.
    #[arg(long, value_enum, default_value_t = ReplayMode::Cost)]
    pub(crate) mode: ReplayMode,
    /// With --mode what-if: the card of the model to ask.
    #[arg(long, value_name = "CARD", required_if_eq("mode", "what-if"))]
    pub(crate) model: Option<PathBuf>,
    /// With --mode what-if: another task file than the one of the run.
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<PathBuf>,
    /// With --mode what-if: the folder for the ledger of the replay [default: a temporary one].
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a replay is to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplayMode {
    /// What the run costs, when every prompt is put together again. No model is asked.
    Cost,
    /// Whether the journal is what the rules make of it. No model is asked.
    Strict,
    /// What another model or another task file makes of it, with everything retrieved from the journal.
    WhatIf,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// One run alone.
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Write the journal of the run: `jsonl` as it is, entry by entry, `otel` as spans of OpenTelemetry without
    /// secrets.
    #[arg(long, value_enum, requires = "run", conflicts_with = "json")]
    pub(crate) export: Option<ExportFormat>,
    /// Sentences only.
    #[arg(long, conflicts_with = "json")]
    pub(crate) no_tables: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a journal is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One entry a line.
    Jsonl,
    /// OTLP in JSON.
    Otel,
}
