import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { type Timed, timed } from "./timed.ts";

/** The small build system in the documentation. */
const example = fileURLToPath(new URL("../../../docs/examples/granary-build.mjs", import.meta.url));

export interface ScriptedRule {
  readonly inputs: readonly string[];
  readonly deps: readonly string[];
  readonly ms: number;
  /** Its approximation, which other results may share. */
  readonly weak?: string;
}

export type ScriptedRules = Readonly<Record<string, ScriptedRule>>;

/** Rules in chains, each of which uses the one before; 200 chains of one rule are the widest form. */
export function rulesInLines(lines: number, length: number, ms: number): ScriptedRules {
  const rules: Record<string, ScriptedRule> = {};
  for (let line = 0; line < lines; line++) {
    for (let n = 0; n < length; n++) {
      const deps = n === 0 ? [] : [`l${line}-${n - 1}`];
      rules[`l${line}-${n}`] = { inputs: [`src/l${line}-${n}`], deps, ms };
    }
  }
  return rules;
}

/** Writes the inputs of the rules. */
export async function writeScripted(path: string, rules: ScriptedRules): Promise<void> {
  await mkdir(join(path, "src"), { recursive: true });
  for (const { inputs } of Object.values(rules)) {
    for (const input of inputs) await writeFile(join(path, input), `${input}\n`);
  }
  await writeFile(join(path, "rules.json"), JSON.stringify(rules));
  await writeFile(join(path, ".gitignore"), "out/\n");
}

export interface ScriptedOptions {
  readonly project: string;
  readonly hints?: boolean;
  readonly approximations?: boolean;
  readonly prefetch?: boolean;
}

const Said = z.object({
  made: z.number(),
  hits: z.number(),
  atOnce: z.number(),
  wallMs: z.number(),
});

/** Runs a clean build with the granary whose data is at `data`. */
export async function runScripted(
  path: string,
  data: string,
  options: ScriptedOptions,
): Promise<z.infer<typeof Said> & Pick<Timed, "cpuMs">> {
  await rm(join(path, "out"), { recursive: true, force: true });
  const { hints = true, approximations = false, prefetch = true, project } = options;
  const env = {
    GRANGE_GRANARY_DATA: data,
    GRANARY_PROJECT: project,
    GRANARY_HINTS: hints ? "1" : "0",
    GRANARY_APPROXIMATIONS: approximations ? "1" : "0",
    GRANARY_PREFETCH: prefetch ? "1" : "0",
  };
  const { code, text, cpuMs } = await timed([process.execPath, example, "rules.json"], {
    cwd: path,
    env,
  });
  const json = /\{.*\}/.exec(text)?.[0];
  if (code !== 0 || json === undefined) throw new Error(`the scripted build: ${text}`);
  return { ...Said.parse(JSON.parse(json)), cpuMs };
}
