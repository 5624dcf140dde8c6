package recognize

// Options say what recognition may take for granted. The zero value keeps the function that the file asks for.
type Options struct{}
