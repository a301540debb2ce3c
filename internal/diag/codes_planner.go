package diag

// Codes of the planner: PEN04xx catalogs, tables and columns, PEN05xx keys,
// ranges and modes, PEN06xx types, PEN07xx resources.
const (
	UnknownTable       Code = "PEN0401"
	NoCatalog          Code = "PEN0402"
	BadCatalog         Code = "PEN0403"
	TwoBlocksOneTable  Code = "PEN0404"
	WrongExpect        Code = "PEN0405"
	NoMatch            Code = "PEN0406"
	AmbiguousName      Code = "PEN0407"
	UselessExclude     Code = "PEN0408"
	BadTargetName      Code = "PEN0409"
	BadSetting         Code = "PEN0411"
	NothingSelected    Code = "PEN0413"
	UnknownKeyColumn   Code = "PEN0420"
	ColumnCollision    Code = "PEN0421"
	NewColumnNearName  Code = "PEN0422"
	ColumnContradicts  Code = "PEN0423"
	NewColumnNoValue   Code = "PEN0424"
	NoColumns          Code = "PEN0425"
	TargetColumnAbsent Code = "PEN0426"
	TargetColumnUnfed  Code = "PEN0427"
	TargetGenerated    Code = "PEN0428"

	TwoTablesOneTarget Code = "PEN0501"
	OnePlace           Code = "PEN0502"
	NoKey              Code = "PEN0510"
	NullableKey        Code = "PEN0511"
	KeyDropped         Code = "PEN0512"
	NullableRange      Code = "PEN0520"
	SplitNotOffered    Code = "PEN0521"
	RangeType          Code = "PEN0522"
	SplitNeedsKey      Code = "PEN0523"
	NotSplit           Code = "PEN0524"
	ModeNotOffered     Code = "PEN0530"
	ChangesNotOffered  Code = "PEN0531"
	SourceHasNoLog     Code = "PEN0532"
	TargetNoChanges    Code = "PEN0533"
	WithoutEffect      Code = "PEN0534"
	CarryNotOffered    Code = "PEN0535"
	ScriptsNotOffered  Code = "PEN0536"
	NotLogged          Code = "PEN0537"
	PartImage          Code = "PEN0538"
	OneWay             Code = "PEN0539"

	UnsupportedType   Code = "PEN0601"
	LossyColumn       Code = "PEN0602"
	UndecidableColumn Code = "PEN0603"
	NoConversion      Code = "PEN0604"
	CheckedColumns    Code = "PEN0605"
	UnknownTargetType Code = "PEN0606"
	TypeContradicts   Code = "PEN0607"

	MemoryTooSmall Code = "PEN0701"
	TLSOff         Code = "PEN0702"
)

var plannerCodes = []Doc{
	{UnknownTable, "Table not in the catalog",
		"The source's catalog has no table of this name. Names match exactly, else without regard to case when that is unique. If the table is new, record the catalog again.",
		`table "SCOTT.BIG_TABEL" {}`, `table "SCOTT.BIG_TABLE" {}`},
	{NoCatalog, "Source has no catalog",
		"A plan is made without connecting, so it needs the source's tables from a checked-in catalog file. Name one with `catalog`.",
		`source "oracle" "erp" { host = "ora1" }`, "source \"oracle\" \"erp\" {\n  host    = \"ora1\"\n  catalog = \"catalog/erp.json\"\n}"},
	{BadCatalog, "Catalog can't be read",
		"The catalog file is missing, is no catalog, or was recorded from another kind of endpoint. The path is relative to the spec's folder.",
		`catalog = "catalog/epr.json"`, `catalog = "catalog/erp.json"`},
	{TwoBlocksOneTable, "Two blocks on one table",
		"Two table blocks give the same source table. A table named exactly beats a pattern, but two patterns, or two exact names, say two things about one table. Exclude it from one of them, or name it exactly in a block of its own.",
		"table \"APP.ORDER*\" {}\ntable \"APP.*_2025\" {}", "table \"APP.ORDER*\" { exclude = [\"APP.ORDER_2025\"] }\ntable \"APP.*_2025\" {}"},
	{WrongExpect, "Wrong number of tables",
		"`expect` says how many tables a pattern or list must give, so that a table that appears or goes is noticed before a run. Correct the number, or the pattern.",
		"table \"APP.ORDER*\" { expect = 9 }", "table \"APP.ORDER*\" { expect = 10 }"},
	{NoMatch, "Pattern gives no table",
		"No table of the source's catalog matches the pattern, or `exclude` takes out all that do. `*` stands for any characters, `?` for one; neither stands for the dot between schema and table.",
		`table "ORDER*" {}`, `table "APP.ORDER*" {}`},
	{AmbiguousName, "Name fits more than one",
		"The name matches nothing exactly and several things when case is disregarded. Write it as the catalog does.",
		`table "app.orders" {}`, `table "APP.Orders" {}`},
	{UselessExclude, "Exclude takes nothing out",
		"An entry of `exclude` matches none of the tables that the block gives. It is a slip or out of date.",
		`exclude = ["APP.ORDERS_ODL"]`, `exclude = ["APP.ORDERS_OLD"]`},
	{BadTargetName, "Target name can't be used",
		"The target's connector can't take this name for a table, topic or file.",
		`to = "a.b.c.d"`, `to = "sales.orders"`},
	{BadSetting, "Settings don't fit together",
		"A connector's setting is out of its range or contradicts another one.",
		"table \"t\" {\n  preset = \"big_table\"\n  rows   = -1\n}", "table \"t\" {\n  preset = \"big_table\"\n  rows   = 1000\n}"},
	{NothingSelected, "Nothing selected",
		"`undo --only` names a pipeline, or a table of one as `pipeline.table`. No pipeline of the spec has that name.",
		"penstock undo spec.hcl --only big_tabel", "penstock undo spec.hcl --only big_table"},
	{UnknownKeyColumn, "Unknown column",
		"`key` and `range.by` name columns of the source table.",
		`key = ["ORDER_IDD"]`, `key = ["ORDER_ID"]`},
	{ColumnCollision, "Two columns with one name",
		"Two columns would have the same name at the target: the target's `names` folds them together, or `to` says so. Give one of them another name or drop it.",
		"column \"Id\" {}\ncolumn \"ID\" {}", "column \"ID\" { to = \"id_upper\" }"},
	{NewColumnNearName, "New column looks like a source column",
		"The label of a column block is no source column, so the block makes a new column. Its name is close to that of a source column: it may be a slip.",
		`column "amuont" { value = "1" }`, `column "amount" { value = "1" }`},
	{ColumnContradicts, "Column block contradicts itself",
		"A dropped column has no name, type or value at the target.",
		"column \"C\" {\n  drop = true\n  to   = \"d\"\n}", `column "C" { drop = true }`},
	{NewColumnNoValue, "Unknown column without a value",
		"The label is no column of the source table. A new column needs a `value`.",
		`column "TOTALL" { type = "bigint" }`, "column \"TOTALL\" {\n  type  = \"bigint\"\n  value = \"AMOUNT + TAX\"\n}"},
	{NoColumns, "No column left",
		"Every column of the table is dropped, so there is nothing to carry.",
		`column "ONLY" { drop = true }`, `column "ONLY" {}`},
	{TargetColumnAbsent, "Target table lacks a column",
		"The target table exists and has no column for one of the source. Drop the column, send it to another one with `to`, or add it at the target.",
		`column "NOTE" {}`, `column "NOTE" { drop = true }`},
	{TargetColumnUnfed, "Target column gets no value",
		"A column of the existing target table is NOT NULL, has no default, and nothing of the source goes into it.",
		`table "APP.ORDERS" {}`, "table \"APP.ORDERS\" {\n  column \"region\" { value = \"'EU'\" }\n}"},
	{TargetGenerated, "Target column is computed there",
		"The target computes this column by itself and takes no value for it.",
		`column "TOTAL" {}`, `column "TOTAL" { drop = true }`},

	{TwoTablesOneTarget, "Two tables write to one target",
		"Rows of two source tables in one target table could not be told apart when one of them is loaded again. Give each its own target.",
		"table \"APP.A\" { to = \"public.a\" }\ntable \"APP.B\" { to = \"public.a\" }", "table \"APP.A\" { to = \"public.a\" }\ntable \"APP.B\" { to = \"public.b\" }"},
	{OnePlace, "Source and target are one place",
		"The pipeline would load into the database that it reads. The load would wait for its own readers, and emptying a table would take what is to be read. Load into another database.",
		"source \"sqlite\" \"in\" { path = \"shop.db\" }\ntarget \"sqlite\" \"out\" { path = \"shop.db\" }", "source \"sqlite\" \"in\" { path = \"shop.db\" }\ntarget \"sqlite\" \"out\" { path = \"copy.db\" }"},
	{NoKey, "No key for changes",
		"Changes find their rows by key, and the table has no primary key and no unique key of NOT NULL columns. Name one with `key`, or keep every change as a row with `changes = \"append\"`.",
		`table "APP.LOG" {}`, `table "APP.LOG" { key = ["LOG_ID"] }`},
	{NullableKey, "Key column may be NULL",
		"A NULL equals nothing, so a row whose key is NULL can't be found again, and a primary key refuses it.",
		`key = ["EMAIL"]`, `key = ["CUSTOMER_ID"]`},
	{KeyDropped, "Key column is not carried",
		"A column of the key is dropped or computed anew, so the target table has no key.",
		"key = [\"ID\"]\ncolumn \"ID\" { drop = true }", `key = ["ID"]`},
	{NullableRange, "Range column may be NULL",
		"Rows whose range column is NULL all belong to range 1. When there are many, that range takes longer than the others.",
		`range { by = ["EMAIL"] }`, `range { by = ["CUSTOMER_ID"] }`},
	{SplitNotOffered, "Table can't be split like this",
		"Which splits there are depends on the source and on how it stores the table.",
		`range { split = "blocks" }`, `range { split = "key" }`},
	{RangeType, "Column can't bound a range",
		"No order or hash is defined for values of this type.",
		`range { by = ["NOTES"] }`, `range { by = ["ID"] }`},
	{SplitNeedsKey, "Split needs a column",
		"The split is by key, and the table has none. Name columns with `by`.",
		`range { split = "hash" }`, "range {\n  split = \"hash\"\n  by    = [\"LOG_ID\"]\n}"},
	{NotSplit, "Table is not split",
		"Nothing fixes the edges of a piece of this table, so it is read as one range, which is also what a restart repeats.",
		`range { count = 8 }`, "range {\n  count = 8\n  by    = [\"ID\"]\n}"},
	{ModeNotOffered, "Mode that the target lacks",
		"Each target has its own ways for a load to enter; the fastest is the default.",
		`apply { mode = "array" }`, `apply { mode = "copy" }`},
	{ChangesNotOffered, "Change mode that the target lacks",
		"Each target has its own ways for a stream to enter.",
		`apply { changes = "merge" }`, `apply { changes = "append" }`},
	{SourceHasNoLog, "Source has no log of changes",
		"Modes `cdc` and `snapshot+cdc` follow the source's log, and this kind of source has none.",
		`mode = "cdc"`, `mode = "snapshot"`},
	{TargetNoChanges, "Target takes no changes",
		"This kind of target can be loaded and can't follow a stream.",
		`mode = "cdc"`, `mode = "snapshot"`},
	{WithoutEffect, "Setting without effect",
		"The setting means nothing in this place, so it is probably not what was meant.",
		"mode = \"snapshot\"\ncommit { rows = 1000 }", `mode = "snapshot"`},
	{CarryNotOffered, "Target can't carry this",
		"The connector can't make these for a table that the run creates. Take them out of `carry`; the plan lists what is not carried.",
		`carry = ["indexes"]`, `carry = []`},
	{ScriptsNotOffered, "Target runs no statements",
		"`before_load` and `after_load` are statements that the target runs, and this one runs none: it is files or topics. Take them out.",
		`after_load = ["ANALYZE orders"]`, `after_load = []`},
	{NotLogged, "Changes do not hold the key",
		"An updated or deleted row is found at the target by the key that it had. The source's log has to hold it: in PostgreSQL by the table's REPLICA IDENTITY, in Oracle by supplemental logging. Take a key that is logged, or log more.",
		`key = ["CODE"]`, "key = [\"ID\"]\n# or, at the source: ALTER TABLE t REPLICA IDENTITY FULL"},
	{PartImage, "Filter or computed column needs whole images",
		"A large value that an update leaves as it is may be missing in the log. A row that moves into a filter has to be written whole, and a computed column needs all that it is computed from. Have the source log whole old images, leave the column out, or do without the filter.",
		`filter = "STATUS == 'open'"`, "# at the source: ALTER TABLE t REPLICA IDENTITY FULL\nfilter = \"STATUS == 'open'\""},
	{OneWay, "Tables of a stream enter in different ways",
		"All changes of a pipeline's stream enter its target in one way. Give tables that are to enter otherwise a pipeline of their own.",
		"apply { changes = \"append\" }", "apply { changes = \"array\" }"},

	{UnsupportedType, "Column of an unsupported type",
		"The source's connector does not read this type. Leave the column out with `drop`.",
		`table "APP.DOCS" {}`, "table \"APP.DOCS\" {\n  column \"PICTURE\" { drop = true }\n}"},
	{LossyColumn, "Values would lose something",
		"A digit, a time zone or padding would go without a test. Name a type that keeps it, as a text does, or accept the loss.",
		`column "AT" { type = "date" }`, "column \"AT\" {\n  type        = \"date\"\n  accept_loss = true\n}"},
	{UndecidableColumn, "Type can't be decided",
		"The source does not say enough for a type to be chosen. Name one with `type`.",
		`table "APP.ORDERS" {}`, "table \"APP.ORDERS\" {\n  column \"AMOUNT\" { type = \"numeric(38,9)\" }\n}"},
	{NoConversion, "No conversion between the types",
		"Values of the source's type mean nothing in the target's, or the target would change them in silence. Drop the column, choose another type, or compute it with `value`.",
		`column "RAW" { type = "int" }`, `column "RAW" { type = "bytea" }`},
	{CheckedColumns, "Values are checked on the way",
		"The target's type does not hold every value that the source's could. Each value is tested; one that does not survive makes its row a bad row. Nothing is changed silently.",
		`column "AMOUNT" { type = "bigint" }`, `column "AMOUNT" { type = "numeric" }`},
	{UnknownTargetType, "Unknown target type",
		"`type` is a type of the target, as its database writes it.",
		`column "C" { type = "varchar2(10)" }`, `column "C" { type = "varchar(10)" }`},
	{TypeContradicts, "Type differs from the target's column",
		"`type` is for columns that the run creates, and this one exists with another type.",
		`column "ID" { type = "int" }`, `column "ID" {}`},

	{MemoryTooSmall, "Memory too small",
		"`memory` is shared by 2 x workers + 2 chunks. Each must hold at least 64 KiB and sixteen rows, so that every worker has a batch to carry.",
		"workers = 64\nmemory  = \"1MiB\"", "workers = 64\nmemory  = \"256MiB\""},
	{TLSOff, "Connection is not encrypted",
		"`tls = \"off\"` sends passwords and rows in the clear. It is silent on loopback and unix sockets only.",
		`tls = "off"`, `tls = "verify"`},
}
