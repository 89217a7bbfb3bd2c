//! The bytes of a forward row: terms as they repeat, in bits.
//!
//! A record says most of its words more than once, and its derived tiers are copies of its text. So the terms
//! of all fields are one sequence, in which a term is new, or one that was there, or the beginning of a run
//! that was there.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::Forward;
use crate::store::codec::{
    Decoded, nothing_left, put_varint, take, take_terms, take_varint, take_version,
};

/// The version of the row.
const VERSION: u8 = 2;
/// A run of fewer terms is cheaper term by term.
const SHORTEST_RUN: usize = 3;
/// A row that claims more terms than this is corrupt: decoding must not allocate whatever a broken length
/// says.
const MAX_TERMS: u64 = 1 << 24;

/// Version, number of trigger lists and the length of each, the lengths of the five other fields, the number
/// of distinct terms, of bytes of the sequence and of rare forms; the distinct terms, four bytes each; the
/// sequence; the rare forms as distances, each from the one before.
pub(super) fn encode(forward: &Forward) -> Vec<u8> {
    let sequence: Vec<u32> = fields(forward).into_iter().flatten().copied().collect();
    let mut writer = Writer::default();
    writer.sequence(&sequence);
    let forms: BTreeSet<u16> = forward.forms.iter().copied().collect();
    let mut usual = BTreeSet::new();
    for &term in &writer.distinct {
        let form = folded(term);
        let is_usual = forms.contains(&form);
        writer.bits.push(u32::from(is_usual), 1);
        if is_usual {
            usual.insert(form);
        }
    }
    let rare: Vec<u16> = forms.difference(&usual).copied().collect();

    let bits = writer.bits.finish();
    let mut bytes =
        Vec::with_capacity(32 + 4 * writer.distinct.len() + bits.len() + 2 * rare.len());
    bytes.push(VERSION);
    put_varint(&mut bytes, forward.triggers.len() as u64);
    for terms in forward.triggers.iter().chain(others(forward)) {
        put_varint(&mut bytes, terms.len() as u64);
    }
    put_varint(&mut bytes, writer.distinct.len() as u64);
    put_varint(&mut bytes, bits.len() as u64);
    put_varint(&mut bytes, rare.len() as u64);
    for term in &writer.distinct {
        bytes.extend_from_slice(&term.to_le_bytes());
    }
    bytes.extend_from_slice(&bits);
    let mut before = 0;
    for form in rare {
        put_varint(&mut bytes, u64::from(form - before));
        before = form;
    }
    bytes
}

pub(super) fn decode(bytes: &[u8]) -> Decoded<Forward> {
    let mut input = bytes;
    take_version(&mut input, VERSION)?;
    let n_triggers = take_varint(&mut input)?;
    if n_triggers > input.len() as u64 {
        return Err("more trigger lists than bytes".to_owned());
    }
    let mut trigger_lengths = Vec::new();
    for _ in 0..n_triggers {
        trigger_lengths.push(take_varint(&mut input)?);
    }
    let mut lengths = [0_u64; 5];
    for length in &mut lengths {
        *length = take_varint(&mut input)?;
    }
    let mut n_terms = 0_u64;
    for &length in trigger_lengths.iter().chain(&lengths) {
        n_terms = n_terms.saturating_add(length);
    }
    if n_terms > MAX_TERMS {
        return Err(format!("{n_terms} terms are too many"));
    }
    let n_distinct = take_varint(&mut input)?;
    let n_bits = take_varint(&mut input)?;
    let n_rare = take_varint(&mut input)?;
    let distinct = take_terms(&mut input, n_distinct)?;
    let mut reader = Reader { bits: take(&mut input, n_bits)?, at: 0 };
    let sequence = reader.sequence(usize::try_from(n_terms).unwrap_or_default(), &distinct)?;
    let mut forms = Vec::new();
    for &term in &distinct {
        if reader.take(1)? == 1 {
            forms.push(folded(term));
        }
    }
    reader.finish()?;
    let mut form = 0_u64;
    for _ in 0..n_rare {
        form = form.saturating_add(take_varint(&mut input)?);
        forms.push(u16::try_from(form).map_err(|_| "a form is too large".to_owned())?);
    }
    nothing_left(input)?;
    forms.sort_unstable();
    forms.dedup();

    let mut terms = sequence.into_iter();
    let mut next = |length: u64| -> Vec<u32> {
        terms.by_ref().take(usize::try_from(length).unwrap_or_default()).collect()
    };
    let [title, breadcrumb, description, summary, detail] = lengths;
    // In the order in which `fields` has them.
    let detail = next(detail);
    let title = next(title);
    let breadcrumb = next(breadcrumb);
    let description = next(description);
    let summary = next(summary);
    let triggers = trigger_lengths.into_iter().map(next).collect();
    Ok(Forward { triggers, title, breadcrumb, description, summary, detail, forms })
}

/// The fields in the order of the sequence: first the one that the others are taken from.
fn fields(forward: &Forward) -> Vec<&Vec<u32>> {
    let [title, breadcrumb, description, summary, detail] = others(forward);
    let mut fields = vec![detail, title, breadcrumb, description, summary];
    fields.extend(&forward.triggers);
    fields
}

fn others(forward: &Forward) -> [&Vec<u32>; 5] {
    let Forward { triggers: _, title, breadcrumb, description, summary, detail, forms: _ } =
        forward;
    [title, breadcrumb, description, summary, detail]
}

/// The form that a word has when it is its own stem: what `text::form_print` makes of the same hash.
fn folded(term: u32) -> u16 {
    let [a, b, c, d] = term.to_le_bytes();
    u16::from_le_bytes([a ^ c, b ^ d])
}

/// How many bits hold every number below `n`.
fn width(n: usize) -> u32 {
    usize::BITS - n.saturating_sub(1).leading_zeros()
}

#[derive(Default)]
struct Writer {
    bits: Bits,
    distinct: Vec<u32>,
    places: BTreeMap<u32, usize>,
    /// Where three terms stood together first.
    runs: BTreeMap<[u32; SHORTEST_RUN], usize>,
}

impl Writer {
    fn sequence(&mut self, terms: &[u32]) {
        let mut at = 0;
        while at < terms.len() {
            let n = match self.run(terms, at) {
                Some((from, n)) => {
                    self.bits.push(1, 1);
                    self.bits.push_usize(from, width(at));
                    self.bits.push_length(n - SHORTEST_RUN);
                    n
                }
                None => {
                    self.bits.push(0, 1);
                    if let Some(&term) = terms.get(at) {
                        self.single(term);
                    }
                    1
                }
            };
            for start in at..at + n {
                // A run is known once all of it was written.
                let Some(begin) = (start + 1).checked_sub(SHORTEST_RUN) else { continue };
                if let Some(&run) = terms.get(begin..).and_then(<[u32]>::first_chunk) {
                    self.runs.entry(run).or_insert(begin);
                }
            }
            at += n;
        }
    }

    /// The longest way on from where the next terms stood together first.
    fn run(&self, terms: &[u32], at: usize) -> Option<(usize, usize)> {
        let rest = terms.get(at..)?;
        let &from = self.runs.get(rest.first_chunk()?)?;
        let before = terms.get(from..at)?;
        let n = before.iter().zip(rest).take_while(|(a, b)| a == b).count();
        (n >= SHORTEST_RUN).then_some((from, n))
    }

    fn single(&mut self, term: u32) {
        if let Some(&place) = self.places.get(&term) {
            self.bits.push(1, 1);
            self.bits.push_usize(place, width(self.distinct.len()));
            return;
        }
        self.bits.push(0, 1);
        self.places.insert(term, self.distinct.len());
        self.distinct.push(term);
    }
}

/// Bits, the lowest of a byte first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    n_free: u32,
}

impl Bits {
    fn push(&mut self, value: u32, n: u32) {
        for bit in 0..n {
            if self.n_free == 0 {
                self.bytes.push(0);
                self.n_free = 8;
            }
            if let Some(last) = self.bytes.last_mut()
                && (value >> bit) & 1 == 1
            {
                *last |= 1 << (8 - self.n_free);
            }
            self.n_free -= 1;
        }
    }

    fn push_usize(&mut self, value: usize, n: u32) {
        self.push(u32::try_from(value).unwrap_or(u32::MAX), n);
    }

    /// A number of any size (Elias gamma): as many zeros as it has bits behind the first, then those.
    fn push_length(&mut self, value: usize) {
        let value = u32::try_from(value).unwrap_or(u32::MAX - 1) + 1;
        let n = value.ilog2();
        self.push(0, n);
        self.push(1, 1);
        self.push(value, n);
    }

    fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

struct Reader<'a> {
    bits: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn sequence(&mut self, n: usize, distinct: &[u32]) -> Decoded<Vec<u32>> {
        let broken = || "the sequence of terms does not hold together".to_owned();
        let mut terms: Vec<u32> = Vec::with_capacity(n);
        let mut n_seen = 0;
        while terms.len() < n {
            if self.take(1)? == 1 {
                let from = self.take(width(terms.len()))? as usize;
                let length = self.take_length()? + SHORTEST_RUN;
                if from + length > terms.len() {
                    return Err(broken());
                }
                terms.extend_from_within(from..from + length);
                continue;
            }
            let place = if self.take(1)? == 1 {
                self.take(width(n_seen))? as usize
            } else {
                n_seen += 1;
                n_seen - 1
            };
            if place >= n_seen {
                return Err(broken());
            }
            terms.push(*distinct.get(place).ok_or_else(broken)?);
        }
        if terms.len() != n || n_seen != distinct.len() {
            return Err(broken());
        }
        Ok(terms)
    }

    /// The next `n` bits, at most 32: they stand in at most five bytes.
    fn take(&mut self, n: u32) -> Decoded<u32> {
        let end = self.at + n as usize;
        let bytes = self.bits.get(self.at / 8..end.div_ceil(8)).ok_or("the row ends too early")?;
        let word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        let value = (word >> (self.at % 8)) & ((1 << n) - 1);
        self.at = end;
        u32::try_from(value).map_err(|error| error.to_string())
    }

    fn take_length(&mut self) -> Decoded<usize> {
        let mut n = 0;
        while self.take(1)? == 0 {
            n += 1;
            if n > 24 {
                return Err("a run is too long".to_owned());
            }
        }
        Ok((((1 << n) | self.take(n)?) - 1) as usize)
    }

    /// Nothing but the zeros that fill the last byte may be left.
    fn finish(&self) -> Decoded<()> {
        let rest = self.bits.len() * 8 - self.at;
        let last = self.bits.last().copied().unwrap_or_default();
        if rest >= 8 || (rest > 0 && last >> (8 - rest) != 0) {
            return Err("bits are left over".to_owned());
        }
        Ok(())
    }
}
