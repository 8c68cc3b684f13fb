import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { sentencesInText } from "./sentences/sentences-in-text.ts";

// Prints each text of the pages, the command line and the servers that a person may read, one in a line after its file
// and line: `npm run -s sentences -- web src/cli`. Without arguments it reads all of src and web.
const places = process.argv.slice(2);
const files = execFileSync(
  "git",
  ["ls-files", ...(places.length === 0 ? ["src", "web"] : places)],
  {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  },
)
  .split("\n")
  .filter((file) => /\.tsx?$/.test(file) && !/\.(?:test|fixture)\.tsx?$/.test(file))
  .filter((file) => !file.startsWith("src/proto/") && !file.includes("/demo-project/"));

// A reader such as `head` ends before the list does.
process.stdout.on("error", () => process.exit());

for (const file of files)
  for (const { line, text } of sentencesInText(file, readFileSync(file, "utf8")))
    process.stdout.write(`${file}:${line}\t${text}\n`);
