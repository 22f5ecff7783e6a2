//! Makes text from tables and files safe for pages, pictures and terminals.
//!
//! Names and categories may contain anything: `</script>`, quotes, marks that change the direction of writing, escape sequences.
//! They are shown literally and have no effect.

/// A text for HTML and XML, between tags or within quotes. Characters that XML cannot contain become `�`.
///
/// ```
/// assert_eq!(sogar_base::markup::escaped("a < \"b\" & 'c'"), "a &lt; &quot;b&quot; &amp; &#39;c&#39;");
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

/// A name or a value with escaped control characters and direction marks, for terminals and pictures.
///
/// ```
/// assert_eq!(sogar_base::markup::visible("a\u{1b}[31mb"), "a\\u{1b}[31mb");
/// assert_eq!(sogar_base::markup::visible("père"), "père");
/// ```
pub fn visible(text: &str) -> String {
    visible_lines(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// The same for a text of several lines: line ends and tabs stay.
///
/// ```
/// assert_eq!(sogar_base::markup::visible_lines("a\n\u{1b}[2Jb"), "a\n\\u{1b}[2Jb");
/// ```
pub fn visible_lines(text: &str) -> String {
    spelled_out(text, |shown, odd| shown.extend(odd.escape_unicode()))
}

/// A JSON document with escapes for all characters in strings that would control a terminal. (JSON has none outside strings.)
///
/// ```
/// assert_eq!(sogar_base::markup::visible_json("\"\u{202e}\u{9b}\""), r#""\u202e\u009b""#);
/// ```
pub fn visible_json(document: &str) -> String {
    spelled_out(document, |shown, odd| shown.push_str(&format!("\\u{:04x}", u32::from(odd))))
}

fn spelled_out(text: &str, spell: impl Fn(&mut String, char)) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => shown.push(letter),
            odd if steers(odd) => spell(&mut shown, odd),
            plain => shown.push(plain),
        }
    }
    shown
}

/// Whether a character controls output instead of being visible: controls, line separators, and marks that change the direction
/// of writing.
pub fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
        assert_eq!(visible("two\nlines\t"), "two\\nlines\\t");
        assert_eq!(visible_lines("two\nlines\t\r"), "two\nlines\t\\u{d}");
        assert_eq!(visible(&visible("\u{9b}\u{7f}")), "\\u{9b}\\u{7f}", "what is visible stays as it is");
        let json = serde_json::json!({ "\u{202e}\u{7f}": "\u{85}\u{1b}é\n" });
        let shown = visible_json(&json.to_string());
        assert!(!shown.chars().any(steers), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), json);
        assert_eq!(visible("عربي 🙂"), "عربي 🙂");
    }
}
