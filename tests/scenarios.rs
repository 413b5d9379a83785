//! Scenario files through the whole pure core: ours, and the shared ones where present.

use std::{env, fs, path::PathBuf};

use atalaya::scenario;

fn check(folder: &PathBuf) -> usize {
    let mut faults = Vec::new();
    let mut count = 0;
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder reads")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    for path in files {
        let text = fs::read_to_string(&path).expect("a scenario file");
        let file = scenario::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for row in &file.scenario {
            count += 1;
            let outcome = scenario::run(row).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            println!("{}: {:?} {:?}", row.id, outcome.moves, outcome.alerts);
            for fault in outcome.faults {
                faults.push(format!("{} {}: {fault}", path.display(), row.id));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    count
}

#[test]
fn our_scenarios_hold() {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    assert!(check(&own) > 0);
}

#[test]
fn the_shared_scenarios_hold() {
    let shared = env::var_os("ATALAYA_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let folder = shared.join("scenarios");
    if !folder.is_dir() {
        assert!(
            env::var_os("CI").is_none(),
            "{} is missing",
            folder.display()
        );
        println!("skipped: {} is missing", folder.display());
        return;
    }
    assert!(check(&folder) > 0);
}
