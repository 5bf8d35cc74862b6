package main

type tableCommand struct {
	Create tableCreateCommand `cmd:"" help:"Make a table in the store."`
	Put    tablePutCommand    `cmd:"" help:"Write rows."`
	Get    tableGetCommand    `cmd:"" help:"Show a row."`
	List   tableListCommand   `cmd:"" help:"List the tables, or the rows of one."`
	Delete tableDeleteCommand `cmd:"" help:"Delete a row."`
	Drop   tableDropCommand   `cmd:"" help:"Remove a table with all its rows."`
	Import tableImportCommand `cmd:"" help:"Read the rows of a file into a table."`
	Export tableExportCommand `cmd:"" help:"Write the rows of a table to a file."`
	Sort   tableSortCommand   `cmd:"" help:"Sort a file by key, so that a pipeline can scan it beside its state."`
	Rehash tableRehashCommand `cmd:"" help:"Fill the hash column of a table of your own."`
	Accept tableAcceptCommand `cmd:"" help:"Believe a file that has become much shorter."`
}

// Help is shown below the usage.
func (tableCommand) Help() string {
	return `Tables in the store are the external states of pipelines; sorted files are joined by pipelines.

Examples:
  rondo table create pipeline.yson //home/accounts --schema accounts.yson
  rondo table import pipeline.yson //home/accounts accounts.csv
  rondo table get pipeline.yson //home/accounts ann
  rondo table sort airports.csv --key "hash=farm_hash(iata),iata" --out airports.parquet
  rondo table accept pipeline.yson airports /source`
}
