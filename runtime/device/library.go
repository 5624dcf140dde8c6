package device

import "fmt"

// CallError says that a function of a driver's library failed.
type CallError struct {
	API  string // "CUDA" or "OpenCL"
	Call string
	Code int32
	Log  string // of the driver's compiler
}

func (e *CallError) Error() string {
	text := fmt.Sprintf("%s: %s failed (error %d)", e.API, e.Call, e.Code)
	if e.Log != "" {
		text += ":\n" + e.Log
	}
	return text
}

// Check turns the result of a call into an error.
func Check(api, call string, code int32) error {
	if code == 0 {
		return nil
	}
	return &CallError{API: api, Call: call, Code: code}
}
