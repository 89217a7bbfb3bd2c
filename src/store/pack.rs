//! Compressed rows: frames of zstd without the four bytes that all of them begin with.

use zstd::zstd_safe::{self, CCtx, CParameter, DCtx, ErrorCode};

use crate::store::codec::Decoded;

/// How hard zstd tries: its own default. On rows of some hundred bytes a higher level gains 1 %.
const LEVEL: i32 = 3;
/// What every frame begins with (RFC 8878, section 3.1.1).
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// What a block of three bytes and more can come to at most (RFC 8878, section 3.1.1.2.4).
const MAX_BLOCK_BYTES: u64 = 128 << 10;
/// The most bytes of a text that another is compressed with: tiers come from its beginning.
const PREFIX_BYTES: usize = 48 << 10;

/// Appends `text` to a row, compressed as if it followed `prefix`.
pub(super) fn pack(row: &mut Vec<u8>, text: &[u8], prefix: &[u8]) -> Decoded<()> {
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(LEVEL)).map_err(named)?;
    context.ref_prefix(beginning(prefix)).map_err(named)?;
    context.compress2(&mut frame, text).map_err(named)?;
    row.extend_from_slice(frame.get(MAGIC.len()..).unwrap_or_default());
    Ok(())
}

/// Returns the text that was packed with this prefix.
pub(super) fn unpack(packed: &[u8], prefix: &[u8]) -> Decoded<Vec<u8>> {
    let frame = [MAGIC.as_slice(), packed].concat();
    let n = zstd_safe::get_frame_content_size(&frame).ok().flatten();
    let n = n.ok_or("the frame does not say how long the text is")?;
    // Decoding must not allocate whatever a broken length says.
    if n / MAX_BLOCK_BYTES > packed.len() as u64 / 3 {
        return Err(format!("{} bytes cannot be a text of {n}", packed.len()));
    }
    let mut text = Vec::with_capacity(usize::try_from(n).map_err(|error| error.to_string())?);
    let mut context = DCtx::create();
    context.ref_prefix(beginning(prefix)).map_err(named)?;
    context.decompress(&mut text, &frame).map_err(named)?;
    Ok(text)
}

fn beginning(prefix: &[u8]) -> &[u8] {
    prefix.get(..prefix.len().min(PREFIX_BYTES)).unwrap_or_default()
}

fn named(error: ErrorCode) -> String {
    zstd_safe::get_error_name(error).to_owned()
}
