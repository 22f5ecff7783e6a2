//! Text from tables and files on its way into pages, pictures and terminals.
//!
//! Names and categories are whatever somebody typed into a table: `</script>`, quotes, marks that turn the direction of
//! writing, escape sequences of a terminal. They are shown as they are, and do nothing.

/// A text for HTML and XML, between tags or within quotes. Characters that XML has no place for become `�`.
///
/// ```
/// assert_eq!(sogar::markup::escaped("a < \"b\" & 'c'"), "a &lt; &quot;b&quot; &amp; &#39;c&#39;");
/// ```
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(letter),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            control if control.is_control() => safe.push('\u{fffd}'),
            plain => safe.push(plain),
        }
    }
    safe
}

/// A text whose control characters and marks of direction are spelled out, for terminals and pictures.
///
/// ```
/// assert_eq!(sogar::markup::visible("a\u{1b}[31mb"), "a\\u{1b}[31mb");
/// assert_eq!(sogar::markup::visible("père"), "père");
/// ```
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => shown.push_str("\\n"),
            odd if odd.is_control() || turns_direction(odd) => shown.extend(odd.escape_unicode()),
            plain => shown.push(plain),
        }
    }
    shown
}

/// Marks that change the direction of what stands behind them.
fn turns_direction(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_tag_or_an_attribute() {
        let hostile = "</script><img src=x onerror='alert(1)'>\"\u{0}\u{1b}\u{ffff}";
        let safe = escaped(hostile);
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{0}', '\u{1b}', '\u{ffff}']), "{safe}");
        assert_eq!(escaped("naïve 🙂 \u{202e}"), "naïve 🙂 \u{202e}");
    }

    #[test]
    fn what_would_steer_a_terminal_is_spelled_out() {
        assert_eq!(visible("\u{202e}abc\u{7}"), "\\u{202e}abc\\u{7}");
        assert_eq!(visible("two\nlines"), "two\\nlines");
        assert_eq!(visible("عربي 🙂"), "عربي 🙂");
    }
}
