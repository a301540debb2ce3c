package lang

// Word is a block or a setting, and the block that it stands in.
type Word struct{ In, Name string }

// Words lists every block and setting that a spec may have with these
// connectors, and Functions every function.
func Words(connectors []Connector) []Word {
	s := newScope(map[string][]byte{}, Options{Connectors: connectors})
	var out []Word
	for _, root := range append([]*shape{s.root}, s.configs...) {
		root.walk(func(in *shape) {
			for _, n := range in.names() {
				out = append(out, Word{in.name, n})
			}
		})
	}
	return out
}

func Functions() []string { return functionNames() }
