package diag

// Codes of the planner: PEN04xx catalogs and tables, PEN05xx keys, ranges and
// modes, PEN06xx types, PEN07xx resources.
const ()

var plannerCodes = []Doc{}
