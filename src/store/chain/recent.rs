//! A bounded cache of recently used values.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Keeps what was used lately, up to a total weight.
///
/// Two generations: values in use are in the young one. When that has half of the weight, it
/// becomes the old one, and the values of the former old one that were not used meanwhile are
/// dropped. The amortized cost of each step is the same, and there is no list to keep in order.
#[derive(Debug)]
pub(in crate::store) struct Recent<K, V> {
    young: HashMap<K, (V, usize)>,
    old: HashMap<K, (V, usize)>,
    young_weight: usize,
    weight_max: usize,
}

impl<K: Eq + Hash, V> Recent<K, V> {
    pub(in crate::store) fn new(weight_max: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), young_weight: 0, weight_max }
    }

    pub(in crate::store) fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        if let Some((key, (value, weight))) = self.old.remove_entry(key) {
            self.insert(key, value, weight);
        }
        self.young.get_mut(key).map(|(value, _)| value)
    }

    /// Keeps a value; one heavier than half of the limit is kept alone.
    pub(in crate::store) fn insert(&mut self, key: K, value: V, weight: usize) {
        self.remove(&key);
        if self.young_weight + weight > self.weight_max / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_weight = 0;
        }
        if weight > self.weight_max / 2 {
            self.old.clear();
        }
        self.young_weight += weight;
        self.young.insert(key, (value, weight));
    }

    /// Calls `look` for everything that is kept.
    pub(in crate::store) fn for_each(&mut self, mut look: impl FnMut(&mut V)) {
        self.young.values_mut().chain(self.old.values_mut()).for_each(|(value, _)| look(value));
    }

    pub(in crate::store) fn clear(&mut self) {
        *self = Self::new(self.weight_max);
    }

    pub(in crate::store) fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        self.old.remove(key);
        if let Some((_, weight)) = self.young.remove(key) {
            self.young_weight -= weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight<K, V>(recent: &Recent<K, V>) -> usize {
        recent.young.values().chain(recent.old.values()).map(|(_, weight)| weight).sum()
    }

    #[test]
    fn what_is_used_stays_and_the_rest_goes() {
        let mut recent = Recent::new(100);
        for number in 0..1000 {
            recent.insert(number, number, 10);
            assert_eq!(recent.get(&0), Some(&mut 0), "used at each step, at {number}");
            assert!(weight(&recent) <= 100, "{}", weight(&recent));
        }
        assert_eq!(recent.get(&500), None);
        assert_eq!(recent.get(&999), Some(&mut 999));
        recent.remove(&999);
        assert_eq!(recent.get(&999), None);
    }

    #[test]
    fn one_that_is_too_heavy_is_kept_alone() {
        let mut recent = Recent::new(100);
        recent.insert('a', 1, 40);
        recent.insert('b', 2, 1000);
        assert_eq!((recent.get(&'a').is_none(), weight(&recent)), (true, 1000));
        recent.insert('c', 3, 1000);
        assert_eq!((recent.get(&'b').is_none(), weight(&recent)), (true, 1000));
        assert_eq!(recent.get(&'c'), Some(&mut 3));
    }
}
