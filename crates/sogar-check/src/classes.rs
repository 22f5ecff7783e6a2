//! Compares the names of classes with their origin. A model numbers its classes: if two names are swapped in the whole file, good
//! becomes bad, and every number still fits.

use super::{Verdict, defect};
use sogar_prepare::predict::predict_table;
use sogar_prepare::prepared::Prepared;
use sogar_table::config::AnswerKind;
use sogar_table::feature::{Labels, label_values};
use sogar_table::table::Table;

/// Names from the model's file or from the label column are right by definition. Names from the configuration are compared with
/// these; `not_proved` lists what cannot be compared.
pub(super) fn check(
    prepared: &Prepared,
    table: &Table,
    not_proved: &mut Vec<String>,
) -> Verdict<((), String)> {
    let names = &prepared.classes().names;
    let text = |source: &str| Ok(((), format!("{}, as {source}", names.join(", "))));
    let (info, config) = (prepared.model().predictor.info(), prepared.config());
    if config.model.command.is_some() && config.model.answers == Some(AnswerKind::Labels) {
        return text("the command itself names them");
    }
    if info.class_names.len() == names.len() {
        if permuted(names, &info.class_names) {
            return defect(format!(
                "the classes are {}, but the model's file has them as {}",
                names.join(", "),
                info.class_names.join(", ")
            ));
        }
        if *names == info.class_names {
            return text("the model's file has them");
        }
    } else if let Some(labels) = label_values(table, config)?.filter(|all| all.values.len() == names.len()) {
        if *names == labels.values {
            return text("the label column has them in order");
        }
        if permuted(names, &labels.values) {
            return by_agreement(prepared, &labels, not_proved);
        }
    } else if names.iter().enumerate().all(|(number, name)| *name == number.to_string()) {
        return text("the model numbers them");
    }
    not_proved.push(format!(
        "the names of the classes, {}: they are the configuration's own; neither the model's file nor the label column has them",
        names.join(", ")
    ));
    text("the configuration says")
}

/// Whether two lists have the same names in another order.
fn permuted(a: &[String], b: &[String]) -> bool {
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names
    };
    a != b && sorted(a) == sorted(b)
}

/// The names of the label column in another order: the order with which the model is right more often is the likelier one.
fn by_agreement(prepared: &Prepared, labels: &Labels, not_proved: &mut Vec<String>) -> Verdict<((), String)> {
    let names = &prepared.classes().names;
    let predictions = predict_table(&*prepared.model().predictor, prepared.encoder(), prepared.table())?;
    let agreeing = |names: &[String]| {
        let pairs = predictions.iter().zip(&labels.of_row);
        pairs
            .filter(|(said, label)| {
                let label = label.map(|label| &labels.values[label as usize]);
                label.is_some() && names.get(said.label as usize) == label
            })
            .count()
    };
    let (claimed, natural, rows) = (agreeing(names), agreeing(&labels.values), predictions.len());
    if claimed < natural {
        return defect(format!(
            "the classes are {}, in another order than the label column's; so named, the model agrees with the label in {claimed} \
             of {rows} rows, in the column's own order in {natural}",
            names.join(", ")
        ));
    }
    not_proved.push(format!(
        "the order of the classes, {}: it is the configuration's; so named, the model agrees with the label in {claimed} of {rows} \
         rows, in the column's own order in {natural}",
        names.join(", ")
    ));
    Ok(((), format!("{}, as the configuration says", names.join(", "))))
}
