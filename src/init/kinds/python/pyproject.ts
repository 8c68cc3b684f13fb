import { parse } from "smol-toml";
import { z } from "zod";

const Requirements = z.array(z.string()).catch([]).default([]);
/** Groups may include others, which are tables. */
const Group = z.array(z.union([z.string(), z.unknown().transform(() => "")])).catch([]);

const PyProject = z.object({
  project: z
    .object({
      dependencies: Requirements,
      "optional-dependencies": z.record(z.string(), Requirements).catch({}).default({}),
      dynamic: Requirements,
    })
    .optional()
    .catch(undefined),
  "build-system": z
    .object({ requires: Requirements, "build-backend": z.string().catch("").default("") })
    .optional()
    .catch(undefined),
  "dependency-groups": z.record(z.string(), Group).catch({}).default({}),
  tool: z.record(z.string(), z.unknown()).catch({}).default({}),
});
export type PyProject = z.output<typeof PyProject>;

/** Returns undefined for a text that is not TOML. */
export function readPyProject(text: string | undefined): PyProject | undefined {
  if (text === undefined) return undefined;
  try {
    return PyProject.safeParse(parse(text)).data;
  } catch {
    return undefined;
  }
}
