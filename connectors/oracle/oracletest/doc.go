// Package oracletest is a wire double of an Oracle database: a server of the
// TNS and TTC protocols over a small model of tables, extents and an SCN clock,
// for tests on machines where no Oracle can be had.
//
// It is no database. It logs clients in, answers exactly the statements that
// package oracle sends and refuses every other with an error that names it.
// What it says of a real server's behaviour is what its makers read and were
// told, never more: a test against it shows that two halves of this program and
// an independent client agree about the wire.
package oracletest
