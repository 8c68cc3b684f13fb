// node js/main.mjs [--format text|html|json] [--top N] FILE
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { countWords, mostFrequent } from "./concordance.mjs";
import { asHtml } from "./formats/html.mjs";
import { asJson } from "./formats/json.mjs";
import { asText } from "./formats/text.mjs";

const formats = { text: asText, html: asHtml, json: asJson };

const { values, positionals } = parseArgs({
  options: {
    format: { type: "string", default: "text" },
    top: { type: "string", default: "all" },
  },
  allowPositionals: true,
});
const format = formats[values.format];
const [file] = positionals;
if (format === undefined || file === undefined) {
  process.stderr.write(
    `Write: node js/main.mjs [--format ${Object.keys(formats).join("|")}] [--top N] FILE\n`,
  );
  process.exit(2);
}
const all = countWords(readFileSync(file, "utf8")).entries();
const entries = values.top === "all" ? all : mostFrequent(all, Number(values.top));
process.stdout.write(format(`The words of ${basename(file)}`, entries));
