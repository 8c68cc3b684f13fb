import type { Json } from "./definition-changes.ts";

export type JsonObject = { readonly [key: string]: Json };

/**
 * Applies a JSON merge patch (RFC 7396): maps are merged, null removes a key, all other values replace.
 *
 * Keys become own properties even if a prototype has them: `__proto__` is a name like any other.
 */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isMap(patch)) return patch;
  const merged = new Map(isMap(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

function isMap(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
