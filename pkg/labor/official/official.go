// Package official reads the source files of package labor as published, in CSV or XLSX. It is a separate package so
// that Lambda functions, which read none, do not link its dependencies. A reader returns a complete data set or an
// error, never part of a file; an error in the file is a *FileError.
//
//   - CIP 2020 - SOC 2018 crosswalk, NCES and BLS: ReadCrosswalk.
//   - Occupational Employment and Wage Statistics (OEWS), BLS, and state publications
//     of the same survey: ReadWages.
//   - Employment Projections, BLS, table 1.2: ReadProjections.
//   - Core based statistical areas as OMB delineates them, and the FIPS codes of the
//     states: ReadRegions.
package official
