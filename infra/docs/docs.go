// Package docs holds the tests of the project's documents: their links, commands,
// variables and tables of codes agree with the repository.
package docs
