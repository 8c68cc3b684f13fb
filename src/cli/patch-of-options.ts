import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { z } from "zod";
import { messageOf } from "#core/fault.ts";
import { UsageError } from "./usage-error.ts";

export interface PatchOptions {
  readonly set?: readonly string[];
  readonly patch?: string;
  readonly remove?: boolean;
}

type Patch = Record<string, z.core.util.JSONType>;

const PatchFile = z.record(z.string(), z.json());

/**
 * Returns the patch for the options; null reverts the customisation.
 *
 * `before` is the present patch: settings are added to it, a file replaces it.
 */
export async function patchOfOptions(
  { set, patch, remove }: PatchOptions,
  before: Patch | null,
): Promise<Patch | null> {
  const given = [set !== undefined, patch !== undefined, remove === true].filter(Boolean).length;
  if (given !== 1) {
    throw new UsageError("give a change: --set PATH=VALUE, --patch FILE, or --remove");
  }
  if (remove === true) return null;
  if (patch !== undefined) return patchOfFile(patch);
  return patchOfSettings(set ?? [], before ?? {});
}

async function patchOfFile(file: string): Promise<Patch> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new UsageError(`cannot read the patch: ${messageOf(cause)}`);
  });
  try {
    return PatchFile.parse(parse(text));
  } catch (cause) {
    throw new UsageError(
      `${file} is not a patch: ${messageOf(cause)}; write an object in JSON or YAML, such as {"environment": {"LANG": "C"}}`,
    );
  }
}

/**
 * Returns `environment.LANG=C` and `timeout=2h` as one merge patch, applied to the previous patch.
 *
 * A value is parsed as JSON if it is JSON, and otherwise is a text; `null` removes. A dot that belongs to a name is
 * written `\\.`.
 */
export function patchOfSettings(settings: readonly string[], before: Patch = {}): Patch {
  const patch: Patch = structuredClone(before);
  for (const setting of settings) {
    const [, path, value] = /^([^=]+)=([\s\S]*)$/.exec(setting) ?? [];
    if (path === undefined || value === undefined) {
      throw new UsageError(`"${setting}" is not a setting: write PATH=VALUE, such as timeout=2h`);
    }
    const keys = path.split(/(?<!\\)\./).map((key) => key.replaceAll("\\.", "."));
    let at = patch;
    for (const key of keys.slice(0, -1)) {
      const inner = Object.hasOwn(at, key) ? at[key] : undefined;
      const map = typeof inner === "object" && inner !== null && !Array.isArray(inner) ? inner : {};
      at[key] = map;
      at = map;
    }
    at[keys.at(-1) ?? path] = jsonOrText(value);
  }
  return patch;
}

function jsonOrText(value: string): z.core.util.JSONType {
  try {
    return z.json().parse(JSON.parse(value));
  } catch {
    return value;
  }
}
