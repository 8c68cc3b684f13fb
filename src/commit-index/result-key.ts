import { z } from "zod";
import { CacheTool } from "#api/tool-cache.ts";

/** The system that defines a key: REv2's action cache (`hash/size` of the action), or a tool of the HTTP caches. */
export const Namespace = z.enum(["reapi", ...CacheTool.options]);
export type Namespace = z.infer<typeof Namespace>;

const namespaces: ReadonlySet<string> = new Set(Namespace.options);

export function isNamespace(name: string): name is Namespace {
  return namespaces.has(name);
}

/** The name of a result in its tool. */
export const ResultKey = z.object({ namespace: Namespace, key: z.string().min(1).max(1_024) });
export type ResultKey = z.infer<typeof ResultKey>;

/** Returns a key for maps; namespace names contain no spaces. */
export function keyText({ namespace, key }: ResultKey): string {
  return `${namespace} ${key}`;
}
