import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { Fault } from "#core/fault.ts";
import { readSuiteFile } from "#suites/read-suite.ts";
import type { Suite } from "#suites/suite.ts";
import { checkoutRoot } from "../checkout.ts";
import { UsageError } from "../usage-error.ts";

/** Returns a suite by its file, by its name among those of the checkout, or the only one. */
export async function localSuite(named: string | undefined, directory: string): Promise<Suite> {
  if (named !== undefined && /\.ya?ml$/.test(named) && existsSync(named)) {
    return readSuiteFile(named);
  }
  const root = (await checkoutRoot(directory)) ?? directory;
  const folder = join(root, ".grange", "bench");
  const files = (await readdir(folder).catch(() => []))
    .filter((name) => /\.ya?ml$/.test(name))
    .toSorted()
    .map((name) => join(folder, name));
  if (named === undefined) {
    const [only, ...others] = files;
    if (only === undefined) {
      throw new UsageError(
        "there is no suite in .grange/bench/*.yml; name a file with --suite FILE",
      );
    }
    if (others.length > 0) {
      const names = files.map((file) => basename(file)).join(", ");
      throw new UsageError(
        `there are several suites in .grange/bench/ (${names}); name one with --suite NAME`,
      );
    }
    return readSuiteFile(only);
  }
  const names: string[] = [];
  for (const file of files) {
    const suite = await readSuiteFile(file);
    if (suite.suite === named) return suite;
    names.push(suite.suite);
  }
  const known =
    names.length === 0 ? "there is none in .grange/bench/" : `there is ${names.join(", ")}`;
  throw new Fault("not_found", `there is no suite ${named}, neither a file nor a name; ${known}`);
}

/** Returns this machine's target name in suites. */
export function targetHere(suite: Suite): string {
  const target = `${process.platform}-${process.arch}`;
  if (Object.hasOwn(suite.targets, target)) return target;
  throw new Fault(
    "failed_precondition",
    `suite ${suite.suite} is for ${Object.keys(suite.targets).join(", ")}; this machine is ${target}`,
  );
}
