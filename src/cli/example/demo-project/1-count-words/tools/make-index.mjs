// node tools/make-index.mjs FOLDER: writes FOLDER/index.html, with a link to each concordance below FOLDER.
import { readdirSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";

const [folder] = process.argv.slice(2);
const files = readdirSync(folder, { recursive: true })
  .map((name) => name.split(sep).join("/"))
  .filter((name) => /\.(text|html|json)$/.test(name))
  .sort();
const links = files.map((name) => `<li><a href="${name}">${name}</a></li>`);
const page = `<!doctype html>\n<title>Concordances</title>\n<ul>\n${links.join("\n")}\n</ul>\n`;
writeFileSync(join(folder, "index.html"), page);
process.stdout.write(`${files.length} concordances\n`);
