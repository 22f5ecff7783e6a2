//! `sogar show`: one summary of a front.

use sogar::describe::{
    held_out_text, outcome_text, plausibility_text, point_json, rules_text, tree_dot, tree_text,
};
use sogar::neighbours::{Neighbours, neighbours_in, neighbours_text};
use sogar::select::select;
use sogar::summary::FrontFile;
use sogar::table::Table;
use sogar::{Error, ErrorKind, Result};

use crate::args::{PointArgs, ShowArgs, ShowFormat, file_of};
use crate::output::{Exit, Output, Text, heading};

pub fn run(args: &ShowArgs, output: &Output) -> Result<Exit> {
    let front = FrontFile::read(&args.front)?;
    let chosen = position(&front, &args.point)?;
    let tree = &front.points[chosen].tree;
    let near = args.neighbours.map(|count| nearest(&front, args, chosen, count)).transpose()?;
    let near_text = near.as_ref().map_or(String::new(), |near| neighbours_text(&front, chosen, near));
    let format = if output.json { ShowFormat::Json } else { args.format };
    match format {
        ShowFormat::Tree => {
            output.print(title(&front, chosen) + outcome_text(&front) + "\n" + tree_text(&front, tree))?;
            output.print(plausibility_text(&front, chosen) + &near_text + &held_out_text(&front, chosen))?;
        }
        ShowFormat::Rules => {
            output.print(title(&front, chosen) + outcome_text(&front) + "\n" + rules_text(&front, tree))?;
            output.print(plausibility_text(&front, chosen) + &near_text + &held_out_text(&front, chosen))?;
        }
        ShowFormat::Dot => output.print(tree_dot(&front, tree))?,
        ShowFormat::Json => {
            let mut json = point_json(&front, chosen);
            for (rule, near) in near.into_iter().flatten().enumerate() {
                json["rules"][rule]["neighbours"] = serde_json::json!(near);
            }
            output.print_json(&json)?;
        }
    }
    Ok(Exit::Complete)
}

/// The real people nearest to an edited person of each group.
fn nearest(
    front: &FrontFile,
    args: &ShowArgs,
    point: usize,
    count: usize,
) -> Result<Vec<Option<Neighbours>>> {
    let path = file_of(args.table.as_deref(), &front.run.table_path, "--table")?;
    neighbours_in(front, &Table::read(&path, &front.config.read_options()?)?, point, count)
}

/// The point of the flags.
pub fn position(front: &FrontFile, args: &PointArgs) -> Result<usize> {
    match args.point {
        Some(point) if point < front.points.len() => Ok(point),
        Some(point) => {
            let message = format!("the front has no point {point}");
            Err(Error::new(ErrorKind::Usage, message)
                .help(format!("points are numbered 0 to {}, the cheapest first", front.points.len() - 1)))
        }
        None => select(front, args.by.parse()?),
    }
}

/// One line on a point.
pub fn title(front: &FrontFile, chosen: usize) -> Text {
    let point = &front.points[chosen];
    let groups = match point.leaves {
        1 => "one group".to_owned(),
        more => format!("{more} groups"),
    };
    heading(&format!(
        "Point {chosen} of {}: works for {:.1} % at a mean cost of {:.3} (invalidity {:.3}), {groups}",
        front.points.len(),
        100.0 * (1.0 - point.loss),
        point.cost,
        point.invalidity,
    )) + front.fairness.as_ref().map_or(String::new(), |fairness| fairness.point_text(front, chosen))
}
