package external

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTableName bounds the name of a table in the store, in bytes.
const maxTableName = 1000

// staging is the end of the name of a table that is being filled and takes the place
// of another one then.
const staging = "#import"

// StagingName is the name of the table that takes the place of another one once it is
// filled. Nobody may give it to a table of their own.
func StagingName(table string) string { return table + staging }

// CheckTableName tells why a table must not be made under a name: parts have to stand
// between slashes, after // or a cluster and ://, in at most 1000 bytes of text.
func CheckTableName(name string) error {
	var why error
	switch {
	case len(name) > maxTableName:
		why = fmt.Errorf("it has %d bytes, and at most %d are allowed", len(name), maxTableName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		why = errors.New("it has control characters, or bytes that are no UTF-8")
	case strings.HasSuffix(name, staging):
		why = fmt.Errorf("names that end with %s are kept for rondo table import --replace", staging)
	default:
		why = checkParts(name)
	}
	if why != nil {
		return fmt.Errorf("table name %.100q: %w; names look like //home/accounts", name, why)
	}
	return nil
}

func checkParts(name string) error {
	path := name
	if cluster, rest, ok := strings.Cut(name, "://"); ok && cluster != "" && !strings.Contains(cluster, "/") {
		path = rest
	} else {
		path = strings.TrimPrefix(path, storedPrefix)
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" {
			return errors.New("a part of it is empty: is there a slash too many?")
		}
	}
	return nil
}

// CheckStagedName is CheckTableName, and allows the name of [StagingName] too.
func CheckStagedName(name string) error { return CheckTableName(strings.TrimSuffix(name, staging)) }
