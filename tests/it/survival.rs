//! Processes that are killed, that get in each other's way, and that may not write.
//!
//! Each claim has a short form here and, where time finds more, a long one that is ignored; `tests/README.md`
//! has the commands and what was tried.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use psos::clock::{Clock as _, SystemClock};
use psos::store::Store;

use crate::harness::{Env, Outcome};

const QUESTIONS: [&str; 4] =
    ["restore the backup", "rotate the key", "open the valve", "renew the certificate"];

/// Two trees with the same names and other content, and the state of a store of each.
struct Two {
    env: Env,
    dumps: [String; 2],
}

impl Two {
    fn new() -> Self {
        let env = Env::empty();
        for (tree, word) in [("a", "first"), ("b", "the second of the two")] {
            for n in 0..20 {
                env.write(
                    &format!("{tree}/d{}/f{n}.md", n % 3),
                    format!(
                        "# Restore {n}\n\nRestore the backup {n}, {word}.\n\n## Rotate the key {n}\n\n\
                         <!-- psos\ntriggers:\n  - {word} key {n}\n-->\n\nRotate it, {word}.\n\n\
                         ## Open the valve {n}\n\nSlowly. It is {word} and long enough to stand alone.\n"
                    ),
                );
            }
            env.write(&format!("{tree}/only-{tree}.md"), "# Renew the certificate\n\nEarly.\n");
            let built = env.run(&["index", tree, "--store", &format!("store-{tree}"), "-q"]);
            assert_eq!(built.code, Some(0), "{built:?}");
        }
        let dumps = ["store-a", "store-b"].map(|store| dump(&env, store));
        assert_ne!(dumps[0], dumps[1]);
        Self { env, dumps }
    }

    fn answers(&self, store: &str) -> BTreeSet<String> {
        QUESTIONS.iter().map(|question| ask(&self.env, store, question).stdout).collect()
    }
}

fn dump(env: &Env, store: &str) -> String {
    let outcome = env.run(&["verify", "--store", store, "--dump"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome.stdout
}

fn ask(env: &Env, store: &str, question: &str) -> Outcome {
    env.run(&["recall", "--store", store, "--json", question])
}

fn start(env: &Env, args: &[&str]) -> Child {
    let mut command = env.command(args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Kills runs of `index` at moments that chance picks, and looks at what they left.
fn kill_at_random(n_kills: u32) {
    let two = Two::new();
    let env = &two.env;
    let index = |tree: &str, more: &[&str]| {
        let args = [&["index", tree, "--store", "store", "-q"], more].concat();
        start(env, &args)
    };
    let begun = SystemClock.now();
    assert!(index("a", &[]).wait().unwrap().success());
    let typical = SystemClock.now().saturating_sub(begun).max(Duration::from_millis(5));
    let mut state = 0;
    let (mut n_whole, mut n_old, mut n_new) = (0, 0, 0);
    for n in 0..n_kills {
        let target = usize::from(n % 2 == 0);
        let more: &[&str] =
            [&["--full"][..], &[], &["--hash"], &["--threads", "1"]][n as usize % 4];
        let mut child = index(["a", "b"][target], more);
        // A number that looks like chance; the moment itself is up to the scheduler anyway.
        let share = n.wrapping_mul(2_654_435_761) >> 22;
        std::thread::sleep(typical * share / 850);
        child.kill().unwrap();
        let finished = child.wait().unwrap().success();
        let found = dump(env, "store");
        let is_new = found == two.dumps[target];
        assert!(is_new || found == two.dumps[state], "kill {n}: a third state");
        assert!(is_new || !finished, "kill {n}: a run that had ended is lost");
        let verified = env.run(&["verify", "--store", "store"]);
        assert_eq!(verified.code, Some(0), "kill {n}: {verified:?}");
        state = if is_new { target } else { state };
        n_whole += u32::from(finished);
        n_new += u32::from(is_new && !finished);
        n_old += u32::from(!is_new);
    }
    println!("{n_kills} kills: {n_old} before, {n_new} after the commit, {n_whole} ended first");
    // The next run is an ordinary one, and leaves nothing of all those behind.
    assert!(index("a", &[]).wait().unwrap().success());
    assert!(index("b", &[]).wait().unwrap().success());
    assert_eq!(dump(env, "store"), two.dumps[1]);
    let left: Vec<_> =
        fs::read_dir(env.path("store")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
    let doctor = env.run(&["doctor", "--store", "store"]);
    assert_eq!(doctor.code, Some(0), "{doctor:?}");
}

#[test]
fn a_killed_run_leaves_the_state_before_or_after() {
    kill_at_random(10);
}

#[test]
#[ignore = "minutes; tests/README.md has the command"]
fn two_hundred_killed_runs_leave_the_state_before_or_after() {
    kill_at_random(200);
}

#[test]
fn a_run_that_is_killed_while_it_makes_the_store_is_made_good_by_the_next() {
    let two = Two::new();
    for pause in [0, 4, 12, 20, 40] {
        let store = format!("made-{pause}");
        let mut child = start(&two.env, &["index", "a", "--store", &store, "-q"]);
        std::thread::sleep(Duration::from_millis(pause));
        child.kill().unwrap();
        child.wait().unwrap();
        let recall = ask(&two.env, &store, QUESTIONS[0]);
        assert!(matches!(recall.code, Some(0 | 3 | 4)), "{recall:?}");
        let again = two.env.run(&["index", "a", "--store", &store, "-q"]);
        assert_eq!(again.code, Some(0), "{again:?}");
        assert_eq!(dump(&two.env, &store), two.dumps[0]);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_changes_nothing_and_ends_at_once() {
    let two = Two::new();
    let first = two.env.run(&["index", "a", "--store", "store", "-q"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let mut child = start(&two.env, &["index", "b", "--store", "store", "--threads", "1", "-q"]);
    std::thread::sleep(Duration::from_millis(15));
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let ended = child.wait().unwrap();
    // It may have ended before the signal came.
    assert!(sent.success() || ended.success());
    let found = dump(&two.env, "store");
    assert_eq!(ended.success(), found == two.dumps[1], "{ended:?}");
    assert!(two.dumps.contains(&found));
}

/// Readers and a writer, each a process, for a time. Every answer must be that of one of the two states.
fn read_beside_a_writer(n_readers: usize, duration: Duration) {
    let two = Two::new();
    let env = &two.env;
    let first = env.run(&["index", "a", "--store", "store", "-q"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let allowed: BTreeSet<String> =
        two.answers("store-a").union(&two.answers("store-b")).cloned().collect();
    // A process that answers many questions sees several generations.
    let many: Vec<String> = (0..40)
        .map(|n| format!("{{\"_id\": \"{}\", \"text\": \"{}\"}}\n", n % 4, QUESTIONS[n % 4]))
        .collect();
    env.write("many.jsonl", many.concat());
    let batch = |store: &str| {
        let args = ["recall", "--store", store, "--queries", "many.jsonl", "--format", "jsonl"];
        env.run(&args)
    };
    let lines: BTreeSet<String> = ["store-a", "store-b"]
        .iter()
        .flat_map(|store| batch(store).stdout.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let begun = SystemClock.now();
    let is_over = || SystemClock.now().saturating_sub(begun) > duration;
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut n = 0_usize;
            while !is_over() || n < 4 {
                let more: &[&str] = if n % 5 == 4 { &["--full"] } else { &[] };
                let args = [&["index", ["b", "a"][n % 2], "--store", "store", "-q"], more].concat();
                let outcome = env.run(&args);
                assert_eq!(outcome.code, Some(0), "{outcome:?}");
                n += 1;
            }
            n
        });
        let (allowed, lines, batch, is_over) = (&allowed, &lines, &batch, &is_over);
        let readers: Vec<_> = (0..n_readers)
            .map(|reader| {
                scope.spawn(move || {
                    let mut n = 0_usize;
                    while !is_over() || n < 4 {
                        if (n + reader).is_multiple_of(4) {
                            let outcome = batch("store");
                            assert_eq!(outcome.code, Some(0), "{outcome:?}");
                            assert_eq!(outcome.stdout.lines().count(), 40);
                            for line in outcome.stdout.lines() {
                                assert!(lines.contains(line), "a torn answer: {line}");
                            }
                            n += 40;
                        } else {
                            let outcome = ask(env, "store", QUESTIONS[n % 4]);
                            assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
                            assert!(
                                allowed.contains(&outcome.stdout),
                                "a torn answer: {outcome:?}"
                            );
                            n += 1;
                        }
                    }
                    n
                })
            })
            .collect();
        let n_answers: usize = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
        let n_commits = writer.join().unwrap();
        println!("{n_readers} readers, {n_answers} answers beside {n_commits} commits");
    });
    let verified = env.run(&["verify", "--store", "store"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn readers_beside_a_writer_get_whole_answers() {
    read_beside_a_writer(3, Duration::from_millis(1_500));
}

#[test]
#[ignore = "a minute; tests/README.md has the command"]
fn eight_readers_beside_a_writer_get_whole_answers_for_a_minute() {
    read_beside_a_writer(8, Duration::from_mins(1));
}

/// Writers that all want the store at once, each sweeping what the others left.
fn write_at_once(n_rounds: usize) {
    let two = Two::new();
    let env = &two.env;
    for round in 0..n_rounds {
        let more: &[&str] = [&[][..], &["--full"], &["--hash"]][round % 3];
        let start = |tree: &str, more: &[&str]| {
            start(env, &[&["index", tree, "--store", "store", "-q"], more].concat())
        };
        let children = [start("a", &[]), start("b", more), start("a", more)];
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        assert!(two.dumps.contains(&dump(env, "store")), "round {round}: a third state");
        let verified = env.run(&["verify", "--store", "store"]);
        assert_eq!(verified.code, Some(0), "round {round}: {verified:?}");
        let doctor = env.run(&["doctor", "--store", "store"]);
        assert_eq!(doctor.code, Some(0), "round {round}: {doctor:?}");
    }
}

#[test]
fn writers_wait_for_each_other() {
    write_at_once(3);
}

#[test]
#[ignore = "minutes; tests/README.md has the command"]
fn a_hundred_rounds_of_writers_wait_for_each_other() {
    write_at_once(100);
}

#[test]
fn a_writer_waits_for_as_long_as_it_is_told_and_says_for_whom() {
    let env = Env::new();
    assert_eq!(env.run(&["index", "tree", "-q"]).code, Some(0));
    let store = Store::open(&env.path("tree/.psos"), Duration::ZERO).unwrap();
    let batch = store.begin(Duration::ZERO).unwrap();
    let late = env.run(&["index", "tree", "--full", "--wait", "0"]);
    assert_eq!(late.code, Some(4), "{late:?}");
    assert!(late.stderr.contains("another process is writing to the store"), "{late:?}");
    assert!(late.stderr.contains("--wait"), "{late:?}");
    // Readers are not concerned.
    let recall = ask(&env, "tree/.psos", "take back a commit");
    assert_eq!(recall.code, Some(0), "{recall:?}");
    drop(batch);
    assert_eq!(env.run(&["index", "tree", "--full", "--wait", "0"]).code, Some(0));
}

#[cfg(unix)]
#[test]
fn a_store_that_may_not_be_written_answers_and_says_why_it_cannot_be_indexed() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = Env::new();
    assert_eq!(env.run(&["index", "tree", "-q"]).code, Some(0));
    let want = ask(&env, "tree/.psos", "take back a commit");
    let chmod = |mode: u32| {
        for path in ["tree/.psos/store.redb", "tree/.psos/segments", "tree/.psos"] {
            let bits = if path.ends_with("redb") { mode & 0o666 } else { mode };
            fs::set_permissions(env.path(path), fs::Permissions::from_mode(bits)).unwrap();
        }
    };
    chmod(0o555);
    let may_write = fs::write(env.path("tree/.psos/probe"), "").is_ok();
    let found = ask(&env, "tree/.psos", "take back a commit");
    assert_eq!(found, want);
    for args in [&["status", "--store", "tree/.psos"][..], &["verify", "--store", "tree/.psos"]] {
        let outcome = env.run(args);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    }
    let index = env.run(&["index", "tree", "--full"]);
    let refreshed = env.run(&["recall", "--tree", "tree", "take back a commit"]);
    assert_eq!(refreshed.code, Some(0), "{refreshed:?}");
    chmod(0o755);
    // The superuser may write everywhere.
    if may_write {
        fs::remove_file(env.path("tree/.psos/probe")).unwrap();
    } else {
        assert_eq!(index.code, Some(4), "{index:?}");
        assert!(index.stderr.contains("store.redb"), "{index:?}");
    }
    assert_eq!(ask(&env, "tree/.psos", "take back a commit"), want);
}

/// A folder mounted a second time, for reading only; unmounted at the end.
#[cfg(target_os = "linux")]
struct Mounted(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl Mounted {
    /// Nothing where mounting is not allowed.
    fn new(folder: &Path, place: &Path) -> Option<Self> {
        let mount = |args: &[&std::ffi::OsStr]| {
            let done = Command::new("mount").args(args).stderr(Stdio::null()).status();
            done.is_ok_and(|status| status.success())
        };
        fs::create_dir(place).unwrap();
        let place = place.as_os_str();
        mount(&["--bind".as_ref(), folder.as_os_str(), place]).then_some(())?;
        let mounted = Self(place.into());
        mount(&["-o".as_ref(), "remount,ro,bind".as_ref(), place]).then_some(mounted)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Mounted {
    fn drop(&mut self) {
        let _left_behind = Command::new("umount").arg(&self.0).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_store_on_a_read_only_file_system_answers() {
    let env = Env::new();
    assert_eq!(env.run(&["index", "tree", "-q"]).code, Some(0));
    let want = ask(&env, "tree/.psos", "take back a commit");
    let Some(_mounted) = Mounted::new(&env.path("tree"), &env.path("mounted")) else {
        println!("not tried: nothing may be mounted here");
        return;
    };
    assert_eq!(ask(&env, "mounted/.psos", "take back a commit"), want);
    for command in ["status", "verify", "doctor", "ls"] {
        let outcome = env.run(&[command, "--store", "mounted/.psos"]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    }
    let refreshed = env.run(&["recall", "--tree", "mounted", "take back a commit"]);
    assert_eq!(refreshed.code, Some(0), "{refreshed:?}");
    assert!(refreshed.stderr.contains("mounted/.psos may not be written"), "{refreshed:?}");
    let index = env.run(&["index", "mounted"]);
    assert_eq!(index.code, Some(4), "{index:?}");
    assert!(index.stderr.contains("Read-only file system"), "{index:?}");
}

/// A limit on the size of files stands for a full disk: the same request fails, in every layer below psos.
#[cfg(unix)]
#[test]
fn a_process_that_runs_out_of_room_says_so_and_the_store_is_as_it_was() {
    let two = Two::new();
    let env = &two.env;
    assert_eq!(env.run(&["index", "a", "--store", "store", "-q"]).code, Some(0));
    // Enough of it to need more room than there is.
    for n in 0..40 {
        let words: Vec<String> = (0..400).map(|w| format!("word{n}x{w}")).collect();
        env.write(&format!("b/big{n}.md"), format!("# Big {n}\n\n{}\n", words.join(" ")));
    }
    let size = fs::metadata(env.path("store/store.redb")).unwrap().len();
    let psos = env!("CARGO_BIN_EXE_psos");
    // In blocks of 512 bytes, as POSIX has it; bash counts 1024.
    let script = format!(
        "trap '' XFSZ; ulimit -f {}; exec {psos} index b --store store -q",
        size / 1_024 + 8
    );
    let output = Command::new("bash").args(["-c", &script]).current_dir(env.path(".")).output();
    let Ok(output) = output else { return };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    assert!(stderr.contains("File too large"), "{stderr}");
    assert_eq!(dump(env, "store"), two.dumps[0]);
    assert_eq!(env.run(&["verify", "--store", "store"]).code, Some(0));
    assert_eq!(env.run(&["index", "a", "--store", "store", "-q"]).code, Some(0));
    assert_eq!(dump(env, "store"), two.dumps[0]);
}

/// A store whose folder goes away while a process reads it.
#[test]
fn a_store_that_is_removed_is_not_found_and_never_made_by_reading() {
    let env = Env::new();
    assert_eq!(env.run(&["index", "tree", "-q"]).code, Some(0));
    fs::remove_dir_all(env.path("tree/.psos")).unwrap();
    for args in
        [["recall", "--store", "tree/.psos", "valve"], ["doctor", "--store", "tree/.psos", "--fix"]]
    {
        let outcome = env.run(&args);
        assert_eq!(outcome.code, Some(4), "{outcome:?}");
    }
    assert!(!Path::new(&env.path("tree/.psos")).exists());
}
