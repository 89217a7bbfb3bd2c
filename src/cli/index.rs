//! `psos index`: a tree into its store.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use psos::clock::SystemClock;
use psos::engine::{Engine, STORE_FOLDER};
use psos::ingest::{
    EmptyTree, Extent, IndexOptions, IndexPreview, IndexReport, Progress, WalkOptions,
};
use psos::reader::{self, Tiers};
use psos::record::{Kind, Origin, Tier};

use crate::cli::args::{IndexArgs, WalkArgs};
use crate::cli::failure::Failure;
use crate::cli::output::{
    by_kind, by_origin, failure, json, list, note_json, object, print, push, push_note, tell,
};
use crate::cli::{Done, watch};

/// How long a writer waits for another one.
const WAIT: Duration = Duration::from_secs(30);
/// How many remarks a report shows before it only counts them.
const REMARKS_SHOWN: usize = 20;

pub(crate) fn run(args: &IndexArgs) -> Done {
    let dir = args.store.clone().unwrap_or_else(|| args.tree.join(STORE_FOLDER));
    let options = IndexOptions {
        walk: walk_options(&args.walk),
        threads: args.threads,
        extent: match (args.full, args.hash) {
            (true, _) => Extent::Full,
            (false, true) => Extent::Hashed,
            (false, false) => Extent::Changed,
        },
        empty: if args.allow_empty { EmptyTree::Accept } else { EmptyTree::Refuse },
        wait: Duration::from_secs(u64::from(args.wait)),
        ..default_options()
    };
    if args.dry_run {
        let preview =
            Engine::preview(&args.tree, &dir, &options).map_err(|error| failure(error, &dir))?;
        print(&if args.json { preview_json(&preview) } else { preview_text(&preview) })?;
        return Ok(ExitCode::SUCCESS);
    }
    let show = |report: &IndexReport| {
        if args.json {
            print(&report_json(report, &dir))
        } else if !args.quiet {
            print(&report_text(report))
        } else {
            Ok(())
        }
    };
    if args.watch {
        return watch::follow(&args.tree, &dir, &options, args.quiet, &show);
    }
    show(&build(&args.tree, &dir, &options, args.quiet)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Brings a store up to date, with a progress bar where somebody looks.
pub(crate) fn build(
    tree: &Path,
    dir: &Path,
    options: &IndexOptions,
    quiet: bool,
) -> Result<IndexReport, Failure> {
    let bar = Bar::new(quiet);
    let report = Engine::index(tree, dir, options, &SystemClock, &bar);
    bar.0.finish_and_clear();
    report.map_err(|error| failure(error, dir))
}

/// What `recall --tree` and `eval` index with.
pub(crate) fn default_options() -> IndexOptions {
    IndexOptions {
        walk: WalkOptions::default(),
        reader: reader::Options { tiers: Tiers::Authored, fields: reader::Fields::default() },
        threads: None,
        extent: Extent::Changed,
        empty: EmptyTree::Refuse,
        wait: WAIT,
    }
}

/// The store of a tree: the one that was named, or the folder in the tree.
pub(crate) fn store_of(tree: &Path) -> PathBuf {
    tree.join(STORE_FOLDER)
}

fn walk_options(args: &WalkArgs) -> WalkOptions {
    WalkOptions { follow: args.follow, hidden: args.hidden, no_ignore: args.no_ignore }
}

/// A progress bar on a terminal's stderr, nothing elsewhere.
struct Bar(ProgressBar);

impl Bar {
    fn new(quiet: bool) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} files") {
            bar.set_style(style);
        }
        Self(bar)
    }
}

impl Progress for Bar {
    fn files(&self, done: u64, total: u64) {
        self.0.set_length(total);
        self.0.set_position(done);
    }
}

/// Says on stderr what was wrong with the files that were read.
pub(crate) fn tell_remarks(report: &IndexReport) {
    let mut text = String::new();
    for note in report.notes.iter().take(REMARKS_SHOWN) {
        push_note(&mut text, note);
    }
    if report.notes.len() > REMARKS_SHOWN {
        push(
            &mut text,
            format_args!("... and {} more; --json lists all\n", report.notes.len() - REMARKS_SHOWN),
        );
    }
    for skipped in report.skipped.iter().take(REMARKS_SHOWN) {
        push(&mut text, format_args!("{}: skipped: {}", skipped.path, skipped.reason));
        push_help(&mut text, skipped);
    }
    if report.skipped.len() > REMARKS_SHOWN {
        push(
            &mut text,
            format_args!(
                "... and {} more skipped; --json lists all\n",
                report.skipped.len() - REMARKS_SHOWN
            ),
        );
    }
    tell(&text);
}

fn report_text(report: &IndexReport) -> String {
    tell_remarks(report);
    let totals = &report.totals;
    let mut text = format!(
        "indexed {} records of {} files in {:.2} s: {} files read ({} bytes), {} unchanged, {} removed\n",
        totals.n_records,
        totals.n_files,
        report.elapsed.as_secs_f64(),
        report.n_read,
        report.n_bytes,
        report.n_unchanged,
        report.n_removed,
    );
    if let Some(why) = &report.rebuilt_because {
        push(&mut text, format_args!("every file was read again: {why}\n"));
    }
    let kinds: Vec<String> = Kind::ALL
        .into_iter()
        .map(|kind| (kind.name(), totals.of_kind(kind)))
        .filter(|&(_, n)| n > 0)
        .map(|(name, n)| format!("{name} {n}"))
        .collect();
    push(&mut text, format_args!("kinds      {}\n", kinds.join(", ")));
    for (label, tier) in [
        ("triggers", Tier::Trigger),
        ("described", Tier::Description),
        ("summarised", Tier::Summary),
    ] {
        let origins: Vec<String> = Origin::ALL
            .into_iter()
            .map(|origin| (origin.name(), totals.of_origin(tier, origin)))
            .filter(|&(_, n)| n > 0)
            .map(|(name, n)| format!("{name} {n}"))
            .collect();
        push(&mut text, format_args!("{label:<10} {}\n", origins.join(", ")));
    }
    push(
        &mut text,
        format_args!(
            "remarks    {} on files read, {} skipped\n",
            report.notes.len(),
            report.skipped.len()
        ),
    );
    text
}

fn report_json(report: &IndexReport, dir: &Path) -> String {
    let totals = &report.totals;
    let remarks = report.notes.iter().map(note_json);
    let object = object([
        ("schema_version", json(1)),
        ("store", json(dir.display().to_string())),
        ("generation", json(report.generation)),
        ("changed", json(report.changed)),
        (
            "files",
            object([
                ("read", json(report.n_read)),
                ("unchanged", json(report.n_unchanged)),
                ("removed", json(report.n_removed)),
                ("total", json(totals.n_files)),
                ("bytes_read", json(report.n_bytes)),
            ]),
        ),
        ("records", json(totals.n_records)),
        ("kinds", by_kind(totals)),
        ("triggers", by_origin(totals, Tier::Trigger)),
        ("descriptions", by_origin(totals, Tier::Description)),
        ("summaries", by_origin(totals, Tier::Summary)),
        ("rebuilt_because", json(report.rebuilt_because.clone())),
        ("remarks", list(remarks)),
        ("skipped", skipped_json(&report.skipped)),
        ("elapsed_ms", json(u64::try_from(report.elapsed.as_millis()).unwrap_or(u64::MAX))),
    ]);
    format!("{object}\n")
}

fn skipped_json(skipped: &[psos::ingest::Skipped]) -> String {
    list(skipped.iter().map(|skipped| {
        object([
            ("path", json(skipped.path.as_str())),
            ("reason", json(skipped.reason.as_str())),
            ("help", json(skipped.help.as_str())),
        ])
    }))
}

/// Ends a line with what would have a file read.
fn push_help(text: &mut String, skipped: &psos::ingest::Skipped) {
    if !skipped.help.is_empty() {
        push(text, format_args!(" ({})", skipped.help));
    }
    text.push('\n');
}

fn preview_text(preview: &IndexPreview) -> String {
    let mut text = String::new();
    for path in &preview.read {
        push(&mut text, format_args!("read     {path}\n"));
    }
    for path in &preview.remove {
        push(&mut text, format_args!("remove   {path}\n"));
    }
    for skipped in &preview.skipped {
        push(&mut text, format_args!("skip     {}: {}", skipped.path, skipped.reason));
        push_help(&mut text, skipped);
    }
    for excluded in &preview.excluded {
        push(&mut text, format_args!("ignore   {}: {}", excluded.path, excluded.reason));
        push_help(&mut text, excluded);
    }
    if let Some(why) = &preview.rebuilt_because {
        push(&mut text, format_args!("every file would be read again: {why}\n"));
    }
    push(
        &mut text,
        format_args!(
            "{} files would be read, {} removed, {} left as they are\n",
            preview.read.len(),
            preview.remove.len(),
            preview.n_unchanged
        ),
    );
    text
}

fn preview_json(preview: &IndexPreview) -> String {
    let paths = |paths: &[String]| list(paths.iter().map(|path| json(path.as_str())));
    let object = object([
        ("schema_version", json(1)),
        ("read", paths(&preview.read)),
        ("remove", paths(&preview.remove)),
        ("unchanged", json(preview.n_unchanged)),
        ("skipped", skipped_json(&preview.skipped)),
        ("ignored", skipped_json(&preview.excluded)),
        ("rebuilt_because", json(preview.rebuilt_because.clone())),
    ]);
    format!("{object}\n")
}
