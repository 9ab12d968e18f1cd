// Package official reads the files that the facts of package labor are from, as their
// publishers publish them: csv or xlsx. It stands apart so that functions, which read
// none, do not load what it needs. A reader returns a whole data set or a *FileError,
// never a part of a file.
//
//   - CIP 2020 - SOC 2018 crosswalk, NCES and BLS: ReadCrosswalk.
//   - Occupational Employment and Wage Statistics (OEWS), BLS, and state publications
//     of the same survey: ReadWages.
//   - Employment Projections, BLS, table 1.2: ReadProjections.
//   - Core based statistical areas as OMB delineates them, and the FIPS codes of the
//     states: ReadRegions.
package official
