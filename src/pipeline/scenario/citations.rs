//! Citations that lie, and citations that do not: none of the first may be verified, all of the second
//! should be.

use std::fs;
use std::io;
use std::path::Path;

use super::{Measure, Outcome, Source};
use crate::pipeline::citation::{Checker, Citation, Doubt, Refutation, Verdict};

/// What a citation of the table should come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    /// Verified, byte for byte or with other white space.
    Verified,
    /// Found on this line instead.
    Moved(u32),
    /// Out of the tree.
    Outside,
    /// No such file.
    NoFile,
    /// A folder, pipe or device.
    NotAFile,
    /// No such line.
    NoLine,
    /// No such text.
    NoText,
    /// On several lines, not on this one.
    Ambiguous,
    /// Nothing can be told.
    Unclear(Doubt),
}

struct Case {
    file: &'static str,
    line: u32,
    quote: &'static str,
    want: Want,
}

const fn case(file: &'static str, line: u32, quote: &'static str, want: Want) -> Case {
    Case { file, line, quote, want }
}

/// The tree that is cited. Numbers of lines below are of these texts.
const FILES: [(&str, &str); 9] = [
    (
        "src/limits.rs",
        "//! Limits of a session.\n\
         \n\
         /// Sessions that may be open at once.\n\
         pub const MAX_SESSIONS: usize = 64;\n\
         \n\
         /// Ends a session that was idle for too long.\n\
         pub fn expire_idle(now: u64, last_used: u64) -> bool {\n\
         \x20   let idle = now.saturating_sub(last_used);\n\
         \x20   idle > MAX_IDLE_SECONDS\n\
         }\n\
         \n\
         fn disallow_writes(session: &mut Session) {\n\
         \x20   session.may_write = false;\n\
         }\n\
         \n\
         fn freeze(session: &mut Session) {\n\
         \x20   session.may_write = false;\n\
         \x20   session.log(\"frozen by the operator\");\n\
         }\n",
    ),
    ("docs/guide.md", "# Guide\r\n\r\nRun `serve --port 80`\r\nto start the server.\r\n"),
    ("docs/utf8.md", "\u{feff}Grüße aus Zürich\nna\u{ef}ve caf\u{e9} menu\nπ ≈ 3.14159 always\n"),
    ("docs/spaces.txt", "the\tquick  brown   fox\n\n\n   jumps over\nthe lazy dog\n"),
    ("one-line.txt", "only one line without an end"),
    ("empty.txt", ""),
    ("sp ace/näme.txt", "a file with a name\nthat needs care\n"),
    (".hidden.txt", "hidden but in the tree\n"),
    (".psos/ledger.txt", "finding: the cache is never cleared\n"),
];

#[rustfmt::skip]
const LIES: [Case; 77] = [
    // Out of the tree, by every spelling we know of.
    case("../secret.txt", 1, "the password is swordfish", Want::Outside),
    case("src/../../secret.txt", 1, "the password is swordfish", Want::Outside),
    case("src/../src/limits.rs", 4, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    case("./../secret.txt", 1, "the password is swordfish", Want::Outside),
    case("src/./limits.rs", 4, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    case("/etc/passwd", 1, "root:x:0:0:root", Want::Outside),
    case("//etc/passwd", 1, "root:x:0:0:root", Want::Outside),
    case("/proc/self/environ", 1, "PATH=/usr/bin", Want::Outside),
    case("\\\\server\\share\\secret.txt", 1, "the password is swordfish", Want::Outside),
    case("//server/share/secret.txt", 1, "the password is swordfish", Want::Outside),
    case("\\\\?\\C:\\secret.txt", 1, "the password is swordfish", Want::Outside),
    case("C:\\secret.txt", 1, "the password is swordfish", Want::Outside),
    case("C:secret.txt", 1, "the password is swordfish", Want::Outside),
    case("src\\limits.rs", 4, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    case("..\\secret.txt", 1, "the password is swordfish", Want::Outside),
    case("src/limits.rs::$DATA", 4, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    case("src/limits.rs\0.txt", 4, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    case("src/limits.rs\n", 4, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    case("src//limits.rs", 4, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    case("src/limits.rs/", 4, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    case("src/limits.rs.", 4, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    case("src/limits.rs ", 4, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    case("", 1, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    case(".", 1, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    case("link-out.txt", 1, "the password is swordfish", Want::Outside),
    case("link-folder/secret.txt", 1, "the password is swordfish", Want::Outside),
    case("link-in.rs", 4, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    case("link-loop", 1, "pub const MAX_SESSIONS: usize = 64;", Want::Outside),
    // Our own records, in which a model could have written what it then quotes.
    case(".psos/ledger.txt", 1, "finding: the cache is never cleared", Want::Outside),
    case(".PSOS/ledger.txt", 1, "finding: the cache is never cleared", Want::Outside),
    case("./.psos/ledger.txt", 1, "finding: the cache is never cleared", Want::Outside),
    case(".git/config", 1, "repositoryformatversion = 0", Want::Outside),
    // Files that are none, or not of that name.
    case("src/limit.rs", 4, "pub const MAX_SESSIONS: usize = 64;", Want::NoFile),
    case("SRC/limits.rs", 4, "pub const MAX_SESSIONS: usize = 64;", Want::NoFile),
    case("src/Limits.rs", 4, "pub const MAX_SESSIONS: usize = 64;", Want::NoFile),
    case("limits.rs", 4, "pub const MAX_SESSIONS: usize = 64;", Want::NoFile),
    case("%73rc/limits.rs", 4, "pub const MAX_SESSIONS: usize = 64;", Want::NoFile),
    case("~/limits.rs", 4, "pub const MAX_SESSIONS: usize = 64;", Want::NoFile),
    case("$HOME/limits.rs", 4, "pub const MAX_SESSIONS: usize = 64;", Want::NoFile),
    case("sp ace/na\u{308}me.txt", 1, "a file with a name", Want::NoFile),
    case("link-nowhere", 1, "pub const MAX_SESSIONS: usize = 64;", Want::NoFile),
    case("src/limits.rs/x", 4, "pub const MAX_SESSIONS: usize = 64;", Want::NoFile),
    case("src", 1, "pub const MAX_SESSIONS: usize = 64;", Want::NotAFile),
    case("pipe", 1, "pub const MAX_SESSIONS: usize = 64;", Want::NotAFile),
    // Lines that do not exist.
    case("src/limits.rs", 0, "fn that_is_not_there()", Want::NoLine),
    case("src/limits.rs", 20, "fn that_is_not_there()", Want::NoLine),
    case("src/limits.rs", u32::MAX, "fn that_is_not_there()", Want::NoLine),
    case("empty.txt", 1, "pub const MAX_SESSIONS: usize = 64;", Want::NoLine),
    case("one-line.txt", 2, "only one line with an end", Want::NoLine),
    // Texts that are nearly there.
    case("src/limits.rs", 4, "pub const MAX_SESSIONS: usize = 65;", Want::NoText),
    case("src/limits.rs", 4, "pub const MAX_SESSIONS: u32 = 64;", Want::NoText),
    case("src/limits.rs", 4, "pub const max_sessions: usize = 64;", Want::NoText),
    case("src/limits.rs", 4, "pub const MAX\u{2010}SESSIONS: usize", Want::NoText),
    case("src/limits.rs", 4, "pub const M\u{410}X_SESSIONS: usize", Want::NoText),
    case("src/limits.rs", 4, "pub const MAX_\u{200b}SESSIONS: usize", Want::NoText),
    case("src/limits.rs", 4, "pub const MAX_SESSIONS: usize = 6", Want::NoText),
    case("src/limits.rs", 9, "idle>MAX_IDLE_SECONDS", Want::NoText),
    case("src/limits.rs", 9, "idle >= MAX_IDLE_SECONDS", Want::NoText),
    case("src/limits.rs", 12, "allow_writes(session: &mut Session)", Want::NoText),
    case("src/limits.rs", 8, "saturating_sub(last", Want::NoText),
    case("src/limits.rs", 18, "session.log(\u{201c}frozen by the operator\u{201d})", Want::NoText),
    case("src/limits.rs", 7, "pub fn expire_idle(..) -> bool", Want::NoText),
    case("src/limits.rs", 7, "pub fn expire_idle … bool {", Want::NoText),
    case("src/limits.rs", 13, "session.may_write = false;\n    session.log(\"unfrozen\");", Want::NoText),
    case("src/limits.rs", 3, "/// Sessions that may be open at once. /// pub const", Want::NoText),
    case("docs/utf8.md", 2, "nai\u{308}ve cafe\u{301} menu", Want::NoText),
    case("docs/guide.md", 3, "Run serve --port 80 to start", Want::NoText),
    case("latin1.txt", 1, "Gr\u{fffd}\u{fffd}e aus der Ferne", Want::Unclear(Doubt::NotText)),
    case("binary.bin", 1, "looks like text", Want::Unclear(Doubt::NotText)),
    case("big.txt", 1, "the first line of a long file", Want::Unclear(Doubt::FileTooLong)),
    // Quotes that are on several lines, none of them the one named.
    case("src/limits.rs", 4, "session.may_write = false;", Want::Ambiguous),
    case("src/limits.rs", 4, "session: &mut Session", Want::Ambiguous),
    // Quotes that prove nothing.
    case("src/limits.rs", 4, "", Want::Unclear(Doubt::NoQuote)),
    case("src/limits.rs", 4, " \n\t ", Want::Unclear(Doubt::NoQuote)),
    case("src/limits.rs", 10, "}", Want::Unclear(Doubt::QuoteTooShort)),
    case("src/limits.rs", 4, "= 64;", Want::Unclear(Doubt::QuoteTooShort)),
    case("src/limits.rs", 1, "//! -------------- !//", Want::Unclear(Doubt::QuoteTooShort)),
];

#[rustfmt::skip]
const HONEST: [Case; 20] = [
    case("src/limits.rs", 4, "pub const MAX_SESSIONS: usize = 64;", Want::Verified),
    case("./src/limits.rs", 4, "MAX_SESSIONS: usize = 64", Want::Verified),
    case("src/limits.rs", 12, "fn disallow_writes(session: &mut Session)", Want::Verified),
    case("src/limits.rs", 13, "session.may_write = false;", Want::Verified),
    case("src/limits.rs", 17, "    session.may_write = false;\n", Want::Verified),
    case("src/limits.rs", 7, "pub fn expire_idle(now: u64, last_used: u64) -> bool {\n    let idle", Want::Verified),
    case("src/limits.rs", 8, "let idle = now.saturating_sub(last_used);\nidle > MAX_IDLE_SECONDS", Want::Verified),
    case("src/limits.rs", 8, "let  idle = now.saturating_sub(last_used);", Want::Verified),
    case("docs/guide.md", 3, "Run `serve --port 80`\nto start the server.", Want::Verified),
    case("docs/guide.md", 3, "Run `serve --port 80`\r\nto start", Want::Verified),
    case("docs/guide.md", 3, "Run `serve --port 80` to start", Want::Verified),
    case("docs/utf8.md", 1, "Grüße aus Zürich", Want::Verified),
    case("docs/utf8.md", 3, "π ≈ 3.14159", Want::Verified),
    case("docs/spaces.txt", 1, "the quick brown fox", Want::Verified),
    case("docs/spaces.txt", 1, "quick\u{a0}brown fox\njumps over", Want::Verified),
    case("one-line.txt", 1, "only one line without an end", Want::Verified),
    case("sp ace/näme.txt", 2, "that needs care", Want::Verified),
    case(".hidden.txt", 1, "hidden but in the tree", Want::Verified),
    case("src/limits.rs", 40, "pub const MAX_SESSIONS: usize = 64;", Want::Moved(4)),
    case("src/limits.rs", 8, "session.log(\"frozen by the operator\");", Want::Moved(18)),
];

/// Checks a table of lies and a table of honest citations against a tree that is written to `folder`,
/// which must be empty.
///
/// # Errors
/// When the tree cannot be written or opened.
pub fn citations(folder: &Path) -> io::Result<Outcome> {
    let root = folder.join("tree");
    plant(folder, &root)?;
    let checker = Checker::open(&root).map_err(io::Error::other)?;
    let mut notes = Vec::new();
    let mut judged = |cases: &[Case]| {
        let mut n_grounded = 0;
        let mut n_as_wanted = 0;
        for case in cases.iter().filter(|case| applies(case.file)) {
            let citation = Citation {
                file: case.file.to_owned(),
                line: case.line,
                quote: case.quote.to_owned(),
            };
            let checked = checker.check(&citation);
            n_grounded += usize::from(checked.grounds());
            if is(&checked.verdict, case.want) {
                n_as_wanted += 1;
            } else {
                let (verdict, want) = (&checked.verdict, case.want);
                notes.push(format!("{citation:?}: {verdict:?}, should be {want:?}"));
            }
        }
        (n_grounded, n_as_wanted)
    };
    let (false_verdicts, lies_as_wanted) = judged(&LIES);
    let (_, honest_as_wanted) = judged(&HONEST);
    let n_lies = LIES.iter().filter(|case| applies(case.file)).count();
    let ratio = as_f64(honest_as_wanted) / as_f64(HONEST.len());
    let measure = |what: &str, value, target: &str, reached| Measure {
        what: what.to_owned(),
        value,
        target: target.to_owned(),
        reached,
    };
    Ok(Outcome {
        scenario: "citations".to_owned(),
        source: Source::Simulated,
        measures: vec![
            measure("adversarial citations", as_f64(n_lies), "at least 60", n_lies >= 60),
            measure("falsely verified", as_f64(false_verdicts), "0", false_verdicts == 0),
            measure(
                "lies with the right reason",
                as_f64(lies_as_wanted),
                "all",
                lies_as_wanted == n_lies,
            ),
            measure("honest citations verified, share", ratio, "at least 0.99", ratio >= 0.99),
        ],
        notes,
    })
}

fn is(verdict: &Verdict, want: Want) -> bool {
    match (verdict, want) {
        (Verdict::Verified | Verdict::VerifiedWhitespace, Want::Verified) => true,
        (Verdict::Moved { line }, Want::Moved(wanted)) => *line == wanted,
        (Verdict::Unverifiable { reason }, Want::Unclear(doubt)) => *reason == doubt,
        (Verdict::Refuted { reason }, want) => matches!(
            (reason, want),
            (Refutation::OutsideRoot, Want::Outside)
                | (Refutation::MissingFile, Want::NoFile)
                | (Refutation::NotAFile, Want::NotAFile)
                | (Refutation::MissingLine { .. }, Want::NoLine)
                | (Refutation::MissingText, Want::NoText)
                | (Refutation::Ambiguous { .. }, Want::Ambiguous)
        ),
        _ => false,
    }
}

/// Whether this system can have such a file.
fn applies(file: &str) -> bool {
    cfg!(unix) || !(file.starts_with("link-") || file == "pipe")
}

/// Writes the tree, and beside it a secret that no citation may reach.
fn plant(folder: &Path, root: &Path) -> io::Result<()> {
    fs::write(folder.join("secret.txt"), "the password is swordfish\n")?;
    for (file, text) in FILES {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(path, text)?;
    }
    fs::write(root.join("latin1.txt"), b"Gr\xfc\xdfe aus der Ferne\n")?;
    fs::write(root.join("binary.bin"), b"\0\x01looks like text\n")?;
    let long = "the first line of a long file\n".to_owned() + &"x\n".repeat(5 << 20);
    fs::write(root.join("big.txt"), long)?;
    plant_links(folder, root)
}

#[cfg(unix)]
fn plant_links(folder: &Path, root: &Path) -> io::Result<()> {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    symlink(folder.join("secret.txt"), root.join("link-out.txt"))?;
    symlink(folder, root.join("link-folder"))?;
    symlink("src/limits.rs", root.join("link-in.rs"))?;
    symlink("link-loop", root.join("link-loop"))?;
    symlink("nowhere", root.join("link-nowhere"))?;
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, root.join("pipe"), FileType::Fifo, mode, 0).map_err(io::Error::from)
}

#[cfg(not(unix))]
fn plant_links(_: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn as_f64(n: usize) -> f64 {
    n as f64
}
