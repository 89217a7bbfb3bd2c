//! What runners, recordings and trackers say, and when it counts. The matrix of claims is in
//! `scenario::claims`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::{
    About, Claim, Counts, DeliverableError, Fact, Judgement, Kind, Lack, Mismatch, Need, Place,
    Recording, RecordingFault, Repeat, Runner, RunnerFault, Said, TicketFault, TicketFormat,
    inspect, judge, look, perform, recording, tickets,
};
use crate::clock::FixedClock;
use crate::pipeline::process::Environment;

#[expect(clippy::unnecessary_wraps, reason = "compared with what may fail")]
fn counts(passed: u64, failed: u64, skipped: u64) -> Result<Counts, RunnerFault> {
    Ok(Counts { passed, failed, skipped })
}

#[test]
fn the_words_of_runners_are_read() {
    let no = || Err(RunnerFault::NoCounts);
    let disagrees = |announced, reported| Err(RunnerFault::Disagrees { announced, reported });
    for (runner, text, want) in [
        (
            Runner::Cargo,
            "running 3 tests\ntest a ... ok\n\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nrunning 1 test\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.1s\n",
            counts(2, 1, 1),
        ),
        (
            Runner::Cargo,
            "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
            counts(0, 0, 0),
        ),
        // A test that prints a result of its own.
        (
            Runner::Cargo,
            "running 1 test\ntest result: ok. 100 passed; 0 failed; 0 ignored; 0 measured\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n",
            disagrees(1, 100),
        ),
        (Runner::Cargo, "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured\n", no()),
        (Runner::Cargo, "error[E0425]: cannot find value `x`\n", no()),
        (
            Runner::Cargo,
            "     Summary [   0.012s] 5 tests run: 4 passed, 1 failed, 2 skipped\n",
            counts(4, 1, 2),
        ),
        (
            Runner::Cargo,
            "     Summary [   0.012s] 5 tests run: 5 passed, 1 failed, 2 skipped\n",
            disagrees(5, 6),
        ),
        (
            Runner::Pytest,
            "..F\n=== short test summary info ===\nFAILED a.py::b\n=== 1 failed, 2 passed, 1 skipped, 1 warning in 0.12s ===\n",
            counts(2, 1, 1),
        ),
        (Runner::Pytest, "...\n3 passed in 0.01s\n", counts(3, 0, 0)),
        (
            Runner::Pytest,
            "\u{1b}[32m==== \u{1b}[32m\u{1b}[1m3 passed\u{1b}[0m\u{1b}[32m in 61.01s (0:01:01)\u{1b}[0m\u{1b}[32m ====\u{1b}[0m\n",
            counts(3, 0, 0),
        ),
        (Runner::Pytest, "=== 2 errors in 0.50s ===\n", counts(0, 2, 0)),
        (Runner::Pytest, "=== no tests ran in 0.01s ===\n", counts(0, 0, 0)),
        (Runner::Pytest, "3 tests collected\n", no()),
        (
            Runner::Jest,
            "Test Suites: 1 passed, 1 total\nTests:       1 failed, 1 skipped, 2 passed, 4 total\nTime: 1 s\n",
            counts(2, 1, 1),
        ),
        (Runner::Jest, "Tests:       2 passed, 5 total\n", disagrees(5, 2)),
        (Runner::Jest, "all good\n", no()),
        (
            Runner::Vitest,
            " Test Files  1 passed (1)\n      Tests  1 failed | 3 passed | 1 skipped (5)\n",
            counts(3, 1, 1),
        ),
        (Runner::Vitest, "      Tests  no tests\n", no()),
        (
            Runner::Go,
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/sub (0.00s)\n--- FAIL: TestB (0.00s)\n--- SKIP: TestC (0.00s)\nFAIL\n",
            counts(1, 1, 1),
        ),
        (
            Runner::Go,
            "{\"Action\":\"run\",\"Test\":\"TestA\"}\n{\"Action\":\"pass\",\"Test\":\"TestA\"}\n{\"Action\":\"pass\",\"Test\":\"TestA/x\"}\n{\"Action\":\"pass\",\"Package\":\"p\"}\n",
            counts(1, 0, 0),
        ),
        (Runner::Go, "ok  \texample.com/p\t0.002s\n", no()),
        (
            Runner::Tap,
            "TAP version 13\n1..4\nok 1 - a\nnot ok 2 - b\nok 3 # SKIP no net\nnot ok 4 - d # TODO later\n",
            counts(1, 1, 2),
        ),
        (Runner::Tap, "ok 1\nok 2\n1..3\n", disagrees(3, 2)),
        (Runner::Tap, "ok 1\n", no()),
        (
            Runner::Tap,
            "1..2\nok 1\nBail out! no database\n",
            Err(RunnerFault::GaveUp("no database".to_owned())),
        ),
        (
            Runner::JunitXml,
            "<?xml version=\"1.0\"?><!-- <testcase/> --><testsuites><testsuite name=\"a>b\" tests=\"4\"><testsuite tests='1'><testcase name=\"in\"/></testsuite><testcase name=\"x\"><failure message=\"m\">&lt;<![CDATA[<testcase/>]]></failure></testcase><testcase name=\"y\"><skipped/></testcase><testcase name=\"z\"><error/></testcase></testsuite></testsuites>",
            counts(1, 2, 1),
        ),
        (Runner::JunitXml, "<testsuite tests=\"9\"><testcase/></testsuite>", disagrees(9, 1)),
        (Runner::JunitXml, "<testsuite><testcase/>", no()),
        (Runner::JunitXml, "<testsuite><testcase", no()),
        (Runner::JunitXml, "<html></html>", no()),
        (Runner::JunitXml, "", no()),
    ] {
        assert_eq!(runner.counts(text), want, "{runner:?}: {text}");
    }
}

fn mp4(media: &[u8]) -> Vec<u8> {
    let mut file = b"\0\0\0\x10ftypisom\0\0\0\0".to_vec();
    file.extend(u32::try_from(media.len() + 8).unwrap().to_be_bytes());
    file.extend(b"mdat");
    file.extend(media);
    file
}

#[test]
fn recordings_are_told_by_their_content() {
    let webm = |rest: &[u8]| [b"\x1a\x45\xdf\xa3\x87\x42\x82\x84webm", rest].concat();
    let gif = |rest: &[u8]| [b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff", rest].concat();
    let image = b"\x21\xf9\x04\0\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
    let cast2 = "{\"version\": 2, \"width\": 80, \"height\": 24}\n";
    let cast3 = "{\"version\": 3, \"term\": {\"cols\": 80, \"rows\": 24}}\n# a comment\n";
    let with = |header: &str, events: &str| format!("{header}{events}").into_bytes();
    let unknown = Err(RecordingFault::UnknownFormat);
    let hollow = Err(RecordingFault::NothingRecorded);
    for (bytes, want) in [
        (mp4(b"frames"), Ok(Recording::Mp4)),
        (mp4(b""), hollow.clone()),
        (mp4(b"frames")[..20].to_vec(), hollow.clone()),
        (mp4(b"frames")[..24].to_vec(), hollow.clone()),
        (b"\0\0\0\x10ftyp".to_vec(), hollow.clone()),
        (webm(b"\x1f\x43\xb6\x75\x84data"), Ok(Recording::Webm)),
        (webm(b"\x1f\x43\xb6\x75"), hollow.clone()),
        (webm(b""), hollow.clone()),
        (b"\x1a\x45\xdf\xa3matroska".to_vec(), unknown.clone()),
        (gif(image), Ok(Recording::Gif)),
        (gif(b";"), hollow.clone()),
        (gif(b"\x21\xf9\x04"), hollow.clone()),
        (b"GIF89a".to_vec(), hollow.clone()),
        (with(cast2, "[0.1, \"o\", \"$ ls\"]\n"), Ok(Recording::AsciicastV2)),
        (with(cast3, "[0.1, \"o\", \"$ ls\"]\n"), Ok(Recording::AsciicastV3)),
        (with(cast2, "[0.1, \"o\", \" \\r\\n\"]\n[0.2, \"i\", \"ls\"]\n"), hollow.clone()),
        (with(cast2, ""), hollow),
        (with(cast2, "oops\n"), Err(RecordingFault::BadEvent { line: 2 })),
        (with(cast2, "[-1.0, \"o\", \"x\"]\n"), Err(RecordingFault::BadEvent { line: 2 })),
        (with("{\"version\": 2, \"width\": 0, \"height\": 24}\n", ""), unknown.clone()),
        (with("{\"version\": 1}\n", ""), unknown.clone()),
        (b"a film about nothing".to_vec(), unknown.clone()),
        (b"\x89PNG\r\n\x1a\n".to_vec(), unknown),
        (b" \n".to_vec(), Err(RecordingFault::Empty)),
        (Vec::new(), Err(RecordingFault::Empty)),
    ] {
        assert_eq!(recording(&bytes), want, "{:?}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn trackers_are_read_in_four_formats() {
    let read = |text: &str, format| tickets(text.as_bytes(), format);
    for (text, format) in [
        (
            "---\nid: T-1\nlabels: [a, b]\nseverity: high\n---\n\nIt breaks.\n",
            TicketFormat::Markdown,
        ),
        (
            "---\r\nid: T-1\r\nlabels: [a, b]\r\nseverity: high\r\n---\r\nIt breaks.",
            TicketFormat::Markdown,
        ),
        (
            "[{\"id\":\"T-1\",\"labels\":[\"a\",\"b\"],\"severity\":\"high\",\"body\":\"It breaks.\"}]",
            TicketFormat::Json,
        ),
        (
            "{\"issues\":[{\"id\":\"T-1\",\"labels\":[\"a\",\"b\"],\"severity\":\"high\",\"body\":\"It breaks.\"}]}",
            TicketFormat::Json,
        ),
        (
            "\n{\"id\":\"T-1\",\"labels\":[\"a\",\"b\"],\"severity\":\"high\",\"body\":\"It breaks.\"}\n",
            TicketFormat::Jsonl,
        ),
        (
            "id,labels,severity,body\r\nT-1,\"[\"\"a\"\",\"\"b\"\"]\",high,It breaks.\r\n",
            TicketFormat::Csv,
        ),
    ] {
        let found = read(text, format).unwrap();
        let ticket = &found["T-1"];
        assert_eq!(ticket["labels"], "[\"a\",\"b\"]", "{text}");
        assert_eq!((ticket["severity"].as_str(), ticket["body"].as_str()), ("high", "It breaks."));
    }
    assert!(read(" \n", TicketFormat::Json).unwrap().is_empty());
    for (text, format) in [
        ("no front matter", TicketFormat::Markdown),
        ("---\nid: 1\n", TicketFormat::Markdown),
        ("---\n: : :\n- x\n---\n", TicketFormat::Markdown),
        ("3", TicketFormat::Json),
        ("[1]", TicketFormat::Json),
        ("{", TicketFormat::Jsonl),
        ("id,title\n1\n", TicketFormat::Csv),
        ("id,title\n1,\"open\n", TicketFormat::Csv),
    ] {
        assert!(matches!(read(text, format), Err(TicketFault::Form(_))), "{text}");
    }
    let no_id = read("{\"title\":\"x\"}\n", TicketFormat::Jsonl);
    assert_eq!(no_id, Err(TicketFault::NoId { number: 1 }));
    let twice = read("{\"id\":1}\n{\"id\":\"1\"}\n", TicketFormat::Jsonl);
    assert_eq!(twice, Err(TicketFault::TwoWithOneId("1".to_owned())));
}

/// A tree, and a place to make calls in.
struct Bench {
    folder: tempfile::TempDir,
    environment: Environment,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tree")).unwrap();
        let environment = [("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())].into();
        Self { folder, environment }
    }

    fn tree(&self) -> &Path {
        // Joined anew each time, so that it need not be kept beside its owner.
        self.folder.path()
    }

    /// Does something in the place.
    fn at<T>(&self, work: impl FnOnce(&Place<'_>) -> T) -> T {
        work(&Place {
            tree: &self.tree().join("tree"),
            scratch: self.tree(),
            environment: &self.environment,
            timeout: Duration::from_secs(4),
            max_output_bytes: 2_000,
            clock: &FixedClock(Duration::from_secs(3)),
        })
    }

    fn perform(&self, need: &Need) -> Result<Fact, DeliverableError> {
        self.at(|place| perform(need, &look(need, place)?, place))
    }
}

fn need(line: &str, kind: Kind) -> Need {
    let call = ["sh", "-c", line].map(str::to_owned).to_vec();
    Need { name: "it".to_owned(), call, kind, repeat: Repeat::Never }
}

fn tap(line: &str) -> Need {
    need(line, Kind::TestRun { runner: Runner::Tap, report: None })
}

/// A claim that it is delivered, and more.
fn claim(says: &[(About, &str)]) -> Claim {
    let said = |(about, is): &(About, &str)| Said { about: about.clone(), is: (*is).to_owned() };
    Claim { delivered: true, claims: says.iter().map(said).collect() }
}

fn mismatch(about: About, claimed: &str, seen: &str) -> Mismatch {
    Mismatch { about, claimed: claimed.to_owned(), seen: seen.to_owned() }
}

/// What a test run comes to that is claimed to have passed twice.
fn judge_run(line: &str) -> Judgement {
    let need = tap(line);
    let fact = Bench::new().perform(&need).unwrap();
    let claim = claim(&[(About::Passed, "2"), (About::Failed, "0")]);
    judge(&need, Some(&fact), Some(&claim))
}

fn missing(lack: Lack) -> Judgement {
    Judgement::Missing { lack, claimed: true }
}

#[cfg(unix)]
#[test]
fn a_test_run_counts_when_it_ran_ended_and_agrees() {
    let delivered = Judgement::Delivered { claimed: true };
    assert_eq!(judge_run("printf '1..2\\nok 1\\nok 2\\n'"), delivered);
    assert_eq!(judge_run("printf '1..2\\nok 1\\nok 2\\n' >&2"), delivered);
    let one_failed = Counts { passed: 1, failed: 1, skipped: 0 };
    assert_eq!(
        judge_run("printf '1..2\\nok 1\\nnot ok 2\\n'; exit 1"),
        Judgement::Contradicted {
            mismatches: vec![mismatch(About::Passed, "2", "1"), mismatch(About::Failed, "0", "1")]
        }
    );
    assert_eq!(
        judge_run("printf '1..2\\nok 1\\nnot ok 2\\n'"),
        missing(Lack::ExitDisagrees { exit: 0, counts: one_failed })
    );
    let both = Counts { passed: 2, failed: 0, skipped: 0 };
    assert_eq!(
        judge_run("printf '1..2\\nok 1\\nok 2\\n'; exit 101"),
        missing(Lack::ExitDisagrees { exit: 101, counts: both })
    );
    assert_eq!(judge_run("printf '1..1\\nok 1 # SKIP\\n'"), missing(Lack::NoTests));
    let no_counts = missing(Lack::Tests { fault: RunnerFault::NoCounts });
    assert_eq!(judge_run("echo 2 tests passed"), no_counts);
    // More output than is kept: the counts may be of a part only.
    assert_eq!(judge_run("printf '1..2\\nok 1\\nok 2\\n'; head -c 3000 /dev/zero"), no_counts);
    let end = "ended: the time was up".to_owned();
    assert_eq!(
        judge_run("printf '1..2\\nok 1\\nok 2\\n'; sleep 60"),
        missing(Lack::NotEnded { end })
    );
    let end = "signal 9".to_owned();
    assert_eq!(
        judge_run("printf '1..2\\nok 1\\nok 2\\n'; kill -9 $$"),
        missing(Lack::NotEnded { end })
    );
}

#[cfg(unix)]
#[test]
fn a_fact_of_another_call_or_of_a_dry_run_is_no_proof() {
    let bench = Bench::new();
    let wanted = tap("printf '1..1\\nok 1\\n'");
    let fact = bench.perform(&wanted).unwrap();
    assert_eq!((fact.started_ms, fact.exit), (3_000, Some(0)));
    assert_eq!(judge(&wanted, Some(&fact), None), Judgement::Delivered { claimed: false });
    let other_need = Need { name: "other".to_owned(), ..wanted.clone() };
    let other_call = tap("printf '1..1\\nok 1\\n' ");
    let other_kind = Need { kind: Kind::Recording { file: "x".to_owned() }, ..wanted.clone() };
    for need in [other_need, other_call, other_kind] {
        let judgement = judge(&need, Some(&fact), None);
        let lacks =
            matches!(judgement, Judgement::Missing { lack: Lack::OtherCall | Lack::NoFile, .. });
        assert!(lacks, "{judgement:?}");
    }
    assert_eq!(
        judge(&wanted, None, None),
        Judgement::Missing { lack: Lack::NoCall, claimed: false }
    );
    let mut dry = wanted.clone();
    dry.call.extend(["sh".to_owned(), "--collect-only".to_owned()]);
    let fact = bench.perform(&dry).unwrap();
    let lack = Lack::DryRun { argument: "--collect-only".to_owned() };
    assert_eq!(judge(&dry, Some(&fact), None), Judgement::Missing { lack, claimed: false });
}

#[cfg(unix)]
#[test]
fn a_named_ticket_must_be_changed_and_whole() {
    let bench = Bench::new();
    let path = bench.tree().join("tree/t.csv");
    fs::write(&path, "id,title,owner\n1,Crash,TBD\n2,Leak,ann\n").unwrap();
    let ticket = |line: &str, id: Option<&str>| {
        need(
            line,
            Kind::Ticket {
                tracker: "t.csv".to_owned(),
                format: TicketFormat::Csv,
                id: id.map(str::to_owned),
                fields: vec!["title".to_owned(), "owner".to_owned()],
            },
        )
    };
    let write = |rows: &str| format!("printf 'id,title,owner\\n{rows}' > t.csv");
    let claim = |ticket: &str| Some(claim(&[(About::Ticket, ticket)]));
    let check = |rows: &str, id, claimed: Option<Claim>| {
        let need = ticket(&write(rows), id);
        judge(&need, Some(&bench.perform(&need).unwrap()), claimed.as_ref())
    };
    // Another one was changed.
    let unchanged = Lack::TicketUnchanged;
    assert_eq!(
        check("1,Crash,TBD\\n2,Leak,bob\\n", Some("1"), claim("1")),
        missing(unchanged.clone())
    );
    let fields = Lack::Fields { missing: vec!["owner".to_owned()] };
    assert_eq!(check("1,Crash!,todo\\n2,Leak,bob\\n", Some("1"), claim("1")), missing(fields));
    let delivered = Judgement::Delivered { claimed: true };
    assert_eq!(check("1,Crash!,eve\\n2,Leak,bob\\n", Some("1"), claim("1")), delivered);
    // A new one, of which another number is claimed.
    assert_eq!(
        check("1,Crash!,eve\\n2,Leak,bob\\n3,Hang,kim\\n", None, claim("4")),
        Judgement::Contradicted { mismatches: vec![mismatch(About::Ticket, "4", "3")] }
    );
    let judgement = check("1,Crash,eve\\n1,Crash,bob\\n", None, None);
    let twice = TicketFault::TwoWithOneId("1".to_owned());
    assert_eq!(
        judgement,
        Judgement::Missing { lack: Lack::Tracker { fault: twice }, claimed: false }
    );
}

#[cfg(unix)]
#[test]
fn what_is_said_of_a_field_is_held_against_the_ticket_that_is_named() {
    let bench = Bench::new();
    let kind = Kind::Ticket {
        tracker: "t.csv".to_owned(),
        format: TicketFormat::Csv,
        id: None,
        fields: vec!["title".to_owned()],
    };
    let need = need("printf 'id,title\\n1,Crash\\n2,Leak\\n' > t.csv", kind);
    let fact = bench.perform(&need).unwrap();
    let title = || About::Field("title".to_owned());
    for (says, seen) in [
        (vec![(title(), "Crash")], None),
        (vec![(title(), "Leak")], None),
        (vec![(title(), "Hang")], Some("Crash, Leak")),
        (vec![(About::Ticket, "1"), (title(), " Crash ")], None),
        (vec![(About::Ticket, "1"), (title(), "Leak")], Some("Crash")),
        (vec![(About::Field("owner".to_owned()), "ann")], Some("nothing")),
        (vec![(About::Passed, "1")], Some("nothing")),
    ] {
        let judgement = judge(&need, Some(&fact), Some(&claim(&says)));
        let (about, is) = says.last().unwrap();
        let wanted = match seen {
            None => Judgement::Delivered { claimed: true },
            Some(seen) => {
                Judgement::Contradicted { mismatches: vec![mismatch(about.clone(), is, seen)] }
            }
        };
        assert_eq!(judgement, wanted, "{says:?}");
    }
}

#[test]
fn what_can_be_claimed_has_one_name() {
    let every = [
        About::Delivered,
        About::Exit,
        About::Ran,
        About::Passed,
        About::Failed,
        About::Skipped,
        About::File,
        About::Ticket,
        About::Field("steps to take".to_owned()),
    ];
    for about in every {
        assert_eq!(About::try_from(about.to_string()).as_ref(), Ok(&about));
    }
    About::try_from("answered".to_owned()).unwrap_err();
}

#[cfg(unix)]
#[test]
fn what_a_call_left_whose_end_nobody_saw_is_told_and_is_no_deliverable() {
    let bench = Bench::new();
    let cast = "{\"version\": 2, \"width\": 80, \"height\": 24}\n[0.5, \"o\", \"x\"]\n";
    let need = need("true", Kind::Recording { file: "a.cast".to_owned() });
    let before = bench.at(|place| look(&need, place)).unwrap();
    fs::write(bench.tree().join("tree/a.cast"), cast).unwrap();
    let fact = bench.at(|place| inspect(&need, &before, Duration::ZERO, place)).unwrap();
    assert!(fact.is_fresh() && fact.exit.is_none(), "{fact:?}");
    let end = "nobody saw how it ended".to_owned();
    assert_eq!(
        judge(&need, Some(&fact), Some(&claim(&[]))),
        Judgement::Missing { lack: Lack::NotEnded { end }, claimed: true }
    );
    // Made again, it is held against what there was at first: that nothing changed since proves nothing.
    let fact = bench.at(|place| perform(&need, &before, place)).unwrap();
    assert_eq!(judge(&need, Some(&fact), None), Judgement::Delivered { claimed: false });
    let before = bench.at(|place| look(&need, place)).unwrap();
    let fact = bench.at(|place| perform(&need, &before, place)).unwrap();
    let stale = Judgement::Missing { lack: Lack::Stale, claimed: false };
    assert_eq!(judge(&need, Some(&fact), None), stale);
}

#[cfg(unix)]
#[test]
fn a_file_outside_and_a_link_are_not_looked_at() {
    let bench = Bench::new();
    let cast = "{\"version\": 2, \"width\": 80, \"height\": 24}\n[0.5, \"o\", \"x\"]\n";
    fs::write(bench.tree().join("out.cast"), cast).unwrap();
    for file in ["../out.cast", "/etc/passwd", "", "."] {
        let kind = Kind::Recording { file: file.to_owned() };
        let error = bench.perform(&need("true", kind)).unwrap_err();
        assert!(matches!(error, DeliverableError::Outside { .. }), "{file}: {error}");
    }
    let kind = Kind::Recording { file: "link.cast".to_owned() };
    let need = need("ln -s ../out.cast link.cast", kind);
    let fact = bench.perform(&need).unwrap();
    assert_eq!(
        judge(&need, Some(&fact), None),
        Judgement::Missing { lack: Lack::NoFile, claimed: false }
    );
}

#[test]
fn a_need_is_read_from_a_task_and_unknown_keys_are_refused() {
    let text =
        "name = \"tests\"\ncall = [\"cargo\", \"test\"]\n[kind.test_run]\nrunner = \"cargo\"\n";
    let need: Need = toml::from_str(text).unwrap();
    assert_eq!(need.kind, Kind::TestRun { runner: Runner::Cargo, report: None });
    assert!(toml::from_str::<Need>(&text.replace("runner", "runer")).is_err());
    assert!(toml::from_str::<Need>(&format!("colour = 1\n{text}")).is_err());
}

#[test]
fn a_fact_survives_a_ledger() {
    let need = tap("exit 0");
    let fact = Fact {
        need: need.name.clone(),
        argv: need.call.clone(),
        dry_run: None,
        exit: Some(0),
        end: "exit code 0".to_owned(),
        started_ms: 1,
        elapsed_ms: 2,
        output_blake3: "00".to_owned(),
        artefact: None,
        content: super::Content::Tests(Err(RunnerFault::GaveUp("x".to_owned()))),
    };
    let text = serde_json::to_string(&fact).unwrap();
    assert_eq!(serde_json::from_str::<Fact>(&text).unwrap(), fact);
}
