//! Texts that nobody can guess.

use std::fs::File;
use std::io::Read;

/// Bytes of randomness in a token.
const TOKEN_BYTES: usize = 16;

/// Makes a token: hexadecimal digits from the system's source of randomness.
///
/// # Errors
/// The source can't be read.
pub fn new_token() -> std::io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
