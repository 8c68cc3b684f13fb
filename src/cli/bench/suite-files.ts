import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readSuiteFile } from "#suites/read-suite.ts";
import type { Suite } from "#suites/suite.ts";
import { checkoutRoot } from "../checkout.ts";
import { UsageError } from "../usage-error.ts";

interface SuiteFile {
  readonly file: string;
  readonly suite: Suite;
}

/** Returns the named files, or all of `.grange/bench/`. */
export async function suiteFiles(named: readonly string[]): Promise<string[]> {
  if (named.length > 0) return [...named];
  const folder = join((await checkoutRoot(resolve("."))) ?? resolve("."), ".grange", "bench");
  const files = (await readdir(folder).catch(() => []))
    .filter((name) => /\.ya?ml$/.test(name))
    .toSorted()
    .map((name) => join(folder, name));
  if (files.length > 0) return files;
  throw new UsageError(`there is no suite in ${folder}; name the file`);
}

/** Returns the suite of a file, or of a name among those of the checkout; the only one when none is named. */
export async function suiteFile(named: string | undefined): Promise<SuiteFile> {
  const isFile = named !== undefined && /\.ya?ml$/.test(named);
  const found: SuiteFile[] = [];
  for (const file of await suiteFiles(isFile ? [named] : []))
    found.push({ file, suite: await readSuiteFile(file) });
  const names = found.map(({ suite }) => suite.suite).join(", ");
  const meant =
    isFile || named === undefined ? found : found.filter((each) => each.suite.suite === named);
  const [only, ...others] = meant;
  if (only === undefined)
    throw new UsageError(`there is no suite ${named} here; the suites are ${names}`);
  if (others.length > 0)
    throw new UsageError(`there are several suites (${names}); name one with --suite`);
  return only;
}
