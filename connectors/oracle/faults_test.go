package oracle_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"penstock/connectors"
	"penstock/connectors/oracle"
	"penstock/connectors/oracle/oracletest"
	"penstock/internal/batch"
	"penstock/internal/schema"

	"go.uber.org/goleak"
)

// numbered is a table T.T of n rows over two partitions.
func numbered(db *oracletest.Database, n int) *oracletest.Table {
	t := db.Create(&oracletest.Table{Owner: "T", Name: "T", PrimaryKey: []string{"ID"}, Columns: []oracletest.Column{{Name: "ID", Type: "NUMBER(9)", NotNull: true}, {Name: "S", Type: "VARCHAR2(40)"}},
		Parts: []oracletest.Part{{Partition: "A", Files: []uint32{5, 4}}, {Partition: "B"}}})
	for p := range 2 {
		var rows [][]any
		for i := range n / 2 {
			rows = append(rows, []any{p*(n/2) + i, fmt.Sprintf("row %d", i)})
		}
		db.Insert(t, p, rows...)
	}
	return t
}

// exact fails unless rows are 0 to n-1, each once.
func exact(t *testing.T, rows [][]string, n int) {
	t.Helper()
	seen := make([]int, n)
	for _, r := range rows {
		var id int
		if _, err := fmt.Sscan(r[0], &id); err != nil || id >= n {
			t.Fatalf("a row of ID %q", r[0])
		}
		seen[id]++
	}
	for id, k := range seen {
		if k != 1 {
			t.Fatalf("row %d came %d times", id, k)
		}
	}
}

// TestEveryMessageCanBeSpoilt breaks each message of a read in each way, in turn.
// The read fails with a class that says what to do, or it is exact: never short,
// never with rows of a broken answer, and the next one is well.
func TestEveryMessageCanBeSpoilt(t *testing.T) {
	const n = 120
	for _, kind := range []connectors.SplitKind{connectors.SplitBlocks, connectors.SplitKey} {
		db := oracletest.NewDatabase()
		numbered(db, n)
		s := double(t, db)
		s.Spoil(oracletest.Fault{At: 1 << 30})
		rows, _, err := readTable(t, open(t, s), "T", kind, false)
		if err != nil {
			t.Fatal(err)
		}
		exact(t, rows, n)
		total := s.Messages()
		s.Heal()
		if total < 20 {
			t.Fatalf("a read of %d messages", total)
		}
		for name, f := range map[string]oracletest.Fault{
			"drop":   {Harm: oracletest.Drop},
			"cut":    {Harm: oracletest.Cut},
			"garble": {Harm: oracletest.Garble},
			"error":  {Harm: oracletest.Fail, Err: &oracletest.Error{Code: 3113, Text: "end-of-file on communication channel"}},
			"old":    {Harm: oracletest.Fail, Err: &oracletest.Error{Code: 1555, Text: "snapshot too old"}, Statement: " AS OF SCN "},
		} {
			if kind == connectors.SplitKey && name != "cut" && name != "old" {
				continue // the messages are the same but for their statements
			}
			t.Run(fmt.Sprintf("%s/%s", kind, name), func(t *testing.T) {
				n := spoilEach(t, s, kind, f, rows)
				if n < total/2 && f.Statement == "" || n == 0 {
					t.Errorf("%d messages were spoilt, of %d", n, total)
				}
			})
		}
	}
}

// spoilEach reads the table once for each message, with a fault at it.
func spoilEach(t *testing.T, s *oracletest.Server, kind connectors.SplitKind, f oracletest.Fault, want [][]string) int {
	t.Helper()
	for f.At = 1; ; f.At++ {
		s.Spoil(f)
		rows, _, err := readTable(t, open(t, s), "T", kind, false)
		if s.Heal() == 0 {
			// The read has fewer messages than that, and nothing of the faults is left.
			if err != nil {
				t.Fatal(err)
			}
			exact(t, rows, len(want))
			return f.At - 1
		}
		if err == nil {
			// A logoff or the close of a cursor that fails is nobody's loss.
			exact(t, rows, len(want))
			continue
		}
		class := connectors.Transient
		if f.Statement != "" {
			class = connectors.LostPosition
		}
		if got := connectors.ClassOf(err); got != class {
			t.Errorf("message %d: class %s (%v), want %s", f.At, got, err, class)
		}
		if strings.Contains(err.Error(), s.Password) {
			t.Errorf("message %d: the password is in %v", f.At, err)
		}
	}
}

func TestUndoThatIsGoneMidChunkIsALostPosition(t *testing.T) {
	db := oracletest.NewDatabase()
	tab := db.Create(&oracletest.Table{Owner: "T", Name: "T", Columns: []oracletest.Column{{Name: "ID", Type: "NUMBER(9)"}, {Name: "S", Type: "VARCHAR2(4000)"}}})
	var rows [][]any
	for i := range 6000 {
		rows = append(rows, []any{i, strings.Repeat("x", 100)})
	}
	db.Insert(tab, 0, rows...)
	src := open(t, double(t, db))
	ctx := context.Background()
	cat, err := src.Catalog(ctx)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	x := connectors.Extract{Table: &cat.Tables[0], Columns: []string{"ID", "S"}, Split: connectors.Split{Kind: connectors.SplitBlocks, Count: 1, ChunkRows: 1 << 30}}
	chunks, err := snap.Split(ctx, x.Table, x.Split)
	if err != nil {
		t.Fatal(err)
	}
	r, err := snap.OpenChunk(ctx, x, chunks[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pool := batch.NewPool([]schema.Type{x.Table.Columns[0].Type, x.Table.Columns[1].Type}, batch.Limits{Rows: 50})
	got := 0
	for {
		b := pool.Builder()
		err := r.Read(ctx, b)
		if err != nil {
			if c := connectors.ClassOf(err); c != connectors.LostPosition || !strings.Contains(err.Error(), "UNDO_RETENTION") {
				t.Errorf("after %d rows: %s, %v; want a lost position that names UNDO_RETENTION", got, c, err)
			}
			break
		}
		if got += b.Rows(); got == 50 {
			db.Forget()
		}
		b.Discard()
	}
	if got == 0 || got >= 6000 {
		t.Errorf("%d rows before the error, want some of 6000", got)
	}
}

// TestPointsAreOfOneDatabase: an SCN of another one would read other rows.
func TestPointsAreOfOneDatabase(t *testing.T) {
	db := oracletest.NewDatabase()
	tab := numbered(db, 10)
	s := double(t, db)
	ctx := context.Background()
	snap, err := open(t, s).Snapshot(ctx, connectors.SnapshotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at, _ := snap.Position(nil)
	snap.Close()
	again := func() error {
		snap, err := open(t, s).Snapshot(ctx, connectors.SnapshotOptions{At: at})
		if err == nil {
			snap.Close()
		}
		return err
	}
	if err := again(); err != nil {
		t.Fatal(err)
	}
	s.Denied["V$DATABASE"] = true // no identity to compare, and the SCN from elsewhere
	if err := again(); err != nil {
		t.Errorf("without V$DATABASE: %v", err)
	}
	s.Denied["DBMS_FLASHBACK"] = true
	if err := again(); connectors.ClassOf(err) != connectors.Permission || !strings.Contains(err.Error(), "V_$DATABASE") {
		t.Errorf("without either: %v, want a permission error that names V_$DATABASE", err)
	}
	clear(s.Denied)
	for name, change := range map[string]func(){"DBID": func() { db.DBID++ }, "incarnation": func() { db.DBID--; db.Resetlogs = db.DBID }} {
		change()
		if err := again(); connectors.ClassOf(err) != connectors.LostPosition {
			t.Errorf("another %s: %v, want a lost position", name, err)
		}
	}
	db.Alter(tab)
}

func TestDDLMakesAPointUnreadable(t *testing.T) {
	db := oracletest.NewDatabase()
	tab := numbered(db, 100)
	s := double(t, db)
	src := open(t, s)
	ctx := context.Background()
	snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	db.Alter(tab)
	cat, _ := src.Catalog(ctx)
	x := connectors.Extract{Table: &cat.Tables[0], Columns: []string{"ID"}, Split: connectors.Split{Kind: connectors.SplitBlocks, Count: 1, ChunkRows: 1000}}
	chunks, err := snap.Split(ctx, x.Table, x.Split)
	if err != nil {
		t.Fatal(err)
	}
	r, err := snap.OpenChunk(ctx, x, chunks[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Read(ctx, batch.NewPool([]schema.Type{x.Table.Columns[0].Type}, batch.Limits{}).Builder()); connectors.ClassOf(err) != connectors.LostPosition || !strings.Contains(err.Error(), "--reload") {
		t.Errorf("after DDL: %v, want a lost position that says --reload", err)
	}
}

func TestMissingGrantsAreNamed(t *testing.T) {
	db := oracletest.NewDatabase()
	numbered(db, 10)
	s := double(t, db)
	s.Denied["DBA_EXTENTS"] = true
	_, _, err := readTable(t, open(t, s), "T", connectors.SplitBlocks, false)
	if connectors.ClassOf(err) != connectors.Permission || !strings.Contains(err.Error(), "GRANT SELECT ON SYS.DBA_EXTENTS") {
		t.Errorf("got %v, want the grant", err)
	}
	if rows, _, err := readTable(t, open(t, s), "T", connectors.SplitKey, false); err != nil || len(rows) != 10 {
		t.Errorf("by key: %d rows, %v", len(rows), err)
	}
}

func TestLoginsThatFail(t *testing.T) {
	s := double(t, oracletest.NewDatabase())
	for name, c := range map[string]struct {
		change func(*oracle.SourceConfig, *connectors.Env)
		want   string
		class  connectors.Class
	}{
		"password": {func(_ *oracle.SourceConfig, e *connectors.Env) {
			e.Secrets.Env = func(string) (string, bool) { return "wr/ong@pass word%zz", true }
		}, "ORA-01017", connectors.Permission},
		"no password": {func(_ *oracle.SourceConfig, e *connectors.Env) {
			e.Secrets.Env = func(string) (string, bool) { return "", true }
		}, "empty", connectors.Permission},
		"user":    {func(c *oracle.SourceConfig, _ *connectors.Env) { c.User = "NOBODY" }, "ORA-01017", connectors.Permission},
		"service": {func(c *oracle.SourceConfig, _ *connectors.Env) { c.Service = "NOSUCH" }, "12514", connectors.Permission},
		"port":    {func(c *oracle.SourceConfig, _ *connectors.Env) { c.Port = 1 }, "refused", connectors.Transient},
		"tls":     {func(_ *oracle.SourceConfig, e *connectors.Env) { e.TLS = "verify" }, "tls = \"off\"", connectors.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			config, env := configOf(s)
			c.change(config, &env)
			src, err := oracle.Definition().Source.Open(context.Background(), config, env)
			if err == nil {
				_, err = src.Snapshot(context.Background(), connectors.SnapshotOptions{Readers: 1})
			}
			if err == nil || connectors.ClassOf(err) != c.class || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %s, %v; want class %s and %q", connectors.ClassOf(err), err, c.class, c.want)
			}
			if strings.Contains(err.Error(), s.Password) || strings.Contains(err.Error(), "wr/ong") {
				t.Errorf("the password is in %v", err)
			}
		})
	}
}

// TestTCPSIsVerified: a certificate of an authority that nobody named is refused.
func TestTCPSIsVerified(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "double"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	db := oracletest.NewDatabase()
	numbered(db, 10)
	s, err := oracletest.NewTLSServer(db, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	try := func(ca, host string) error {
		config, env := configOf(s)
		env.TLS, env.TLSCA, env.Dir, config.Host = "verify", ca, dir, host
		src, err := oracle.Definition().Source.Open(context.Background(), config, env)
		if err != nil {
			return err
		}
		rows, _, err := readTable(t, src, "T", connectors.SplitBlocks, false)
		if err == nil && len(rows) != 10 {
			t.Errorf("%d rows over TLS, want 10", len(rows))
		}
		return err
	}
	if err := try("ca.pem", "127.0.0.1"); err != nil {
		t.Errorf("with the authority named: %v", err)
	}
	for _, c := range [][2]string{{"", "127.0.0.1"}, {"ca.pem", "localhost"}} {
		if err := try(c[0], c[1]); connectors.ClassOf(err) != connectors.Permission || !strings.Contains(err.Error(), "tls_ca") {
			t.Errorf("authority %q, host %s: %v, want the certificate refused", c[0], c[1], err)
		}
	}
	if err := s.Close(); err != nil && !strings.Contains(err.Error(), "tls") {
		t.Error(err)
	}
}

// TestCancelEndsAWait: a server that never answers keeps nobody.
func TestCancelEndsAWait(t *testing.T) {
	db := oracletest.NewDatabase()
	numbered(db, 10)
	s := double(t, db)
	before := goleak.IgnoreCurrent()
	for _, statement := range []string{"v$database", "dba_extents", "BETWEEN"} {
		s.Spoil(oracletest.Fault{At: 1, Statement: statement, Harm: oracletest.Stall})
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			for s.Messages() == 0 || !waiting(s) {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		src := open(t, s)
		err := func() error {
			cat, err := src.Catalog(context.Background())
			if err != nil {
				return err
			}
			snap, err := src.Snapshot(ctx, connectors.SnapshotOptions{Readers: 1})
			if err != nil {
				return err
			}
			defer snap.Close()
			x := connectors.Extract{Table: &cat.Tables[0], Columns: []string{"ID"}, Split: connectors.Split{Kind: connectors.SplitBlocks, Count: 1, ChunkRows: 1000}}
			chunks, err := snap.Split(ctx, x.Table, x.Split)
			if err != nil {
				return err
			}
			r, err := snap.OpenChunk(ctx, x, chunks[0])
			if err != nil {
				return err
			}
			defer r.Close()
			return r.Read(ctx, batch.NewPool([]schema.Type{x.Table.Columns[0].Type}, batch.Limits{}).Builder())
		}()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("waiting for %s: %v, want context.Canceled", statement, err)
		}
		s.Heal()
	}
	for s.Open() > 0 {
		time.Sleep(time.Millisecond)
	}
	goleak.VerifyNone(t, before)
}

// waiting reports that the scripted stall has struck.
func waiting(s *oracletest.Server) bool { return s.Struck() > 0 }

func TestSessionsNameThemselves(t *testing.T) {
	db := oracletest.NewDatabase()
	s := double(t, db)
	snap, err := open(t, s).Snapshot(context.Background(), connectors.SnapshotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if got := s.Programs(); !slices.Equal(got, []string{"penstock/test"}) {
		t.Errorf("sessions call themselves %q", got)
	}
}
