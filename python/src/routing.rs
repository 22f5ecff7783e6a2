//! Sends the rows of a table through one tree: the action of each, and its new cells.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyList;
use sogar::Result;
use sogar::feature::{Columns, FeatureTable};
use sogar::pipeline::Prepared;
use sogar::predict::predict_table;
use sogar::router::Router;
use sogar::summary::FrontFile;
use sogar::table::Table;

/// The action of each row of a table.
pub struct Route {
    table: FeatureTable,
    /// Position of the action among the front's; none for rows that are not turned down.
    actions: Vec<Option<usize>>,
}

impl Route {
    /// Positions of actions, −1 if there is none.
    pub fn actions(&self) -> impl ExactSizeIterator<Item = i64> {
        self.actions.iter().map(|action| action.map_or(-1, |action| action as i64))
    }
}

/// Sends every row that the model turns down through the tree of a point.
pub fn route(prepared: &Prepared, front: &FrontFile, point: usize, table: &Table) -> Result<Route> {
    let (table, _) = FeatureTable::apply(&prepared.table().features, table, prepared.config())?;
    let predictions = predict_table(&*prepared.model().predictor, prepared.encoder(), &table)?;
    let router = Router::new(front, &table.features)?;
    let tree = &front.points[point].tree;
    let mut actions = vec![None; table.rows];
    for row in prepared.classes().turned_down(&predictions) {
        actions[row] = Some(router.leaf(tree, |feature| table.values[feature][row]).1.action());
    }
    Ok(Route { table, actions })
}

/// New cells of one column.
pub struct EditedColumn {
    name: String,
    rows: Vec<i64>,
    cells: Cells,
}

enum Cells {
    Numbers(Vec<f64>),
    Texts(Vec<Option<String>>),
}

impl EditedColumn {
    /// As a tuple of name, rows and cells.
    pub fn into_python(self, py: Python<'_>) -> PyResult<(String, Py<PyAny>, Py<PyAny>)> {
        let cells = match self.cells {
            Cells::Numbers(numbers) => PyArray1::from_vec(py, numbers).into_any(),
            Cells::Texts(texts) => PyList::new(py, texts)?.into_any(),
        };
        Ok((self.name, PyArray1::from_vec(py, self.rows).into_any().unbind(), cells.unbind()))
    }
}

/// The cells that the recommended edits change, column by column.
pub fn edited_columns(prepared: &Prepared, front: &FrontFile, route: &Route) -> Result<Vec<EditedColumn>> {
    let features = &prepared.table().features;
    let actions = front.edits_of_actions(features)?;
    // (row, new value) per feature
    let mut changes: Vec<Vec<(usize, f64)>> = vec![Vec::new(); features.len()];
    for (row, action) in route.actions.iter().enumerate() {
        let Some(action) = action else { continue };
        let before = route.table.row(row);
        let mut after = before.clone();
        for edit in &actions[*action] {
            edit.apply(&mut after);
        }
        for (feature, (old, new)) in before.iter().zip(&after).enumerate() {
            if old != new && !new.is_nan() {
                changes[feature].push((row, *new));
            }
        }
    }
    let mut columns = Vec::new();
    for (feature, changes) in features.iter().zip(&changes).filter(|(_, changes)| !changes.is_empty()) {
        let rows: Vec<i64> = changes.iter().map(|(row, _)| *row as i64).collect();
        match &feature.columns {
            Columns::One(name) if feature.is_numeric() => {
                let cells = Cells::Numbers(changes.iter().map(|(_, value)| *value).collect());
                columns.push(EditedColumn { name: name.clone(), rows, cells });
            }
            Columns::One(name) => {
                let missing = feature.missing_level();
                let text = |level: usize| {
                    if missing == Some(level) { None } else { feature.levels().get(level).cloned() }
                };
                let cells = Cells::Texts(changes.iter().map(|(_, value)| text(*value as usize)).collect());
                columns.push(EditedColumn { name: name.clone(), rows, cells });
            }
            Columns::OneHot(names) => {
                for (level, name) in
                    names.iter().enumerate().filter_map(|(level, name)| Some((level, name.as_ref()?)))
                {
                    let hot = |value: f64| f64::from(value == level as f64);
                    let cells = Cells::Numbers(changes.iter().map(|(_, value)| hot(*value)).collect());
                    columns.push(EditedColumn { name: name.clone(), rows: rows.clone(), cells });
                }
            }
        }
    }
    Ok(columns)
}
