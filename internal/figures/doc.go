// Package figures checks the flights job: what its sinks wrote against a plain
// loop over its input. It is for tests, whatever way they ran the job: as a
// command or as a library, with kills, stalls or other numbers of partitions
// in between.
//
// Some of what the job writes depends on timing: how many snapshots there are,
// and in how many lives a route was evicted. What does not is kept for each
// route: the flights and their delay over all its lives, its last flight, and
// whether it was there in the end. Check compares these, and Exact holds the
// sums that the documentation promises.
package figures
