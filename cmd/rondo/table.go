package main

type tableCommand struct {
	Sort   tableSortCommand   `cmd:"" help:"Sort a file by key, so that a pipeline can scan it beside its state."`
	Accept tableAcceptCommand `cmd:"" help:"Believe a table that has become much shorter."`
}

// Help is shown below the usage.
func (tableCommand) Help() string {
	return `Examples:
  rondo table sort airports.csv --key "hash=farm_hash(iata),iata" --out airports.parquet
  rondo table accept pipeline.yson airports /source`
}
