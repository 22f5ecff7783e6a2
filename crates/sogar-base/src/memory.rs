//! The available memory: the machine's, or less if a control group (a container, a service, a batch job) is limited.

use std::path::Path;

/// The memory that this process can use; 8 GB if the system does not say.
pub fn machine_memory() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let machine = total(&read("/proc/meminfo")).unwrap_or(8_000_000_000);
    let group = group_limit(&read("/proc/self/cgroup"), Path::new("/sys/fs/cgroup"));
    group.map_or(machine, |group| group.min(machine))
}

fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The smallest limit of the groups of a process, as `/proc/self/cgroup` lists them (both versions). A group's limit also holds
/// for the groups below it. If a container sees its own group as the root, the listed path does not exist, and the root counts.
fn group_limit(groups: &str, root: &Path) -> Option<u64> {
    let limit = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (folder, file) = match controllers {
            "" => (root.to_path_buf(), "memory.max"),
            named if named.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let own = folder.join(path.trim_start_matches('/'));
        let up = own.ancestors().take_while(|group| group.starts_with(&folder));
        // "max", or an unreadable file, means no limit.
        up.filter_map(|group| std::fs::read_to_string(group.join(file)).ok()?.trim().parse().ok()).min()
    };
    groups.lines().filter_map(limit).min()
}

/// Three quarters of the machine's memory, in bytes.
pub fn machine_share() -> u64 {
    machine_memory() / 4 * 3
}

/// Bytes in readable form.
pub fn amount(bytes: u128) -> String {
    match bytes as f64 {
        small if small < 1e9 => format!("{:.1} MB", small / 1e6),
        large if large < 1e12 => format!("{:.1} GB", large / 1e9),
        huge => format!("{:.1} TB", huge / 1e12),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn files(contents: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in contents {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn the_machines_memory_is_read() {
        assert_eq!(total("MemFree: 1 kB\nMemTotal:       16000 kB\n"), Some(16_384_000));
        assert_eq!(total(""), None);
        assert!(machine_memory() > 0);
    }

    #[test]
    fn the_smallest_limit_of_version_two_counts() {
        let root = files(&[
            ("memory.max", "max\n"),
            ("job/memory.max", "500000000\n"),
            ("job/step/memory.max", "2000000000\n"),
        ]);
        let limit = |groups: &str| group_limit(groups, root.path());
        assert_eq!(limit("0::/job/step\n"), Some(500_000_000));
        assert_eq!(limit("0::/job\n"), Some(500_000_000));
        assert_eq!(limit("0::/\n"), None);
        assert_eq!(limit("0::/elsewhere\n"), None);
        assert_eq!(limit("nonsense\n"), None);
        let container = files(&[("memory.max", "300000000")]);
        assert_eq!(group_limit("0::/system.slice/docker-1.scope\n", container.path()), Some(300_000_000));
        assert_eq!(group_limit("0::/../outside\n", container.path()), Some(300_000_000));
    }

    #[test]
    fn the_smallest_limit_of_version_one_counts() {
        let root = files(&[
            ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/job/memory.limit_in_bytes", "400000000\n"),
            ("cpu/job/memory.limit_in_bytes", "1\n"),
        ]);
        let groups = "5:cpu,cpuacct:/job\n4:memory:/job\n1:name=systemd:/job\n0::/job\n";
        assert_eq!(group_limit(groups, root.path()), Some(400_000_000));
        assert_eq!(group_limit("3:hugetlb,memory:/job/unseen\n", root.path()), Some(400_000_000));
    }
}
