package main

type tableCommand struct {
	Sort tableSortCommand `cmd:"" help:"Sort a file by key, so that a pipeline can scan it beside its state."`
}

// Help is shown below the usage.
func (tableCommand) Help() string {
	return `Examples:
  rondo table sort airports.csv --key "hash=farm_hash(iata),iata" --out airports.parquet`
}
