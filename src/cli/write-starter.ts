import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Fault } from "#core/fault.ts";
import { starterDefinitions, telltaleFiles } from "#graphs/starter-definitions.ts";
import { checkoutRoot } from "./checkout.ts";
import type { ExitCode } from "./exit-code.ts";
import { answer, type CommonOptions, type Session } from "./session.ts";

const fileName = join(".grange", "farm.yml");

/** Writes first definitions for a repository; never over any that are there. */
export async function writeStarter(
  session: Session,
  directory: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const root = (await checkoutRoot(resolve(directory))) ?? resolve(directory);
  const there = (await readdir(join(root, ".grange")).catch(() => [])).filter((name) =>
    /\.ya?ml$/.test(name),
  );
  if (there.length > 0) {
    throw new Fault(
      "already_exists",
      `${root} has definitions already: ${there.map((name) => join(".grange", name)).join(", ")}. ` +
        "Change those, or remove them first",
    );
  }
  const starter = starterDefinitions(await telltales(root));
  const file = join(root, fileName);
  await mkdir(join(root, ".grange"), { recursive: true });
  await writeFile(file, starter.text, { flag: "wx" });

  const { found, jobs } = starter;
  return answer(session, options, { file, found, jobs }, () => [
    found.length === 0
      ? "Found nothing that says how this repository is built; wrote a job to begin with."
      : `Found ${found.join("; ")}.`,
    `Wrote ${file} with ${jobs.length === 1 ? "the job" : "the jobs"} ${jobs.join(", ")}.`,
    "Look at it, then: git add .grange && git commit -m 'Describe the jobs' && grange up",
  ]);
}

/** The files at the top that say how a repository is built, as they lie there. */
async function telltales(root: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const name of telltaleFiles) {
    const text = await readFile(join(root, name), "utf8").catch(() => undefined);
    if (text !== undefined) files.set(name, text);
  }
  return files;
}
