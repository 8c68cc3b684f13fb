import { join } from "node:path";

// Tests read files of the directory that this file lies in, also by relative paths.
process.chdir(join(import.meta.dirname, "../.."));
