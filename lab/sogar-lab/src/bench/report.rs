//! The measurements as Markdown tables, with notes on what was sampled and what was checked.

use sogar::describe::grouped;

use super::against::Against;
use super::gpu::OnGpu;
use super::measure::{Comparison, Measurement, Seconds};

/// All tables and notes.
pub fn report(measurements: &[Measurement]) -> String {
    let mut text = String::from(
        "| problem | depth | rows | splits | actions | leaf sets | outcomes (s) | search (s) | guess (s) | leaf sets/s | first front (s) \
         | actions evaluated | front | peak memory |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for measured in measurements {
        text += &run_line(measured);
    }
    text += &plain_table(measurements);
    text += &against_table(measurements);
    text += &device_table(measurements);
    text += "\n";
    for measured in measurements {
        text += &notes(measured);
    }
    text
}

/// Name and variation.
fn name(measured: &Measurement) -> String {
    let variation = measured.case.variation.text();
    format!("{}{}{variation}", measured.case.name, if variation.is_empty() { "" } else { ", " })
}

fn stopped(complete: bool) -> &'static str {
    if complete { "" } else { ", stopped" }
}

fn run_line(measured: &Measurement) -> String {
    let Measurement { rows, splits, actions, searched, .. } = measured;
    let cells = *searched as f64 * *actions as f64;
    let seconds = |of: fn(&Seconds) -> f64| format!("{:.2}", median(measured, of));
    format!(
        "| {} | {} | {} | {splits} | {} | {} | {} | {}{} | {} | {} | {} | {:.2} % | {} | {:.0} MB |\n",
        name(measured),
        measured.case.depth,
        grouped(*rows as u64),
        grouped(*actions as u64),
        grouped(measured.plain.as_ref().map_or(*searched, |found| found.leaf_sets)),
        seconds(|run| run.outcomes),
        seconds(|run| run.search),
        stopped(measured.complete),
        measured.guess.map_or("–".to_owned(), |[outcomes, search]| format!("{outcomes:.2} + {search:.2}")),
        grouped((*searched as f64 / median(measured, |run| run.search)) as u64),
        seconds(|run| run.first),
        100.0 * measured.losses_counted as f64 / cells.max(1.0),
        grouped(measured.points as u64),
        measured.peak_bytes as f64 / 1e6,
    )
}

/// The plain program beside the search, one thread each.
fn plain_table(measurements: &[Measurement]) -> String {
    let with: Vec<(&Measurement, &Comparison)> =
        measurements.iter().filter_map(|measured| Some((measured, measured.plain.as_ref()?))).collect();
    if with.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n| problem, one thread | depth | actions not dominated | search (s) | plain program (s) | ÷ search | timed | fronts equal |\n\
         |---|--:|--:|--:|--:|--:|--:|---|\n",
    );
    for (measured, found) in with {
        // Of a stopped search the plain program is charged with as many leaf sets.
        let share = if found.complete { 1.0 } else { found.searched as f64 / found.leaf_sets as f64 };
        let timed = found.timed_sets as f64 / found.leaf_sets as f64 * found.timed_tiles;
        text += &format!(
            "| {} | {} | {} | {:.2}{} | {}{:.2} | {:.1}× | {} | {} |\n",
            name(measured),
            measured.case.depth,
            grouped(found.actions as u64),
            found.search,
            stopped(found.complete),
            if timed < 1.0 { "≈ " } else { "" },
            found.seconds,
            share * found.seconds / found.search,
            if timed < 1.0 { format!("{:.3} %", 100.0 * timed) } else { "all".to_owned() },
            if found.equal { "yes" } else { "**NO**" },
        );
    }
    text
}

/// Another build of sogar beside this one.
fn against_table(measurements: &[Measurement]) -> String {
    let with: Vec<(&Measurement, &Against)> =
        measurements.iter().filter_map(|measured| Some((measured, measured.against.as_ref()?))).collect();
    if with.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n| problem | depth | outcomes (s) | the other build's | search (s) | the other build's | ratio of leaf sets/s | fronts equal |\n\
         |---|--:|--:|--:|--:|--:|--:|---|\n",
    );
    for (measured, other) in with {
        let search = median(measured, |run| run.search);
        // A search that skips leaf sets is not slower for that: of complete runs the times count.
        let ratio = match measured.complete && other.complete {
            true => other.search / search,
            false => measured.searched as f64 / search / (other.leaf_sets as f64 / other.search),
        };
        let both = measured.complete && other.complete;
        text += &format!(
            "| {} | {} | {:.2} | {:.2} | {search:.2}{} | {:.2}{} | {ratio:.2}× | {} |\n",
            name(measured),
            measured.case.depth,
            median(measured, |run| run.outcomes),
            other.outcomes,
            stopped(measured.complete),
            other.search,
            stopped(other.complete),
            if other.differs {
                "**NO**"
            } else if both {
                "yes"
            } else {
                "not compared"
            },
        );
    }
    text
}

/// The search on a GPU beside that on the CPU, in leaf sets per second: the slower one may have been stopped.
fn device_table(measurements: &[Measurement]) -> String {
    let with: Vec<(&Measurement, &OnGpu)> =
        measurements.iter().filter_map(|measured| Some((measured, measured.on_gpu.as_ref()?))).collect();
    if with.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n| problem | depth | device | leaf sets | search (s) | leaf sets/s | ÷ CPU |\n|---|--:|---|--:|--:|--:|--:|\n",
    );
    for (measured, gpu) in with {
        let Measurement { searched, threads, .. } = measured;
        let (name, depth) = (name(measured), measured.case.depth);
        let seconds = median(measured, |run| run.search);
        let cpu_rate = *searched as f64 / seconds;
        let gpu_rate = gpu.leaf_sets as f64 / gpu.seconds;
        let sets = grouped(*searched);
        text += &format!(
            "| {name} | {depth} | cpu, {threads} threads | {sets} | {seconds:.2} | {cpu_rate:.0} | 1 |\n"
        );
        text += &format!(
            "| {name} | {depth} | {} | {} | {:.2}{} | {gpu_rate:.0} | {:.3} |\n",
            gpu.device,
            grouped(gpu.leaf_sets),
            gpu.seconds,
            stopped(gpu.complete),
            gpu_rate / cpu_rate,
        );
        if let Some(fault) = &gpu.fault {
            text += &format!("\n**{name}, {}: {fault}**\n", gpu.device);
        }
    }
    text
}

fn notes(measured: &Measurement) -> String {
    let each: Vec<String> =
        measured.runs.iter().map(|run| format!("{:.2} + {:.2}", run.outcomes, run.search)).collect();
    let mut text = format!(
        "- {}, depth {}, min leaf {}: outcomes + search on {} threads, every run: {} s.",
        name(measured),
        measured.case.depth,
        measured.min_leaf,
        measured.threads,
        each.join(", ")
    );
    if let Some(found) = &measured.plain {
        text += &match measured.searched {
            same if same == found.leaf_sets => " It evaluated all leaf sets.".to_owned(),
            fewer if fewer < found.leaf_sets => format!(" It evaluated {} leaf sets.", grouped(fewer)),
            more => format!(" **THE SEARCH COUNTED {} LEAF SETS.**", grouped(more)),
        };
    }
    text + "\n"
}

/// Whether every check of a measurement holds.
pub fn holds(measured: &Measurement) -> bool {
    measured.plain.as_ref().is_none_or(|found| found.equal && measured.searched <= found.leaf_sets)
        && measured.against.as_ref().is_none_or(|other| !other.differs)
        && measured.on_gpu.as_ref().is_none_or(|gpu| gpu.fault.is_none())
}

/// The median of all runs.
pub fn median(measured: &Measurement, of: impl Fn(&Seconds) -> f64) -> f64 {
    let mut times: Vec<f64> = measured.runs.iter().map(of).collect();
    times.sort_by(f64::total_cmp);
    let (below, above) = (times.len().saturating_sub(1) / 2, times.len() / 2);
    match (times.get(below), times.get(above)) {
        (Some(a), Some(b)) => (a + b) / 2.0,
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::super::problems::Case;
    use super::*;

    fn measured() -> Measurement {
        let run = |search| Seconds { outcomes: 1.0, first: 0.1, search };
        Measurement {
            case: Case::new("tiny", 2),
            min_leaf: 5,
            rows: 1_234,
            splits: 7,
            actions: 1_000,
            complete: true,
            points: 12,
            threads: 2,
            searched: 40,
            losses_counted: 400,
            peak_bytes: 5_000_000,
            guess: Some([0.5, 4.0]),
            runs: vec![run(3.0), run(1.0), run(9.0)],
            on_gpu: None,
            plain: Some(Comparison {
                search: 5.0,
                searched: 40,
                complete: true,
                leaf_sets: 40,
                actions: 900,
                timed_sets: 20,
                timed_tiles: 0.5,
                seconds: 400.0,
                equal: true,
            }),
            against: None,
            anytime: None,
            ceiling: None,
        }
    }

    #[test]
    fn tables_show_medians_ratios_and_what_was_sampled() {
        let text = report(&[measured()]);
        for part in [
            "| tiny | 2 | 1,234 | 7 | 1,000 | 40 | 1.00 | 3.00 | 0.50 + 4.00 | 13 | 0.10 | 1.00 % | 12 | 5 MB |",
            "| tiny | 2 | 900 | 5.00 | ≈ 400.00 | 80.0× | 25.000 % | yes |",
            "every run: 1.00 + 3.00, 1.00 + 1.00, 1.00 + 9.00 s. It evaluated all leaf sets.",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn a_failed_check_is_loud() {
        let mut wrong = measured();
        wrong.searched = 41;
        assert!(!holds(&wrong) && report(&[wrong]).contains("**THE SEARCH COUNTED 41 LEAF SETS.**"));
        let mut wrong = measured();
        wrong.plain.iter_mut().for_each(|found| found.equal = false);
        assert!(!holds(&wrong) && report(&[wrong]).contains("| **NO** |"));
        let mut wrong = measured();
        wrong.against =
            Some(Against { outcomes: 1.0, search: 6.0, leaf_sets: 40, complete: true, differs: true });
        assert!(!holds(&wrong) && report(&[wrong]).contains("| 3.00 | 6.00 | 2.00× | **NO** |"));
        assert!(holds(&measured()));
    }

    #[test]
    fn a_stopped_search_is_compared_by_leaf_sets() {
        let mut stopped = measured();
        stopped.complete = false;
        stopped.plain.iter_mut().for_each(|found| (found.complete, found.searched) = (false, 10));
        stopped.against =
            Some(Against { outcomes: 1.0, search: 6.0, leaf_sets: 20, complete: false, differs: false });
        let text = report(&[stopped]);
        assert!(text.contains("3.00, stopped"), "{text}");
        assert!(text.contains("| 5.00, stopped | ≈ 400.00 | 20.0× |"), "{text}");
        assert!(text.contains("| 6.00, stopped | 4.00× | not compared |"), "{text}");
    }

    #[test]
    fn a_gpu_is_shown_beside_the_cpu_with_the_ratio() {
        let mut one = measured();
        assert_eq!(device_table(std::slice::from_ref(&one)), "");
        one.on_gpu = Some(OnGpu {
            device: "gpu:0 (a <GPU>)".to_owned(),
            complete: false,
            leaf_sets: 20,
            seconds: 3.0,
            fault: None,
        });
        let text = device_table(std::slice::from_ref(&one));
        assert!(text.contains("| tiny | 2 | cpu, 2 threads | 40 | 3.00 | 13 | 1 |"), "{text}");
        assert!(text.contains("| tiny | 2 | gpu:0 (a <GPU>) | 20 | 3.00, stopped | 7 | 0.500 |"), "{text}");
        assert!(holds(&one));
        one.on_gpu = one.on_gpu.map(|gpu| OnGpu { fault: Some("lost".to_owned()), ..gpu });
        assert!(!holds(&one));
    }
}
