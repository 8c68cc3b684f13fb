import type { DescMethod } from "@bufbuild/protobuf";
import { describeRight } from "#core/right.ts";
import { pathOf } from "#grpc/method.ts";
import { grpcServices } from "./grpc-services.ts";
import { methodPurposes } from "./method-purposes.ts";
import { methodRights } from "./method-rights.ts";

/**
 * Returns the tables of docs/grpc-api.md, in Markdown, one for each service, from the descriptors of the protocols.
 *
 * Throws when a method that the farm serves is in none of the services, or has no purpose.
 */
export function grpcMethodTables(): string {
  const known = new Set(grpcServices.flatMap(({ service }) => service.methods.map(pathOf)));
  const unlisted = Object.keys(methodRights).filter((path) => !known.has(path));
  if (unlisted.length > 0) throw new Error(`in no service: ${unlisted.join(", ")}`);
  return grpcServices
    .map(({ service, callers }) =>
      [
        `### ${service.name}`,
        "",
        `\`${service.typeName}\`, in \`${service.file.name}.proto\`. ${callers}`,
        "",
        "| method | takes → answers | right | |",
        "|---|---|---|---|",
        ...service.methods.map(rowOf),
        "",
      ].join("\n"),
    )
    .join("\n");
}

function rowOf(method: DescMethod): string {
  const path = pathOf(method);
  const right = methodRights[path];
  const purpose = methodPurposes[path];
  const { methodKind: kind } = method;
  const takes = streamOr(kind === "client_streaming" || kind === "bidi_streaming", method.input);
  const answers = streamOr(kind === "server_streaming" || kind === "bidi_streaming", method.output);
  const head = `| \`${method.name}\` | ${takes} → ${answers} |`;
  if (right === undefined) return `${head} – | Is not served: \`UNIMPLEMENTED\`. |`;
  if (purpose === undefined) throw new Error(`src/server/grpc/method-purposes.ts lacks ${path}`);
  return `${head} ${describeRight(right)} | ${purpose} |`;
}

function streamOr(isStream: boolean, { name }: DescMethod["input"]): string {
  return isStream ? `stream of \`${name}\`` : `\`${name}\``;
}
