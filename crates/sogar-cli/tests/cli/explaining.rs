//! `explain`, `diff` and `plot`: what people take away from a front.

use std::path::Path;

use crate::folder::{Folder, assert_transcript};

macro_rules! transcripts {
    ($($name:ident: $code:literal, $args:expr;)*) => {
        $(#[test]
        fn $name() {
            let folder = Folder::new();
            folder.write("mistyped.json", "{\"agee\": 41, \"income\": 20, \"hours\": 30, \"school\": \"none\", \"job\": \"clerk\", \"owner\": \"no\"}");
            folder.write("list.json", "[41, 20]");
            folder.write(
                "somebody.json",
                "{\"age\": 33, \"income\": null, \"hours\": 21, \"school\": \"none\", \"job\": \"astronaut\", \"owner\": false}",
            );
            let run = folder.sogar(&$args);
            assert_eq!(run.code, $code, "{run}");
            assert_transcript!(run);
        })*
    };
}

transcripts! {
    explain_a_row: 0, ["explain", "front.json", "--row", "1"];
    explain_at_a_dear_point: 0, ["explain", "front.json", "--row", "1", "--by", "loss<=0.1"];
    explain_somebody_with_gaps: 0, ["explain", "front.json", "--person", "somebody.json", "--by", "knee"];
    explain_somebody_who_was_not_turned_down: 0, ["explain", "front.json", "--row", "2"];
    explain_nobody: 2, ["explain", "front.json"];
    explain_row_zero: 2, ["explain", "front.json", "--row", "0"];
    explain_a_row_that_is_not_there: 2, ["explain", "front.json", "--row", "241"];
    explain_a_point_that_is_not_there: 2, ["explain", "front.json", "--row", "1", "--point", "999"];
    explain_a_mistyped_column: 2, ["explain", "front.json", "--person", "mistyped.json"];
    explain_a_list: 2, ["explain", "front.json", "--person", "list.json"];
    diff_with_itself: 0, ["diff", "front.json", "front.json"];
    diff_with_groups: 0, ["diff", "front.json", "front.json", "--group", "owner"];
    diff_with_an_unknown_group: 2, ["diff", "front.json", "front.json", "--group", "ownr"];
    plot_held_out_people_that_there_are_not: 2, ["plot", "holdout", "front.json"];
    plot_to_a_file_of_no_kind: 2, ["plot", "front", "front.json", "-o", "front.gif"];
    plot_a_png_to_the_terminal: 2, ["plot", "front", "front.json", "--format", "png"];
    plot_a_mark_that_is_none: 2, ["plot", "front", "front.json", "--mark", "GLANCE=0.3"];
    plot_an_unknown_group: 2, ["plot", "disparity", "front.json", "--group", "jbo"];
}

#[test]
fn json_has_what_the_text_says() {
    let folder = Folder::new();
    let told = folder.sogar(&["explain", "front.json", "--row", "1", "--json"]).json();
    assert_eq!((&told["person"]["row"], &told["decision"]["label"]), (&1.into(), &"no".into()));
    assert_eq!(told["suggestion"]["works"], true);
    assert_eq!((&told["cheapest"]["cost_units"], &told["actions_tried"]), (&41.into(), &153.into()));
    let change = &told["cheapest"]["changes"][0];
    assert_eq!(
        (&change["feature"], &change["from"], &change["to"]),
        (&"hours".into(), &21.0.into(), &29.0.into())
    );
    assert_eq!(told["immutable"], serde_json::json!(["age"]));
    let told = folder.sogar(&["explain", "front.json", "--row", "2", "--json"]).json();
    assert!(told["group"].is_null() && told["decision"]["desired"] == true);
}

#[test]
fn a_letter_is_written_and_is_one_file_without_scripts() {
    let folder = Folder::new();
    let run = folder.sogar(&[
        "explain",
        "front.json",
        "--row",
        "1",
        "--letter",
        "letter.html",
        "--to",
        "Ann & \"Bo\" <3",
        "--from",
        "A bank",
        "--quiet",
    ]);
    assert_eq!(run.code, 0, "{run}");
    let letter = folder.read("letter.html");
    assert!(letter.contains("Ann &amp; &quot;Bo&quot; &lt;3"), "{letter}");
    assert!(
        !letter.contains("<script") && !letter.contains("http://") && !letter.contains("https://"),
        "{letter}"
    );
    assert_eq!(
        folder.sogar(&["explain", "front.json", "--row", "1", "--to", "Ann"]).code,
        2,
        "a letter is needed"
    );
    let run = folder.sogar(&["explain", "front.json", "--row", "1", "--letter", "no/letter.html"]);
    assert!(run.code == 2 && run.stderr.contains("`no` does not exist"), "{run}");
}

#[test]
fn letters_to_all_are_a_new_folder_and_bad_input_writes_none() {
    let folder = Folder::new();
    folder.write("fields.toml", "contact = \"Desk 4\"\nmodel_role = \"It decided.\"\n");
    folder.write("codes.csv", "feature,direction,code,text\nincome,low,R1,Income too low\n");
    let letters = |more: &[&str]| {
        let plain = ["explain", "front.json", "--all", "--letters", "letters", "--fields", "fields.toml"];
        folder.sogar(&plain.iter().chain(more).copied().collect::<Vec<&str>>())
    };
    let refused: [(&str, &str, &[&str], &str); 8] = [
        ("fields.toml", "contct = \"x\"", &[], "`contct` is not a field of a letter"),
        ("fields.toml", "contact = \"<i>us</i>\"", &[], "the field `contact` has markup"),
        (
            "codes.csv",
            "feature,direction,code,text\nincom,low,R1,\n",
            &["--codes", "codes.csv"],
            "no feature `incom`",
        ),
        ("m.toml", "[text]\n", &["--messages", "m.toml"], "not a file of messages"),
        ("r.csv", "row,to\n2,Ann\n", &["--recipients", "r.csv"], "row 2 gets no letter"),
        ("r.csv", "row,to\n1,Ann\n", &["--recipients", "r.csv"], "the list of recipients lacks row"),
        ("x", "", &["--language", "fr"], "no messages in `fr`"),
        ("x", "", &["--reasons", "0"], "0 is no number of reasons"),
    ];
    for (file, text, flags, wanted) in refused {
        let kept = std::fs::read_to_string(folder.path(file)).unwrap_or_default();
        folder.write(file, text);
        let run = letters(flags);
        assert!(run.code == 2 && run.stderr.contains(wanted), "{wanted}: {run}");
        assert!(!folder.path("letters").exists(), "{wanted}");
        folder.write(file, &kept);
    }
    let nowhere = folder.sogar(&["explain", "front.json", "--all", "--letters", "no/letters"]);
    assert!(nowhere.code == 2 && nowhere.stderr.contains("there is no such folder"), "{nowhere}");
    let run = letters(&["--codes", "codes.csv", "--language", "de", "--json"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("does not say how to ask for a human review"), "{run}");
    let told = run.json();
    let index = folder.read("letters/index.csv");
    assert_eq!(index.lines().count() as u64, told["letters"].as_u64().unwrap() + 1);
    assert!(index.contains("R1"), "{index}");
    let again = letters(&[]);
    assert!(again.code == 2 && again.stderr.contains("new or empty"), "{again}");
    let accepted = folder.sogar(&["explain", "front.json", "--row", "2", "--letter", "letter.html"]);
    assert!(accepted.code == 2 && accepted.stderr.contains("no adverse decision"), "{accepted}");
    assert!(!folder.path("letter.html").exists());
}

#[test]
fn letters_of_the_german_example_are_german_throughout() {
    let folder = Folder::new();
    let example = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/german").join(name);
        path.to_str().unwrap().to_owned()
    };
    let [table, model, config] = ["german.csv", "model.txt", "sogar.toml"].map(example);
    let solve = ["solve", &table, "--model", &model, "--config", &config, "--max-edits", "1", "-o", "g.json"];
    assert_eq!(folder.sogar(&solve).code, 0);
    let [fields, messages] = ["letter.de.toml", "messages.de.toml"].map(example);
    let letters = |messages: &str, into: &str| {
        let flags = ["--fields", fields.as_str(), "--messages", messages];
        let run = folder.sogar(&[&["explain", "g.json", "--all", "--letters", into], &flags[..]].concat());
        assert_eq!(run.code, 0, "{run}");
        run.stderr
    };
    let said = letters(&messages, "letters");
    assert!(!said.contains("does not say") && !said.contains("lack names"), "{said}");
    let mut written = 0;
    for entry in std::fs::read_dir(folder.path("letters")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "html") {
            let page = std::fs::read_to_string(path).unwrap();
            let body = &page[page.find("<main>").unwrap()..];
            for foreign in
                ["loan", "account", " at least ", " DM /", "_", "&lt;", "declined", "bad", "`", "{"]
            {
                assert!(!body.contains(foreign), "{foreign}: {body}");
            }
            written += 1;
        }
    }
    assert!(written > 300, "{written}");
    // English letters with the example's names of values have no signs for people to decipher.
    let [fields, messages] = ["letter.toml", "messages.toml"].map(example);
    let flags = ["--row", "2", "--letter", "letter.html", "--fields", &fields, "--messages", &messages];
    let run = folder.sogar(&[&["explain", "g.json"], &flags[..]].concat());
    assert!(run.code == 0 && !run.stderr.contains("lack names"), "{run}");
    let page = folder.read("letter.html");
    assert!(page.contains("0 to less than 200 DM") && !page.contains("&lt;"), "{page}");
    // A file that names some things alone is said to.
    folder.write(
        "some.toml",
        "language = \"de\"\n[features.job]\ndisplay = \"Beruf\"\n[features.housing]\ndisplay = \"Wohnung\"\nvalues = { own = \"eigene\" }\n\
         [outcomes]\nbad = \"abgelehnt\"\n",
    );
    let said = letters("some.toml", "others");
    assert!(said.contains("the messages lack names") && said.contains("`purpose`, "), "{said}");
    assert!(said.contains("the value `rent` of `housing`") && said.contains("the outcome `good`"), "{said}");
    assert!(!said.contains("`job`") && !said.contains("`age`"), "{said}");
}

#[test]
fn figures_are_printed_or_written() {
    let folder = Folder::new();
    let printed = folder.sogar(&["plot", "front", "front.json"]);
    assert!(printed.code == 0 && printed.stdout.starts_with("<svg "), "{printed}");
    let written = folder.sogar(&["plot", "front", "front.json", "-o", "front.svg", "--json"]);
    assert_eq!(written.json()["figure"], "front.svg");
    assert_eq!(folder.read("front.svg"), printed.stdout);
    for (name, args) in [
        ("tree.svg", &["plot", "tree", "front.json", "--by", "loss<=0.1"][..]),
        ("groups.svg", &["plot", "disparity", "front.json", "--group", "owner", "--measure", "loss"]),
        ("fair.svg", &["plot", "fairness", "front.json", "--group", "owner"]),
        ("times.svg", &["plot", "timeouts", "front.json", "front.json", "--name", "an hour"]),
    ] {
        let run = folder.sogar(&[args, &["-o", name]].concat());
        assert_eq!(run.code, 0, "{run}");
        assert!(folder.read(name).ends_with("</svg>\n"), "{name}");
    }
    let evaluated = folder.sogar(&["evaluate", "front.json", "--holdout", "others.csv", "--json"]);
    folder.write("evaluation.json", &evaluated.stdout);
    let run = folder.sogar(&["plot", "holdout", "front.json", "--evaluation", "evaluation.json"]);
    assert!(run.code == 0 && run.stdout.contains("mean distance"), "{run}");
    let run = folder.sogar(&["plot", "holdout", "front.json", "--evaluation", "people.csv"]);
    assert!(run.code == 2 && run.stderr.contains("not an evaluation"), "{run}");
}

#[cfg(feature = "png")]
#[test]
fn a_png_is_one() {
    let folder = Folder::new();
    let run = folder.sogar(&["plot", "tree", "front.json", "-o", "tree.png", "--scale", "1"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(std::fs::read(folder.path("tree.png")).unwrap().starts_with(b"\x89PNG"));
    let run = folder.sogar(&["plot", "tree", "front.json", "-o", "tree.png", "--scale", "1e4"]);
    assert!(run.code == 2 && run.stderr.contains("too large"), "{run}");
}

#[test]
fn a_command_as_the_model_is_only_run_if_it_is_given_again() {
    let folder = Folder::new();
    folder.replace("front.json", "\"model\":{}", "\"model\":{\"command\":\"touch ran\"}");
    let run = folder.sogar(&["explain", "front.json", "--row", "1"]);
    assert!(run.code == 2 && run.stderr.contains("only run if you give it"), "{run}");
    assert!(!folder.path("ran").exists());
}
