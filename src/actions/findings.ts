import { create } from "@bufbuild/protobuf";
import { anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import { FailureClassName, mostNumbers, NumberName } from "#core/outcome-rules.ts";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  type Findings as FindingsMessage,
  FindingsSchema,
} from "#proto/grange/worker/v1/worker_pb.ts";
import { boundedResources } from "./resource-metadata.ts";

/** The findings of an action's rules in its log. */
interface Findings {
  /** The failure class of the run, if any. */
  readonly failureClass: string | undefined;
  /** `line` counts from 1. */
  readonly errorLines: readonly { readonly line: number; readonly text: string }[];
  /** Keyed by the names that the rules define. */
  readonly numbers: Readonly<Record<string, FoundNumber>>;
}

interface FoundNumber {
  readonly value: number;
  readonly min: number | null;
  readonly max: number | null;
}

const mostErrorLines = 50;
const longestErrorLine = 500;

/**
 * Returns the legal findings of a result and drops the rest.
 *
 * A worker may be faulty or malicious, and its findings are shown on pages and stored in the database.
 */
export function findingsOf(result: ActionResult): Findings {
  const message = unpacked(result);
  return {
    failureClass: FailureClassName.safeParse(message?.failureClass).data,
    errorLines: (message?.errorLines ?? [])
      .filter(({ line }) => line >= 1n && line <= BigInt(Number.MAX_SAFE_INTEGER))
      .slice(0, mostErrorLines)
      .map(({ line, text }) => ({ line: Number(line), text: plainText(text) })),
    numbers: Object.fromEntries(
      (message?.numbers ?? [])
        .filter(({ name, value }) => NumberName.safeParse(name).success && Number.isFinite(value))
        .slice(0, mostNumbers)
        .map(({ name, value, min, max }) => [
          name,
          { value, min: finite(min) ?? null, max: finite(max) ?? null },
        ]),
    ),
  };
}

/**
 * Removes everything from a result except its outputs, legal findings and resources, because all callers may read a
 * stored result.
 */
export function boundFindings(result: ActionResult): void {
  const { executionMetadata } = result;
  if (executionMetadata === undefined || executionMetadata.auxiliaryMetadata.length === 0) return;
  const resources = boundedResources(result);
  if (unpacked(result) === undefined) {
    executionMetadata.auxiliaryMetadata = resources;
    return;
  }
  const { failureClass = "", errorLines, numbers } = findingsOf(result);
  const message = create(FindingsSchema, {
    failureClass,
    errorLines: errorLines.map(({ line, text }) => ({ line: BigInt(line), text })),
    numbers: Object.entries(numbers).map(([name, { value, min, max }]) => ({
      name,
      value,
      ...(min === null ? {} : { min }),
      ...(max === null ? {} : { max }),
    })),
  });
  executionMetadata.auxiliaryMetadata = [anyPack(FindingsSchema, message), ...resources];
}

function unpacked(result: ActionResult): FindingsMessage | undefined {
  for (const any of result.executionMetadata?.auxiliaryMetadata ?? []) {
    try {
      const message = anyUnpack(any, FindingsSchema);
      if (message !== undefined) return message;
    } catch {
      // Bytes that do not parse as a message contain no findings.
    }
  }
  return undefined;
}

/** PostgreSQL's JSON accepts neither NUL nor an unpaired surrogate, and pages accept no control characters. */
function plainText(text: string): string {
  return text
    .replace(/\t/g, "    ")
    .replace(/[\p{Cc}\p{Surrogate}]/gu, "\uFFFD")
    .slice(0, longestErrorLine)
    .replace(/[\uD800-\uDBFF]$/, "");
}

function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}
