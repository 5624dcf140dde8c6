package costmodel

import "fmt"

// MissingError says that XGBoost's shared library is not here. Searches without a model go on.
type MissingError struct{ Err error }

func (e *MissingError) Error() string {
	return "the cost model needs libxgboost.so.0, which apt-get install libxgboost0, or make setup, installs: " +
		e.Err.Error()
}

// Unwrap returns the cause.
func (e *MissingError) Unwrap() error { return e.Err }

// TrainError says which call of XGBoost failed, and why.
type TrainError struct{ What, Text string }

func (e *TrainError) Error() string { return "xgboost: " + e.What + ": " + e.Text }

// SamplesError says why no model can be trained with the samples or the options.
type SamplesError struct{ Text string }

func (e *SamplesError) Error() string { return "cost model: " + e.Text }

// FormatError says that data are no model of this version, or that the model uses features that no
// longer exist.
type FormatError struct{ Text string }

func (e *FormatError) Error() string { return "cost model: " + e.Text }

func formatf(format string, args ...any) error { return &FormatError{fmt.Sprintf(format, args...)} }
