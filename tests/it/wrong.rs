//! Files of a store that are not what they should be: cut, overwritten, exchanged, missing.
//!
//! Whatever the file, psos refuses it with the way out, or answers as if nothing were wrong because what it
//! read was right. It never panics, and never puts an empty store in the place of a damaged one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::{Env, Outcome};

/// A way to spoil a file.
struct Kind {
    name: &'static str,
    spoil: fn(&Path, &[u8]),
}

const fn kind(name: &'static str, spoil: fn(&Path, &[u8])) -> Kind {
    Kind { name, spoil }
}

fn put(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
}

fn overwrite(path: &Path, bytes: &[u8], at: usize, with: &[u8]) {
    let mut bytes = bytes.to_vec();
    let end = (at + with.len()).min(bytes.len());
    if at < end {
        bytes[at..end].copy_from_slice(&with[..end - at]);
    }
    put(path, &bytes);
}

fn cut(path: &Path, bytes: &[u8], percent: usize) {
    put(path, &bytes[..bytes.len() * percent / 100]);
}

/// Ways to spoil any file.
const ANY: [Kind; 21] = [
    kind("empty", |path, _| put(path, b"")),
    kind("one byte", |path, bytes| put(path, &bytes[..1])),
    kind("cut to 9 bytes", |path, bytes| put(path, &bytes[..9.min(bytes.len())])),
    kind("cut to 10 %", |path, bytes| cut(path, bytes, 10)),
    kind("cut to a half", |path, bytes| cut(path, bytes, 50)),
    kind("cut to 99 %", |path, bytes| cut(path, bytes, 99)),
    kind("last byte gone", |path, bytes| put(path, &bytes[..bytes.len() - 1])),
    kind("nothing but zeros", |path, bytes| put(path, &vec![0; bytes.len()])),
    kind("nothing but ones", |path, bytes| put(path, &vec![0xff; bytes.len()])),
    kind("text", |path, _| put(path, b"this is a note, and no store at all\n")),
    kind("JSON", |path, _| put(path, b"{\"version\": 1}\n")),
    kind("another database", |path, _| put(path, b"SQLite format 3\0 and so on, for some pages")),
    kind("another archive", |path, _| put(path, b"PK\x03\x04 and so on, for some more bytes")),
    kind("first bytes zero", |path, bytes| overwrite(path, bytes, 0, &[0; 64])),
    kind("first page zero", |path, bytes| overwrite(path, bytes, 0, &[0; 4096])),
    kind("second page zero", |path, bytes| overwrite(path, bytes, 4096, &[0; 4096])),
    kind("a hole in the middle", |path, bytes| {
        overwrite(path, bytes, bytes.len() / 2, &[0; 4096]);
    }),
    kind("the end zero", |path, bytes| {
        overwrite(path, bytes, bytes.len().saturating_sub(512), &[0; 512]);
    }),
    kind("noise over all", |path, bytes| {
        let mut state = 7_u32;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        put(path, &bytes.iter().map(|_| noise()).collect::<Vec<_>>());
    }),
    kind("a bit every 97 bytes", |path, bytes| {
        put(
            path,
            &bytes.iter().enumerate().map(|(n, b)| b ^ u8::from(n % 97 == 5)).collect::<Vec<_>>(),
        );
    }),
    kind("twice", |path, bytes| put(path, &[bytes, bytes].concat())),
];

/// Ways to spoil what is at the place of a file.
const PLACE: [Kind; 4] = [
    kind("a folder", |path, _| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    }),
    kind("a link to nowhere", |path, _| {
        fs::remove_file(path).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("nowhere", path).unwrap();
        #[cfg(not(unix))]
        fs::create_dir(path).unwrap();
    }),
    kind("a link to itself", |path, _| {
        fs::remove_file(path).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(path, path).unwrap();
        #[cfg(not(unix))]
        fs::create_dir(path).unwrap();
    }),
    kind("longer by a page", |path, bytes| put(path, &[bytes, &[0; 4096][..]].concat())),
];

/// Single bits in the database, evenly: each alone.
const N_BITS: usize = 12;

struct Spoilt {
    env: Env,
    right: Outcome,
    dump: String,
}

impl Spoilt {
    fn new() -> Self {
        let env = Env::new();
        assert_eq!(env.run(&["index", "tree", "-q"]).code, Some(0));
        let right = ask(&env);
        assert_eq!(right.code, Some(0), "{right:?}");
        let dump = env.run(&["verify", "--store", "tree/.psos", "--dump"]).stdout;
        Self { env, right, dump }
    }

    /// Spoils a file of a fresh store, and looks at what psos makes of it.
    fn check(&self, file: &Path, name: &str, spoil: &dyn Fn(&Path, &[u8])) -> bool {
        let what = format!("{}: {name}", file.display());
        let store = self.env.path("tree/.psos");
        let good = self.env.path("good");
        if !good.exists() {
            copy(&store, &good);
        }
        fs::remove_dir_all(&store).unwrap();
        copy(&good, &store);
        let path = store.join(file);
        let bytes = fs::read(&path).unwrap();
        spoil(&path, &bytes);
        let spoilt = fs::read(&path).ok();

        let recall = ask(&self.env);
        sane(&recall, &what);
        assert!(recall.code != Some(0) || recall == self.right, "{what}: {recall:?}");
        let verify = self.env.run(&["verify", "--store", "tree/.psos"]);
        sane(&verify, &what);
        let index = self.env.run(&["index", "tree", "-q"]);
        sane(&index, &what);
        if index.code == Some(0) {
            // Then nothing that counts was wrong, or it was made good.
            let dump = self.env.run(&["verify", "--store", "tree/.psos", "--dump"]);
            sane(&dump, &what);
            assert!(dump.code != Some(0) || dump.stdout == self.dump, "{what}: other content");
        } else {
            assert_eq!(fs::read(&path).ok(), spoilt, "{what}: the file was changed");
        }
        recall.code != Some(0) || verify.code != Some(0) || index.code != Some(0)
    }
}

/// A refusal says whose fault it is and what to do; nothing crashes.
#[track_caller]
fn sane(outcome: &Outcome, what: &str) {
    assert!(matches!(outcome.code, Some(0 | 3 | 4)), "{what}: {outcome:?}");
    assert!(!outcome.stderr.contains("panicked"), "{what}: {outcome:?}");
    if outcome.code == Some(3) {
        assert!(outcome.stderr.contains("psos index"), "{what}: no way out: {outcome:?}");
    }
}

fn ask(env: &Env) -> Outcome {
    env.run(&["recall", "--store", "tree/.psos", "--json", "take back a commit"])
}

fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(&target).unwrap();
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// One segment file of each ending.
fn segments(env: &Env) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(env.path("tree/.psos/segments"))
        .unwrap()
        .map(|entry| Path::new("segments").join(entry.unwrap().file_name()))
        .collect();
    files.sort();
    files
}

#[test]
fn a_database_that_is_no_store_is_refused_and_left_alone() {
    let spoilt = Spoilt::new();
    let file = Path::new("store.redb");
    let mut n_noticed = 0;
    for kind in ANY.iter().chain(&PLACE) {
        n_noticed += u32::from(spoilt.check(file, kind.name, &kind.spoil));
    }
    // All but those that only add to it, or that hit pages nobody uses.
    assert!(n_noticed >= 20, "noticed: {n_noticed}");
}

#[test]
fn a_single_wrong_bit_in_the_database_never_makes_a_wrong_answer() {
    let spoilt = Spoilt::new();
    for n in 0..N_BITS {
        let spoil = |path: &Path, bytes: &[u8]| {
            let at = bytes.len() * n / N_BITS + 311 * n;
            overwrite(path, bytes, at, &[bytes[at.min(bytes.len() - 1)] ^ (1 << (n % 8))]);
        };
        spoilt.check(Path::new("store.redb"), &format!("bit {n} of {N_BITS}"), &spoil);
    }
}

#[test]
fn segment_files_that_are_none_are_refused_with_the_way_out() {
    let spoilt = Spoilt::new();
    let files = segments(&spoilt.env);
    assert!(files.len() >= 4, "{files:?}");
    // Every kind hits some file, and every file some kinds.
    for (n, kind) in ANY.iter().chain(&PLACE).enumerate() {
        spoilt.check(&files[n % files.len()], kind.name, &kind.spoil);
    }
    let gone = |path: &Path, _: &[u8]| fs::remove_file(path).unwrap();
    let n_noticed: u32 =
        files.iter().map(|file| u32::from(spoilt.check(file, "gone", &gone))).sum();
    assert!(n_noticed as usize >= files.len() - 1, "noticed: {n_noticed} of {}", files.len());
}
