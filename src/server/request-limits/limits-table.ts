import type { Endpoint } from "#api/endpoint.ts";
import { allEndpoints } from "#api/endpoints/all-endpoints.ts";
import { signInEndpoints } from "#api/endpoints/sign-in-endpoints.ts";
import { type LimitName, type RequestLimit, requestLimits } from "#api/request-limits.ts";
import { methodLimits } from "../grpc/limited-methods.ts";

/** The table of limits in docs/http-api.md, in Markdown: `npm run docs` writes it, and a test compares it. */
export function limitsTable(): string {
  return [
    "| limit | counted by | a minute | at once, in a burst | in progress | counts |",
    "|---|---|---|---|---|---|",
    ...(Object.keys(requestLimits) as LimitName[]).map(rowOf),
  ].join("\n");
}

function rowOf(name: LimitName): string {
  const limit: RequestLimit = requestLimits[name];
  const { what, countedBy, perMinute, burst, atOnce } = limit;
  const cells = [perMinute, burst, atOnce].map((number) => number?.toLocaleString("en") ?? "–");
  return `| \`${name}\` | ${countedBy} | ${cells.join(" | ")} | ${what}${countedText(name)} |`;
}

function countedText(name: LimitName): string {
  const endpoints: readonly Endpoint[] = [
    ...Object.values(signInEndpoints),
    ...Object.values(allEndpoints),
  ];
  const counted = [
    ...endpoints.filter(({ limit }) => limit === name).map((each) => `${each.method} ${each.path}`),
    ...Object.keys(methodLimits)
      .filter((path) => methodLimits[path] === name)
      .map((path) => path.slice(path.lastIndexOf(".") + 1)),
  ];
  return counted.length === 0 ? "" : `: ${counted.map((each) => `\`${each}\``).join(", ")}`;
}
