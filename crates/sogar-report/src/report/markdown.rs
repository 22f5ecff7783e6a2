//! The document as Markdown that diffs well: one sentence, item or row per line, and no padding.

use super::data::Data;
use super::document::{Block, document};
use sogar_front::summary::FrontFile;

/// The report in Markdown.
pub fn markdown(front: &FrontFile, data: &Data) -> String {
    let mut text = format!("# {}\n", escaped(&data.title));
    let blocks = document(front, data).into_iter();
    // Pictures would not diff; the tables have their figures.
    for block in blocks.filter(|block| !matches!(block, Block::Figure(..))) {
        text.push('\n');
        match block {
            Block::Heading(level, heading) => {
                text += &format!("{} {}\n", "#".repeat(usize::from(level)), escaped(&heading));
            }
            Block::Paragraph(words) => text += &format!("{}\n", escaped(&words)),
            Block::Figure(..) => {}
            Block::List(items) => items.iter().for_each(|item| text += &format!("- {}\n", escaped(item))),
            Block::Commands(commands) => {
                // To be copied, so as code, in which nothing is escaped.
                for [purpose, command] in &commands {
                    let code = match command.contains('`') {
                        true => escaped(command),
                        false => format!("`{command}`"),
                    };
                    text += &format!("- {} {code}\n", escaped(purpose));
                }
            }
            Block::Table(_, head, rows) => {
                let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
                text += &line(head.iter().map(|name| escaped(name.trim_start_matches('#'))).collect());
                text += &line(
                    head.iter()
                        .map(|name| if name.starts_with('#') { "--:" } else { "---" }.to_owned())
                        .collect(),
                );
                for row in rows {
                    text += &line(row.iter().map(|cell| escaped(cell)).collect());
                }
            }
        }
    }
    text
}

/// A text on one line that Markdown shows literally.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '|' | '<' | '>' | '*' | '[' | ']' | '&' | '`' | '~' | '$' => safe.extend(['\\', letter]),
            control if control.is_control() => safe.push(' '),
            plain => safe.push(plain),
        }
    }
    safe
}
