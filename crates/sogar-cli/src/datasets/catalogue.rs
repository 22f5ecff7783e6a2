//! The list of data sets, one entry per table.

use super::{Dataset, Original, Source};

const CC_BY: &str = "CC BY 4.0";
const ADULT_ZIP: &str = "https://archive.ics.uci.edu/static/public/2/adult.zip";
const ADULT_PAGE: &str = "https://archive.ics.uci.edu/dataset/2/adult";
const ADULT_CITATION: &str = "Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. \
                              https://doi.org/10.24432/C5XW20";
const BANK_ZIP: &str = "https://archive.ics.uci.edu/static/public/222/bank+marketing.zip";
const BANK_PAGE: &str = "https://archive.ics.uci.edu/dataset/222/bank+marketing";
const BANK_CITATION: &str = "Moro, S., Rita, P. and Cortez, P. (2014). Bank Marketing. UCI Machine Learning \
                             Repository. https://doi.org/10.24432/C5K306";

/// Every data set that can be fetched by name, in the order in which they are listed.
pub static CATALOGUE: &[Dataset] = &[
    Dataset {
        name: "adult",
        title: "Census income, the training half",
        file: "adult_train.csv",
        rows: 32_561,
        columns: 15,
        label: "income",
        desired: ">50K",
        preset: Some("adult"),
        licence: CC_BY,
        citation: ADULT_CITATION,
        homepage: ADULT_PAGE,
        source: Source::Url(ADULT_ZIP),
        sha256: "f2c62076f19504d99a38b22badf445a7f42530ade6b827acf78dd143fbce38bb",
        members: &["adult.data"],
        original: Original::Adult,
    },
    Dataset {
        name: "adult-test",
        title: "Census income, the test half",
        file: "adult_test.csv",
        rows: 16_281,
        columns: 15,
        label: "income",
        desired: ">50K",
        preset: Some("adult"),
        licence: CC_BY,
        citation: ADULT_CITATION,
        homepage: ADULT_PAGE,
        source: Source::Url(ADULT_ZIP),
        sha256: "f6b1801c5d231515ea5ff04d4444997bacd57e04876e94710cb9b9bd5549c033",
        members: &["adult.test"],
        original: Original::Adult,
    },
    Dataset {
        name: "german",
        title: "Credit applications at a German bank, codes decoded",
        file: "german.csv",
        rows: 1_000,
        columns: 21,
        label: "credit",
        desired: "good",
        preset: Some("german"),
        licence: CC_BY,
        citation: "Hofmann, H. (1994). Statlog (German Credit Data). UCI Machine Learning Repository. \
                   https://doi.org/10.24432/C5NC77",
        homepage: "https://archive.ics.uci.edu/dataset/144/statlog+german+credit+data",
        source: Source::Url("https://archive.ics.uci.edu/static/public/144/statlog+german+credit+data.zip"),
        sha256: "52f3d671e7e5c9d239dbec9ecc1fceeeeffbb37b41cc9e3ddd57fe35a6188307",
        members: &["german.data"],
        original: Original::German,
    },
    Dataset {
        name: "bank",
        title: "Telephone marketing of a Portuguese bank, the 10 % sample",
        file: "bank.csv",
        rows: 4_521,
        columns: 17,
        label: "y",
        desired: "yes",
        preset: Some("bank"),
        licence: CC_BY,
        citation: BANK_CITATION,
        homepage: BANK_PAGE,
        source: Source::Url(BANK_ZIP),
        sha256: "09de0bb208744ae3f9856b3cdf80c47bc249e651fb3f42d21aff19f927e61f5a",
        members: &["bank.csv", "bank.zip"],
        original: Original::Semicolons,
    },
    Dataset {
        name: "bank-additional",
        title: "The same campaign with social and economic indicators, the 10 % sample",
        file: "bank_additional.csv",
        rows: 4_119,
        columns: 21,
        label: "y",
        desired: "yes",
        preset: None,
        licence: CC_BY,
        citation: BANK_CITATION,
        homepage: BANK_PAGE,
        source: Source::Url(BANK_ZIP),
        sha256: "70511d7c603952e1152369027e1515293ce8340f8822f7599bbff81fbf2e6842",
        members: &["bank-additional.csv", "bank-additional.zip"],
        original: Original::Semicolons,
    },
    Dataset {
        name: "attrition",
        title: "Employees who left or stayed (fictional, by IBM)",
        file: "attrition.csv",
        rows: 1_470,
        columns: 35,
        label: "Attrition",
        desired: "No",
        preset: Some("attrition"),
        licence: "DbCL 1.0",
        citation: "Subhash, P. (2017). IBM HR Analytics Employee Attrition & Performance. Kaggle.",
        homepage: "https://www.kaggle.com/datasets/pavansubhasht/ibm-hr-analytics-attrition-dataset",
        source: Source::ByHand {
            instructions: "Kaggle asks for an account: download the file from the page below, then run \
                           `sogar data fetch attrition --from FILE` with the CSV or the zip archive",
        },
        sha256: "d11789e1db393cd1d985ca41a0e73a1d405543fb2c0d540a3b4f7d723bca92f7",
        members: &["WA_Fn-UseC_-HR-Employee-Attrition.csv"],
        original: Original::Commas,
    },
];
