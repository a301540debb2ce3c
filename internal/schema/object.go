package schema

// Object is an index or a constraint of a table as its database defines it:
// what a load drops and makes again after its rows, or makes of its source's.
type Object struct {
	Kind ObjectKind `json:"kind"`
	Name string     `json:"name"`
	On   Name       `json:"on,omitzero"` // the partition that has it; zero: the table itself
	// Definition is the statement that makes the index, or what follows ADD
	// CONSTRAINT of a foreign key. Empty: the catalog does not tell, and the
	// database is asked when it is dropped.
	Definition string `json:"definition,omitempty"`
	Constraint string `json:"constraint,omitempty"` // of a key, what follows ADD CONSTRAINT: PRIMARY KEY (id)
	// Parent is set of what a partitioned table has: it holds nothing itself, and
	// is whole when a part is attached to it for each partition.
	Parent      bool   `json:"parent,omitempty"`
	PartOf      Name   `json:"part_of,omitzero"`      // the Parent that it is attached to
	Tablespace  string `json:"tablespace,omitempty"`  // of the index, where it is not the database's own
	Unvalidated bool   `json:"unvalidated,omitempty"` // a foreign key that rows were never checked against
	// Settings are statements for what the definition does not say: comments,
	// statistics targets, CLUSTER ON, REPLICA IDENTITY.
	Settings []string `json:"settings,omitempty"`
	Needs    []Name   `json:"needs,omitempty"` // of a foreign key, the tables that it locks beside its own
	Keep     string   `json:"keep,omitempty"`  // why it stays where it is during a load
	// Waits are the source tables that are loaded before it is made, its own table's
	// first: of a foreign key that comes with a table which the run creates.
	Waits []string `json:"waits,omitempty"`
}

// ObjectKind is what an object is, in words for people.
type ObjectKind string

const (
	ObjectIndex   ObjectKind = "index"
	ObjectPrimary ObjectKind = "primary key"
	ObjectUnique  ObjectKind = "unique key"
	ObjectForeign ObjectKind = "foreign key"
)

func (o Object) String() string {
	s := string(o.Kind) + " " + o.Name
	if o.On.Name != "" {
		s += " of " + o.On.String()
	}
	return s
}
