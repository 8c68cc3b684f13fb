import { z } from "zod";

/** Messages of resolvers and of programs that did not find a host: Node, glibc, curl and Git, Go, Java, Python. */
const hostNotFound =
  /EAI_AGAIN|ENOTFOUND|temporary failure in name resolution|could not resolve host|name or service not known|no such host|UnknownHostException|network is unreachable|ENETUNREACH/i;

const Definition = z.object({ network: z.boolean().default(false) });

/** Returns what to do when a job without the network wanted to reach a host; undefined otherwise. */
export function networkHint(job: string, definition: unknown, log: string): string | undefined {
  const parsed = Definition.safeParse(definition);
  if (!parsed.success || parsed.data.network || !hostNotFound.test(log)) return undefined;
  return `${job} has no network, and tried to reach a host. If it needs the network, add \`network: true\` to its definition.`;
}
