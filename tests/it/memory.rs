//! How much memory does a file take that is longer than memory should be?

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::process::Stdio;
use std::time::Duration;

use crate::harness::{Env, Words};

/// Bytes of a file.
const FILE_BYTES: usize = 600_000_000;
/// Bytes that may be resident at the highest.
const MOST_RESIDENT: u64 = 300_000_000;

/// The line of a file with this ending.
fn line(words: &mut Words, ending: &str, n: usize) -> String {
    let title = words.text(4);
    let n_words = 20 + words.number(100);
    match ending {
        "jsonl" => {
            let text = words.text(n_words);
            format!("{{\"_id\": \"d{n}\", \"title\": \"{title}\", \"text\": \"{text}\"}}\n")
        }
        "csv" => format!("r{n},\"{title}\",\"{}\"\n", words.text(n_words)),
        _ => {
            let level = if n.is_multiple_of(5) { "ERROR" } else { "INFO" };
            let (hour, minute, second) = (n % 24, n % 60, n * 7 % 60);
            let text = words.text(18);
            format!("2026-01-01 {hour:02}:{minute:02}:{second:02} {level} {title}: {text}\n")
        }
    }
}

#[test]
#[ignore = "takes an hour and 3 GB of disk; its figures are in tests/README.md"]
fn six_hundred_megabytes_in_one_file_take_three_hundred_of_memory() {
    let mut words = Words::of_the_guide();
    for ending in ["jsonl", "csv", "log"] {
        let env = Env::empty();
        env.write("tree/.keep", "");
        let mut file = BufWriter::new(File::create(env.path(&format!("tree/a.{ending}"))).unwrap());
        let mut n_bytes = 0;
        if ending == "csv" {
            file.write_all(b"id,title,text\n").unwrap();
        }
        for n in 1.. {
            let line = line(&mut words, ending, n);
            file.write_all(line.as_bytes()).unwrap();
            n_bytes += line.len();
            if n_bytes >= FILE_BYTES {
                break;
            }
        }
        file.into_inner().unwrap();
        let mut child =
            env.command(&["index", "tree", "-q"]).stdout(Stdio::null()).spawn().unwrap();
        let mut most = 0;
        let status = loop {
            most = most.max(resident(child.id()).unwrap_or(0));
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            std::thread::sleep(Duration::from_millis(200));
        };
        assert!(status.success(), "{ending}: {status}");
        println!("{ending}: {} MB resident at the highest", most / 1_000_000);
        assert!(most > 0 && most <= MOST_RESIDENT, "{ending}: {most} bytes");
    }
}

/// The most bytes of a process that were resident at once until now; none when it has ended.
fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let n_kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(n_kib * 1024)
}
