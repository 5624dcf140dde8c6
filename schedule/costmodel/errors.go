package costmodel

import "fmt"

// MissingError says that XGBoost's shared library is not here. Searches without a model go on.
type MissingError struct{ Err error }

func (e *MissingError) Error() string {
	return "the cost model needs libxgboost.so.0, which apt-get install libxgboost0, or make setup, installs: " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *MissingError) Unwrap() error { return e.Err }

// TrainError says what XGBoost refused.
type TrainError struct{ What, Text string }

func (e *TrainError) Error() string { return "xgboost: " + e.What + ": " + e.Text }

// SamplesError says that no model can be trained of the samples, or that the options make none.
type SamplesError struct{ Text string }

func (e *SamplesError) Error() string { return "cost model: " + e.Text }

// FormatError says that what was to be read is no model of this version, or that it asks for features that there are no more.
type FormatError struct{ Text string }

func (e *FormatError) Error() string { return "cost model: " + e.Text }

func formatf(format string, args ...any) error { return &FormatError{fmt.Sprintf(format, args...)} }
