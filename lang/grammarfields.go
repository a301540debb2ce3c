package lang

// languageBlocks is the language without its connectors.
func languageBlocks() *Block {
	return &Block{Name: "a spec", Blocks: []*Block{
		{Name: "penstock", Required: true, Many: false, Doc: "Says which version of the language the spec is written in.", Fields: []Field{
			{Name: "spec", Form: FormInteger, Least: least(1), Required: true, Doc: "Version of the language: 1."},
		}},
		{Name: "variable", Labels: []string{"name"}, Many: true, Doc: "A value that is given from outside; `var.name` stands for it.", Fields: []Field{
			{Name: "type", Form: FormType, Default: "`any`", Doc: "What values it takes."},
			{Name: "default", Form: FormAny, Default: "none: a value must be given where it is used", Doc: "Its value when none is given."},
			{Name: "sensitive", Form: FormBool, Default: "`false`", Doc: "A secret: used only as the whole value of a secret setting, never shown."},
			{Name: "description", Form: FormText, Default: "none", Doc: "For readers."},
		}},
		{Name: "locals", Many: true, Free: true, Doc: "Names of your own for values: `local.name` stands for one."},
		{Name: "source", Labels: []string{"kind", "name"}, Many: true, Doc: "Where rows come from: the kind of connector and a name.",
			Fields: append(endpointFields(), Field{Name: "throttle", Form: FormRate, Default: "none", Doc: "Source: reads at most so fast."})},
		{Name: "target", Labels: []string{"kind", "name"}, Many: true, Doc: "Where rows go: the kind of connector and a name.",
			Fields: append(endpointFields(), Field{Name: "names", Form: FormWord, Words: []string{"lower", "keep"}, Default: "`lower` for PostgreSQL, Firebolt and SQLite, else `keep`", Doc: "Target: how names of tables and columns are folded."})},
		pipelineBlock(),
	}}
}

func endpointFields() []Field {
	return []Field{
		{Name: "catalog", Form: FormPath, Default: "none", Doc: "A recorded catalog: the tables, columns and keys, so that planning needs no database. Without one, a source that is a file or makes its rows itself is asked, a server's is an error of planning, and a target is planned as empty."},
		{Name: "probe", Form: FormPath, Default: "none", Doc: "A file of what was found out about the endpoint; the plan cites it."},
		{Name: "tls", Form: FormWord, Words: []string{"verify", "off"}, Default: "`verify`", Doc: "`off` sends everything in the clear: a warning, except on this machine."},
		{Name: "tls_ca", Form: FormPath, Default: "the system's", Doc: "Certificates of your own authority."},
	}
}

func pipelineBlock() *Block {
	return &Block{Name: "pipeline", Labels: []string{"name"}, Many: true, Doc: "Moves tables from a source to a target. Its name, of at most 40 bytes, is what the target keeps its bookkeeping by.",
		Fields: []Field{
			{Name: "from", Form: FormSource, Required: true, Doc: "Where rows come from."},
			{Name: "to", Form: FormTarget, Required: true, Doc: "Where they go."},
			{Name: "mode", Form: FormWord, Words: []string{"snapshot", "cdc", "snapshot+cdc"}, Default: "`snapshot`", Doc: "A load, the changes, or a load and then the changes from that point on. Streams run from PostgreSQL to PostgreSQL."},
			{Name: "workers", Form: FormInteger, Least: least(1), Default: "8", Doc: "How many chunks are written side by side; SQLite has one writer."},
			{Name: "memory", Form: FormSize, Default: "`\"96MiB\"`", Doc: "Shared by 2 x workers + 2 chunks; a chunk has at most 100,000 rows."},
			{Name: "order", Form: FormWord, Words: []string{"key", "table", "commit"}, Default: "`key`", Doc: "What keeps its order in a stream."},
			{Name: "collisions", Form: FormWord, Words: []string{"error", "repair"}, Default: "`error`", Doc: "A stream meets a row that should not be there, or misses one."},
			{Name: "schema_changes", Form: FormWord, Words: []string{"stop", "add_nullable"}, Default: "`stop`", Doc: "The source's table changes while a stream runs. A run stops in either case so far."},
			{Name: "start", Form: FormText, Default: "`now`", Doc: "Where a `cdc` stream begins: `now` or a position."},
			{Name: "before_load", Form: FormTexts, Default: "none", Doc: "SQL that is run at the target before the load, and shown in the plan."},
			{Name: "after_load", Form: FormTexts, Default: "none", Doc: "SQL that is run at the target after the load, and shown in the plan."},
		},
		Blocks: []*Block{
			{Name: "bad_rows", Doc: "What becomes of a row that can't be stored unchanged.", Fields: []Field{
				{Name: "action", Form: FormWord, Words: []string{"stop", "discard"}, Default: "`stop`", Doc: "End the run at the first one, or set it aside and go on; the run then ends with exit code 3."},
				{Name: "file", Form: FormPath, Default: "`.penstock/PIPELINE/discards.ndjson` beside the spec", Doc: "Where they are written, one JSON object a line: table, key, reason and, where the target refused the row, its `code` (a SQLSTATE) and the `constraint`."},
				{Name: "limit", Form: FormInteger, Least: least(0), Default: "0: none", Doc: "More than so many end the run after all."},
				{Name: "values", Form: FormBool, Default: "`false`", Doc: "Write the row's values too; think of who reads the file."},
			}},
			{Name: "report", Doc: "How a run reports.", Fields: []Field{
				{Name: "every", Form: FormDuration, Default: "`\"60s\"`", Doc: "How often progress is written where there is no terminal."},
			}},
			{Name: "table", Labels: []string{"name"}, Many: true, Required: true, Doc: "A table of the source by its name, or all that a pattern fits: `*` stands for any characters, `?` for one, neither for the dot.",
				Fields: append([]Field{
					{Name: "tables", Form: FormTables, Default: "the label", Doc: "The tables; the label then only names the block."},
					{Name: "exclude", Form: FormTables, Default: "none", Doc: "Taken out again; patterns too."},
					{Name: "expect", Form: FormInteger, Least: least(1), Default: "none", Doc: "How many tables it must come to."},
					{Name: "key", Form: FormColumns, Default: "the primary key, else a unique key of NOT NULL columns", Doc: "What tells rows apart."},
					{Name: "filter", Form: FormExpression, Default: "all rows", Doc: "Keeps the rows for which it is true."},
				}, tableDefaults()...),
				Blocks: append(tableBlocks(), columnBlock())},
			{Name: "defaults", Doc: "What all tables of the pipeline have unless they say otherwise.", Fields: tableDefaults(), Blocks: tableBlocks()},
		}}
}

// tableDefaults are the settings that a table and the defaults of its pipeline
// share.
func tableDefaults() []Field {
	return []Field{
		{Name: "to", Form: FormName, Default: "the source's name, folded", Doc: "The target's table; may use `${table.schema}` and `${table.name}`."},
		{Name: "operations", Form: FormWords, Words: []string{"insert", "update", "delete"}, Default: "all", Doc: "Which changes a stream carries."},
		{Name: "existing", Form: FormWord, Words: []string{"error", "truncate", "append"}, Default: "`error`", Doc: "Rows that are in the target table before the first load: refuse, empty it, add to them."},
		{Name: "carry", Form: FormWords, Words: []string{"indexes", "foreign_keys", "defaults", "comments"}, Default: "none", Doc: "What a table that the run creates gets beside columns, NOT NULL and primary key, where the target offers it."},
		{Name: "on_nul", Form: FormWord, Words: []string{"reject", "strip", "replace"}, Default: "`reject`", Doc: "A NUL character in text that the target can't hold."},
		{Name: "on_invalid_text", Form: FormWord, Words: []string{"reject", "strip", "replace"}, Default: "`reject`", Doc: "Bytes that are no text."},
	}
}

func tableBlocks() []*Block {
	return []*Block{
		{Name: "range", Doc: "How a table is cut into parts that are read side by side.", Fields: []Field{
			{Name: "by", Form: FormColumns, Default: "the key", Doc: "What the cuts are made along."},
			{Name: "count", Form: FormCount, Least: least(1), Default: "`\"auto\"`: as many as workers", Doc: "How many parts."},
			{Name: "split", Form: FormWord, Words: []string{"auto", "blocks", "key", "hash", "none"}, Default: "`auto`", Doc: "The source's storage blocks, bounds of `by`, a hash of `by`, or not at all. The plan says which `auto` took and why."},
		}},
		{Name: "apply", Doc: "How rows enter the target.", Fields: []Field{
			{Name: "mode", Form: FormWord, Words: []string{"copy", "array", "row"}, Default: "the fastest", Doc: "Of a load: the bulk path, array statements, one statement a row. SQLite has `copy` and `row`."},
			{Name: "changes", Form: FormWord, Words: []string{"merge", "array", "row", "append"}, Default: "by target", Doc: "Of a stream."},
			{Name: "indexes", Form: FormWord, Words: []string{"keep", "defer"}, Default: "`defer` for a table that the run creates, else `keep`", Doc: "Make indexes after the rows."},
		}},
		{Name: "commit", Doc: "When a stream commits, at whichever comes first.", Fields: []Field{
			{Name: "rows", Form: FormInteger, Least: least(1), Default: "by target, in the plan", Doc: "After so many rows."},
			{Name: "bytes", Form: FormSize, Default: "by target, in the plan", Doc: "After so many bytes."},
			{Name: "every", Form: FormDuration, Default: "by target, in the plan", Doc: "After so long."},
		}},
	}
}

func columnBlock() *Block {
	return &Block{Name: "column", Labels: []string{"name"}, Many: true, Doc: "A column of the source by its name, or a new one, which needs a `value`.", Fields: []Field{
		{Name: "to", Form: FormName, Default: "the source's name, folded", Doc: "The target's column."},
		{Name: "type", Form: FormText, Default: "chosen from the source's type", Doc: "The target's type, as its database writes it: `\"numeric(10,2)\"`."},
		{Name: "value", Form: FormExpression, Default: "the source column", Doc: "What is stored."},
		{Name: "drop", Form: FormBool, Default: "`false`", Doc: "Leave the column out."},
		{Name: "accept_loss", Form: FormBool, Default: "`false`", Doc: "Accept that a digit, a zone or padding goes."},
	}}
}

func least(n int64) *int64 { return &n }
