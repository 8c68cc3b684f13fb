// node js/main.mjs [--format text|html] FILE
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { countWords } from "./concordance.mjs";
import { asHtml } from "./formats/html.mjs";
import { asText } from "./formats/text.mjs";

const formats = { text: asText, html: asHtml };

const { values, positionals } = parseArgs({
  options: { format: { type: "string", default: "text" } },
  allowPositionals: true,
});
const format = formats[values.format];
const [file] = positionals;
if (format === undefined || file === undefined) {
  process.stderr.write(
    `Write: node js/main.mjs [--format ${Object.keys(formats).join("|")}] FILE\n`,
  );
  process.exit(2);
}
const entries = countWords(readFileSync(file, "utf8")).entries();
process.stdout.write(format(`The words of ${basename(file)}`, entries));
