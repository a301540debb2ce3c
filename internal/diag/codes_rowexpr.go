package diag

// Codes of row expressions: PEN03xx.
const (
	RowSyntax          Code = "PEN0300"
	RowUnknownColumn   Code = "PEN0301"
	RowAmbiguousColumn Code = "PEN0302"
	RowNotCondition    Code = "PEN0303"
	RowUnreadable      Code = "PEN0304"
	RowSQLOperator     Code = "PEN0305"
	RowNoType          Code = "PEN0306"
	RowMismatch        Code = "PEN0310"
	RowOperand         Code = "PEN0311"
	RowLiteral         Code = "PEN0312"
	RowPattern         Code = "PEN0313"
	RowNotAllowed      Code = "PEN0320"
	RowFunction        Code = "PEN0321"
	RowTooLarge        Code = "PEN0322"
)

var rowexprCodes = []Doc{
	{RowSyntax, "Expression can't be read",
		"The text of a filter or value is not an expression: a bracket, a quote or an operand is missing. The marked bytes are where reading stopped.",
		`filter = "amount > "`, `filter = "amount > 100"`},
	{RowUnknownColumn, "Unknown column",
		"An expression names a column that the source table does not have. Names match the catalog exactly, else without regard to case when one column fits. Text is written in quotes.",
		`filter = "amuont > 100"`, `filter = "amount > 100"`},
	{RowAmbiguousColumn, "Ambiguous column",
		"The name fits several columns that differ only in case. Write it exactly as the catalog has it.",
		`filter = "Id > 100" # the table has ID and id`, `filter = "ID > 100"`},
	{RowNotCondition, "Filter is not a condition",
		"A filter must be true or false for a row. This one yields another kind of value: compare it with something.",
		`filter = "amount"`, `filter = "amount > 0"`},
	{RowUnreadable, "Column can't be read",
		"The expression uses a column whose native type Penstock has no type for. Leave the column out of expressions.",
		`filter = "shape != nil"`, `filter = "shape_id != nil"`},
	{RowSQLOperator, "SQL operator in an expression",
		"Row expressions have their own spelling: == for =, != for <>, and, or, not in lower case, x == nil for IS NULL, matches for LIKE, [1, 2] for the list after in.",
		`filter = "status = 'A' AND note IS NULL"`, `filter = "status == 'A' and note == nil"`},
	{RowNoType, "Expression is always NULL",
		"nil alone has no type that a column could take. Write int(nil), float(nil) or string(nil).",
		`column "note" { value = "nil" }`, `column "note" { value = "string(nil)" }`},
	{RowMismatch, "Values can't be compared",
		"Two values of different kinds meet in a comparison, a list, a ?? or the branches of a condition: text and a number, for example. Nothing is converted silently; use int(), float() or string().",
		`filter = "status == 1" # status is varchar(10)`, `filter = "status == '1'"`},
	{RowOperand, "Operand of the wrong kind",
		"An operator or a function is given a kind of value that it does not take, such as upper() of a number.",
		`column "id_text" { value = "upper(id)" }`, `column "id_text" { value = "upper(string(id))" }`},
	{RowLiteral, "Literal can't be read",
		"A number, or a text that is compared with a date, a time, a timestamp or a uuid, is not in a form that can be read. Dates are written 2024-01-31, timestamps 2024-01-31 10:20:30, with a zone as 2024-01-31T10:20:30Z.",
		`filter = "created > '31.01.2024'"`, `filter = "created > '2024-01-31'"`},
	{RowPattern, "Pattern can't be read",
		"The right side of matches is a regular expression in RE2 syntax, written as a text literal.",
		`filter = "name matches '('"`, `filter = "name matches '[(]'"`},
	{RowNotAllowed, "Not allowed in a row expression",
		"The cost of a row expression must be bounded and its result must depend on the row alone: no let, loops, closures, ranges, maps, pipes, method calls or now().",
		`filter = "let x = amount; x > 1"`, `filter = "amount > 1"`},
	{RowFunction, "Unknown function",
		"The functions are upper, lower, trim, len, abs, round, int, float and string, each of one argument.",
		`column "name" { value = "ucase(name)" }`, `column "name" { value = "upper(name)" }`},
	{RowTooLarge, "Expression is too large",
		"An expression may have 32,768 bytes and 5,000 parts. Select the rows in a view at the source instead.",
		`filter = "id in [1, 2, ... 100000]"`, `filter = "id <= 100000"`},
}
