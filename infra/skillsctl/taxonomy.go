package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"skillscurriculum/infra/skillsctl/remap"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/skills/wordvectors"
	"skillscurriculum/pkg/skills/workbook"
)

type taxonomyBuild struct {
	Starter    bool     `help:"The built-in vocabulary."`
	ESCO       []string `name:"esco" sep:"none" placeholder:"DIR_OR_ZIP" help:"Directories or zip files of ESCO's CSV download. Several may follow."`
	ONET       []string `name:"onet" sep:"none" placeholder:"FILE" help:"Files, zip files or directories of the O*NET database, and BLS's crosswalk from SOC to ISCO. Several may follow."`
	CSV        []string `name:"csv" sep:"none" placeholder:"FILE" help:"Vocabularies of your own (id,name,...) and requirements of occupations (soc,name,skillId,level,confidence). Several may follow."`
	Incomplete bool     `help:"Accept ESCO without its relations, and so without hierarchy or occupations."`
	Name       string   `placeholder:"N" help:"Name instead of the sources' own."`
	Version    string   `placeholder:"V" help:"Version instead of the sources' own."`
	Out        string   `required:"" placeholder:"FILE" help:"Compiled file to write."`
}

// Validate implements kong's check of flags.
func (c *taxonomyBuild) Validate() error {
	if len(c.ESCO)+len(c.ONET)+len(c.CSV) == 0 && !c.Starter {
		return errors.New("no source")
	}
	return nil
}

// Run compiles the sources into one file.
func (c *taxonomyBuild) Run(t *tool) error {
	builder := &skills.Builder{Name: c.Name, Version: c.Version, Workbook: workbook.Rows, Words: wordvectors.Table(), Incomplete: c.Incomplete}
	step, end := progress(t.stderr, "sources")
	defer end()
	done, all := 0, len(c.ESCO)+len(c.ONET)+len(c.CSV)+1 // to compile them is one more
	add := func(sources []string, add func(version string, sources ...fs.FS) error) error {
		if len(sources) == 0 {
			return nil
		}
		opened, closeAll, err := openSources(sources)
		if err != nil {
			return err
		}
		defer closeAll()
		err = add(versionIn(sources), opened...)
		done += len(sources)
		step(done, all)
		return err
	}
	step(0, all)
	if c.Starter {
		if err := builder.AddStarter(); err != nil {
			return err
		}
	}
	if err := add(c.ESCO, builder.AddESCO); errors.Is(err, skills.ErrIncomplete) {
		return fmt.Errorf("%w; name ESCO's relations after -esco as well, or accept it with -incomplete", err)
	} else if err != nil {
		return err
	}
	if err := add(c.ONET, builder.AddONET); err != nil {
		return err
	}
	for _, file := range c.CSV {
		if err := addOwn(builder, file, c.Version); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		done++
		step(done, all)
	}
	compiled, err := builder.Compile()
	if err != nil {
		return err
	}
	taxonomy, err := skills.Open(compiled)
	if err != nil {
		return err
	}
	if len(c.ESCO) > 0 && !c.Incomplete && taxonomy.Info().Occupations == 0 {
		fmt.Fprintln(t.stderr, "skillsctl: no occupation has a SOC code: name the SOC-ISCO crosswalk after -onet")
	}
	if err := renameio.WriteFile(c.Out, compiled, 0o644); err != nil {
		return err
	}
	step(all, all)
	return t.showInfo(described{Info: taxonomy.Info(), Bytes: len(compiled)})
}

var releaseName = regexp.MustCompile(`\d+\.\d+(\.\d+)?`)

// versionIn returns the release that the sources' names tell, as ESCO's downloads
// do; empty where they tell none, and the files decide.
func versionIn(sources []string) string {
	for _, source := range sources {
		if version := releaseName.FindString(filepath.Base(source)); version != "" {
			return version
		}
	}
	return ""
}

// addOwn adds a CSV file: requirements of occupations where it has their columns,
// else a vocabulary, which is named like the file.
func addOwn(builder *skills.Builder, name, version string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	header, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).Read()
	if err != nil {
		return err
	}
	if slices.Contains(header, "soc") && slices.Contains(header, "skillId") {
		return builder.AddRequirements(bytes.NewReader(text))
	}
	base := filepath.Base(name)
	if version == "" {
		version = "1"
	}
	return builder.AddCSV(skills.Info{Name: strings.TrimSuffix(base, filepath.Ext(base)), Version: version}, bytes.NewReader(text))
}

// openSources opens directories with the zip files in them, zip files and single
// files.
func openSources(names []string) (sources []fs.FS, closeAll func(), err error) {
	var open []io.Closer
	closeAll = func() {
		for _, c := range open {
			_ = c.Close() // only read
		}
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		switch {
		case info.IsDir():
			archives, err := filepath.Glob(filepath.Join(name, "*.zip"))
			if err != nil {
				closeAll()
				return nil, nil, err
			}
			inside, closeInside, err := openSources(archives)
			if err != nil {
				closeAll()
				return nil, nil, err
			}
			open = append(open, closer(closeInside))
			sources = append(append(sources, os.DirFS(name)), inside...)
		case strings.EqualFold(filepath.Ext(name), ".zip"):
			archive, err := zip.OpenReader(name)
			if err != nil {
				closeAll()
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
			open = append(open, archive)
			sources = append(sources, archive)
		default:
			sources = append(sources, single{os.DirFS(filepath.Dir(name)), filepath.Base(name)})
		}
	}
	return sources, closeAll, nil
}

// closer closes what a function closes.
type closer func()

// Close implements io.Closer.
func (c closer) Close() error {
	c()
	return nil
}

// single is a directory of which one file is seen.
type single struct {
	fs.FS
	name string
}

// ReadDir implements fs.ReadDirFS.
func (s single) ReadDir(dir string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(s.FS, dir)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() != s.name }), err
}

type taxonomyInfo struct {
	File string `arg:"" help:"Compiled taxonomy."`
}

// Run describes a compiled taxonomy. Where it finds a service, it also tells how many
// of the skills in use the taxonomy knows.
func (c *taxonomyInfo) Run(ctx context.Context, t *tool) error {
	compiled, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	taxonomy, err := skills.Open(compiled)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	info := described{Info: taxonomy.Info(), Bytes: len(compiled)}
	if _, err := t.environment(); err == nil { // else there is no service
		s, err := t.open(ctx)
		var share remap.Share
		if err == nil {
			share, err = remap.ShareOf(ctx, s.store, taxonomy)
		}
		switch {
		case err != nil:
			fmt.Fprintf(t.stderr, "skillsctl: the skills in use are not counted: %v\n", err)
		case share.InUse > 0:
			info.Share = &share
		}
	}
	return t.showInfo(info)
}

// described is what is known of a compiled taxonomy.
type described struct {
	skills.Info
	Bytes int          `json:"bytes"`
	Share *remap.Share `json:"skillsInUse,omitempty"`
}

func (t *tool) showInfo(info described) error {
	return t.show(info, func(w io.Writer) {
		fmt.Fprintf(w, "name\t%s\nversion\t%s\nskills\t%d\nlabels\t%d\noccupations\t%d\nlicence\t%s\nattribution\t%s\nsize\t%.1f MB\n",
			info.Name, info.Version, info.Skills, info.Labels, info.Occupations, info.Licence, info.Attribution, float64(info.Bytes)/1e6)
		if info.Share != nil {
			fmt.Fprintf(w, "skills in use\t%s\n", info.Share)
		}
	})
}
