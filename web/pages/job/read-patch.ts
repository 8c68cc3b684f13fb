import { z } from "zod";

const Patch = z.record(z.string(), z.json());

type ReadPatch =
  | { readonly kind: "patch"; readonly patch: z.infer<typeof Patch> }
  | { readonly kind: "problem"; readonly problem: string };

/** A JSON merge patch as somebody writes it, letter by letter. */
export function readPatch(text: string): ReadPatch {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (reason) {
    return { kind: "problem", problem: `Not JSON yet: ${(reason as Error).message}` };
  }
  const patch = Patch.safeParse(value);
  return patch.success
    ? { kind: "patch", patch: patch.data }
    : { kind: "problem", problem: 'A patch is an object such as {"timeout": "20m"}.' };
}
