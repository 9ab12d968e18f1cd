package main

import (
	"archive/zip"
	"bytes"
	"cmp"
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
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/skills/workbook"
)

type taxonomyBuild struct {
	Starter    bool     `help:"The built-in vocabulary."`
	ESCO       []string `name:"esco" sep:"none" placeholder:"DIR_OR_ZIP" help:"Directories or zip files of ESCO's CSV download. Several may follow."`
	ONET       []string `name:"onet" sep:"none" placeholder:"FILE" help:"Files, zip files or directories of the O*NET database, and BLS's crosswalk from SOC to ISCO. Several may follow."`
	CSV        []string `name:"csv" sep:"none" placeholder:"FILE" help:"Your own vocabularies (id,name,...) and requirements of occupations (soc,name,skillId,level,confidence). Several may follow."`
	Incomplete bool     `help:"Accept ESCO without its relations, that is without hierarchy and occupations."`
	Name       string   `placeholder:"N" help:"Name. The default is that of the sources."`
	Version    string   `placeholder:"V" help:"Version. The default is that of the sources."`
	Out        string   `required:"" placeholder:"FILE" help:"Compiled file to write."`
}

// Validate implements kong's check of flags.
func (c *taxonomyBuild) Validate() error {
	if len(c.ESCO)+len(c.ONET)+len(c.CSV) == 0 && !c.Starter {
		return errors.New("no source")
	}
	return nil
}

// Run compiles the sources.
func (c *taxonomyBuild) Run(t *tool) error {
	builder := &skills.Builder{
		Name: c.Name, Version: c.Version, Workbook: workbook.Rows, Incomplete: c.Incomplete,
		Index: extraction.Indexer{}.Index,
	}
	step, end := progress(t.stderr, "sources")
	defer end()
	done, all := 0, len(c.ESCO)+len(c.ONET)+len(c.CSV)+1 // one more to compile them
	add := func(sources []string, add func(version string, sources ...fs.FS) error) error {
		if len(sources) == 0 {
			return nil
		}
		opened, err := openSources(sources)
		if err != nil {
			return err
		}
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
		return fmt.Errorf("%w; add ESCO's relations to -esco, or accept this with -incomplete", err)
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
		fmt.Fprintln(t.stderr, "skillsctl: no occupation has a SOC code: add the SOC-ISCO crosswalk to -onet")
	}
	if err := renameio.WriteFile(c.Out, compiled, 0o644); err != nil {
		return err
	}
	step(all, all)
	return t.showInfo(described{Info: taxonomy.Info(), Bytes: len(compiled)})
}

var releaseName = regexp.MustCompile(`\d+\.\d+(\.\d+)?`)

// versionIn returns the release in the names of the sources, such as those of ESCO's downloads; "" if there is none, so
// that the files determine it.
func versionIn(sources []string) string {
	for _, source := range sources {
		if version := releaseName.FindString(filepath.Base(source)); version != "" {
			return version
		}
	}
	return ""
}

// addOwn adds a CSV file: requirements of occupations if it has their columns, else a vocabulary with the file's name.
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
	info := skills.Info{Name: strings.TrimSuffix(base, filepath.Ext(base)), Version: cmp.Or(version, "1")}
	return builder.AddCSV(info, bytes.NewReader(text))
}

// openSources opens directories with the zip files in them, zip files and single files. Zip files stay open until the
// program ends.
func openSources(names []string) (sources []fs.FS, err error) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		switch {
		case info.IsDir():
			archives, err := filepath.Glob(filepath.Join(name, "*.zip"))
			if err != nil {
				return nil, err
			}
			inside, err := openSources(archives)
			if err != nil {
				return nil, err
			}
			sources = append(append(sources, os.DirFS(name)), inside...)
		case strings.EqualFold(filepath.Ext(name), ".zip"):
			archive, err := zip.OpenReader(name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			sources = append(sources, archive)
		default:
			sources = append(sources, single{os.DirFS(filepath.Dir(name)), filepath.Base(name)})
		}
	}
	return sources, nil
}

// single is a directory that shows only one of its files.
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

// Run describes a compiled taxonomy. If it finds a service, it also counts the skills in use that are in the taxonomy.
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
	if _, err := t.environment(); err == nil {
		s, err := t.open(ctx)
		var share remap.Share
		if err == nil {
			share, err = remap.ShareOf(ctx, s.store, taxonomy)
		}
		switch {
		case err != nil:
			fmt.Fprintf(t.stderr, "skillsctl: cannot count the skills in use: %v\n", err)
		case share.InUse > 0:
			info.Share = &share
		}
	}
	return t.showInfo(info)
}

// described is the output about a compiled taxonomy.
type described struct {
	skills.Info
	Bytes int          `json:"bytes"`
	Share *remap.Share `json:"skillsInUse,omitempty"`
}

func (t *tool) showInfo(info described) error {
	return t.show(info, func(w io.Writer) {
		fmt.Fprintf(w, "name\t%s\nversion\t%s\nskills\t%d\nlabels\t%d\noccupations\t%d\n",
			info.Name, info.Version, info.Skills, info.Labels, info.Occupations)
		fmt.Fprintf(w, "licence\t%s\nattribution\t%s\nsize\t%.1f MB\n",
			info.Licence, info.Attribution, float64(info.Bytes)/1e6)
		if info.Share != nil {
			fmt.Fprintf(w, "skills in use\t%s\n", info.Share)
		}
	})
}
