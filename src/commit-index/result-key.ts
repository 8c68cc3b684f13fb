import { z } from "zod";
import { CacheTool } from "#api/tool-cache.ts";

/** Whose name for a result a key is: REv2's action cache (`hash/size` of the action), or a tool of the HTTP caches. */
export const Namespace = z.enum(["reapi", ...CacheTool.options]);
export type Namespace = z.infer<typeof Namespace>;

const namespaces: ReadonlySet<string> = new Set(Namespace.options);

export function isNamespace(name: string): name is Namespace {
  return namespaces.has(name);
}

/** A result by its tool's own name. */
export const ResultKey = z.object({ namespace: Namespace, key: z.string().min(1).max(1_024) });
export type ResultKey = z.infer<typeof ResultKey>;

/** For maps: no namespace has a space in its name. */
export function keyText({ namespace, key }: ResultKey): string {
  return `${namespace} ${key}`;
}
