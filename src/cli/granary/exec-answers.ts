import type { Answer } from "#granary/protocol/answers.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the answer of a granary to `grange exec`. Parsed by hand: loading the schemas of all answers takes longer than
 * most of the command (docs/decisions/0037-granary-overhead.md).
 */
export function readExecAnswer(received: unknown): Answer | undefined {
  if (!isObject(received)) return undefined;
  switch (received["type"]) {
    case "welcome":
      return isNumber(received["version"]) ? (received as Answer) : undefined;
    case "no-common-version":
      return Array.isArray(received["versions"]) ? (received as Answer) : undefined;
    case "build":
      return isBuild(received) ? (received as Answer) : undefined;
    case "ended":
      return isEnded(received) ? (received as Answer) : undefined;
    case "note":
      return isText(received["note"]) ? (received as Answer) : undefined;
    default:
      return undefined;
  }
}

function isBuild(fields: Fields): boolean {
  const { id, project, port, pid, http, grpc, ready, environment, settings } = fields;
  const isWhole = [id, project, http, grpc].every(isText) && [port, pid].every(isNumber);
  const hasEnvironment = environment === undefined || isText(environment);
  const hasSettings =
    settings === undefined || (isObject(settings) && Object.values(settings).every(isText));
  return isWhole && typeof ready === "boolean" && hasEnvironment && hasSettings;
}

const counted = [
  "asked",
  "local",
  "prefetched",
  "fetched",
  "missed",
  "unreachable",
  "savedMs",
  "waitedMs",
  "transferredBytes",
  "wastedBytes",
  "uploadedBytes",
] as const;

function isDiskTrouble(value: unknown): boolean {
  if (value === undefined) return true;
  return isObject(value) && isNumber(value["refusedWrites"]) && isNumber(value["removedBytes"]);
}

function hasKnownKeys(value: unknown): boolean {
  return value === undefined || value === "ccache" || value === "other";
}

function isEnded({ report, outbox, dune }: Fields): boolean {
  const isReport =
    report === null ||
    (isObject(report) &&
      counted.every((name) => isNumber(report[name])) &&
      isDiskTrouble(report["diskTrouble"]) &&
      hasKnownKeys(report["otherKeys"]));
  const trouble = isObject(outbox) ? outbox["trouble"] : undefined;
  const isOfDune =
    dune === undefined || (isObject(dune) && isNumber(dune["made"]) && isNumber(dune["used"]));
  return isReport && isOfDune && (trouble === undefined || isText(trouble));
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
