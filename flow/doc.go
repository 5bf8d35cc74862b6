// Package flow is what functions are written against: the inputs they get
// (Message, Visit), what they may do (Runtime, OutputCollector), the states
// they keep (State), and the registry that gives functions their names.
//
// A function is a value with one or more of the methods OnMessage and OnVisit
// (RowFunction, RowVisitFunction). Everything a call does - state changes,
// output, counts - becomes durable together with the consumption of its input,
// exactly once, or not at all.
//
// Errors are returned. A returned error fails the epoch: nothing of it is
// kept, the job starts again from the last commit and the error is shown with
// the partition and key (D-24, KV-27).
package flow
