//! The shipped content tree answers everyday questions with the right record first.

use std::path::Path;

use crate::harness::Env;

/// Questions in everyday words, and the record that answers each.
const QUESTIONS: [(&str, &str); 10] = [
    (
        "how do I take back my last commit but keep the changes",
        "git/git-undo.md#undo-the-last-commit-but-keep-its-changes-staged",
    ),
    (
        "which process is listening on port 8080",
        "linux/network-diagnostics.md#which-process-is-listening-on-a-port",
    ),
    ("sqlite database is locked error", "databases/sqlite.md#error-database-is-locked-sqlite_busy"),
    (
        "how do I squash several commits into one",
        "git/git-rebase.md#squash-the-last-few-commits-into-one",
    ),
    (
        "which directories use the most disk space",
        "linux/disk-space-and-filesystems.md#find-out-which-directories-take-up-the-space-du",
    ),
    (
        "rename a column in postgres without downtime",
        "databases/schema-migrations.md#rename-a-column-while-the-application-is-running",
    ),
    (
        "create a self-signed certificate for local development",
        "web/tls-and-certificates.md#self-signed-certificate-for-local-development",
    ),
    (
        "kubernetes pod stuck in CrashLoopBackOff",
        "platform/kubernetes-debugging.md#crashloopbackoff",
    ),
    (
        "how do I create a python virtual environment",
        "languages/python-environments-and-packaging.md#create-and-activate-a-virtual-environment",
    ),
    (
        "restore a postgres dump into another database",
        "databases/postgres-backup-and-restore.md#restore-a-custom-format-dump-with-pg_restore",
    ),
];

#[test]
fn nine_of_ten_everyday_questions_have_their_record_first_within_the_budget() {
    let env = Env::empty();
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/fieldguide");
    let store = env.path("store").display().to_string();
    let indexed = env.run(&["index", &guide.display().to_string(), "--store", &store, "-q"]);
    assert_eq!(indexed.code, Some(0), "{}", indexed.stderr);
    let mut missed = Vec::new();
    for (question, wanted) in QUESTIONS {
        let answer = env.run(&["recall", "--store", &store, question]);
        assert!(psos::text::count(&answer.stdout) <= 1_200, "{question}");
        let first = answer.stdout.lines().next().unwrap_or_default().to_owned();
        if !first.starts_with(&format!("[1] {wanted} ")) {
            missed.push(format!("{question}: {first}"));
        }
    }
    assert!(missed.len() <= 1, "{missed:#?}");
}
