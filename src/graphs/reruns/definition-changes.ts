import type { z } from "zod";
import type { DefinitionChange } from "#api/job-origin.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { showableDefinition } from "#core/hide-secrets.ts";

export type Json = z.core.util.JSONType;

/**
 * Returns the paths where two definitions differ: `commands`, `environment.LANG`.
 *
 * Lists are compared as a whole, because a merge patch replaces them as a whole. The values of variables whose names
 * look like secrets are hidden.
 */
export function definitionChanges(was: Json, is: Json): DefinitionChange[] {
  return [...changesAt([], was, is)];
}

function* changesAt(
  path: readonly string[],
  was: Json | undefined,
  is: Json | undefined,
): Generator<DefinitionChange> {
  if (isRecord(was) && isRecord(is)) {
    const keys = new Set([...Object.keys(was), ...Object.keys(is)]);
    for (const key of [...keys].toSorted()) {
      yield* changesAt([...path, key], own(was, key), own(is, key));
    }
  } else if (canonicalJson(was) !== canonicalJson(is)) {
    yield {
      path: path.join("."),
      ...(was === undefined ? {} : { was: showableDefinition(was, path) }),
      ...(is === undefined ? {} : { is: showableDefinition(is, path) }),
    };
  }
}

function isRecord(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function own(record: { [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
