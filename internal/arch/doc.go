// Package arch holds no code, only the test that keeps the packages' import
// table, the layout of the tree and a few rules of style from being broken
// unnoticed.
package arch
