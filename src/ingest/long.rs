//! A file that does not fit into memory: looked through once, then read and written in pieces.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::time::Duration;

use rayon::prelude::*;

use crate::bm25::Writer;
use crate::ingest::apply::{self, Done};
use crate::ingest::plan::Found;
use crate::ingest::{IndexOptions, IngestError, analyse, note};
use crate::reader::{Stream, Survey};
use crate::record::{Hash, Record};
use crate::store::{Batch, FileRow, Filing, NewRecord, NewWord};

/// Bytes that are read at a time. With what becomes of them they take some twenty times as much.
const PIECE_BYTES: usize = 1 << 20;

/// Where the records go.
pub(super) struct Sink<'a, 'b> {
    pub(super) batch: &'a mut Batch<'b>,
    pub(super) lexical: &'a mut Writer,
    pub(super) threads: &'a rayon::ThreadPool,
}

impl Sink<'_, '_> {
    /// Puts a file, if it is not what the store knows. Returns whether records changed.
    pub(super) fn put(
        &mut self,
        root: &Path,
        file: &Found,
        known: Option<FileRow>,
        options: &IndexOptions,
        now: Duration,
        done: &mut Done,
    ) -> Result<bool, IngestError> {
        let path = &file.entry.path;
        let opened = File::open(root.join(path));
        let looked_through = opened.and_then(|mut file| {
            let seen = look_through(&mut file)?;
            file.rewind()?;
            Ok((file, seen))
        });
        let (mut bytes, (hash, survey)) = match looked_through {
            Ok(it) => it,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let removed = self.batch.remove_file(path)?;
                return self.forget(&removed);
            }
            Err(error) => {
                done.skipped.push(apply::cannot_read(path, &error));
                return Ok(false);
            }
        };
        let sidecar = apply::read_sidecar(root, file);
        let mut row = apply::row(file, hash, sidecar.as_deref(), now);
        if let Some(known) = known
            && apply::is_same(&known, &row)
        {
            let row = FileRow { keys: known.keys, notes: known.notes, ..row };
            self.batch.touch_file(&row)?;
            return Ok(false);
        }
        let sidecar = apply::sidecar_of(file, sidecar.as_deref());
        let mut stream = Stream::new(path, survey, sidecar, &options.reader);
        let mut filing = self.batch.begin_file(path)?;
        let mut changed = false;
        let mut hasher = blake3::Hasher::new();
        let mut piece = vec![0; PIECE_BYTES];
        let broken = loop {
            match bytes.read(&mut piece) {
                Ok(0) => break None,
                Ok(n) => {
                    let piece = piece.get(..n).unwrap_or_default();
                    hasher.update(piece);
                    done.n_bytes += n as u64;
                    changed |= self.records(&mut filing, &stream.push(piece), done)?;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => break Some(error),
            }
        };
        let (records, diagnostics) = stream.finish();
        changed |= self.records(&mut filing, &records, done)?;
        // Of what was read just now, should it have changed since it was looked through.
        row.stamp.hash = Hash(*hasher.finalize().as_bytes());
        row.notes = diagnostics.into_iter().map(note).collect();
        let removed = self.batch.end_file(filing, &row)?;
        changed |= self.forget(&removed)?;
        match broken {
            None => done.notes.extend(row.notes),
            Some(error) => {
                // Half a file is not what its row says.
                done.skipped.push(apply::cannot_read(path, &error));
                let removed = self.batch.remove_file(path)?;
                changed |= self.forget(&removed)?;
            }
        }
        Ok(changed)
    }

    /// Puts some records of a file.
    fn records(
        &mut self,
        filing: &mut Filing,
        records: &[Record],
        done: &mut Done,
    ) -> Result<bool, IngestError> {
        let (records, terms): (Vec<NewRecord>, Vec<Vec<String>>) = self.threads.install(|| {
            let analysed = records.par_iter().map(|record| {
                let record = analyse::stored(record);
                let terms = analyse::indexed_terms(&record.head, &record.detail);
                (record, terms)
            });
            analysed.unzip()
        });
        let put = self.batch.put_records(filing, &records)?;
        apply::move_terms(self.lexical, &put, &records, &terms)?;
        let words: Vec<NewWord> = terms.iter().flat_map(|terms| analyse::words(terms)).collect();
        self.batch.learn(&words)?;
        done.notes.extend(apply::conflicts(&put));
        Ok(!put.added.is_empty() || !put.removed.is_empty())
    }

    /// Takes records out of the lexical index that the store no longer has.
    fn forget(&mut self, keys: &[crate::store::RecordKey]) -> Result<bool, IngestError> {
        for key in keys {
            self.lexical.remove(key.0)?;
        }
        Ok(!keys.is_empty())
    }
}

/// The hash of a file, and what its encoding is told from.
fn look_through(file: &mut File) -> std::io::Result<(Hash, Survey)> {
    let mut hasher = blake3::Hasher::new();
    let mut survey = Survey::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok((Hash(*hasher.finalize().as_bytes()), survey)),
            Ok(n) => {
                let piece = piece.get(..n).unwrap_or_default();
                hasher.update(piece);
                survey.push(piece);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
