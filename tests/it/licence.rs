//! The licences of the packages that psos is built from, against the list in `deny.toml`.
//!
//! `cargo deny` checks the same where it is installed; this test needs nothing but cargo.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::tidy::{assert_none, root};

#[test]
fn every_dependency_has_a_licence_that_we_accept() {
    let deny = fs::read_to_string(root().join("deny.toml")).unwrap();
    let allowed = allowed_licences(&deny);
    assert!(allowed.contains("MIT"), "licences of deny.toml: {allowed:?}");
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--offline", "--format-version", "1"])
        // Packages of other platforms need not be on this machine.
        .args(["--filter-platform", "host-tuple"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 50, "packages found: {}", packages.len());
    let refused = packages.iter().filter_map(|package| {
        let licence = package["license"].as_str().unwrap_or("no licence");
        let refused = !is_allowed(licence, &allowed);
        refused.then(|| format!("{} {}: {licence}", package["name"], package["version"]))
    });
    assert_none(refused);
}

#[test]
fn a_planted_licence_is_caught() {
    let allowed = allowed_licences(
        "x = 1\n[licenses]\nallow = [\n  \"MIT\",\n  \"Zlib\", \"Apache-2.0 WITH LLVM-exception\"]\n",
    );
    for (licence, want) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("no licence", false),
        ("", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("MIT AND Zlib", true),
        ("(GPL-3.0 OR MIT) AND Zlib", true),
        ("(GPL-3.0 OR MIT) AND BSD-3-Clause", false),
        ("MIT OR GPL-3.0 AND GPL-2.0", true),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
    ] {
        assert_eq!(is_allowed(licence, &allowed), want, "{licence}");
    }
}

/// The licences that `deny.toml` allows, so that there is one list of them.
fn allowed_licences(deny: &str) -> BTreeSet<String> {
    let list = deny.split("[licenses]").nth(1).and_then(|rest| rest.split("allow = [").nth(1));
    let list = list.and_then(|rest| rest.split(']').next()).unwrap_or_default();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether an SPDX expression can be met with these licences. `AND` binds tighter than `OR`; an
/// old `A/B` is `A OR B`.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let allowed = any_of(&mut words, allowed);
    allowed && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut met = all_of(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        met |= all_of(words, allowed);
    }
    met
}

fn all_of(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let met = any_of(words, allowed);
        return words.next() == Some(")") && met;
    }
    let Some(mut licence) = words.next().map(str::to_owned) else { return false };
    if words.next_if_eq(&"WITH").is_some() {
        licence = format!("{licence} WITH {}", words.next().unwrap_or_default());
    }
    allowed.contains(&licence)
}
