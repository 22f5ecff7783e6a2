//! The measurements as Markdown tables, with notes that say what was sampled and what was checked.

use sogar::describe::grouped;

use super::gpu::OnGpu;
use super::measure::{Comparison, Measurement, Sample, Seconds};

/// All tables and notes.
pub fn report(measurements: &[Measurement]) -> String {
    let mut text = String::from(
        "| data set | depth | device | rows | splits | actions | leaf sets | outcomes (s) | search (s) | first front (s) \
         | actions evaluated | front | peak memory |\n|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for measured in measurements {
        text += &run_line(measured);
    }
    text += "\n| data set | depth | reference kernel (s) | additions/s | ÷ search | ÷ (outcomes + search) | in runs (s) \
             | additions/s | ÷ (outcomes + search) |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
    for measured in measurements {
        text += &reference_kernel_line(measured);
    }
    text += &device_table(measurements);
    text += "\n";
    for measured in measurements {
        text += &notes(measured);
    }
    text
}

fn run_line(measured: &Measurement) -> String {
    let Measurement { name, depth, rows, splits, actions, searched, .. } = measured;
    let cells = *searched as f64 * *actions as f64;
    let seconds = |of: fn(&Seconds) -> f64| format!("{:.2}", median(measured, of));
    format!(
        "| {name} | {depth} | cpu | {} | {splits} | {} | {} | {} | {}{} | {} | {:.2} % | {} | {:.0} MB |\n",
        grouped(*rows as u64),
        grouped(*actions as u64),
        grouped(measured.reference_kernel.as_ref().map_or(*searched, |found| found.leaf_sets)),
        seconds(|run| run.outcomes),
        seconds(|run| run.search),
        if measured.complete { "" } else { ", stopped" },
        seconds(|run| run.first),
        100.0 * measured.losses_counted as f64 / cells.max(1.0),
        grouped(measured.points as u64),
        measured.peak_bytes as f64 / 1e6,
    )
}

/// The search on a GPU beside that on the CPU, by leaf sets per second: the slower one may have been stopped.
fn device_table(measurements: &[Measurement]) -> String {
    let with: Vec<(&Measurement, &OnGpu)> =
        measurements.iter().filter_map(|measured| Some((measured, measured.on_gpu.as_ref()?))).collect();
    if with.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n| data set | depth | device | leaf sets | search (s) | leaf sets/s | ÷ CPU |\n|---|--:|---|--:|--:|--:|--:|\n",
    );
    for (measured, gpu) in with {
        let Measurement { name, depth, searched, threads, .. } = measured;
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
            if gpu.complete { "" } else { ", stopped" },
            gpu_rate / cpu_rate,
        );
        if let Some(fault) = &gpu.fault {
            text += &format!("\n**{name}, {}: {fault}**\n", gpu.device);
        }
    }
    text
}

fn reference_kernel_line(measured: &Measurement) -> String {
    let Measurement { name, depth, .. } = measured;
    let Some(Comparison { one_by_one, together, .. }) = &measured.reference_kernel else {
        return format!("| {name} | {depth} | – | – | – | – | – | – | – |\n");
    };
    let search = median(measured, |run| run.search);
    let both = median(measured, |run| run.outcomes + run.search);
    let ratio = |seconds: f64, ours: f64| match measured.complete {
        true => format!("{:.1}×", seconds / ours),
        false => "–".to_owned(),
    };
    format!(
        "| {name} | {depth} | {} | {} | {} | {} | {} | {} | {} |\n",
        timed(one_by_one, measured),
        billions(one_by_one),
        ratio(one_by_one.seconds, search),
        ratio(one_by_one.seconds, both),
        timed(together, measured),
        billions(together),
        ratio(together.seconds, both),
    )
}

fn notes(measured: &Measurement) -> String {
    let Measurement { name, depth, threads, runs, .. } = measured;
    let each: Vec<String> =
        runs.iter().map(|run| format!("{:.2} + {:.2}", run.outcomes, run.search)).collect();
    let mut text = format!(
        "- {name}, depth {depth}, min leaf {}: outcomes + search on {threads} threads, every run: {} s.",
        measured.min_leaf,
        each.join(", ")
    );
    let Some(found) = &measured.reference_kernel else {
        text += " No reference kernel: the leaf sets are too many to list, or their sums too large for its counters.\n";
        return text;
    };
    text += &match measured.searched {
        same if same == found.leaf_sets => {
            " The search evaluated as many leaf sets as were listed.".to_owned()
        }
        fewer if fewer < found.leaf_sets => format!(" The search evaluated {} of them.", grouped(fewer)),
        more => format!(" **THE SEARCH COUNTED {} LEAF SETS.**", grouped(more)),
    };
    if found.actions < measured.actions {
        let (some, all) = (grouped(found.actions as u64), grouped(measured.actions as u64));
        text += &format!(
            " The reference kernel's tables hold {some} of {all} actions; its time is scaled to all."
        );
    }
    for (what, sample) in [("one by one", &found.one_by_one), ("in runs", &found.together)] {
        if (sample.sets as u64) < found.leaf_sets {
            text += &format!(
                " {} leaf sets, neighbours drawn at random, were timed {what} ({:.2} % of all rows of all leaf sets); \
                 the rest is extrapolated.",
                grouped(sample.sets as u64),
                100.0 * sample.rows as f64 / found.total_rows as f64,
            );
        }
    }
    text += &match found.differing {
        0 => format!(" Its fronts equal those of plain loops (leaf sets compared: {}).", found.checked),
        some => format!(" **ITS FRONTS DIFFER FROM PLAIN LOOPS ON {some} OF {} LEAF SETS.**", found.checked),
    };
    text + "\n"
}

/// Whether every check of a measurement holds.
pub fn holds(measured: &Measurement) -> bool {
    measured
        .reference_kernel
        .as_ref()
        .is_none_or(|found| found.differing == 0 && measured.searched <= found.leaf_sets)
        && measured.on_gpu.as_ref().is_none_or(|gpu| gpu.fault.is_none())
}

fn timed(sample: &Sample, measured: &Measurement) -> String {
    let all = measured
        .reference_kernel
        .as_ref()
        .is_some_and(|found| found.leaf_sets == sample.sets as u64 && found.actions == measured.actions);
    let digits = if sample.seconds < 100.0 { 2 } else { 0 };
    format!("{}{:.digits$}", if all { "" } else { "≈ " }, sample.seconds)
}

fn billions(sample: &Sample) -> String {
    format!("{:.1} · 10⁹", sample.additions_per_second / 1e9)
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
    use super::*;

    fn measured() -> Measurement {
        let sample = |sets, seconds| Sample { sets, rows: 500, additions_per_second: 2.5e9, seconds };
        let run = |search| Seconds { outcomes: 1.0, first: 0.1, search };
        Measurement {
            name: "tiny".to_owned(),
            depth: 2,
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
            runs: vec![run(3.0), run(1.0), run(9.0)],
            on_gpu: None,
            reference_kernel: Some(Comparison {
                leaf_sets: 40,
                total_rows: 1_000,
                actions: 1_000,
                one_by_one: sample(20, 400.0),
                together: sample(40, 8.0),
                checked: 3,
                differing: 0,
            }),
        }
    }

    #[test]
    fn tables_show_medians_ratios_and_what_was_sampled() {
        let text = report(&[measured()]);
        for part in [
            "| tiny | 2 | cpu | 1,234 | 7 | 1,000 | 40 | 1.00 | 3.00 | 0.10 | 1.00 % | 12 | 5 MB |",
            "| tiny | 2 | ≈ 400 | 2.5 · 10⁹ | 133.3× | 100.0× | 8.00 | 2.5 · 10⁹ | 2.0× |",
            "every run: 1.00 + 3.00, 1.00 + 1.00, 1.00 + 9.00 s",
            "20 leaf sets, neighbours drawn at random, were timed one by one (50.00 %",
            "evaluated as many leaf sets as were listed",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("timed in runs ("));
    }

    #[test]
    fn a_failed_check_is_loud() {
        let mut wrong = measured();
        wrong.searched = 41;
        assert!(!holds(&wrong) && report(&[wrong]).contains("**THE SEARCH COUNTED 41 LEAF SETS.**"));
        let mut wrong = measured();
        wrong.reference_kernel.iter_mut().for_each(|found| found.differing = 1);
        assert!(!holds(&wrong) && report(&[wrong]).contains("DIFFER FROM PLAIN LOOPS ON 1 OF 3"));
        assert!(holds(&measured()));
    }

    #[test]
    fn a_stopped_search_has_no_ratio() {
        let mut stopped = measured();
        stopped.complete = false;
        let text = report(&[stopped]);
        assert!(text.contains("3.00, stopped") && text.contains("| – | – |"));
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
