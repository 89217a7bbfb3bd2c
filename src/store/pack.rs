//! Compressed rows: frames of zstd without the four bytes that all of them begin with.

use std::cell::RefCell;

use zstd::zstd_safe::{self, CCtx, DCtx, ErrorCode};

use crate::store::codec::Decoded;

/// How hard zstd tries: its own default. On rows of some hundred bytes a higher level gains 1 %.
const LEVEL: i32 = 3;
/// What every frame begins with (RFC 8878, section 3.1.1).
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// What a block of three bytes and more can come to at most (RFC 8878, section 3.1.1.2.4).
const MAX_BLOCK_BYTES: u64 = 128 << 10;
/// The most bytes of a text that another is compressed with: tiers come from its beginning.
const PREFIX_BYTES: usize = 48 << 10;

thread_local! {
    /// Scratch memory of zstd: making it costs more than to pack a row.
    static CONTEXTS: RefCell<(CCtx<'static>, DCtx<'static>)> =
        RefCell::new((CCtx::create(), DCtx::create()));
}

/// Appends `text` to a row, compressed as if it followed `prefix`.
pub(super) fn pack(row: &mut Vec<u8>, text: &[u8], prefix: &str) -> Decoded<()> {
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
    let packed = CONTEXTS.with_borrow_mut(|(context, _)| {
        context.compress_using_dict(&mut frame, text, beginning(prefix), LEVEL)
    });
    packed.map_err(named)?;
    row.extend_from_slice(frame.get(MAGIC.len()..).unwrap_or_default());
    Ok(())
}

/// Returns the text that was packed with this prefix.
pub(super) fn unpack(packed: &[u8], prefix: &str) -> Decoded<Vec<u8>> {
    let frame = [MAGIC.as_slice(), packed].concat();
    let n = zstd_safe::get_frame_content_size(&frame).ok().flatten();
    let n = n.ok_or("the frame does not say how long the text is")?;
    // Decoding must not allocate whatever a broken length says.
    if n / MAX_BLOCK_BYTES > packed.len() as u64 / 3 {
        return Err(format!("{} bytes cannot be a text of {n}", packed.len()));
    }
    let mut text = Vec::with_capacity(usize::try_from(n).map_err(|error| error.to_string())?);
    let unpacked = CONTEXTS.with_borrow_mut(|(_, context)| {
        context.decompress_using_dict(&mut text, &frame, beginning(prefix))
    });
    unpacked.map_err(named)?;
    Ok(text)
}

/// No UTF-8 begins like a dictionary with tables of its own, so zstd takes it for mere content.
fn beginning(prefix: &str) -> &[u8] {
    prefix.as_bytes().get(..prefix.len().min(PREFIX_BYTES)).unwrap_or_default()
}

fn named(error: ErrorCode) -> String {
    zstd_safe::get_error_name(error).to_owned()
}
