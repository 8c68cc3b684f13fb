import { allEndpoints, endpointGroups } from "../src/api/endpoints/all-endpoints.ts";
import { endpointTables, laggingEndpoints } from "../src/api/endpoints/endpoint-tables.ts";
import { doctorTable } from "../src/cli/doctor/checks-table.ts";
import { exitCodeTable } from "../src/cli/exit-code.ts";
import { mcpToolsTable } from "../src/cli/mcp/tools-table.ts";
import { grpcMethodTables } from "../src/server/grpc/methods-table.ts";
import { metricsReference } from "../src/server/metric-table.ts";
import { limitsTable } from "../src/server/request-limits/limits-table.ts";

/** A part of a document that follows from the code. It is between `<!-- NAME: begin -->` and `<!-- NAME: end -->`. */
interface GeneratedPart {
  /** Below docs/. */
  readonly file: string;
  readonly name: string;
  readonly text: string;
}

export function generatedParts(): readonly GeneratedPart[] {
  return [
    { file: "http-api.md", name: "endpoints", text: endpointTables(endpointGroups) },
    { file: "http-api.md", name: "limits", text: limitsTable() },
    { file: "http-api.md", name: "lagging", text: laggingEndpoints(allEndpoints) },
    { file: "grpc-api.md", name: "methods", text: grpcMethodTables() },
    { file: "metrics.md", name: "metrics", text: metricsReference() },
    { file: "commands.md", name: "exit-codes", text: exitCodeTable() },
    { file: "doctor.md", name: "checks", text: doctorTable() },
    { file: "assistants.md", name: "tools", text: mcpToolsTable() },
  ];
}

/** Returns the document with the part in its place. Throws when the document has no markers for it. */
export function withPart(document: string, { file, name, text }: GeneratedPart): string {
  const [begin, end] = [`<!-- ${name}: begin -->\n`, `<!-- ${name}: end -->`];
  const [before, rest] = document.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) {
    throw new Error(`docs/${file} has no markers of ${name}`);
  }
  return `${before}${begin}${text}\n${end}${after}`;
}
