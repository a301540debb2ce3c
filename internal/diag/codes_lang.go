package diag

// Codes of the language: PEN00xx files and syntax, PEN01xx shape, PEN02xx values.
const ()

var langCodes = []Doc{}
