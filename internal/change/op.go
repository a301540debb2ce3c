package change

// Op is what a change does.
type Op uint8

// Operations of a source's log. The last two come of filters alone: a row that
// moves out of a filter, or into it, where nobody knows on which side it was; and
// so does LeftOut, a change that is kept for its place in the log alone.
const (
	LeftOut Op = iota
	Insert
	Update
	Delete
	Truncate
	Upsert      // insert, or update what is there; its image is whole
	DeleteThere // delete, if it is there
)

var opNames = [...]string{LeftOut: "nothing", Insert: "insert", Update: "update", Delete: "delete", Truncate: "truncate", Upsert: "upsert", DeleteThere: "delete if there"}

func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return "unknown"
}
