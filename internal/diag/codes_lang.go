package diag

// Codes of the language: PEN00xx files and syntax, PEN01xx shape, PEN02xx values.
const (
	CannotRead      Code = "PEN0001"
	NotASpecFile    Code = "PEN0002"
	NoSpecFiles     Code = "PEN0003"
	HCLSyntax       Code = "PEN0010"
	HCLOneLine      Code = "PEN0011"
	EmptyFile       Code = "PEN0012"
	TwoDocuments    Code = "PEN0013"
	YAMLTab         Code = "PEN0014"
	YAMLTag         Code = "PEN0015"
	YAMLFlowBrace   Code = "PEN0016"
	YAMLStart       Code = "PEN0017"
	YAMLSyntax      Code = "PEN0018"
	YAMLAlias       Code = "PEN0019"
	AmbiguousNumber Code = "PEN0020"

	UnknownBlock     Code = "PEN0101"
	UnknownSetting   Code = "PEN0102"
	BelongsElsewhere Code = "PEN0103"
	MissingLabel     Code = "PEN0104"
	BlockOrSetting   Code = "PEN0105"
	ExtraLabel       Code = "PEN0106"
	UnknownConnector Code = "PEN0107"
	ForeignOptions   Code = "PEN0108"
	MissingSetting   Code = "PEN0110"
	BadName          Code = "PEN0111"
	WrongType        Code = "PEN0112"
	NotOneOf         Code = "PEN0113"
	BadUnit          Code = "PEN0114"
	OutOfBounds      Code = "PEN0115"
	NullValue        Code = "PEN0116"
	MissingBlock     Code = "PEN0117"
	SpecVersion      Code = "PEN0118"
	Duplicate        Code = "PEN0120"

	UnknownEndpoint      Code = "PEN0201"
	NotAReference        Code = "PEN0202"
	LocalCycle           Code = "PEN0210"
	UndeclaredVariable   Code = "PEN0211"
	UndeclaredLocal      Code = "PEN0212"
	UnknownName          Code = "PEN0213"
	UnknownFunction      Code = "PEN0214"
	NoValue              Code = "PEN0215"
	BadVariableValue     Code = "PEN0216"
	BadType              Code = "PEN0217"
	CannotEvaluate       Code = "PEN0218"
	UndeclaredAssignment Code = "PEN0219"
	PlainSecret          Code = "PEN0220"
	SecretElsewhere      Code = "PEN0221"
	SensitiveElsewhere   Code = "PEN0222"
	NotSensitive         Code = "PEN0223"
	BadSecret            Code = "PEN0224"
)

var langCodes = []Doc{
	{Code: CannotRead, Title: "Spec can't be read",
		Meaning: "The spec, a file of its folder or a variable file is not there or may not be read. The system's reason is given."},
	{Code: NotASpecFile, Title: "Not a spec file",
		Meaning: "The name of a spec ends in .hcl, .yaml or .yml; the ending says which syntax it is in."},
	{Code: NoSpecFiles, Title: "No spec in this folder",
		Meaning: "A folder is read as one spec made of its .hcl, .yaml and .yml files, and this one holds none. Folders inside it are not searched."},
	{Code: HCLSyntax, Title: "Syntax error",
		Meaning: "The file, or a template in it, can't be taken apart. The rest of the spec is checked once the syntax is right.",
		Bad: `source "sqlite" "in" {
  path = "in.db
}`,
		Good: `source "sqlite" "in" {
  path = "in.db"
}`},
	{Code: HCLOneLine, Title: "More than one setting on one line",
		Meaning: "HCL allows one setting, and no block, in a block that is written on one line. Put the braces on lines of their own.",
		Bad:     `variable "x" { type = string, sensitive = true }`,
		Good: `variable "x" {
  type      = string
  sensitive = true
}`},
	{Code: EmptyFile, Title: "Empty file",
		Meaning: "A file of a spec holds nothing but white space and comments. Fill it or remove it: an empty file is more often lost work than meant."},
	{Code: TwoDocuments, Title: "Second YAML document",
		Meaning: "A YAML file holds one document. Put the second one into a file of its own and give the folder as the spec.",
		Bad: `penstock: {spec: 1}
---
locals: {a: 1}`,
		Good: `penstock: {spec: 1}
locals: {a: 1}`},
	{Code: YAMLTab, Title: "Tab in the indentation",
		Meaning: "YAML is indented by spaces alone.",
		Bad:     "locals:\n\ta: 1",
		Good: `locals:
  a: 1`},
	{Code: YAMLTag, Title: `"!" starts a YAML tag`,
		Meaning: "In YAML a value that begins with an exclamation mark is a type tag, so a condition that begins with `!` loses its first word. Put it in quotes, or write `not`.",
		Bad: `locals:
  filter: !deleted`,
		Good: `locals:
  filter: "!deleted"`},
	{Code: YAMLFlowBrace, Title: `"${" in a YAML flow collection`,
		Meaning: "Inside `{ }` and `[ ]` YAML ends the collection at the brace of the template. Put the value in quotes.",
		Bad:     `locals: {a: ${upper("x")}}`,
		Good:    `locals: {a: '${upper("x")}'}`},
	{Code: YAMLStart, Title: "Value can't begin with this character",
		Meaning: "YAML reserves `@`, the backtick and `%` at the start of a value, and `{` begins a mapping. Put the value in quotes. Templates are written with a dollar sign: `${table.schema}`.",
		Bad: `locals:
  to: {schema}.t`,
		Good: `locals:
  to: ${upper("schema")}.t`},
	{Code: YAMLSyntax, Title: "YAML syntax error",
		Meaning: "The file can't be read as YAML, or it is YAML that no spec can be: a list at the top, a key that is no word.",
		Bad: `locals:
  a: b: c`,
		Good: `locals:
  a: "b: c"`},
	{Code: YAMLAlias, Title: "Aliases expand too far",
		Meaning: "An alias stands inside the value that it names, or aliases of aliases stand for more than a million values.",
		Bad: `locals: &a
  b: *a`,
		Good: `locals:
  b: &b 1
  c: *b`},
	{Code: AmbiguousNumber, Title: "Ambiguous number",
		Meaning: "Readers of YAML disagree on numbers such as 0x1F, 1_000, 012 and .inf, and HCL ends a number at the _ or comma between its digits. Write plain decimal numbers; quote what is a text.",
		Bad: `locals:
  a: 012`,
		Good: `locals:
  a: 12`},
	{Code: UnknownBlock, Title: "Unknown block",
		Meaning: "No block of this name can stand here. The nearest name is offered, else all that there are.",
		Bad:     `pipline "p" {}`,
		Good:    `pipeline "p" {}`},
	{Code: UnknownSetting, Title: "Unknown setting",
		Meaning: "No setting of this name can stand here. The nearest name is offered, else all that there are.",
		Bad: `variable "x" {
  defualt = 1
}`,
		Good: `variable "x" {
  default = 1
}`},
	{Code: BelongsElsewhere, Title: "Does not belong here",
		Meaning: "The name is known, and belongs to another block. The message says which.",
		Bad: `pipeline "p" {
  table "t" {
    rows = 1000
  }
}`,
		Good: `pipeline "p" {
  table "t" {
    commit { rows = 1000 }
  }
}`},
	{Code: MissingLabel, Title: "Block without its name",
		Meaning: "Sources and targets have a kind and a name, pipelines, tables, columns and variables a name. In HCL they stand in quotes before the brace, in YAML as keys around the block.",
		Bad: `source "sqlite" {
  path = "in.db"
}`,
		Good: `source "sqlite" "in" {
  path = "in.db"
}`},
	{Code: BlockOrSetting, Title: "Block written as a setting, or the reverse",
		Meaning: "A block takes settings of its own between braces; a setting takes one value behind an equals sign.",
		Bad: `pipeline "p" {
  report = "60s"
}`,
		Good: `pipeline "p" {
  report { every = "60s" }
}`},
	{Code: ExtraLabel, Title: "Block with a name too many",
		Meaning: "The block has fewer names before its brace.",
		Bad:     `pipeline "p" "q" {}`,
		Good:    `pipeline "p" {}`},
	{Code: UnknownConnector, Title: "Unknown kind of source or target",
		Meaning: "No connector of this kind exists, or it can't play this part: nothing is read from Kafka, and nothing is written to Oracle.",
		Bad: `source "sqllite" "in" {
  path = "in.db"
}`,
		Good: `source "sqlite" "in" {
  path = "in.db"
}`},
	{Code: ForeignOptions, Title: "Block does not fit the target",
		Meaning: "A table holds the block of a connector that is not the pipeline's target. It would have no effect.",
		Bad: `source "sqlite" "in" { path = "in.db" }
target "sqlite" "out" { path = "out.db" }
pipeline "p" {
  from = source.in
  to   = target.out
  table "t" {
    kafka { partitions = 4 }
  }
}`,
		Good: `source "sqlite" "in" { path = "in.db" }
target "sqlite" "out" { path = "out.db" }
pipeline "p" {
  from = source.in
  to   = target.out
  table "t" {}
}`},
	{Code: MissingSetting, Title: "Missing setting",
		Meaning: "A setting that is required is not there. The message points at the block that lacks it.",
		Bad: `source "sqlite" "in" { path = "in.db" }
pipeline "p" {
  from = source.in
  table "t" {}
}`,
		Good: `source "sqlite" "in" { path = "in.db" }
target "sqlite" "out" { path = "out.db" }
pipeline "p" {
  from = source.in
  to   = target.out
  table "t" {}
}`},
	{Code: BadName, Title: "Bad name",
		Meaning: "Names of endpoints, pipelines, variables and locals are made of letters, digits, _ and -, and begin with a letter or _. A pipeline's has at most 40 bytes, since sessions show it.",
		Bad:     `pipeline "my pipeline" {}`,
		Good:    `pipeline "my_pipeline" {}`},
	{Code: WrongType, Title: "Wrong type",
		Meaning: "Nothing is converted: a number in quotes is a text, and a text is no number.",
		Bad: `pipeline "p" {
  workers = "8"
}`,
		Good: `pipeline "p" {
  workers = 8
}`},
	{Code: NotOneOf, Title: "Not one of the words allowed",
		Meaning: "The setting takes one of a few words.",
		Bad: `pipeline "p" {
  mode = "snapshots"
}`,
		Good: `pipeline "p" {
  mode = "snapshot"
}`},
	{Code: BadUnit, Title: "Bad size, rate or duration",
		Meaning: `Sizes are written "8MiB" (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), rates "40MiB/s", durations "60s" (ms, s, m, h). The unit is never left out.`,
		Bad: `pipeline "p" {
  memory = "256"
}`,
		Good: `pipeline "p" {
  memory = "256MiB"
}`},
	{Code: OutOfBounds, Title: "Value out of bounds",
		Meaning: "The value is too small, too large or empty. The message gives the bound.",
		Bad: `pipeline "p" {
  workers = 0
}`,
		Good: `pipeline "p" {
  workers = 1
}`},
	{Code: NullValue, Title: "Setting without a value",
		Meaning: "A setting is null, in YAML also when nothing stands behind its colon. That is not taken as the default: a filter that was lost would let every row pass.",
		Bad: `pipeline "p" {
  table "t" { filter = null }
}`,
		Good: `pipeline "p" {
  table "t" { filter = "id > 0" }
}`},
	{Code: MissingBlock, Title: "Missing block",
		Meaning: "A spec needs a penstock block, and a pipeline at least one table.",
		Bad:     `pipeline "p" {}`,
		Good: `source "sqlite" "in" { path = "in.db" }
target "sqlite" "out" { path = "out.db" }
pipeline "p" {
  from = source.in
  to   = target.out
  table "t" {}
}`},
	{Code: SpecVersion, Title: "Version of the language is not known",
		Meaning: "The spec says that it is written in a version of the language that this program does not know. Use a newer penstock.",
		Bad:     "penstock { spec = 2 }",
		Good:    "penstock { spec = 1 }"},
	{Code: Duplicate, Title: "Written twice",
		Meaning: "A setting, a name or a block stands twice where one can count. In YAML a key stands twice in a mapping.",
		Bad: `locals {
  a = 1
  a = 2
}`,
		Good: `locals {
  a = 1
  b = 2
}`},
	{Code: UnknownEndpoint, Title: "Unknown source or target",
		Meaning: "No block of the spec declares the endpoint that from or to names.",
		Bad: `source "sqlite" "in" { path = "in.db" }
pipeline "p" {
  from = source.inn
}`,
		Good: `source "sqlite" "in" { path = "in.db" }
pipeline "p" {
  from = source.in
}`},
	{Code: NotAReference, Title: "Not a reference to an endpoint",
		Meaning: "from takes source.name and to takes target.name, without quotes. They can't be computed.",
		Bad: `pipeline "p" {
  from = "source.in"
}`,
		Good: `pipeline "p" {
  from = source.in
}`},
	{Code: LocalCycle, Title: "Local values form a cycle",
		Meaning: "Each of the locals named needs the next, and the last needs the first, so none of them can be known.",
		Bad: `locals {
  a = local.b
  b = local.a
}`,
		Good: `locals {
  a = "x"
  b = local.a
}`},
	{Code: UndeclaredVariable, Title: "Undeclared variable",
		Meaning: "var.name is used and no variable block declares the name.",
		Bad: `locals {
  a = var.host
}`,
		Good: `variable "host" { default = "h" }
locals {
  a = var.host
}`},
	{Code: UndeclaredLocal, Title: "Undeclared local value",
		Meaning: "local.name is used and no locals block sets the name.",
		Bad: `locals {
  a = local.host
}`,
		Good: `locals {
  host = "h"
  a    = local.host
}`},
	{Code: UnknownName, Title: "Unknown name in an expression",
		Meaning: "Expressions know var.name and local.name, and in to also table.schema and table.name. A word without quotes is a name, not a text, and a row expression (filter, value) stands in quotes as a whole.",
		Bad: `pipeline "p" {
  mode = snapshot
}`,
		Good: `pipeline "p" {
  mode = "snapshot"
}`},
	{Code: UnknownFunction, Title: "Unknown function",
		Meaning: "There is no function of this name. All functions are pure: none reads a clock, a file or the environment.",
		Bad: `locals {
  a = uper("x")
}`,
		Good: `locals {
  a = upper("x")
}`},
	{Code: NoValue, Title: "Variable has no value",
		Meaning: "A variable that has no default is used, and neither --var, --var-file nor PENSTOCK_VAR_name gives it a value.",
		Bad: `variable "host" { type = string }
locals {
  a = var.host
}`,
		Good: `variable "host" { default = "h" }
locals {
  a = var.host
}`},
	{Code: BadVariableValue, Title: "Value does not fit the variable",
		Meaning: "A value from the command line, the environment or a variable file is not of the type that the variable declares."},
	{Code: BadType, Title: "Unknown type",
		Meaning: "Types of variables are string, number, bool, any, and list(...), set(...) and map(...) of them, without quotes.",
		Bad:     `variable "x" { type = text }`,
		Good:    `variable "x" { type = string }`},
	{Code: CannotEvaluate, Title: "Expression can't be evaluated",
		Meaning: "A function refused an argument, an index is not there, two sides of a condition have different types. What uses the failed value is not reported again.",
		Bad: `locals {
  a = upper([1])
}`,
		Good: `locals {
  a = upper("x")
}`},
	{Code: UndeclaredAssignment, Title: "No such variable in the spec",
		Meaning: "A value is given for a variable that no block declares: an error with --var, a warning in a variable file, which several specs may share."},
	{Code: PlainSecret, Title: "Secret in plain text",
		Meaning: `A password or key is written in the spec, for all to read who can read the repository. Its value is never printed. Write env("NAME"), file("path") or a sensitive variable.`,
		Bad: `source "postgres" "pg" {
  host     = "h"
  database = "d"
  user     = "u"
  password = "hunter2"
}`,
		Good: `source "postgres" "pg" {
  host     = "h"
  database = "d"
  user     = "u"
  password = env("PG_PASSWORD")
}`},
	{Code: SecretElsewhere, Title: "env() or file() outside a secret",
		Meaning: "env and file are allowed only as the whole value of a secret setting. Everything else comes from variables, so that a plan depends on the spec and its variables alone.",
		Bad: `locals {
  host = env("HOST")
}`,
		Good: `variable "host" { default = "h" }
locals {
  host = var.host
}`},
	{Code: SensitiveElsewhere, Title: "Sensitive variable outside a secret",
		Meaning: "The value of a sensitive variable would be seen in the plan. It is allowed only as the whole value of a secret setting.",
		Bad: `variable "key" { sensitive = true }
locals {
  a = var.key
}`,
		Good: `variable "key" { default = "k" }
locals {
  a = var.key
}`},
	{Code: NotSensitive, Title: "Secret from a variable that is not sensitive",
		Meaning: "A secret setting takes its value from a variable that would be printed. Declare the variable sensitive.",
		Bad: `variable "pw" { type = string }
source "postgres" "pg" {
  host     = "h"
  database = "d"
  user     = "u"
  password = var.pw
}`,
		Good: `variable "pw" { sensitive = true }
source "postgres" "pg" {
  host     = "h"
  database = "d"
  user     = "u"
  password = var.pw
}`},
	{Code: BadSecret, Title: "env() and file() take one text",
		Meaning: "The name of the environment variable or the path stands in quotes and can't be computed.",
		Bad: `source "postgres" "pg" {
  host     = "h"
  database = "d"
  user     = "u"
  password = env(upper("x"))
}`,
		Good: `source "postgres" "pg" {
  host     = "h"
  database = "d"
  user     = "u"
  password = env("X")
}`},
}
