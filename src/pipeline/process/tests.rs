//! Commands that behave, hang, flood, hide children and close their input.

use std::path::Path;
use std::time::Duration;

use super::{Command, End, Environment, ProcessError, Ran, Stream, find_program, run};

/// Runs a line of shell with a path of its own.
fn shell(line: &str, timeout: Duration, max_output_bytes: usize, input: &[u8]) -> Ran {
    let argv = ["sh", "-c", line].map(str::to_owned);
    run(
        &Command {
            argv: &argv,
            folder: Path::new("."),
            environment: &environment(),
            input,
            timeout,
            max_output_bytes,
        },
        &mut |_, _| (),
    )
    .unwrap()
}

fn environment() -> Environment {
    [("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())].into()
}

const LONG: Duration = Duration::from_mins(1);

#[test]
fn output_exit_code_and_input_are_passed_on() {
    let ran = shell("cat; echo err >&2; exit 3", LONG, 1000, b"in\n");
    assert_eq!(ran.end, End::Code(3));
    assert_eq!((ran.out.text().as_str(), ran.err.text().as_str()), ("in\n", "err\n"));
    assert_eq!(shell("kill -TERM $$", LONG, 10, b"").end, End::Signal(15));
}

#[test]
fn a_command_that_hangs_is_ended_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let line = format!("(sleep 1; echo late > {}) & sleep 60", mark.display());
    let ran = shell(&line, Duration::from_millis(100), 10, b"");
    assert_eq!(ran.end, End::TimedOut);
    // A child in the background would write its mark after a second.
    let ran = shell("sleep 1.3", LONG, 10, b"");
    assert_eq!(ran.end, End::Code(0));
    assert!(!mark.exists());
}

#[test]
fn a_child_left_behind_ends_with_the_head_and_does_not_hold_us() {
    let ran = shell("sleep 60 & echo done", LONG, 100, b"");
    assert_eq!((ran.end, ran.out.text().as_str()), (End::Code(0), "done\n"));
}

#[test]
fn output_over_the_bound_is_counted_and_a_flood_is_ended() {
    let ran = shell("printf 1234567890", LONG, 4, b"");
    assert_eq!((ran.out.text().as_str(), ran.out.n_dropped), ("1234", 6));
    assert_eq!(shell("yes", LONG, 1000, b"").end, End::Flooded);
}

#[test]
fn input_that_nobody_reads_does_not_hold_us() {
    let ran = shell("exec <&-; echo closed", LONG, 100, &vec![b'x'; 1 << 20]);
    assert_eq!((ran.end, ran.out.text().as_str()), (End::Code(0), "closed\n"));
    let ran = shell("wc -c", LONG, 100, &vec![b'x'; 1 << 20]);
    assert_eq!(ran.out.text().trim(), "1048576");
}

#[test]
fn nothing_of_our_environment_is_seen() {
    let ran =
        shell("env | grep -v -e '^PWD=' -e '^_=' -e '^SHLVL=' -e '^OLDPWD='", LONG, 1000, b"");
    assert_eq!(ran.out.text(), "PATH=/usr/local/bin:/usr/bin:/bin\n");
}

#[test]
fn output_is_told_in_pieces_as_it_comes() {
    let argv = ["sh", "-c", "echo a; echo b >&2"].map(str::to_owned);
    let environment = environment();
    let command = Command {
        argv: &argv,
        folder: Path::new("."),
        environment: &environment,
        input: b"",
        timeout: LONG,
        max_output_bytes: 10,
    };
    let mut pieces = Vec::new();
    run(&command, &mut |stream, bytes| pieces.push((stream == Stream::Err, bytes.to_vec())))
        .unwrap();
    pieces.sort();
    assert_eq!(pieces, [(false, b"a\n".to_vec()), (true, b"b\n".to_vec())]);
}

#[test]
fn what_cannot_start_says_so() {
    let environment = environment();
    let command = |argv: &[String]| {
        run(
            &Command {
                argv,
                folder: Path::new("."),
                environment: &environment,
                input: b"",
                timeout: LONG,
                max_output_bytes: 10,
            },
            &mut |_, _| (),
        )
    };
    assert!(matches!(command(&[]), Err(ProcessError::Empty)));
    let missing = command(&["no-such-program-here".to_owned()]);
    assert!(matches!(missing, Err(ProcessError::Start { .. })), "{missing:?}");
    let with_nul = command(&["sh".to_owned(), "a\0b".to_owned()]);
    assert!(matches!(with_nul, Err(ProcessError::Start { .. })), "{with_nul:?}");
    assert!(find_program("sh", Path::new("."), &environment).is_some());
    assert!(find_program("no-such-program-here", Path::new("."), &environment).is_none());
}
