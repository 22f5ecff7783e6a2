//! Estimates the width of text, so that lines can be broken before drawing.
//!
//! The reader's font is not known. The estimate follows Helvetica's widths by class of letter, slightly wide: too wide gives a
//! shorter line, too narrow would give words outside their box.

/// The fonts of figures, in order of preference.
pub const FONT: &str = "Helvetica, Arial, 'DejaVu Sans Condensed', sans-serif";

/// How much wider bold letters are.
pub const BOLD: f64 = 1.12;

/// The width of a text at this font size.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(share).sum::<f64>() * size
}

/// Width of a letter relative to the font size.
fn share(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.29,
        ' ' | 'f' | 't' | 'r' | 'I' | '(' | ')' | '[' | ']' | '/' | '-' | '“' | '”' => 0.36,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '—' | '…' => 0.92,
        '<' | '>' | '=' | '+' | '≤' | '→' => 0.7,
        upper if upper.is_uppercase() => 0.72,
        plain if (plain as u32) < 0x2e80 => 0.57,
        _ => 1.1, // ideographs, emoji
    }
}

/// Breaks a text into at most `most` lines that fit into `room`; a text that does not fit ends in `…`.
pub fn lines(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let joined = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if width(&joined, size) <= room {
            line = joined;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        // A word that is longer than a line is broken at the end of the line.
        for letter in word.chars() {
            if !line.is_empty() && width(&line, size) + share(letter) * size > room {
                lines.push(std::mem::take(&mut line));
            }
            line.push(letter);
        }
        if lines.len() > most {
            break;
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{last}…"), size, room);
        }
    }
    lines
}

/// A heading's size that fits into `room`, and the heading, shortened if even the smallest does not.
pub fn heading(text: &str, room: f64) -> (String, f64) {
    let size = [15.0, 13.0, 11.5].into_iter().find(|size| width(text, size * BOLD) <= room).unwrap_or(11.5);
    (cut(text, size * BOLD, room), size)
}

/// Shortens a text to fit into `room`.
pub fn cut(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let (mut kept, mut used) = (String::new(), share('…') * size);
    for letter in text.trim_end_matches('…').chars() {
        used += share(letter) * size;
        if used > room {
            break;
        }
        kept.push(letter);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_longer_than_its_room() {
        let texts = [
            "decrease `credit_amount` by 1212 and stay",
            &"x".repeat(10_000),
            "",
            "日本語の長い分類名です 🙂",
        ];
        for text in texts {
            for room in [40.0, 100.0, 300.0] {
                let lines = lines(text, 12.0, room, 4);
                assert!(lines.len() <= 4);
                assert!(lines.iter().all(|line| width(line, 12.0) <= room + 12.0), "{room}: {lines:?}");
            }
        }
    }

    #[test]
    fn what_fits_is_kept_whole() {
        assert_eq!(lines("one two three", 10.0, 1000.0, 2), ["one two three"]);
        assert_eq!(lines("one two three", 10.0, 40.0, 9).join(" "), "one two three");
        assert_eq!(cut("short", 10.0, 100.0), "short");
        assert!(cut(&"long ".repeat(50), 10.0, 100.0).ends_with('…'));
    }
}
