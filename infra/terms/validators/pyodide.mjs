// Runs validate.py in CPython compiled to WebAssembly, with the modules of the directory that PYTHONPATH names.
import { readFileSync } from "node:fs";
import { loadPyodide } from "pyodide";

try {
  const python = await loadPyodide();
  python.mountNodeFS("/validators", process.env.PYTHONPATH);
  python.runPython("import sys; sys.path.append('/validators')");
  python.runPython(readFileSync(new URL("validate.py", import.meta.url), "utf8"));
} catch (error) {
  console.error(error.message); // not the line of the source, which has a megabyte
  process.exitCode = 1;
}
