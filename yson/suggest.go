package yson

import (
	"cmp"
	"strings"
)

// maxWord is the length from which on words are not compared.
const maxWord = 64

// minPart is the length from which on a part of a word is taken for the word.
const minPart = 4

// Suggest returns the word of known that a reader most likely meant by word,
// empty if none is near: one that shares nothing with it is not, however short
// both are. The first of equally near words wins. If none is near, the shortest
// that begins with the word, or its singular, is meant, or else the shortest that
// holds it.
func Suggest(word string, known []string) string {
	if len(word) > maxWord {
		return ""
	}
	part := strings.TrimSuffix(strings.ToLower(word), "s")
	if near := nearest(word, known); near != "" || len(part) < minPart {
		return near
	}
	begins := func(k string) bool { return strings.HasPrefix(strings.ToLower(k), part) }
	holds := func(k string) bool { return strings.Contains(strings.ToLower(k), part) }
	return cmp.Or(shortest(known, begins), shortest(known, holds))
}

// shortest returns the first of the shortest words that are meant.
func shortest(known []string, meant func(string) bool) string {
	best := ""
	for _, k := range known {
		if meant(k) && (best == "" || len(k) < len(best)) {
			best = k
		}
	}
	return best
}

// nearest returns the word that takes the fewest changes.
func nearest(word string, known []string) string {
	limit := max(1, len(word)/3)
	best, bestDistance := "", limit+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(word), strings.ToLower(k)); d < bestDistance && d < max(len(word), len(k)) {
			best, bestDistance = k, d
		}
	}
	return best
}

// DidYouMean returns a clause for the end of a message: the near word, or all
// the words there are.
func DidYouMean(word string, known []string) string {
	if s := Suggest(word, known); s != "" {
		return "did you mean " + s + "?"
	}
	if len(known) == 0 {
		return "there are none"
	}
	return "there are " + strings.Join(known, ", ")
}

// editDistance counts insertions, deletions, replacements, and swaps of
// neighbours, between short words.
func editDistance(a, b string) int {
	if len(a) > maxWord || len(b) > maxWord {
		return maxWord
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
