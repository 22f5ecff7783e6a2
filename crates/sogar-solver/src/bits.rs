//! Sets of rows as bitsets, and the few kernels in which the search spends its time.

/// A set of rows `0..n`. Two sets over the same `n` are equal iff their words are.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowSet {
    words: Box<[u64]>,
}

/// Number of 64-bit words for `rows` rows.
pub fn words_for(rows: usize) -> usize {
    rows.div_ceil(64)
}

/// The positions of the ones in a word, lowest first.
#[inline(always)]
pub fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let one = word.trailing_zeros() as usize;
        let any = word != 0;
        word &= word.wrapping_sub(1);
        any.then_some(one)
    })
}

impl RowSet {
    /// No rows.
    pub fn empty(rows: usize) -> Self {
        RowSet { words: vec![0; words_for(rows)].into() }
    }

    /// All of `0..rows`.
    pub fn full(rows: usize) -> Self {
        let mut words = vec![u64::MAX; words_for(rows)];
        if let (Some(last), used @ 1..) = (words.last_mut(), rows % 64) {
            *last = (1 << used) - 1;
        }
        RowSet { words: words.into() }
    }

    /// The listed rows.
    pub fn from_rows(rows: usize, members: impl IntoIterator<Item = usize>) -> Self {
        let mut set = RowSet::empty(rows);
        for row in members {
            set.insert(row);
        }
        set
    }

    /// The rows for which `test` holds.
    pub fn from_fn(rows: usize, test: impl FnMut(&usize) -> bool) -> Self {
        RowSet::from_rows(rows, (0..rows).filter(test))
    }

    /// A set from its words; bits beyond the last row must be 0.
    pub fn from_words(words: Vec<u64>) -> Self {
        RowSet { words: words.into() }
    }

    /// Adds a row.
    pub fn insert(&mut self, row: usize) {
        self.words[row / 64] |= 1 << (row % 64);
    }

    /// Whether the row is in the set.
    pub fn contains(&self, row: usize) -> bool {
        self.words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// The words, lowest rows first.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Number of rows in the set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Rows in both sets.
    #[must_use]
    pub fn and(&self, other: &RowSet) -> RowSet {
        RowSet { words: self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect() }
    }

    /// Rows in this set but not in the other.
    #[must_use]
    pub fn and_not(&self, other: &RowSet) -> RowSet {
        RowSet { words: self.words.iter().zip(&other.words).map(|(a, b)| a & !b).collect() }
    }

    /// The rows in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| ones(word).map(move |bit| i * 64 + bit))
    }
}

/// Words stored outside plain memory, such as in a memory-mapped file.
pub trait Words: Send + Sync {
    /// The words.
    fn words(&self) -> &[u64];
    /// The words, mutable.
    fn words_mut(&mut self) -> &mut [u64];
}

/// Where the words of a table are stored.
enum Place {
    Memory(Vec<u64>),
    External(Box<dyn Words>),
}

/// Many sets over the same rows in one block: set `i` is row `i` of the table.
pub struct BitTable {
    place: Place,
    per_set: usize,
    sets: usize,
}

impl std::fmt::Debug for BitTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let BitTable { per_set, sets, .. } = self;
        f.debug_struct("BitTable").field("sets", sets).field("per_set", per_set).finish_non_exhaustive()
    }
}

/// A copy is always in memory.
impl Clone for BitTable {
    fn clone(&self) -> Self {
        BitTable { place: Place::Memory(self.words().to_vec()), per_set: self.per_set, sets: self.sets }
    }
}

impl PartialEq for BitTable {
    fn eq(&self, other: &Self) -> bool {
        (self.sets, self.per_set, self.words()) == (other.sets, other.per_set, other.words())
    }
}

impl Eq for BitTable {}

impl BitTable {
    /// `sets` empty sets over `rows` rows.
    pub fn new(sets: usize, rows: usize) -> Self {
        let per_set = words_for(rows);
        BitTable { place: Place::Memory(vec![0; sets * per_set]), per_set, sets }
    }

    /// `sets` sets over `rows` rows whose words are stored elsewhere; `None` if their number is wrong.
    pub fn kept_in(place: Box<dyn Words>, sets: usize, rows: usize) -> Option<Self> {
        let per_set = words_for(rows);
        (place.words().len() == sets * per_set).then_some(BitTable {
            place: Place::External(place),
            per_set,
            sets,
        })
    }

    /// Whether the words are stored outside plain memory, so that copies should be avoided.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self.place, Place::External(_))
    }

    /// All words, set after set.
    #[inline(always)]
    fn words(&self) -> &[u64] {
        match &self.place {
            Place::Memory(words) => words,
            Place::External(place) => place.words(),
        }
    }

    /// The given sets, all over the same rows.
    pub fn from_sets(rows: usize, sets: &[RowSet]) -> Self {
        let mut table = BitTable::new(sets.len(), rows);
        for (i, set) in sets.iter().enumerate() {
            table.set_mut(i).copy_from_slice(set.words());
        }
        table
    }

    /// Number of sets.
    pub fn sets(&self) -> usize {
        self.sets
    }

    /// Words of each set.
    pub fn words_per_set(&self) -> usize {
        self.per_set
    }

    /// The words of a set.
    #[inline(always)]
    pub fn set(&self, set: usize) -> &[u64] {
        &self.words()[set * self.per_set..(set + 1) * self.per_set]
    }

    /// The words of a set, mutable.
    #[inline]
    pub fn set_mut(&mut self, set: usize) -> &mut [u64] {
        let range = set * self.per_set..(set + 1) * self.per_set;
        &mut self.words_mut()[range]
    }

    /// All words, set after set.
    pub fn words_mut(&mut self) -> &mut [u64] {
        match &mut self.place {
            Place::Memory(words) => words,
            Place::External(place) => place.words_mut(),
        }
    }

    /// Whether `row` is in a set.
    pub fn contains(&self, set: usize, row: usize) -> bool {
        self.set(set)[row / 64] >> (row % 64) & 1 == 1
    }
}

/// Number of rows in both sets.
#[inline(always)]
pub fn count_and(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_and_empty_have_no_stray_bits() {
        for rows in [0, 1, 63, 64, 65, 128, 130] {
            assert_eq!(RowSet::full(rows).count(), rows);
            assert_eq!(RowSet::empty(rows).count(), 0);
            assert_eq!(RowSet::full(rows).iter().collect::<Vec<_>>(), (0..rows).collect::<Vec<_>>());
        }
    }

    struct Borrowed(Vec<u64>);

    impl Words for Borrowed {
        fn words(&self) -> &[u64] {
            &self.0
        }
        fn words_mut(&mut self) -> &mut [u64] {
            &mut self.0
        }
    }

    #[test]
    fn a_table_may_be_kept_elsewhere() {
        let mut table = BitTable::kept_in(Box::new(Borrowed(vec![0; 6])), 3, 70).unwrap();
        table.set_mut(1)[1] |= 1 << 5;
        assert!(table.contains(1, 69) && table.is_elsewhere() && !table.clone().is_elsewhere());
        assert_eq!(table, table.clone());
        assert_eq!(table.set(2), [0, 0]);
        assert!(BitTable::kept_in(Box::new(Borrowed(vec![0; 5])), 3, 70).is_none());
    }

    #[test]
    fn set_algebra() {
        let even = RowSet::from_fn(100, |r| r % 2 == 0);
        let low = RowSet::from_fn(100, |&r| r < 10);
        assert_eq!(even.and(&low).iter().collect::<Vec<_>>(), [0, 2, 4, 6, 8]);
        assert_eq!(low.and_not(&even).iter().collect::<Vec<_>>(), [1, 3, 5, 7, 9]);
        assert_eq!(count_and(even.words(), low.words()), 5);
        assert!(even.contains(98) && !even.contains(99) && !even.contains(1000));
    }
}
