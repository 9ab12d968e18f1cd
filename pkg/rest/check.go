package rest

import "skillscurriculum/pkg/catalog"

// FieldErrors reports how a body breaks the schema of an operation, and trims its
// strings as a request's are. Imports hold their rows to the contract with it.
func (s *Server) FieldErrors(operationID string, body map[string]any) []catalog.FieldError {
	return validate(s.endpoints[operationID].schema(), trim(body))
}
