//! Variants of a protocol beside it: what moved, cost and loss separately, over the folds that both have.

use super::markdown::title;
use super::{Tables, shared, train};

impl Tables {
    /// Every variant that changes anything in a column, beside the base protocol `base`.
    pub fn variants_of(&self, base: &str) -> String {
        let mut text = String::from(
            "| variant | data set | model | turned down | cost | loss | invalidity | Δ cost | Δ loss | Δ invalidity | folds | paper: cost / loss / inv. |\n\
             |---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        let (mut rows, mut same) = (0, 0);
        for row in &self.rows {
            let found = self.rows.iter().find(|other| {
                (other.protocol.as_str(), other.dataset, other.model) == (base, row.dataset, row.model)
            });
            let Some(of_base) = found else { continue };
            if row.protocol != base && row.key == of_base.key {
                same += 1;
                continue;
            }
            let Some((own, folds)) = shared(row, of_base, train) else { continue };
            rows += 1;
            let changes = match shared(of_base, row, train).filter(|_| row.protocol != base) {
                Some((usual, _)) => [0, 1, 2].map(|place| format!("{:+.3}", own[place] - usual[place])),
                None => ["–"; 3].map(str::to_owned),
            };
            let affected = row.train.map_or(0.0, |train| train.affected.mean);
            let paper = row.paper.map_or("–".to_owned(), |paper| {
                format!("{} / {} / {}", paper.cost, paper.loss, paper.invalidity)
            });
            let cut = if row.cut() + of_base.cut() > 0 { "*" } else { "" };
            text += &format!(
                "| {} | {} | {} | {affected:.0} | {:.3} | {:.3} | {:.3} | {} | {folds}{cut} | {paper} |\n",
                if row.protocol == base { format!("**{base}**") } else { row.protocol.clone() },
                row.dataset,
                title(row.model),
                own[0],
                own[1],
                own[2],
                changes.join(" | "),
            );
        }
        if rows == 0 {
            return "No cell has a result yet.\n".to_owned();
        }
        if text.contains("* |") {
            text +=
                "\n\\* a time limit ended some folds: the figures are attained, the optimum may be lower.\n";
        }
        if same > 0 {
            text += &format!(
                "\n{same} pairs of variant and column are left out, since the variant changes nothing there.\n"
            );
        }
        text
    }

    /// The same, and how far each candidate is from the published figures.
    pub fn candidates_for(&self, base: &str) -> String {
        format!("{}\n{}", self.variants_of(base), self.distances_to_paper(base))
    }

    /// The sum of the differences of mean cost and mean loss, by candidate and column.
    fn distances_to_paper(&self, base: &str) -> String {
        let mut text = String::from(
            "| candidate | data set | model | folds | distance to the paper's cost and loss |\n|---|---|---|--:|--:|\n",
        );
        for row in self.rows.iter().filter(|row| row.train.is_some()) {
            let of_base = self.rows.iter().find(|other| {
                (other.protocol.as_str(), other.dataset, other.model) == (base, row.dataset, row.model)
            });
            if row.protocol != base && of_base.is_some_and(|other| other.key == row.key) {
                continue;
            }
            let Some((train, paper)) = row.train.zip(row.paper) else { continue };
            let number = |text: &str| text.trim_start_matches('<').parse::<f64>().ok();
            let Some((cost, loss)) = number(paper.cost).zip(number(paper.loss)) else { continue };
            let apart = (train.cost.mean - cost).abs() + (train.loss.mean - loss).abs();
            let cut = if row.cut() > 0 { "*" } else { "" };
            text += &format!(
                "| {} | {} | {} | {}{cut} | {apart:.3} |\n",
                row.protocol,
                row.dataset,
                title(row.model),
                row.folds()
            );
        }
        text
    }
}
