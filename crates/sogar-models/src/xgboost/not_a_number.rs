//! XGBoost writes NaN and infinities in its JSON as bare words, which JSON does not allow.
//!
//! They occur where a value has no meaning, such as the threshold of a leaf whose values are elsewhere.

use std::borrow::Cow;

const WORDS: [&[u8]; 3] = [b"NaN", b"-Infinity", b"Infinity"];

/// Replaces such words outside of quotes by `null`, if there are any.
pub(super) fn without_nan(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut out: Vec<u8> = Vec::new();
    let (mut at, mut copied) = (0, 0);
    let (mut quoted, mut escaped) = (false, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'N' | b'-' | b'I' if !quoted => {
                if let Some(word) = WORDS.iter().find(|word| bytes[at..].starts_with(word)) {
                    out.extend_from_slice(&bytes[copied..at]);
                    out.extend_from_slice(b"null");
                    at += word.len();
                    copied = at;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return Cow::Borrowed(bytes);
    }
    out.extend_from_slice(&bytes[copied..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_words_become_null_and_texts_stay() {
        let text = br#"{"a NaN": [NaN, -1, -Infinity,Infinity], "\"NaN": "Infinity"}"#;
        let plain = br#"{"a NaN": [null, -1, null,null], "\"NaN": "Infinity"}"#;
        assert_eq!(*without_nan(text), plain[..]);
        assert!(matches!(without_nan(b"[-1, 2]"), Cow::Borrowed(_)));
    }
}
