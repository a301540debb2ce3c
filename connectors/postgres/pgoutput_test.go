package postgres

import (
	"encoding/binary"
	"testing"

	"penstock/internal/change"
	"penstock/internal/schema"
)

// message builds one of pgoutput's.
type message []byte

func (m message) u16(v ...uint16) message {
	for _, x := range v {
		m = binary.BigEndian.AppendUint16(m, x)
	}
	return m
}

func (m message) u32(v ...uint32) message {
	for _, x := range v {
		m = binary.BigEndian.AppendUint32(m, x)
	}
	return m
}

func (m message) u64(v ...uint64) message {
	for _, x := range v {
		m = binary.BigEndian.AppendUint64(m, x)
	}
	return m
}

func (m message) text(s string) message { return append(append(m, s...), 0) }

func (m message) value(kind byte, v string) message {
	m = append(m, kind)
	if kind == valueText || kind == valueBinary {
		m = append(m.u32(uint32(len(v))), v...)
	}
	return m
}

// aLog is a transaction as a server sends it.
func aLog() [][]byte {
	relation := append(message("R").u32(7).text("public").text("t"), 'd')
	relation = append(relation.u16(3), 1).text("id").u32(23, ^uint32(0))
	relation = append(append(relation, 0).text("n").u32(1700, ^uint32(0)), 0).text("v").u32(25, ^uint32(0))
	row := message("").u16(3).value(valueBinary, "\x00\x00\x00\x05").value(valueBinary, "\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07").value(valueText, "hello")
	key := message("").u16(3).value(valueBinary, "\x00\x00\x00\x04").value(valueNull, "").value(valueNull, "")
	toast := message("").u16(3).value(valueText, "5").value(valueNull, "").value(valueMissing, "")
	return [][]byte{
		message("B").u64(100, 5).u32(9), relation,
		append(append(message("I").u32(7), tupleNew), row...),
		append(append(append(append(message("U").u32(7), tupleKey), key...), tupleNew), toast...),
		append(append(message("D").u32(7), tupleKey), key...),
		append(message("T").u32(1), 0, 0, 0, 0, 7),
		append(message("C"), message{0}.u64(100, 120, 5)...),
	}
}

// logDecoder follows one table.
func logDecoder() *pgoutput {
	t := &schema.Table{Name: schema.Name{Name: "t"}, Columns: []schema.Column{
		{Name: "id", Native: "integer", Type: schema.Of(schema.Int32)}, {Name: "n", Native: "numeric(20,2)", Type: schema.Type{Kind: schema.Decimal, Precision: 20, Scale: 2}}, {Name: "v", Native: "text", Type: schema.Of(schema.Text)},
	}}
	return &pgoutput{relations: map[uint32]*logTable{}, relation: func(m relationMessage) (*logTable, error) {
		if m.name != "t" || len(m.columns) != 3 {
			columns := make([]int, len(m.columns))
			for i := range columns {
				columns[i] = -1
			}
			return newLogTable(m, nil, nil, columns), nil
		}
		return newLogTable(m, t, nil, []int{0, 1, 2}), nil
	}}
}

// FuzzLogMessages sends messages that no server sends: they are refused, and the
// batch holds whole changes alone.
func FuzzLogMessages(f *testing.F) {
	var seed []byte
	for _, m := range aLog() {
		seed = append(append(seed, byte(len(m))), m...)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		d, pool := logDecoder(), change.Pool{}
		b := pool.Batch()
		d.isChange(data)
		for lsn := uint64(1); len(data) > 0; lsn++ {
			n := min(int(data[0]), len(data)-1)
			m := data[1 : 1+n]
			data = data[1+n:]
			d.isChange(m)
			if d.add(b, lsn/3, m) != nil {
				break
			}
		}
		befores, afters := map[int32]int32{}, map[int32]int32{}
		for i := range b.Changes {
			c := &b.Changes[i]
			if c.Before >= 0 {
				if c.Before != befores[c.Set] {
					t.Fatalf("change %d has row %d before, want %d", i, c.Before, befores[c.Set])
				}
				befores[c.Set]++
			}
			if c.After >= 0 {
				if c.After != afters[c.Set] {
					t.Fatalf("change %d has row %d after, want %d", i, c.After, afters[c.Set])
				}
				afters[c.Set]++
			}
		}
		for i, s := range b.Sets {
			for _, x := range []struct {
				m    *change.Image
				rows int32
			}{{&s.Before, befores[int32(i)]}, {&s.After, afters[int32(i)]}} {
				for k, c := range x.m.Columns {
					if x.m.Rows() != int(x.rows) || c.Len() != int(x.rows) {
						t.Fatalf("column %d has %d rows of %d, changes have %d", k, c.Len(), x.m.Rows(), x.rows)
					}
				}
			}
		}
	})
}

// Cut short anywhere, a message is an error and adds nothing.
func TestAMessageThatIsCutIsRefused(t *testing.T) {
	log := aLog()
	for i, m := range log {
		for n := range m {
			d, pool := logDecoder(), change.Pool{}
			b := pool.Batch()
			for k, whole := range log[:i] {
				if err := d.add(b, uint64(10+k), whole); err != nil {
					t.Fatal(err)
				}
			}
			before := len(b.Changes)
			if err := d.add(b, 50, m[:n]); err == nil {
				t.Errorf("%q, %d octets of %d, was taken", m[:n], n, len(m))
			}
			if len(b.Changes) != before {
				t.Errorf("%q added a change", m[:n])
			}
			for _, s := range b.Sets {
				for _, img := range []*change.Image{&s.Before, &s.After} {
					if img.Columns[0].Len() != img.Rows() || img.Columns[2].Len() != img.Rows() {
						t.Fatalf("%q left half a row", m[:n])
					}
				}
			}
		}
	}
}

func TestChangesAreTakenWithoutAllocating(t *testing.T) {
	log := aLog()
	d, pool := logDecoder(), change.Pool{}
	lsn := uint64(100)
	batch := func() {
		b := pool.Batch()
		for _, m := range log[:2] {
			if err := d.add(b, lsn, m); err != nil {
				t.Fatal(err)
			}
		}
		for range 1000 {
			for _, m := range log[2:5] {
				lsn++
				if err := d.add(b, lsn, m); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := d.add(b, lsn, log[6]); err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
	batch() // its memory is made once
	if n := testing.AllocsPerRun(20, batch) / 3000; n > 0.02 {
		t.Errorf("%.3f allocations a change", n)
	}
}
