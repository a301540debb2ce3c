package diag

// Codes of row expressions: PEN03xx.
const ()

var rowexprCodes = []Doc{}
