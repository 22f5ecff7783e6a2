//! The document as HTML: a page without scripts, to be filed and signed, and the same as a part of the interactive page, where it
//! is what printers and browsers without JavaScript show.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::data::Data;
use super::document::{Block, document};
use sogar_base::markup::escaped;
use sogar_front::summary::FrontFile;

const STYLE: &str = include_str!("static.css");

/// The static report as one HTML file.
pub fn static_page(data: &Data) -> String {
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    let title = escaped(&data.title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{hash}'; img-src data:; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{}</main>\n</body>\n</html>\n",
        data.printed
    )
}

/// The document without its frame.
pub(super) fn body(front: &FrontFile, data: &Data) -> String {
    let mut html = String::new();
    let document = document(front, data);
    let mut blocks = &document[..];
    while let [first, rest @ ..] = blocks {
        // A figure with a heading and a table of its own: printed side by side, on one page.
        match blocks {
            [Block::Heading(3, _), Block::Figure(..), Block::Table(..), rest @ ..] => {
                let parts: String = blocks[..3].iter().map(written).collect();
                html += &format!("<div class=\"beside\">\n{parts}</div>\n");
                blocks = rest;
            }
            _ => {
                html += &written(first);
                blocks = rest;
            }
        }
    }
    html + &sign_off()
}

fn written(block: &Block) -> String {
    match block {
        Block::Figure(told, svg) => format!(
            "<figure><img alt=\"{}\" src=\"data:image/svg+xml;base64,{}\"></figure>\n",
            escaped(told),
            STANDARD.encode(svg)
        ),
        Block::Heading(level, text) => format!("<h{level}>{}</h{level}>\n", escaped(text)),
        Block::Paragraph(text) => format!("<p>{}</p>\n", escaped(text)),
        Block::List(items) => {
            let items: String = items.iter().map(|item| format!("<li>{}</li>\n", escaped(item))).collect();
            format!("<ul>\n{items}</ul>\n")
        }
        Block::Commands(commands) => {
            // A line breaks between words, not at the hyphens of a flag.
            let words = |command: &str| -> String {
                command.split(' ').map(|word| format!("<span>{}</span> ", escaped(word))).collect()
            };
            let items = commands.iter().map(|[purpose, command]| {
                format!(
                    "<li>{} <span class=\"command\">{}</span></li>\n",
                    escaped(purpose),
                    words(command).trim_end()
                )
            });
            format!("<ul>\n{}</ul>\n", items.collect::<String>())
        }
        Block::Table(caption, head, rows) => {
            let number = |column: usize| head[column].starts_with('#');
            let class = |column: usize| if number(column) { " class=\"number\"" } else { "" };
            let names = head.iter().enumerate().map(|(column, name)| {
                format!("<th scope=\"col\"{}>{}</th>", class(column), escaped(name.trim_start_matches('#')))
            });
            let names: String = names.collect();
            let line = |row: &Vec<String>| {
                let cells = row.iter().enumerate().map(|(column, cell)| match column {
                    0 => format!("<th scope=\"row\">{}</th>", escaped(cell)),
                    _ => format!("<td{}>{}</td>", class(column), escaped(cell)),
                });
                format!("<tr>{}</tr>\n", cells.collect::<String>())
            };
            let rows: String = rows.iter().map(line).collect();
            let label = escaped(caption);
            format!(
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n<table>\n<caption><span>{label}</span></caption>\n\
                 <thead><tr>{names}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
            )
        }
    }
}

/// Where people sign that they have read the report.
fn sign_off() -> String {
    let line = |role: &str| format!("<tr><th scope=\"row\">{role}</th><td></td><td></td><td></td></tr>\n");
    format!(
        "<h2>Sign-off</h2>\n<table class=\"sign-off\">\n<caption>Who prepared, reviewed and approved this report</caption>\n\
         <thead><tr><th scope=\"col\">role</th><th scope=\"col\">name</th><th scope=\"col\">date</th><th scope=\"col\">signature</th></tr></thead>\n\
         <tbody>\n{}{}{}</tbody>\n</table>\n",
        line("Prepared by"),
        line("Reviewed by"),
        line("Approved by")
    )
}
