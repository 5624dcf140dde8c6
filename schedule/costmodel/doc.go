// Package costmodel predicts by gradient-boosted trees which candidates are worth measuring.
// XGBoost's shared library trains them on measured candidates, and is loaded for that alone.
// Trained models are values that can be saved, loaded and evaluated anywhere, in Go.
package costmodel
