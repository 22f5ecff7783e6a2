//! Letters: what they say, to whom, and in which language.

use super::*;

#[test]
fn a_letter_shows_hostile_words_and_runs_none() {
    let prepared = prepared();
    let front = solved(&prepared);
    let hostile = "</bdi></style><script>alert(1)</script><img src=x onerror=\"x\">\u{202e}";
    let mut odd = person(&prepared, |entries| drop(entries.insert("job".into(), hostile.into()))).unwrap();
    odd.name = hostile.to_owned();
    let told = explain(&front, &prepared, &odd, front.points.len() - 1).unwrap();
    let letter = LetterFields {
        from: Some(hostile.into()),
        to: Some("x".repeat(10_000)),
        date: Some(hostile.into()),
        subject: Some(hostile.into()),
        contact: Some(hostile.into()),
        ..LetterFields::default()
    };
    let html = letter_html(&told, &letter, &Messages::english()).unwrap();
    assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("onerror=\"x"), "{html}");
    assert!(html.contains("default-src 'none'") && html.contains(&"x".repeat(10_000)));
    assert_eq!(html.matches("<style>").count(), 1);
    assert!(!text(&told).contains('\u{202e}'));
}

#[test]
fn a_letter_gives_the_decision_then_the_reasons_then_ways_and_nothing_that_is_not_for_its_reader() {
    let mut config = config();
    for (name, display) in [("income", "monthly income"), ("job", "occupation"), ("age", "age in years")] {
        let settings = config.features.entry(name.into()).or_default();
        settings.display = Some(display.into());
    }
    config.features.entry("income".into()).or_default().unit = Some("€".into());
    let school = config.features.entry("school".into()).or_default();
    (school.protected, school.direction) = (Some(true), None);
    config.model.outcomes =
        [("no".to_owned(), "declined".to_owned()), ("yes".to_owned(), "granted".to_owned())].into();
    let prepared = Prepared::new(config, Path::new(""), &people(), model(), None).unwrap();
    let front = solved(&prepared);
    let fields = LetterFields::parse(
        "application_id = \"A-17\"\ndecision_date = \"1 May\"\nmodel_role = \"It decided.\"\nhuman_review = \"Ask us.\"\n\
         review_by = \"1 June\"\ncontact = \"Desk 4\"\nlegal_text = \"By law.\"\n",
    )
    .unwrap();
    assert!(fields.warnings().is_empty());
    let mut ways = [0, 0, 0];
    let mut left_out = 0;
    for &row in prepared.affected() {
        let mut person = Person::of_row(&prepared, row).unwrap();
        person.notes.push("a note for the operator".into());
        let told = explain(&front, &prepared, &person, front.points.len() - 1).unwrap();
        for (language, order) in [
            (
                "en",
                [
                    "The decision",
                    "The main reasons",
                    "What would change the model",
                    "If a detail is wrong",
                    "person to look at",
                ],
            ),
            (
                "de",
                [
                    "Die Entscheidung",
                    "Die wichtigsten Gründe",
                    "Was die Antwort",
                    "Wenn eine Angabe",
                    "ein Mensch",
                ],
            ),
        ] {
            let messages = Messages::built_in(language).unwrap();
            let html = letter_html(&told, &fields, &messages).unwrap();
            let body = &html[html.find("<main>").unwrap()..];
            let places: Vec<usize> = order.iter().map(|wanted| body.find(wanted).unwrap()).collect();
            assert!(places.is_sorted(), "{language} {places:?}");
            for wanted in
                ["declined", "A-17", "1 May", "It decided.", "Ask us.", "1 June", "Desk 4", "By law."]
            {
                assert!(body.contains(wanted), "{language} {wanted}");
            }
            for hidden in ["operator", "school", ">income<", ">job<", "`", "{"] {
                assert!(!body.contains(hidden), "{language}: {hidden} in {body}");
            }
            let all =
                ["These details of yours moved", "Diese Angaben haben"].iter().any(|all| body.contains(all));
            let some =
                ["Among the details of yours", "Zu den Angaben"].iter().any(|some| body.contains(some));
            let hides = told.reasons.iter().any(|reason| reason.protected);
            assert_eq!((all, some), (!hides, hides), "{language}: a letter claims the reasons that it gives");
            left_out += usize::from(hides);
            let offered = body.matches("<table>").count();
            assert_eq!(offered == 0, told.cheapest.is_none(), "row {row}");
            ways[offered] += 1;
            let not_reasons = if language == "en" { "not the reasons" } else { "nicht die Gründe" };
            assert_eq!(offered > 0, body.contains(not_reasons));
        }
    }
    assert!(ways[1] > 0 && ways[2] > 0 && left_out > 0, "{ways:?} {left_out}");
}

#[test]
fn a_second_way_does_not_ask_for_the_first_and_more() {
    let prepared = prepared();
    let front = solved(&prepared);
    let row = prepared.affected()[0];
    let told = explain(&front, &prepared, &Person::of_row(&prepared, row).unwrap(), 0).unwrap();
    let change = |feature: &str, from: Value, to: Value| Changed {
        feature: feature.into(),
        from: Some(from),
        to: Some(to),
        changes: true,
        follows: None,
    };
    let number = |feature: &str, from: f64, to: f64| change(feature, Value::Number(from), Value::Number(to));
    let job = |to: &str| change("job", Value::Level("none".into()), Value::Level(to.into()));
    let ways = |first: Vec<Changed>, second: Vec<Changed>| {
        let mut told = told.clone();
        let advice = |changes| Advice { changes, works: true, ..told.cheapest.clone().unwrap() };
        let (first, second) = (advice(first), advice(second));
        (told.cheapest, told.suggestion) = (Some(first), Some(second));
        let html = letter_html(&told, &LetterFields::default(), &Messages::english()).unwrap();
        (html.matches("<table>").count(), html.contains("was worked out for"))
    };
    let group = told.group.as_ref().unwrap();
    assert!(group.rows >= 10.0);
    for (first, second, wanted) in [
        // The same way: it is that of the group.
        (vec![number("income", 20.0, 25.0)], vec![number("income", 20.0, 25.0)], (1, true)),
        // Further in the same direction, or something unnecessary on top.
        (vec![number("income", 20.0, 25.0)], vec![number("income", 20.0, 30.0)], (1, false)),
        (vec![number("hours", 20.0, 15.0)], vec![number("hours", 20.0, 10.0), job("clerk")], (1, false)),
        // Less of the one and another: a choice.
        (vec![number("income", 20.0, 30.0)], vec![number("income", 20.0, 25.0), job("clerk")], (2, true)),
        (vec![job("nurse")], vec![job("clerk")], (2, true)),
        (vec![job("clerk")], vec![number("income", 20.0, 25.0)], (2, true)),
    ] {
        assert_eq!(ways(first.clone(), second.clone()), wanted, "{first:?} {second:?}");
    }
}

#[test]
fn ways_are_numbered_only_where_there_are_two_or_one_is_of_a_group() {
    let prepared = prepared();
    let front = solved(&prepared);
    let mut found = [false; 2];
    for &row in prepared.affected() {
        let person = Person::of_row(&prepared, row).unwrap();
        let told = explain(&front, &prepared, &person, front.points.len() - 1).unwrap();
        let html = letter_html(&told, &LetterFields::default(), &Messages::english()).unwrap();
        let ways = html.matches("<table>").count();
        let numbered = ways == 2 || html.contains("was worked out for");
        assert_eq!(html.matches("<h3>").count(), if numbered { ways } else { 0 }, "{html}");
        found[usize::from(numbered)] |= ways > 0;
    }
    assert_eq!(found, [true; 2]);
}

#[test]
fn a_detail_that_moves_along_with_another_is_not_said_to_stay() {
    let mut config = config();
    config.links = vec![Link { from: "income".into(), to: "age".into(), factor: 0.5 }];
    let age = config.features.entry("age".into()).or_default();
    (age.immutable, age.direction, age.steps) = (Some(true), None, None);
    let prepared = Prepared::new(config, Path::new(""), &people(), model(), None).unwrap();
    let front = solved(&prepared);
    let mut moved = 0;
    for &row in prepared.affected() {
        let person = Person::of_row(&prepared, row).unwrap();
        let told = explain(&front, &prepared, &person, front.points.len() - 1).unwrap();
        assert!(!told.immutable.contains(&"age".to_owned()));
        let html = letter_html(&told, &LetterFields::default(), &Messages::english()).unwrap();
        moved += usize::from(html.contains("moves along"));
        let stays = html.split("What you were not asked to change").nth(1).unwrap_or_default();
        assert!(!stays.contains("age"), "{html}");
    }
    assert!(moved > 0);
}

#[test]
fn what_was_not_computed_is_not_said_to_be_none() {
    let prepared = prepared();
    let front = solved(&prepared);
    let none = ReasonSettings { most: 0, ..ReasonSettings::default() };
    assert!(Explainer::new(&front, &prepared, none).err().unwrap().to_string().contains("0 is no number"));
    let row = prepared.affected()[0];
    let mut told = explain(&front, &prepared, &Person::of_row(&prepared, row).unwrap(), 0).unwrap();
    (told.reasons, told.reasons_known) = (Vec::new(), false);
    let refused = letter_html(&told, &LetterFields::default(), &Messages::english()).unwrap_err();
    assert!(refused.to_string().contains("whole reference table"), "{refused}");
}

#[test]
fn letters_to_all_are_one_folder_with_an_index() {
    let prepared = prepared();
    let front = solved(&prepared);
    let people: Vec<Person> =
        prepared.affected().iter().map(|&row| Person::of_row(&prepared, row).unwrap()).collect();
    let explainer = Explainer::new(&front, &prepared, ReasonSettings::default()).unwrap();
    let mut seen = 0;
    let told = explainer.explain_all(&people, 1, &mut |done, all| seen += usize::from(done <= all)).unwrap();
    assert_eq!((told.len(), seen), (people.len(), people.len()));
    let one = explain(&front, &prepared, &people[3], 1).unwrap();
    assert_eq!(one, told[3], "together as alone");
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("letters");
    let fields = |_: &Explanation| Ok(LetterFields::default());
    write_letters(&folder, &told, &fields, &Messages::english()).unwrap();
    let index = std::fs::read_to_string(folder.join(INDEX)).unwrap();
    assert_eq!(index.lines().count(), people.len() + 1);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), people.len() + 1);
    // One letter that cannot be written: none is.
    let other = place.path().join("other");
    let failing = |told: &Explanation| match told.person.row {
        row if row == people[9].row.map(|row| row + 1) => Err(no_such_point(&front, 1)),
        _ => Ok(LetterFields::default()),
    };
    assert!(write_letters(&other, &told, &failing, &Messages::english()).is_err());
    assert!(!other.exists());
}

#[test]
fn a_letter_is_in_the_language_of_its_messages_whatever_the_explanation_was_made_in() {
    let mut config = config();
    config.features.entry("income".into()).or_default().codes = Some(vec![-9.0]);
    let prepared = Prepared::new(config, Path::new(""), &people(), model(), None).unwrap();
    let front = solved(&prepared);
    let code =
        person(&prepared, |entries| drop(entries.insert("income".into(), serde_json::json!(-9)))).unwrap();
    let told = explain(&front, &prepared, &code, front.points.len() - 1).unwrap();
    assert!(!told.decision.desired && told.reasons.iter().any(|reason| reason.feature == "income"));
    let letter = |file: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("messages.toml");
        std::fs::write(&path, file).unwrap();
        let (messages, warnings) = Messages::read(&path).unwrap();
        assert_eq!(warnings, Vec::<String>::new());
        letter_html(&told, &LetterFields::default(), &messages)
    };
    let plain = letter("language = \"de\"\n").unwrap();
    assert!(plain.contains("Income: keine Zahl (bei uns als „-9“ erfasst)"), "{plain}");
    // Nothing tells how to have the decision reviewed, so nothing is said to stand below.
    assert!(!plain.contains("Unten steht"));
    let named = letter(
        "language = \"de\"\n[features.income]\ndisplay = \"Einkommen\"\nunit = \"Euro\"\nvalues = { \"-9\" = \"keine Angabe\" }\n\
         [outcomes]\nno = \"abgelehnt\"\nyes = \"bewilligt\"\n",
    )
    .unwrap();
    assert!(named.contains("Einkommen: keine Angabe") && named.contains("abgelehnt"), "{named}");
    let body = &named[named.find("<main>").unwrap()..];
    assert!(!body.contains("ncome") && !body.contains("-9"), "{body}");
    for (file, wanted) in [
        ("[features.incme]\ndisplay = \"x\"\n", "there is no feature `incme`"),
        ("[features.income]\nvalues = { \"-8\" = \"x\" }\n", "the value `-8`, which `income` does not have"),
        ("[outcomes]\nmaybe = \"x\"\n", "the outcome `maybe`"),
    ] {
        let error = letter(&format!("language = \"de\"\n{file}")).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
    }
}
