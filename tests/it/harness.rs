//! A place to run the psos binary in: a folder of its own, an empty environment, output that is the
//! same on every machine.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A temporary folder with a content tree named `tree`, removed at the end.
pub(crate) struct Env {
    folder: TempDir,
}

/// What a run of psos left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The exit code; `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    /// Data, with [`normal`] applied.
    pub(crate) stdout: String,
    /// Talk, with [`normal`] applied.
    pub(crate) stderr: String,
}

/// Three small files: notes with authored tiers, a skill, and rows.
const TREE: [(&str, &str); 3] = [
    (
        "git/undo.md",
        "# Undo in git\n\n\
         ## Undo the last commit\n\n\
         <!-- psos\ntriggers:\n  - take back a commit\n-->\n\n\
         `git reset --soft HEAD~1` moves the branch back and keeps the changes staged.\n\n\
         ## Discard edits in a file\n\n\
         `git restore FILE` brings back the committed content.\n",
    ),
    (
        "skills/deploy/SKILL.md",
        "---\nname: deploy\ndescription: Puts a new release on the servers.\ntriggers:\n  \
         - ship it\n---\n\n# Deploy\n\nRun `make deploy` and watch the dashboard.\n",
    ),
    (
        "rows.jsonl",
        "{\"_id\": \"d1\", \"title\": \"Rotate a key\", \"text\": \"Create the new key first.\"}\n\
         {\"_id\": \"d2\", \"title\": \"Renew a certificate\", \"text\": \"Ask for it a week early.\"}\n",
    ),
];

/// The files of the field guide that stand for it where all of it would take too long.
pub(crate) const GUIDE: [&str; 8] = [
    "databases/sqlite",
    "git/git-branches",
    "git/git-stash-worktree",
    "git/git-undo",
    "languages/rust-cargo",
    "linux/finding-files",
    "platform/docker-images",
    "web/http-semantics-and-status-codes",
];

/// Questions that the files of [`GUIDE`] answer.
pub(crate) const QUESTIONS: [&str; 15] = [
    "how do I take back my last commit but keep the changes",
    "delete a branch on the server",
    "stash only some of my files",
    "database is locked",
    "insert many rows quickly",
    "find files larger than 100 MB",
    "find files modified in the last week and delete them",
    "make my docker image smaller",
    "update one crate in Cargo.lock",
    "which status code for a validation error",
    "401 or 403",
    "rename a branch",
    "the build cache is not used after I changed one line",
    "how can I get back a commit that I lost after a hard reset, when I did not write down its hash",
    "fatal: 'main' is already used by worktree",
];

/// Words in the frequencies of the field guide, drawn one after the other.
pub(crate) struct Words {
    words: Vec<String>,
    state: u64,
}

impl Words {
    pub(crate) fn of_the_guide() -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpora/fieldguide");
        let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter();
        let pages = files.filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok());
        let is_word = |word: &&str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_alphabetic());
        let words = pages.flat_map(|page| {
            page.split_whitespace().filter(is_word).map(str::to_owned).collect::<Vec<_>>()
        });
        Self { words: words.collect(), state: 7 }
    }

    /// A number below `n`, the next of a fixed series.
    pub(crate) fn number(&mut self, n: usize) -> usize {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.state >> 33).unwrap() % n
    }

    pub(crate) fn text(&mut self, n: usize) -> String {
        let mut words = Vec::with_capacity(n);
        for _ in 0..n {
            let at = self.number(self.words.len());
            words.push(self.words[at].clone());
        }
        words.join(" ")
    }
}

impl Env {
    /// A folder with some files of the field guide, written in this order: the numbers are places in
    /// [`GUIDE`].
    pub(crate) fn guide_in_order(order: impl IntoIterator<Item = usize>) -> Self {
        let env = Self::empty();
        for path in order.into_iter().filter_map(|place| GUIDE.get(place)) {
            env.copy_guide(path);
        }
        env
    }

    /// Copies one file of the field guide with its sidecar into the tree.
    pub(crate) fn copy_guide(&self, path: &str) {
        let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/fieldguide");
        for name in [format!("{path}.md"), format!("{path}.psos.yaml")] {
            self.write(&format!("tree/{name}"), fs::read(guide.join(&name)).unwrap());
        }
    }

    /// A folder with the small content tree.
    pub(crate) fn new() -> Self {
        let env = Self::empty();
        for (path, text) in TREE {
            env.write(&format!("tree/{path}"), text);
        }
        env
    }

    /// A folder with an empty `tree`.
    pub(crate) fn empty() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("tree")).unwrap();
        Self { folder }
    }

    /// The place of a file or folder in here.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Runs psos in this folder, with nothing on its standard input.
    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        self.run_with_input(args, "")
    }

    /// Runs psos in this folder with some text on its standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Outcome {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A child that reads nothing may be gone already; that is no failure of the test.
        let _gone = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| normal(&String::from_utf8(bytes).unwrap(), self.folder.path());
        Outcome {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// The command itself, for a test that needs other variables, another folder or a signal.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_psos"));
        command.args(args).current_dir(self.folder.path()).env_clear();
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command
    }
}

/// Replaces what differs from run to run: the folder by `[DIR]`, elapsed times by `[TIME]`.
fn normal(text: &str, folder: &Path) -> String {
    // The folder may be shown with its links resolved.
    let mut text = text.replace("\r\n", "\n");
    for folder in [folder.canonicalize().unwrap_or_default(), folder.to_path_buf()] {
        if let Some(folder) = folder.to_str().filter(|folder| !folder.is_empty()) {
            text = text.replace(folder, "[DIR]");
        }
    }
    without_times(&text)
}

/// Replaces `12 ms`, `1.5s`, `3 min` and the like by `[TIME]`.
fn without_times(text: &str) -> String {
    const UNITS: [&str; 6] = ["min", "ms", "ns", "us", "\u{b5}s", "s"];
    let mut normal = String::with_capacity(text.len());
    let mut rest = text;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let n_digits = from.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(from.len());
        let (number, after) = from.split_at(n_digits);
        let unit = UNITS.iter().find_map(|unit| {
            let rest = after.strip_prefix(' ').unwrap_or(after).strip_prefix(unit)?;
            (!rest.starts_with(is_word)).then_some(rest)
        });
        normal.push_str(before);
        match unit {
            Some(behind) if !before.ends_with(is_word) && !number.ends_with('.') => {
                normal.push_str("[TIME]");
                rest = behind;
            }
            _ => {
                normal.push_str(number);
                rest = after;
            }
        }
    }
    normal.push_str(rest);
    normal
}

#[test]
fn elapsed_times_are_replaced_and_nothing_else() {
    for (text, want) in [
        ("indexed 3 files in 12 ms", "indexed 3 files in [TIME]"),
        ("1.5s, 200\u{b5}s; 3 min.", "[TIME], [TIME]; [TIME]."),
        ("3 skipped, k8s, 2 sections, v1.2.3 s3", "3 skipped, k8s, 2 sections, v1.2.3 s3"),
        ("utf8 s", "utf8 s"),
        ("at the end 7", "at the end 7"),
    ] {
        assert_eq!(without_times(text), want);
    }
}

#[test]
fn the_binary_runs_in_its_own_folder_and_its_output_names_no_other() {
    let env = Env::new();
    assert!(env.path("tree/git/undo.md").is_file());
    let text = format!("{} and {}", env.path("tree").display(), env.path("x").display());
    let want = format!("[DIR]{0}tree and [DIR]{0}x", std::path::MAIN_SEPARATOR);
    assert_eq!(normal(&text, env.folder.path()), want);
    let help = env.run(&["--help"]);
    assert_eq!(help.code, Some(0), "{}", help.stderr);
    assert_eq!(help, env.run_with_input(&["--help"], "not read"));
}
