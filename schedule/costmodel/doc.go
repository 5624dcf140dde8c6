// Package costmodel learns from measured candidates which others are worth measuring: gradient-boosted trees, trained by XGBoost's
// shared library, which is loaded when it is asked for, and evaluated in Go. A model that was trained once is a value that can be saved,
// loaded and evaluated anywhere; only training needs the library.
package costmodel
