//! The command line as data: every flag, its default and its help.

mod pipeline;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use psos::eval::Form;
use psos::recall::Format;
use psos::record::{Kind, Tier};

pub(crate) use pipeline::{
    ExportFormat, ReplayArgs, ReplayMode, ReportArgs, RunArgs, StoryboardArgs,
};

/// The right record at rank 1, inside a hard token budget, with no model.
#[derive(Debug, Parser)]
#[command(name = "psos", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read a content tree into its store.
    Index(IndexArgs),
    /// Answer a question with the record that fits, inside a token budget.
    Recall(RecallArgs),
    /// Show one record by its id.
    Get(GetArgs),
    /// List the records of a store.
    Ls(LsArgs),
    /// Show what becomes of one file: its records with their tiers, and the remarks on it. Needs no store.
    ShowRecords(ShowRecordsArgs),
    /// Say what a store holds.
    Status(StatusArgs),
    /// Check a store against itself.
    Verify(VerifyArgs),
    /// Find what is wrong with a store, and put it right.
    Doctor(DoctorArgs),
    /// Measure recall on questions with known answers, or the pipeline on scenarios.
    Eval(Box<EvalArgs>),
    /// Let a model work on a task in bounded steps.
    Run(RunArgs),
    /// Execute the scenes of a storyboard as tests, and pack up what was seen.
    Storyboard(StoryboardArgs),
    /// Go through a recorded run again, without its tree.
    Replay(ReplayArgs),
    /// Say what came of runs, and what they cost.
    Report(ReportArgs),
}

/// Where the store is.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// The store folder; without it that of the variable `PSOS_STORE`, else the nearest `.psos` in this folder
    /// or one above it.
    // Read where the store is opened: a variable that is set for good must not get in the way of --tree.
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
}

/// Which files of a tree count.
#[derive(Debug, Args)]
pub(crate) struct WalkArgs {
    /// Follow symbolic links that stay inside the tree.
    #[arg(long)]
    pub(crate) follow: bool,
    /// Read files and folders whose name starts with a dot.
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Read what .gitignore, .ignore and .psosignore exclude.
    #[arg(long)]
    pub(crate) no_ignore: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct IndexArgs {
    /// The folder to read.
    pub(crate) tree: PathBuf,
    /// The store folder [default: TREE/.psos].
    #[arg(long, value_name = "DIR", env = "PSOS_STORE")]
    pub(crate) store: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    /// Print the report as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// How many threads read and analyse files [default: one a core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Read every file again, changed or not.
    #[arg(long)]
    pub(crate) full: bool,
    /// Tell changes by content alone, not by size and time.
    #[arg(long)]
    pub(crate) hash: bool,
    /// Let an empty tree empty the store.
    #[arg(long)]
    pub(crate) allow_empty: bool,
    /// Say what would be read, removed and passed over, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Stay, and index again after every change of the tree, until ctrl-C.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) watch: bool,
    /// Wait at most this many seconds for another process that writes to the store.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub(crate) wait: u32,
}

#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// The question; `-` reads it from standard input. Words are joined with spaces.
    #[arg(value_name = "QUERY", required_unless_present = "queries", conflicts_with = "queries")]
    pub(crate) query: Vec<String>,
    /// Build or refresh the store of this folder, DIR/.psos, and ask that one.
    #[arg(long, value_name = "DIR", conflicts_with = "store")]
    pub(crate) tree: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// A file with one {"_id", "text"} a line: every question is answered, in order.
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: Option<PathBuf>,
    /// At most this many records.
    #[arg(short, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) n: u32,
    /// At most this many tokens of `o200k_base` for the whole answer
    /// [default: 1200; none for paths and trec].
    #[arg(short, long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget: Option<u32>,
    /// Show every record down to this tier [default: the first as deep as it fits, the others by
    /// their descriptions].
    #[arg(long, value_enum)]
    pub(crate) tier: Option<TierName>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// How to write the answer.
    #[arg(long, value_enum, default_value_t = FormatName::Text)]
    pub(crate) format: FormatName,
    /// Short for --format json.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Show how each record came to its rank, on stderr, or inside the JSON.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Fail when the source of a shown record changed or vanished since it was indexed.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// A part of the store.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Only records of files that match this pattern, such as `docs/**`.
    #[arg(long, value_name = "GLOB")]
    pub(crate) path: Option<String>,
    /// Only records of this kind.
    #[arg(long, value_enum)]
    pub(crate) kind: Option<KindName>,
    /// Only rows of this scope (the `scope` field of a JSONL row).
    #[arg(long, value_name = "NAME")]
    pub(crate) scope: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The id, as recall prints it; `ID:tier` picks a tier.
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Which tier to show [default: detail].
    #[arg(long, value_enum)]
    pub(crate) tier: Option<TierName>,
    /// Only these lines of the detail, counted in the source file, such as 10:20.
    #[arg(long, value_name = "A:B", value_parser = parse_lines)]
    pub(crate) lines: Option<(u32, u32)>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowRecordsArgs {
    /// The file to read.
    pub(crate) file: PathBuf,
    /// Pass over tiers of sidecars and comment blocks, as if nobody had written any.
    #[arg(long)]
    pub(crate) derived: bool,
    /// Show the details of the records, too.
    #[arg(long)]
    pub(crate) detail: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// List every remark on the files of the store, and everything that was passed over.
    #[arg(long)]
    pub(crate) remarks: bool,
    /// List the tables: rows, bytes, and bytes of pages around them. Reads the whole store.
    #[arg(long, conflicts_with = "remarks")]
    pub(crate) tables: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Read every source again, too, and compare.
    #[arg(long, conflicts_with = "dump")]
    pub(crate) deep: bool,
    /// Print the logical content, line by line: equal for equal trees.
    #[arg(long)]
    pub(crate) dump: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Put right what needs no person. Records are never touched.
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// A suite file.
    #[arg(required_unless_present = "beir")]
    pub(crate) suite: Option<PathBuf>,
    /// A folder in BEIR layout: corpus.jsonl, queries.jsonl, qrels/test.tsv.
    #[arg(long, value_name = "DIR", conflicts_with = "suite")]
    pub(crate) beir: Option<PathBuf>,
    /// With --beir: other judgements than qrels/test.tsv.
    #[arg(long, value_name = "FILE", requires = "beir", conflicts_with = "suite")]
    pub(crate) qrels: Option<PathBuf>,
    /// Only these splits of the suite; the files of the others are not opened.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "beir")]
    pub(crate) splits: Vec<String>,
    /// Only these forms of the suite's tree.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum, conflicts_with = "beir")]
    pub(crate) forms: Vec<FormOfTiers>,
    /// Print the report as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the report as one HTML page that needs no network.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write the ranking as a TREC run; of a suite, that of its first form.
    #[arg(long, value_name = "FILE")]
    pub(crate) run_out: Option<PathBuf>,
    /// Exit 1 if a number is worse than in this baseline, or if this report (written with --json) is
    /// answered better beyond chance.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the numbers as a baseline for --baseline.
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// Compare with a report that was written with --json, question by question.
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,
    /// The seed of the resampling in comparisons.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Exit 1 if the share of questions with the right record at rank 1 is below this, from 0 to 1: of
    /// a suite, over its held-out splits with authored tiers.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(crate) min_rank1: Option<f64>,
    /// Answer every question under each of these budgets, too, in the formats text, md and json; exit
    /// 1 if an answer is over its budget, gets cheaper or shallower as the budget grows, or is empty
    /// because of its size.
    #[arg(long, value_name = "TOKENS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) sweep: Vec<u32>,
    /// Write what the ranking measured of every candidate, for whoever fits its weights, and judge
    /// nothing; of a suite, the splits to tune on alone, a file for each form.
    #[arg(long, value_name = "FILE")]
    pub(crate) features: Option<PathBuf>,
    /// At most this many tokens for an answer [default: that of the suite, else 1200].
    #[arg(short, long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget: Option<u32>,
    /// At most this many records in an answer.
    #[arg(short, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) n: u32,
    /// Show every record of an answer down to this tier.
    #[arg(long, value_enum)]
    pub(crate) tier: Option<TierName>,
    /// Of a suite of scenarios: the card of a real model to measure; scenarios of real models are skipped
    /// without one.
    #[arg(long, value_name = "CARD", requires = "data", env = "PSOS_EVAL_MODEL")]
    pub(crate) model: Option<PathBuf>,
    /// With --model: the same model behind a server that cuts too long inputs without a word.
    #[arg(long, value_name = "CARD", requires = "model")]
    pub(crate) silent_model: Option<PathBuf>,
    /// With --model: the folder of its questions (tree/, queries.jsonl, callsites.jsonl), or one of such folders.
    #[arg(long, value_name = "DIR", env = "PSOS_EVAL_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// Show at most this many misses of each group.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) misses: usize,
}

/// A form of a suite by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormOfTiers {
    /// With the tiers that people wrote.
    Authored,
    /// With those that psos derives alone.
    Derived,
}

impl From<FormOfTiers> for Form {
    fn from(name: FormOfTiers) -> Self {
        match name {
            FormOfTiers::Authored => Self::Authored,
            FormOfTiers::Derived => Self::Derived,
        }
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        Ok(share) if share > 1.0 && share <= 100.0 => {
            Err(format!("write it as a share of 1: {}", share / 100.0))
        }
        _ => Err("expected a share from 0 to 1, such as 0.9".to_owned()),
    }
}

fn parse_lines(text: &str) -> Result<(u32, u32), String> {
    let wrong = || "expected two line numbers with a colon between, such as 10:20".to_owned();
    let (first, last) = text.split_once(':').ok_or_else(wrong)?;
    let first: u32 = first.parse().map_err(|_| wrong())?;
    let last: u32 = last.parse().map_err(|_| wrong())?;
    if first == 0 || last < first {
        return Err("lines are counted from 1, and the second is not before the first".to_owned());
    }
    Ok((first, last))
}

/// A tier by its name.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum TierName {
    Trigger,
    Description,
    Summary,
    Detail,
}

impl From<TierName> for Tier {
    fn from(name: TierName) -> Self {
        match name {
            TierName::Trigger => Self::Trigger,
            TierName::Description => Self::Description,
            TierName::Summary => Self::Summary,
            TierName::Detail => Self::Detail,
        }
    }
}

/// A kind by its name.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum KindName {
    File,
    Section,
    Skill,
    Row,
    Item,
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::File => Self::File,
            KindName::Section => Self::Section,
            KindName::Skill => Self::Skill,
            KindName::Row => Self::Row,
            KindName::Item => Self::Item,
        }
    }
}

/// A format by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// For people and for the input of a model.
    Text,
    /// One JSON object.
    Json,
    /// One JSON object a line.
    Jsonl,
    /// Markdown, with a heading above each record.
    Md,
    /// One record id a line.
    Paths,
    /// The six columns of a TREC run.
    Trec,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Text => Self::Text,
            FormatName::Json | FormatName::Jsonl => Self::Json,
            FormatName::Md => Self::Markdown,
            FormatName::Paths => Self::Paths,
            FormatName::Trec => Self::Trec,
        }
    }
}
