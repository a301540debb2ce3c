package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"penstock/connectors"
	"penstock/internal/schema"

	"github.com/jackc/pgx/v5/pgconn"
)

// createPublication publishes the stream's tables. Rows of partitions come as
// those of their table: partitions may be added and dropped under a stream.
func (c *SourceConfig) createPublication(s connectors.ChangeStream) string {
	return "CREATE PUBLICATION " + quote(c.publicationOf(s.Pipeline)) + " FOR TABLE " + strings.Join(c.published(s.Tables), ", ") +
		" WITH (publish = 'insert, update, delete, truncate', publish_via_partition_root = true)"
}

// published names tables as a publication's list does: without ONLY, tables that
// inherit from them would be published too.
func (c *SourceConfig) published(tables []connectors.ChangeTable) []string {
	out := make([]string, len(tables))
	for i, t := range tables {
		out[i] = "ONLY " + full(c.Schema, t.Table.Name)
	}
	return out
}

// markPublication says whose the publication is: drop takes away no other.
func (c *SourceConfig) markPublication(pipeline string) string {
	return "COMMENT ON PUBLICATION " + quote(c.publicationOf(pipeline)) + " IS " + literal(publicationMark(pipeline))
}

func publicationMark(pipeline string) string { return "made by penstock for pipeline " + pipeline }

const (
	selectPublication = `SELECT puballtables, pubinsert AND pubupdate AND pubdelete AND pubtruncate, pubviaroot, obj_description(oid, 'pg_publication') FROM pg_publication WHERE pubname = $1`
	selectPublished   = `SELECT schemaname, tablename, (SELECT string_agg(quote_ident(n), ',') FROM unnest(attnames) n), rowfilter,
  (SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass(quote_ident(schemaname) || '.' || quote_ident(tablename)) AND attnum > 0 AND NOT attisdropped AND attgenerated = '') = cardinality(attnames) FROM pg_publication_tables WHERE pubname = $1`
)

// publication is what the source has under the pipeline's name.
type publication struct {
	there   bool
	all     bool // every table
	ops     bool // inserts, updates, deletes, truncates
	root    bool
	ours    bool
	columns map[string][]string // of each table, by its full name; nil: all that it has
	filters map[string]string
}

func (c *SourceConfig) readPublication(ctx context.Context, conn *pgconn.PgConn, pipeline string) (p publication, err error) {
	name := c.publicationOf(pipeline)
	if _, err := query(ctx, conn, selectPublication, func(r [][]byte) error {
		p = publication{there: true, all: isTrue(r[0]), ops: isTrue(r[1]), root: isTrue(r[2]), ours: string(r[3]) == publicationMark(pipeline), columns: map[string][]string{}, filters: map[string]string{}}
		return nil
	}, name); err != nil || !p.there {
		return p, err
	}
	_, err = query(ctx, conn, selectPublished, func(r [][]byte) error {
		t := full(c.Schema, schema.Name{Schema: string(r[0]), Name: string(r[1])})
		if p.columns[t] = nil; !isTrue(r[4]) {
			p.columns[t] = splitIdents(string(r[2]))
		}
		if r[3] != nil {
			p.filters[t] = string(r[3])
		}
		return nil
	}, name)
	return p, err
}

// lacks are the stream's tables that the publication does not have.
func (p publication) lacks(c *SourceConfig, tables []connectors.ChangeTable) (out []connectors.ChangeTable) {
	for _, t := range tables {
		if _, ok := p.columns[full(c.Schema, t.Table.Name)]; !ok {
			out = append(out, t)
		}
	}
	return out
}

// findings are what is wrong with a publication that is there.
func (p publication) findings(c *SourceConfig, s connectors.ChangeStream) (out []connectors.Finding) {
	name := quote(c.publicationOf(s.Pipeline))
	wrong := func(mend, format string, args ...any) {
		f := connectors.Finding{Class: connectors.Schema, What: fmt.Sprintf("Publication "+name+" "+format, args...)}
		if mend != "" {
			f.Mend = []string{"ALTER PUBLICATION " + name + " " + mend}
		}
		out = append(out, f)
	}
	if !p.ops {
		wrong("SET (publish = 'insert, update, delete, truncate')", "leaves kinds of changes out: they would be missing at the target.")
	}
	for _, t := range s.Tables {
		n := full(c.Schema, t.Table.Name)
		columns, ok := p.columns[n]
		switch {
		case !ok && t.Table.Storage == storagePartitioned && !p.root:
			wrong("SET (publish_via_partition_root = true)", "gives changes of %s by its partitions' names.", t.Table.Name)
			continue
		case !ok:
			wrong("ADD TABLE ONLY "+n, "does not have table %s. What was changed before it is added is not in the log: load that table again then.", t.Table.Name)
			continue
		}
		if f, ok := p.filters[n]; ok {
			wrong("SET TABLE "+n, "publishes only rows of %s where %s. Write the condition as the table's `filter`.", t.Table.Name, f)
		}
		for _, col := range t.Table.Columns {
			if columns != nil && !slices.Contains(columns, col.Name) && col.Generated == "" {
				wrong("SET TABLE "+n, "leaves column %s of %s out.", col.Name, t.Table.Name)
			}
		}
	}
	return out
}

// ensurePublication makes the publication, or checks it. fresh: no log is kept
// for it yet, so that tables may be added.
func (c *SourceConfig) ensurePublication(ctx context.Context, conn *pgconn.PgConn, s connectors.ChangeStream, fresh bool) error {
	p, err := c.readPublication(ctx, conn, s.Pipeline)
	if err != nil {
		return err
	}
	name := c.publicationOf(s.Pipeline)
	switch {
	case !p.there && !fresh:
		return &connectors.Error{Class: connectors.LostPosition, Err: fmt.Errorf("there is no publication %s any more", name), Hint: lostHint}
	case !p.there:
		err := transaction(ctx, conn, func() error {
			if _, err := run(ctx, conn, c.createPublication(s)); err != nil {
				return err
			}
			_, err := run(ctx, conn, c.markPublication(s.Pipeline))
			return err
		})
		if connectors.ClassOf(err) == connectors.Permission {
			return &connectors.Error{Class: connectors.Permission, Err: err, Hint: "Let the tables' owner, with CREATE on the database, run: " + c.createPublication(s)}
		}
		return err
	case fresh && p.ours:
		if lacks := p.lacks(c, s.Tables); len(lacks) > 0 && !p.all {
			if _, err := run(ctx, conn, "ALTER PUBLICATION "+quote(name)+" ADD TABLE "+strings.Join(c.published(lacks), ", ")); err != nil {
				return err
			}
			if p, err = c.readPublication(ctx, conn, s.Pipeline); err != nil {
				return err
			}
		}
	}
	return refuse(p.findings(c, s))
}

// refuse makes an error of what was found that a run can't go on with: all of it.
func refuse(found []connectors.Finding) error {
	var texts, mend []string
	class := connectors.Fatal
	for _, f := range found {
		if f.Warning {
			continue
		}
		if texts == nil {
			class = f.Class
		}
		texts = append(texts, strings.TrimSuffix(f.What, "."))
		mend = append(mend, f.Mend...)
	}
	if texts == nil {
		return nil
	}
	e := &connectors.Error{Class: class, Err: errors.New(strings.Join(texts, "; "))}
	if mend != nil {
		e.Hint = "Mend it at the source: " + strings.Join(mend, "; ") + "."
	}
	return e
}
